#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The Quell TCP option on stock kernels: a file goes from a web server to a
# client over every combination of
#
#	IPv4, IPv6
#	segmentation, checksum and receive offloads on, off
#	no loss, 1 % loss both ways
#	a client that offers the option to a server that answers, and to one
#	that has no Quell at all
#
#	server (swift) --- client (swift)
#
# and, once over each family, from a server that was told not to answer; it
# arrives unharmed; checksums hold everywhere; the option is spoken where
# both want it, and nowhere else.
# Arguments: offloads, on and off without.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./pair.sh

port=8080
file_bytes=200000

# set_side NETNS CC OPTION: what a host runs and whether it speaks the option.
# Swift's own target is far below an emulated host's round-trip time.
set_side()
{
	choose_cc "$1" "$2" &&
	in_netns "$1" quell cc set swift base-target 100ms &&
	in_netns "$1" quell cc set quell option "$3"
}

set_loss()
{
	local netns

	for netns in "$server" "$client"; do
		if [ "$1" = 0 ]; then
			in_netns "$netns" tc qdisc del dev wire0 root 2>/dev/null
		else
			in_netns "$netns" tc qdisc replace dev wire0 root \
				netem loss "$1%" || return 1
		fi
	done
	true
}

# Counters of quell.ko, TCP's count of wrong checksums and of SYNs or answers to them
# sent again, of both hosts.
snapshot()
{
	local host

	for host in server client; do
		in_netns "${!host}" sh -c \
			'quell -j stat | jq -c . && cat /proc/net/snmp /proc/net/netstat' |
		jq -Rn --arg host "$host" '
			def column($lines; $name):
				($lines[0] | split(" ") | index($name)) as $at |
				$lines[1] | split(" ")[$at] | tonumber;
			[inputs] |
			(.[0] | fromjson | map(select(.name == "quell")) | .[0].counters) + {
				InCsumErrors: column(map(select(startswith("Tcp:"))); "InCsumErrors"),
				TCPSynRetrans: column(map(select(startswith("TcpExt:"))); "TCPSynRetrans")
			} | { ($host): . }' || return 1
	done | jq -s add >"$1"
}

# changed HOST COUNTER: by how much during the transfer.
changed()
{
	jq -n --slurpfile before "$dir/before" --slurpfile after "$dir/after" \
		"(\$after[0].$1[\"$2\"] // 0) - (\$before[0].$1[\"$2\"] // 0)"
}

fetch()
{
	rm -f "$dir/copy"
	# What the counters were after the transfer before.
	mv "$dir/after" "$dir/before" 2>/dev/null || snapshot "$dir/before" || return 1
	in_netns "$client" timeout 60 wget -q -O "$dir/copy" "http://$1:$port/file" &&
	cmp "$dir/www/file" "$dir/copy" && snapshot "$dir/after"
}

# Until no packet of the handshake was lost, which is sent again without the option.
fetch_by_whole_handshake()
{
	local try

	for try in 1 2 3 4 5; do
		fetch "$1" || return 1
		[ "$(changed server TCPSynRetrans)" -ne 0 ] ||
		[ "$(changed client TCPSynRetrans)" -ne 0 ] || return 0
		note "$1: try $try lost a packet of the handshake"
	done
}

# Both said so, and round-trip times of the sender come from the echo: nearly all
# of them, but when more packets than are remembered wait for a receiver that
# the emulator keeps from running; with loss SACK blocks may leave no room, too.
# PERCENT
option_was_spoken()
{
	local echoes samples

	echoes=$(changed server rtt-echo)
	samples=$(changed server rtt-samples)
	echo "echoes $echoes of $samples samples"
	[ "$(changed client option-negotiated)" -eq 1 ] &&
	[ "$echoes" -gt 0 ] && [ "$((echoes * 100))" -ge "$((samples * $1))" ]
}

option_was_not_spoken()
{
	[ "$(changed client option-negotiated)" -eq 0 ] &&
	[ "$(changed server option-sent)" -eq 0 ] &&
	[ "$(changed server rtt-echo)" -eq 0 ]
}

checksums_hold()
{
	json 'map(.InCsumErrors + (.["option-bad-checksum"] // 0) +
		(.["option-malformed"] // 0)) | add == 0' "$dir/after"
}

# transfer NAME ADDRESS LOSS SPOKEN
transfer()
{
	check "$1: the file arrives unharmed" fetch_by_whole_handshake "$2"
	if [ "$4" = no ]; then
		check "$1: no option" option_was_not_spoken
	elif [ "$3" = 0 ]; then
		check "$1: departures are echoed" option_was_spoken 40
	else
		check "$1: departures are echoed" option_was_spoken 10
	fi
	check "$1: checksums hold" checksums_hold
}

# both_families NAME LOSS SPOKEN
both_families()
{
	transfer "$1, IPv4" 10.72.0.1 "$2" "$3"
	transfer "$1, IPv6" '[fd72::1]' "$2" "$3"
}

# with_peers NAME LOSS: the server as it may be.
with_peers()
{
	check "$1: server answers" set_side "$server" swift 2
	both_families "$1, answered" "$2" yes
	check "$1: server without Quell" set_side "$server" cubic 2
	both_families "$1, peer without Quell" "$2" no
}

# The state of a flow that is open, as the user sees it.
flow_says()
{
	in_netns "$client" quell -j flow show >"$dir/flows" &&
	jq -e "any(.[]; .dport == $port and .option == \"$1\")" "$dir/flows"
}

open_flow_says()
{
	set_side "$server" swift "$1" || return 1
	mkfifo "$dir/open.$2"
	# A command in the background has no input but what it opens itself.
	start_in "$client" sh -c "exec nc 10.72.0.1 $port <>'$dir/open.$2'"
	poll 10 flow_says "$2" || {
		cat "$dir/flows"
		return 1
	}
	stop "$started"
}

[ $# -gt 0 ] || set -- on off
plan $((13 + $# * 2 * 14))
mkdir "$dir/www"
head -c "$file_bytes" /dev/urandom >"$dir/www/file"
check "two hosts" make_network 72
check "client offers" set_side "$client" swift 1
check "server answers" set_side "$server" swift 2
check "web server" serve
for offload; do
	set_offloads "$offload"
	for loss in 0 1; do
		set_loss "$loss"
		with_peers "offloads $offload, loss $loss%" "$loss"
	done
done
set_loss 0
check "server may not answer" set_side "$server" swift 0
both_families "not answered" 0 no
check "flow show: on" open_flow_says 2 on
check "flow show: no-reply" open_flow_says 0 no-reply
finish
