#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The switch port below mq, a port for each transmit queue of a device: what is about the
# whole device is refused, what is not is there, and a shared buffer is one limit for all.
# shellcheck disable=SC2317,SC2016 # checks are called by name; $ is jq's

cd "$(dirname "$0")" || exit 1
# shellcheck source-path=SCRIPTDIR source=lib.sh
. ./lib.sh
# shellcheck source-path=SCRIPTDIR source=port.sh
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

	refuses "swport: $what is not for one queue of many" near_tc qdisc "$@"
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

# A root has all queues, whatever the root before it was.
root_has_them_all()
{
	make_device 4 &&
	near_tc qdisc replace dev va root handle 5: swport rate 1gbit telemetry 8us tcp-int 8us \
		deflect threshold 1000 via 10.77.1.2 dev vc &&
	near_tc qdisc change dev va root handle 5: swport rate 2gbit &&
	port_is '.options | .rate == 250000000 and .telemetry == 8000 and .deflect == 1'
}

rest_is_accepted()
{
	make_device 4 &&
	near_tc qdisc add dev va parent 1:1 handle 11: swport limit 50kb control-limit 20kb \
		control-share 0.5 overhead 24 ecn min 10kb max 40kb ecn-class 8 min 5kb seed 3 \
		trim size 128 to-sender percentiles on buffer 100kb alpha 2 &&
	near_tc qdisc change dev va parent 1:1 handle 11: swport telemetry off tcp-int off \
		nodeflect rate 0 limit 60kb &&
	port_is '.options | .limit == 61440 and .ecn == "dequeue" and .trim_size == 128 and
		.buffer == 102400'
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
	near_tc -s -j qdisc show dev va >"$dir/all" &&
	jq '[.[] | select(.kind == "swport") | .data_backlog_bytes]' "$dir/all" >"$dir/held" &&
	json "add == $1 and (map(select(. > 0)) | length) >= 2" "$dir/held"
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

make_all || exit 1
loaded sch_swport || modprobe sch_swport
# The laboratory's debug kernel has mqprio.
checks=8
has_mqprio >/dev/null 2>&1 && checks=9
plan $checks
for queues in 2 4 8; do
	check "below mq of $queues queues rate, telemetry, TCP-INT and deflection are refused" \
		refused_below_mq $queues
done
check "nor by change, replace, below another qdisc, or with the link down" refused_all_the_same
[ $checks -eq 8 ] || check "nor below mqprio" refused_below_mqprio
check "the root of such a device has them" root_has_them_all
check "limits, marks, classes, trimming, percentiles and the buffer are there" rest_is_accepted
for queues in 2 8; do
	check "the ports of $queues queues share a buffer to the byte" one_buffer $queues
done
finish
