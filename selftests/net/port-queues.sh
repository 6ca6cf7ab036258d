#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The switch port below mq, a port for each transmit queue of a device: what is about the
# whole device is refused, and a shared buffer is one limit for all; with joint, all queues are one
# port.  tdc/swport.cases has the options there.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./port.sh

far_mac=02:00:00:00:00:02

make_all()
{
	make_network && ip -n "$near" link add vc type dummy
}

# make_device QUEUES: va and vb again, with so many queues each.
make_device()
{
	ip -n "$near" link del va 2>/dev/null
	ip -n "$near" link add va numtxqueues "$1" numrxqueues "$1" type veth \
		peer name vb netns "$far" address $far_mac numtxqueues "$1" numrxqueues "$1" &&
	ip -n "$far" link set vb up && ip -n "$near" link set va up &&
	ip -n "$near" addr add 10.76.1.1/24 dev va &&
	ip -n "$near" neigh add 10.76.1.2 lladdr $far_mac dev va nud permanent &&
	near_tc qdisc add dev va root handle 1: mq
}

# refused WHAT TC-ARGUMENT...: it is named.
refused()
{
	local what=$1
	shift

	refuses "swport: $what is not supported on one of several queues" near_tc qdisc "$@"
}

# refused_at VERB PARENT HANDLE: each of what is the whole device's.
refused_at()
{
	local at=("$1" dev va parent "$2" handle "$3" swport)

	refused rate "${at[@]}" rate 1gbit &&
	refused telemetry "${at[@]}" telemetry 8us limit 20kb &&
	refused tcp-int "${at[@]}" tcp-int 8us &&
	refused deflect "${at[@]}" deflect threshold 1000 via 10.77.1.2 dev vc
}

# classids QUEUES: of mq, 1:1 to 1:8.
classids()
{
	local i

	for ((i = 1; i <= $1; i++)); do
		echo "1:$i"
	done
}

refused_below_mq()
{
	local class

	make_device "$1" || return 1
	for class in $(classids "$1"); do
		refused_at add "$class" "1${class#1:}:" || return 1
	done
	near_tc -j qdisc show dev va | jq -e 'all(.[]; .kind != "swport")'
}

# A change, a replacement, and a port further down are no way round.
refused_all_the_same()
{
	make_device 4 &&
	near_tc qdisc add dev va parent 1:1 handle 11: swport limit 10kb &&
	refused_at change 1:1 11: && refused_at replace 1:1 11: &&
	refused_at replace 1:1 12: &&
	near_tc qdisc add dev va parent 1:2 handle 20: tbf rate 1mbit burst 5k limit 1mb &&
	refused_at add 20:1 21: &&
	ip -n "$near" link set va down && refused_at add 1:3 31: &&
	ip -n "$near" link set va up && refused_at add 1:3 31: &&
	near_tc -j qdisc show dev va >"$dir/all" &&
	json '[.[] | select(.kind == "swport")] |
		length == 1 and .[0].options.limit == 10240 and .[0].options.rate == 0' "$dir/all"
}

refused_below_mqprio()
{
	make_device 4 &&
	near_tc qdisc replace dev va root handle 2: mqprio num_tc 2 map 0 1 queues 2@0 2@2 hw 0 &&
	refused_at add 2:1 11: && refused_at add 2:4 14: &&
	near_tc qdisc add dev va parent 2:4 handle 14: swport limit 10kb
}

has_mqprio()
{
	make_device 2 && near_tc qdisc replace dev va root mqprio num_tc 1 map 0 queues 2@0 hw 0
}

# Datagrams of many connections, which the device spreads over its queues: 1000 bytes each.
send_many()
{
	local i

	for ((i = 0; i < $1; i++)); do
		printf '%0958d' 0 >/dev/udp/10.76.1.2/9
	done
}

# The sum over all ports, and how many have a part of it.
ports_hold()
{
	joint_is "map(.data_backlog_bytes) | add == $1 and (map(select(. > 0)) | length) >= 2"
}

