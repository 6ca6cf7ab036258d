#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# quell stat against the real module: what was counted since the last time, as text, as JSON and
# as metrics, whose history it is, and who may read it.
#

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./quell-hosts.sh

history=""

# counted NAME: the count of a counter in $dir/text.
counted()
{
	awk -v name="$1" '$1 == name { print $2 }' "$dir/text"
}

# In text, what was counted since the last time; the first time, from the start.
stat_text()
{
	export XDG_RUNTIME_DIR=$dir
	history=$dir/quell-stat.$(in_netns "$left" stat -Lc %i /proc/self/ns/net)
	status 0 left_quell stat && cp "$dir/out" "$dir/text" && cat "$dir/text" &&
	grep -qx quell "$dir/text" && grep -qx swift "$dir/text" &&
	grep -qE '^  decreases +[1-9][0-9]*$' "$dir/text" &&
	! awk '/^ / && $2 == 0' "$dir/text" | grep -q . && ! grep -E '.{81}' "$dir/text"
}

stat_since()
{
	local first

	first=$(counted decreases)
	poll 10 stat_moves || return 1
	[ "$(counted decreases)" -le $(($(jq '.[0].counters.decreases' "$dir/all") - first)) ] &&
	[ "$(left_quell stat -a swift | awk '$1 == "decreases" { print $2 }')" -ge \
		$((first + $(counted decreases))) ]
}

stat_moves()
{
	left_quell stat swift >"$dir/text" && left_quell -j stat swift >"$dir/all" &&
	cat "$dir/text" && grep -qE '^  decreases +[1-9][0-9]* +[0-9.]+/s$' "$dir/text"
}

# Nothing, said in a line; with -z, a line for each counter; with -d, its meaning too.
stat_zeros()
{
	local counters

	quell -n "$right" stat swift_vaisf >"$dir/text" &&
	[ "$(cat "$dir/text")" = "no counts" ] || return 1
	counters=$(quell -n "$right" -j stat | jq '[.[].counters | length] | add')
	quell -n "$right" stat -a -z >"$dir/text" &&
	[ "$(grep -c '^  ' "$dir/text")" -eq "$counters" ] &&
	quell -d -n "$right" stat -a -z >"$dir/text" &&
	[ "$(grep -cE '^      [A-Z]' "$dir/text")" -eq "$counters" ]
}

# What could not be printed is no history.
stat_not_printed()
{
	local before

	status 0 left_quell stat && before=$(cat "$history") && poll 10 stat_has_news || return 1
	left_quell stat >/dev/full 2>"$dir/err"
	[ $? -eq 2 ] && grep -q "cannot write the output" "$dir/err" &&
	[ "$(cat "$history")" = "$before" ]
}

stat_has_news()
{
	[ "$(left_quell -j stat swift | jq '.[0].counters.decreases')" -gt \
		"$(awk '$1 == "swift" && $2 == "decreases" { print $3 }' "$history")" ]
}

# Any user may read counters, and has a history in a directory of the user's own.
stat_of_anyone()
{
	local home

	home=$(mktemp -d) && defer rm -rf "$home" && chown nobody "$home" &&
	XDG_RUNTIME_DIR="$home" status 0 as_nobody quell stat &&
	grep -q '^quell-stat 2 ' "$home"/quell-stat.* && status 0 as_nobody quell stat -a -z swift &&
	XDG_RUNTIME_DIR="" status 0 as_nobody quell stat && [ ! -s "$dir/err" ]
}

# Of their grammar, and the numbers those of JSON.
metrics_are_whole()
{
	status 0 left_quell stat --metrics && cp "$dir/out" "$dir/metrics" &&
	./metrics_strict "$dir/metrics" >"$dir/samples" &&
	left_quell -j stat >"$dir/stat" && jq -n --slurpfile s "$dir/samples" \
		--slurpfile c "$dir/stat" --arg ns "$left" '
		[$c[0][] | .name as $m | .counters | to_entries[] |
		 "quell_" + (.key | gsub("-"; "_")) + "_total{netns=\"" + $ns + "\",module=\"" + $m + "\"}"]
		- ($s[0] | keys)' >"$dir/missing" && json '. == []' "$dir/missing" &&
	json ".[\"quell_flows{netns=\\\"$left\\\",module=\\\"swift\\\"}\"] >= 1" "$dir/samples"
}

stat_json()
{
	left_quell -j stat >"$dir/stat" &&
	json 'map(.name) == ["quell", "swift", "swift_vaisf"] and
		all(.counters | length > 0 and all(type == "number"))' "$dir/stat" &&
	json '.[1].counters | .increases + .decreases > 0' "$dir/stat"
}

stat_one()
{
	[ "$(left_quell -j stat swift | jq -c 'map(.name)')" = '["swift"]' ] &&
	! left_quell stat -a swift | grep -qx quell
}

stat_is_per_netns()
{
	json '.[1].counters | .increases + .decreases > 0' "$dir/stat" &&
	quell -n "$right" -j stat swift >"$dir/other" &&
	json '.[0].counters | .increases + .decreases == 0' "$dir/other"
}

# Of verbs that read, while a flow is open: no error, no leak.  The exit status of doctor is that of
# what it finds; of what it requests of drivers valgrind knows little.
reading_is_clean()
{
	printf '%s\n' "flow show" "flow show -d" "flow show -j" "stat -a" "stat --metrics" \
		"cc show" "link show" doctor >"$dir/verbs"
	in_netns "$left" valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=all \
		--errors-for-leak-kinds=all --sim-hints=lax-ioctls \
		quell -force -batch "$dir/verbs" >"$dir/out" 2>"$dir/err"
	[ $? -le 2 ] && [ -s "$dir/out" ] && ! grep -E '^==|^quell: ' "$dir/err"
}

# Commands of dumps: of algorithms, flows, counters, rates, groups, senders, receivers.
dumps="1 4 5 6 10 11 13"

# What is begun and not read holds no module, if it is short.
unread_dumps_hold_nothing()
{
	local command before after pids=()

	before=$(cat /sys/module/quell/refcnt)
	for command in $dumps; do
		start_in "$left" setpriv --reuid 65534 --clear-groups quell_nl leave "$command" \
			>"$dir/left.$command"
		pids+=("$started")
		poll 10 grep -q begun "$dir/left.$command" || return 1
	done
	after=$(cat /sys/module/quell/refcnt)
	for command in "${pids[@]}"; do
		stop "$command"
	done
	same "uses of quell.ko" "$after" "$before"
}

plan 14
check "network, swift on the left" make_network 100mbit
check "a transfer starts" start_transfer
check "stat prints what was counted" stat_text
check "stat prints what was counted since, and how fast" stat_since
check "stat without zeros, and with" stat_zeros
check "stat to a full disk is no history" stat_not_printed
check "stat needs no privilege" stat_of_anyone
check "stat --metrics is what Prometheus reads" metrics_are_whole
check "stat -j" stat_json
check "stat of one algorithm" stat_one
check "stat is per namespace" stat_is_per_netns
check "valgrind has nothing to say about verbs that read" reading_is_clean
check "the flow ends" stop_client
check "dumps that are not read hold no module" unread_dumps_hold_nothing
finish
