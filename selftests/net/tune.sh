#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# quell cc tune against the real modules: where it has the rate and the round trip from, what it
# shows and sets, and that what it sets for the fastest and shortest of networks takes nothing
# from a flow whose path is ordinary: its bulk takes at most 1 / 0.9 of cubic's time.
#
#	$client wire --- west $router east --- wire $server
#	10.85.1.2     10.85.1.1     10.85.2.1     10.85.2.2
#
# shellcheck disable=SC2317,SC2016 # checks are called by name; another shell expands

cd "$(dirname "$0")" || exit 1
# shellcheck source-path=SCRIPTDIR source=lib.sh
. ./lib.sh
# shellcheck source-path=SCRIPTDIR source=talk.sh
. ./talk.sh
# shellcheck source-path=SCRIPTDIR source=routed.sh
. ./routed.sh
# shellcheck source-path=SCRIPTDIR source=suited.sh
. ./suited.sh

sink_port=8501 there=10.85.2.2
serving="" bulk_us=0
dir=$(mktemp -d)
defer rm -rf "$dir"

client_quell()
{
	quell -n "$client" "$@"
}

# All values of an algorithm, as one line.
values()
{
	client_quell -j cc show "$1" | jq -c '.[0].params | map({(.name): .value}) | add'
}

# changes_nothing ALGORITHM COMMAND...: and what it ends with, in $dir/out and $dir/err.
changes_nothing()
{
	local algorithm=$1 before
	shift

	before=$(values "$algorithm")
	"$@" && [ -n "$before" ] && [ "$(values "$algorithm")" = "$before" ]
}

no_rate()
{
	changes_nothing swift status 2 client_quell cc tune swift --dev wire &&
	says "wire: its driver does not report the rate of a link; give it, such as --rate 10gbit" &&
	changes_nothing swift status 2 client_quell cc tune swift --dev wire --rtt 20us --dry-run
}

# shown WORDS... : tune --dry-run of timely, into $dir/out; changes nothing.
shown()
{
	changes_nothing timely status 0 client_quell "$@"
}

dry_run_says_why()
{
	shown cc tune timely --dev wire --rate 1gbit --dry-run && cat "$dir/out" &&
	grep -qx "timely on wire: 1Gbit (given), round trip 100us (assumed, as of lan-1g)" \
		"$dir/out" &&
	grep -qE '^\* t-low +50us +400us +round trip \+ 37500 bytes' "$dir/out" &&
	grep -qE '^\* delta +10Mbit +1Mbit +1/1000 of the line rate \(section 6\)$' "$dir/out" &&
	grep -qE '^  adapt +on +on +on paths unlike this one CUBIC governs$' "$dir/out"
}

dry_run_is_json()
{
	shown -j cc tune timely dev=wire rate=1gbit rtt=40us --dry-run &&
	json '.cc == "timely" and .dev == "wire" and .rate_bytes_ps == 125000000 and
		.rate_from == "given" and .rtt_ns == 40000 and .rtt_from == "given" and
		([.params[] | select(.name == "t-low")] ==
		[{ name: "t-low", unit: "ns", now: 50000, value: 340000,
		   reason: "round trip + 37500 bytes or a fourth (section 6), 50us at least" }])' \
		"$dir/out"
}

dry_run_needs_no_rights()
{
	shown cc tune timely --dev wire --rate 1gbit --dry-run &&
	status 2 in_netns "$client" setpriv --reuid 65534 --clear-groups --inh-caps=-all \
		quell cc tune timely --dev wire --rate 1gbit &&
	says "not permitted \(needs CAP_NET_ADMIN\)" &&
	status 0 in_netns "$client" setpriv --reuid 65534 --clear-groups --inh-caps=-all \
		quell cc tune timely --dev wire --rate 1gbit --dry-run
}

rate_of_link_set()
{
	client_quell link set wire rate 2.5gbit && shown cc tune timely --dev wire --dry-run &&
	grep -q "^timely on wire: 2.5Gbit (quell link set), " "$dir/out" &&
	client_quell link reset wire
}

