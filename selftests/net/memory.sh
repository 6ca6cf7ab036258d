#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a Quell flow takes of the kernel's memory, beside one of cubic in the same run:
# never used, after a request and an answer, after a burst, and some time after that.
# A burst is of segments of one packet each, for what is kept of each segment.
# The table of a namespace's flows is no larger for connections that came and went.
# QUELL_CROWDS=N,N names other numbers of connections than CI's; QUELL_UML_MEM=4G has
# room for 100000.
# shellcheck disable=SC2034,SC2119 # arrays by reference

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./crowd.sh

# Beside its context: a part of the table's nodes, and other objects of which the two runs have
# different numbers, such as buckets of ports.
idle_bytes=64
# Of one connection: not all names of processes that have ended are dropped.
few_bytes=32768
bursts=200
burst_bytes=200000
# Each had a ring of 4 to 8 KiB.
rested_bytes=128
# A ring has been idle by then.
rest_s=20
slab=0

shrink_slabs()
{
	local cache

	for cache in /sys/kernel/slab/*/shrink; do
		echo 1 >"$cache"
	done
}

# Bytes of all objects in use, with their part of what a slab cannot hold.  Pages would count slabs of
# free objects, too: those of sockets are freed after an RCU grace period, and kernels from 6.18 on
# keep free sockets in sheaves until they are shrunk here.  Names of processes that have ended are
# dropped, and deleting a device waits for RCU callbacks.  After the last shrinking no process is
# started, as it would allocate, too.
slab_bytes()
{
	local line lines

	echo 2 >/proc/sys/vm/drop_caches
	shrink_slabs
	ip -n "$client" link add slab0 type dummy && ip -n "$client" link del slab0 || return 1
	shrink_slabs
	mapfile -t -s 2 lines </proc/slabinfo
	slab=0
	for line in "${lines[@]}"; do
		# shellcheck disable=SC2086 # name, in use, all, bytes, objects and pages of a slab
		set -- $line
		slab=$((slab + $2 * $6 * 4096 / $5))
	done
}

# The build asserts the size of a context.
context_bytes()
{
	awk '$1 == "quell_flow" { print $4 }' /proc/slabinfo
}

declare -A at

# took NAME COUNT: per socket, since "before".
took()
{
	slab_bytes
	at[$1]=$(((slab - at[before]) / (2 * $2)))
}

# A clock that stands still shows what is awaited has not come.
rested()
{
	took rested "$1"
	[ "${at[rested]}" -le $((at[idle] + rested_bytes)) ]
}

declare -A cubic swift

# measure ALGORITHM COUNT BYTES: bytes per socket, into the array of that name.
measure()
{
	local -n into=$1
	local what

	crowd_hosts "$1" && crowd_open "$2" 0 && crowd_close || return 1
	slab_bytes
	at[before]=$slab
	crowd_open "$2" 0 && took idle "$2" &&
	crowd_more 100 && took answered "$2" || return 1
	if [ "$3" != 0 ]; then
		crowd_more "$3" && took burst "$2" && took rested "$2" || return 1
		poll "$rest_s" rested "$2"
	fi
	crowd_close || return 1
	for what in "${!at[@]}"; do
		# shellcheck disable=SC2004 # the keys are words
		into[$what]=${at[$what]}
	done
	note "$2 connections, $1, bytes of objects per socket:$(declare -p "$1" |
		sed 's/.*(/ (/')" >&3
}

# above NAME BYTES: no more than so many above cubic.
above()
{
	local more=$((swift[$1] - cubic[$1]))

	echo "$1: swift ${swift[$1]}, cubic ${cubic[$1]}: $more more, of $2"
	[ "$more" -le "$2" ]
}

# What the burst took is back: the idle flow's own is left.
settled()
{
	echo "rested: ${swift[rested]}, idle ${swift[idle]}, after the burst ${swift[burst]}"
	[ "${swift[rested]}" -le $((swift[idle] + rested_bytes)) ]
}

# Nodes of the kernel's radix trees, of which the table of flows is one in each namespace.
nodes()
{
	awk '$1 == "radix_tree_node" { print $2 }' /proc/slabinfo
}

# come_and_go COUNT GONE: so many times 64 connections; of each 64, but the first GONE, one stays.
come_and_go()
{
	start_in "$client" bash -c 'for ((i = 0; i < 64 * $2; i++)); do
		exec {fd}<>"/dev/tcp/$0/$1" || exit 1
		((i >= 64 * $3 && i % 64 == 0)) || exec {fd}>&-
	done; echo open; exec sleep infinity' "$servers" "$port" "$1" "$2" >"$dir/stay"
	poll 300 grep -q open "$dir/stay" && poll 60 stayed "$client" $(($1 - $2)) &&
	poll 60 stayed "$server" $(($1 - $2))
}

# stay_among COUNT: so many connections stay, each opened before 63 that close at once.  As many
# that all close come first: what they and the commands leave in caches is no growth.
stay_among()
{
	local before after

	crowd_hosts swift && crowd_open 1 0 && come_and_go "$1" "$1" || return 1
	before=$(nodes)
	come_and_go "$1" 0 || return 1
	after=$(nodes)
	echo "$1 connections stay, nodes: $before, then $after"
	[ $((after - before)) -lt $((2 * $1 / 4)) ]
}

# stayed NETNS COUNT: flows, and that of crowd_open.
stayed()
{
	[ "$(quell -n "$1" -j flow show | jq length)" -eq $(($2 + 1)) ]
}

exec 3>&1
IFS=, read -ra crowds <<<"${QUELL_CROWDS:-1,1000,10000}"
# Pairs of ports for several crowds: no time passes for those in TIME_WAIT to go.
ports=16
# The first measurement is without what the kernel keeps of earlier ones, such as names.
require "two hosts" eval 'modprobe tcp_swift && crowd_network && measure cubic 1 0'
ip -n "$client" link set wire gso_max_segs 1
ip -n "$server" link set wire gso_max_segs 1
plan $((3 * ${#crowds[@]} + 3))
for count in "${crowds[@]}"; do
	check "$count connections of cubic and swift" eval \
		"measure cubic $count 0 && measure swift $count 0"
	[ "$count" -ge 1000 ] && limit=$(($(context_bytes) + idle_bytes)) || limit=$few_bytes
	check "$count: an idle flow" above idle "$limit"
	check "$count: after a request and an answer" above answered "$limit"
done
check "$bursts connections and bursts of $burst_bytes bytes" eval \
	"measure cubic $bursts $burst_bytes && measure swift $bursts $burst_bytes"
check "some time after the bursts" settled
check "connections that stay among many short ones share the table's nodes" stay_among 100
finish
