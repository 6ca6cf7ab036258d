# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The networks of fallback.sh: a client that reaches a server directly, through a box that changes
# packets, and through a router; and a host on which Quell is loaded late.

client="" server="" box="" router="" late=""

# Networks and the host's number in them.
address()
{
	case $1 in
	4) echo "10.$2.0.$3" ;;
	6) echo "fd$2::$3" ;;
	esac
}

# addresses NETWORK HOST
addresses()
{
	echo "$(address 4 "$1" "$2")/24,$(address 6 "$1" "$2")/64"
}

make_network()
{
	# While an algorithm that wants telemetry is there, every host looks at what
	# comes in from its beginning.  Another test may have left one.
	unload tcp_hpcc || return 1
	new_netns client server box router late
	cable "$client" wire "$server" wire "$(addresses 73 2)" "$(addresses 73 1)" &&
	cable "$client" far "$box" box0 "$(addresses 74 2)" &&
	cable "$server" far "$box" box1 "$(addresses 74 1)" &&
	cable "$client" west "$router" west "$(addresses 75 2)" "$(addresses 75 1)" &&
	cable "$server" east "$router" east "$(addresses 76 2)" "$(addresses 76 1)" &&
	in_netns "$router" sysctl -q -w net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 &&
	ip -n "$client" route add 10.76.0.0/24 via 10.75.0.1 &&
	ip -n "$client" route add fd76::/64 via fd75::1 &&
	ip -n "$server" route add 10.75.0.0/24 via 10.76.0.1 &&
	ip -n "$server" route add fd75::/64 via fd76::1 &&
	cable "$client" other "$late" other "$(addresses 77 2)" "$(addresses 77 1)" && delay_all
}

# Without a delay of its own a network in virtual time has round trips of nothing, and
# echoed stamps are refused.
delay_all()
{
	local device

	for device in wire far west; do
		tc -n "$client" qdisc add dev "$device" root netem delay 100us limit 10000 || return 1
	done
	for device in wire far east; do
		tc -n "$server" qdisc add dev "$device" root netem delay 100us limit 10000 || return 1
	done
}

# The box wants whole packets with whole checksums; those over the router are checked.
no_offloads()
{
	local netns

	in_netns "$client" ethtool -K west tx off >/dev/null || return 1
	for netns in "$client" "$server"; do
		in_netns "$netns" ethtool -K far tso off gso off gro off tx off >/dev/null ||
			return 1
	done
}
