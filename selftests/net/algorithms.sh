#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Applications that know nothing of Quell send through it, with every algorithm: a
# web server sends a file through a port of 500 kbit/s, with marks over IPv4, with
# drops only over IPv6, and with 2 % of the packets lost before the port.  It
# arrives unharmed, and "quell flow show" is looked at on the way.  Then a
# parameter is set and reset while a flow sends, and is seen to act.
#
# HPCC gets its records from that port.  Packets more than 8 ms apart have none that
# can be compared, so its port has 4 Mbit/s, and its file is larger.
#
#	algorithms.sh [ALGORITHM]...	all of them, if none is named

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./router.sh

port=8080
ipv4=10.71.1.1
ipv6=fd71:1::1
limit_bytes=50000
loss_tries=9		# without a loss: once in 12000000 times

# Delays that an emulated machine can keep, and the algorithm governs.
declare -A suited=(
	[swift]="adapt off base-target 100ms ai 500mbit"
	[timely]="adapt off t-low 50ms t-high 500ms min-rtt 20ms init-rate 20mbit
		min-rate 1mbit delta 2mbit"
	[swift_vaisf]="adapt off base-target 100ms ai 500mbit"
	[smartt]="adapt off target-delay 100ms"
	[dcqcn]="adapt off min-rate 4mbit"
	[dart]="adapt off min-rate 4mbit"
	[hpcc]="adapt off base-rtt 50ms init-window 15kb ai 100kbit min-rate 200kbit"
	[hpcc_vaisf]="adapt off base-rtt 50ms init-window 15kb ai 100kbit min-rate 200kbit"
)
# Its port to the receiver, the file, and what the flow must have been told.
declare -A port_rate=([hpcc]=4mbit [hpcc_vaisf]=4mbit)
declare -A port_telemetry=([hpcc]=50ms [hpcc_vaisf]=50ms)
declare -A page_of=([hpcc]=larger [hpcc_vaisf]=larger)
stamped='.option == "on" and .record_hop == 1'
declare -A told=([hpcc]=$stamped [hpcc_vaisf]=$stamped)
# HPCC's window is what the way holds at 95 % of the link's speed, and less than any
# limit of use where a round trip takes as little as cables and a router need.
declare -A delays=([hpcc]=40ms [hpcc_vaisf]=40ms)
# Parameters that hold a flow down, and the filter of what it then is.
declare -A holds=(
	[swift]="max-window 65536b"
	[timely]="max-rate 2mbit"
	[swift_vaisf]="max-window 65536b"
	[smartt]="target-delay 1ms"
	[dcqcn]="max-window 65536b"
	[dart]="max-window 65536b"
	[hpcc]="max-window 65536b"
	[hpcc_vaisf]="max-window 65536b"
)
declare -A held=(
	[swift]=".window_bytes <= 65536"
	[timely]=".pacing_bytes_ps <= 250000"
	[swift_vaisf]=".window_bytes <= 65536"
	[smartt]=".window_bytes <= 30000"
	[dcqcn]=".window_bytes <= 65536"
	[dart]=".window_bytes <= 65536"
	[hpcc]=".window_bytes <= 65536"
	[hpcc_vaisf]=".window_bytes <= 65536"
)

# set_params WORDS: in the sender's namespace.
set_params()
{
	local words

	read -ra words -d '' <<<"$1"
	quell -n "$sender" cc set "$algorithm" "${words[@]}"
}

reset_params()
{
	quell -n "$sender" cc reset "$algorithm" && set_params "${suited[$algorithm]}"
}

choose()
{
	reset_params &&
	choose_cc "$sender" "$algorithm" &&
	choose_cc "$receiver" "$algorithm" &&
	web_server "$port" "$dir/www"
}

# The flow that sends the file, once it has samples, and what it was told, of its own.
flow_row()
{
	quell -n "$sender" -j flow show |
		jq -e "[.[] | select(.sport == $port and .inflight_bytes > 0 and
			.min_rtt_ns != null and (${told[$algorithm]:-true}))][0] //
			empty" >"$dir/flow"
}

flow_row_or_end()
{
	flow_row || ! kill -0 "$started" 2>/dev/null
}

flow_is()
{
	flow_row && json "$1" "$dir/flow"
}

# No round trip is shorter than that of a virtual cable, none longer than the
# full port (800 ms) and an emulator that was away; 10 Gbit/s is what the cable
# says of itself.  DCQCN's and TIMELY's windows leave room for much delay.  A record
# has the port's speed, rounded down.
flow_is_sane()
{
	json ".cc == \"$algorithm\" and .src == \"$1\" and .dev == \"up0\" and
		.clock == \"software\" and .rtt_ns >= .min_rtt_ns and
		.min_rtt_ns > 1000 and .rtt_ns < 5000000000 and
		.window_bytes > 0 and .window_bytes < 1000000000 and
		.inflight_bytes <= 4000000 and
		(.pacing_bytes_ps == null or
		 .pacing_bytes_ps > 0 and .pacing_bytes_ps <= 1250000000) and
		.mss_bytes >= 1200 and .mss_bytes <= 1460 and
		.link_bytes_ps == 1250000000 and (.record_link_bytes_ps == null or
		 .record_link_bytes_ps > 450000 and .record_link_bytes_ps <= 500000)" \
		"$dir/flow"
}

port()
{
	up0_port telemetry "${port_telemetry[$algorithm]:-off}" "$@"
}

