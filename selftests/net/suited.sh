# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Every algorithm there is, on machines that do not keep time well, for the tests that
# source this after lib.sh.

# Delays that an emulated machine can keep; an algorithm without is as it comes.
declare -A suited=(
	[timely]="t-low 50ms t-high 500ms min-rtt 20ms init-rate 20mbit
		min-rate 1mbit delta 2mbit"
	[swift]="base-target 100ms"
	[swift_vaisf]="base-target 100ms ai 500mbit"
	[smartt]="target-delay 100ms"
	[dcqcn]="min-rate 4mbit"
	[dart]="min-rate 4mbit"
)

# load_all: $quell_modules is where they are under run-uml.  The tutorial's, which the
# laboratory builds, too, promises nothing.
load_all()
{
	local path

	modprobe quell || return 1
	for path in "${quell_modules:-/lib/modules/$(uname -r)/updates}"/tcp_*.ko; do
		[ "${path##*/}" != tcp_toy.ko ] || continue
		modprobe "$(basename "$path" .ko)" || return 1
	done
}

algorithms()
{
	quell -j cc show | jq -r '.[].name | select(. != "quell")'
}

# few_algorithms: one of a kind: by delays, by telemetry, with weights of senders, with trimming.
# They have all that TCP can meet of Quell.  With QUELL_ALGORITHMS=all all of them.  Into the array
# of that name.
few_algorithms()
{
	local -n into=$1
	local only="swift|hpcc|dart|smartt"

	[ "${QUELL_ALGORITHMS-}" != all ] || only=".*"
	mapfile -t into <<<"$(algorithms | grep -xE "$only")"
	[ ${#into[@]} -ge 4 ]
}

# suit NETNS ALGORITHM
suit()
{
	local words

	read -ra words -d '' <<<"${suited[$2]-}"
	[ ${#words[@]} -eq 0 ] || quell -n "$1" cc set "$2" "${words[@]}"
}
