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
# The sender is a web server.  Receivers are processes, so packets wait in the
# backlog of a busy socket and ACKs are deferred: what happens on a real machine.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./router.sh

port=8080
ipv4=10.71.1.1
ipv6="[fd71:1::1]"
accecn=3		# net.ipv4.tcp_ecn: Accurate ECN asked for and accepted
has_accecn=""

# hosts ALGORITHM-OF-SENDER TCP_ECN ALGORITHM-OF-RECEIVER TCP_ECN
hosts()
{
	choose_cc "$sender" "$1" net.ipv4.tcp_ecn="$2" &&
	choose_cc "$receiver" "$3" net.ipv4.tcp_ecn="$4" || return 1
	[ "$move" = push ] || web_server "$port" "$dir/www"
}

# Words are the options of its marking.
new_port()
{
	up0_port limit 4mb "$@"
}

# Four numbers: marked packets the sender's stack was told of, segments it sent
# again, CE packets that arrived at the receiver, segments that did so out of
# order.  A process of each namespace shows its counters.
read_counters()
{
	awk '
	FNR == 1 { file++ }
	NF == 2 && $1 == "Ip6InCEPkts" { arrived += $2 }
	$1 !~ /^(Tcp|TcpExt|IpExt):$/ { next }
	!(file $1 in names) { names[file $1] = $0; next }
	{
		split(names[file $1], name)
		for (i = 2; i <= NF; i++)
			value[file, name[i]] = $i
	}
	END {
		printf "[%d, %d, %d, %d]\n", value[1, "TCPDeliveredCE"],
			value[2, "RetransSegs"], value[3, "InCEPkts"] + arrived,
			value[3, "TCPOFOQueue"]
	}' "/proc/$at_sender/net/netstat" "/proc/$at_sender/net/snmp" \
		"/proc/$at_receiver/net/netstat" "/proc/$at_receiver/net/snmp6"
}

sender_stats()
{
	quell -n "$sender" -j stat
}

# The host with the page sends; the other one connects.  ADDRESS FILE
fetch()
{
	in_netns "$receiver" wget -q -O "$dir/copy" "http://$1:$port/$2"
}

# What came of a transfer, in $dir/counts: marks of the port, packets it would
# have marked, CE packets arrived, told, bytes told.  The last ACK may be late.
# count FILTER: and they are such.  One jq for all: in an emulator each takes a second.
count()
{
	read_counters >"$dir/after"
	sender_stats >"$dir/stat.after"
	up0_stats | jq -c --slurpfile b "$dir/before" --slurpfile a "$dir/after" \
		--slurpfile stat_before "$dir/stat.before" \
		--slurpfile stat_after "$dir/stat.after" '
		def bytes: [.[0][] | select(.name == "dcqcn") |
			.counters["marked-bytes"]] | add // 0;
		.[0] | {
		marks: .mark_pkts, mark_bytes: .mark_bytes, drops: .drops,
		not_ect: .not_ect_pkts, data: .data_pkts, told: ($a[0][0] - $b[0][0]),
		resent: ($a[0][1] - $b[0][1]), arrived: ($a[0][2] - $b[0][2]),
		disordered: ($a[0][3] - $b[0][3]),
		core_bytes: (($stat_after | bytes) - ($stat_before | bytes)) } |
		. + { good: ('"$1"'), is_disturbed: ('"$disturbed"') }' >"$dir/counts"
	echo "$1: $(cat "$dir/counts")"
	grep -q '"good":true' "$dir/counts"
}

# counted FILTER: or a disturbed transfer, of which the counts do not become such.
counted()
{
	count "$1" || grep -q '"is_disturbed":true' "$dir/counts"
}

# The host with the page connects, and sends it.
push()
{
	start_in "$receiver" sh -c "exec nc -l -p $port >'$dir/copy' <>'$dir/open'"
	poll 10 listens "$receiver" "$port" && in_netns "$sender" nc 10.71.2.1 "$port" <"$dir/www/$2"
}

# transfer ADDRESS FILTER MARKING...: the counts of one transfer are such.
transfer()
{
	new_port "${@:3}" || return 1
	read_counters >"$dir/before"
	sender_stats >"$dir/stat.before"
	"$move" "$1" page && cmp "$dir/www/page" "$dir/copy" &&
	poll 10 counted "$2" && grep -q '"good":true' "$dir/counts"
}

