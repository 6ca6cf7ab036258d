#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Connections of the kernel that hold no reference to their namespace, as of some file systems: each
# is closed with data in flight, and its namespace ends.  TCP stops its own timers then; a timer of
# Quell would use memory that is freed.  As TCP never frees such a socket, a module stays in use.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./suited.sh

port=7200
far="" every=()

set_up()
{
	load_all && modprobe quell_kernsock && new_netns far || return 1
	start_in "$far" python3 -c "
import socket
listener = socket.create_server(('', $port), backlog=64)
while True:
    listener.accept()" &&
	poll 20 listens "$far" "$port"
}

has_ended()
{
	! ip -n "$far" link show wire
}

# Of virtual time, in us.
now_us()
{
	echo $((10#${EPOCHREALTIME/[.,]/}))
}

is_after()
{
	[ "$(now_us)" -gt "$1" ]
}

# closes_late ALGORITHM: the namespace ends before the data is acknowledged.  Its probe would be
# sent a second after the data, the longest timeout for a tail.
closes_late()
{
	local near delay_us=400000 begin_us took_us

	new_netns near && cable "$near" wire "$far" wire 10.93.0.1/24 10.93.0.2/24 &&
	poll 20 in_netns "$near" ping -c 1 -W 1 10.93.0.2 &&
	tc -n "$near" qdisc add dev wire root netem delay "${delay_us}us" && choose_cc "$near" "$1" &&
	in_netns "$near" sh -c "echo 10.93.0.2 $port >/sys/module/quell_kernsock/parameters/send" ||
		return 1
	begin_us=$(now_us)
	ip netns del "$near" && poll 60 has_ended || return 1
	took_us=$(($(now_us) - begin_us))
	echo "the namespace ended after $took_us us"
	[ "$took_us" -lt "$delay_us" ] && poll 10 is_after $((begin_us + 2000000))
}

require "a server, and algorithms" eval "set_up && few_algorithms every"
plan $((1 + ${#every[@]}))
for algorithm in cubic "${every[@]}"; do
	check "$algorithm: closed by the kernel, in a namespace that ends" closes_late "$algorithm"
done
finish
