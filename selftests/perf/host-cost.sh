#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a flow of each algorithm costs its hosts, for report-host:
#
#	selftests/net/run-qemu 6.12 --icount --test selftests/perf/host-cost.sh [--words "ROW..."]
#
#	sender ph0 ---500 Mbit/s--- ph1 router ph2, swport 250 Mbit/s --- ph3 receiver
#
# An instruction takes a nanosecond and one processor is both hosts and the router, so
# the network is forty times as slow as one of 10 Gbit/s and interrupts 20 us late: the
# processor must not be the limit.  quell_perfhost counts instructions by host
# (modules/perfhost_account.c).  The port marks and adds telemetry.
#
# The algorithms of the kernel come first, before a module of Quell is there, cubic once
# more with the modules and, at the end, with a flow of Swift beside it.
#
# Lines for the report, of the measured part of each case:
#
#	cost NAME CASE KEY VALUE...
#
# Its arguments are the rows; without, all.  With "cases CASE,..." before them only these cases
# run; with "trace CASE" it is only that case, whose counted part goes on for long enough to be
# traced after "trace NAME", as by flow-cost.sh.

cd "$(dirname "$0")" || exit 1
. ./lib.sh

port=7000
account=/sys/module/quell_perfhost/parameters/account
answer_s=120
# The default, 10 us, on a network forty times as slow.
burst=400us
rows=(reno cubic dctcp bbr cubic-loaded swift-no-option swift swift_vaisf timely smartt dcqcn
	dart hpcc hpcc_vaisf cubic-beside)
# name: flows, rounds, bytes of a request and of an answer
cases=("bulk-1 1 1 2000000 8" "bulk-16 16 1 125000 8" "long-16 16 1 500000 8"
	"deep-16 16 1 500000 8" "bulk-256 256 1 12000 8" "rpc 1 100 64 64")
# What the port holds, by case.  16 flows that all begin with the bandwidth-delay product of a
# NIC of twice the port's rate overfill the first: so what repair costs can be told.
limit=1mb
declare -A limits=([deep-16]=8mb)
trace_rounds=0
if [ "${1:-}" = trace ] || [ "${1:-}" = cases ]; then
	chosen=()
	for case in "${cases[@]}"; do
		[[ ",$2," != *",${case%% *},"* ]] || chosen+=("$case")
	done
	cases=("${chosen[@]}")
	if [ "$1" = trace ]; then
		trace_rounds=40
		[ "$2" != long-16 ] || trace_rounds=5
	fi
	shift 2
fi
[ $# -eq 0 ] || rows=("$@")
sender="" router="" receiver=""
dir=$(mktemp -d)
defer rm -rf "$dir"

# port_holds LIMIT
port_holds()
{
	tc -n "$router" qdisc replace dev ph2 root swport rate 250mbit limit "$1" \
		ecn min 60kb max 180kb telemetry 80us
}

address_of()
{
	ip -n "$1" addr add "$3" dev "$2" && ip -n "$1" link set "$2" up
}

# The router must see packets one by one, as a switch does.
make_network()
{
	local i netns

	new_netns sender
	new_netns router
	new_netns receiver
	modprobe quell_perfhost && modprobe sch_swport || return 1
	i=0
	for netns in "$sender" "$router" "$router" "$receiver"; do
		ip link set "ph$i" netns "$netns" || return 1
		i=$((i + 1))
	done
	for i in 1 2; do
		in_netns "$router" ethtool -K "ph$i" gro off || return 1
	done
	address_of "$sender" ph0 10.71.1.1/24 && address_of "$router" ph1 10.71.1.2/24 &&
	address_of "$router" ph2 10.71.2.2/24 && address_of "$receiver" ph3 10.71.2.1/24 &&
	ip -n "$sender" route add default via 10.71.1.2 &&
	ip -n "$receiver" route add default via 10.71.2.2 &&
	in_netns "$router" sysctl -q -w net.ipv4.ip_forward=1 &&
	port_holds "$limit" || return 1
	for netns in "$sender" "$receiver"; do
		in_netns "$netns" sysctl -q -w net.ipv4.tcp_ecn=1 \
			net.ipv4.tcp_no_metrics_save=1 || return 1
	done
	poll 10 in_netns "$sender" ping -c 1 -W 1 10.71.2.1
}

# Something of the boot takes all the time there is for a while.  Since the last look:
is_idle()
{
	local idle=1

	grep -q "ticks idle [1-9]......" "$account" && idle=0
	echo reset >"$account"
	return "$idle"
}

choose()
{
	choose_cc "$sender" "$1" && choose_cc "$receiver" "$1"
}

# ours ALGORITHM OPTION: the algorithm governs.  The limits of adapt are in microseconds and not
# slowed down with the network: they would leave all that need delays to CUBIC (long-path).
# shellcheck disable=SC2086 # words
ours()
{
	local netns algorithm=$1 option=$2

	modprobe "tcp_$algorithm" || return 1
	for netns in "$sender" "$receiver"; do
		quell -n "$netns" cc set "$algorithm" adapt off ${words[$algorithm]} &&
		quell -n "$netns" cc set quell option "$option" burst "$burst" || return 1
	done
	choose "$algorithm"
}

# Times and rates of an algorithm's defaults, for a network forty times as slow as theirs.
swift_words="base-target 4ms ai 10mbit restart-idle 40ms"
dcqcn_words="min-rate 1mbit restart-idle 40ms notify-interval 2ms alpha-timer 2200us timer 2200us
	ai 1mbit hai 10mbit queue-bound 4ms"
hpcc_words="base-rtt 2ms restart-idle 40ms ai 1250kbit min-rate 2500kbit"
declare -A words=(
	[swift]="$swift_words fs-range 1ms host-target 4ms"
	[swift_vaisf]="$swift_words token-thresh 160us token 1200ns"
	[timely]="t-low 3ms t-high 10ms min-rtt 1800us init-rate 50mbit min-rate 1mbit delta 5mbit"
	[smartt]="target-delay 4ms restart-idle 40ms fast-slack 40us"
	[dcqcn]="$dcqcn_words"
	[dart]="$dcqcn_words slack 200us period 4ms clear 80ms plain-idle 40ms idle 800ms"
	[hpcc]="$hpcc_words" [hpcc_vaisf]="$hpcc_words")

# The flow beside it sends a request and then rests.
swift_beside()
{
	ours swift 1 && serve 7100 && open_flows beside 7100 1 && request beside "1 64 64"
}

# become ROW: both hosts, from the next connection on
become()
{
	case $1 in
	reno | cubic) choose "$1" ;;
	dctcp | bbr) modprobe "tcp_$1" && choose "$1" ;;
	cubic-loaded) modprobe tcp_swift && choose cubic ;;
	cubic-beside) swift_beside && choose cubic ;;
	swift-no-option) ours swift 0 ;;
	*) ours "$1" 1 ;;
	esac
}

