#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The cases of the kernel's tools/testing/selftests/net/forwarding/sch_red.sh, for
# swport.  H1's stream goes through a TBF to a switch port of the same rate, so
# that what H2 sends besides has to go to backlog.
#
#	$h1: h1 - s1 \
#		      $sw: bridge, s3 - h3 :$h3
#	$h2: h2 - s2 /
#
# The same cases, written anew: ECN with the backlog below and above the threshold,
# and ECN nodrop, which is what swport does always; RED's early drops it has not, so
# where RED drops what is not ECN-capable, swport must let it into the backlog up to
# its limit.  It has no qevents.

cd "$(dirname "$0")" || exit 1
. ./lib.sh

BACKLOG=30000
PKTSZ=1400
ACK_KIND=tcp
h1="" h2="" h3="" sw="" stream=""

# The laboratory's kernel has no bridge; there a program passes frames on to s3,
# which costs no time in virtual time.
forward()
{
	/usr/bin/python3 -c '
import select, socket
ports = [socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) for _ in range(3)]
for number, port in enumerate(ports):
    port.bind((f"s{number + 1}", 0 if number == 2 else 3))
while True:
    for port in select.select(ports[:2], [], [])[0]:
        frame, where = port.recvfrom(65536)
        try:
            if where[2] != socket.PACKET_OUTGOING:
                ports[2].send(frame)
        except OSError:
            pass
'
}

# br alone would be ip's broadcast.
join_ports()
{
	if ip -n "$sw" link add name br0 up type bridge; then
		ip -n "$sw" link set s1 master br0 && ip -n "$sw" link set s2 master br0 &&
		ip -n "$sw" link set s3 master br0
		return
	fi
	export -f forward
	start_in "$sw" bash -c forward
}

make_switch()
{
	local host

	new_netns h1 h2 h3 sw || return 1
	for host in "$h1" "$h2" "$h3" "$sw"; do
		in_netns "$host" sysctl -q -w net.ipv6.conf.all.disable_ipv6=1 \
			net.ipv6.conf.default.disable_ipv6=1
	done
	cable "$h1" h1 "$sw" s1 && cable "$h2" h2 "$sw" s2 && cable "$h3" h3 "$sw" s3 &&
	join_ports &&
	tc -n "$h1" qdisc add dev h1 root handle 1: tbf rate 10mbit burst 10k limit 1m &&
	tc -n "$sw" qdisc add dev s3 root handle 1: tbf rate 10mbit burst 10k limit 1m &&
	command -v swport_pkt
}

# install OPTIONS...: the port below the switch's TBF, as handle 11:.
install()
{
	tc -n "$sw" qdisc replace dev s3 parent 1:1 handle 11: swport "$@" limit 100kb
}

uninstall()
{
	tc -n "$sw" qdisc del dev s3 parent 1:1 handle 11:
}

# of FILTER: a number of the port's.
of()
{
	tc -n "$sw" -s -j qdisc show dev s3 >"$dir/port" &&
	jq '.[] | select(.handle == "11:") | '"$1" "$dir/port"
}

# More than the TBF lets through, on an emulated machine too; ECN-capable, without end.
stream_for_ever()
{
	while :; do
		swport_pkt send h1 "$ACK_KIND" 500 "$PKTSZ" 1
		sleep 0.05
	done
}

start_stream()
{
	export -f stream_for_ever
	export ACK_KIND PKTSZ
	start_in "$h1" bash -c stream_for_ever
	stream=$started
	poll 20 flows
}

flows()
{
	[ "$(of .packets)" -gt 20 ]
}

# build_backlog BYTES KIND ECN: at last so much, in ten attempts.
build_backlog()
{
	local size=$1 current

	for _ in 1 2 3 4 5 6 7 8 9 10; do
		current=$(of .backlog)
		[ "$current" -ge "$size" ] && return 0
		in_netns "$h2" swport_pkt send h2 "$2" \
			$(((size - current + PKTSZ - 1) / PKTSZ)) "$PKTSZ" "$3"
		sleep 0.2
	done
	echo "backlog $(of .backlog), wanted $size"
	return 1
}

# marked LEAST MOST [COMMAND...]: percentage of what the port sends in some seconds,
# with the command every now and then.
marked()
{
	local packets marks percent

	packets=$(of .packets) marks=$(of .mark_pkts)
	poll 60 sent_more "$((packets + 1000))" "${@:3}" || return 1
	percent=$((100 * ($(of .mark_pkts) - marks) / ($(of .packets) - packets)))
	echo "marked $percent %, backlog $(of .backlog)"
	[ "$percent" -ge "$1" ] && [ "$percent" -le "$2" ]
}

sent_more()
{
	[ $# -eq 1 ] || "${@:2}" || return 1
	[ "$(of .packets)" -ge "$1" ]
}

# Not ECN-capable below the threshold: it is let in, and nothing is marked.
below()
{
	build_backlog $((2 * BACKLOG / 3)) udp 0 && marked 0 0
}

# On an emulated machine, whose timers are late, the backlog runs down, and is filled up
# to what it does not lose until it is looked at again.  What joins is marked, at enqueue,
# and what leaves is counted: what the backlog changes by is the difference.
above()
{
	build_backlog $((5 * BACKLOG / 2)) tcp 1 &&
	marked 95 103 build_backlog $((5 * BACKLOG / 2)) tcp 1
}

# What is not ECN-capable goes to backlog above the threshold, as in nodrop mode.
not_ect_is_let_in()
{
	local drops

	drops=$(of .drops)
	build_backlog $((2 * BACKLOG)) udp 0 && [ "$(of .drops)" -eq "$drops" ]
}

# Up to the limit, and then by tail drop.
limit_holds()
{
	! build_backlog 110000 udp 0 && [ "$(of .drops)" -gt 0 ] &&
	[ "$(of .data_backlog_max_bytes)" -le 102400 ]
}

# Without ECN nothing is marked, above the threshold or below.
unmarked()
{
	build_backlog "$1" tcp 1 && marked 0 0
}

plan 12
check "a bridge of three hosts, TBF at both ends" make_switch
check "the port below the switch's TBF" eval "modprobe sch_swport; install ecn min $BACKLOG"
check "the stream fills the shaper" start_stream
check "ECN backlog < limit" below
check "ECN backlog > limit" above
check "ECN backlog > limit: UDP not dropped" not_ect_is_let_in
check "the port's own limit: dropped at its tail" limit_holds
check "at enqueue: the port again" eval "uninstall && install ecn enqueue min $BACKLOG && poll 20 flows"
check "ECN at enqueue, backlog < limit" below
check "ECN at enqueue, backlog > limit" above
check "without ECN nothing is marked" \
	eval "uninstall && install noecn && poll 20 flows && unmarked $((3 * BACKLOG / 2))"
check "the stream ends" stop "$stream"
finish
