#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Allocations and registrations of our modules fail, one after the other, for each command that has
# some: the command fails or does without, the state from before is left, and no memory is lost
# (run-uml faults faults.sh: KASAN, lockdep and kmemleak inspect it).  Then one of a few fails while
# connections transfer.
# shellcheck disable=SC2154 # of guest-uml

cd "$(dirname "$0")" || exit 1
. ./lib.sh

fail=/sys/module/quell_faults/parameters/fail
every=/sys/module/quell_faults/parameters/every
algorithms=(swift swift_vaisf timely hpcc hpcc_vaisf dcqcn smartt dart)
# More than any command has.
nth_max=200
near="" far=""

insert()
{
	insmod "$quell_modules/$1.ko"
}

# armed NTH COMMAND...: the call of that number, of those that its process makes, fails.
armed()
{
	# shellcheck disable=SC2016 # of that shell
	sh -c 'echo "$$ $1" >"$0" && shift && exec "$@"' "$fail" "$@"
}

# each_fails STATE COMMAND...: once for each of its calls, which fails, until it makes no more calls.
# STATE prints the state that a failed COMMAND must not change; with "undo" it reverts the command.
each_fails()
{
	local state=$1 nth failed status refused=0
	shift

	"$state" >"$dir/before"
	for ((nth = 1; nth < nth_max; nth++)); do
		armed "$nth" "$@"
		status=$?
		read -r _ failed <"$fail"
		"$state" >"$dir/after"
		if [ "$status" -ne 0 ]; then
			refused=$((refused + 1))
			cmp "$dir/before" "$dir/after" || { diff "$dir/before" "$dir/after"; return 1; }
		fi
		"$state" undo
		[ "$failed" -ne 0 ] || break
	done
	echo "$*: $((nth - 1)) calls, $refused times refused" >>"$dir/sum"
	echo "call $nth: status $status, $failed calls failed"
	[ "$failed" -eq 0 ] && [ "$status" -eq 0 ] && [ "$nth" -gt 1 ]
}

## states

modules()
{
	if [ "$*" = undo ]; then
		loaded "$module" && rmmod "$module"
	else
		lsmod | sort
	fi
}

# each_module MODULE...: it remains loaded then.
each_module()
{
	local module

	for module; do
		each_fails modules insmod "$quell_modules/$module.ko" && insert "$module" || return 1
	done
}

namespaces()
{
	if [ "$*" = undo ]; then
		[ ! -e /run/netns/young ] || ip netns del young
	else
		ip netns
	fi
}

settings()
{
	if [ "$*" = undo ]; then
		quell -n "$near" cc reset quell
		quell -n "$near" link reset wire
		quell -n "$near" lookahead del g
		quell -n "$near" sender weight 10.91.0.2 1 dev wire
	else
		quell -n "$near" -j cc show && quell -n "$near" -j lookahead show &&
		quell -n "$near" -j sender show && quell -n "$near" -j link show
	fi 2>&1
}

# Of a wire with queues the first has the port.
ports()
{
	if [ "$*" = undo ]; then
		tc -n "$near" qdisc del dev wire root
		tc -n "$near" qdisc del dev many root
		tc -n "$near" qdisc add dev many root handle 1: mq
	else
		tc -n "$near" -j qdisc show
	fi
}

full=(limit 200kb ecn min 10kb max 40kb trim size 128 to-sender percentiles on telemetry 8us
	buffer 100kb alpha 1 deflect threshold 5000 idle 20ms via 10.92.0.2 dev other)

# Of a port that is there with other options.
changed_port()
{
	if [ "$*" = undo ]; then
		tc -n "$near" qdisc del dev wire root
		tc -n "$near" qdisc add dev wire root handle 1: swport limit 100kb
	else
		tc -n "$near" -j qdisc show
	fi
}

## parts

