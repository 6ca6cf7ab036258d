#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What Quell costs the throughput of iperf3, to be run by name:
#
#	run-qemu 6.12 --icount --test option-speed.sh [--words processor]
#
# Three kinds of flow take turns, over IPv4 and IPv6, one flow and four at once:
#
#	plain		cubic at both ends, no module of Quell loaded
#	without		swift at both ends, the option off
#	with		swift at both ends, the option on
#
#	sender --- router, tbf 50 Mbit/s --- receiver
#
# The processor does an instruction a nanosecond, in virtual time, so that nothing
# depends on the machine below, and timers fire when they are to.
#
# The bucket holds two packets: it cuts bursts into packets, as a wire has them, and
# nothing saved up before is sent later.  What the receiver's iperf3 has read, over the
# whole transfer, is compared with what the router's device sent, read off all along
# from outside; neither may be more than the wire carries.
#
# Then (or only, with the word) without a slow wire, where the processor is the limit, one
# flow and eight.  One that takes as long for a division as for a move is no real one, so
# that is said, and not judged.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./router.sh

port=5201
kinds=(plain without with)
wire_bits_ps=50000000
bucket_bytes=3100
rounds=3
wire_s=2
processor_s=1
write=128K
# 10 ms are 62 kB on that wire.
swift=(base-target 10ms ai 5mbit)
# The option's 12 bytes of 1448 are 0.83 % of it.
most_pct=3
# How far what iperf3 and the device tell may be apart.
agree_pct=0.5
# The receiver's iperf3 looks at the clock when its sender is already at work; 0.1 ms
# were seen.
late_s=0.001
mkfifo "$dir/never"

# Bytes and packets the router's device sent, every 50 ms, by no other process.
sampler='while :; do
	read -r bytes <"$1/tx_bytes"
	read -r packets <"$1/tx_packets"
	echo "$EPOCHREALTIME $bytes $packets"
	read -r -t 0.05 <>"$2"
done'

# become KIND: both hosts, from the next connection on.
become()
{
	local netns option=0

	[ "$1" != with ] || option=1
	if [ "$1" = plain ]; then
		for netns in "$sender" "$receiver"; do
			choose_cc "$netns" cubic
		done
		unload tcp_swift quell
		return
	fi
	modprobe tcp_swift || return 1
	for netns in "$sender" "$receiver"; do
		quell -n "$netns" cc set swift "${swift[@]}" &&
		quell -n "$netns" cc set quell option "$option" &&
		choose_cc "$netns" swift || return 1
	done
}

options_sent()
{
	if loaded quell; then
		quell -n "$sender" -j stat quell | jq '.[0].counters["option-sent"]'
	else
		echo 0
	fi
}

# The option is in what the flow sends, or is not.  options_are KIND PACKETS
options_are()
{
	echo "$1: $2 packets with the option"
	if [ "$1" = with ]; then
		[ "$2" -gt 100 ]
	else
		[ "$2" -eq 0 ]
	fi
}

# transfer KIND SECONDS ADDRESS FLOWS: to $dir/iperf and $dir/samples.  The receiver
# asks for it, so that its figures are there in full.
transfer()
{
	local before sampling server

	become "$1" || return 1
	before=$(options_sent)
	start_in "$sender" iperf3 -s -1 -p "$port" >"$dir/server" 2>&1
	server=$started
	poll 10 listens "$sender" "$port" || return 1
	start_in "$router" bash -c "$sampler" sampler /sys/class/net/up0/statistics \
		"$dir/never" >"$dir/samples"
	sampling=$started
	if ! in_netns "$receiver" timeout 60 iperf3 -J -R -l "$write" -c "$3" -p "$port" \
		-t "$2" -P "$4" >"$dir/iperf" || ! json '.error == null' "$dir/iperf"; then
		tail -n 30 "$dir/iperf" "$dir/server"
		return 1
	fi
	stop "$sampling"
	wait "$server"
	options_are "$1" $(($(options_sent) - before))
}

# Payload of a full packet, of KIND to ADDRESS; the IPv6 header is 20 bytes longer.
payload_bytes()
{
	local bytes=1448

	[ "$1" != with ] || bytes=$((bytes - 12))
	[[ $2 != *:* ]] || bytes=$((bytes - 20))
	echo "$bytes"
}

# Payload the device sent and all it sent, in bit/s, while it was busy but for 0.2 s at
# either end.  device_rates PAYLOAD_BYTES
device_rates()
{
	awk -v payload="$1" -v wire="$wire_bits_ps" '{
		at[NR] = $1
		bytes[NR] = $2
		packets[NR] = $3
		if (NR > 1 && ($2 - bytes[NR - 1]) * 8 > ($1 - at[NR - 1]) * wire / 2) {
			first = first ? first : NR
			last = NR
		}
	}
	END {
		for (i = first; at[i] < at[first] + 0.2; i++);
		for (j = last; at[j] > at[last] - 0.2; j--);
		span = at[j] - at[i]
		sent = bytes[j] - bytes[i]
		headers = (packets[j] - packets[i]) * (1514 - payload)
		printf "%d %d\n", (sent - headers) * 8 / span, sent * 8 / span
	}' "$dir/samples"
}

