#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Lost tails on stock kernels: files go from a web server to a client over a
# wire that loses 5 % of all packets but SYNs both ways, over IPv4 and IPv6, with and
# without the Quell option, segmentation offload on and off.
#
#	server (swift) --- client (swift)
#
# They arrive unharmed; lost tails are probed, and not with tail-probes 0;
# connections may be cut off while the timer runs.  Where processors stop for some
# milliseconds and no packet is lost, few probes are sent.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./pair.sh

port=8080
file_bytes=60000
fetches=8

# Swift's own target is far below an emulated host's round-trip time.
set_hosts()
{
	local netns

	for netns in "$server" "$client"; do
		choose_cc "$netns" swift &&
		in_netns "$netns" quell cc set swift base-target 100ms || return 1
	done
}

# lose PERCENT: no SYN, of which the backoff of six alone exceeds the time of a transfer.
lose()
{
	local netns

	for netns in "$server" "$client"; do
		in_netns "$netns" nft -f - <<-EOF || return 1
			table inet loss
			delete table inet loss
			table inet loss {
				chain in {
					type filter hook prerouting priority 0;
					tcp flags & syn == 0 numgen random mod 100 < $1 drop
				}
			}
		EOF
	done
}

no_loss()
{
	in_netns "$server" nft delete table inet loss && in_netns "$client" nft delete table inet loss
}

# counter NAME [NETNS]: of the server
counter()
{
	quell_count "${2-$server}" "$1"
}

both()
{
	echo $(($(counter "$1") + $(counter "$1" "$client")))
}

# counted_since NAME BEFORE: some
counted_since()
{
	[ "$(counter "$1")" -gt $(($2 + 8)) ]
}

fetch()
{
	local i

	for ((i = 0; i < fetches; i++)); do
		in_netns "$client" timeout 60 wget -q -O "$dir/copy" "http://$1:$port/file" &&
		cmp "$dir/www/file" "$dir/copy" || return 1
	done
}

# The client loses the first packet that has a FIN, of each connection: the last data,
# because at 10 Mbit/s the server closes before it is sent.
lose_tails()
{
	in_netns "$server" tc qdisc replace dev wire0 root netem rate 10mbit || return 1
	in_netns "$client" nft -f - <<-EOF
		table inet tails {
			set seen { type inet_service; size 65535; flags dynamic; }
			chain in {
				type filter hook prerouting priority 0;
				tcp sport $port tcp flags & fin == fin tcp dport != @seen \
					add @seen { tcp dport } counter drop
			}
		}
	EOF
}

# Few probes of lost tails are spurious.  On a busy machine TCP's own probe, which is not much later
# on this link, repairs some of them.
probed()
{
	local probes spurious i

	probes=$(counter tail-probes)
	spurious=$(counter tail-probes-spurious)
	for ((i = 0; i < 4; i++)); do
		fetch 10.72.0.1 || return 1
	done
	probes=$(($(counter tail-probes) - probes))
	spurious=$(($(counter tail-probes-spurious) - spurious))
	echo "# $((i * fetches)) tails were lost: probes $probes, spurious $spurious" >&3
	[ "$(in_netns "$client" nft -j list chain inet tails in |
		jq '[.. | .counter? // empty | .packets] | add')" -ge "$((i * fetches / 2))" ] &&
	[ "$probes" -gt 0 ] && [ "$((4 * spurious))" -le "$((probes + 8))" ]
}

switched_off()
{
	local before

	in_netns "$server" quell cc set quell tail-probes 0 || return 1
	before=$(counter tail-probes)
	fetch 10.72.0.1 && [ "$(counter tail-probes)" -eq "$before" ]
	set -- $?
	in_netns "$server" quell cc reset quell tail-probes && return "$1"
}

closed_more_than()
{
	[ "$(counter flows-closed)" -gt "$1" ]
}

# Requests of eight connections, without loss and of 4 ms each, while both processors stop ten times
# for 20 ms: a timer that fires late for that shows no lost tail.  Two stops may have effects on
# all connections.
stopped_at_times()
{
	local probes samples asker netns

	for netns in "$server" "$client"; do
		in_netns "$netns" tc qdisc replace dev wire0 root netem delay 2ms || return 1
	done
	start_in "$server" many_tcp listen 8081 1 reply
	poll 10 listens "$server" 8081 || return 1
	echo 1000000 100 100 >"$dir/requests"
	samples=$(counter rtt-samples)
	start_in "$client" sh -c 'exec many_tcp connect 10.72.0.1 8081 1 8 0 reply <"$0"' \
		"$dir/requests" >/dev/null
	asker=$started
	poll 10 counted_since rtt-samples "$samples" || return 1
	probes=$(both tail-probes)
	samples=$(counter rtt-samples)
	modprobe quell_stall || return 1
	probes=$(($(both tail-probes) - probes))
	samples=$(($(counter rtt-samples) - samples))
	stop "$asker"
	note "ten stops, $samples replies: $probes probes" >&3
	rmmod quell_stall && [ "$samples" -ge 100 ] && [ "$probes" -le 16 ]
}

# The server has unacknowledged data.
is_sending()
{
	in_netns "$server" ss -Htn state established "sport = :$port" |
		awk '$2 > 0 { found = 1 } END { exit !found }'
}

not_sending()
{
	! is_sending
}

# Data is outstanding for a while when its reader is killed, and the timer is armed.  Where the
# reader's FIN is lost the server sends on for a while, and would be taken for the next one's.
cut_off()
{
	local before i

	before=$(counter flows-closed)
	for ((i = 0; i < 3; i++)); do
		start_in "$client" wget -q -O /dev/null "http://10.72.0.1:$port/large"
		poll 30 is_sending && kill -KILL "$started" && ! wait "$started" &&
			poll 30 not_sending || return 1
	done
	poll 30 closed_more_than $((before + 2))
}

exec 3>&1
plan 20
mkdir "$dir/www"
head -c "$file_bytes" /dev/urandom >"$dir/www/file"
truncate -s 500M "$dir/www/large"
check "two hosts" make_network 72
check "swift on both" set_hosts
check "web server" serve
check "5 % loss" lose 5
for option in 0 1; do
	for offload in on off; do
		in_netns "$client" quell cc set quell option "$option"
		in_netns "$server" ethtool -K wire0 tso "$offload" gso "$offload" >/dev/null
		check "IPv4, option $option, offload $offload" fetch 10.72.0.1
		check "IPv6, option $option, offload $offload" fetch '[fd72::1]'
	done
done
check "no more loss, but of tails" no_loss
check "first FIN of each connection is lost" lose_tails
check "lost tails are probed" probed
check "none with tail-probes 0" switched_off
check "5 % loss again" lose 5
check "cut off" cut_off
check "no more loss" no_loss
check "processors that stop cause few probes" stopped_at_times
finish
