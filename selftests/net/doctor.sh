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

# Drops of a port are those of its counters: a packet longer than its limit.
ports_are_counted()
{
	tc -n "$right" qdisc add dev r0 root swport limit 64 &&
	! in_netns "$right" busybox ping -c 1 -W 1 -s 1000 10.72.0.1 &&
	examine 0 quell -n "$right" -j doctor &&
	finding note port "the switch port of r0 has dropped 1 packets, marked 0 and trimmed 0" &&
	tc -n "$right" qdisc del dev r0 root && examine 0 quell -n "$right" -j doctor &&
	no_finding note port
}

# Before a change: to an algorithm for which the path is too long.
change_is_foreseen()
{
	modprobe tcp_timely && start_transfer && ip -n "$left" route add 10.73.0.0/16 via 10.72.0.2 congctl reno &&
	examine 0 left_quell -j doctor --if timely &&
	[ "$(command_for "new connections would use timely in place of swift")" = \
		"sysctl -w net.ipv4.tcp_congestion_control=timely" ] &&
	finding effect route "1 route has congctl reno, one to 10.73.0.0/16" &&
	finding effect open "2 open connections to other hosts would not change .*: swift 2$" &&
	finding effect govern "timely would govern 0 of 2" &&
	finding note long-path "CUBIC would govern 2 of 2, one to 10.72.0.2" &&
	examine 0 left_quell -j doctor --if swift &&
	finding effect default "swift is the default of this namespace already" &&
	finding effect preset "swift has adapt off and values of no preset" &&
	left_quell cc set swift base-target 1us fs-range 1us &&
	examine 3 left_quell -j doctor --if swift && finding fault target "2 of 2, one to 10.72.0.2" &&
	in_netns "$left" bash -c "$(command_for "almost stop")" &&
	examine 0 left_quell -j doctor --if swift &&
	[ "$(cc_of "$left")" = swift ] && stop_client && stop "$started" && unload tcp_timely
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
words=(installed "apt install ./quell-dkms_*.deb  # from make deb, INSTALL.md")
! grep -qs /tcp_swift.ko "/lib/modules/$(uname -r)/modules.dep" || words=(loaded "modprobe tcp_swift")
plan 10
check "network, swift on the left" make_network 10mbit
check "doctor finds no fault" nothing_is_wrong
check "doctor needs no privilege" doctor_of_anyone
check "doctor's commands mend" faults_are_mended
check "doctor counts what a port drops" ports_are_counted
check "doctor --if foresees the effects of a change" change_is_foreseen
check "doctor passes by what is no namespace" others_are_passed
check "doctor names who holds a module" holders_are_named
check "and its commands let go" holders_let_go
check "doctor finds that nothing is loaded" without_modules "${words[@]}"
finish
