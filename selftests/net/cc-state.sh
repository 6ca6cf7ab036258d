#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A socket that leaves an algorithm of Quell in mid-connection is as one that never used it.
#
# For each algorithm and each of the kernel's over IPv6, and cubic over IPv4, too: a connection
# opens with Quell's at both ends, which use the option, TCP-INT and, where the algorithm does, spraying,
# pacing and marks; both ends send, change to the kernel's algorithm, send, change back, send,
# and leave again.  After both departures all fields of quell_sockstate up to "cwnd" equal, at
# either end, those of a connection that had the kernel's algorithm from its SYN on.  The pacing
# rate follows window and round-trip time before the next ACK.
#
# What a sprayed connection has seen of reordering is not kept for the next one to that host.
#
# TSO sends at most half of a delay-based connection's window as one, also after a route change,
# which resets the limit to that of the interface.
# shellcheck disable=SC2154 # $answer is talk.sh's

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./talk.sh
. ./suited.sh

client="" server=""
port=7000
declare -A address=([4]=10.86.0.1 [6]=fd86::1)
# Of the kernel, as far as it has them.
others=()

make_hosts()
{
	local netns name

	new_netns server client
	cable "$server" wire "$client" wire 10.86.0.1/24,fd86::1/64 10.86.0.2/24,fd86::2/64 &&
	load_all && modprobe quell_sockstate || return 1
	for name in cubic reno dctcp bbr; do
		modprobe "tcp_$name" 2>/dev/null
		grep -qw "$name" /proc/sys/net/ipv4/tcp_available_congestion_control &&
			allow_cc "$name" && others+=("$name")
	done
	for name in $(algorithms); do
		allow_cc "$name" || return 1
	done
	for netns in "$server" "$client"; do
		tc -n "$netns" qdisc add dev wire root netem delay 1ms limit 10000 &&
		in_netns "$netns" sysctl -q -w net.ipv4.tcp_ecn=1 \
			net.ipv4.tcp_no_metrics_save=1 &&
		quell -n "$netns" cc set quell option 1 tcp-int 1 || return 1
		for name in $(algorithms); do
			suit "$netns" "$name" && quell -n "$netns" cc set "$name" adapt off || return 1
		done
	done
	talker active "$client" && talker passive "$server"
}

# both COMMAND: of both ends at the same time.
both()
{
	ask active "$1" && ask passive "$1" && told active && told passive
}

# open_pair FAMILY ALGORITHM
open_pair()
{
	ordered passive "open $1" "cc $2" "bind ${address[$1]} $((++port))" listen &&
	ordered active "open $1" "cc $2" "connect ${address[$1]} $port" &&
	ordered passive accept && both "xfer 100000"
}

