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
	new_netns sender router receiver
	cable "$sender" up0 "$router" down0 10.71.1.1/24,fd71:1::1/64 10.71.1.2/24,fd71:1::2/64 &&
	cable "$router" up0 "$receiver" down0 10.71.2.2/24,fd71:2::2/64 10.71.2.1/24,fd71:2::1/64 &&
	ip -n "$sender" route add default via 10.71.1.2 &&
	ip -n "$receiver" route add default via 10.71.2.2 &&
	ip -n "$sender" route add default via fd71:1::2 &&
	ip -n "$receiver" route add default via fd71:2::2 &&
	in_netns "$router" sysctl -q -w net.ipv4.ip_forward=1 \
		net.ipv6.conf.all.forwarding=1 &&
	poll 10 in_netns "$sender" ping -c 1 -W 1 10.71.2.1 &&
	poll 10 in_netns "$sender" ping -c 1 -W 1 fd71:2::1
}

# up0_port OPTION...: a new swport of 20 Mbit/s at the router, counters at zero.
up0_port()
{
	tc -n "$router" qdisc del dev up0 root 2>/dev/null
	tc -n "$router" qdisc add dev up0 root swport rate 20mbit "$@"
}

up0_stats()
{
	tc -n "$router" -s -j qdisc show dev up0
}

# web_server PORT DIRECTORY: of the sender, and the only one.  What a listener
# agrees to is decided by the algorithm it was made with.
server=""
web_server()
{
	[ -z "$server" ] || stop "$server"
	start_in "$sender" httpd -f -p "$1" -h "$2"
	# shellcheck disable=SC2154 # lib.sh's
	server=$started
	poll 10 listens "$sender" "$1"
}
