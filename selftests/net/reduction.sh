#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What quell flow show says the window was last reduced for: each algorithm's own signal, losses,
# tails, timeouts.
#
#	left (algorithm) --- veth, shaped --- right
#

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./talk.sh

left="" right="" port=5210

make_hosts()
{
	modprobe -a tcp_swift tcp_smartt tcp_timely tcp_dcqcn tcp_dart tcp_hpcc sch_swport || return 1
	new_netns left right && cable "$left" l0 "$right" r0 10.74.0.1/24 10.74.0.2/24 &&
	quell -n "$left" cc set quell option 1 && quell -n "$right" cc set quell option 1 && quell -n "$left" link set l0 rate 1gbit &&
	in_netns "$left" sysctl -q -w net.ipv4.tcp_ecn=1 &&
	in_netns "$right" sysctl -q -w net.ipv4.tcp_ecn=1 && choose_cc "$right" dcqcn &&
	tc -n "$right" qdisc add dev r0 root netem rate 1gbit limit 1000 &&
	serve "$right" "$port" sink
}

sender=""
# send_by ALGORITHM BYTES PAUSE-US: messages, until stopped
send_by()
{
	[ -z "$sender" ] || stop "$sender"
	choose_cc "$left" "$1" && quell -n "$left" cc set "$1" adapt off &&
	printf '%s\n' "open 4" "connect 10.74.0.2 $port" "writes 1000000000 $2 $3" >"$dir/commands" &&
	start_in "$left" sh -c 'exec option_tcp talk <"$0"' "$dir/commands" >"$dir/client" &&
	sender=$started
}

shape()
{
	tc -n "$left" qdisc replace dev l0 root "$@"
}

# is_cut ALGORITHM WHY: of the sender's flow, with its age
is_cut()
{
	quell -n "$left" -j flow show cc "$1" state established >"$dir/flow" &&
	jq -e "any(.reduction == \"$2\")" "$dir/flow" >/dev/null
}

cuts_for()
{
	poll 5 is_cut "$1" "$2" || { jq -c . "$dir/flow"; return 1; }
}

# The column of the one, the words of the other.
is_printed()
{
	quell -n "$left" flow show cc "$1" >"$dir/text" && cat "$dir/text" &&
	grep -qE "^$1 .* $2 +[a-z]+" "$dir/text" && quell -n "$left" flow show -d cc "$1" >"$dir/text" &&
	cat "$dir/text" && grep -qE " reduction:$2 reduction-ago:[0-9.]+[mun]?s" "$dir/text"
}

by_delay()
{
	shape netem rate 20mbit limit 1000 && send_by "$1" 1000000 0 && cuts_for "$1" delay &&
	json "any(.reduction == \"delay\" and .reduction_rtt_ns > .target_ns and .reduction_rtt_ns % 64 == 0)" "$dir/flow"
}

by_marks()
{
	shape swport rate 20mbit limit 1mb ecn min 15kb && send_by "$1" 1000000 0 && cuts_for "$1" mark
}

# HPCC, which no switch tells anything here: the queue is none of its signals.
without_records()
{
	shape netem rate 20mbit limit 1000 && send_by "$1" 1000000 0 && poll 10 moves "$1" &&
	quell -n "$left" -j flow show cc "$1" state established >"$dir/flow" &&
	json 'length > 0 and all(.reduction == null)' "$dir/flow"
}

by_loss()
{
	shape netem rate 1gbit delay 1ms limit 1000 loss 2% &&
	quell -n "$left" cc set swift base-target 100ms max-window 64kb && send_by swift 1000000 0 &&
	cuts_for swift loss && is_printed swift "(loss|tail)"
}

by_tails()
{
	shape netem rate 1gbit delay 1ms limit 1000 loss 20% && send_by swift 1000 10000 &&
	cuts_for swift tail
}

# With each algorithm: nothing arrives any more.
by_timeout()
{
	local cc

	for cc in swift swift_vaisf timely smartt dcqcn dart hpcc hpcc_vaisf; do
		shape netem rate 1gbit limit 1000 && send_by "$cc" 100000 10000 &&
		poll 10 moves "$cc" && shape netem rate 1gbit limit 1000 loss 100% &&
			cuts_for "$cc" timeout && continue
		echo "$cc"
		return 1
	done
}

moves()
{
	quell -n "$left" -j flow show cc "$1" state established |
		jq -e 'any(.sent_segs > 10)' >/dev/null
}

# Before the first: no word of it.
none_yet()
{
	shape netem rate 1gbit limit 1000 && quell -n "$left" cc set swift base-target 100ms &&
	send_by swift 100 500 && poll 10 moves swift && quell -n "$left" -j flow show cc swift \
		state established >"$dir/flow" && json 'all(.reduction == null and .reduction_age_ns == null)' "$dir/flow" &&
	quell -n "$left" cc reset swift
}

by_pause()
{
	send_by swift 10000 10000 && cuts_for swift idle
}

plan 13
check "two hosts, all modules" make_hosts
check "no cut yet" none_yet
check "a start after a pause" by_pause
for cc in swift swift_vaisf timely; do
	check "$cc: delay" by_delay "$cc"
done
for cc in smartt dcqcn dart; do
	check "$cc: marks" by_marks "$cc"
done
check "hpcc without records: none" without_records hpcc
check "losses" by_loss
check "tails" by_tails
check "timeouts, all algorithms" by_timeout
finish
