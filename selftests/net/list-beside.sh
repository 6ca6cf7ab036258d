#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What others notice while many flows are listed: pings between two hosts with so many connections,
# beside nothing, beside one "quell flow show" after the other, beside ss, and beside a shell that
# counts; by run-qemu, as a guest of run-uml has no processor's time.  Prints the longest and the
# mean of each; the checks are that every ping is answered and that the list had all flows.
#
#	list-beside.sh [FLOWS [SECONDS]]	10000 and 5; 100000 take --memory 4G
# shellcheck disable=SC2119 # arguments have defaults

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./crowd.sh

flows=${1:-10000} seconds=${2:-5}
nothing() { sleep 1; }
list() { quell -n "$client" flow show >"$dir/list"; }
sockets() { in_netns "$client" ss -tine >"$dir/sockets"; }
count() { local i; for ((i = 0; i < 20000; i++)); do :; done; }

# On and on, until it is stopped; how often is in $dir/times.
on_and_on()
{
	local times=0

	while "$1"; do
		times=$((times + 1))
		echo "$times" >"$dir/times"
	done
}

# beside COMMAND: pings while it goes on.
beside()
{
	local other

	echo 0 >"$dir/times"
	on_and_on "$1" &
	other=$!
	defer kill "$other"
	in_netns "$client" busybox ping -q -i 0.01 -w "$seconds" "$servers" >"$dir/pings"
	kill "$other"
	wait "$other"
	cat "$dir/pings"
	note "$flows flows, beside $1 ($(cat "$dir/times") times):" \
		"$(grep -o 'round-trip.*' "$dir/pings")" >&3
	grep -q ' 0% packet loss' "$dir/pings"
}

lists_all()
{
	[ "$(quell -n "$client" -j flow show | jq length)" -eq "$flows" ]
}

exec 3>&1
require "$flows connections" eval 'modprobe tcp_swift && crowd_network && crowd_hosts swift &&
	crowd_open "$flows" 100'
plan 5
check "the list has $flows flows" lists_all
for what in nothing list sockets count; do
	check "pings beside $what" beside "$what"
done
finish
