#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Marks set by the router's port against marks the sender is told of, for every
# kind of peer (Documentation/ecn.md):
#
#	Quell			every mark once, to the packet and the byte
#	DCTCP			every mark once, if its ACKs are not deferred
#	RFC 3168		never too few; marks end when congestion does
#	Accurate ECN		every mark once (kernels that have it)
#	none			no packet is ECN-capable
#
# The sender is a web server.  Receivers are processes, so packets wait in the backlog of a busy socket and
# ACKs are deferred: what happens on a real machine.
# shellcheck disable=SC2317,SC2016 # checks are called by name; $ is awk's

cd "$(dirname "$0")" || exit 1
# shellcheck source-path=SCRIPTDIR source=lib.sh
. ./lib.sh
# shellcheck source-path=SCRIPTDIR source=router.sh
. ./router.sh

port=8080
ipv4=10.71.1.1
ipv6="[fd71:1::1]"
accecn=3		# net.ipv4.tcp_ecn: Accurate ECN asked for and accepted
dir=$(mktemp -d)
defer rm -rf "$dir"
has_accecn="" server=""

# What a listener agrees to is decided by the algorithm it was made with.
serve()
{
	[ -z "$server" ] || stop "$server"
	start_in "$sender" httpd -f -p "$port" -h "$dir/www"
	server=$started
	poll 10 listens "$sender" "$port"
}

# hosts ALGORITHM-OF-SENDER TCP_ECN ALGORITHM-OF-RECEIVER TCP_ECN
hosts()
{
	in_netns "$sender" sysctl -q -w net.ipv4.tcp_congestion_control="$1" \
		net.ipv4.tcp_ecn="$2" &&
	in_netns "$receiver" sysctl -q -w net.ipv4.tcp_congestion_control="$3" \
		net.ipv4.tcp_ecn="$4" && serve
}

# A new port, counters at zero.  Words are the options of its marking.
new_port()
{
	in_netns "$router" tc qdisc del dev up0 root 2>/dev/null
	in_netns "$router" tc qdisc add dev up0 root swport rate 20mbit limit 4mb "$@"
}

port_stats()
{
	in_netns "$router" tc -s -j qdisc show dev up0 | jq '.[0]'
}

# netstat_of NETNS GROUP NAME: a counter of /proc/net/netstat, 0 if absent.
netstat_of()
{
	in_netns "$1" awk -v group="$2:" -v name="$3" '
	$1 == group && !n { n = split($0, names) }
	$1 == group { split($0, values) }
	END {
		for (i = 2; i <= n; i++)
			if (names[i] == name)
				value = values[i]
		print value + 0
	}' /proc/net/netstat
}

# Marked packets the sender's stack was told of, and those the receiver's got.
told()
{
	netstat_of "$sender" TcpExt TCPDeliveredCE
}

arrived()
{
	echo $(($(netstat_of "$receiver" IpExt InCEPkts) +
		$(in_netns "$receiver" awk '$1 == "Ip6InCEPkts" { print $2 }' \
			/proc/net/snmp6)))
}

core_bytes()
{
	in_netns "$sender" quell -j stat |
		jq '[.[] | select(.name == "dcqcn") | .counters["marked-bytes"]] | add // 0'
}

# The host with the page sends; the other one connects.  ADDRESS FILE
fetch()
{
	in_netns "$receiver" wget -q -O "$dir/copy" "http://$1:$port/$2"
}

# Every packet that leaves the port has been counted; the last ACK may be late.
settled()
{
	[ "$(told)" -eq $(($1 + $(port_stats | jq .mark_pkts))) ]
}

# What was told during a transfer, in $dir/counts: marks of the port, packets
# it would have marked, CE packets arrived, told, bytes told.
# transfer ADDRESS
transfer()
{
	local told_before arrived_before bytes_before

	told_before=$(told)
	arrived_before=$(arrived)
	bytes_before=$(core_bytes)
	fetch "$1" page && cmp "$dir/www/page" "$dir/copy" || return 1
	poll 2 settled "$told_before"
	port_stats | jq --argjson told "$(($(told) - told_before))" \
		--argjson arrived "$(($(arrived) - arrived_before))" \
		--argjson core "$(($(core_bytes) - bytes_before))" '{
		marks: .mark_pkts, mark_bytes: .mark_bytes, drops: .drops,
		not_ect: .not_ect_pkts, data: .data_pkts, told: $told,
		arrived: $arrived, core_bytes: $core }' >"$dir/counts"
	note "$(jq -c . "$dir/counts")"
}

counts_are()
{
	json "$1" "$dir/counts"
}