# The same of a transfer in which nothing was sent again: the mark of a second
# copy is not looked at.
disturbed='.resent > 0'
undisturbed()
{
	local try status

	for ((try = 0; try < 4; try++)); do
		transfer "$@"
		status=$?
		grep -q '"is_disturbed":true' "$dir/counts" || return "$status"
	done
	echo "disturbed each of $try times: $disturbed"
	return 1
}

# Nothing is lost here, so nothing shall be sent again: an emulator that was away
# looks like a loss to a timer of 200 ms, and to a probe of the tail much sooner.
# And its round trips exceed what SMaRTT aims at: no queue would form that is marked.
patient()
{
	in_netns "$sender" sysctl -q -w net.ipv4.tcp_early_retrans=0 &&
	quell -n "$sender" cc set quell tail-probes 0 &&
	quell -n "$sender" cc set smartt target-delay 100ms &&
	ip -n "$sender" route change default via 10.71.1.2 rto_min 5s &&
	ip -n "$sender" route change default via fd71:1::2 rto_min 5s
}

exact='.marks > 0 and .told == .marks and .arrived == .marks'

# quell_to_quell ALGORITHM ADDRESS MARKING...: exact.
quell_to_quell()
{
	hosts "$1" 2 "$1" 2 && undisturbed "$2" "$exact" "${@:3}"
}

# The algorithm was told of the payload of the marked packets: of each 14 of
# Ethernet, 32 of TCP with timestamps, and the IP header are not.
bytes_are_exact()
{
	json ".drops == 0 and .core_bytes == .mark_bytes - (46 + $1) * .marks" \
		"$dir/counts"
}

to_dctcp()
{
	local disturbed='.resent + .disordered > 0'

	hosts dcqcn 2 dctcp 2 || return 1
	# Its receiver does not foresee ACKs that are put off without a timer: those
	# of a backlog, and of segments out of order.
	in_netns "$receiver" sysctl -q -e -w net.ipv4.tcp_backlog_ack_defer=0
	undisturbed "$ipv4" "$exact" ecn min 0 max 200kb
}

to_nobody()
{
	hosts "$1" 2 cubic 0 &&
	transfer "$ipv4" '.marks == 0 and .not_ect > 0 and .told == 0' ecn min 3000
}

# The peer connects: a SYN of ours would be refused.
to_classic()
{
	hosts "$1" 2 cubic 1 &&
	undisturbed "$ipv4" '.marks > 0 and .told >= .marks' ecn min 0 max 400kb
}

# Two numbers: packets the sender was told of, packets that left the port.
told_and_sent()
{
	read_counters >"$dir/now"
	up0_stats | jq -r --slurpfile now "$dir/now" '"\($now[0][0]) \(.[0].data_pkts)"'
}

marks_begin()
{
	[ "$(up0_stats | jq '.[0].mark_pkts')" -ge 20 ]
}

# 50 packets in which the sender was told of none.
none_told_of()
{
	local before after

	read -ra before <<<"$(told_and_sent)"
	poll 20 passed_since "${before[1]}"
	read -ra after <<<"$(told_and_sent)"
	echo "told, sent: ${before[*]}, then ${after[*]}"
	[ "${after[1]}" -ge $((before[1] + 50)) ] && [ "${after[0]}" -eq "${before[0]}" ]
}

passed_since()
{
	[ "$(up0_stats | jq '.[0].data_pkts')" -ge $(($1 + 50)) ]
}

# ECE stays set from a mark until the sender's CWR has come, and no longer.
classic_echo_ends()
{
	local status

	hosts "$1" 2 cubic 1 && new_port ecn min 0 max 10kb || return 1
	start_in "$receiver" wget -q -O /dev/null "http://$ipv4:$port/long"
	poll 60 marks_begin &&
	tc -n "$router" qdisc change dev up0 root swport noecn &&
	poll 60 none_told_of
	status=$?
	[ "$status" -eq 0 ] || up0_stats
	stop "$started"
	return "$status"
}

# watch PROTOCOL: what tells Accurate ECN from its classic fallback, the bit AE
# (0x100) that the latter never sets: the SYN that asks for it, the answer to
# an ECN-capable SYN, and ACKs, whose count of marks begins at 5 of 8.
watch()
{
	tc -n "$sender" qdisc del dev up0 clsact 2>/dev/null
	tc -n "$sender" -batch - <<-EOF
		qdisc add dev up0 clsact
		filter add dev up0 ingress pref 1 protocol $1 flower ip_proto tcp tcp_flags 0x1c2/0x1d2 action pass
		filter add dev up0 egress pref 1 protocol $1 flower ip_proto tcp tcp_flags 0x112/0x1d2 action pass
		filter add dev up0 ingress pref 2 protocol $1 flower ip_proto tcp tcp_flags 0x110/0x112 action pass
	EOF
}

