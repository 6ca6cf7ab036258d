#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Look-ahead groups and weights of senders end when tcp_dart is unloaded, and a list that is read
# meanwhile is marked.  Not on the debug kernel: KASAN of user-mode Linux reports accesses to a module
# that is loaded where another was.

cd "$(dirname "$0")" || exit 1
. ./lib.sh

other=""

make_host()
{
	modprobe tcp_dart && new_netns other && ip -n "$other" link add wire type dummy &&
	ip -n "$other" addr add 10.90.0.1/24 dev wire && ip -n "$other" link set wire up
}

at_other()
{
	in_netns "$other" "$@"
}

# lists_are_empty: of groups and of senders.
lists_are_empty()
{
	at_other quell -j lookahead show >"$dir/groups" && json '. == []' "$dir/groups" &&
	at_other quell -j sender show >"$dir/senders" && json '. == []' "$dir/senders"
}

refuses_without_module()
{
	status "$1" at_other quell "${@:2}" && says 'tcp_dart'
}

# What is registered goes with the module; quell.ko remains, and refuses what needs it.
registered_goes_with_dart()
{
	make_host || return 1
	for _ in 1 2; do
		at_other quell lookahead add here dev wire 10.90.0.2 &&
		at_other quell sender weight 10.90.0.3 7 dev wire &&
		at_other quell sender weight 127.0.0.2 7 dev lo &&
		at_other quell -j lookahead show >"$dir/groups" && json 'length == 1' "$dir/groups" &&
		rmmod tcp_dart && lists_are_empty &&
		refuses_without_module 2 lookahead add here dev wire 10.90.0.2 &&
		refuses_without_module 2 lookahead del here &&
		refuses_without_module 2 sender weight 10.90.0.3 7 dev wire &&
		modprobe tcp_dart && lists_are_empty || return 1
	done
	rmmod tcp_dart && ip netns del "$other" && unload quell
}

# A list of groups is marked as interrupted if the module goes while it is read, or goes and comes.
interrupted_by()
{
	local i

	make_host || return 1
	for i in {1..64}; do
		at_other quell lookahead add "g$i" dev wire "10.90.$i."{1..63} || return 1
	done
	at_other quell_nl midway 10 "$1" | tee "$dir/midway"
	ip netns del "$other"
	grep -qx "${2:-interrupted}" "$dir/midway"
}

plan 4
check "groups and weights go with the module, and requests name it" registered_goes_with_dart
check "a list of groups is whole" interrupted_by true whole
check "it is marked if the module goes meanwhile" interrupted_by "rmmod tcp_dart"
# shellcheck disable=SC2016 # of the other shell
check "or goes and comes" interrupted_by 'rmmod tcp_dart && modprobe tcp_dart &&
	for i in $(seq 64); do quell lookahead add "g$i" dev wire 10.90.0.2; done'
finish
