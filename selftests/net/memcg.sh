#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What Quell's flows take of the kernel's memory is on the account of the cgroup whose
# sockets they are.  That of a connection which a listener accepts has none before it is
# accepted: its context is on nobody's, as struct tcp_sock itself.
# shellcheck disable=SC2034,SC2119,SC2004,SC2154 # arrays by reference

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./crowd.sh
. ./cgroups.sh

count=200
request_bytes=10000

# Newer kernels list those of version 1 alone in /proc/cgroups.
has_memory_cgroups()
{
	mkdir "$top" && mount -t cgroup2 none "$top" && defer umount "$top" &&
	grep -w memory "$top/cgroup.controllers"
}

make_cgroups()
{
	echo +memory >"$top/cgroup.subtree_control" && mkdir "$top/client" "$top/server"
}

# This shell is in none of them: each reading is a process, and what it takes comes and goes.
leave()
{
	enter "$top"
}

# charged CGROUP: bytes of slab
charged()
{
	poll 30 is_added_up "$1" >&2 && slab "$1"
}

declare -A cubic swift

# measure ALGORITHM: bytes a connection, into the array of that name.
measure()
{
	local -n into=$1
	local end now

	crowd_hosts "$1" && crowd_open "$count" "$request_bytes" && crowd_close && leave || return 1
	for end in client server; do
		into[$end]=$(charged "$end") || return 1
	done
	crowd_open "$count" "$request_bytes" && leave || return 1
	for end in client server; do
		now=$(charged "$end") || return 1
		into[$end]=$(((now - into[$end]) / count))
	done
	crowd_close
	note "$1, bytes a connection: charged to the client's cgroup ${into[client]}," \
		"to the server's ${into[server]}" >&3
}

# The contexts of the flows; other slabs make a difference of some 14 bytes a connection.  And a
# processor does not add up what is below a page; there are four readings.
is_charged()
{
	local context_bytes charged=$((swift[$1] - cubic[$1]))
	local late_bytes=$((4 * 4096 * $(grep -c ^processor /proc/cpuinfo) / count))

	context_bytes=$(awk '$1 == "quell_flow" { print $4 }' /proc/slabinfo)
	echo "of swift $charged bytes more than of cubic are the $1's, a context has $context_bytes"
	[ "$context_bytes" -ge 1000 ] && [ $((100 * charged)) -ge $((95 * context_bytes - 100 * late_bytes)) ]
}

exec 3>&1
if ! has_memory_cgroups >/dev/null 2>&1; then
	echo "1..0 # SKIP no memory cgroups"
	exit 0
fi
require "two hosts and two cgroups" eval 'modprobe tcp_swift && make_cgroups && crowd_network'
plan 3
check "$count connections of cubic" measure cubic
check "$count connections of swift" measure swift
check "the client's flows are charged" is_charged client
finish
