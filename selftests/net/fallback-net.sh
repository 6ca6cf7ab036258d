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

# attach NETNS DEVICE NETWORK HOST
attach()
{
	ip -n "$1" addr add "$(address 4 "$3" "$4")/24" dev "$2" &&
	ip -n "$1" addr add "$(address 6 "$3" "$4")/64" dev "$2" nodad
}

make_network()
{
	local netns

	# While an algorithm that wants telemetry is there, every host looks at what
	# comes in from its beginning.  Another test may have left one.
	unload tcp_hpcc || return 1
	for netns in client server box router late; do
		new_netns $netns
	done
	cable "$client" wire "$server" wire && attach "$client" wire 73 2 &&
	attach "$server" wire 73 1 &&
	cable "$client" far "$box" box0 && cable "$server" far "$box" box1 &&
	attach "$client" far 74 2 && attach "$server" far 74 1 &&
	cable "$client" west "$router" west && cable "$server" east "$router" east &&
	attach "$client" west 75 2 && attach "$router" west 75 1 &&
	attach "$server" east 76 2 && attach "$router" east 76 1 &&
	in_netns "$router" sysctl -q -w net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 &&
	ip -n "$client" route add 10.76.0.0/24 via 10.75.0.1 &&
	ip -n "$client" route add fd76::/64 via fd75::1 &&
	ip -n "$server" route add 10.75.0.0/24 via 10.76.0.1 &&
	ip -n "$server" route add fd75::/64 via fd76::1 &&
	cable "$client" other "$late" other && attach "$client" other 77 2 &&
	attach "$late" other 77 1 && delay_all
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
