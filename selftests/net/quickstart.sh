#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Documentation/quickstart-operator.md, followed on a host that has what the page speaks of: eth1,
# and behind it a router and the network 10.1.0.0/16.
#
#	this host eth1 --- router, and 10.1.9.9 in it
#	10.1.0.2           10.1.0.1
#

cd "$(dirname "$0")" || exit 1
. ./lib.sh

port=5201 router=""

follow_page()
{
	../pages/follow ../../Documentation/quickstart-operator.md "$@"
}

make_network()
{
	new_netns router &&
	ip link add eth1 type veth peer name east netns "$router" && defer ip link del eth1 &&
	ip addr add 10.1.0.2/24 dev eth1 && ip link set eth1 up &&
	ip -n "$router" addr add 10.1.0.1/24 dev east && ip -n "$router" link set east up &&
	ip -n "$router" addr add 10.1.9.9/32 dev lo
}

# A connection to that network, opened after the page has chosen an algorithm for it.
use_and_send()
{
	follow_page "$1" || return
	# It would close the connection at the end of its own input.
	start_in "$router" sh -c "sleep 600 | busybox nc -l -p $port" >"$dir/server" 2>&1
	server=$started
	poll 10 listens "$router" "$port" || return
	{ head -c 100000 /dev/zero && exec sleep 600; } | busybox nc 10.1.9.9 "$port" &
	client=$!
	defer kill "$client"
	poll 10 has_flow
}

has_flow() { quell -j flow show | jq -e 'map(select(.dst == "10.1.9.9")) | length > 0' >/dev/null; }

stop_sending() { stop "$client" && stop "$server" && poll 10 has_no_flow; }
has_no_flow() { [ "$(quell -j flow show)" = "[]" ]; }

plan 8
check "a host with eth1" make_network
check "use" use_and_send use
check "look" follow_page look
check "the connection is closed" stop_sending
check "host" follow_page host
check "back" follow_page back
check "nothing of ours is left loaded" eval "not_loaded tcp_swift && not_loaded quell"
check "port" follow_page port
finish