# Each queue is held by a tbf that sends next to nothing.
one_buffer()
{
	local class

	make_device "$1" || return 1
	for class in $(classids "$1"); do
		near_tc qdisc add dev va parent "$class" handle "1${class#1:}:" \
			tbf rate 8bit burst 1100 limit 10mb &&
		near_tc qdisc add dev va parent "1${class#1:}:1" handle "2${class#1:}:" \
			swport buffer 100500 alpha 1024 || return 1
	done
	in_netns "$near" bash -c "$(declare -f send_many); send_many 200" &&
	ports_hold 100000
}

## joint

# joint QUEUES [WORD...]: a device of so many queues, which are one port; the first one says
# the words.
joint()
{
	local class

	make_device "$1" && for class in $(classids "$1"); do
		echo "qdisc add dev va parent $class handle 1${class#1:}: swport joint ${*:2}"
	done | near_tc -batch -
}

# one_change WORD...: of the second queue.
one_change()
{
	near_tc qdisc change dev va parent 1:2 handle 12: swport "$@"
}

# joint_is FILTER: true of the array of ports now, in the order of the queues.
joint_is()
{
	near_tc -s -j qdisc show dev va >"$dir/all" &&
	jq '[.[] | select(.kind == "swport")] | sort_by(.handle)' "$dir/all" >"$dir/queues" &&
	json "$1" "$dir/queues"
}

# Time is virtual, and nothing late.
is_exact()
{
	is_virtual
}

# slack QUEUES: packets by which what is true of all queues at one moment may be wrong on a
# machine whose processors send at the same time: one of each queue.
slack()
{
	is_exact && echo 0 || echo "$1"
}

# Frames of many flows, which the device spreads over its queues.
flows()
{
	transmit flows "$@"
}

# Queues with packets take turns, however many each has: they are read one after the other, so where
# time is not virtual the port is held meanwhile.  Then, one rate for all, to the nanosecond,
# in any queue.
joint_rate()
{
	local rate_bytes_ps=375000

	is_exact || rate_bytes_ps=37500
	joint "$1" rate "$((rate_bytes_ps / 125))kbit" limit 1mb && flows 200 1514 &&
	poll 20 joint_is "(map(.data_pkts) | add) >= 4 * $1 and
		all(.options.rate == $rate_bytes_ps)" &&
	{ is_exact || one_change "${held[@]}"; } &&
	joint_is ". as \$all | length == $1 and all(.options.joint and .joint_queues == $1 and
		.data_backlog_bytes > 0 and .joint_backlog_bytes ==
			(\$all | map(.data_backlog_bytes) | add)) and
		(map(.data_pkts) | max - min <= 2 + $(slack "$1"))" &&
	one_change rate 1gbit && poll 20 joint_is 'all(.joint_backlog_bytes == 0)' &&
	one_change rate "$((rate_bytes_ps / 125))kbit" && listen 100 && flows 100 1514 &&
	collect && wire_time "$rate_bytes_ps" 0 &&
	joint_is 'all(.joint_backlog_bytes == 0 and .backlog == 0 and .qlen == 0) and
		(map(.data_pkts) | add) == 300'
}

# 50 frames of 1000 bytes wait in all, and the first leaves at once.
joint_limit()
{
	joint "$1" "${held[@]}" limit 50000 && flows 200 1000 &&
	joint_is "all(.joint_backlog_bytes == 50000) and (map(.data_backlog_bytes) | add) == 50000 and
		(map(.data_drop_pkts) | add) == 149 and (map(.data_backlog_bytes > 0) |
			map(select(.)) | length) > 1"
}

# With a step at 10000 bytes and 40 frames those are marked behind which ten wait in the port.
joint_marks()
{
	joint "$1" "${held[@]}" ecn min 10000 && listen 40 && flows 40 1000 2 &&
	joint_is '(map(.mark_pkts) | add) == 0' && one_change rate 30mbit && collect &&
	joint_is "(map(.mark_pkts) | add) | . <= 29 and . >= 29 - $(slack "$1")"
}

