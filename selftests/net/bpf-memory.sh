#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
#	bpf-memory.sh [CONNECTIONS]
#
# What a flow of a BPF object takes of the kernel's memory, beside one of cubic: it is in the
# socket's storage, which counts as memory of the socket's options, is on the account of the
# cgroup that loaded the object, and is given back when the connection ends.  The object's code
# goes when nobody has it any more.
# shellcheck disable=SC2034,SC2119,SC2004,SC2154 # arrays by reference

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./crowd.sh
. ./cgroups.sh

count=${1:-1000}
request_bytes=1000
# The state is an element of a list, which the socket points to: their heads, and what the
# allocator's sizes add.  Both ends of a connection have them.
head_bytes=256
most_bytes=$((2 * 1280))
# Of what the flows took, the allocator may keep so much for the next ones.
kept_percent=10
# Other slabs, of a connection
few_bytes=200
value_bytes=0
# Less than a flow needs
optmem_bytes=500

make_cgroups()
{
	grep -qw memory "$top/cgroup.controllers" &&
	echo +memory >"$top/cgroup.subtree_control" &&
	mkdir "$top/client" "$top/server" "$top/loader"
}

declare -A cubic bpf_swift before

# charged ARRAY: bytes of slab of each cgroup
charged()
{
	local -n to=$1
	local of

	# What this shell starts is nobody's.
	enter "$top"
	last="" since=$SECONDS
	poll 30 is_added_up client server loader || return 1
	for of in client server loader; do
		to[$of]=$(slab "$of")
	done
}

loads()
{
	crowd_enter loader
	quell bpf load swift base-target 100ms
}

# measure ALGORITHM: bytes a connection, into the array of that name; the crowd stays.
measure()
{
	local -n into=$1
	local of netns

	for netns in "$client" "$server"; do
		choose_cc "$netns" "$1" || return 1
	done
	crowd_open "$count" "$request_bytes" && crowd_close && charged before &&
	crowd_open "$count" "$request_bytes" && charged into || return 1
	for of in client server loader; do
		into[$of]=$(((into[$of] - before[$of]) / count))
	done
	note "$1, bytes of slab a connection: the client's cgroup ${into[client]}," \
		"the server's ${into[server]}, the loader's ${into[loader]}" >&3
}

# Of each open connection: its algorithm, and the bytes of its options.
options()
{
	in_netns "$client" ss -Htnmi "dport >= $port" | tr '\n' ' ' | sed 's/ESTAB/\n/g' |
		sed -n "s/.*,o\([0-9]*\),.* \($1\|cubic\|reno\) .*/\2 \1/p" | sort | uniq -c
}

# All flows have it, and as much.
flows_have_storage()
{
	local number name bytes

	value_bytes=$(bpftool -j map show name quell_flows | jq '[.. | .bytes_value?] | max')
	options bpf_swift >"$dir/options"
	echo "$value_bytes bytes of state"
	cat "$dir/options"
	in_netns "$client" ss -Htnmi "dport >= $port" | head -n 2
	[ "$(wc -l <"$dir/options")" -eq 1 ] && read -r number name bytes <"$dir/options" || return 1
	note "a flow has $value_bytes bytes of state, and its socket $bytes of options" >&3
	[ "$number" -eq "$count" ] && [ "$name" = bpf_swift ] &&
	[ "$bytes" -ge "$value_bytes" ] && [ "$bytes" -le $((value_bytes + head_bytes)) ]
}

loader_pays()
{
	echo "loader: ${bpf_swift[loader]} a connection; client: ${cubic[client]} of cubic," \
		"${bpf_swift[client]} of bpf_swift"
	[ "${bpf_swift[loader]}" -ge $((2 * value_bytes)) ] &&
	[ "${bpf_swift[loader]}" -le "$most_bytes" ] &&
	[ $((bpf_swift[client] - cubic[client])) -le "$few_bytes" ]
}

is_given_back()
{
	local kept

	charged after || return 1
	kept=$(((after[loader] - before[loader]) / count))
	last=$kept
	[ $((100 * kept)) -le $((kept_percent * bpf_swift[loader])) ]
}

declare -A after
gives_back()
{
	crowd_close && poll 60 is_given_back
	note "after the connections have ended, bytes each: the loader's cgroup $last" >&3
	is_given_back
}

optmem()
{
	local netns

	for netns in "$client" "$server"; do
		in_netns "$netns" sysctl -q -w net.core.optmem_max="$1" || return 1
	done
}

# Connections run without state, as Reno.
runs_without_memory()
{
	local before

	before=$(in_netns "$client" sysctl -n net.core.optmem_max)
	optmem "$optmem_bytes" && crowd_open 20 "$request_bytes" && options bpf_swift >"$dir/options"
	cat "$dir/options"
	crowd_close && optmem "$before" &&
	[ "$(sed 's/^ *//' "$dir/options")" = "20 bpf_swift 0" ]
}

# What is charged to it goes to the one above.
outlives_its_cgroup()
{
	crowd_open 20 "$request_bytes" && echo $$ >"$top/cgroup.procs" && rmdir "$top/loader" &&
	crowd_more "$request_bytes" && crowd_close
}

has_code()
{
	bpftool -j prog show | jq -e 'any(.[]; .name // "" | startswith("quell_cong_con"))'
}

# Both namespaces have it as their default.
is_kept_by_namespaces()
{
	quell bpf unload swift &&
	! grep -qw bpf_swift /proc/sys/net/ipv4/tcp_available_congestion_control && has_code &&
	crowd_open 20 "$request_bytes" && options bpf_swift >"$dir/options" && crowd_close &&
	cat "$dir/options" && grep -q '^ *20 bpf_swift' "$dir/options"
}

has_no_code()
{
	! has_code >/dev/null
}

goes_with_namespaces()
{
	ip netns del "$client" && has_code && ip netns del "$server" && poll 30 has_no_code
}

exec 3>&1
if ! [ -e "$(dirname "$(dirname "$(command -v quell)")")/lib/quell/bpf/swift.bpf.o" ]; then
	echo "1..0 # SKIP no object"
	exit 4
fi
mkdir "$top" && mount -t cgroup2 none "$top" && defer umount "$top"
plan 11
check "two hosts and three cgroups" eval 'make_cgroups && crowd_network'
check "$count connections of cubic" measure cubic
check "the object is loaded" loads
check "$count connections of bpf_swift" measure bpf_swift
check "each has its storage, and counts it" flows_have_storage
check "the loader's cgroup has them on its account" loader_pays
check "what they took is given back" gives_back
check "flows without room for it go on" runs_without_memory
check "flows outlive the cgroup of the loader" outlives_its_cgroup
check "unloaded, it is kept by namespaces whose default it is" is_kept_by_namespaces
check "it goes with the last of them" goes_with_namespaces
finish
