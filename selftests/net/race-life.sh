#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A storm for KCSAN (race.sh): namespaces with flows come and go, and then the modules, while all is
# listed without end.
# shellcheck disable=SC2031,SC2154 # each worker draws for itself; of race.sh

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./race.sh

watched=""
modules=(tcp_swift tcp_timely tcp_hpcc tcp_dcqcn tcp_smartt tcp_dart)

# live NUMBER CC: a namespace with flows to itself and from the watched one, deleted while they run.
# Frames of either come in on one processor: where a request is found on two the kernel loses a
# reference to the module (Documentation/compat.md).
live()
{
	local process netns="life-$$-$1" near="near$1" to="10.92.$1" clients=() PROCESSORS=$1 status=0

	ip netns add "$netns" && ip -n "$netns" link set lo up && keep_order "$netns" lo &&
	cable "$watched" "$near" "$netns" wire && ip -n "$watched" addr add "$to.1/24" dev "$near" &&
	ip -n "$netns" addr add "$to.2/24" dev wire || return 1
	# A connection whose process and peer are gone holds the module until it gives up.
	in_netns "$netns" sysctl -q -w net.ipv4.tcp_orphan_retries=1
	choose_cc "$netns" "$2" && choose_cc "$watched" "$2" || status=1
	quell -n "$netns" cc set quell option 1
	tc -n "$netns" qdisc add dev lo root swport limit 100kb
	tc -n "$netns" qdisc add dev wire root swport limit 100kb
	ip netns exec "$netns" many_tcp listen 5300 4 >"$dir/life-$1" &
	clients+=($!)
	poll 60 listens "$netns" 5300
	ip netns exec "$netns" many_tcp connect 127.0.0.1 5300 4 20 1000000 &
	clients+=($!)
	ip netns exec "$watched" many_tcp connect "$to.2" 5300 4 20 1000000 &
	clients+=($!)
	ip -n "$netns" link add gone type dummy
	in_netns "$netns" quell lookahead add g dev gone 10.0.0.1 10.0.0.2
	poll 60 has_flows "$netns" 20 || status=1
	ip netns del "$netns"
	jq length "$dir/flows-$netns" >>"$dir/deleted"
	# The listener first: with it the namespace ends, while frames still come in.
	for process in "${clients[@]}"; do
		kill -KILL "$process"
		wait "$process"
	done
	return "$status"
}

gone()
{
	unload "${modules[@]}" quell && unload sch_swport
}

# Two at once; then nothing holds the modules.
live_and_go()
{
	local status=0 other

	pick "${quell_ccs[@]}"; live 1 "$picked" &
	other=$!
	pick "${quell_ccs[@]}"; live 2 "$picked" || status=1
	wait "$other" || status=1
	choose_cc "$watched" cubic
	poll 60 gone || { lsmod >"$dir/stayed"; return 1; }
	return "$status"
}

# Refused while there is no module.
list_watched()
{
	quell -n "$watched" -j cc show; quell -n "$watched" -j stat
	quell -n "$watched" -j flow show; quell -n "$watched" -j sender show
	quell -n "$watched" -j lookahead show; quell -n "$watched" -j link show
}

# Of each namespace that went.
flows_ran()
{
	jq -s '{namespaces: length, flows: add}' "$dir/deleted" | tee "$dir/flows"
	json '.namespaces > 1 and .flows > 20' "$dir/flows"
}

make_watched()
{
	new_netns watched && in_netns "$watched" sysctl -q -w net.ipv4.tcp_orphan_retries=1
}

plan 3
check "a namespace" make_watched
check "namespaces and modules come and go for $storm_s s" storm \
	live_and_go list_watched
say_storm
check "flows ran when their namespace was deleted" flows_ran
note "deleted: $(jq -c . "$dir/flows")"
[ ! -e "$dir/stayed" ] || note "$(cat "$dir/stayed")"
finish
