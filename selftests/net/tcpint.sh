#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The switch port and the public TCP-INT option: which segments it writes to,
# what, and that nothing else of them changes.
#
# Segments are made by hand, with a time to live as if they had come through a
# router.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./port.sh

# As its sender leaves it, and what an idle port of 10 Gbit/s makes of its head:
# speed 1, value 127 - 10, time to live 63.
empty=720cf0000000000000000000
idle=720cf1753f
more=""
# Of the port: set, it takes the long path (swport_dequeue_featured()); else the device has the same.
rate="rate 10gbit"
six="src=2001:db8::1 dst=2001:db8::2"

# say KEY=VALUE...: segments out of near.
say()
{
	# shellcheck disable=SC2048,SC2086 # words on purpose
	in_netns "$near" ip_pkt send va $*
}

# one OPTIONS [KEY=VALUE...]: one segment with these options through a port that
# has carried nothing yet.
one()
{
	local options=$1
	shift

	# shellcheck disable=SC2086 # words on purpose
	port $rate tcp-int 1ms $more && hear ip_pkt 1 && say options="$options" "$@" && heard
}

# becomes OPTIONS HEAD-OF-NEW-OPTIONS [KEY=VALUE...]: checksum right, the rest whole.
becomes()
{
	local options=$1 head=$2
	shift 2

	one "$options" "$@" &&
	packets_are "all(.check == \"good\" and
		(.options | startswith(\"$head\")) and
		(.options | length) == ${#options} and
		.options[${#head} + 6:] == \"${options:$((${#head} + 6))}\")"
}

# stays OPTIONS [KEY=VALUE...]
stays()
{
	local options=$1
	shift

	one "$options" "$@" && packets_are "all(.options == \"$options\")" &&
	port_is '.int_pkts == 0'
}

idle_port_is_told_of()
{
	local told='.int_pkts == 1 and .int_worst_pkts == 1 and .int_fail_pkts == 0'

	becomes "$empty" "$idle" && port_is "$told" &&
	becomes "$empty" "$idle" "$six" && port_is "$told"
}

place_does_not_matter()
{
	local stamps=0101080a0102030405060708

	becomes "$stamps$empty" "$stamps$idle" &&
	becomes "01${empty}010101" "01$idle" &&
	becomes "0101${empty}0101" "0101$idle" "$six" &&
	becomes "010101${empty}01" "010101$idle"
}

ack_is_written_to()
{
	becomes "$empty" "$idle" bytes=66 &&
	port_is '.control_pkts == 1 and .int_pkts == 1'
}

# Computed by the device, which has not seen the segment yet.
partial_checksum_stays()
{
	one "$empty" partial=1 &&
	packets_are "all((.check == \"good\" or .check == \"partial\") and
		(.options | startswith(\"$idle\")))"
}

super_packet_is_written_to_by_segment()
{
	port rate 10gbit tcp-int 1ms && hear ip_pkt 5 &&
	say options="$empty" gso=1000 bytes=5066 && heard &&
	packets_are "length == 5 and all(
		(.check == \"good\" or .check == \"partial\") and
		.options[0:4] == \"720c\" and .options[8:10] == \"3f\")" &&
	port_is '.int_pkts == 5'
}

echo_stays()
{
	becomes 720cf000000000007f232301 "$idle"
}

# Its latency is added, of an idle port below a microsecond or so.
worse_hop_stays()
{
	local kept='.int_pkts == 1 and .int_worst_pkts == 0'

	becomes 720cf7fe3d00010000000000 720cf7fe3d && port_is "$kept" &&
	becomes 720cf0753e00000000000000 720cf0753e && port_is "$kept"
}

both_kinds_of_telemetry()
{
	local quell=fe1851550500039801020304000000000000000000000000

	more="telemetry 1ms"
	one "$quell$empty" &&
	packets_are "all(.check == \"good\" and .hop == 1 and .link == 1250000000 and
		(.options[48:] | startswith(\"$idle\")))" &&
	port_is '.int_pkts == 1 and .stamp_pkts == 1' && more=""
}

others_are_left_alone()
{
	stays "$empty" flags=02 && stays "$empty" flags=12 && stays "$empty" ttl=64 && stays "$empty" fragment=1 &&
	stays 7208f00000000000 && stays 7210f000000000000000000000000000 &&
	stays 720cf000 && stays "00000000$empty" && stays ""
}

off_is_off()
{
	port rate 10gbit tcp-int 1ms && change tcp-int off && hear ip_pkt 1 &&
	say options="$empty" && heard && packets_are "all(.options == \"$empty\")" &&
	port_is '.int_pkts == 0 and .options.tcp_int == 0'
}

up_cs()
{
	awk '{ printf "%d\n", $1 * 100 }' /proc/uptime
}

later_than()
{
	[ "$(up_cs)" -gt "$1" ]
}

# Waiting at 10 bytes/s behind the first: 40 segments of 1000 bytes, then 100
# Gbit/s.  Each tells of the queue it leaves behind, and how long it was there.
shortest_ns=0 longest_ns=0
wait_behind_one()
{
	local came_cs queued_cs released_cs left_cs

	came_cs=$(up_cs)
	port "${held[*]}" tcp-int 1ms && hear ip_pkt 41 && say count=41 options="$1" &&
	port_is '.qlen == 40 and .data_backlog_bytes == 40000' || return 1
	queued_cs=$(up_cs)
	poll 10 later_than $((queued_cs + 5))
	released_cs=$(up_cs)
	change rate 100gbit && heard || return 1
	left_cs=$(up_cs)
	shortest_ns=$(((released_cs - queued_cs - 1) * 10000000))
	longest_ns=$(((left_cs - came_cs + 1) * 10000000))
}

# Behind the first: number, value, speed, latency in ns.
values='map(select(.number > 0) | {
	number, check,
	speed: .options[5:6],
	value: .options[6:8],
	ttl: .options[8:10],
	latency: (.options[10:16] | explode |
		reduce .[] as $c (0; . * 16 + (if $c > 57 then $c - 87 else $c - 48 end)) * 256)
})'

queue_is_told()
{
	local ok='all(.check == "good" and .ttl == "3f" and .speed == "5")'

	wait_behind_one "$empty" &&
	packets_are "$values | length == 40 and $ok" &&
	packets_are "$values | all(((40 - .number) * 1000 / 8192 | floor) as \$q |
		if \$q > 0 then .value == \"8\(\$q)\" else
			.value == \"1b\" or .value == \"1c\" end)" &&
	packets_are "$values | all(.latency >= $shortest_ns and .latency <= $longest_ns)"
}

latency_is_added()
{
	wait_behind_one 720cf00000100000000000ff &&
	packets_are "$values | all(.latency - 268435456 >= $shortest_ns and
		.latency - 268435456 <= $longest_ns)"
}

latency_saturates()
{
	wait_behind_one 720cf00000ffff0000000000 &&
	packets_are "$values | all(.latency == 4294967040 and .check == \"good\")"
}

plan 23
check "two hosts and a port" eval "make_network && command -v ip_pkt"
for rate in "" "rate 10gbit"; do
	check "${rate:-the straight path}: an idle port is told of" idle_port_is_told_of
	check "anywhere among the options" place_does_not_matter
	check "an ACK is written to" ack_is_written_to
	check "a checksum still to be computed" partial_checksum_stays
	check "the echo stays" echo_stays
	check "a worse hop stays" worse_hop_stays
	check "beside a telemetry record" both_kinds_of_telemetry
	check "nothing else is written to" others_are_left_alone
done
check "each segment of a super-packet" super_packet_is_written_to_by_segment
check "off" off_is_off
check "queue and latency are told" queue_is_told
check "latency is added" latency_is_added
check "latency saturates" latency_saturates
check "the books balance" books_balance
finish
