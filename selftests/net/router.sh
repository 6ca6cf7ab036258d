# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Two hosts and a router between them, for the tests that source this after
# lib.sh.  The router's port to the receiver, up0, is where queues form.
#
#	$sender up0 --- down0 $router up0 --- down0 $receiver
#	10.71.1.1, fd71:1::1                  10.71.2.1, fd71:2::1

# shellcheck disable=SC2034 # for those who source this
sender="" router="" receiver=""

make_network()
{
	new_netns sender
	new_netns router
	new_netns receiver
	cable "$sender" up0 "$router" down0 &&
	cable "$router" up0 "$receiver" down0 &&
	ip -n "$sender" addr add 10.71.1.1/24 dev up0 &&
	ip -n "$router" addr add 10.71.1.2/24 dev down0 &&
	ip -n "$router" addr add 10.71.2.2/24 dev up0 &&
	ip -n "$receiver" addr add 10.71.2.1/24 dev down0 &&
	ip -n "$sender" addr add fd71:1::1/64 dev up0 nodad &&
	ip -n "$router" addr add fd71:1::2/64 dev down0 nodad &&
	ip -n "$router" addr add fd71:2::2/64 dev up0 nodad &&
	ip -n "$receiver" addr add fd71:2::1/64 dev down0 nodad &&
	ip -n "$sender" route add default via 10.71.1.2 &&
	ip -n "$receiver" route add default via 10.71.2.2 &&
	ip -n "$sender" route add default via fd71:1::2 &&
	ip -n "$receiver" route add default via fd71:2::2 &&
	in_netns "$router" sysctl -q -w net.ipv4.ip_forward=1 \
		net.ipv6.conf.all.forwarding=1 &&
	poll 10 in_netns "$sender" ping -c 1 -W 1 10.71.2.1 &&
	poll 10 in_netns "$sender" ping -c 1 -W 1 fd71:2::1
}