# At enqueue those are that find ten.
joint_marks_enqueue()
{
	joint "$1" "${held[@]}" ecn enqueue min 10000 && flows 40 1000 2 &&
	joint_is '(map(.mark_pkts) | add) == 29'
}

# record_flows COUNT: segments with an empty record from so many sources.
record_flows()
{
	in_netns "$near" bash -c 'for ((i = 1; i <= $1; i++)); do
		ip_pkt send va src=10.78.1.$i bytes=1000 \
			options=fe1851550500039801020304000000000000000000000000 || exit 1
	done' record_flows "$1"
}

loads_are_the_queue()
{
	packets_are 'map((if .load < 64 then .load
		else (32 + .load % 32) * pow(2; (.load / 32 | floor) - 1) end) / 64 -
		.queue / 3750)[1:] | all(. > -0.25 and . < 1.2)'
}

# Records say what the whole port has queued and sent, frame by frame: 1024 bytes on the wire,
# T * B 12.5 MB, of which 24 frames are nothing; then 3750 bytes, and the load is the queue, where
# no timer is later than T.
joint_records()
{
	joint "$1" "${held[@]}" overhead 24 telemetry 1s && hear ip_pkt 24 &&
	record_flows 24 && one_change rate 30mbit telemetry 1ms && heard &&
	packets_are "to_entries | map(.value.tx / 16 - .key, (if .key > 15 then
		.value.queue / 1000 - 23 + .key else 0 end)) |
		all(. <= $(slack "$1") and . >= -$(slack "$1"))" && packets_are 'all(.hop == 1)' &&
	{ ! is_exact || loads_are_the_queue; } &&
	joint_is "(map(select(.stamp_pkts > 0)) | length) > 1 and (map(.stamp_pkts) | add) == 24 and
		all(.link_rate == 3750000 and .options.telemetry == 1000000)"
}

# So do they where one queue gets a rate and telemetry later, which the others had not.
joint_records_later()
{
	joint "$1" overhead 24 && one_change rate 30mbit telemetry 1ms && hear ip_pkt 24 &&
	record_flows 24 && heard && packets_are 'length == 24 and all(.hop == 1)' &&
	joint_is "(map(select(.stamp_pkts > 0)) | length) > 1 and (map(.stamp_pkts) | add) == 24"
}

# A queue that leaves takes its bytes and its place with it, and what is deleted, replaced or
# down holds nothing.
joint_is_left()
{
	joint 4 "${held[@]}" && flows 100 1000 && joint_is 'all(.joint_backlog_bytes == 99000)' &&
	refuses "swport: rate is not supported on one of several queues" one_change nojoint &&
	one_change nojoint rate 0 &&
	joint_is '.[1].joint_queues == 0 and .[1].joint_backlog_bytes == 0 and
		.[1].options.joint == null and
		.[0].joint_backlog_bytes == ([.[0, 2, 3].data_backlog_bytes] | add) and
		.[0].joint_queues == 3' &&
	near_tc qdisc del dev va parent 1:3 && near_tc qdisc replace dev va parent 1:4 pfifo &&
	joint_is '.[0].joint_queues == 1 and
		.[0].joint_backlog_bytes == .[0].data_backlog_bytes' &&
	ip -n "$near" link set va down && joint_is '.[0].joint_backlog_bytes == 0' &&
	ip -n "$near" link set va up && flows 100 1000 &&
	joint_is '.[0].joint_backlog_bytes == .[0].data_backlog_bytes and
		.[0].data_backlog_bytes > 0' &&
	near_tc qdisc replace dev va root handle 5: swport rate 1gbit &&
	joint 2 && joint_is 'all(.joint_queues == 2 and .joint_backlog_bytes == 0 and
		.options.rate == 0)'
}

