#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Telemetry of the switch port: which packets get a record, what it says, and
# that nothing else of them changes.
#
# Most segments are made by hand with a time to live as if they had come through a
# router; the last checks send them through two.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./port.sh
. ./talk.sh

# The Quell option with data section (962 bytes, departure 0x01020304) and room.
head=fe1851550500039801020304
empty=000000000000000000000000
room=$head$empty
six="src=2001:db8::1 dst=2001:db8::2"
# On, packets take the long path (swport_dequeue_featured()); off, the straight one.
percentiles=off

# header_bytes FAMILY: Ethernet, IP and TCP of a segment with that option.
header_bytes()
{
	if [ -n "$1" ]; then
		echo 98
	else
		echo 78
	fi
}

# say KEY=VALUE...: segments out of near.
say()
{
	# shellcheck disable=SC2048,SC2086 # words on purpose
	in_netns "$near" ip_pkt send va $*
}

# Checksum and length as sent, and of the option all but the record.
rest_is_whole()
{
	packets_are "all(.bytes == $1 and .check == \"${2:-good}\" and
		.options[0:24] == \"$head\" and (.options | length) == 48)"
}

## what a record says

# by_hand BYTES [KEY=VALUE...]: four frames of 1024 bytes on the wire, of which
# three wait; the first left at 10 bytes/s, which is below what a record can say.
by_hand()
{
	port "${held[*]}" overhead 24 telemetry 1s && hear ip_pkt 4 &&
	say "options=$room" bytes=1000 count=4 "$@" &&
	port_is '.stamp_pkts == 1 and .link_rate == 10' &&
	change rate 100gbit && heard && rest_is_whole 1000 &&
	packets_are '[.[].hop] == [1, 1, 1, 1]' &&
	packets_are '[.[].queue] == [0, 2000, 1000, 0]' &&
	packets_are '[.[].tx] == [0, 16, 32, 48]' &&
	packets_are '[.[].link] == [0, 12500000000, 12500000000, 12500000000]' &&
	packets_are '[.[].load] == [0, 0, 0, 0]' &&
	packets_are '[.[].number] == [0, 1, 2, 3]' &&
	port_is '.stamp_pkts == 4 and .stamp_kept_pkts == 0 and .stamp_fail_pkts == 0 and
		.link_rate == 12500000000' && books_balance
}

# hops_are TTL HOP...: a segment of each, IPv4 and IPv6.
hops_are()
{
	local want="" family

	port telemetry 8us percentiles "$percentiles" && hear ip_pkt $# || return 1
	while [ $# -gt 0 ]; do
		for family in "" "$six"; do
			say "options=$room" "ttl=$1" "$family" || return 1
			want+="$2 "
		done
		shift 2
	done
	heard && rest_is_whole 1000 &&
	packets_are "map(.hop | tostring + \" \") | add == \"$want\""
}

control_bytes_count()
{
	port "${held[*]}" telemetry 1s && hear ip_pkt 4 &&
	say "options=$room" bytes=1000 count=2 &&
	say "options=$room" bytes=78 count=2 &&
	port_is '.control_backlog_bytes == 156 and .data_backlog_bytes == 1000' &&
	change rate 100gbit && heard &&
	packets_are 'map([.bytes, .hop, .tx]) ==
		[[1000, 1, 0], [78, 0, 0], [78, 0, 0], [1000, 1, 18]]'
}

# 200 frames of 1024 bytes, the first held until all are there, then at 30 Mbit/s:
# T * B is 37500 bytes, so the load is the queue in that, and at most about 1 more
# for what is in flight: a late timer is made good for up to 1 ms.  The clock: half of the frames and more arrive within
# 1 ms of their stamp, as far as 24 bits and the middle one tell.
records_add_up()
{
	port "${held[*]}" overhead 24 limit 1mb telemetry 10ms && hear ip_pkt 200 &&
	say "options=$room" bytes=1000 count=200 && change rate 30mbit &&
	heard && rest_is_whole 1000 &&
	packets_are '[.[].tx] == [range(200) | . * 16]' &&
	packets_are 'map(.queue)[1:] == [range(198; -1; -1) | . * 1000 |
		if . < 8192 then . else . as $q | (($q | logb) - 12) as $e |
			(($q / pow(2; $e)) | floor) * pow(2; $e) end]' &&
	packets_are 'map((if .load < 64 then .load
		else (32 + .load % 32) * pow(2; (.load / 32 | floor) - 1) end) / 64 -
		.queue / 37500)[1:] | all(. > -0.25 and . < 1.2)' &&
	packets_are 'map((.arrival_ns - .time) % 16777216) | . as $late |
		(sort | .[100]) as $middle |
		$late | map((. - $middle + 25165824) % 16777216 - 8388608 |
			select(. > -1000000 and . < 1000000)) | length > 100' &&
	port_is '.stamp_pkts == 200'
}

