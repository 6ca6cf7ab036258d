#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A flow of each algorithm for report-flow, which has the processor tell every
# instruction for some time after "trace NAME":
#
#	sender, iperf3 --- router, swport 50 Mbit/s --- receiver, iperf3
#
# All on one processor.  Targets and rates suit that wire, whose full queue is 24 ms.
# The algorithms of the kernel come first, before a module of Quell is there.
#
#	flow-cost.sh [bpf]	those of BPF objects, too: ours, and the kernel's below /etc

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./router.sh

port=5201
address=10.71.1.1
iperf=$(mktemp)
defer rm -f "$iperf"

choose()
{
	choose_cc "$sender" "$1" &&
	choose_cc "$receiver" "$1"
}

# The flow is past its start when it is traced, and must not have ended by then.
flow()
{
	local client server name=$1

	tc -n "$router" qdisc del dev up0 root 2>/dev/null
	tc -n "$router" qdisc add dev up0 root swport rate 50mbit limit 150kb \
		ecn min 30kb max 60kb telemetry 100us || return 1
	start_in "$sender" iperf3 -s -1 -p "$port" >/dev/null
	server=$started
	poll 10 listens "$sender" "$port" || return 1
	start_in "$receiver" iperf3 -R -c "$address" -p "$port" -t 3 --forceflush >"$iperf" 2>&1
	client=$started
	poll 10 grep -q "0.00-1.00" "$iperf" || return 1
	echo "trace $name"
	wait "$client" && wait "$server"
}

choose_allowed()
{
	sysctl -q -w net.ipv4.tcp_allowed_congestion_control="reno cubic $1" && choose "$1"
}

# kernel NAME: a namespace may choose DCTCP only where that is said.
kernel()
{
	modprobe -q "tcp_$1"
	check "$1" choose_allowed "$1" && flow "$1"
}

# set_ours ALGORITHM OPTION WORD...
set_ours()
{
	local netns algorithm=$1 option=$2
	shift 2

	for netns in "$sender" "$receiver"; do
		quell -n "$netns" cc set "$algorithm" "$@" &&
		quell -n "$netns" cc set quell option "$option" || return 1
	done
	choose "$algorithm"
}

# ours NAME ALGORITHM OPTION WORD...
ours()
{
	local name=$1
	shift

	check "$name" set_ours "$@" && flow "$name"
}

# The parameters of both, the module and the object.
declare -A words=(
	[swift]="base-target 10ms ai 5mbit" [swift_vaisf]="base-target 10ms ai 5mbit"
	[timely]="t-low 5ms t-high 50ms min-rtt 2ms init-rate 20mbit min-rate 1mbit delta 2mbit"
	[smartt]="target-delay 10ms" [dcqcn]="min-rate 4mbit" [dart]="min-rate 4mbit"
	[hpcc]="base-rtt 1ms" [hpcc_vaisf]="base-rtt 1ms")

# modules NAME...: with the option
# shellcheck disable=SC2086 # words
modules()
{
	local name

	for name; do
		ours "$name" "$name" 1 ${words[$name]}
	done
}

# bpf_dctcp.bpf.o has another one beside, whose name is in use then.
register()
{
	bpftool struct_ops register "/etc/$1.bpf.o"
	grep -qw "$1" /proc/sys/net/ipv4/tcp_available_congestion_control && choose_allowed "$1"
}

# shellcheck disable=SC2086 # words
load()
{
	quell bpf load "$1" adapt off ${words[$1]} && choose "bpf_$1"
}

# bpf NAME...: our objects; all stay, so that the symbols in the end are theirs, too.
bpf()
{
	local name

	for name; do
		check "bpf_$name" load "$name" && flow "bpf_$name"
	done
}

in_network()
{
	check "network with a router" make_network
	for netns in "$sender" "$receiver"; do
		in_netns "$netns" sysctl -q -w net.ipv4.tcp_ecn=1
	done
}

# load_modules NAME...
load_modules()
{
	local name

	for name; do
		modprobe "tcp_$name"
	done
}

flows_of_modules()
{
	plan 15
	in_network
	for name in reno cubic dctcp bbr; do
		kernel "$name"
	done
	load_modules swift timely smartt dcqcn dart hpcc
	ours swift-no-option swift 0 base-target 10ms ai 5mbit
	modules swift swift_vaisf timely smartt dcqcn dart hpcc hpcc_vaisf
	address=fd71:1::1
	ours swift-ipv6 swift 1 base-target 10ms ai 5mbit
}

flows_of_bpf()
{
	plan 19
	in_network
	for name in cubic dctcp; do
		kernel "$name"
	done
	for name in bpf_cubic bpf_dctcp; do
		check "$name of the kernel" register "$name" && flow "kernel-$name"
	done
	bpf swift swift_vaisf timely smartt dcqcn dart
	load_modules swift timely smartt dcqcn dart
	ours swift-no-option swift 0 base-target 10ms ai 5mbit
	ours dcqcn-no-option dcqcn 0 min-rate 4mbit
	modules swift swift_vaisf timely smartt dcqcn dart
}

sysctl -q -w net.core.bpf_jit_kallsyms=1
case ${1:-} in
bpf)	flows_of_bpf ;;
*)	flows_of_modules ;;
esac
echo symbols
grep -i ' [tw] ' /proc/kallsyms | gzip -9 | base64
echo symbols-end
finish
