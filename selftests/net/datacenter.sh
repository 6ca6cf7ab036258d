#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Documentation/datacenter.md, followed on a host, and its switch port on the router:
#
#	$host eth1 ------ west
#	10.1.0.2            router eth2 --- eth1 server
#	$other eth1 ----- west2             10.1.9.9
#	10.1.2.2
#
# Links of 25 Gbit/s.  In virtual time the values that the page promises are checked, too.  An emulated
# processor carries some Mbit/s, with round trips of milliseconds: there the connections exchange
# messages, and the preset's target is 1 s instead of 32 us.
# shellcheck disable=SC2317 # the checks are called by name

cd "$(dirname "$0")" || exit 1
# shellcheck source-path=SCRIPTDIR source=lib.sh
. ./lib.sh

port=5201 router="" server="" other="" host="" rate_bytes_ps=0
sending="send 2000000000" reply=sink enough=60000000
clients=()
page=../../Documentation/datacenter.md

is_virtual || { sending="turns 1000000 14480" reply=think,1000 enough=1000000; }

# A link of 25 Gbit/s, and 5 us.
delay()
{
	tc -n "$1" qdisc add dev eth1 root netem delay 5us rate 25gbit limit 10000
}

make_network()
{
	new_netns router server other host &&
	cable "$host" eth1 "$router" west 10.1.0.2/24 10.1.0.1/24 &&
	cable "$other" eth1 "$router" west2 10.1.2.2/24 10.1.2.1/24 &&
	cable "$router" eth2 "$server" eth1 10.1.9.1/24 10.1.9.9/24 &&
	ip -n "$other" route add 10.1.0.0/16 via 10.1.2.1 &&
	ip -n "$server" route add 10.1.0.0/16 via 10.1.9.1 &&
	in_netns "$router" sysctl -q -w net.ipv4.ip_forward=1 &&
	delay "$host" && delay "$other" && delay "$server" &&
	start_in "$server" option_tcp serve "$port" "$reply" >"$dir/server" 2>&1 &&
	poll 10 listens "$server" "$port"
}

# Two connections of a host that send without end.
send_from()
{
	local i

	printf '%s\n' "open 4" "connect 10.1.9.9 $port" "$sending" >"$dir/commands"
	for i in 1 2; do
		start_in "$1" sh -c "exec option_tcp talk <'$dir/commands'" >>"$dir/client" 2>&1
		clients+=("$started")
	done
}

sent_bytes()
{
	tc -n "$router" -s -j qdisc show dev eth2 | jq '.[0].data_bytes'
}

has_sent()
{
	[ "$(sent_bytes)" -gt "$1" ]
}

# All connections anew, through a port with counters of 0, until it has sent enough for the values.
start_sending()
{
	in_netns "$router" tc qdisc replace dev eth2 root pfifo &&
	in_netns "$router" ../pages/follow "$page" port >/dev/null &&
	send_from "$host" && send_from "$other" && poll 200 has_sent "$enough"
}

stop_sending()
{
	local client

	for client in "${clients[@]}"; do
		stop "$client"
	done
	clients=()
	poll 20 has_no_flow
}

has_no_flow()
{
	[ "$(quell -n "$host" -j flow show)$(quell -n "$other" -j flow show)" = "[][]" ]
}

# The port's rate over enough further bytes: both times lie outside of the two readings.
measure_rate()
{
	local begin_us=$((10#${EPOCHREALTIME/.})) bytes

	bytes=$(sent_bytes) && poll 200 has_sent $((bytes + enough)) &&
	bytes=$(($(sent_bytes) - bytes)) &&
	rate_bytes_ps=$((bytes * 1000000 / (10#${EPOCHREALTIME/.} - begin_us)))
}

# Rates, middle round trips of the hosts, and the port's counters; the page's table is from these.
take_values()
{
	measure_rate || return
	quell -n "$host" -j flow show -s prefix 16 >"$dir/sums" &&
	quell -n "$other" -j flow show -s prefix 16 >>"$dir/sums" &&
	tc -n "$router" -s -j qdisc show dev eth2 >"$dir/port" &&
	jq -rs --slurpfile port "$dir/port" --arg rate "$rate_bytes_ps" \
		'"# \($rate | tonumber * 8 / 1e9) Gbit/s, samples " +
		"\(map(.[].delivery_bytes_ps) | add * 8 / 1e9) Gbit/s, " +
		"\(map(.[].rtt_ns / 1000)) us, queue \($port[0][0].data_backlog_max_bytes), " +
		"dropped \($port[0][0].data_drop_pkts), cubic \(map(.[].cubic) | add)"' "$dir/sums" >&3
}

# values_are FILTER FILTER: of the flows of both hosts, and of the port, in virtual time only.
# The port is full: of its 24.5 Gbit/s, segments of 1514 bytes with 24 of overhead have 24.1.
values_are()
{
	take_values || return
	! is_virtual || { [ "$rate_bytes_ps" -gt 3000000000 ] &&
		jq -es "map(.[]) | $1" "$dir/sums" && json ".[0] | $2" "$dir/port"; }
}

on_host()
{
	in_netns "$host" ../pages/follow "$page" "$@"
}

# The other host, which the page does not show; its gateway is another.
prepare_other()
{
	quell -n "$other" link set eth1 rate 25gbit &&
	ip -n "$other" route replace 10.1.0.0/16 via 10.1.2.1 congctl swift
}

measure_defaults()
{
	start_sending && on_host measure &&
	values_are true true && stop_sending
}

preset_both()
{
	on_host preset && quell -n "$other" cc preset swift dc-25g &&
	{ is_virtual || { quell -n "$host" cc set swift base-target 1s &&
		quell -n "$other" cc set swift base-target 1s; }; }
}

watch_preset()
{
	start_sending && on_host watch &&
	values_are 'all(.rtt_ns < 60000) and all(.retrans_segs == 0)' \
		'.data_backlog_max_bytes < 200000 and .data_drop_pkts == 0 and .trim_pkts == 0' &&
	jq -es 'map(.[]) | all(.cubic == 0)' "$dir/sums"
}

# With the option at both ends; the server's route back has an algorithm of Quell, too.  The
# connections end with the test.
option_is_used()
{
	on_host trim && in_netns "$server" ../pages/follow "$page" trim &&
	ip -n "$server" route replace 10.1.0.0/16 via 10.1.9.1 congctl swift &&
	start_sending && quell -n "$host" -j flow show >"$dir/flows" &&
	json 'length == 2 and all(.option == "on")' "$dir/flows"
}

each_block_is_followed()
{
	local name

	for name in $(../pages/follow --names "$page"); do
		grep -qE "(on_host|\"?\\\$page\"?) $name\>" "$0" || { echo "$name"; return 1; }
	done
}

is_back()
{
	quell -n "$host" -j cc show quell option >"$dir/option" &&
	json '.[0].params[0] | .value == .default' "$dir/option" &&
	! ip -n "$host" route show 10.1.0.0/16 | grep congctl
}

exec 3>&1
plan 15
check "two hosts, a router and a server" make_network
check "before" on_host before
check "link" on_host link
check "route" on_host route
check "the other host sends the same way" prepare_other
check "measure, and the values of the defaults" measure_defaults
check "preset" preset_both
check "watch, and the values of the preset" watch_preset
check "counters of the port" in_netns "$router" ../pages/follow "$page" counters
check "the connections end" stop_sending
check "trim: the option is used" option_is_used
check "each block of the page is followed" each_block_is_followed
check "back" on_host back
check "the route has no algorithm, the option is not offered" is_back
check "the port is removed" in_netns "$router" ../pages/follow "$page" unport
finish