# joint_in NETNS: two joint queues of a device there.
joint_in()
{
	ip -n "$1" link add va numtxqueues 4 type dummy && ip -n "$1" link set va up &&
	tc -n "$1" qdisc add dev va root handle 1: mq &&
	tc -n "$1" qdisc add dev va parent 1:1 swport joint "${held[@]}" &&
	tc -n "$1" qdisc add dev va parent 1:2 swport joint
}

users_are()
{
	[ "$(cat /sys/module/sch_swport/refcnt)" = "$1" ]
}

# A device goes with full joint queues; then the namespace of another with its joint port.  (A
# namespace outlives packets its own sockets sent.)
joint_goes_with_its_netns()
{
	local other users

	users=$(cat /sys/module/sch_swport/refcnt)
	new_netns other && joint_in "$other" &&
	in_netns "$other" swport_pkt send va flows 100 1000 &&
	tc -n "$other" -s -j qdisc show dev va >"$dir/other" &&
	json '[.[] | select(.kind == "swport") | .joint_backlog_bytes > 0] == [true, true]' \
		"$dir/other" && ip -n "$other" link del va && poll 20 users_are "$users" &&
	joint_in "$other" && users_are $((users + 2)) && ip netns del "$other" &&
	poll 20 users_are "$users"
}

# Options, places and memberships change under traffic of all queues.
change_joint()
{
	local i queue

	for ((i = 0; i < 12; i++)); do
		queue=$((i % 4 + 1))
		one_change rate $((i % 3 * 200))mbit limit $((i + 10))kb &&
		near_tc qdisc replace dev va parent "1:$queue" handle "1$queue:" \
			swport joint ecn min 2kb telemetry 8us tcp-int 8us overhead "$i" &&
		near_tc qdisc del dev va parent 1:3 &&
		near_tc qdisc add dev va parent 1:3 handle 13: swport joint rate 1gbit &&
		near_tc -s qdisc show dev va >/dev/null || return 1
	done
}

joint_under_traffic()
{
	local senders=() pid status=0

	joint 4 rate 100mbit || return 1
	for _ in 1 2 3; do
		in_netns "$near" swport_pkt send va flows 5000 200 2 &
		senders+=($!)
	done
	change_joint || status=1
	for pid in "${senders[@]}"; do
		wait "$pid" || status=1
	done
	one_change rate 100gbit && poll 10 joint_is 'all(.joint_backlog_bytes == 0 and .qlen == 0 and
		.joint_queues == 4)' && return "$status"
}

## bql

hold_send=/sys/module/quell_holdnic/parameters/send

# hold_nic [WORD...]: a card that holds what it takes, six frames of 1000 bytes in each of two
# queues; swport with the words.
hold_nic()
{
	local limit

	# Not loaded anew: below user-mode Linux KASAN keeps what it knew of a module's variables.
	if loaded quell_holdnic; then
		near_tc qdisc del dev hold0 root && ip -n "$near" link set hold0 down || return 1
	else
		modprobe quell_holdnic && defer rmmod quell_holdnic &&
		ip link set hold0 netns "$near" || return 1
	fi
	ip -n "$near" link set hold0 addrgenmode none up || return 1
	for limit in limit_min limit_max; do
		in_netns "$near" sh -c 'for queue in /sys/class/net/hold0/queues/tx-*; do
			echo "$1" >"$queue/byte_queue_limits/$0" || exit 1
		done' "$limit" "${hold_limit:-5000}" || return 1
	done
	# A queue limits itself anew when it has sent something.
	hold_frames 20 && for _ in 1 2 3 4 5 6 7 8 9 10; do
		echo 1000 >"$hold_send"
	done &&
	near_tc qdisc replace dev hold0 root handle 1: "$@"
}

# hold_frames COUNT [ECN]: of many flows, for both queues.
hold_frames()
{
	in_netns "$near" swport_pkt send hold0 flows "$1" 1000 "${2:-0}"
}

# hold_one COUNT: ECN-capable, of one flow, for one queue.
hold_one()
{
	in_netns "$near" swport_pkt send hold0 udp "$1" 1000 2
}

