#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What quell trace costs: instructions per acknowledgment, by run-qemu 6.12 --icount, whose clock
# counts them.  Prints a line for each; the checks are that something was counted.
#
#	port		a tracer of another port
#	prefix		of another prefix of IPv6
#	sample		of one flow in a million
#	cc		of another congestion control
#	traced		of this flow
#
# It is the tracer's programs by the kernel's own clock of them, most of whose runs are for
# acknowledgments, the reading of that clock included.  The trampoline that calls them is not.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./pair.sh

port=9000
file_bytes=2000000
tracer="" listener=""

transfer()
{
	start_in "$server" sh -c "exec nc -l -p $port >'$dir/copy' <>'$dir/quiet'"
	listener=$started
	poll 30 listens "$server" "$port" &&
	in_netns "$client" sh -c "nc 10.83.0.1 $port <'$dir/file'" && wait "$listener"
}

# Sums of all the tracer's programs: nanoseconds, and runs.
programs()
{
	cat "/proc/$tracer"/fdinfo/* | awk '/^run_time_ns:/ { ns += $2 } /^run_cnt:/ { n += $2 }
		END { print ns + 0, n + 0 }'
}

# cost NAME WORDS...: of a tracer with these words.
cost()
{
	local name=$1 ns runs
	shift

	rm -f "$dir/rows"
	quell -n "$client" trace -o "$dir/rows" "$@" 2>"$dir/err" &
	tracer=$!
	poll 60 grep -q '^time_ns' "$dir/rows" && transfer || return 1
	read -r ns runs <<<"$(programs)"
	kill -INT "$tracer"
	wait "$tracer" || return 1
	[ "$runs" -gt 0 ] || return 1
	note "$name: $((ns / runs)) instructions in each of $runs runs," \
		"$(($(wc -l <"$dir/rows") - 1)) rows" >>"$dir/notes"
}

# Each segment is a packet, and every second one is acknowledged.
two_hosts()
{
	make_network 83 && set_offloads off
}

plan 6
mkfifo "$dir/quiet"
head -c "$file_bytes" /dev/zero >"$dir/file"
check "two hosts" two_hosts
sysctl -q -w kernel.bpf_stats_enabled=1
check "another port" cost port dport 1
check "another prefix" cost prefix dst fd00::/16
check "one in a million" cost sample sample 1000000
check "another algorithm" cost cc cc reno
check "traced" cost traced dport "$port"
cat "$dir/notes"
finish