# There the file takes two seconds, which is time to look at the flow.
slow_port()
{
	port limit "$limit_bytes" "$@" &&
	tc -n "$router" qdisc change dev up0 root swport \
		rate "${port_rate[$algorithm]:-500kbit}"
}

# url ADDRESS FILE
url()
{
	[[ $1 = *:* ]] && echo "http://[$1]:$port/$2" || echo "http://$1:$port/$2"
}

drained()
{
	up0_stats >"$dir/port" && jq -e '.[0].qlen == 0' "$dir/port"
}

# transfer ADDRESS: the flow is looked at on the way.  On a machine with other things to do
# the file may be there before the look, and comes again.
transfer()
{
	local try seen=1 status=0

	for ((try = 0; try < 10 && seen != 0 && status == 0; try++)); do
		rm -f "$dir"/{copy,flow}
		start_in "$receiver" wget -q -O "$dir/copy" "$(url "$1" "$page")"
		poll 60 flow_row_or_end
		[ -s "$dir/flow" ]
		seen=$?
		wait "$started"
		status=$?
		poll 5 drained || return 1
	done
	[ "$seen" -eq 0 ] && [ "$status" -eq 0 ] &&
	cmp "$dir/www/$page" "$dir/copy" && flow_is_sane "$1"
}

# A drop needs a full port; the file went through it, nothing else stays, and counters add up.
port_is()
{
	json ".[0] | $1 and .qlen == 0 and .packets == .data_pkts + .control_pkts and
		.bytes == .data_bytes + .control_bytes and
		.drops == .data_drop_pkts + .control_drop_pkts + .alloc_fail_pkts and
		.data_bytes > $(stat -c %s "$dir/www/$page") and .backlog == 0 and
		.data_backlog_max_bytes <= $limit_bytes and
		(.drops == 0 or .data_backlog_max_bytes > $limit_bytes - 1600)" \
		"$dir/port"
}

with_marks()
{
	slow_port ecn min 15kb max 40kb && transfer "$ipv4" &&
	port_is "$1"
}

without_marks()
{
	slow_port && transfer "$ipv6" &&
	port_is '.mark_pkts == 0'
}

# lossy SEGMENTS add|del: 2 % of what the sender sends, of so many segments at
# most, gets lost.
lossy()
{
	ip -n "$sender" link set up0 gso_max_segs "$1" &&
	tc -n "$sender" qdisc "$2" dev up0 root netem loss 2% limit 10000
}

netem_drops()
{
	tc -n "$sender" -s -j qdisc show dev up0 |
		jq '.[] | select(.kind == "netem").drops'
}

# Some 90 packets; of so few none may get lost by chance, and once more then.
lossy_transfers()
{
	local try drops

	for ((try = 0; try < loss_tries; try++)); do
		transfer "$ipv4" || return 1
		drops=$(netem_drops)
		echo "$drops lost"
		[ "$drops" -eq 0 ] || return 0
	done
	return 1
}

with_losses()
{
	local status

	slow_port ecn min 15kb max 40kb && lossy 1 add ||
		return 1
	lossy_transfers
	status=$?
	lossy 65535 del
	return "$status"
}

# held_for TIMES: seen so often in a row.
held_for()
{
	local i

	for ((i = 0; i < $1; i++)); do
		flow_is "${held[$algorithm]}" || return 1
	done
}

# A flow without the limit exceeds it, then keeps it, then exceeds it again.  A round trip of an
# emulated host may take seconds, and windows change once in one.
parameter_acts()
{
	local status

	port limit 450kb && tc -n "$router" qdisc replace dev down0 root netem \
		delay "${delays[$algorithm]:-0ms}" limit 10000 || return 1
	start_in "$receiver" wget -q -O /dev/null "$(url "$ipv4" long)"
	poll 120 flow_is "${held[$algorithm]} | not" &&
	set_params "${holds[$algorithm]}" && poll 120 held_for 4 &&
	reset_params &&
	poll 120 flow_is "${held[$algorithm]} | not"
	status=$?
	stop "$started"
	tc -n "$router" qdisc del dev down0 root
	return "$status"
}

mkdir "$dir/www"
head -c 125000 /dev/urandom >"$dir/www/page"
head -c 1000000 /dev/urandom >"$dir/www/larger"
truncate -s 2G "$dir/www/long"
[ $# -gt 0 ] || set -- swift timely swift_vaisf smartt dcqcn dart hpcc hpcc_vaisf
plan $((1 + 5 * $#))
check "network with a router" make_network
modprobe -a tcp_timely tcp_swift tcp_smartt tcp_dcqcn tcp_dart tcp_hpcc
in_netns "$sender" sysctl -q -w net.ipv4.tcp_ecn=1
in_netns "$receiver" sysctl -q -w net.ipv4.tcp_ecn=1
for algorithm; do
	page=${page_of[$algorithm]:-page}
	case $algorithm in
	smartt | dcqcn) marks='.mark_pkts > 0' ;;
	*) marks='.mark_pkts >= 0' ;;
	esac
	check "$algorithm: chosen in both namespaces, its parameters set" choose
	check "$algorithm: a port that marks, IPv4: the file arrives, the flow is sane" \
		with_marks "$marks"
	check "$algorithm: a port that drops, IPv6: the file arrives, the flow is sane" \
		without_marks
	check "$algorithm: 2 % lost: the file arrives" with_losses
	check "$algorithm: a parameter acts on a flow, and no longer once reset" \
		parameter_acts
done
finish
