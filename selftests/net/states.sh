#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Rare transitions of TCP sockets, with algorithms of each kind (tcp_states): the algorithm is chosen
# in any state.  Sockets connect again, send data with the SYN, close at both ends at once, are
# restored from a checkpoint.  Others pass to another listener, or their namespace ends.  Then routes
# have metrics for new sockets.  Afterwards no flow is left, and the modules are unloaded.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./suited.sh

cases=(syn_sent reconnect closing self_connect fast_open repair migrate deleted)
near="" far="" every=()

set_up()
{
	load_all && new_netns near far &&
	cable "$near" wire "$far" wire 10.92.0.1/24 10.92.0.2/24 &&
	tc -n "$near" qdisc add dev wire root netem delay 10ms limit 10000 &&
	tc -n "$far" qdisc add dev wire root netem delay 10ms limit 10000 || return 1
	for netns in "$near" "$far"; do
		in_netns "$netns" sysctl -q -w net.ipv4.tcp_fastopen=1543 net.ipv4.tcp_migrate_req=1 &&
		quell -n "$netns" cc set quell option 1 || return 1
	done
	poll 20 in_netns "$near" ping -c 1 -W 1 10.92.0.2
}

# each ALGORITHM...
each()
{
	local algorithm case

	for algorithm; do
		for case in "${cases[@]}"; do
			./tcp_states "$near" "$far" "$algorithm" "$case" ||
				{ echo "$algorithm: $case"; return 1; }
		done
	done
}

with_metrics()
{
	local cases=(reconnect fast_open repair)

	ip -n "$near" route change 10.92.0.0/24 dev wire cwnd lock 3 ssthresh lock 2 rtt lock 900ms \
		rttvar lock 900ms reordering lock 100 rto_min 5ms initcwnd 2 initrwnd 3 quickack 1 &&
	each "${every[@]}"
}

no_flows()
{
	[ "$(quell -n "$1" -j flow show | jq length)" -eq 0 ]
}

end_all()
{
	poll 120 no_flows "$near" && poll 120 no_flows "$far" &&
	ip netns del "$near" && ip netns del "$far" &&
	poll 120 unload tcp_swift tcp_timely tcp_hpcc tcp_dcqcn tcp_smartt tcp_dart quell
}

require "hosts, and algorithms" eval "set_up && few_algorithms every"
plan $((${#every[@]} + 3))
check "cubic" each cubic
for algorithm in "${every[@]}"; do
	check "$algorithm" each "$algorithm"
done
check "metrics of the route" with_metrics
check "no flow is left" end_all
finish
