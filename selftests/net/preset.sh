#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every preset of the quell command on the real modules: what it sets, what cc
# show then calls it, and that a wrong one changes nothing.
#

cd "$(dirname "$0")" || exit 1
. ./lib.sh

netns="" other=""

q()
{
	quell -n "$netns" "$@"
}

preset_without_module()
{
	unload tcp_swift tcp_smartt tcp_timely tcp_dcqcn tcp_dart tcp_hpcc quell &&
	quell -j cc preset >"$dir/presets" &&
	json 'length > 20 and all(.cc and .name and .source and (.set | length) > 2)' \
		"$dir/presets" &&
	status 2 quell cc preset smartt nscc &&
	says "module quell is not loaded \(try: modprobe tcp_smartt\)"
}

preset_of_another_module()
{
	modprobe tcp_swift && status 2 q cc preset smartt nscc &&
	says "smartt is not loaded \(try: modprobe tcp_smartt\)" && not_loaded tcp_smartt &&
	modprobe tcp_smartt && status 0 q cc preset smartt nscc
}

# preset_is CC PRESET: what both forms of cc show say is in force.
preset_is()
{
	local got

	got=$(q -j cc show "$1" | jq -r '.[0].preset')
	q cc show "$1" >"$dir/text"
	head -n 1 "$dir/text"
	[ "$got" = "$2" ] || return 1
	if [ "$2" = null ]; then
		! head -n 1 "$dir/text" | grep preset
	else
		head -n 1 "$dir/text" | grep -qE "^$1: [0-9]+ flows?, preset $2$"
	fi
}

# values CC: name and value of every parameter.
values()
{
	q -j cc show "$1" | jq -c '.[0].params | map({(.name): .value}) | add'
}

# smallest CC: every parameter at its smallest value, as words for cc set.
smallest()
{
	q -j cc show "$1" | jq -r '.[0].params[] | "\(.name) \(.min) \(.unit)"' |
		awk '$3 ~ /q16/ { printf "%s %.6f ", $1, $2 / 65536; next }
			{ printf "%s %d%s ", $1, $2,
				$3 == "ns" ? "ns" : $3 == "bytes-ps" ? "bps" : "" }'
}

# The values of a preset are those of a reset and a set, from wherever it starts.
# shellcheck disable=SC2086 # lists of words
preset_sets_all()
{
	local cc=$1 far last name words

	# Of those named after a network one: a unit test has the ranges of all.
	jq -r ".[] | select(.cc == \"$cc\" and (.name | test(\"^(lan-1g|dc-(10|25|400)g)$\") | not)) |
		\"\(.name) \(.set | to_entries | map(.key, .value) | join(\" \"))\"" \
		"$dir/presets" >"$dir/of_one"
	[ -s "$dir/of_one" ] && modprobe "tcp_$cc" && far=$(smallest "$cc") || return 1
	while read -r name words; do
		echo "$cc $name"
		last=$name
		q cc reset "$cc" && q cc set "$cc" $words && q -j cc show "$cc" >"$dir/want" &&
		q cc set "$cc" $far && q cc preset "$cc" "$name" && q -j cc show "$cc" >"$dir/got" &&
		cmp "$dir/want" "$dir/got" && grep -qF "\"preset\":\"$name\"" "$dir/got" || return 1
	done <"$dir/of_one"
	preset_is "$cc" "$last" && q cc set "$cc" $far && preset_is "$cc" null && q cc reset "$cc"
}

# As Documentation/presets.md has them, in base units.
preset_as_documented()
{
	q cc preset smartt nscc && q -j cc show smartt >"$dir/json" &&
	json '[.[0].params[] | {(.name): .value}] | add | .["target-delay"] == 12000 and
		.fi == 327680 and .pi == 262144 and .["pi-fair"] == 0 and .eta == 9830 and
		.fast == 16384 and .["fast-slack"] == 1000 and .md == 52429 and
		.["md-queueing"] == 1 and .["avg-weight"] == 819 and .["qa-low"] == 8192 and
		.["ignore-marked"] == 1 and .["ignore-trims"] == 1 and .["ignore-delay"] == 0 and .batch == 8 and .["scale-bdp"] == 150000 and
		.["max-window"] == 98304 and .["restart-idle"] == 1000000' "$dir/json"
}

preset_no_longer()
{
	preset_is smartt nscc && q cc set smartt batch 7 && preset_is smartt null &&
	q cc set smartt batch 8 && preset_is smartt nscc &&
	[ "$(quell -n "$other" -j cc show smartt | jq -r '.[0].preset')" = null ]
}

# refused_smartt STATUS PATTERN COMMAND...: and smartt is as it was.
refused_smartt()
{
	local before
	before=$(values smartt)
	status "$1" "${@:3}" && says "$2" && [ -n "$before" ] && [ "$(values smartt)" = "$before" ]
}

nobody=(--reuid 65534 --clear-groups --inh-caps=-all)

preset_without_rights()
{
	refused_smartt 2 "smartt: .*not permitted \(needs CAP_NET_ADMIN\)" \
		in_netns "$netns" setpriv "${nobody[@]}" quell cc preset smartt iii-g-8 &&
	status 0 in_netns "$netns" setpriv "${nobody[@]}" quell cc preset
}

plan 14
new_netns netns other
check "without modules: listed, not set" preset_without_module
check "refused while its algorithm is not loaded" preset_of_another_module
for cc in swift swift_vaisf hpcc hpcc_vaisf timely smartt dcqcn dart; do
	check "presets of $cc: each sets all parameters" preset_sets_all "$cc"
done
check "nscc is as documented" preset_as_documented
check "cc show knows when a preset is no longer in force" preset_no_longer
check "refused: without CAP_NET_ADMIN" preset_without_rights
check "the modules go again" unload tcp_swift tcp_smartt tcp_timely tcp_dcqcn tcp_dart tcp_hpcc quell
finish
