#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A storm for KCSAN (race.sh): namespaces with flows come and go, and then the modules, while all is
# listed without end.
# shellcheck disable=SC2031,SC2154 # each worker draws for itself; of race.sh

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./race.sh

modules=(tcp_swift tcp_timely tcp_hpcc tcp_dcqcn tcp_smartt tcp_dart)

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