# hold_is FILTER: true of the array of its ports.
hold_is()
{
	near_tc -s -j qdisc show dev hold0 >"$dir/all" &&
	jq '[.[] | select(.kind == "swport")] | sort_by(.handle)' "$dir/all" >"$dir/hold" &&
	json "$1" "$dir/hold"
}

# The card takes six, of which three find 2500 bytes or more in it, and stops; the seventh has
# left the port, which has all queues, and is on the way.  The others leave at once, each behind
# 5000 bytes here, there or in between.
device_counts()
{
	hold_nic swport bql ecn min 2500 && hold_one 12 &&
	hold_is '.[0] | .options.bql and .mark_pkts == 4 and .device_bytes == 7000 and
		.data_backlog_bytes == 5000' &&
	echo 6 >"$hold_send" && poll 10 hold_is '.[0] | .data_backlog_bytes == 0 and
		.mark_pkts == 9 and .device_bytes == 6000' &&
	echo 6 >"$hold_send" && hold_is '.[0].device_bytes == 0' && hold_one 1 &&
	hold_is '.[0] | .mark_pkts == 9 and .data_pkts == 13'
}

# At enqueue what the device holds counts, too, and to the records of telemetry.
device_counts_for_all()
{
	hold_nic swport bql ecn enqueue min 2500 telemetry 1ms && hold_one 4 &&
	hold_is '.[0].mark_pkts == 1' && hear ip_pkt 2 "$near" hold0 &&
	in_netns "$near" ip_pkt send hold0 bytes=1000 count=2 \
		options=fe1851550500039801020304000000000000000000000000 && echo 6 >"$hold_send" &&
	heard &&
	packets_are '[.[].queue] == [4000, 5000]'
}

device_does_not_count()
{
	hold_nic swport ecn min 2500 && hold_one 6 &&
	hold_is '.[0] | .mark_pkts == 0 and .device_bytes == 0 and .options.bql == null' &&
	near_tc qdisc change dev hold0 root swport bql && hold_is '.[0].device_bytes == 6000' &&
	near_tc qdisc change dev hold0 root swport rate 1gbit && hold_is '.[0].device_bytes == 0' &&
	near_tc qdisc change dev hold0 root swport rate 0 nobql && hold_is '.[0].device_bytes == 0'
}

# Of one queue or, joint, of all.  The boot decides which queue a flow has: none may be full, and of
# 24 flows each queue has one but for one boot in eight million.
device_counts_by_queue()
{
	local hold_limit=100000 queue

	hold_nic mq || return 1
	for queue in 1 2; do
		near_tc qdisc add dev hold0 parent "1:$queue" handle "1$queue:" swport bql || return 1
	done
	hold_frames 24 && hold_is 'map(.device_bytes) | add == 24000 and min > 0' &&
	hold_is 'all(.device_bytes == .data_bytes)' &&
	for queue in 1 2; do
		near_tc qdisc change dev hold0 parent "1:$queue" handle "1$queue:" swport joint || return 1
	done && hold_is 'all(.device_bytes == 24000)'
}

# in_flight QUEUE...: what those of the card hold, by its own account.
in_flight()
{
	local queue

	for queue; do
		in_netns "$near" cat \
			"/sys/class/net/hold0/queues/tx-$queue/byte_queue_limits/inflight"
	done | jq -s 'add'
}

# counts_as_held QUEUE...: to the port, which has them.
counts_as_held()
{
	hold_is ".[0].device_bytes == $(in_flight "$@")"
}

