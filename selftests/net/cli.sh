#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The quell command against the real module: every verb, as text and as JSON,
# what it changes and what it must not, and what it says when it is misused.
#
#	left (swift) --- veth, 100 Mbit/s --- right
#
# The transfers are slow enough to leave the processor to the commands.
#

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./quell-hosts.sh

# What cc set may change, as one line.
params()
{
	quell -n "$1" -j cc show swift | jq -c '.[0].params | map({(.name): .value}) | add'
}

param()
{
	left_quell -j cc show swift "$1" | jq '.[0].params[0].value'
}

# param_is NAME VALUE
param_is()
{
	local got

	got=$(param "$1")
	[ "$got" = "$2" ] && return 0
	echo "$1 is $got, not $2"
	return 1
}

defaults()
{
	left_quell -j cc show swift |
		jq -c '.[0].params | map({(.name): .default}) | add'
}

all_default()
{
	[ "$(params "$1")" = "$(defaults)" ]
}

no_module()
{
	unload tcp_swift quell &&
	status 2 quell cc show && says "module quell is not loaded \(try: modprobe tcp_swift\)" &&
	{ [ -d /sys/fs/bpf ] || { status 2 quell bpf show && says "this kernel does not support it"; }; }
}

no_algorithm()
{
	modprobe quell && [ "$(quell -j cc show | jq -c 'map(.name)')" = '["quell"]' ] &&
	status 2 quell cc show swift && says "swift is not loaded \(try: modprobe tcp_swift\)" &&
	status 2 quell stat hpcc && says "hpcc is not loaded \(try: modprobe tcp_hpcc\)" &&
	status 2 quell cc set swift base-target 10us && status 2 quell cc reset swift &&
	status 2 quell cc preset swift vaisf-iii-d && not_loaded tcp_swift &&
	status 2 quell flow show cc swift &&
	status 1 quell cc show nosuch && says "\(none is loaded, try: modprobe tcp_swift\)"
}

# --- cc show -------------------------------------------------------------------

show_is_text()
{
	left_quell cc show >"$dir/text" || return 1
	cat "$dir/text"
	head -n 1 "$dir/text" | grep -q '^quell: ' &&
	grep -qE '^swift: [0-9]+ flows?$' "$dir/text" &&
	sed -n 2p "$dir/text" | grep -qE '^  PARAMETER +VALUE +DEFAULT +RANGE +MEANING$' &&
	grep -qE '^  base-target +0ns +0ns +0ns \.\. 1s +[A-Z]' "$dir/text" &&
	grep -qE '^  ai +50Mbit +50Mbit +8Kbit \.\. 1Tbit ' "$dir/text" &&
	grep -qE '^  beta +0\.8 +0\.8 +' "$dir/text" &&
	grep -qE '^  max-window +16mb +16mb +64kb \.\. 1gb ' "$dir/text" &&
	grep -qE '^  fs-max +50pkt +50pkt +2pkt \.\. 65536pkt ' "$dir/text" &&
	! grep -q '^\*' "$dir/text"
}

show_is_json()
{
	left_quell -j cc show >"$dir/json" || return 1
	json 'map(.name) == ["quell", "swift", "swift_vaisf"] and
		map(.preset) == [null, null, null] and
		(.[1].flows | type) == "number" and (.[1].params | length) >= 13' "$dir/json" &&
	json '.[1].params | all((.name | length) > 0 and (.doc | length) > 0 and
		.value == .default and .min <= .value and .value <= .max)' "$dir/json" &&
	json '.[1].params[] | select(.name == "base-target") |
		.unit == "ns" and .value == 0 and .min == 0 and .max == 1000000000' \
		"$dir/json" &&
	json '.[1].params[] | select(.name == "beta") | .unit == "q16" and .value == 52429' \
		"$dir/json"
}

pretty_is_same()
{
	left_quell -j cc show | jq -S . >"$dir/one"
	left_quell -jp cc show >"$dir/pretty"
	jq -S . "$dir/pretty" >"$dir/two"
	cmp "$dir/one" "$dir/two" && [ "$(wc -l <"$dir/pretty")" -gt 50 ]
}

one_param()
{
	left_quell cc show swift beta >"$dir/text"
	cat "$dir/text"
	[ "$(wc -l <"$dir/text")" -eq 3 ] && grep -qE '^  beta +0\.8 ' "$dir/text" &&
	param_is beta 52429
}

verb_may_be_left_out()
{
	[ "$(left_quell cc)" = "$(left_quell cc show)" ]
}

# --- cc set and reset ----------------------------------------------------------

