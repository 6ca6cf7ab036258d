#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Trimmed packets on stock kernels: files go from a web server to a client, four at a
# time, through a router's port that has room for a dozen packets and trims the others.
#
#	$sender --- $router up0: swport, trimming --- $receiver
#
# They arrive unharmed over IPv4 and IPv6, with and without segmentation offload, with
# several algorithms, and each trimmed packet and each NACK is accounted for.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./router.sh

port=8080
file_bytes=300000
fetches=4

# Quell's, and what TCP sent again and its timeouts.
counters_of()
{
	quell -n "$1" -j stat quell | jq ".[0].counters + {
		retransmitted: $(counter_of "$1" snmp Tcp RetransSegs),
		timeouts: $(counter_of "$1" netstat TcpExt TCPTimeouts) }"
}

# An emulated host's round trips are far longer than what Swift and SMaRTT aim at, and while it is
# away timers of 200 ms expire, and probes of the tail earlier: only NACKs are left to repair.
set_hosts()
{
	local netns

	modprobe -a tcp_swift tcp_smartt tcp_dcqcn &&
	in_netns "$sender" sysctl -q -w net.ipv4.tcp_early_retrans=0 &&
	quell -n "$sender" cc set quell tail-probes 0 &&
	ip -n "$sender" route change default via 10.71.1.2 rto_min 5s &&
	ip -n "$sender" route change default via fd71:1::2 rto_min 5s || return 1

	for netns in "$sender" "$receiver"; do
		quell -n "$netns" cc set quell option 1 &&
		quell -n "$netns" cc set swift base-target 100ms &&
		quell -n "$netns" cc set smartt target-delay 100ms || return 1
	done
}

# use ALGORITHM OFFLOAD PORT-OPTION...: a new port, counters from here on.  Its rate is below
# what an emulated sender with debugging options manages, or no packet would be trimmed.
use()
{
	local netns

	for netns in "$sender" "$receiver"; do
		choose_cc "$netns" "$1" || return 1
	done
	in_netns "$sender" ethtool -K up0 tso "$2" gso "$2" >/dev/null &&
	up0_port limit 20kb "${@:3}" &&
	tc -n "$router" qdisc change dev up0 root swport rate 4mbit && web_server "$port" "$dir/www" &&
	counters_of "$sender" >"$dir/sender.before" &&
	counters_of "$receiver" >"$dir/receiver.before"
}

fetch()
{
	local pids=() i

	for ((i = 0; i < fetches; i++)); do
		in_netns "$receiver" timeout 120 wget -q -O "$dir/copy.$i" \
			"http://$1:$port/file" &
		pids+=($!)
	done
	for ((i = 0; i < fetches; i++)); do
		wait "${pids[i]}" || { echo "fetch $i: status $?"; return 1; }
		cmp "$dir/www/file" "$dir/copy.$i" || return 1
	done
}

# What was counted since, of both hosts and the port, as one object.
figures()
{
	counters_of "$sender" >"$dir/sender.after" &&
	counters_of "$receiver" >"$dir/receiver.after" && up0_stats >"$dir/port" || return 1
	jq -n --slurpfile s0 "$dir/sender.before" --slurpfile s1 "$dir/sender.after" \
		--slurpfile r0 "$dir/receiver.before" --slurpfile r1 "$dir/receiver.after" \
		--slurpfile p "$dir/port" '
		def since($a; $b): $b[0] | with_entries(.value -= ($a[0][.key] // 0));
		{ sender: since($s0; $s1), receiver: since($r0; $r1), port: $p[0][0] }' \
		>"$dir/figures" && cat "$dir/figures"
}

# Some NACKs come when their socket is gone; what one was asked about has one answer.
# A segment trimmed is sent again, once, and without TCP's timeout.
books_balance()
{
	figures && jq -se '
		def sum(names): [.[names[]] // 0] | add;
		.[0] | .port.trim_pkts > 20 and
		.receiver["trim-received"] <= .port.trim_sent_pkts and
		.receiver["trim-received"] >= 0.95 * .port.trim_sent_pkts and
		(.receiver | .["trim-received"] == sum(["trim-duplicate", "trim-outside",
			"nack-limited", "nack-unsent", "nack-sent"])) and
		.sender["nack-received"] <= .receiver["nack-sent"] and
		.sender["nack-received"] >= 0.95 * .receiver["nack-sent"] and
		(.sender | .["nack-received"] == sum(["nack-recovered", "nack-malformed",
			"nack-outside", "nack-stale", "nack-overflow", "nack-unable"])) and
		.sender["nack-malformed"] + .sender["nack-outside"] +
			.sender["nack-unable"] == 0 and
		.sender["nack-recovered"] >= 0.8 * .sender["nack-received"] and
		.sender.retransmitted >= .sender["nack-recovered"] and
		.sender.retransmitted <= 1.2 * .port.trim_pkts and
		.sender.timeouts == 0' "$dir/figures"
}

# Nothing of this without trimming, nor answers where they are switched off.
nothing_without()
{
	figures && jq -se '.[0] | .port.trim_pkts == 0 and .port.drops > 0 and
		.receiver["trim-received"] == 0 and .sender["nack-received"] == 0' "$dir/figures"
}

unanswered()
{
	figures && jq -se '.[0] | .receiver["trim-received"] > 0 and .receiver["nack-sent"] == 0 and
		.receiver["nack-limited"] + .receiver["trim-duplicate"] +
		.receiver["trim-outside"] == .receiver["trim-received"] and
		.sender["nack-received"] == 0' "$dir/figures"
}

flow_shows()
{
	quell -n "$sender" -j flow show | jq -e 'length > 0 and all(.[].counters;
		has("nack-received") and has("nack-recovered") and has("trim-received"))'
}

# A flow that is under way shows its own counters.
flows_are_shown()
{
	in_netns "$receiver" timeout 60 wget -q -O /dev/null "http://10.71.1.1:$port/large" &
	poll 20 flow_shows
	local status=$?
	kill $! 2>/dev/null
	wait $! 2>/dev/null
	return "$status"
}

plan 17
mkdir "$dir/www"
head -c "$file_bytes" /dev/urandom >"$dir/www/file"
truncate -s 50M "$dir/www/large"
check "network" make_network
check "hosts speak the option" set_hosts
for combination in "smartt on" "smartt off" "swift on" "dcqcn off"; do
	read -r algorithm offload <<<"$combination"
	check "$algorithm, offload $offload" use "$algorithm" "$offload" trim size 128
	check "$algorithm, offload $offload: IPv4 and IPv6" eval 'fetch 10.71.1.1 && fetch "[fd71:1::1]"'
	check "$algorithm, offload $offload: each trim and NACK has one outcome" books_balance
done
check "flow show has the counters" flows_are_shown
check "without trimming there is none of it" eval \
	'use swift off && fetch 10.71.1.1 && nothing_without'
check "nack-rate 0: no answers, files arrive" eval \
	'quell -n "$receiver" cc set quell nack-rate 0 && use swift off trim size 128 &&
	fetch 10.71.1.1 && unanswered'
finish
