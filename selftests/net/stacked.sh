#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Interfaces above others.  The speed of a bond and of a VLAN above it follows the cables below,
# though the kernel sends no event for it.  In a VRF with a queue packets are no longer than the MTU
# of the interface below, a sender has the line rate of that, and Dart counts its senders.
#
#	$client --- $server		a cable, and two of a bond
# shellcheck disable=SC2154 # $dir is lib.sh's

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./talk.sh

port=8100 bytes=200000
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

lost_cable()
{
	ip -n "$server" link set slave0 down && poll 10 speed_is bond0 10000 &&
	ip -n "$server" link set slave0 up && poll 10 speed_is bond0 20000
}

above()
{
	ip -n "$client" link add link bond0 name bond0.7 type vlan id 7 &&
	ip -n "$client" link set bond0.7 up && poll 10 speed_is bond0.7 20000 &&
	ip -n "$client" link set slave1 nomaster && poll 10 speed_is bond0.7 10000 &&
	ip -n "$client" link set slave1 master bond0 && poll 10 speed_is bond0.7 20000
}

## VRF

# Packets of both ends that were longer than the MTU.
refused()
{
	echo $(($(counter_of "$client" snmp Ip FragFails) +
		$(counter_of "$server" snmp Ip FragFails)))
}

vrf()
{
	local netns

	in_netns "$server" sysctl -q -w net.ipv4.tcp_l3mdev_accept=1
	for netns in "$client" "$server"; do
		ip -n "$netns" link add vrf0 type vrf table 10 && ip -n "$netns" link set vrf0 up &&
		ip -n "$netns" link set wire0 master vrf0 &&
		tc -n "$netns" qdisc add dev vrf0 root pfifo &&
		quell -n "$netns" cc set quell option 1 &&
		choose_cc "$netns" dart && quell -n "$netns" cc set dart min-rate 100mbit || return 1
	done
	talker talker "$client" && serve "$server" "$port"
}

# Data both ways, of which full segments acknowledge the other end's.
both_ways()
{
	say "open 4" "device vrf0" "connect 10.99.0.2 $port" "xfer $bytes" "xfer $bytes" &&
	flows_of "$client" && echo "$flows" && [[ $flows = *'"option":"on"'* ]] &&
	[[ $flows = *'"link_bytes_ps":1250000000'* ]]
}

fits()
{
	local count

	count=$(refused)
	same "packets longer than the MTU" "$count" 0
}

port_is_below()
{
	quell -n "$server" -j sender show >"$dir/senders" && cat "$dir/senders" &&
	json 'length == 1 and .[0].dev == "wire0"' "$dir/senders"
}

new_netns client server
cable "$client" wire0 "$server" wire0 10.99.0.1/24 10.99.0.2/24
modprobe -a -q bonding 8021q vrf
plan 8
check "modules" modprobe -a quell tcp_dart
check "a bond of one cable" make_bond
check "a second cable joins" second_slave
check "a cable is cut" lost_cable
check "a VLAN above it" above
check "two VRFs with queues" eval "vrf && both_ways"
check "no packet is too long" fits
check "Dart's port is the interface below the VRF" port_is_below
finish
