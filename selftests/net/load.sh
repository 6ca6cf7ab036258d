#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Modules come when they are asked for, stay while they are used, and go.

cd "$(dirname "$0")" || exit 1
. ./lib.sh

cc_file=/proc/sys/net/ipv4/tcp_congestion_control
netns="" server="" client=""
default_cc=$(cat "$cc_file")

offers_swift()
{
	grep -qw swift /proc/sys/net/ipv4/tcp_available_congestion_control
}

set_cc()
{
	sysctl -q -w net.ipv4.tcp_congestion_control="$1"
}

set_cc_in()
{
	local netns=$1
	shift
	choose_cc "$netns" "$1"
}

unload_all()
{
	unload tcp_swift quell && not_loaded quell && ! offers_swift
}

both_go()
{
	rmmod tcp_swift && rmmod quell && ! offers_swift
}

modprobe_brings_both()
{
	not_loaded tcp_swift && not_loaded quell &&
	modprobe tcp_swift && loaded tcp_swift && loaded quell && offers_swift
}

sysctl_brings_both()
{
	unload_all && set_cc swift && loaded tcp_swift && loaded quell &&
	[ "$(cat "$cc_file")" = swift ]
}

netns_brings_both()
{
	unload_all && set_cc_in "$netns" swift && loaded tcp_swift &&
	[ "$(cc_of "$netns")" = swift ] && [ "$(cat "$cc_file")" = "$default_cc" ]
}

# In a user namespace root may configure its network, but not load modules.
as_container()
{
	unshare -U -r -n sysctl -w net.ipv4.tcp_congestion_control="$1"
}

container_cannot_load()
{
	unload_all && refuses "No such file" as_container swift && not_loaded tcp_swift
}

start_server()
{
	start_in "$netns" iperf3 -s -p 5201 >/dev/null 2>&1
	server=$started
	poll 10 listens "$netns" 5201
}

start_client()
{
	start_in "$netns" iperf3 -c 127.0.0.1 -p 5201 -b 1M -t 3600 >/dev/null 2>&1
	client=$started
	poll 10 established
}

established()
{
	in_netns "$netns" ss -Htni state established "dport = :5201" |
		grep -qw swift
}

# Swift as default only while the server is made: the listener keeps it.
listener_keeps_module()
{
	set_cc_in "$netns" swift && start_server && set_cc_in "$netns" reno &&
	refuses "in use" rmmod tcp_swift && loaded tcp_swift
}

flow_keeps_module()
{
	set_cc_in "$netns" swift && start_client && set_cc_in "$netns" reno &&
	refuses "in use" rmmod tcp_swift && established
}

gone_after_sockets()
{
	stop "$client"
	stop "$server"
	# A socket in its last states may hold the module for a while.
	poll 30 rmmod tcp_swift && rmmod quell && not_loaded quell
}

gone_after_netns()
{
	local other

	new_netns other
	set_cc_in "$other" swift && refuses "in use" rmmod tcp_swift &&
	ip netns del "$other" && poll 30 rmmod tcp_swift && rmmod quell
}

default_keeps_module()
{
	refuses "in use" rmmod tcp_swift && set_cc "$default_cc" &&
	rmmod tcp_swift && rmmod quell
}

quell_held_by_user()
{
	refuses "in use" rmmod quell && loaded quell
}

comes_and_goes()
{
	set_cc "$1" && loaded "$2" && [ "$(cat "$cc_file")" = "$1" ] &&
	set_cc "$default_cc" && rmmod "$2" && not_loaded "$2"
}

each_comes_and_goes()
{
	unload_all &&
	comes_and_goes swift tcp_swift &&
	comes_and_goes swift_vaisf tcp_swift &&
	comes_and_goes timely tcp_timely &&
	comes_and_goes smartt tcp_smartt &&
	comes_and_goes dcqcn tcp_dcqcn &&
	comes_and_goes dart tcp_dart &&
	comes_and_goes hpcc tcp_hpcc &&
	comes_and_goes hpcc_vaisf tcp_hpcc &&
	rmmod quell
}

# Each line of the kernel log has its time in front, so lines are counted.
# What the kernel says, but for its watching the clocks of an emulated machine.
said()
{
	dmesg | grep -v -e 'clocksource: ' -e 'hrtimer: interrupt took'
}

# times N COMMAND...: so often, and the kernel has nothing to say of it.
times()
{
	local n=$1 before i
	shift

	before=$(said | wc -l)
	for i in $(seq "$n"); do
		if ! "$@"; then
			echo "time $i failed"
			return 1
		fi
	done
	[ "$(said | wc -l)" -eq "$before" ] || {
		said | tail -n +"$((before + 1))"
		return 1
	}
}

in_and_out()
{
	modprobe tcp_swift && offers_swift && unload_all
}

