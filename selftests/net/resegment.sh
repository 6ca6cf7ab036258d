#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A box on the path (option_box) that cuts segments in two and copies the options to both: neither
# half has the payload that its option states, and both are data, not the rest of a trimmed packet.
#
#	$client wire --- box0 $box box1 --- wire $server, 50 us each way, 1 Gbit/s
#	10.94.0.2                           10.94.0.1

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./talk.sh

port=7200
client="" server="" box=""

make_network()
{
	local netns

	modprobe tcp_swift && new_netns client server box &&
	cable "$client" wire "$box" box0 10.94.0.2/24 &&
	cable "$server" wire "$box" box1 10.94.0.1/24 || return 1
	for netns in "$client" "$server"; do
		in_netns "$netns" ethtool -K wire tso off gso off gro off tx off >/dev/null &&
		tc -n "$netns" qdisc add dev wire root netem delay 50us rate 1gbit limit 1000 ||
			return 1
	done
	boxed divide && start_in "$server" many_tcp listen "$port" 1 reply &&
	poll 10 listens "$server" "$port"
}

# become ALGORITHM OPTION
become()
{
	local netns

	for netns in "$client" "$server"; do
		choose_cc "$netns" "$1" && quell -n "$netns" cc set quell option "$2" || return 1
	done
}

# All arrives, in pieces, in the time that 1 Gbit/s takes and half as much again, and nothing was
# sent twice.
arrives()
{
	local before pieces

	before=$(counter_of "$client" snmp Tcp RetransSegs)
	pieces=$(counter_of "$server" snmp Tcp InSegs)
	become "$@" &&
	echo "1 1000000 8" |
		in_netns "$client" timeout 0.3 many_tcp connect 10.94.0.1 "$port" 1 1 0 reply &&
	[ "$(counter_of "$client" snmp Tcp RetransSegs)" -eq "$before" ] &&
	[ "$(counter_of "$server" snmp Tcp InSegs)" -gt $((pieces + 1000)) ]
}

agreed()
{
	[ "$(quell_count "$server" option-negotiated)" -gt 0 ]
}

nothing_was_trimmed()
{
	[ "$(quell_count "$server" trim-received)" -eq 0 ] && [ "$(quell_count "$server" nack-sent)" -eq 0 ]
}

plan 6
check "two hosts and a box" make_network
check "cubic" arrives cubic 0
check "swift without the option" arrives swift 0
check "swift with it" arrives swift 1
check "the option was spoken" agreed
check "no half was taken for trimmed" nothing_was_trimmed
finish
