#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What swport costs a packet, with each feature off and on, and in-tree qdiscs beside
# it: for run-uml and run-qemu --icount, as one script; ./port makes a table of both.
# Prints "cost NAME ENQUEUE DEQUEUE" in hundredths of a tick, within comments.

run=/sys/module/quell_perfport/parameters/run
kind=data

# cost NAME QDISC [OPTION]...: of packets of that kind
cost()
{
	local name=$1
	shift

	number=$((number + 1))
	tc qdisc del dev va root 2>/dev/null
	tc qdisc add dev va root handle 1: "$@" && echo "va $kind" >$run &&
	echo "# cost $name $(cat $run)" && echo "ok $number - $name" && return
	echo "not ok $number - $name"
	failed=1
}

number=0 failed=0
modprobe sch_swport && modprobe quell_perfport || exit 1
ip link add va type veth peer name vb && ip link set va up && ip link set vb up || exit 1
ip link add alternate type dummy && ip link set alternate up &&
	ip addr add 10.72.0.1/24 dev alternate &&
	ip neigh add 10.72.0.2 lladdr 02:00:00:00:00:02 dev alternate nud permanent || exit 1
deflect=(deflect threshold 1513 tokens 0 1 idle 1ms via 10.72.0.2 dev alternate)

echo 1..22
cost pfifo_fast pfifo_fast
cost tbf tbf rate 1gbit burst 1mb limit 10mb
cost fq fq
cost fq_codel fq_codel
cost swport swport
cost ecn-unmarked swport ecn min 1mb
cost ecn-all-marked swport ecn min 0
cost ecn-enqueue-marked swport ecn enqueue min 0
cost ecn-8-classes swport ecn min 1mb ecn-class 1 min 1mb ecn-class 2 min 1mb \
	ecn-class 3 min 1mb ecn-class 4 min 1mb ecn-class 5 min 1mb ecn-class 6 min 1mb \
	ecn-class 7 min 1mb ecn-class 8 min 1mb
cost telemetry swport telemetry 8us
cost tcp-int swport tcp-int 8us
cost buffer swport buffer 1mb
cost percentiles swport percentiles on
cost trim-room swport trim size 128
cost trim-cut swport limit 64 trim size 128
cost deflect-idle swport "${deflect[@]}"
kind=miss
cost deflect-miss swport "${deflect[@]}" entries 8
kind=hit
cost deflect-hit swport "${deflect[@]}" entries 8
kind=start
cost deflect-start swport "${deflect[@]}" entries 64
kind=data
cost all swport ecn min 0 telemetry 8us tcp-int 8us buffer 1mb percentiles on
cost swport-again swport
cost pfifo_fast-again pfifo_fast
ip link del va
ip link del alternate
exit $failed
