#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A storm for KCSAN (race.sh): connections of every algorithm open, change their algorithm and end,
# through a port that drops, marks, trims and stamps, while parameters change and all is listed.
# shellcheck disable=SC2031,SC2154 # each worker draws for itself; of race.sh

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./race.sh

client="" server=""

make_network()
{
	local module

	for module in tcp_swift tcp_timely tcp_hpcc tcp_dcqcn tcp_smartt tcp_dart sch_swport; do
		modprobe "$module" || return 1
	done
	new_netns client && new_netns server && two_hosts "$client" "$server" 2 || return 1
	for netns in "$client" "$server"; do
		choose_cc "$netns" swift && quell -n "$netns" cc set quell option 1 &&
		start_in "$netns" quell monitor >/dev/null || return 1
	done
	serve_all "$server"
}

# change_port NETNS: of wire, so slow that queues grow.
change_port()
{
	local words=(rate 200mbit limit 60kb telemetry 8us)

	case $((RANDOM % 6)) in
	0) words=(rate 50mbit limit 20kb noecn) ;;
	1) words+=(ecn min 10kb max 40kb prob 0.1) ;;
	2) words+=(trim size 128) ;;
	3) words+=(trim size 128 to-sender percentiles on) ;;
	4) words+=(tcp-int 8us ecn min 10kb ecn-class 8 min 5kb) ;;
	5) words+=(bql split-gso buffer 100kb) ;;
	esac
	tc -n "$1" qdisc replace dev wire root handle 1: swport "${words[@]}"
}

# change_default NETNS: the algorithm of what the server accepts.
change_default()
{
	pick "${quell_ccs[@]}" cubic; choose_cc "$1" "$picked"
}

plan 2
check "two hosts, every algorithm" make_network
check "connections come and go for $storm_s s" storm \
	"open_many $client 10.91.0.2 8080" "open_many $client 10.91.0.2 8080" \
	"ask $client 10.91.0.2 7100" "turn $client 4 10.91.0.2 7001" "turn $client 6 fd91::2 7001" \
	"dump $client" "dump $server" \
	"list $client; change_quell $client; has_flows $server 3; change_cc $server; \
change_port $client; change_default $server; list $server; change_quell $server; \
has_flows $client 3; change_cc $client; change_port $server"
say_storm
finish
