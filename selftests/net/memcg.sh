#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What Quell's flows take of the kernel's memory is on the account of the cgroup whose
# sockets they are.  That of a connection which a listener accepts has none before it is
# accepted: its context is on nobody's, as struct tcp_sock itself.
# shellcheck disable=SC2317,SC2034,SC2119,SC2004,SC2154 # checks are called by name; arrays by reference

cd "$(dirname "$0")" || exit 1
# shellcheck source-path=SCRIPTDIR source=lib.sh
. ./lib.sh
dir=$(mktemp -d)
defer rm -rf "$dir"
# shellcheck source-path=SCRIPTDIR source=crowd.sh
. ./crowd.sh

count=200
request_bytes=10000
top=$dir/cgroup
# Of what swift takes beyond cubic this part is charged, at least.
least_pct=75

make_cgroups()
{
	mkdir "$top" && mount -t cgroup2 none "$top" && defer umount "$top" &&
	echo +memory >"$top/cgroup.subtree_control" && mkdir "$top/client" "$top/server"
}

# Whoever is started from here on is in that one.
crowd_enter()
{
	echo $$ >"$top/$1/cgroup.procs"
}

# charged CGROUP: bytes of slab.
charged()
{
	awk '$1 ~ /^slab_(un)?reclaimable$/ { n += $2 } END { print n }' "$top/$1/memory.stat"
}

taken()
{
	awk '/^Slab:/ { print $2 * 1024 }' /proc/meminfo
}

declare -A cubic swift

# measure ALGORITHM: bytes a connection, into the array of that name.
measure()
{
	local -n into=$1
	local end before

	crowd_hosts "$1" && crowd_open "$count" "$request_bytes" && crowd_close || return 1
	before=$(taken)
	for end in client server; do
		into[$end]=$(charged "$end")
	done
	crowd_open "$count" "$request_bytes" || return 1
	into[taken]=$((($(taken) - before) / count))
	for end in client server; do
		into[$end]=$((($(charged "$end") - into[$end]) / count))
	done
	crowd_close
	note "$1, bytes a connection: slab ${into[taken]}, charged to the client's cgroup" \
		"${into[client]}, to the server's ${into[server]}" >&3
}

# Both ends take the same.
is_charged()
{
	local more=$(((swift[taken] - cubic[taken]) / 2)) charged=$((swift[$1] - cubic[$1]))

	echo "swift takes $more bytes more than cubic at each end, $charged charged to the $1's"
	[ $((100 * charged)) -ge $((least_pct * more)) ]
}

exec 3>&1
if ! grep -q '^memory' /proc/cgroups; then
	echo "1..0 # SKIP no memory cgroups"
	exit 0
fi
if ! { modprobe quell && modprobe tcp_swift && make_cgroups && crowd_network; }; then
	plan 1
	fail "two hosts and two cgroups"
	exit 1
fi
plan 3
check "$count connections of cubic" measure cubic
check "$count connections of swift" measure swift
check "the client's flows are charged" is_charged client
finish