# What a preset left is gone, and what was shown is set.
sets_what_it_shows()
{
	client_quell cc preset timely hpcc-100g && client_quell cc set timely segment 64kb &&
	shown -j cc tune timely --dev wire --rate 1gbit --dry-run && cp "$dir/out" "$dir/shown" &&
	status 0 client_quell cc tune timely --dev wire --rate 1gbit &&
	[ ! -s "$dir/out" ] && [ ! -s "$dir/err" ] &&
	client_quell -j cc show timely >"$dir/set" &&
	jq -e -n --slurpfile shown "$dir/shown" --slurpfile set "$dir/set" '
		($shown[0].params | map({(.name): .value}) | add) as $new |
		$set[0][0].params | all(.value == ($new[.name] // .default))' &&
	json '.[0].params[0] | .name == "adapt" and .value == 1' "$dir/set" &&
	client_quell cc reset timely
}

unknown()
{
	status 1 client_quell cc tune nosuch --dev wire --rate 1gbit &&
	says "unknown algorithm 'nosuch'" &&
	status 1 client_quell cc tune quell --dev wire --rate 1gbit && says "no rules for 'quell'"
}

# use ALGORITHM
use()
{
	[ -z "$serving" ] || stop "$serving"
	choose_cc "$client" "$1" && choose_cc "$server" "$1" && serve "$server" "$sink_port" sink ||
		return 1
	serving=$started
}

# bulk BYTES: from client to server; how long it took, into $bulk_us.
bulk()
{
	local begin_us

	ordered bulk "open 4" "connect $there $sink_port" || return 1
	begin_us=$((10#${EPOCHREALTIME/.}))
	ask bulk "push $1" && told bulk || return 1
	bulk_us=$((10#${EPOCHREALTIME/.} - begin_us))
}

# The least of the flows is what counts, unless one is given.
measured_round_trip()
{
	local least_ns

	path 1gbit 30us 1000 && use swift && bulk 1000000 || return 1
	least_ns=$(client_quell -j flow show -d | jq '[.[].min_rtt_ns // empty | select(. > 0)] | min')
	status 0 client_quell -j cc tune timely --dev wire --rate 1gbit --dry-run &&
	json ".rtt_ns == $least_ns and .rtt_ns > 60000 and .rtt_ns < 150000 and
		.rtt_from == \"least of 1 flow\"" "$dir/out" &&
	status 0 client_quell -j cc tune timely --dev wire --rate 1gbit --rtt 10us --dry-run &&
	json '.rtt_ns == 10000 and .rtt_from == "given"' "$dir/out" && ordered bulk reset
}

# Paths longer than any datacenter's are no measure of it.
long_paths_do_not_count()
{
	path 1gbit 5ms 1000 && bulk 100000 || return 1
	status 0 client_quell -j cc tune timely --dev wire --rate 1gbit --dry-run &&
	json '.rtt_ns < 5000000 and .rtt_from == "assumed, as of lan-1g"' "$dir/out" &&
	ordered bulk reset
}

# no_slower ALGORITHM RATE DELAY PACKETS BYTES: tuned for 400 Gbit/s over 1 us.
declare -A cubic_us
no_slower()
{
	local key="$2 $3"

	path "$2" "$3" "$4" && use "$1" || return 1
	[ "$1" = cubic ] ||
		client_quell cc tune "$1" --dev wire --rate 400gbit --rtt 1us || return 1
	bulk "$5" && ordered bulk reset || return 1
	[ "$1" != cubic ] || cubic_us[$key]=$bulk_us
	note "$1 over $key: $bulk_us us, cubic ${cubic_us[$key]} us" >&3
	[ $((bulk_us * 9)) -le $((cubic_us[$key] * 10)) ]
}

# completes WANT WORD...: what a tab offers for the last word, in bash; zsh asks the same.
completes()
{
	local want=$1 got
	shift

	got=$(in_netns "$client" bash -c '. "$0" && COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) &&
		_quell && echo "${COMPREPLY[@]}"' "$PWD/../../userspace/completion/quell" "$@")
	[ "$got" = "$want" ] && return 0
	echo "for $*: $got, not $want"
	return 1
}

completion_asks_the_module()
{
	# What bash substitutes for <(...); a guest may lack it.
	[ -e /dev/fd ] || ln -s /proc/self/fd /dev/fd
	completes "swift swift_vaisf" quell cc show sw &&
	completes "swift swift_vaisf" quell cc tune sw &&
	completes "swift_vaisf" quell flow show cc swift_ &&
	completes "dart" quell stat da &&
	completes "base-target beta" quell cc set swift b &&
	completes "beta" quell cc set swift ai 1gbit be &&
	completes "beta" quell cc set swift ai = 1gbit be &&
	completes "" quell cc set swift ai "" &&
	completes "adapt ai" quell cc reset swift beta a &&
	completes "adapt ai" quell -n "$router" cc show swift a &&
	completes "wire" quell cc tune swift --dev wi
}

exec 3>&1
if ! { routed_network 85 && packets && load_all && talker bulk "$client"; }; then
	plan 1
	fail "two hosts and a router"
	exit 1
fi
all=()
read -ra all -d "" <<<"$(algorithms)"
# Whatever has no signal of its own here is CUBIC there.
far=(cubic swift swift_vaisf timely) wan=(cubic swift timely hpcc)
plan $((10 + 1 + ${#all[@]} + ${#far[@]} + ${#wan[@]}))
check "no rate of a line: say so, and set nothing" no_rate
check "what would be set, and why" dry_run_says_why
check "the same as JSON" dry_run_is_json
check "to look takes no privilege" dry_run_needs_no_rights
check "the rate that was set for the interface" rate_of_link_set
check "set: what was shown, and defaults" sets_what_it_shows
check "refused: what has no rules" unknown
check "completion knows algorithms and parameters" completion_asks_the_module
check "the least round trip of flows" measured_round_trip
check "but of no long path" long_paths_do_not_count
for algorithm in cubic "${all[@]}"; do
	check "tuned, on a LAN: $algorithm" no_slower "$algorithm" 1gbit 25us 300 2000000
done
for algorithm in "${far[@]}"; do
	check "tuned, 210 us away: $algorithm" no_slower "$algorithm" 1gbit 100us 300 2000000
done
for algorithm in "${wan[@]}"; do
	check "tuned, an uplink of 20 Mbit/s: $algorithm" no_slower "$algorithm" 20mbit 2ms 100 \
		500000
done
finish
