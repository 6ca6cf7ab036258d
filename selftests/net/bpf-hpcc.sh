#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# HPCC of a BPF host, by the records that a switch port writes and the other end echoes: quell.ko,
# whose flows get theirs from the BPF host in turn.  Without records a flow is not steered.
#
#	host (cgroup with the option, bpf_hpcc) --- router (swport) --- peer (quell.ko, hpcc)
# shellcheck disable=SC2154 # $sender and others are router.sh's

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./router.sh
. ./talk.sh

host_port=8060 peer_port=8061
objects=$(dirname "$(dirname "$(command -v quell)")")/lib/quell/bpf
# A burst of some packets has one record, and two must not be more than 8 ms apart.
rate=40mbit delay=50ms file_bytes=4000000
steady=(adapt off base-rtt 60ms init-window 30kb ai 1mbit min-rate 2mbit)
cgroup=$dir/cgroup/host

# port DEVICE WORD...: of the router, with counters at zero.
port()
{
	tc -n "$router" qdisc del dev "$1" root 2>/dev/null
	tc -n "$router" qdisc add dev "$1" root swport rate "$rate" "${@:2}"
}

port_is()
{
	tc -n "$router" -s -j qdisc show dev "$1" | jq '.[0]' >"$dir/port" && json "$2" "$dir/port"
}

host_is()
{
	quell -j bpf show hpcc | jq '.[0].counters' >"$dir/host" && json "$1" "$dir/host"
}

sets_up()
{
	modprobe sch_swport && choose_cc "$receiver" hpcc &&
	quell bpf load hpcc "${steady[@]}" && defer quell bpf unload hpcc && allow_cc bpf_hpcc &&
	choose_cc "$sender" bpf_hpcc && in_netns "$receiver" quell cc set hpcc "${steady[@]}" &&
	in_netns "$receiver" quell cc set quell option 1 &&
	in_netns "$receiver" tc qdisc add dev down0 root netem delay "$delay" &&
	mkdir "$dir/cgroup" && mount -t cgroup2 none "$dir/cgroup" && defer umount "$dir/cgroup" &&
	mkdir "$cgroup" && defer rmdir "$cgroup" && defer enter "$dir/cgroup" &&
	quell bpf option on cgroup "$cgroup" && defer quell bpf option off &&
	enter "$cgroup" && serve "$sender" "$host_port" sink && talker host "$sender" &&
	enter "$dir/cgroup" && serve "$receiver" "$peer_port" sink && talker peer "$receiver"
}

# An emulator that is away for a moment leaves a few records that are too old to be compared.
steered()
{
	port up0 telemetry "$delay" && ordered host "open 4" "connect 10.71.2.1 $peer_port" \
		"push $file_bytes" &&
	host_is '.measured > 100' && port_is up0 '.stamp_pkts > 100'
}

# The peer's flow has the record of the port towards the host, which the host echoed.
peer_is_steered()
{
	port down0 telemetry "$delay" && ordered peer "open 4" "connect 10.71.1.1 $host_port" \
		"send $file_bytes" acked && peer_has_record && ordered peer close &&
	port_is down0 '.stamp_pkts > 50'
}

peer_has_record()
{
	quell -n "$receiver" -j flow show >"$dir/flow" &&
	json '[.[] | select(.record_hop == 1 and .option == "on")] | length == 1' "$dir/flow"
}

# It is Reno then, whose window exceeds a port of 20 packets on any host, however slow.
without_records()
{
	host_is . && cp "$dir/host" "$dir/before" && port up0 limit 30kb &&
	ordered host "open 4" "connect 10.71.2.1 $peer_port" "push $file_bytes" &&
	host_is ".lost > $(jq .lost "$dir/before") and .measured == $(jq .measured "$dir/before")" &&
	port_is up0 '.stamp_pkts == 0'
}

[ -e "$objects/hpcc.bpf.o" ] || {
	echo "1..0 # SKIP no object in $objects"
	exit 4
}
plan 5
check "two hosts and a router" make_network
check "the objects are loaded, and the option is on" sets_up
check "a BPF host is steered by records" steered
check "a module host has its records from a BPF host" peer_is_steered
check "without records nothing steers it" without_records
finish