# Connections that end with data on its way, twenty at a time, once each has received some.  Buffers
# bound the data: of up to 4 and 6 MB these forty sockets take all the memory that TCP may use of
# 1 GB (tcp_mem: 77 MB).  With these bounds it is about a quarter at most.
#
# The packets of a handshake stay on one processor.  Where two of them find one request on two
# processors, the kernel makes two sockets, and of the one that it discards it never returns the
# reference to the algorithm's module (Documentation/compat.md): then nothing can unload that.
start_traffic()
{
	in_netns "$netns" sysctl -q -w net.ipv4.tcp_wmem="4096 16384 262144" \
		net.ipv4.tcp_rmem="4096 131072 262144" &&
	set_cc_in "$netns" reno && start_in "$netns" many_tcp listen 5300 4 >"$dir/listener" &&
	poll 10 grep -q ready "$dir/listener" || return 1
	start_in "$netns" sh -c 'while kill -0 "$0"; do
			taskset 1 many_tcp connect 127.0.0.1 5300 4 20 1000000000 cut
		done' $$ >"$dir/traffic" 2>&1
}

# Who keeps the module: sockets of the namespace, and how many references it has.
say_users()
{
	echo "references to $1: $(cat "/sys/module/$1/refcnt")"
	in_netns "$netns" ss -Htani
	return 1
}

has_traffic()
{
	in_netns "$netns" ss -Hnti "dport >= :5300" | grep -qw "$1"
}

# Of the connections most ended with data on its way, and TCP was never short of memory: counters of
# the namespace.  PREEMPT_RT ends many before their handshake: ten for each time the modules went.
ended_under_way()
{
	local opened close data short least

	opened=$(counter_of "$netns" snmp Tcp ActiveOpens)
	close=$(counter_of "$netns" netstat TcpExt TCPAbortOnClose)
	data=$(counter_of "$netns" netstat TcpExt TCPAbortOnData)
	short=$(counter_of "$netns" netstat TcpExt TCPMemoryPressures)
	if is_rt; then least=40; else least=$((opened / 2 + 1)); fi
	echo "opened $opened, ended with data: $close + $data, short of memory: $short"
	[ $((close + data)) -ge "$least" ] && same "short of memory" "$short" 0
}

# The default of the namespace changes, and the modules go, while connections come and go.
under_traffic()
{
	set_cc_in "$netns" swift && poll 120 has_traffic swift &&
	set_cc_in "$netns" reno && poll 120 has_traffic reno &&
	{ poll 30 unload tcp_swift || say_users tcp_swift; } &&
	poll 10 unload quell && not_loaded quell
}

unloads_under_traffic()
{
	local status=0

	start_traffic && times 4 under_traffic || status=$?
	stop "$started"
	return "$status"
}

tc_brings_swport()
{
	not_loaded sch_swport &&
	in_netns "$netns" tc qdisc add dev lo root swport limit 225kb &&
	loaded sch_swport
}

swport_held_by_qdisc()
{
	refuses "in use" rmmod sch_swport &&
	in_netns "$netns" tc qdisc del dev lo root && unload sch_swport
}

described()
{
	local module

	for module in quell tcp_swift sch_swport; do
		modinfo "$module"
		[ "$(modinfo -F license "$module")" = GPL ] || return 1
		[ -n "$(modinfo -F description "$module")" ] || return 1
	done
	modinfo -F depends tcp_swift | grep -qw quell
}

plan 18
defer set_cc "$default_cc"
new_netns netns

check "modules have licence, description and dependency" described
check "modprobe tcp_swift loads quell too" modprobe_brings_both
check "quell cannot go while tcp_swift is there" quell_held_by_user
check "tcp_swift goes, then quell" both_go
check "sysctl loads swift from nothing" sysctl_brings_both
check "the default algorithm keeps its module" default_keeps_module
check "a network namespace chooses swift where that is allowed" netns_brings_both
check "a listener keeps the module" listener_keeps_module
check "a flow keeps the module, and lives on" flow_keeps_module
check "modules go after the last socket" gone_after_sockets
check "modules go after the last namespace that chose swift" gone_after_netns
if [ -e /proc/self/ns/user ]; then
	check "root of a user namespace cannot load swift" container_cannot_load
else
	skip "root of a user namespace cannot load swift" "this kernel has no user namespaces"
fi
unload_all 2>/dev/null
check "4 times in and out, nothing in the kernel log" times 4 in_and_out
check "4 times while connections come and go" unloads_under_traffic
check "they had data on its way, and memory to spare" ended_under_way
check "every algorithm loads by its name, and goes" each_comes_and_goes
check "tc loads swport" tc_brings_swport
check "a qdisc keeps its module until it goes" swport_held_by_qdisc
finish
