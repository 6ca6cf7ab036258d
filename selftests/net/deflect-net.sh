# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A small leaf-spine network for the tests of deflection that source this after
# lib.sh:
#
#	           up1 - left S1 right - down1
#	near -- in0 A                        B out0 - far
#	           up2 - left S2 right - down2
#
# A's way to far's first address is by up1, to its second one by up2; each port
# deflects by the other.  A flood that is no flow of RoCEv2's keeps a port's queue
# long where that is wanted.
# shellcheck disable=SC2034 # used by others

near="" A="" S1="" S2="" B="" far=""

# One processor per cable end keeps a cable's order (router.sh).
in_order()
{
	in_netns "$1" sh -c 'for map in /sys/class/net/*/queues/rx-*/rps_cpus; do
		[ ! -e "$map" ] || echo 1 >"$map" || exit 1
	done'
}

address()
{
	ip -n "$1" addr add "10.73.$3.$4/24" dev "$2" &&
	ip -n "$1" addr add "fd73:$3::$4/64" dev "$2" nodad
}

spine()
{
	local name=$1 number=$2

	cable "$A" "up$number" "$name" left && cable "$name" right "$B" "down$number" &&
	address "$A" "up$number" "$((number))" 1 && address "$name" left "$((number))" 2 &&
	address "$name" right "$((number + 10))" 1 && address "$B" "down$number" "$((number + 10))" 2 &&
	ip -n "$name" route add 10.73.30.0/24 via "10.73.$((number + 10)).2" &&
	ip -n "$name" -6 route add fd73:30::/64 via "fd73:$((number + 10))::2" &&
	ip -n "$name" route add 10.73.20.0/24 via "10.73.$number.1" &&
	ip -n "$name" -6 route add fd73:20::/64 via "fd73:$number::1"
}

make_network()
{
	local name

	new_netns near A S1 S2 B far
	for name in "$A" "$S1" "$S2" "$B"; do
		in_netns "$name" sysctl -q -w net.ipv4.ip_forward=1 \
			net.ipv6.conf.all.forwarding=1 || return 1
	done
	spine "$S1" 1 && spine "$S2" 2 &&
	cable "$near" near0 "$A" in0 && cable "$B" out0 "$far" far0 &&
	address "$near" near0 20 1 && address "$A" in0 20 2 &&
	address "$B" out0 30 2 && address "$far" far0 30 1 && address "$far" far0 30 3 &&
	ip -n "$near" route add default via 10.73.20.2 &&
	ip -n "$near" route add default via fd73:20::2 &&
	ip -n "$far" route add default via 10.73.30.2 &&
	ip -n "$far" route add default via fd73:30::2 &&
	ip -n "$A" route add 10.73.30.1 via 10.73.1.2 &&
	ip -n "$A" route add 10.73.30.3 via 10.73.2.2 &&
	ip -n "$A" route add fd73:30::1 via fd73:1::2 &&
	ip -n "$A" route add fd73:30::3 via fd73:2::2 &&
	ip -n "$B" route add 10.73.20.0/24 via 10.73.11.1 &&
	ip -n "$B" -6 route add fd73:20::/64 via fd73:11::1 || return 1
	for name in "$near" "$A" "$S1" "$S2" "$B" "$far"; do
		in_order "$name" || return 1
	done
	for name in 10.73.30.1 10.73.30.3 fd73:30::1 fd73:30::3; do
		poll 10 in_netns "$near" busybox ping -c 1 -W 1 "$name" || return 1
	done
}

A_tc()
{
	tc -n "$A" "$@"
}

# A 4 Mbit/s port whose queue of at most 50 ms is long soon; words are more options.
slow=(rate 4mbit limit 25000)
port()
{
	local dev=$1
	shift

	A_tc qdisc del dev "$dev" root 2>/dev/null
	A_tc qdisc add dev "$dev" root handle 1: swport "$@"
}

via1=(via 10.73.1.2 dev up1)
via2=(via 10.73.2.2 dev up2)
deflect=(deflect threshold 5000 idle 200ms)

both_ports()
{
	A_tc qdisc del dev up2 root 2>/dev/null
	port up1 "${slow[@]}" "${deflect[@]}" "$@" "${via2[@]}"
}

snapshot()
{
	A_tc -s -j qdisc show dev "${1:-up1}" >"$dir/all" &&
	jq '.[] | select(.kind == "swport")' "$dir/all" >"$dir/port"
}

port_is()
{
	snapshot up1 && json "$1" "$dir/port"
}

option()
{
	snapshot up1 && jq -c .options "$dir/port"
}

long()
{
	snapshot up1 && jq -e '.data_backlog_bytes > 10000' "$dir/port" >/dev/null
}

# Longer than the idle time of these ports; nothing tells that it has passed.
sleep_idle()
{
	sleep 0.3
}

flooded=""
# flood ADDRESS [INTERVAL_US]: a packet of 1000 bytes each, until the queue there is long,
# and the port knows who was quiet.
flood()
{
	start_in "$near" deflect_pkt flood "$1" "${2:-800}"
	flooded=$started
	poll 10 long && sleep_idle
}

ebb()
{
	[ -z "$flooded" ] || stop "$flooded"
	flooded=""
}

receiver="" messages=""
receiver_ready()
{
	grep -q ready "$dir/recv"
}

listen()
{
	: >"$dir/recv"
	in_netns "$far" deflect_pkt recv "${1:-10.73.30.1}" "${2:-1500}" >"$dir/recv" &
	receiver=$!
	poll 10 receiver_ready
}

transmit()
{
	in_netns "$near" deflect_pkt send "$@"
}

# came FILTER: of what the receiver says.
came()
{
	wait "$receiver" && grep -v ready "$dir/recv" >"$dir/came" && json "$1" "$dir/came"
}

quiet()
{
	port_is '.backlog == 0 and .qlen == 0'
}

books_balance()
{
	poll 10 quiet &&
	port_is '.packets == .data_pkts + .control_pkts and
		.bytes == .data_bytes + .control_bytes and
		.drops == .data_drop_pkts + .control_drop_pkts + .alloc_fail_pkts +
			.deflect_lost_pkts'
}
