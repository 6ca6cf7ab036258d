#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What swport costs a packet, and a super-packet, with each feature off and on, and in-tree
# qdiscs beside it: for run-uml and run-qemu --icount, as one script; ./report-port makes
# tables of both, and cake for a kernel that lacks it.
# Prints "cost NAME ENQUEUE DEQUEUE" in hundredths of a tick, within comments.  With "trace NAME..."
# only those rows, which go on for long enough to be traced after "trace NAME", as by flow-cost.sh.

run=/sys/module/quell_perfport/parameters/run
kind=data

traced=
[ "${1:-}" != trace ] || traced=" ${*:2} "
dev=va

# Deflection looks away ten seconds after the last token; the next packet shows it.
falls_asleep()
{
	[[ $1 != *deflect-idle ]] || { echo "$dev $kind" >$run && sleep 11; }
}

measure()
{
	echo "$dev $kind" >$run || return 1
	[ -n "$traced" ] || return 0
	echo "trace $1"
	for _ in {1..20}; do
		echo "$dev $kind" >$run || return 1
	done
}

# cost NAME QDISC [OPTION]...: of packets of that kind
cost()
{
	local name=$1
	shift

	[ -z "$traced" ] || [[ $traced == *" $name "* ]] || return
	number=$((number + 1))
	tc qdisc del dev $dev root 2>/dev/null
	tc qdisc add dev $dev root handle 1: "$@" && { [ "$1" != mq ] || make_joint; } &&
	falls_asleep "$name" && measure "$name" &&
	echo "# cost $name $(cat $run)" && echo "ok $number - $name" && return
	echo "not ok $number - $name"
	failed=1
}

joint=() number=0 failed=0
modprobe sch_cake && modprobe sch_swport && modprobe quell_perfport || exit 1
ip link add va type veth peer name vb && ip link set va up && ip link set vb up || exit 1
ip link add vm numtxqueues 2 type veth peer name vn numrxqueues 2 && ip link set vm up &&
	ip link set vn up || exit 1
ip link add alternate type dummy && ip link set alternate up &&
	ip addr add 10.72.0.1/24 dev alternate &&
	ip neigh add 10.72.0.2 lladdr 02:00:00:00:00:02 dev alternate nud permanent || exit 1
deflect=(deflect threshold 1513 tokens 0 1 idle 1ms via 10.72.0.2 dev alternate)

# Below mq two queues of one port, the first with the row's words.
make_joint()
{
	tc qdisc add dev $dev parent 1:1 swport joint "${joint[@]}" &&
	tc qdisc add dev $dev parent 1:2 swport joint
}

# joints PREFIX: of a queue of a joint port, of which it is the only one that has packets.
joints()
{
	local name options

	dev=vm
	while read -r name options; do
		read -ra joint <<<"$options"
		cost "$1$name" mq
	done <<-END
		joint
		joint-rate rate 1tbit no-split-gso
		joint-ecn-all-marked ecn min 0
		joint-telemetry telemetry 8us
		joint-tcp-int tcp-int 8us
		joint-all rate 1tbit ecn min 0 telemetry 8us tcp-int 8us buffer 2mb percentiles on no-split-gso
	END
	dev=va
}

# supers PREFIX: of what they are now, with every feature, and the others beside it.  What
# is behind the words of each row are its options.
supers()
{
	local name options

	while read -r name options; do
		# shellcheck disable=SC2086 # words on purpose
		cost "$1$name" $options
	done <<-END
		pfifo_fast pfifo_fast
		tbf tbf rate 10gbit burst 2mb limit 10mb
		fq fq
		fq_codel fq_codel
		cake-whole cake unlimited no-split-gso
		cake cake unlimited split-gso
		swport swport
		rate swport rate 1tbit no-split-gso
		split swport split-gso
		ecn-unmarked swport ecn min 1mb
		ecn-all-marked swport ecn min 0
		ecn-enqueue-marked swport ecn enqueue min 0
		ecn-8-classes swport ecn min 1mb ecn-class 1 min 1mb ecn-class 2 min 1mb ecn-class 3 min 1mb ecn-class 4 min 1mb ecn-class 5 min 1mb ecn-class 6 min 1mb ecn-class 7 min 1mb ecn-class 8 min 1mb
		telemetry swport telemetry 8us
		tcp-int swport tcp-int 8us
		buffer swport buffer 2mb
		percentiles swport percentiles on
		trim-room swport trim size 128 eligible all
		trim-cut swport limit 64 trim size 128 eligible all
		deflect-awake swport ${deflect[*]}
		deflect-idle swport ${deflect[*]}
	END
}

echo 1..62
cost pfifo_fast pfifo_fast
cost tbf tbf rate 1gbit burst 1mb limit 10mb
cost fq fq
cost fq_codel fq_codel
cost cake cake unlimited
cost swport swport
cost rate swport rate 1tbit
cost ecn-unmarked swport ecn min 1mb
cost ecn-all-marked swport ecn min 0
cost ecn-enqueue-marked swport ecn enqueue min 0
cost ecn-8-classes swport ecn min 1mb ecn-class 1 min 1mb ecn-class 2 min 1mb \
	ecn-class 3 min 1mb ecn-class 4 min 1mb ecn-class 5 min 1mb ecn-class 6 min 1mb \
	ecn-class 7 min 1mb ecn-class 8 min 1mb
cost telemetry swport telemetry 8us
cost tcp-int swport tcp-int 8us
kind=bare
cost bare-swport swport
cost bare-telemetry swport telemetry 8us
cost bare-tcp-int swport tcp-int 8us
kind=data
cost buffer swport buffer 1mb
cost percentiles swport percentiles on
cost trim-room swport trim size 128 eligible all
cost trim-cut swport limit 64 trim size 128 eligible all
cost deflect-awake swport "${deflect[@]}"
cost deflect-idle swport "${deflect[@]}"
kind=miss
cost deflect-miss swport "${deflect[@]}" entries 8
kind=hit
cost deflect-hit swport "${deflect[@]}" entries 8
kind=start
cost deflect-start swport "${deflect[@]}" entries 64
kind=data
cost all swport ecn min 0 telemetry 8us tcp-int 8us buffer 1mb percentiles on
joints ""
cost swport-again swport
cost pfifo_fast-again pfifo_fast
kind=super
supers super-
joints super-
kind=pushed
cost pushed-telemetry swport telemetry 8us
if [ -n "$traced" ]; then
	echo symbols
	grep -i ' [tw] ' /proc/kallsyms | gzip -9 | base64
	echo symbols-end
fi
ip link del va
ip link del vm
ip link del alternate
exit $failed