# judge CASE KIND ADDRESS: one line "iperf3 device wire", in bit/s.  The bucket
# may be full when the transfer begins.
judge()
{
	local payload got bytes seconds line

	payload=$(payload_bytes "$2" "$3")
	bytes=$(jq .end.sum_received.bytes "$dir/iperf")
	seconds=$(jq .end.sum_received.seconds "$dir/iperf")
	got=$(awk -v b="$bytes" -v s="$seconds" 'BEGIN { printf "%d", b * 8 / s }')
	line="$got $(device_rates "$payload")"
	echo "$line" >>"$dir/$1.$2"
	echo "$1 $2: $bytes bytes in $seconds s; iperf3, device, wire: $line bit/s"
	awk -v b="$bytes" -v s="$seconds" -v payload="$payload" -v wire="$wire_bits_ps" \
		-v bucket="$bucket_bytes" -v late="$late_s" 'BEGIN {
		exit !(b / payload * 1514 <= wire / 8 * (s + late) + bucket) }' || {
		echo "iperf3 says more than the wire carries"
		return 1
	}
	awk -v agree="$agree_pct" -v wire="$wire_bits_ps" -v bucket="$bucket_bytes" '{
		far = ($1 > $2 ? $1 - $2 : $2 - $1) * 100 / $2
		exit !(far <= agree && $3 <= wire + bucket * 8) }' <<<"$line" || {
		echo "the device says something else, or more than the wire carries"
		return 1
	}
}

slow_wire()
{
	tc -n "$router" qdisc replace dev up0 root tbf rate "$wire_bits_ps" \
		burst "$bucket_bytes" limit 150kb
}

# turns CASE ROUNDS SECONDS ADDRESS FLOWS: another kind begins each round.
turns()
{
	local round turn kind

	for ((round = 0; round < $2; round++)); do
		for turn in 0 1 2; do
			kind=${kinds[(round + turn) % 3]}
			transfer "$kind" "$3" "$4" "$5" && judge "$1" "$kind" "$4" ||
				return 1
		done
	done
}

# Without a wire there is nothing to compare with.  processor_turns CASE FLOWS
processor_turns()
{
	local kind

	for kind in "${kinds[@]}"; do
		transfer "$kind" "$processor_s" 10.71.1.1 "$2" || return 1
		jq '.end.sum_received.bits_per_second | floor' "$dir/iperf" >"$dir/$1.$kind"
	done
}

# median CASE KIND: of what iperf3 said.
median()
{
	sort -n "$dir/$1.$2" | awk '{ at[NR] = $1 }
		END { print int((at[int((NR + 1) / 2)] + at[int(NR / 2) + 1]) / 2) }'
}

# percent CASE KIND OF
percent()
{
	awk -v a="$(median "$1" "$2")" -v b="$(median "$1" "$3")" \
		'BEGIN { printf "%.2f", 100 * a / b }'
}

# Each kind has been measured once at least.
measured()
{
	local kind

	for kind in "${kinds[@]}"; do
		[ -s "$dir/$1.$kind" ] || return 1
	done
}

say()
{
	local kind

	measured "$1" || return
	for kind in "${kinds[@]}"; do
		note "$1, $kind: median $(median "$1" "$kind") bit/s of" \
			"$(sort -n "$dir/$1.$kind" | cut -d ' ' -f 1 | tr '\n' ' ')"
	done
	note "$1: with is $(percent "$1" with without) % of without," \
		"$(percent "$1" with plain) % of plain"
}

# is_near CASE KIND OF: by so many percent, less or more.
is_near()
{
	measured "$1" &&
	awk -v pct="$(percent "$1" "$2" "$3")" -v most="$most_pct" \
		'BEGIN { exit !(pct >= 100 - most && pct <= 100 + most) }'
}

# Flows that do not fill the wire say nothing of what the option costs there.
fills_wire()
{
	awk -v wire="$wire_bits_ps" '{ print; low += $3 < 0.99 * wire }
		END { exit low > 0 || NR == 0 }' "$dir/$1.plain"
}

# on_wire CASE ADDRESS FLOWS
on_wire()
{
	check "$1: three kinds take turns, iperf3 and the wire agree" \
		turns "$1" "$rounds" "$wire_s" "$2" "$3"
	say "$1"
	check "$1: plain fills the wire" fills_wire "$1"
	check "$1: with the option within $most_pct % of without" is_near "$1" with without
	check "$1: with the option within $most_pct % of plain" is_near "$1" with plain
}

all_wires()
{
	check "a slow wire" slow_wire
	on_wire IPv4 10.71.1.1 1
	on_wire IPv4-4-flows 10.71.1.1 4
	on_wire IPv6 fd71:1::1 1
	on_wire IPv6-4-flows fd71:1::1 4
	tc -n "$router" qdisc del dev up0 root
}

wires=all_wires checks=20
[ "${1-}" != processor ] || wires=true checks=3
plan "$checks"
check "network with a router" make_network
$wires
swift=(base-target 100ms ai 500mbit)
# Of segments of 1448 bytes 128 KB are two bursts of 45 and a rest, which Nagle's algorithm delays
# for the next write; of 1436 bytes, with the option, they are a third burst of one segment as well.
# So bursts would have 49 and 43 KB on average, and their lengths would be compared.
write=1M
for flows in 1 8; do
	check "processor-$flows: three kinds take turns" processor_turns "processor-$flows" "$flows"
	say "processor-$flows"
done
finish