serve()
{
	start_in "$receiver" many_tcp listen "$1" 1 reply
	server=$started
	poll 10 listens "$receiver" "$1"
}

declare -A to from
said=""

hears()
{
	read -r -t "$answer_s" -u "${from[$1]}" said && [[ $said = $2* ]] && return
	echo "$1: ${said:-nothing}, not $2"
	return 1
}

# open_flows NAME PORT FLOWS
open_flows()
{
	local write read

	mkfifo "$dir/$1.in" "$dir/$1.out"
	start_in "$sender" sh -c "exec many_tcp connect 10.71.2.1 $2 1 $3 0 reply \
		<'$dir/$1.in' >'$dir/$1.out'"
	asker=$started
	exec {write}>"$dir/$1.in" {read}<"$dir/$1.out"
	to[$1]=$write from[$1]=$read
	hears "$1" "done"
}

request()
{
	echo "$2" >&"${to[$1]}"
	hears "$1" "done"
}

close_flows()
{
	local write=${to[$1]} read=${from[$1]}

	exec {write}>&- {read}<&-
	wait "$asker"
	rm "$dir/$1.in" "$dir/$1.out"
}

# Of all sockets and what they hold.  What the allocator keeps of those that have gone
# is given back first.
slab_kb=0
slab()
{
	local cache name value

	for cache in /sys/kernel/slab/*/shrink; do
		echo 1 >"$cache"
	done
	while read -r name value _; do
		[ "$name" != Slab: ] || slab_kb=$value
	done </proc/meminfo
}

# Counters of both hosts' stacks: "NETNS NAME VALUE"
counters()
{
	local host name

	for host in sender receiver; do
		for name in InReceives:Ip InSegs:Tcp OutSegs:Tcp RetransSegs:Tcp; do
			echo "$host-${name%:*} $(counter_of "${!host}" snmp "${name#*:}" "${name%:*}")"
		done
	done
}

# told ROW CASE PREFIX: what has been counted, for the report
told()
{
	sed "s/^/cost $1 $2 /" "$dir/account"
	paste -d ' ' "$dir/before" "$dir/after" | while read -r key before _ after; do
		echo "cost $1 $2 counter $key $((after - before))"
	done
}

# measure ROW CASE FLOWS ROUNDS REQUEST ANSWER: once to warm up, once counted
measure()
{
	local closed_kb

	port_holds "${limits[$2]:-$limit}" && serve "$port" || return 1
	slab
	closed_kb=$slab_kb
	open_flows flows "$port" "$3" && request flows "$4 $5 $6" || return 1
	if [ "$trace_rounds" -gt 0 ]; then
		echo "trace $1" >&3
		request flows "$(($4 * trace_rounds)) $5 $6"
		close_flows flows
		stop "$server"
		return
	fi
	slab
	counters >"$dir/before"
	echo reset >"$account"
	request flows "$4 $5 $6" || return 1
	cat "$account" >"$dir/account"
	counters >"$dir/after"
	told "$1" "$2" >&3
	echo "cost $1 $2 bytes ${said#done * * }" >&3
	echo "cost $1 $2 slab $(((slab_kb - closed_kb) * 1024))" >&3
	close_flows flows
	stop "$server"
}

exec 3>&1
plan $((2 + ${#rows[@]} * (1 + ${#cases[@]})))
check "network of a sender, a router and a receiver" make_network
check "the processor has nothing to do" poll 60 is_idle
for row in "${rows[@]}"; do
	check "$row is chosen" become "$row"
	for case in "${cases[@]}"; do
		# shellcheck disable=SC2086 # words
		check "$row: ${case%% *}" measure "$row" $case
	done
done
if [ "$trace_rounds" -gt 0 ]; then
	echo symbols
	grep -i ' [tw] ' /proc/kallsyms | gzip -9 | base64
	echo symbols-end
fi
finish