## compare and replace

# At 10 bytes/s and 100 ns T * B is nothing, and any load the largest, 255.
most_loaded_stays()
{
	local old=03fe1f400100000001000002 equal=03ff1f400100000001000002
	local idle=030000000000000000000000

	port "${held[*]}" telemetry 100ns && hear ip_pkt 1 && say "options=$head$old" && heard &&
	packets_are '.[0] | .hop == 1 and .load == 255' && rest_is_whole 1000 &&
	port "${held[*]}" telemetry 100ns && hear ip_pkt 1 && say "options=$head$equal" && heard &&
	packets_are ".[0].options == \"$head$equal\"" && rest_is_whole 1000 &&
	port_is '.stamp_pkts == 0 and .stamp_kept_pkts == 1' &&
	port telemetry 8us percentiles "$percentiles" && hear ip_pkt 2 && say "options=$head$idle" &&
	say "options=$room" && heard && rest_is_whole 1000 &&
	packets_are ".[0].options == \"$head$idle\" and .[1].hop == 1" &&
	port_is '.stamp_pkts == 1 and .stamp_kept_pkts == 1'
}

## which packets

# unstamped WORDS: a segment of each line, unchanged.
unstamped()
{
	local line options

	port telemetry 8us percentiles "$percentiles" && hear ip_pkt $# || return 1
	: >"$dir/want"
	for line; do
		options=${line%% *}
		say "options=$line" || return 1
		printf '%s\n' "$options" >>"$dir/want"
	done
	heard && jq -r '.[].options' "$dir/packets" >"$dir/got" &&
	diff "$dir/want" "$dir/got" && packets_are 'all(.check == "good")' &&
	port_is ".stamp_pkts == 0 and .stamp_kept_pkts == 0 and .packets == $#"
}

# Of all the room of options: no record, too short, another identifier, cut off
# by the header, beyond the end of options, behind a malformed one.
malformed_is_left_alone()
{
	unstamped \
		fe0c51550100039801020304 \
		fe0c51550500039801020304 \
		"fe1751550500039801020304$empty" \
		"fe1851550d00039801020304$empty" \
		"fe1851540500039801020304$empty" \
		"fe1951550500039801020304$empty" \
		"00000000$head$empty" \
		"00fe1851550500039801020304${empty}000000" \
		"0801$head${empty}0101" \
		"0101fe08515504000000${empty}0101" \
		"0303$head${empty}0101"
}

others_are_left_alone()
{
	local family

	for family in "" " $six"; do
		unstamped "$room flags=02$family" "$room flags=12$family" \
			"$room flags=10$family" "$room flags=0a$family" \
			"$room bytes=$(header_bytes "$family")$family" \
			"$room ttl=64$family" "$room ttl=255$family" || return 1
	done
	unstamped "$room fragment=1"
}

# Behind other options, at an odd place, longer than known, with an ACK section.
found_anywhere()
{
	port telemetry 8us percentiles "$percentiles" && hear ip_pkt 5 &&
	say "options=0101080a0000000100000002$head$empty" &&
	say "options=01$head$empty" && say "options=010101$head$empty $six" &&
	say "options=fe1c51550500039801020304${empty}a1a2a3a4" &&
	say "options=fe225155070003980102030405060708090a0b0c0d0e$empty" &&
	heard && packets_are 'all(.hop == 1 and .check == "good" and .bytes == 1000)' &&
	packets_are '[.[].tx] == [0, 15, 31, 46, 62]' &&
	packets_are ".[0].options[0:48] == \"0101080a0000000100000002$head\" and
		.[1].options[0:26] == \"01$head\" and .[1].options[50:] == \"010101\" and
		.[2].options[0:30] == \"010101$head\" and .[2].options[54:] == \"01\" and
		.[3].options[48:] == \"a1a2a3a4\" and .[4].options[68:] == \"0101\"" &&
	port_is '.stamp_pkts == 5'
}

off_means_off()
{
	port && hear ip_pkt 3 && say "options=$room" && change telemetry 8us &&
	say "options=$room" && change telemetry off && say "options=$room" &&
	heard && packets_are '[.[].hop] == [0, 1, 0]' && port_is '.stamp_pkts == 1'
}

## checksums and copies

# The device computes the checksum, or the kernel does it behind the port.
partial_checksums_hold()
{
	local tx=$1 want=$2 family

	in_netns "$near" ethtool -K va tx "$tx" >/dev/null || return 1
	for family in "" "$six"; do
		port telemetry 8us percentiles "$percentiles" && hear ip_pkt 2 &&
		say "options=$room" partial=1 count=2 "$family" && heard &&
		rest_is_whole 1000 "$want" && packets_are 'all(.hop == 1)' || return 1
	done
	in_netns "$near" ethtool -K va tx on >/dev/null
}