set_two()
{
	status 0 left_quell cc set swift base-target 10us ai 1gbit &&
	[ ! -s "$dir/out" ] && [ ! -s "$dir/err" ] &&
	param_is base-target 10000 && param_is ai 125000000 && param_is beta 52429
}

changes_are_marked()
{
	left_quell cc show swift >"$dir/text"
	cat "$dir/text"
	grep -qE '^\* base-target +10us +0ns ' "$dir/text" &&
	grep -qE '^\* ai +1Gbit +50Mbit ' "$dir/text" &&
	grep -qE '^  beta ' "$dir/text" &&
	[ "$(grep -c '^\* [a-z]*-\?[a-z]* .*\.\.' "$dir/text")" -eq 2 ] &&
	tail -n 1 "$dir/text" | grep -q 'differs from the default'
}

others_keep_defaults()
{
	all_default "$right" && ! all_default "$left"
}

same_from_inside()
{
	[ "$(in_netns "$left" quell cc show swift)" = "$(left_quell cc show swift)" ] &&
	[ "$(quell -n "/run/netns/$left" cc show swift)" = "$(left_quell cc show swift)" ]
}

reset_one()
{
	status 0 left_quell cc reset swift ai &&
	param_is ai 6250000 && param_is base-target 10000
}

reset_all()
{
	status 0 left_quell cc reset swift && all_default "$left"
}

# printed COLUMN: names, and values as the table has them.
printed()
{
	left_quell cc show swift | tail -n +3 | sed -E 's/^[* ] //' |
		sed -nE "s/^([^ ]+) +([^ ]+) +([^ ]+) +([^ ]+) \.\. ([^ ]+) .*/\1 \\$1/p"
}

# column_round_trips KEY COLUMN: what show prints there, set takes for the same value.
column_round_trips()
{
	local key=$1 column=$2 words wanted

	left_quell cc reset swift || return 1
	wanted=$(left_quell -j cc show swift | jq -c ".[0].params | map({(.name): .$key}) | add")
	words=$(printed "$column") && sets_to "$words" "$wanted" &&
	words=$(printed 2) && sets_to "$words" "$wanted" &&
	left_quell cc reset swift
}

# sets_to WORDS WANTED: names and values of all parameters, and what they are then.
sets_to()
{
	echo "$1"
	[ "$(wc -w <<<"$1")" -ge 26 ] || return 1
	# shellcheck disable=SC2086 # words
	left_quell cc set swift $1 && [ "$(params "$left")" = "$2" ]
}

every_notation()
{
	left_quell cc set swift base-target 0.025ms hop-scale 1.5us ai 12.5mbps beta 80% \
		fs-max 100pkt max-window 225kb init-window 15000 &&
	param_is base-target 25000 && param_is hop-scale 1500 && param_is ai 12500000 &&
	param_is beta 52429 && param_is fs-max 6553600 && param_is max-window 230400 &&
	param_is init-window 15000 && left_quell cc reset swift
}

with_equals_signs()
{
	left_quell cc set swift base-target=10us ai 1gbit beta=50% &&
	param_is base-target 10000 && param_is ai 125000000 && param_is beta 32768 &&
	left_quell cc reset swift
}

# refused PATTERN ARGUMENT...: status 1, PATTERN on stderr, nothing changed.
refused()
{
	local pattern=$1 before after
	shift

	before=$(params "$left")
	status 1 left_quell "$@" && says "$pattern" || return 1
	after=$(params "$left")
	[ -n "$before" ] && [ "$before" = "$after" ]
}

