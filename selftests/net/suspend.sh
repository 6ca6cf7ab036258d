#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A host whose clock is set an hour forward and back, and that suspends and resumes, during a
# transfer with each algorithm: all bytes are received, and the RTT soon lacks the time between.
# Both ends are on it.  The kernel resumes by itself after five seconds (pm_test).

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./suited.sh

only_in_guest
port=7096
# Blocks that the process sends, one in 20 ms.
blocks=500
client="" server="" every=()

make_network()
{
	new_netns client server && cable "$client" wire "$server" wire 10.97.0.1/24 10.97.0.2/24 &&
	mkfifo "$dir/silent" && exec 7<>"$dir/silent" &&
	for ((i = 0; i < blocks; i++)); do printf '%07500d' "$i"; done >"$dir/sent" &&
	echo core >/sys/power/pm_test && echo 0 >/sys/module/printk/parameters/console_suspend
}

send_blocks()
{
	# shellcheck disable=SC2016 # its own words
	in_netns "$client" bash -c 'exec 3<>"/dev/tcp/10.97.0.2/$0"
		for ((i = 0; i < $1; i++)); do
			printf "%07500d" "$i" >&3
			read -rt 0.02 -u 3
		done' "$port" "$blocks" </dev/null
}

# acknowledged BYTES
acknowledged()
{
	local bytes

	bytes=$(ss -N "$client" -Htni dport = "$port" | sed -n 's/.*bytes_acked:\([0-9]*\).*/\1/p')
	[ "${bytes:-0}" -gt "$1" ]
}

# The last round trip: some 0.1 ms, of an emulated machine more
plausible_rtt()
{
	quell -n "$client" -j flow show >"$dir/flows"
	jq -e --arg cc "$1" '[.[] | select(.cc == $cc) | .rtt_ns] |
		length == 1 and .[0] < 500000000' "$dir/flows" && return 0
	cat "$dir/flows"
	return 1
}

suspend()
{
	dmesg -n 1
	echo mem >/sys/power/state
}

set_clock()
{
	date -s '+1 hour' && poll 20 acknowledged 1000000 && plausible_rtt "$1" && date -s '-1 hour'
}

# during EVENT ALGORITHM
during()
{
	local receiver sender

	choose_cc "$client" "$2" && choose_cc "$server" "$2" || return 1
	in_netns "$server" busybox nc -l -p "$port" >"$dir/received" <&7 &
	receiver=$!
	poll 20 listens "$server" "$port" || return 1
	send_blocks &
	sender=$!
	poll 20 acknowledged 100000 && "$1" "$2" &&
	! acknowledged 3000000 && poll 60 plausible_rtt "$2" && wait "$sender" "$receiver" &&
	cmp "$dir/sent" "$dir/received" && return 0
	kill "$sender" "$receiver"
	return 1
}

load_all
read -ra every -d '' <<<"$(algorithms)"
plan $((${#every[@]} * 2 + 1))
check "two hosts" make_network
for algorithm in "${every[@]}"; do
	check "$algorithm: the host suspends" during suspend "$algorithm"
	check "$algorithm: the clock is set" during set_clock "$algorithm"
done
finish