# Super-packets of ten segments, cut on entry or as they leave: the last segment has PSH
# and gets one, which counts those before it; all are right on the wire.
gso_is_stamped_at_its_end()
{
	local mode family header

	in_netns "$near" ethtool -K va tx off >/dev/null || return 1
	for mode in "split-gso" "split-gso $six" "no-split-gso" "no-split-gso $six"; do
		read -r mode family <<<"$mode"
		header=$(header_bytes "$family")
		port "${held[*]}" telemetry 1s "$mode" && hear ip_pkt 10 &&
		say "options=$room" gso=946 "bytes=$((header + 9460))" "$family" &&
		port_is '.gso_split_pkts == 1 and .qlen == 9' &&
		change rate 100gbit && heard && rest_is_whole $((header + 946)) &&
		packets_are "[.[].hop] == [0, 0, 0, 0, 0, 0, 0, 0, 0, 1] and
			.[9].tx == ($((9 * (header + 946))) / 64 | floor)" &&
		port_is '.stamp_pkts == 1 and .stamp_kept_pkts == 0' || return 1
	done
	in_netns "$near" ethtool -K va tx on >/dev/null
}

# netem sends each segment twice; the copies share their data.  A copy that saw its
# twin's record, of a longer queue, would keep it.
stamping_spares_clones()
{
	near_tc qdisc del dev va root 2>/dev/null
	near_tc qdisc add dev va root handle 1: netem duplicate 100% &&
	near_tc qdisc add dev va parent 1:1 handle 2: swport "${held[@]}" telemetry 1s &&
	hear ip_pkt 6 && say "options=$room" bytes=1000 count=3 &&
	near_tc qdisc change dev va parent 1:1 handle 2: swport rate 100gbit telemetry 100ns &&
	heard && rest_is_whole 1000 &&
	packets_are '[.[].queue][3:] == [2000, 1000, 0] and
		([.[].number] | group_by(.) | map(length)) == [2, 2, 2]' &&
	near_tc -s -j qdisc show dev va >"$dir/all" &&
	json '.[] | select(.kind == "swport") | .stamp_pkts == 6 and .stamp_kept_pkts == 0' "$dir/all"
}

## the rate of the link

device_speed_is_asked()
{
	port telemetry 8us && port_is '.link_rate == 1250000000' &&
	change rate 40gbit && port_is '.link_rate == 5000000000' &&
	change rate 0 && port_is '.link_rate == 1250000000' &&
	change telemetry off && port_is '.link_rate == 0' &&
	change telemetry 8us && hear ip_pkt 1 && say "options=$room" && heard &&
	packets_are '.[0].link == 1250000000'
}

# dummy_is FILTER: true of its swport.
dummy_is()
{
	near_tc -s -j qdisc show dev dummy7 >"$dir/all" &&
	jq '.[] | select(.kind == "swport")' "$dir/all" >"$dir/dummy" && json "$1" "$dir/dummy"
}

say_dummy()
{
	in_netns "$near" ip_pkt send dummy7 "options=$room"
}

without_a_speed_nothing_is_stamped()
{
	ip -n "$near" link add dummy7 type dummy && ip -n "$near" link set dummy7 up &&
	near_tc qdisc add dev dummy7 root swport telemetry 8us && say_dummy &&
	dummy_is '.packets >= 1 and .stamp_pkts == 0 and .link_rate == 0' &&
	near_tc -s qdisc show dev dummy7 | grep "telemetry.*link rate unknown" &&
	near_tc qdisc change dev dummy7 root swport rate 1gbit && say_dummy &&
	dummy_is '.stamp_pkts == 1 and .link_rate == 125000000' &&
	near_tc -s qdisc show dev dummy7 | grep "telemetry.*link rate 1Gbit" &&
	ip -n "$near" link del dummy7
}

## two ports in a row

sender="" first="" second="" target=""

# $first and $second: routers between sender and receiver, each with its port to
# the receiver on up0.
make_chain()
{
	new_netns sender first second target
	chain_link 1 "$sender" "$first" && chain_link 2 "$first" "$second" &&
	chain_link 3 "$second" "$target" &&
	chain_routes "$sender" 3 1.2 && chain_routes "$first" 3 2.2 &&
	chain_routes "$second" 1 2.1 && chain_routes "$target" 1 3.1 &&
	in_netns "$first" sysctl -q -w net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 &&
	in_netns "$second" sysctl -q -w net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 &&
	poll 10 in_netns "$sender" busybox ping -c 1 -W 1 10.73.3.2 &&
	poll 10 in_netns "$sender" busybox ping -c 1 -W 1 fd73:3::2
}