# Some of each kind: test_qty and test_bpf have them all.
bad_values()
{
	local pattern arguments

	while IFS='|' read -r pattern arguments; do
		# shellcheck disable=SC2086 # a list of words
		check "refused: quell $arguments" refused "$pattern" $arguments
	done <<'END'
unknown algorithm 'nosuch' \(loaded: quell, swift, swift_vaisf\)|cc show nosuch
unknown algorithm 'averyveryverylongname' |cc reset averyveryverylongname
no parameter 'nosuch' \(it has: adapt, base-target, hop-scale|cc show swift nosuch
quell tail-floor: '999ns' is out of range 1us \.\. 1s$|cc set quell tail-floor 999ns
swift ai: '2tbit' is out of range 8Kbit \.\. 1Tbit$|cc set swift ai 2tbit
swift base-target: '2s' is out of range|cc set swift ai 1gbit base-target 2s
no parameter 'nosuch'|cc set swift ai 1gbit nosuch 1
'ai=1gbit': expected the name of a parameter, without a value$|cc show swift ai=1gbit
unknown algorithm 'nosuch'|flow show cc nosuch
no counters of 'nosuch'|stat nosuch
END
}

without_rights()
{
	local before

	before=$(params "$left")
	status 2 as_nobody quell cc set swift base-target 10us &&
	says "not permitted \(needs CAP_NET_ADMIN\)" &&
	status 2 as_nobody quell link set l0 rate 1gbit &&
	status 2 as_nobody quell cc reset swift &&
	status 2 as_nobody quell cc preset swift vaisf-iii-d &&
	[ "$(params "$left")" = "$before" ] &&
	status 0 as_nobody quell cc show
}

# --- flow ------------------------------------------------------------------------

no_flows()
{
	[ "$(quell -n "$right" flow show)" = "" ] && [ "$(quell -n "$right" -j flow show)" = "[]" ]
}

flow_json()
{
	json "all(.cc == \"swift\" and .src == \"$1\" and .dst == \"$2\" and .dport == $port and
		.dev == \"l0\")" "$dir/flows" &&
	json '.window_bytes > 0 and .mss_bytes > 500 and .mss_bytes < 65536 and
		.rtt_ns >= .min_rtt_ns and .target_ns >= 5000 and
		.clock == "software" and .link_bytes_ps == 1250000000 and .hops == 0 and
		(.limited_by | type) == "string" and
		(.pacing_bytes_ps | type) != "string" and
		.counters["rtt-samples"] > 0' "$dir/flow"
}

link_of_driver()
{
	left_quell -j link show l0 >"$dir/link" &&
	json '. == [{ dev: "l0", rate_bytes_ps: null, driver_bytes_ps: 1250000000 }]' "$dir/link" &&
	left_quell link show | grep -qx 'l0: driver 10Gbit'
}

# flow_link BYTES_PS: what the flow over IPv6 takes for its link.
flow_link()
{
	busy_flow fd72::2 && json ".link_bytes_ps == $1" "$dir/flow"
}

link_is_named()
{
	left_quell link set l0 rate 2.5gbit &&
	left_quell link show l0 | grep -qx 'l0: rate 2.5Gbit driver 10Gbit' &&
	poll 10 flow_link 312500000 &&
	status 1 left_quell link set nosuch rate 1gbit && status 1 left_quell link set l0 rate 0bit &&
	status 1 left_quell link set l0 speed 1gbit && status 1 left_quell link set l0 rate 2tbit
}

link_is_reset()
{
	left_quell link reset l0 && link_of_driver && poll 10 flow_link 1250000000
}

# An alternative name may be longer than the 15 characters of an interface's own.
long_name_is_taken()
{
	local name=datacenter-uplink-port-one-long

	ip -n "$left" link property add dev l0 altname "$name" &&
	left_quell link set "$name" rate 2.5gbit && left_quell link show l0 >"$dir/link" &&
	grep -qx 'l0: rate 2.5Gbit driver 10Gbit' "$dir/link" && left_quell link reset "$name" &&
	ip -n "$left" link property add dev lo altname "$name-lo" &&
	[ "$(left_quell link show "$name-lo")" = "lo: rate unknown" ] &&
	left_quell hwtstamp show "$name" >"$dir/out" && grep -q '^l0: ' "$dir/out" &&
	status 2 left_quell hwtstamp on "$name" && says '^quell: l0: .* has no hardware stamps' &&
	left_quell flow show dev "$name" && left_quell sender show dev "$name" &&
	status 1 left_quell link set "${name}r" rate 1gbit && says "${name}r: No such device" &&
	ip -n "$left" link property del dev l0 altname "$name"
}

# completes WANT WORD...: completion of the last word in bash; zsh uses the same.
completes()
{
	local want=$1 got
	shift

	got=$(in_netns "$left" bash -c '. "$0" && COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) &&
		_quell && echo "${COMPREPLY[@]}"' "$PWD/../../userspace/completion/quell" "$@")
	[ "$got" = "$want" ] && return 0
	echo "for $*: $got, not $want"
	return 1
}

completion_asks_the_module()
{
	# Bash opens <(...) there; a guest may lack it.
	[ -e /dev/fd ] || ln -s /proc/self/fd /dev/fd
	completes "swift swift_vaisf" quell cc show sw &&
	completes "swift_vaisf" quell flow show cc swift_ &&
	completes "swift swift_vaisf" quell stat sw &&
	completes "base-target beta" quell cc set swift b &&
	completes "beta" quell cc set swift ai 1gbit be &&
	completes "beta" quell cc set swift ai = 1gbit be &&
	completes "" quell cc set swift ai "" &&
	completes "adapt ai" quell cc reset swift beta a &&
	completes "adapt ai" quell -n "$right" cc show swift a
}

# ss names the same socket by the same cookie.
joins_with_ss()
{
	local sk sport

	sk=$(printf 'sk:%x' "$(jq .cookie "$dir/flow")")
	sport=$(jq .sport "$dir/flow")
	cat "$dir/ss"
	grep -E "10\.72\.0\.1:$sport +10\.72\.0\.2:$port" "$dir/ss" | grep -qw "$sk"
}

flow_text()
{
	local number='[0-9.]+' addresses sk

	left_quell flow show -d >"$dir/text"
	cat "$dir/text"
	addresses=$(jq -r '"\(.src):\(.sport) -> \(.dst):\(.dport)"' "$dir/flow")
	sk=$(printf 'sk:%x' "$(jq .cookie "$dir/flow")")
	grep -qxF "$addresses dev l0 $sk" "$dir/text" &&
	grep -qE "^	swift window:[0-9]+b/${number}pkt pacing:[^ ]+ rtt:${number}[mun]?s min-rtt:${number}[mun]?s target:${number}[mun]?s clock:software hops:0 link:10Gbit mss:[0-9]+ inflight:[0-9]+b limited-by:[a-z-]+ (reduction:[a-z]+ reduction-ago:${number}[mun]?s (reduction-rtt:${number}[mun]?s )?)?by:swift by-for:${number}[mu]?s algorithm:${number}[mu]?s\(100\.0%\) search:0\(0\.0%\) cubic:0\(0\.0%\) option:not-offered state:established delivery:${number}[KMG]?bit retrans:[0-9]+/[1-9][0-9]* lost:[0-9]+$" "$dir/text" &&
	grep -qE "^	rtt-samples:[1-9]" "$dir/text" &&
	! grep -E '^	rtt-samples:' "$dir/text" | grep -qE ':0( |$)'
}

# A line of at most 80 columns for each flow, below a heading.
flow_lines()
{
	local number='[0-9.]+' sport lines

	left_quell flow show >"$dir/text"
	cat "$dir/text"
	sport=$(jq .sport "$dir/flow")
	lines=$(left_quell -j flow show | jq length)
	[ "$(wc -l <"$dir/text")" -eq $((lines + 1)) ] &&
	head -n 1 "$dir/text" | grep -qE '^CC +PORT PEER +PKTS +RATE +RTT +TARGET +RETX CUT +BY +LIMIT$' &&
	grep -qE "^swift +$sport 10\.72\.0\.2:$port +$number +${number}[KMG] +${number}[mun]s +${number}[mun]s +${number}[KM]? [a-z-]+ +swift +[a-z]+$" "$dir/text" &&
	! grep -E '.{81}' "$dir/text"
}

# The stack's measurements are those that ss prints of the same socket.
flow_has_diag()
{
	busy_flow 10.72.0.2 &&
	json '.state == "established" and .delivery_bytes_ps > 100000 and
		.sent_segs > 10 and .retrans_segs < .sent_segs and .lost_segs >= 0' "$dir/flow"
}

# The client has two connections, of which one idles.  In front of each filter are the flows that it
# lets through; as lines there is a heading, too.
flow_filter()
{
	local sport

	sport=$(jq .sport "$dir/flow")
	cat >"$dir/table" <<-END
		2 cc swift
		2 dst 10.72.0.0/24 state established dev l0
		2 src 10.72.0.1 dport $port
		1 sport $sport
		0 dst 10.72.0.1
		0 dst fd72::/16
		0 dev lo
		0 state close-wait
		0 sport $sport dport 1
		2 by algorithm
		0 by cubic
		0 by long-path
	END
	cut -d ' ' -f 1 "$dir/table" >"$dir/wanted"
	sed 's/^[0-9]*/flow show/' "$dir/table" >"$dir/filters"
	left_quell -j -batch "$dir/filters" | jq length | diff "$dir/wanted" - &&
	left_quell -batch "$dir/filters" >"$dir/text" && cat "$dir/text" &&
	[ "$(wc -l <"$dir/text")" -eq 14 ]
}

# Both connections are to one network, of each length.
flows_summed()
{
	left_quell flow show -s >"$dir/text" && cat "$dir/text" &&
	grep -qE '^swift +10\.72\.0\.0/24 +2 .* swift 2$' "$dir/text" &&
	left_quell flow show -s prefix 8 dst 10.72.0.0/24 >"$dir/text" && cat "$dir/text" &&
	grep -qE '^swift +10\.0\.0\.0/8 +2 ' "$dir/text" &&
	left_quell -j flow show -s >"$dir/sums" &&
	json 'length == 1 and .[0].cc == "swift" and .[0].flows == 2 and .[0].algorithm == 2 and
		.[0].cubic == 0 and .[0].fallback == {} and .[0].rtt_ns > 0' "$dir/sums"
}

# The one that idles is the last of those sorted by rate, and the first the other way round.
flow_sorted()
{
	left_quell -j flow show sort inflight >"$dir/down" &&
	left_quell -j flow show sort -inflight >"$dir/up" &&
	json '.[0].inflight_bytes > .[1].inflight_bytes' "$dir/down" &&
	json '.[0].inflight_bytes < .[1].inflight_bytes' "$dir/up"
}

# Any user may see them.
flows_of_anyone()
{
	status 0 as_nobody quell -j flow show && json 'length == 2 and all(.sent_segs)' "$dir/out"
}

flows_are_counted()
{
	[ "$(left_quell -j cc show swift | jq '.[0].flows')" -ge 1 ] &&
	[ "$(quell -n "$right" -j cc show swift | jq '.[0].flows')" -eq 0 ]
}

watch_repeats()
{
	left_quell -j flow watch cc swift interval 10ms | head -n 3 >"$dir/watch"
	[ "$(jq -s length "$dir/watch")" -eq 3 ] && json 'length >= 1' "$dir/watch"
}

params_apply_to_flows()
{
	left_quell cc set swift base-target 777us && poll 10 target_is_raised &&
	left_quell cc reset swift base-target
}

target_is_raised()
{
	busy_flow 10.72.0.2 && jq -e '.target_ns >= 777000' "$dir/flow"
}

# One that began out of the box says who governs it, and why it is not the algorithm.
who_governs()
{
	left_quell cc reset swift && start_client 10.72.0.2 && poll 10 says_who_governs
}

says_who_governs()
{
	busy_flow 10.72.0.2 && jq -e '.adapt == "start" or .adapt == "fit" or
		(.adapt == "fallback" and (.fallback | length) > 0)' "$dir/flow" >/dev/null
}

ipv6_flow()
{
	left_quell cc set swift adapt off && start_client fd72::2 && flow_json fd72::1 fd72::2 || return 1
	left_quell -d flow show >"$dir/text"
	cat "$dir/text"
	grep -qE "^\[fd72::1\]:[0-9]+ -> \[fd72::2\]:$port dev l0 sk:" "$dir/text"
}

plan 54
check "without the module: what to do, status 2" no_module
check "without an algorithm: an empty list, and what to do" no_algorithm
check "network, swift on the left" make_network 100mbit
check "cc show prints a table" show_is_text
check "cc show -j is JSON in base units" show_is_json
check "-p only indents" pretty_is_same
check "cc show of one parameter" one_param
check "quell cc shows" verb_may_be_left_out
check "cc set changes two parameters and no third" set_two
check "changed parameters are marked" changes_are_marked
check "other namespaces keep their defaults" others_keep_defaults
check "-n NETNS is ip netns exec NETNS" same_from_inside
check "cc reset of one parameter" reset_one
check "cc reset of all" reset_all
check "printed defaults can be set" column_round_trips default 3
check "printed lower bounds can be set" column_round_trips min 4
check "printed upper bounds can be set" column_round_trips max 5
check "every notation of a value" every_notation
check "name=value is name value" with_equals_signs
bad_values
check "refused: without CAP_NET_ADMIN; showing is allowed" without_rights
check "completion knows algorithms and parameters" completion_asks_the_module
check "no flows is an empty list" no_flows
check "a transfer starts" start_transfer
check "flow show -j describes it" flow_json 10.72.0.1 10.72.0.2
check "its cookie is the one of ss" joins_with_ss
check "with what TCP itself measures" flow_has_diag
check "flow show prints it on a line" flow_lines
check "flow show -d prints all of it" flow_text
check "flow show filters" flow_filter
check "flow show sorts" flow_sorted
check "flow show -s sums them up by network" flows_summed
check "flow show needs no privilege" flows_of_anyone
check "cc show counts flows" flows_are_counted
check "flow watch repeats" watch_repeats
check "a new parameter reaches an open flow" params_apply_to_flows
check "the flow ends" stop_client
check "flow show says who governs the window" who_governs
check "that flow ends, too" stop_client
check "an IPv6 flow has brackets" ipv6_flow
check "link show says the driver's rate" link_of_driver
check "a rate that is named reaches an open flow" link_is_named
check "and is taken back" link_is_reset
check "an interface is found by a name longer than 15 characters" long_name_is_taken
check "it ends too" stop_client
finish
