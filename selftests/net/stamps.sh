#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Departure stamps on the wire tell nothing of the host's clock: not that two flows, or
# two containers, are of one host, nor how long it has been up.
#
#	first (swift) --- server (swift) --- second (swift)
#
# All three are namespaces of one kernel, hence of one clock.  What an observer learns of
# a flow is the offset of its stamps from a clock of his own, here CLOCK_MONOTONIC.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./talk.sh

port=7200 first="" second="" server=""

# Offsets nearer than this are the same: between them lie a packet's time on the link and
# when the observer came to look.  Two at random are, once in 20000.
same_ns=100000

# attach NETNS NUMBER: ACKs take their time, as a pair of virtual devices does not.
attach()
{
	cable "$1" wire0 "$server" "wire$2" "10.92.$2.1/24" "10.92.$2.2/24" &&
	tc -n "$server" qdisc add dev "wire$2" root netem delay 1ms
}

make_network()
{
	local netns

	new_netns first second server &&
	modprobe tcp_swift && attach "$first" 1 && attach "$second" 2 || return 1
	for netns in "$first" "$second" "$server"; do
		choose_cc "$netns" swift &&
		in_netns "$netns" quell cc set quell option 1 || return 1
	done
	serve "$server" "$port" && talker one "$first" && talker two "$first" &&
	talker three "$second"
}

# Two connections of one namespace and one of another, all open at once.
converse()
{
	local watchers=() name watcher i

	watch "$first" && watchers=("$started") && watch "$second" && watchers+=("$started") ||
		return 1
	ordered one "open 4" "bind 10.92.1.1 6001" "connect 10.92.1.2 $port" &&
	ordered two "open 4" "bind 10.92.1.1 6002" "connect 10.92.1.2 $port" &&
	ordered three "open 4" "bind 10.92.2.1 6003" "connect 10.92.2.2 $port" || return 1
	for i in {1..6}; do
		for name in one two three; do
			ordered "$name" "xfer 5000" || return 1
		done
	done
	for watcher in "${watchers[@]}"; do
		stop "$watcher" || return 1
	done
	cat "$dir/watch.$first" "$dir/watch.$second" | grep -v ready |
		jq -s 'map(select(.bytes > 0))' >"$dir/said"
}

# said FILTER: apart(A; B) are two offsets, by the shorter way round.
said()
{
	jq -e "def apart(a; b): (((a - b) % 4294967296 + 4294967296) % 4294967296) as \$d |
			[\$d, 4294967296 - \$d] | min;
		def offsets(p): map(select(.port == p) | .offset);
		$1" "$dir/said" >"$dir/judged" || {
		echo "not true: $1"
		jq -c 'group_by(.port)[] | [.[0].port] + map(.offset)' "$dir/said"
		return 1
	}
}

# Each still reads its clock, or no round-trip time could be made of it.
stamps_are_a_clock()
{
	said ". as \$all | [6001, 6002, 6003] | all(. as \$p | \$all | offsets(\$p) |
		length > 4 and (. as \$o | all(apart(.; \$o[0]) < $same_ns)))"
}

# unrelated PORT PORT
unrelated()
{
	said "(offsets($1)[0]) as \$a | (offsets($2)[0]) as \$b | apart(\$a; \$b) >= $same_ns"
}

# The offset itself is not the host's clock.
clock_is_hidden()
{
	said ". as \$all | [6001, 6002, 6003] | all(. as \$p | \$all | offsets(\$p)[0] |
		apart(.; 0) >= $same_ns)"
}

# Nor is the difference of two flows that of two others.
differences_differ()
{
	said "offsets(6001)[0] as \$a | offsets(6002)[0] as \$b | offsets(6003)[0] as \$c |
		apart(\$a - \$b + 4294967296; \$b - \$c + 4294967296) >= $same_ns"
}

# The echoes come back, and are those of what left.
echoes_are_believed()
{
	local netns

	for netns in "$first" "$second"; do
		echo "echoes $(quell_count "$netns" rtt-echo)"
		[ "$(quell_count "$netns" rtt-echo)" -gt 3 ] &&
		same "echoes refused" "$(quell_count "$netns" rtt-echo-refused)" 0 || return 1
	done
}

plan 8
check "two hosts of one clock, and who answers" make_network
check "three connections" converse
check "the stamps of each flow are a clock" stamps_are_a_clock
check "two flows of one namespace are unrelated" unrelated 6001 6002
check "flows of two namespaces of a host are unrelated" unrelated 6001 6003
check "the difference of two flows is not that of others" differences_differ
check "the host's clock is not told" clock_is_hidden
check "all echoes are believed" echoes_are_believed
finish