# The number of queues changes; a super-packet is cut behind the port, and the card gets all its
# segments, whatever its limit; the link goes down.
device_changes()
{
	# By which queue a flow goes the boot decides: none may be full.
	local hold_limit=100000

	hold_nic swport bql && hold_frames 24 && hold_is '.[0].device_bytes == 24000' &&
	counts_as_held 0 1 && in_netns "$near" ethtool -L hold0 combined 1 &&
	counts_as_held 0 && hold_is '.[0].device_bytes | . > 0 and . < 24000' &&
	echo 30 >"$hold_send" && hold_is '.[0].device_bytes == 0' &&
	hold_frames 4 && hold_is '.[0].device_bytes == 4000' &&
	in_netns "$near" ethtool -L hold0 combined 2 && hold_is '.[0].device_bytes == 4000' &&
	hold_frames 4 && hold_is '.[0].device_bytes == 8000' && echo 20 >"$hold_send" &&
	in_netns "$near" swport_pkt send hold0 gso 1 10054 && counts_as_held 0 1 &&
	hold_is '.[0] | .gso_whole_pkts == 1 and .device_bytes == 10540' &&
	ip -n "$near" link set hold0 down && hold_is '.[0].device_bytes == 0' &&
	ip -n "$near" link set hold0 up && hold_is '.[0].device_bytes == 0' &&
	hold_frames 5 && hold_is '.[0].device_bytes == 5000' && counts_as_held 0 1
}

# Below mq the port of a queue that goes counts nothing, and again when it comes back.
device_changes_below_mq()
{
	local hold_limit=100000 queue

	hold_nic mq || return 1
	for queue in 1 2; do
		near_tc qdisc add dev hold0 parent "1:$queue" handle "1$queue:" swport bql || return 1
	done
	hold_frames 8 && in_netns "$near" ethtool -L hold0 combined 1 &&
	hold_is "length == 2 and .[0].device_bytes == $(in_flight 0) and .[1].device_bytes == 0" &&
	hold_frames 2 && hold_is ".[0].device_bytes == $(in_flight 0) and .[1].device_bytes == 0" &&
	in_netns "$near" ethtool -L hold0 combined 2 && echo 20 >"$hold_send" && hold_frames 8 &&
	hold_is "map(.device_bytes) | add == 8000 and .[0] == $(in_flight 0) and
		.[1] == $(in_flight 1)"
}

make_all || exit 1
loaded sch_swport || modprobe sch_swport
# The laboratory's debug kernel, which has mqprio, and emulated processors are slow: one number
# of joint queues is enough for them.
joint_numbers="2 4 8" mqprio=0
has_mqprio >/dev/null 2>&1 && mqprio=1
if [ $mqprio = 1 ] || ! is_exact; then
	joint_numbers=4
fi
plan $((17 + mqprio + 4 * $(wc -w <<<"$joint_numbers")))
for queues in 2 4 8; do
	check "below mq of $queues queues rate, telemetry, TCP-INT and deflection are refused" \
		refused_below_mq $queues
done
check "nor by change, replace, below another qdisc, or with the link down" refused_all_the_same
[ $mqprio = 0 ] || check "nor below mqprio" refused_below_mqprio
for queues in 2 8; do
	check "the ports of $queues queues share a buffer to the byte" one_buffer $queues
done
for queues in $joint_numbers; do
	check "$queues joint queues have one rate, and take turns" joint_rate "$queues"
	check "and one limit" joint_limit "$queues"
	check "and are marked by the queue of all of them" joint_marks "$queues"
	check "and their records are those of one port" joint_records "$queues"
done
check "joint queues are marked at enqueue by the queue of all of them" joint_marks_enqueue 4
check "and are at work in all, whichever got them, and when" joint_records_later 4
check "queues leave a joint port" joint_is_left
check "a joint port goes with its device, and with its namespace" joint_goes_with_its_netns
check "a joint port changes under traffic" joint_under_traffic
check "with bql packets are marked by what the device holds, too" device_counts
check "at enqueue, and in records" device_counts_for_all
check "not without, and not with a rate" device_does_not_count
check "of the queue that a port has, or of all that are joint" device_counts_by_queue
check "and follows the number of queues, super-packets, and the link" device_changes
check "below mq, too" device_changes_below_mq
near_tc qdisc del dev hold0 root
finish
