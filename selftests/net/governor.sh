#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What governs the windows of flows, for how long and why, as the kernel counts it: in flow show,
# stat and doctor, while the flow is open and when it is gone.
#
#	left (swift) --- veth, 100 Mbit/s, 1 ms --- right
#
# The path is longer than Swift is made for, so CUBIC takes over when the search ends.
#

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./quell-hosts.sh

make_long_network()
{
	make_network 100mbit &&
	tc -n "$left" qdisc replace dev l0 root netem rate 100mbit delay 1ms limit 100
}

start_fitted()
{
	start_in "$right" option_tcp serve "$port" sink >"$dir/server" 2>&1
	poll 10 listens "$right" "$port" && start_client 10.72.0.2 && poll 10 cubic_governs
}

cubic_governs()
{
	busy_flow 10.72.0.2 && json '.by == "cubic" and .fallback == "long-path"' "$dir/flow"
}

# All of the time is somebody's: that of the search, which is over, and CUBIC's, which goes on.
flow_has_times()
{
	json '.algorithm_ns == 0 and .search_ns > 1000000 and .cubic_ns == .by_ns and .by_ns > 0 and
		.base_rtt_ns > .longest_rtt_ns and .longest_rtt_ns == 300000 and
		.path_rate_bytes_ps > 0 and .least_rate_bytes_ps == 12500000' "$dir/flow" &&
	left_quell flow show >"$dir/text" && cat "$dir/text" &&
	grep -qE '^swift .* cubic\(long-path\) +[a-z]+$' "$dir/text" &&
	grep -qE '^CC .* TARGET RETX CUT ' "$dir/text" && grep -qE '.{81}' "$dir/text" &&
	left_quell -d flow show >"$dir/text" && cat "$dir/text" &&
	grep -qE ' by:cubic by-for:[0-9.]+m?s algorithm:0\(0\.0%\) search:[0-9.]+ms\([0-9.]+%\)' \
		"$dir/text"
}

# count NAME: a counter of swift now.
count()
{
	left_quell -j stat swift | jq ".[0].counters[\"$1\"]"
}

# The counter of an open flow grows as its own time does, between whose readings it is read twice:
# both are of whole milliseconds.
counter_grows_with_flow()
{
	local first last begin end

	cubic_governs && begin=$(jq '.cubic_ns / 1000000 | floor' "$dir/flow") &&
	first=$(count cubic-long-path-ms) && poll 10 has_grown $((first + 50)) &&
	last=$(count cubic-long-path-ms) &&
	cubic_governs && end=$(jq '.cubic_ns / 1000000 | ceil' "$dir/flow") &&
	echo "counter $first to $last ms, flow $begin to $end ms" &&
	[ $((last - first)) -le $((end - begin + 1)) ] && [ "$first" -ge $((begin - 1)) ] &&
	[ "$last" -le $((end + 1)) ]
}

has_grown()
{
	[ "$(count cubic-long-path-ms)" -ge "$1" ]
}

# One flow fell back, its idle neighbour did not; there is no other reason, nor one of an algorithm
# that does not use delay.
counters_agree()
{
	left_quell -j stat swift >"$dir/stat" &&
	json '.[0].counters | ."cubic-long-path" == 1 and ."cubic-ms" == ."cubic-long-path-ms" and
		."cubic-slow-path" == 0 and ."cubic-slow-path-ms" == 0 and ."algorithm-ms" == 0 and
		."search-ms" > 0 and (has("cubic-no-marks") or has("cubic-no-records") | not)' \
		"$dir/stat" &&
	left_quell -d stat -a swift >"$dir/text" && grep -A 1 -E '^  cubic-' "$dir/text"
}

doctor_says_why()
{
	in_netns "$left" quell -j doctor >"$dir/doctor"
	jq -r '.[] | select(.check == "fallback") | .text' "$dir/doctor" >"$dir/text"
	cat "$dir/text"
	grep -qE '^1 of 2 flows, one to 10\.72\.0\.2, are governed by CUBIC for [0-9.]+m?s \([0-9.]+% of its time\): the round trip without a queue, 1\.[0-9]+ms, is longer than the 300us that swift is made for;' \
		"$dir/text"
}

# What an ended flow had is kept, and does not grow any more.
ended_flow_is_kept()
{
	local before after

	before=$(count cubic-long-path-ms)
	stop_client && after=$(count cubic-long-path-ms) && [ "$after" -ge "$before" ] &&
	poll 10 clock_went_on && same "time of a flow that ended" "$(count cubic-long-path-ms)" "$after" &&
	[ "$(count search-ms)" -gt 0 ]
}

# Another flow's time, so that the clock is seen to move.
clock_went_on()
{
	[ -n "${other-}" ] || {
		other=$(count algorithm-ms)
		left_quell cc set swift adapt off
		start_client 10.72.0.2
	}
	[ "$(count algorithm-ms)" -ge $((other + 50)) ]
}

# Without adapt the algorithm governs from the beginning on.
unfitted_is_the_algorithms()
{
	busy_flow 10.72.0.2 &&
	json '.by == "swift" and (has("adapt") | not) and .search_ns == 0 and .cubic_ns == 0 and
		.algorithm_ns == .by_ns and .by_ns > 0 and (has("base_rtt_ns") | not)' "$dir/flow"
}

plan 8
check "network of a long path, swift on the left" make_long_network
check "CUBIC takes over a flow" start_fitted
check "the flow has its times and what they are for" flow_has_times
check "the counter grows with an open flow" counter_grows_with_flow
check "counters are by reason" counters_agree
check "doctor names reason, numbers and time" doctor_says_why
check "the time of a flow that ended is kept" ended_flow_is_kept
check "without adapt it is the algorithm" unfitted_is_the_algorithms
finish
