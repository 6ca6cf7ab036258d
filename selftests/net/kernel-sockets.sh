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
	read -ra every -d '' <<<"$(algorithms)"
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

# closes_late ALGORITHM: the delay is longer than the end of a namespace takes.
closes_late()
{
	local near

	new_netns near && cable "$near" wire "$far" wire &&
	ip -n "$near" addr add 10.93.0.1/24 dev wire && ip -n "$far" addr add 10.93.0.2/24 dev wire &&
	poll 20 in_netns "$near" ping -c 1 -W 1 10.93.0.2 &&
	tc -n "$near" qdisc add dev wire root netem delay 400ms && choose_cc "$near" "$1" &&
	in_netns "$near" sh -c "echo 10.93.0.2 $port >/sys/module/quell_kernsock/parameters/send" &&
	ip netns del "$near" && poll 60 has_ended
}

plan 10
check "a server" set_up
for algorithm in cubic "${every[@]}"; do
	check "$algorithm: closed by the kernel, in a namespace that ends" closes_late "$algorithm"
done
finish
