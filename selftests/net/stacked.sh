#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The speed of a bond follows the cables below, though the kernel sends no event for it.
#
#	$client --- $server		two cables each
# shellcheck disable=SC2154 # $dir is lib.sh's

cd "$(dirname "$0")" || exit 1
. ./lib.sh

client="" server=""

## speeds

# speed_is DEVICE MBIT: as the driver reports it, and as Quell does.
speed_is()
{
	[ "$(in_netns "$client" cat "/sys/class/net/$1/speed")" = "$2" ] &&
	quell -n "$client" -j link show "$1" >"$dir/link" &&
	json ".[0].driver_bytes_ps == $2 * 125000" "$dir/link"
}

# Two cables, with a bond of mode balance-xor at this end.
make_bond()
{
	local number

	ip -n "$client" link add bond0 type bond mode balance-xor miimon 20 || return 1
	for number in 0 1; do
		ip link add "slave$number" netns "$client" type veth peer "slave$number" \
			netns "$server" && ip -n "$server" link set "slave$number" up || return 1
	done
	ip -n "$client" link set slave0 master bond0 && ip -n "$client" link set bond0 up &&
	poll 10 speed_is bond0 10000
}

second_slave()
{
	ip -n "$client" link set slave1 master bond0 && poll 10 speed_is bond0 20000
}

new_netns client server
modprobe -q bonding
plan 3
check "modules" modprobe quell
check "a bond of one cable" make_bond
check "a second cable joins" second_slave
finish
