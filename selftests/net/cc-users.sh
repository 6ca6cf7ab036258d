#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Who may use an algorithm: the administrator; others when it is allowed
# (net.ipv4.tcp_allowed_congestion_control).  And which algorithms there may be.

cd "$(dirname "$0")" || exit 1
. ./lib.sh

algorithms=(swift swift_vaisf smartt dcqcn dart timely hpcc hpcc_vaisf)
nobody=65534
container="" near="" far=""
badalgo=/sys/module/quell_badalgo/parameters

load()
{
	modprobe -a tcp_swift tcp_smartt tcp_dcqcn tcp_dart tcp_timely tcp_hpcc || return 1
	allowed=$(cat /proc/sys/net/ipv4/tcp_allowed_congestion_control)
	defer sysctl -q -w net.ipv4.tcp_allowed_congestion_control="$allowed"
}

# pick UID ALGORITHM: setsockopt(TCP_CONGESTION) by that user.
pick()
{
	setpriv --reuid "$1" --clear-groups --inh-caps=-all python3 -c "
import socket
socket.socket().setsockopt(socket.IPPROTO_TCP, 13, b'$2')"
}

# each COMMAND WORD...: with every algorithm.
each()
{
	local algorithm

	for algorithm in "${algorithms[@]}"; do
		"$@" "$algorithm" || { echo "$algorithm"; return 1; }
	done
}

user_is_refused()
{
	refuses "not permitted" pick "$nobody" "$1"
}

# A container's root: container.sh has one with a user namespace of its own.
as_container()
{
	in_netns "$container" sysctl -w net.ipv4.tcp_congestion_control="$1"
}

container_is_refused()
{
	refuses "setting key .*not permitted" as_container "$1"
}

# A namespace inherits what was its maker's default; the administrator's choice allows.
new_namespaces_inherit()
{
	local default netns

	default=$(cat /proc/sys/net/ipv4/tcp_congestion_control)
	sysctl -q -w net.ipv4.tcp_congestion_control=timely || return 1
	new_netns netns
	sysctl -q -w net.ipv4.tcp_congestion_control="$default" && [ "$(cc_of "$netns")" = timely ]
}

# connected ALGORITHM|- LATER|-: what a connection to the other host has, which sets the one before
# it is opened and the other when it is.
connected()
{
	in_netns "$near" python3 -c "
import socket, sys
before, later = sys.argv[1:]
one = socket.socket()
if before != '-':
    one.setsockopt(socket.IPPROTO_TCP, 13, before.encode())
one.connect(('10.86.0.2', 8600))
if later != '-':
    one.setsockopt(socket.IPPROTO_TCP, 13, later.encode())
print(one.getsockopt(socket.IPPROTO_TCP, 13, 16).rstrip(bytes(1)).decode())" "$1" "$2"
}

# becomes WANT BEFORE LATER
becomes()
{
	local got

	got=$(connected "$2" "$3")
	[ "$got" = "$1" ] && return 0
	echo "$got, not $1"
	return 1
}

two_hosts()
{
	new_netns near far && cable "$near" n0 "$far" f0 10.86.0.1/24 10.86.0.2/24 &&
	start_in "$far" busybox nc -ll -p 8600 -e true && poll 10 listens "$far" 8600 &&
	in_netns "$near" sysctl -q -w net.ipv4.tcp_congestion_control=reno
}

# quell(7), DESTINATIONS: what a route names, and what goes before it.
route_names_one()
{
	ip -n "$near" route replace 10.86.0.2/32 dev n0 congctl swift &&
	becomes swift - - && becomes swift timely - && becomes timely - timely &&
	ip -n "$near" route replace 10.86.0.2/32 dev n0 congctl lock swift &&
	becomes swift - - && refuses "not permitted" connected - timely
}

# A module that goes leaves the route its name, and one that comes finds it.
route_outlives_a_module()
{
	ip -n "$near" route replace 10.86.0.2/32 dev n0 congctl dcqcn && becomes dcqcn - - &&
	poll 10 rmmod tcp_dcqcn && becomes reno - - &&
	! ip -n "$near" route show 10.86.0.2 | grep congctl &&
	modprobe tcp_dcqcn && becomes dcqcn - - && ip -n "$near" route show 10.86.0.2 | grep congctl
}

incomplete_are_refused()
{
	modprobe quell_badalgo || return 1
	head "$badalgo"/*
	[ "$(cat "$badalgo/accepted")" -eq 0 ] && [ "$(cat "$badalgo/refused")" -eq 22 ] &&
	[ "$(cat "$badalgo/whole")" -eq 1 ]
}

# As with a quell.ko of before an upgrade; ENOEXEC is 8.
foreign_is_refused()
{
	[ "$(cat "$badalgo/foreign")" -eq -8 ] && dmesg | grep "quell: a module of version .*0 is refused"
}

new_netns container
plan 12
check "modules" load
check "no user may pick any by setsockopt" each user_is_refused
check "no container may make any its default" each container_is_refused
check "root may pick each" each pick 0
check "a new namespace inherits the default" new_namespaces_inherit
check "allowed ..." each allow_cc
check "... users may pick each" eval 'each pick "$nobody" && each as_container'
check "two hosts" two_hosts
check "a route names the algorithm of its connections" route_names_one
check "and has it back when its module comes back" route_outlives_a_module
check "an algorithm that lacks a part is not registered" incomplete_are_refused
check "nor is one of another version than quell.ko" foreign_is_refused
finish
