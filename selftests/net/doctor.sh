#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# quell doctor: nothing to say of a host that is well; faults that are made, found and mended by
# the very commands it prints; who holds a module.
#
#	left (swift) --- veth --- right
#

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./quell-hosts.sh

# finding LEVEL CHECK PATTERN: there is one in $dir/doctor.
finding()
{
	json "any(.level == \"$1\" and .check == \"$2\" and (.text | test(\"$3\")))" "$dir/doctor"
}

no_finding()
{
	! finding "$@" >/dev/null
}

# command_for PATTERN: of the first finding whose text has it.
command_for()
{
	jq -r "[.[] | select(.text | test(\"$1\"))][0].command" "$dir/doctor"
}

examine()
{
	local want=$1
	shift

	status "$want" "$@" && cp "$dir/out" "$dir/doctor"
}

# Nothing is wrong with this host; the shaper on the cable is meant.
nothing_is_wrong()
{
	examine 0 left_quell -j doctor && json 'all(.level != "fault")' "$dir/doctor" &&
	finding note qdisc "netem of l0" &&
	[ "$(command_for netem)" = "tc qdisc del dev l0 root" ] &&
	status 0 left_quell doctor && cat "$dir/out" && ! grep -E '.{80}' "$dir/out" &&
	tail -n 1 "$dir/out" | grep -qE '^0 faults, [1-9][0-9]* notes?$'
}

# A fault, until its own command has been run.
faults_are_mended()
{
	ip netns exec "$left" sysctl -qw net.ipv4.tcp_sack=0 &&
	examine 3 left_quell -j doctor && finding fault sack "acknowledgments are off" &&
	in_netns "$left" bash -c "$(command_for "acknowledgments are off")" &&
	examine 0 left_quell -j doctor && no_finding fault sack
}

# Who holds a module: defaults and sockets of each namespace, by its name, without one by a path.
holders_are_named()
{
	unshare -n sleep 600 &
	defer kill $!
	nameless=$!
	start_in "$left" iperf3 -s -p "$port" >"$dir/server" 2>&1
	server=$started
	poll 10 listens "$left" "$port" && choose_cc "$right" swift && poll 10 has_own_netns "$nameless" &&
	nsenter --net="/proc/$nameless/ns/net" sysctl -qw net.ipv4.tcp_congestion_control=swift &&
	examine 0 left_quell -j doctor &&
	finding held holders "swift is the default of this namespace" &&
	finding held holders "swift is used by 1 socket of this namespace" &&
	finding held holders "swift is the default of $right" &&
	finding held holders "swift is the default of /proc/$nameless/ns/net"
}

# What is in the directory of namespaces and is none: nothing to wait for, and no lack of privilege.
others_are_passed()
{
	mkfifo /run/netns/a-fifo && defer rm -f /run/netns/a-fifo &&
	touch /run/netns/a-file && defer rm -f /run/netns/a-file &&
	examine 0 timeout 60 quell -n "$left" -j doctor && no_finding held holders "were not examined"
}

has_own_netns()
{
	[ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]
}

# Run what is said of each, and the module can go.
holders_let_go()
{
	local command

	stop "$server" && examine 0 left_quell -j doctor &&
	jq -r '.[] | select(.text | test("is the default of")) | .command' "$dir/doctor" >"$dir/list" &&
	[ "$(wc -l <"$dir/list")" -eq 3 ] || return 1
	while read -r command; do
		in_netns "$left" bash -c "$command" </dev/null || return 1
	done <"$dir/list"
	examine 0 left_quell -j doctor && no_finding held holders "is the default of" &&
	poll 10 can_unload
}

can_unload()
{
	examine 0 left_quell -j doctor && no_finding held holders "used by" && rmmod tcp_swift
}

doctor_of_anyone()
{
	examine 0 as_nobody quell -j doctor && finding held holders "were not examined"
}

# without_modules WHAT COMMAND: what is said, and what mends it.
without_modules()
{
	unload quell && examine 3 quell -j doctor &&
	finding fault module "quell is not $1" && [ "$(command_for "quell is not")" = "$2" ]
}

# Where they are installed, so that the system's own modprobe finds them.
words=(installed "apt install quell-dkms")
! grep -qs /tcp_swift.ko "/lib/modules/$(uname -r)/modules.dep" || words=(loaded "modprobe tcp_swift")
plan 8
check "network, swift on the left" make_network 10mbit
check "doctor finds no fault" nothing_is_wrong
check "doctor needs no privilege" doctor_of_anyone
check "doctor's commands mend" faults_are_mended
check "doctor passes by what is no namespace" others_are_passed
check "doctor names who holds a module" holders_are_named
check "and its commands let go" holders_let_go
check "doctor finds that nothing is loaded" without_modules "${words[@]}"
finish
