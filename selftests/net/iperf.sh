#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Applications that know nothing of Quell send through it: iperf3 and a web
# server on two hosts, with a router between them whose port to the receiver
# is a swport, over IPv4 and IPv6.
#
#	sender (swift) --- router, swport 20 Mbit/s --- receiver
#
# Rate and target delay suit an emulated machine whose processors may be away
# for tens of milliseconds: 100 ms are 250 kB at that rate, which the port holds.
# The additive increase is that of a round trip without queue, so it is raised.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./router.sh

rate_bits_ps=20000000
limit_bytes=450000
port=5201
time_s=3
least_pct=2

choose_swift()
{
	choose_cc "$sender" swift &&
	in_netns "$sender" sysctl -q -w net.ipv4.tcp_ecn=1 &&
	in_netns "$receiver" sysctl -q -w net.ipv4.tcp_ecn=1 &&
	in_netns "$sender" quell cc set swift adapt off base-target 100ms ai 500mbit
}

add_swport()
{
	in_netns "$router" tc qdisc add dev up0 root swport rate 20mbit \
		limit "$limit_bytes" ecn min 90kb max 360kb
}

serve()
{
	start_in "$receiver" iperf3 -s -p "$port" >"$dir/server" 2>&1
	poll 10 listens "$receiver" "$port"
}

# The row of the data connection: that of control has little in flight.
if is_rt; then least_bytes=0; else least_bytes=10000; fi
flow_row()
{
	in_netns "$sender" quell -j flow show >"$dir/flows" &&
	jq -e "[.[] | select(.dport == $port and .inflight_bytes > $least_bytes and
		.rtt_ns != null)] | max_by(.inflight_bytes) // empty" \
		"$dir/flows" >"$dir/flow"
}

port_stats()
{
	in_netns "$router" tc -s -j qdisc show dev up0 >"$1"
}

sender_stats()
{
	in_netns "$sender" quell -j stat >"$1"
}

# iperf3 to $1 in the background while the flow is looked at.
transfer()
{
	rm -f "$dir"/{iperf,flow,flows}
	sender_stats "$dir/stat.before"
	start_in "$sender" iperf3 -J -c "$1" -p "$port" -t "$time_s" \
		>"$dir/iperf.full"

	poll 30 flow_row
	port_stats "$dir/port.busy"
	# With -J iperf3 of Debian 12 ends with 0 on errors, too.
	if ! wait "$started" || ! json '.error == null' "$dir/iperf.full"; then
		cat "$dir/iperf.full"
		return 1
	fi
	jq .end "$dir/iperf.full" >"$dir/iperf"
	sender_stats "$dir/stat.after"
	port_stats "$dir/port"
}

algorithm_is_swift()
{
	json '.sender_tcp_congestion == "swift"' "$dir/iperf"
}

# What is in flight when iperf3 stops counting may be missing at the receiver.
bytes_match()
{
	json ".sum_sent.bytes >= .sum_received.bytes and
		.sum_received.bytes > 0 and
		.sum_sent.bytes - .sum_received.bytes <= 4000000" \
		"$dir/iperf"
}

received_bits_ps()
{
	jq '.sum_received.bits_per_second | floor' "$1"
}

# Never faster than the port; how much slower is the emulator's speed, which is
# not judged but said.  A fiftieth, 0.4 Mbit/s, tells a transfer from a flow that
# hangs in timeouts: one segment per delayed ACK of 40 ms would be 0.3.
rate_is_obeyed()
{
	[ "$1" -le "$rate_bits_ps" ] &&
	[ "$1" -ge "$((rate_bits_ps * least_pct / 100))" ]
}

# 10 Gbit/s is what a veth says of itself; the address and port are ours.
flow_is_sane()
{
	json ".cc == \"swift\" and .dst == \"$1\" and .dev == \"up0\" and
		.clock == \"software\" and
		.rtt_ns >= .min_rtt_ns and .min_rtt_ns > 1000 and
		.rtt_ns < 10000000000 and
		.target_ns >= 100000000 and
		.window_bytes > 0 and .window_bytes < 100000000 and
		.mss_bytes >= 1200 and .mss_bytes <= 1460 and
		.link_bytes_ps == 1250000000" "$dir/flow"
}

port_counts_add_up()
{
	json '.[0] | .kind == "swport" and .packets > 0 and
		.packets == .data_pkts + .control_pkts and
		.bytes == .data_bytes + .control_bytes and
		.drops == .data_drop_pkts + .control_drop_pkts + .alloc_fail_pkts and
		.backlog == 0 and .qlen == 0' "$dir/port"
}

# A drop needs a full port: the highest backlog is then next to the limit.
drops_only_when_full()
{
	json ".[0] | .data_backlog_max_bytes <= $limit_bytes and
		(.data_drop_pkts == 0 or
		 .data_backlog_max_bytes > $limit_bytes - 1600)" "$dir/port"
}

# Everything iperf3 delivered went through the data band.
port_saw_transfer()
{
	jq -n -e --slurpfile port "$dir/port" --slurpfile iperf "$dir/iperf" \
		'$port[0][0].data_bytes > $iperf[0].sum_received.bytes'
}

counters_moved()
{
	jq -n -e --slurpfile before "$dir/stat.before" \
		--slurpfile after "$dir/stat.after" '
		def total($doc; $name):
			[$doc[0][] | select(.name == $name) | .counters[]] | add // 0;
		total($after; "swift") > total($before; "swift") and
		total($after; "quell") > total($before; "quell")' || {
		cat "$dir/stat.before" "$dir/stat.after"
		return 1
	}
}

# Here the receiver of the other transfers is the sender.
web_page_arrives_from_swift()
{
	choose_cc "$receiver" swift &&
	in_netns "$receiver" quell cc set swift base-target 100ms || return 1
	start_in "$receiver" httpd -f -p 8080 -h "$dir/www"
	poll 10 listens "$receiver" 8080 &&
	in_netns "$sender" wget -q -O "$dir/copy" "http://10.71.2.1:8080/page" &&
	cmp "$dir/www/page" "$dir/copy"
}

checks_of_transfer()
{
	local received

	check "$1: iperf3 completes" transfer "$2"
	check "$1: iperf3 used swift" algorithm_is_swift
	check "$1: bytes received match bytes sent" bytes_match
	received=$(received_bits_ps "$dir/iperf")
	note "$1: $received bit/s through $rate_bits_ps bit/s"
	check "$1: the rate of the port is obeyed, and the flow flows" \
		rate_is_obeyed "$received"
	check "$1: quell shows the flow as it is" flow_is_sane "$2"
	check "$1: counters of quell and swift move" counters_moved
	check "$1: the port's counters add up" port_counts_add_up
	check "$1: the port carried the transfer" port_saw_transfer
	check "$1: the port drops only when full" drops_only_when_full
}

plan 23
mkdir "$dir/www"
head -c 1000000 /dev/urandom >"$dir/www/page"
check "network with a router" make_network
check "swift and its target are chosen in the sender's namespace" choose_swift
check "swport on the router's port" add_swport
check "iperf3 server listens" serve
checks_of_transfer IPv4 10.71.2.1
in_netns "$router" tc qdisc del dev up0 root
add_swport
checks_of_transfer IPv6 fd71:2::1
check "a file from a web server arrives unharmed" web_page_arrives_from_swift
finish