# chain_link NET FROM TO
chain_link()
{
	cable "$2" up0 "$3" down0 "10.73.$1.1/24,fd73:$1::1/64" "10.73.$1.2/24,fd73:$1::2/64"
}

# chain_routes NETNS TO-NET VIA
chain_routes()
{
	ip -n "$1" route add "10.73.$2.0/24" via "10.73.$3" &&
	ip -n "$1" route add "fd73:$2::/64" via "fd73:${3%.*}::${3#*.}"
}

# chain FIRST SECOND HOP: options of the two ports, and whose record arrives.
chain()
{
	local address

	for address in "src=10.73.1.1 dst=10.73.3.2" "src=fd73:1::1 dst=fd73:3::2"; do
		chain_port "$first" "$1" && chain_port "$second" "$2" &&
		hear ip_pkt 1 "$target" down0 &&
		chain_say "$address" && heard && rest_is_whole 1000 &&
		packets_are ".[0] | .ttl == 62 and .hop == $3" || return 1
	done
}

# chain_port NETNS OPTIONS: a new port.
chain_port()
{
	tc -n "$1" qdisc replace dev up0 root pfifo limit 100
	# shellcheck disable=SC2086 # words on purpose
	tc -n "$1" qdisc replace dev up0 root swport $2
}

chain_say()
{
	# shellcheck disable=SC2086 # words on purpose
	in_netns "$sender" ip_pkt route "options=$room" ttl=64 $1
}

two_ports_compare()
{
	local idle="rate 1gbit telemetry 8us" full="rate 80kbit telemetry 100ns"

	chain "$idle" "$idle" 1 && chain "$idle" "$full" 2 && chain "$full" "$idle" 1 &&
	chain "$full" "$full" 1 && chain "limit 1mb" "$idle" 2 && chain "$idle" "limit 1mb" 1 &&
	chain "limit 1mb" "limit 1mb" 0
}

## flows

has_echoed()
{
	[ "$(quell_count "$target" record-stamped)" -gt 0 ] && [ "$(quell_count "$target" record-echoed)" -gt 0 ]
}

# The receiver echoes no record once more, if the next ones are empty.
empty_records_are_not_echoed()
{
	local stamped echoed empty

	chain_port "$first" "rate 1gbit telemetry 8us" && chain_port "$second" "rate 1gbit" &&
	modprobe -a tcp_hpcc tcp_swift && choose_cc "$target" swift &&
	choose_cc "$sender" hpcc && talker talker "$sender" && serve "$target" 8080 &&
	ordered talker "open 4" "connect 10.73.3.2 8080" "xfer 1000000" && poll 10 has_echoed &&
	chain_port "$first" "rate 1gbit" || return 1
	stamped=$(quell_count "$target" record-stamped)
	echoed=$(quell_count "$target" record-echoed)
	empty=$(quell_count "$target" record-empty)
	ordered talker "xfer 1000000" close &&
	same "stamped" "$(quell_count "$target" record-stamped)" "$stamped" &&
	[ "$(quell_count "$target" record-empty)" -gt $((empty + 100)) ] &&
	[ $(($(quell_count "$target" record-echoed) - echoed)) -le 2 ]
}

plan 27
check "a network of two, and the maker of segments" \
	eval "make_network && command -v ip_pkt"
loaded sch_swport || modprobe sch_swport
check "a record says what was, IPv4" by_hand
check "a record says what was, IPv6" by_hand "$six"
check "bytes of both bands count, pure ACKs get no record" control_bytes_count
check "records of a train add up: bytes, queue, load, time" records_add_up
for percentiles in on off; do
	check "percentiles $percentiles: hops are the routers since the sender" hops_are \
		63 1 61 3 127 1 100 28 254 1 64 0 128 0 255 0
	check "the most loaded stays, the first of equals too" most_loaded_stays
	check "malformed options are left alone" malformed_is_left_alone
	check "SYNs, pure ACKs, fragments, data without PSH and what this host sends are left alone" \
		others_are_left_alone
	check "the record is found behind, beside and within" found_anywhere
	check "a checksum the device computes stays as it is" partial_checksums_hold on partial
	check "a checksum the kernel computes behind the port is right" partial_checksums_hold off good
done
check "off means off" off_means_off
check "of a super-packet the last segment gets one" gso_is_stamped_at_its_end
check "stamping spares clones" stamping_spares_clones
check "the speed is the device's unless set" device_speed_is_asked
check "without a speed nothing is stamped, and tc says so" without_a_speed_nothing_is_stamped
check "two routers between two hosts" make_chain
check "of two ports in a row the more loaded tells, IPv4 and IPv6" two_ports_compare
check "empty records are not echoed" empty_records_are_not_echoed
finish