# state END: $state has its fields, once all data is acknowledged.
declare -A state
state()
{
	local word

	ordered "$1" state >"$dir/state" || return 1
	state=()
	for word in ${answer#ok state }; do
		state[${word%%=*}]=${word#*=}
	done
}

acknowledged()
{
	state "$1" && [ "${state[packets_out]}" -eq 0 ] && [ "${state[ack_pending]}" -eq 0 ]
}

# fields END: those that must not show what the socket was.
fields()
{
	poll 10 acknowledged "$1" || return 1
	answer=${answer#ok state }
	left=${answer%% cwnd=*}
}

# is_fresh END: before the next ACK the rate is once to twice the window, or the data in
# flight, per round trip, as TCP sets it with each ACK; no departure is in the future, and
# packets are ECN-capable only if the algorithm says so.  BBR has a rate of its own.
is_fresh()
{
	local pkts window_bytes_ps

	state "$1" || return 1
	pkts=$((state[cwnd] > state[packets_out] ? state[cwnd] : state[packets_out]))
	window_bytes_ps=$((pkts * state[mss] * 1000000 / state[srtt_us]))
	[ "${state[ahead_ns]}" -eq 0 ] && [ "${state[tos]}" -eq "${state[ca_flags]}" ] &&
	{ [ "${state[ca]}" = bbr ] ||
	  { [ ${#state[pacing_rate]} -lt 19 ] &&
	    [ "${state[pacing_rate]}" -ge $((window_bytes_ps * 9 / 10)) ] &&
	    [ "${state[pacing_rate]}" -le $((window_bytes_ps * 22 / 10)) ]; }; } && return
	echo "$1, changed: $(cat "$dir/state")"
	return 1
}

# differing WORDS WANTED: the words that differ, each with its counterpart.
differing()
{
	local -a got want
	local i

	read -ra got <<<"$1"
	read -ra want <<<"$2"
	for i in "${!want[@]}"; do
		[ "${got[i]}" = "${want[i]}" ] || echo "${got[i]}, not ${want[i]}"
	done
}

declare -A wanted

# never_ours FAMILY ALGORITHM: $wanted has the fields of its ends.
never_ours()
{
	local end

	open_pair "$1" "$2" && both "cc $2" && both "xfer 100000" || return 1
	for end in active passive; do
		fields "$end" && wanted[$1.$2.$end]=$left || return 1
	done
	both reset
}

# leaves FAMILY ALGORITHM OTHER
leaves()
{
	local end times status=0

	open_pair "$1" "$2" || return 1
	for times in once twice; do
		both "cc $3" || return 1
		for end in active passive; do
			is_fresh "$end" || status=1
		done
		both "xfer 100000" || return 1
		for end in active passive; do
			fields "$end" || return 1
			[ "$left" = "${wanted[$1.$3.$end]}" ] && continue
			echo "$end, left $times: $(differing "$left" "${wanted[$1.$3.$end]}")"
			status=1
		done
		[ "$times" = twice ] || { both "cc $2" && both "xfer 100000"; } || return 1
	done
	both reset && return "$status"
}

# Its window is small, so that a cut leaves it below ssthresh: there TCP saves the degree.
shape_active()
{
	tc -n "$client" qdisc replace dev wire root netem limit 10000 "$@" &&
	quell -n "$client" link set wire rate 100mbit &&
	in_netns "$client" sysctl -q -w "net.ipv4.tcp_no_metrics_save=$no_metrics"
}

# closes FAMILY: a connection of smartt, after losses and reordering, and what TCP keeps of the host
# is in $dir/metrics.
closes()
{
	ip -n "$client" tcp_metrics flush all &&
	open_pair "$1" smartt && both "xfer 3000000" && state active &&
	cat "$dir/state" && [ "${state[reordering]}" -gt 3 ] && both close && poll 10 has_metrics "$1" &&
	cat "$dir/metrics"
}

has_metrics()
{
	ip -n "$client" tcp_metrics show "${address[$1]}" >"$dir/metrics" && [ -s "$dir/metrics" ]
}

# saves FAMILY: whether the degree of one of these is among it; 2: they failed.  Which one is below
# ssthresh in the end is chance.
saves()
{
	local try

	for try in {1..8}; do
		closes "$1" || return 2
		! grep -q reordering "$dir/metrics" || return 0
	done
	echo "no degree after $try connections"
	return 1
}

saves_none_of_paths()
{
	local status

	saves 6
	status=$?
	[ "$status" -eq 1 ]
}

# count NAME: of the client's.
count()
{
	quell -n "$client" -j stat quell | jq -r --arg name "$1" '.[0].counters[$name]'
}

# An ACK echoes the departure of data that another algorithm sent, and is no delayed one.
change_keeps_echoes()
{
	local refused delayed

	open_pair 6 swift && refused=$(count rtt-echo-refused) &&
	delayed=$(count rtt-echo-delayed) || return 1
	for _ in {1..8}; do
		ordered active "send 1000" "cc smartt" && poll 10 acknowledged active &&
		ordered active "send 1000" "cc swift" && poll 10 acknowledged active || return 1
	done
	echo "refused $refused, then $(count rtt-echo-refused);" \
		"delayed $delayed, then $(count rtt-echo-delayed)"
	[ "$(count rtt-echo-refused)" -eq "$refused" ] &&
	[ "$(count rtt-echo-delayed)" -eq "$delayed" ] && both reset
}

# Of the active end, once all data is acknowledged; the least limit is two segments.
has_burst_limit()
{
	poll 10 acknowledged active && cat "$dir/state" &&
	[ "${state[gso_max_segs]}" -le $((state[cwnd] < 4 ? 2 : state[cwnd] / 2)) ]
}

# The first segment after the change resets the limit, its ACK draws another.
route_change_keeps_limit()
{
	open_pair 4 swift && has_burst_limit &&
	ip -n "$client" route flush cache && both "turns 1 1000" && has_burst_limit && both reset
}

require "two hosts" make_hosts
read -ra ours -d '' <<<"$(algorithms)"
plan $(((1 + ${#others[@]}) * (1 + ${#ours[@]}) + 5))
# over FAMILY OTHER
over()
{
	local own

	check "$2 that never was ours, IPv$1" never_ours "$1" "$2"
	for own in "${ours[@]}"; do
		check "from $own to $2, IPv$1" leaves "$1" "$own" "$2"
	done
}

for other in "${others[@]}"; do
	over 6 "$other"
done
over 4 cubic
check "a change of the algorithm keeps echoes" change_keeps_echoes
check "a route change keeps the limit of bursts" route_change_keeps_limit
no_metrics=0
check "a path that reorders" shape_active delay 1ms reorder 50% loss 5%
check "reordering of one path is saved" saves 4
check "of a sprayed flow it is not" saves_none_of_paths
finish
