#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A switch port where the kernel's own tunnels begin, counted to the packet: what a router puts
# into one leaves by the port, and what comes out at the other end is looked at behind it.
# port-tunnel.sh has tunnels that begin elsewhere.
#
#	$source in0 --- west $near [tunnel] va, swport --- vb [tunnel] $far east --- in0 $sink
#	10.79.1.2    10.79.1.1       10.79.2.1             10.79.2.2          10.79.3.1 10.79.3.2
#
# For the debug kernel, which has these devices (run-uml debug port-tunnel-dev.sh), before a script
# that unloads the module.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./port.sh

source="" sink="" kind=""
west_mac=02:00:00:00:01:01 far_mac=02:00:00:00:02:02 tunnel_mac=02:00:00:00:09:02
sink_mac=02:00:00:00:03:02
# The Quell option with its data section (900 bytes) and its departure.
option=fe0c51550100038401020304

# Neighbours are known, so that no packet is on the cables but ours.
make_all()
{
	local namespace

	make_network && new_netns source sink || return 1
	for namespace in "$source" "$sink"; do
		in_netns "$namespace" sysctl -q -w net.ipv6.conf.all.disable_ipv6=1 \
			net.ipv6.conf.default.disable_ipv6=1
	done
	in_netns "$near" sysctl -q -w net.ipv4.ip_forward=1 &&
	in_netns "$far" sysctl -q -w net.ipv4.ip_forward=1 &&
	cable "$source" in0 "$near" west "" 10.79.1.1/24 &&
	cable "$far" east "$sink" in0 10.79.3.1/24 &&
	ip -n "$near" link set west address "$west_mac" &&
	ip -n "$near" addr add 10.79.2.1/24 dev va &&
	ip -n "$far" link set vb address "$far_mac" &&
	ip -n "$far" addr add 10.79.2.2/24 dev vb &&
	ip -n "$sink" link set in0 address "$sink_mac" &&
	ip -n "$near" neigh add 10.79.2.2 lladdr "$far_mac" dev va nud permanent &&
	ip -n "$far" neigh add 10.79.3.2 lladdr "$sink_mac" dev east nud permanent &&
	ip -n "$far" route add 10.79.1.0/24 dev east
}

# tunnel KIND [WORD...]: from the near end to the far one, which leads to the sink.
tunnel()
{
	local what=("${@:2}") neighbour=""

	kind=$1
	[ "$kind" != vxlan ] || what+=(dstport 4789)
	if is_of_frames; then
		what+=(id 7)
		neighbour="neigh add 10.79.9.2 lladdr $tunnel_mac dev tunnel nud permanent"
	fi
	ip -n "$near" link del tunnel 2>/dev/null
	ip -n "$far" link del tunnel 2>/dev/null
	ip -n "$near" -batch - <<-END &&
		link add tunnel type $kind remote 10.79.2.2 $(local_of 10.79.2.1) ${what[*]}
		link set tunnel up
		addr add 10.79.9.1/24 dev tunnel
		$neighbour
		route replace 10.79.3.0/24 via 10.79.9.2 dev tunnel
	END
	ip -n "$far" -batch - <<-END
		link add tunnel $(is_of_frames && echo "address $tunnel_mac") type $kind \
			remote 10.79.2.1 $(local_of 10.79.2.2) ${what[*]}
		link set tunnel up
		addr add 10.79.9.2/24 dev tunnel
	END
}

local_of()
{
	[ "$kind" = geneve ] || echo "local $1"
}

is_of_frames()
{
	[ "$kind" = vxlan ] || [ "$kind" = geneve ]
}

# say KEY=VALUE...: from the source to the sink.
say()
{
	in_netns "$source" ip_pkt send in0 "mac=$west_mac" src=10.79.1.2 dst=10.79.3.2 "$@"
}

listen_at_sink()
{
	hear ip_pkt "$1" "$sink" in0
}

# ACKs, segments that are ECN-capable, and others, of which one has SYN.
acks_go_first_and_marks_arrive()
{
	port ecn min 0 && listen_at_sink 9 && say flags=10 bytes=54 count=3 &&
	say flags=18 bytes=1000 ecn=2 count=3 && say flags=02 bytes=54 &&
	say proto=udp bytes=1000 count=2 && heard &&
	packets_are 'map(.ecn) == [0, 0, 0, 3, 3, 3, 0, 0, 0] and all(.check == "good" and
		.intact and .ip_check == "good")' &&
	port_is '.control_pkts == 3 and .data_pkts == 6 and .mark_pkts == 3 and
		.not_ect_pkts == 3' && books_balance
}

# trimmed HEADERS: of 1000 bytes 200 leave, HEADERS of which are the tunnel's; what did not ask for
# it is dropped.
trimmed()
{
	port limit 64 trim size 200 && listen_at_sink 2 &&
	say flags=18 bytes=1000 "options=$option" dscp=10 ecn=2 count=2 &&
	say flags=18 bytes=1000 && say proto=udp bytes=1000 && heard &&
	packets_are "all(.bytes == 200 - $1 and .intact and .check == \"good\" and
		.ip_check == \"good\" and .payload < 200)" &&
	port_is '.trim_pkts == 2 and .trim_sent_pkts == 2 and .trim_sent_bytes == 400 and
		.data_drop_pkts == 4 and .control_pkts == 2 and .data_pkts == 0'
}

# A checksum of all that is inside: it is dropped, and an ACK behind it arrives.
not_trimmed()
{
	port limit 64 trim size 200 && listen_at_sink 1 &&
	say flags=18 bytes=1000 "options=$option" count=2 && say flags=10 bytes=54 && heard &&
	packets_are '.[0] | .payload == 0 and .flags == "10" and .check == "good"' &&
	port_is '.trim_pkts == 0 and .data_drop_pkts == 2 and .control_pkts == 1'
}

# in_tunnel HEADERS KIND [WORD...]
in_tunnel()
{
	tunnel "${@:2}" && acks_go_first_and_marks_arrive && trimmed "$1"
}

not_in()
{
	tunnel "$@" && not_trimmed
}

plan 7
check "two ends of a tunnel, a source and a sink" eval "make_all && { loaded sch_swport || modprobe sch_swport; }"
check "vxlan: ACKs, marks, trims, to the packet" in_tunnel 50 vxlan noudpcsum
check "geneve: the same" in_tunnel 50 geneve noudpcsum
check "gre: the same" in_tunnel 24 gre
check "ipip: the same" in_tunnel 20 ipip
check "vxlan with a checksum: no trims, no garbage" not_in vxlan udpcsum
check "gre with a checksum: the same" not_in gre csum
finish
