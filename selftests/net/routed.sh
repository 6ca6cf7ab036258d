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
	new_netns client
	new_netns server
	new_netns router
	cable "$client" wire "$router" west && cable "$server" wire "$router" east &&
	ip -n "$client" addr add "10.$1.1.2/24" dev wire &&
	ip -n "$router" addr add "10.$1.1.1/24" dev west &&
	ip -n "$router" addr add "10.$1.2.1/24" dev east &&
	ip -n "$server" addr add "10.$1.2.2/24" dev wire &&
	ip -n "$client" route add default via "10.$1.1.1" &&
	ip -n "$server" route add default via "10.$1.2.1" &&
	in_netns "$router" sysctl -q -w net.ipv4.ip_forward=1 &&
	poll 10 in_netns "$client" busybox ping -c 1 -W 1 "10.$1.2.2"
}