make_network()
{
	new_netns near far && cable "$near" wire "$far" wire 10.91.0.1/24 10.91.0.2/24 &&
	ip -n "$near" link add other type dummy && ip -n "$near" addr add 10.92.0.1/24 dev other &&
	ip -n "$near" link set other up &&
	ip -n "$near" link add many numtxqueues 2 numrxqueues 2 type dummy &&
	ip -n "$near" link set many up && tc -n "$near" qdisc add dev many root handle 1: mq &&
	poll 60 in_netns "$near" busybox ping -c 1 -W 1 10.91.0.2
}

# A listener of changes, for which messages are allocated.
each_setting_heard()
{
	local status

	start_in "$near" quell monitor >"$dir/monitor"
	each_setting
	status=$?
	stop "$started"
	return "$status"
}

# Dart's receiver of an interface is there from the first group on, also one that fails.
each_setting()
{
	local words

	quell -n "$near" lookahead add g dev wire 10.91.0.2 && quell -n "$near" lookahead del g || return 1
	for words in "cc set quell option 1" "cc reset quell" "link set wire rate 10gbit" \
		"lookahead add g dev wire 10.91.0.2 10.91.0.3" "sender weight 10.91.0.2 7 dev wire"; do
		# shellcheck disable=SC2086 # words
		each_fails settings ip netns exec "$near" quell $words || return 1
	done
}

each_port()
{
	each_fails ports tc -n "$near" qdisc add dev wire root handle 1: swport "${full[@]}" &&
	each_fails ports tc -n "$near" qdisc add dev many parent 1:1 handle 2: swport joint \
		rate 1gbit buffer 100kb alpha 1 || return 1
	changed_port undo
	each_fails changed_port tc -n "$near" qdisc change dev wire root handle 1: swport "${full[@]}"
}

# transfer CC: one of 7 calls of any context fails; both ends compare each byte.
transfer()
{
	choose_cc "$near" "$1" && choose_cc "$far" "$1" || return 1
	echo 7 >"$every"
	printf '%s\n' "open 4" "cc $1" "connect 10.91.0.2 7001" "xfer 30000" "xfer 1000000" \
		"xfer 100" close | in_netns "$near" timeout 120 option_tcp talk >"$dir/talk"
	echo 0 >"$every"
	cat "$dir/talk"
	[ "$(grep -c '^ok' "$dir/talk")" -eq 7 ] && ! grep -v '^ok' "$dir/talk"
}

# Through a port that trims and deflects.
each_transfers()
{
	local cc failed

	quell -n "$near" cc set quell option 1 && quell -n "$far" cc set quell option 1 &&
	tc -n "$near" qdisc replace dev wire root handle 1: swport rate 200mbit "${full[@]}" || return 1
	start_in "$far" option_tcp serve 7001 >"$dir/server"
	poll 60 listens "$far" 7001 && echo 0 0 >"$fail" || return 1
	for cc in "${algorithms[@]}"; do
		transfer "$cc" || { echo "$cc"; return 1; }
	done
	stop "$started"
	read -r _ failed <"$fail"
	echo "$failed calls failed" | tee -a "$dir/sum"
	[ "$failed" -ge 100 ]
}

end_all()
{
	ip netns del "$near" && ip netns del "$far" || return 1
	sysctl -q -w net.ipv4.tcp_congestion_control=reno
	poll 60 unload sch_swport tcp_swift tcp_timely tcp_hpcc tcp_dcqcn tcp_smartt tcp_dart quell
}

plan 7
check "hosts" eval "insert quell_faults && make_network"
check "modules" each_module quell tcp_swift tcp_timely tcp_hpcc tcp_dcqcn tcp_smartt tcp_dart \
	sch_swport
# A new namespace of a host with this default has hooks at once.
check "namespaces" eval "allow_cc swift && sysctl -q -w net.ipv4.tcp_congestion_control=swift &&
	each_fails namespaces ip netns add young"
check "settings" each_setting_heard
check "ports" each_port
check "connections of each algorithm" each_transfers
note "$(cat "$dir/sum")"
check "all modules are unloaded" end_all
finish
