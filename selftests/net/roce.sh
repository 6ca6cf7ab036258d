#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The switch port under the kernel's own RoCEv2 (rdma_rxe): its messages are told by
# their opcodes, deflected in order, and trimmed or dropped as their DSCP says.
#
#	va, rxe_a -- ra R up1 -------- e1 E eb -- vb, rxe_b
#	                 up2 -- left S right -- e2
#
# rdma_rxe receives in the first namespace only, so both ends are in it, and rules put
# what one sends the other on the cable.  R's up1 is the port; it is slow, and a flood
# that is no RoCEv2 keeps its queue long where that is wanted.

cd "$(dirname "$0")" || exit 1
. ./lib.sh

A=10.74.1.1 B=10.74.2.1
IDLE_S=4
TOKENS=4
R="" S="" E=""

if ! modprobe -q rdma_rxe || ! command -v ibv_rc_pingpong >/dev/null; then
	echo "1..0 # SKIP this kernel has no rdma_rxe"
	exit
fi

# end DEVICE PEER NAMESPACE ADDRESS: a host's cable into a router.
end()
{
	ip link add name "$1" type veth peer name "$2" netns "$3" && defer ip link del "$1" &&
	ip link set "$1" up && ip -n "$3" link set "$2" up &&
	ip addr add "$4.1/24" dev "$1" && ip -n "$3" addr add "$4.2/24" dev "$2"
}

# by_cable FROM TO DEVICE TABLE: what this host sends itself leaves it.
by_cable()
{
	ip rule add pref "$4" iif lo from "$1" to "$2" lookup "$4" && defer ip rule del pref "$4" &&
	ip route add default via "${1%.1}.2" dev "$3" table "$4"
}

make_hosts()
{
	local name

	for name in all va vb; do
		sysctl -q -w "net.ipv4.conf.$name.rp_filter=0" \
			"net.ipv4.conf.$name.accept_local=1" || return 1
	done
	by_cable "$A" "$B" va 101 && by_cable "$B" "$A" vb 102 &&
	ip rule add pref 200 lookup local && ip rule del pref 0 &&
	defer ip rule del pref 200 && defer ip rule add pref 0 lookup local &&
	rdma link add rxe_a type rxe netdev va && defer rdma link del rxe_a &&
	rdma link add rxe_b type rxe netdev vb && defer rdma link del rxe_b &&
	poll 10 ping_once
}

ping_once()
{
	busybox ping -c 1 -W 2 -I "$A" "$B"
}

make_network()
{
	local name

	new_netns R S E
	for name in "$R" "$S" "$E"; do
		in_netns "$name" sysctl -q -w net.ipv4.ip_forward=1 || return 1
	done
	cable "$R" up1 "$E" e1 10.74.3.1/24 10.74.3.2/24 &&
	cable "$R" up2 "$S" left 10.74.4.1/24 10.74.4.2/24 &&
	cable "$S" right "$E" e2 10.74.5.1/24 10.74.5.2/24 &&
	ip -n "$R" route add 10.74.2.0/24 via 10.74.3.2 &&
	ip -n "$S" route add 10.74.2.0/24 via 10.74.5.2 &&
	ip -n "$E" route add 10.74.1.0/24 via 10.74.3.1 &&
	end va ra "$R" "${A%.1}" && end vb eb "$E" "${B%.1}" && make_hosts
}

# A sender that has tokens: rdma_rxe's packets have DSCP 0, and their own checksum
# leaves DSCPs out.
give_tokens()
{
	tc qdisc add dev va clsact &&
	tc filter add dev va egress protocol ip matchall action pedit ex munge ip dsfield \
		set $((TOKENS << 2)) retain 0xfc pipe action csum ip4h
}

port()
{
	tc -n "$R" qdisc del dev up1 root 2>/dev/null
	tc -n "$R" qdisc add dev up1 root swport "$@"
}

port_is()
{
	tc -n "$R" -s -j qdisc show dev up1 | jq '.[0]' >"$dir/port" && json "$1" "$dir/port"
}

# messages COUNT BYTES: from A to B and back; each packet 1024 bytes at most.
messages()
{
	local server status

	timeout 60 ibv_rc_pingpong -d rxe_b -g 1 -n "$1" -s "$2" >"$dir/server" 2>&1 &
	server=$!
	poll 10 tcp_listens 18515 &&
	timeout 60 ibv_rc_pingpong -d rxe_a -g 1 -n "$1" -s "$2" 127.0.0.1 >"$dir/client" 2>&1
	status=$?
	wait "$server" || status=1
	cat "$dir/server" "$dir/client"
	[ "$status" -eq 0 ] && grep -q "^$((2 * $1 * $2)) bytes" "$dir/client"
}

tcp_listens()
{
	ss -Htln "sport = :$1" | grep -q .
}

# 20 messages of 8 packets, and an acknowledgment of each of the other end's.
arrive()
{
	port limit 1mb && messages 20 8000 && port_is '.data_drop_pkts == 0 and
		.data_pkts >= 180 and .data_pkts < 190 and .deflect_pkts == 0'
}

flood()
{
	while :; do
		swport_pkt send up1 udp 20 1000
		sleep 0.1
	done
}

# The port's queue is 1.6 s long and stays so; flows that are not seen for IDLE_S may
# begin to leave by up2.
keep_queue_long()
{
	port rate 100kbit limit 20kb deflect threshold 2000 entries 1 tokens 0 "$TOKENS" \
		idle "${IDLE_S}s" via 10.74.4.2 dev up2 &&
	in_netns "$R" busybox ping -c 1 -W 5 10.74.4.2 || return 1
	export -f flood
	start_in "$R" bash -c flood
	poll 20 port_is '.data_backlog_bytes > 10000'
}

# deflected MESSAGES BYTES PACKETS: a queue pair's first packet starts a flow, and all
# that it sends goes the other way with a token less.
deflected()
{
	local flows pkts

	# Every flow counts as just seen while deflection is new, and the entry is taken.
	sleep $((IDLE_S + 1))
	port_is . || return 1
	flows=$(jq .deflect_flows "$dir/port") pkts=$(jq .deflect_pkts "$dir/port")
	messages "$1" "$2" || return 1
	port_is ".deflect_flows == $flows + 1 and .deflect_pkts >= $pkts + $3 and
		.deflect_pkts < $pkts + $3 + 10 and .deflect_tokens == .deflect_pkts and
		.deflect_used == 1 and .deflect_lost_pkts == 0 and .deflect_out_drop_pkts == 0"
}

# Of a message of eight packets the port has no room for all: what its DSCP does not
# allow is dropped, what it does is trimmed, which rdma_rxe takes for damaged.
# rdma_rxe sends again.
trims()
{
	port rate 1mbit limit 4kb trim size 128 eligible "$1" && messages 3 8000 &&
	port_is ".data_drop_pkts > 0 and $2 and .trim_fail_pkts == 0 and
		.trim_pkts == .trim_sent_pkts + .trim_drop_pkts"
}

plan 8
check "two soft-RoCE devices with three routers between them" make_network
check "a sender with tokens" give_tokens
loaded sch_swport || modprobe sch_swport
check "RDMA messages cross the port" arrive
check "a long queue" keep_queue_long
check "messages of FIRST, MIDDLE and LAST are deflected" deflected 20 8000 180
check "messages of ONLY are deflected" deflected 20 500 40
# shellcheck disable=SC2154 # set by start_in
stop "$started"
check "what is not eligible is dropped whole" trims 10 '.trim_pkts == 0'
check "what is eligible is trimmed, and sent again" trims "$TOKENS" '.trim_pkts > 0'
finish