# The packets of each of them.
seen()
{
	{
		tc -n "$sender" -s -j filter show dev up0 ingress
		tc -n "$sender" -s -j filter show dev up0 egress
	} | jq -rs '
		def of($pref): [.[] | select(.pref == $pref) | .. | objects |
			select(has("packets")).packets] | add // 0;
		"\(.[0] | of(1)) \(.[1] | of(1)) \(.[0] | of(2))"'
}

was_accurate()
{
	local asked answered counted

	read -r asked answered counted <<<"$(seen)"
	echo "asked $asked, answered $answered, ACKs with AE $counted"
	[ "$asked" -gt 0 ] && [ "$answered" -eq "$asked" ] && [ "$counted" -gt 0 ]
}

# with_accecn ALGORITHM PROTOCOL ADDRESS
with_accecn()
{
	hosts "$1" "$accecn" "$1" "$accecn" && watch "$2" &&
	undisturbed "$3" "$exact" ecn min 0 max 200kb && was_accurate
}

# to_listener TCP_ECN EXACT: a client of DCQCN with tcp_ecn 3 and a listener of another algorithm:
# Accurate ECN from 3 on, which counts exactly, else the echo of RFC 3168.
to_listener()
{
	local move=push filter=$exact counted _

	[ "$1" -ge "$accecn" ] || filter='.marks > 0 and .told >= .marks and .not_ect == 0'
	hosts dcqcn "$accecn" cubic "$1" && watch ip &&
	undisturbed "$ipv4" "$filter" ecn min 0 max 200kb || return 1
	read -r _ _ counted <<<"$(seen)"
	echo "ACKs with AE $counted"
	[ $((counted > 0)) -eq $(($1 >= accecn)) ]
}

# The listener's algorithm is that of its route to the client, whichever its host's default is, and
# so is the answer to an ECN-capable SYN.
to_route()
{
	local move=push disturbed='.resent + .disordered > 0' status

	hosts dcqcn 2 cubic 2 && undisturbed "$ipv4" '.marks == 0 and .not_ect > 0' ecn min 3000 &&
	ip -n "$receiver" route change default via 10.71.2.2 congctl dctcp || return 1
	in_netns "$receiver" sysctl -q -e -w net.ipv4.tcp_backlog_ack_defer=0
	undisturbed "$ipv4" "$exact" ecn min 0 max 200kb
	status=$?
	ip -n "$receiver" route change default via 10.71.2.2
	return "$status"
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
head -c 400000 /dev/urandom >"$dir/www/page"
truncate -s 2G "$dir/www/long"
mkfifo "$dir/open"
move=fetch
plan 22
modprobe -a tcp_dctcp tcp_dcqcn tcp_smartt
check "network with a router" eval "make_network && patient"
start_in "$sender" sleep 3600
at_sender=$started
start_in "$receiver" sleep 3600
at_receiver=$started
# Writing the list restricts what is not in it, for the scripts that follow, too.
allowed=$(cat /proc/sys/net/ipv4/tcp_allowed_congestion_control)
defer sysctl -q -w net.ipv4.tcp_allowed_congestion_control="$allowed"
sysctl -q -w net.ipv4.tcp_allowed_congestion_control="$allowed dctcp"
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
check "dcqcn to a peer without ECN: not ECN-capable" to_nobody dcqcn
check "smartt to RFC 3168: no mark is missed" to_classic smartt
check "dcqcn to RFC 3168: the echo ends" classic_echo_ends dcqcn
check "dcqcn to a listener by whose route dctcp governs: every mark once" to_route
for mode in 1 2 3 4 5; do
	check_accecn "dcqcn with tcp_ecn 3 to a listener of cubic with $mode" to_listener "$mode"
done
for algorithm in dcqcn smartt; do
	check_accecn "$algorithm, Accurate ECN: every mark once, IPv4" \
		with_accecn "$algorithm" ip "$ipv4"
	check_accecn "$algorithm, Accurate ECN: every mark once, IPv6" \
		with_accecn "$algorithm" ipv6 "$ipv6"
done
finish
