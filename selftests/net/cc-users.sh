#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Who may use an algorithm: the administrator; others when it is allowed
# (net.ipv4.tcp_allowed_congestion_control).  And which algorithms there may be.
# shellcheck disable=SC2317,SC2016 # the checks are called by name, expressions by eval

cd "$(dirname "$0")" || exit 1
# shellcheck source-path=SCRIPTDIR source=lib.sh
. ./lib.sh

algorithms=(swift swift_vaisf smartt dcqcn dart timely hpcc hpcc_vaisf)
nobody=65534
container=""
badalgo=/sys/module/quell_badalgo/parameters

load()
{
	local module

	for module in quell tcp_swift tcp_smartt tcp_dcqcn tcp_dart tcp_timely tcp_hpcc; do
		modprobe "$module" || return 1
	done
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

incomplete_are_refused()
{
	modprobe quell_badalgo || return 1
	head "$badalgo"/*
	[ "$(cat "$badalgo/accepted")" -eq 0 ] && [ "$(cat "$badalgo/refused")" -eq 22 ] &&
	[ "$(cat "$badalgo/whole")" -eq 1 ]
}

new_netns container
plan 8
check "modules" load
check "no user may pick any by setsockopt" each user_is_refused
check "no container may make any its default" each container_is_refused
check "root may pick each" each pick 0
check "a new namespace inherits the default" new_namespaces_inherit
check "allowed ..." each allow_cc
check "... users may pick each" eval 'each pick "$nobody" && each as_container'
check "an algorithm that lacks a part is not registered" incomplete_are_refused
finish
