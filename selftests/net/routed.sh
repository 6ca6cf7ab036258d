# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Two hosts and a router between them, for the tests that source this after lib.sh.
#
#	$client wire --- west $router east --- wire $server
#	10.N.1.2      10.N.1.1      10.N.2.1      10.N.2.2

# shellcheck disable=SC2034 # for those who source this
client="" server="" router=""

# routed_network N: they can reach each other.
routed_network()
{
	new_netns client server router
	cable "$client" wire "$router" west "10.$1.1.2/24" "10.$1.1.1/24" &&
	cable "$server" wire "$router" east "10.$1.2.2/24" "10.$1.2.1/24" &&
	ip -n "$client" route add default via "10.$1.1.1" &&
	ip -n "$server" route add default via "10.$1.2.1" &&
	in_netns "$router" sysctl -q -w net.ipv4.ip_forward=1 &&
	poll 10 in_netns "$client" busybox ping -c 1 -W 1 "10.$1.2.2"
}

# packets: a cable has one after the other: netem would take a burst for one.
packets()
{
	local at

	for at in "$client wire" "$server wire" "$router west" "$router east"; do
		# shellcheck disable=SC2086 # namespace and device
		set -- $at
		in_netns "$1" ethtool -K "$2" tso off gso off gro off >/dev/null || return 1
	done
}

# path RATE DELAY PACKETS: both ways.
path()
{
	local device

	for device in west east; do
		tc -n "$router" qdisc del dev "$device" root 2>/dev/null
		tc -n "$router" qdisc add dev "$device" root netem rate "$1" delay "$2" \
			limit "$3" || return 1
	done
}
