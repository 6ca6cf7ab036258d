#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A storm for KCSAN (race.sh): namespaces with flows come and go, and then the modules, while all is
# listed without end.
# shellcheck disable=SC2317,SC2031,SC2154 # called by name; each worker draws for itself; of race.sh

cd "$(dirname "$0")" || exit 1
# shellcheck source-path=SCRIPTDIR source=lib.sh
. ./lib.sh
# shellcheck source-path=SCRIPTDIR source=race.sh
. ./race.sh

watched=""
modules=(tcp_swift tcp_timely tcp_hpcc tcp_dcqcn tcp_smartt tcp_dart)

# live NUMBER CC: a namespace with flows to itself, by one processor: where a request is found on
# two processors the kernel loses a reference to the module (Documentation/compat.md).
live()
{
	local netns="life-$$-$1" status=0

	ip netns add "$netns" && ip -n "$netns" link set lo up || return 1
	choose_cc "$netns" "$2" || status=1
	quell -n "$netns" cc set quell option 1
	tc -n "$netns" qdisc add dev lo root swport limit 100kb
	in_netns "$netns" taskset "$1" timeout 2 many_tcp listen 5300 4 >"$dir/life-$1" &
	poll 5 listens "$netns" 5300
	in_netns "$netns" taskset "$1" timeout -s KILL 0.5 many_tcp connect 127.0.0.1 5300 4 20 1000000
	ip -n "$netns" link add gone type dummy
	in_netns "$netns" quell lookahead add g dev gone 10.0.0.1 10.0.0.2
	ip netns del "$netns"
	wait
	return "$status"
}

gone()
{
	unload "${modules[@]}" quell && unload sch_swport
}

# Two at once; then nothing holds the modules.
live_and_go()
{
	pick "${quell_ccs[@]}"; live 1 "$picked" &
	pick "${quell_ccs[@]}"; live 2 "$picked"
	wait
	poll 60 gone
}

# Refused while there is no module.
list_watched()
{
	quell -n "$watched" -j cc show; quell -n "$watched" -j stat
	quell -n "$watched" -j flow show; quell -n "$watched" -j sender show
	quell -n "$watched" -j lookahead show; quell -n "$watched" -j link show
}

plan 2
check "a namespace" new_netns watched
check "namespaces and modules come and go for $storm_s s" storm \
	live_and_go list_watched list_watched
say_storm
finish