# quell_to_quell ALGORITHM ADDRESS MARKING...: exact.
quell_to_quell()
{
	local algorithm=$1 address=$2
	shift 2

	hosts "$algorithm" 2 "$algorithm" 2 && new_port "$@" && transfer "$address" &&
	counts_are '.marks > 0 and .told == .marks and .arrived == .marks'
}

# The algorithm was told of the payload of the marked packets: of each 14 of
# Ethernet, 32 of TCP with timestamps, and the IP header are not.
bytes_are_exact()
{
	counts_are ".drops == 0 and .core_bytes == .mark_bytes - (46 + $1) * .marks"
}

to_dctcp()
{
	hosts dcqcn 2 dctcp 2 || return 1
	# Its receiver does not foresee ACKs that are put off without a timer.
	in_netns "$receiver" sysctl -q -e -w net.ipv4.tcp_backlog_ack_defer=0
	new_port ecn min 0 max 200kb && transfer "$ipv4" &&
	counts_are '.marks > 0 and .told == .marks'
}

to_nobody()
{
	hosts "$1" 2 cubic 0 && new_port ecn min 3000 && transfer "$ipv4" &&
	counts_are '.marks == 0 and .not_ect > 0 and .told == 0'
}

# The peer connects: a SYN of ours would be refused.
to_classic()
{
	hosts "$1" 2 cubic 1 && new_port ecn min 0 max 400kb && transfer "$ipv4" &&
	counts_are '.marks > 0 and .told >= .marks'
}

marks_begin()
{
	[ "$(port_stats | jq .mark_pkts)" -ge 20 ]
}

# 200 packets in which the sender was told of none.
none_told_of()
{
	local before data

	before=$(told)
	data=$(port_stats | jq .data_pkts)
	poll 10 passed_since "$data" && [ "$(told)" -eq "$before" ]
}

passed_since()
{
	[ "$(port_stats | jq .data_pkts)" -ge $(($1 + 200)) ]
}

# ECE stays set from a mark until the sender's CWR has come, and no longer.
classic_echo_ends()
{
	local status

	hosts "$1" 2 cubic 1 && new_port ecn min 0 max 400kb || return 1
	start_in "$receiver" wget -q -O /dev/null "http://$ipv4:$port/long"
	poll 20 marks_begin &&
	in_netns "$router" tc qdisc change dev up0 root swport noecn &&
	poll 20 none_told_of
	status=$?
	stop "$started"
	return "$status"
}

with_accecn()
{
	hosts "$1" "$accecn" "$1" "$accecn" && new_port ecn min 0 max 200kb &&
	transfer "$2" && counts_are '.marks > 0 and .told == .marks and .arrived == .marks'
}

check_accecn()
{
	if [ -z "$has_accecn" ]; then
		skip "$1" "this kernel has no Accurate ECN"
		return
	fi
	check "$@"
}

mkdir "$dir/www"
head -c 600000 /dev/urandom >"$dir/www/page"
head -c 40000000 /dev/zero >"$dir/www/long"
plan 19
check "network with a router" make_network
modprobe -a tcp_dctcp tcp_dcqcn tcp_smartt
sysctl -q -w net.ipv4.tcp_allowed_congestion_control="reno cubic dctcp dcqcn smartt"
in_netns "$sender" sysctl -q -w net.ipv4.tcp_ecn="$accecn" 2>/dev/null && has_accecn=yes

check "dcqcn: marks come singly, IPv4" \
	quell_to_quell dcqcn "$ipv4" ecn min 0 max 200kb
check "dcqcn: and its core was told of every byte" bytes_are_exact 20
check "dcqcn: every packet marked, IPv6" quell_to_quell dcqcn "$ipv6" ecn min 1
check "dcqcn: and its core was told of every byte, IPv6" bytes_are_exact 40
check "dcqcn: marks come in bursts" quell_to_quell dcqcn "$ipv4" ecn min 15kb
check "smartt: marks come singly, IPv4" \
	quell_to_quell smartt "$ipv4" ecn min 0 max 200kb
check "smartt: marks come in bursts, IPv6" quell_to_quell smartt "$ipv6" ecn min 15kb
check "dcqcn to dctcp: every mark once" to_dctcp
for algorithm in dcqcn smartt; do
	check "$algorithm to a peer without ECN: not ECN-capable" to_nobody "$algorithm"
	check "$algorithm to RFC 3168: no mark is missed" to_classic "$algorithm"
	check "$algorithm to RFC 3168: the echo ends" classic_echo_ends "$algorithm"
	check_accecn "$algorithm, Accurate ECN: every mark once, IPv4" \
		with_accecn "$algorithm" "$ipv4"
	check_accecn "$algorithm, Accurate ECN: every mark once, IPv6" \
		with_accecn "$algorithm" "$ipv6"
done
finish
