#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What the quell command would never send: every refusal of the kernel names
# what is wrong, and nothing has changed after it.
# shellcheck disable=SC2046,SC2086 # words of requests

cd "$(dirname "$0")" || exit 1
. ./lib.sh

# Numbers of include/uapi/linux/quell.h: commands, then attributes.
cc_get=1 cc_set=2 cc_reset=3 stat_get=5
cc_name=1 cc_param=2 param_name=2 param_value=3 param_default=4 stat_name=1
netns=""

nl()
{
	in_netns "$netns" quell_nl "$@"
}

params()
{
	in_netns "$netns" quell -j cc show swift
}

# parameter NAME [VALUE-ATTRIBUTE]: the words of one parameter.
parameter()
{
	echo "$cc_param:{ $param_name:s:$1 ${2:+$param_value:$2} }"
}

# answered PATTERN REQUEST...: by a refusal that matches.
answered()
{
	local pattern=$1 answer
	shift

	answer=$(nl request "$@")
	[ $? -eq 1 ] || {
		echo "accepted: $*"
		return 1
	}
	echo "$answer"
	grep -qE "^$pattern" <<<"$answer"
}

# changes_nothing COMMAND...: it succeeds.
changes_nothing()
{
	params >"$dir/before"
	"$@" && params | cmp - "$dir/before"
}

refused()
{
	changes_nothing answered "$@"
}

accepted_is_in_force()
{
	nl request $cc_set $cc_name:s:swift $(parameter beta u64:30000) &&
	params >"$dir/params" &&
	json '.[0].params[] | select(.name == "beta") | .value == 30000' "$dir/params"
}

# One value beyond each end that a parameter has.
beyond_the_range()
{
	local name value

	params | jq -r '.[0].params[] |
		(select(.min > 0) | "\(.name) \(.min - 1)"),
		(select(.max < 9007199254740991) | "\(.name) \(.max + 1)")' \
		>"$dir/beyond"
	[ "$(wc -l <"$dir/beyond")" -ge 10 ] || return 1
	while read -r name value; do
		answered "ERANGE: $name: allowed are [0-9]+\.\.[0-9]+" $cc_set \
			$cc_name:s:swift $(parameter "$name" "u64:$value") || return 1
	done <"$dir/beyond"
}

# The good one comes first.
half_good()
{
	refused "ENOENT: swift has no parameter gamma" $cc_set $cc_name:s:swift \
		$(parameter beta u64:20000) $(parameter gamma u64:1)
}

# reject NAME PATTERN REQUEST...
reject()
{
	check "refused: $1" refused "${@:2}"
}

refusals()
{
	reject "no algorithm" "EINVAL: name of the algorithm is missing" \
		$cc_set $(parameter beta u64:1)
	reject "an algorithm that is not there" "ENOENT: algorithm reno is not" \
		$cc_set $cc_name:s:reno $(parameter beta u64:1)
	reject "an algorithm that is not there, to show" "ENOENT: algorithm reno" \
		$cc_get $cc_name:s:reno
	reject "a set without parameters" "EINVAL: no parameter given" \
		$cc_set $cc_name:s:swift
	reject "a parameter without name" "EINVAL: name of the parameter is missing" \
		$cc_set $cc_name:s:swift "$cc_param:{" $param_value:u64:1 "}"
	reject "a parameter without value" "EINVAL: beta: value is missing" \
		$cc_set $cc_name:s:swift $(parameter beta)
	reject "an unknown parameter" "ENOENT: swift has no parameter gamma" \
		$cc_set $cc_name:s:swift $(parameter gamma u64:1)
	reject "an unknown parameter, to reset" "ENOENT: swift has no parameter gamma" \
		$cc_reset $cc_name:s:swift $(parameter gamma)
	reject "a value of 32 bits" "(EINVAL|ERANGE): .+" \
		$cc_set $cc_name:s:swift $(parameter beta u32:1)
	reject "a value of three bytes" "(EINVAL|ERANGE): .+" \
		$cc_set $cc_name:s:swift $(parameter beta x:010203)
	reject "a name without an end" "EINVAL: .+" \
		$cc_set $cc_name:x:7377696674 $(parameter beta u64:1)
	reject "a name of 16 letters" "(EINVAL|ERANGE): .+" \
		$cc_set $cc_name:s:swiftswiftswiftt $(parameter beta u64:1)
	reject "a parameter that is no nest" "(EINVAL|ERANGE): .+" \
		$cc_set $cc_name:s:swift $cc_param:s:beta
	reject "a default to set" "EINVAL: .+" $cc_set $cc_name:s:swift \
		"$cc_param:{" $param_name:s:beta $param_value:u64:1 $param_default:u64:1 "}"
	reject "an attribute to a dump of all" "EINVAL: .+" $stat_get dump $stat_name:s:swift
	reject "an unknown attribute" "EINVAL: .+" \
		$cc_set $cc_name:s:swift $(parameter beta u64:1) 30:u64:1
	reject "an unknown command" "EOPNOTSUPP" 99 $cc_name:s:swift
}

misspelled_sysctl()
{
	refuses "No such file" in_netns "$netns" \
		sysctl -w net.ipv4.tcp_congestion_control=swiftt &&
	[ "$(cc_of "$netns")" != swiftt ]
}

# Nothing to get wrong: parameters are per namespace, by netlink.
no_module_parameters()
{
	local module

	for module in quell tcp_swift sch_swport; do
		modinfo -F filename "$module" && [ -z "$(modinfo -F parm "$module")" ] ||
			return 1
	done
}

# Some are good.  The kernel log is judged at the end of the run.
fuzz()
{
	nl fuzz "$1" 3000 >"$dir/fuzz" && cat "$dir/fuzz" &&
	grep -q 'accepted [1-9]' "$dir/fuzz" && params >"$dir/params" &&
	json '.[0].params | length > 5 and
		all(.value >= .min and .value <= .max)' "$dir/params"
}

reset_restores()
{
	nl request $cc_reset $cc_name:s:swift && params >"$dir/params" &&
	json 'all(.[0].params[]; .value == .default)' "$dir/params"
}

plan 26
modprobe tcp_swift
new_netns netns
check "a good request is accepted and in force" accepted_is_in_force
refusals
check "refused: one beyond each end of each range" changes_nothing beyond_the_range
check "refused: a good parameter beside a bad one, and neither is set" half_good
check "refused: a misspelled algorithm for sysctl" misspelled_sysctl
check "modules take no parameters" no_module_parameters
for seed in 1 2 3; do
	check "fuzzed requests, seed $seed: all answered, values in range" fuzz $seed
done
check "a reset brings the defaults back" reset_restores
finish
