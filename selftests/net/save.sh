#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# quell save, restore and sync: all settings of a namespace go to a file and come back, a wrong
# file changes nothing, what the kernel refuses is taken back.
#
# shellcheck disable=SC2317 # the checks are called by name

cd "$(dirname "$0")" || exit 1
# shellcheck source-path=SCRIPTDIR source=lib.sh
. ./lib.sh

netns="" other=""
dir=$(mktemp -d)
defer rm -rf "$dir"
modules="tcp_swift tcp_smartt tcp_timely tcp_dcqcn tcp_dart tcp_hpcc"

q()
{
	quell -n "$netns" "$@"
}

# All that the command shows of settings, as one text.
state()
{
	cc_of "$1"
	quell -n "$1" -j cc show | jq -c 'map({name, params: (.params | map([.name, .value]))})'
	quell -n "$1" -j link show | jq -c 'map([.dev, .rate_bytes_ps])'
	quell -n "$1" -j sender show | jq -c 'map([.dev, (.senders | map([.address, .weight]))])'
	quell -n "$1" -j lookahead show | jq -c 'sort_by(.name)'
	quell -n "$1" -j hwtstamp show | jq -c 'map([.dev, .rx])'
}

without_module()
{
	# shellcheck disable=SC2086 # words
	unload $modules quell && status 2 q save && says "module quell is not loaded" &&
	echo "[swift]" >"$dir/file" && status 2 q restore "$dir/file" && says "is not loaded"
}

make_hosts()
{
	local module

	for module in $modules; do
		modprobe "$module" || return 1
	done
	new_netns netns && new_netns other && cable "$netns" n0 "$other" o0 &&
	ip -n "$netns" addr add 10.73.0.1/24 dev n0 && ip -n "$other" addr add 10.73.0.2/24 dev o0 &&
	ip -n "$netns" link add '#[a]\#' type dummy && allow_cc swift
}

fresh_is_empty()
{
	status 0 q save && state "$netns" >"$dir/fresh" &&
	[ "$(grep -v '^#' "$dir/out" | grep .)" = "$(printf '[namespace]\ncongestion-control = %s' \
		"$(cc_of "$netns")")" ]
}

change_all()
{
	q cc set swift base-target 50us beta 0.5 && q cc set quell option 1 && q cc preset smartt nscc &&
	q cc set dart lookahead 2ms && q link set n0 rate 25gbit && q link set '#[a]\#' rate 1gbit &&
	q sender weight 10.73.0.2 4 && q sender weight fd00::1 255 dev n0 &&
	q lookahead add workers dev n0 time 500us 10.73.0.2 fd00::2 10.73.0.4 10.73.0.5 10.73.0.6 &&
	q lookahead add 'a]#b' dev n0 10.73.0.9 && choose_cc "$netns" swift &&
	state "$netns" >"$dir/changed" && ! cmp -s "$dir/fresh" "$dir/changed"
}

save_is_readable()
{
	status 0 q save "$dir/saved" && [ ! -s "$dir/out" ] && cat "$dir/saved" &&
	grep -qx 'base-target = 50us' "$dir/saved" && grep -qx 'preset = nscc' "$dir/saved" &&
	grep -qx 'rate = 25Gbit' "$dir/saved" && grep -qx 'weight fd00::1 = 255' "$dir/saved" &&
	grep -qxF '[dev \x23\x5ba\x5d\x5c\x23]' "$dir/saved" &&
	! grep -q '^ai' "$dir/saved" && [ "$(wc -l <"$dir/saved")" -lt 45 ] &&
	q -d save >"$dir/all" && grep -qE '^# ai = ' "$dir/all"
}

restore_changes_nothing()
{
	local file

	for file in "$dir/saved" "$dir/all"; do
		status 0 q restore "$file" && [ ! -s "$dir/out" ] && [ ! -s "$dir/err" ] &&
		status 0 q sync "$file" && [ ! -s "$dir/out" ] || return 1
	done
	state "$netns" | cmp - "$dir/changed"
}

# The first file is of the fresh namespace: sync goes back to it, says so, and so does the next.
sync_to_fresh()
{
	q save >"$dir/before" &&
	printf '[namespace]\ncongestion-control = %s\n' cubic >"$dir/none" &&
	status 0 q sync --dry-run "$dir/none" && state "$netns" | cmp - "$dir/changed" &&
	cp "$dir/out" "$dir/dry" && status 0 q sync "$dir/none" && cat "$dir/out" &&
	cmp "$dir/dry" "$dir/out" && grep -qx 'swift base-target: 50us -> 0ns' "$dir/out" &&
	grep -qx 'dev n0 rate: 25Gbit -> default' "$dir/out" &&
	grep -qx 'dev n0 weight 10.73.0.2: 4 -> 1' "$dir/out" &&
	grep -qxF 'lookahead workers group: dev n0, time 500us, 5 members -> none' "$dir/out" &&
	grep -qx 'namespace congestion-control: swift -> cubic' "$dir/out" &&
	[ "$(q -j link show | jq -c 'map(.rate_bytes_ps) | unique')" != '[125000000]' ] &&
	[ "$(q -j lookahead show)" = "[]" ] && status 0 q sync "$dir/none" && [ ! -s "$dir/out" ]
}

restore_all()
{
	status 0 q -j restore "$dir/saved" &&
	json 'length > 10 and all(.section and .setting and .from != .to) and
		any(.section == "swift" and .setting == "beta" and .to == "0.5")' "$dir/out" &&
	is_as_it_was && q save | cmp - "$dir/saved"
}

# Only what a file names; one of two members, and the default of one parameter.
restore_part()
{
	printf '[swift]\r\nbeta = default # as it was\r\n\n[lookahead workers]\ndev = n0\n%s\n' \
		"members = 10.73.0.2" | status 0 q restore - && cat "$dir/out" &&
	[ "$(wc -l <"$dir/out")" -eq 2 ] && grep -qx 'swift beta: 0.5 -> 0.8' "$dir/out" &&
	grep -qF 'workers group: dev n0, time 500us, 5 members -> dev n0, time 2ms, 1 members' \
		"$dir/out" &&
	status 0 q restore "$dir/saved" && is_as_it_was
}

# wrong LINE PATTERN TEXT [STATUS]: refused with that line and pattern on stderr.
wrong()
{
	local line=$1 pattern=$2 verb

	# Good settings in front of it, which must not be made.
	printf '[swift]\nai = 3mbit\n[dev n0]\nrate = 3gbit\nweight 10.73.0.2 = 9\n%b' "$3" >"$dir/wrong"
	for verb in ${verbs:-restore}; do
		q "$verb" "$dir/wrong" >"$dir/out" 2>"$dir/err"
		[ $? -eq "${4:-1}" ] || { echo "status of $verb: $3"; cat "$dir/err"; return 1; }
		cat "$dir/err"
		if ! grep -qE "^quell: $dir/wrong:$line: .*$pattern" "$dir/err" || [ -s "$dir/out" ]; then
			echo "$verb: no line $line: $pattern"
			return 1
		fi
	done
}

is_as_it_was()
{
	state "$netns" >"$dir/now" && diff "$dir/now" "$dir/changed"
}

wrong_files()
{
	local verbs="restore sync"

	wrong 6 "neither" 'frob\n' &&
	wrong 6 "unknown algorithm 'frob'" '[frob]\n' && verbs=restore &&
	wrong 6 "unknown section" '[link n0]\n' &&
	wrong 7 "no setting 'frob'" '[namespace]\nfrob = 1\n' &&
	wrong 7 "no parameter 'frob'" '[hpcc]\nfrob = 1\n' &&
	wrong 7 "out of range" '[hpcc]\neta = 2\n' &&
	wrong 7 "no unit|no suffix|unit" '[dart]\nlookahead = 5\n' &&
	wrong 7 "has no preset 'frob'" '[hpcc]\npreset = frob\n' &&
	wrong 8 "given twice, first in line 7" '[hpcc]\neta = 0.9\neta = 0.9\n' &&
	wrong 6 "given twice, first in line 1" '[swift]\n' &&
	wrong 6 "nosuch: No such device" '[dev nosuch]\n' &&
	wrong 6 "no setting 'frob'" 'frob = 1\n' &&
	wrong 7 "out of range" '[dev lo]\nrate = 2tbit\n' &&
	wrong 7 "cannot stamp" '[dev lo]\nstamps = on\n' &&
	wrong 7 "neither on nor off" '[dev lo]\nstamps = perhaps\n' &&
	wrong 7 "not the address of a host" '[dev lo]\nweight 224.0.0.1 = 2\n' &&
	wrong 7 "out of range 1 .. 255" '[dev lo]\nweight 10.0.0.1 = 256\n' &&
	wrong 6 "given twice" 'weight ::ffff:10.73.0.2 = 7\n' &&
	wrong 6 "there are none" '[lookahead x]\n' &&
	wrong 7 "no address" '[lookahead x]\nmembers = a\n' &&
	wrong 7 "given twice" '[lookahead x]\nmembers = 10.0.0.1 10.0.0.1\n' &&
	wrong 6 "over 0 and at most 1s" '[lookahead x]\ntime = 2s\nmembers = 10.73.0.2\n' &&
	wrong 8 "over 0 and at most 1s" \
		'[dart]\nlookahead = 0ns\n[lookahead x]\nmembers = 10.73.0.2\n' &&
	wrong 6 "no ':'" '[lookahead a:b]\nmembers = 10.0.0.1\n' &&
	wrong 7 "'frob' is not loaded" '[namespace]\ncongestion-control = frob\n' &&
	wrong 7 "not in the host's" '[namespace]\ncongestion-control = timely\n' &&
	wrong 6 "control character 0x1b" '\033[2J\n' &&
	wrong 6 'unknown algorithm .\\x1b\[2J' '[\\x1b\\x5b2J]\n' &&
	wrong 6 "control character 0x00" '\0[hpcc]\n' && is_as_it_was
}

# An algorithm that is not loaded: status 2, as everywhere.
module_is_missing()
{
	unload tcp_timely && state "$netns" >"$dir/changed" &&
	wrong 6 "timely is not loaded \(try: modprobe tcp_timely\)" '[timely]\n' 2 && is_as_it_was &&
	modprobe tcp_timely && state "$netns" >"$dir/now" &&
	mv "$dir/now" "$dir/changed"
}

# The 65th group of a user is one too many for the kernel, and known to it alone.  The time of one
# needs a higher limit meanwhile.
kernel_refuses()
{
	local i

	printf '[lookahead long]\ndev = n0\ntime = 1s\nmembers = 10.73.0.2\n' >"$dir/many"
	for ((i = 0; i < 62; i++)); do
		printf '[lookahead g%d]\ndev = n0\nmembers = 10.73.0.2\n' "$i"
	done >>"$dir/many"
	printf '[namespace]\ncongestion-control = cubic\n[swift]\nai = 3mbit\n[dev n0]\nrate = 1gbit\n' \
		>>"$dir/many"
	status 2 q restore "$dir/many" && says "too many groups" && says "no setting is changed" &&
	is_as_it_was
}

# comes_back: what is set goes to a file, to the defaults, and back from the file
comes_back()
{
	state "$netns" >"$dir/before" && status 0 q save "$dir/file" && status 0 q sync "$dir/none" &&
	! state "$netns" | cmp -s - "$dir/before" && status 0 q restore "$dir/file" &&
	cat "$dir/err" && state "$netns" | diff "$dir/before" - && q save | cmp - "$dir/file"
}

# A group stays when its limit is lowered: its time is saved as it is, and what that counts is said.
groups_above_their_limit()
{
	local most

	q sync "$dir/none" >"$dir/out" && q lookahead add late dev n0 time 700us 10.73.0.3 &&
	for most in 500us 0ns; do
		q cc set dart lookahead "$most" && comes_back && grep -qx 'time = 700us' "$dir/file" &&
		grep -q "time: 700us counts as $most" "$dir/err" && status 0 q restore "$dir/file" &&
		[ ! -s "$dir/out" ] || return 1
	done
}

# ends MIN|MAX: names and that end of the range of all parameters, but of those that others limit.
set_to_ends()
{
	local algo name value

	q -j cc show | jq -r '.[].name' | while read -r algo; do
		q cc show "$algo" | awk -v end="$1" '{
			for (i = 3; i < NF; i++)
				if ($i == "..")
					print $(1 + ($1 == "*")), $(i + (end == "MAX" ? 1 : -1))
		}' | while read -r name value; do
			q cc set "$algo" "$name" "$value" 2>>"$dir/refused" && echo "$algo $name"
		done
	done
}

settings_at_their_ends()
{
	local end

	for end in MIN MAX; do
		q sync "$dir/none" >"$dir/out" && set_to_ends "$end" >"$dir/set" &&
		[ "$(wc -l <"$dir/set")" -ge 100 ] && cat "$dir/refused" && comes_back || return 1
	done
	q sync "$dir/none" >"$dir/out" && q link set n0 rate 1tbit && q sender weight fd00::1 255 dev n0 &&
	q cc set dart lookahead 1s && q lookahead add "$(printf '~%.0s' {1..31})" dev n0 time 1ns \
		10.73.0.9 && comes_back && q restore "$dir/saved" >"$dir/out" &&
	q lookahead del "$(printf '~%.0s' {1..31})" && is_as_it_was
}

unreadable_files()
{
	status 1 q restore "$dir/nosuch" && says "No such file" && status 2 q restore "$dir" &&
	says "Is a directory"
}

save_keeps_files()
{
	ln -s saved "$dir/link" && chmod 640 "$dir/saved" && q save "$dir/link" && [ -L "$dir/link" ] &&
	[ "$(stat -c %a "$dir/saved")" = 640 ] && status 2 q save /dev/full &&
	says "/dev/full: No space left" && [ -c /dev/full ] &&
	status 2 q save "$dir/nosuch/file" && [ "$(find "$dir" -name 'saved.*' | wc -l)" -eq 0 ]
}

# Of another user, where all may put files: he would have what is saved, and say what is restored.
others_files_are_refused()
{
	local all=$dir/everybody

	mkdir "$all" && chmod 1777 "$all" && cp "$dir/saved" "$all/settings" &&
	chown 65534 "$all/settings" && chmod 666 "$all/settings" &&
	status 1 q save "$all/settings" && says "is another user's" &&
	status 1 q restore "$all/settings" && says "is another user's" &&
	ln -s everybody/settings "$dir/to" && status 1 q save "$dir/to" && says "is another user's" &&
	cmp "$dir/saved" "$all/settings" && chown 0 "$all/settings" && status 0 q save "$all/settings" &&
	status 0 q restore "$all/settings"
}

# Any user may save; a group of one's own is all that one may restore.
of_other_users()
{
	chmod 755 "$dir" && chmod 644 "$dir/saved" &&
	status 0 in_netns "$netns" setpriv --reuid 65534 --clear-groups --inh-caps=-all quell save &&
	grep -qx 'base-target = 50us' "$dir/out" && ! grep -q workers "$dir/out" &&
	printf '[swift]\nbeta = 0.7\n' >"$dir/file" &&
	status 2 in_netns "$netns" setpriv --reuid 65534 --clear-groups --inh-caps=-all \
		quell restore "$dir/file" && says "needs CAP_NET_ADMIN" &&
	printf '[lookahead mine]\ndev = n0\nmembers = 10.73.0.2\n' >"$dir/file" &&
	status 0 in_netns "$netns" setpriv --reuid 65534 --clear-groups --inh-caps=-all \
		quell restore "$dir/file" && q save | cmp - "$dir/saved" &&
	status 0 q sync "$dir/saved" && q -j lookahead show | jq -e 'any(.name == "mine")' &&
	q lookahead del mine uid 65534
}

routes()
{
	ip -n "$netns" -N -4 route show table all type unicast
	ip -n "$netns" -N -6 route show table all type unicast | sed 's/ expires [0-9]*sec//'
}

# Of each kind that is put back in a way of its own: metrics, several hops, IPv6; and of those that
# are left alone: of a hop that is an object, with an end, of an algorithm that is not Quell's.
make_routes()
{
	ip -n "$netns" addr add fd73::1/64 dev n0 nodad &&
	ip -n "$netns" route add 10.90.0.0/16 via 10.73.0.2 dev n0 proto 99 mtu 1400 \
		advmss 1000 congctl swift &&
	ip -n "$netns" route add 10.90.0.0/16 via 10.73.0.2 dev n0 metric 100 table 7 \
		congctl lock swift &&
	ip -n "$netns" route add 10.91.0.0/16 congctl swift nexthop via 10.73.0.2 dev n0 weight 3 \
		nexthop via 10.73.0.3 dev n0 onlink &&
	ip -n "$netns" nexthop add id 9 via 10.73.0.2 dev n0 &&
	ip -n "$netns" route add 10.92.0.0/16 nhid 9 congctl swift &&
	ip -n "$netns" route add fd90::/16 via fd73::2 dev n0 metric 50 congctl swift &&
	ip -n "$netns" route add fd91::/16 via fd73::2 dev n0 congctl swift expires 3600 &&
	ip -n "$netns" route add 10.93.0.0/16 via 10.73.0.2 dev n0 metric 100 &&
	ip -n "$netns" route add 10.94.0.0/16 via 10.73.0.2 dev n0 congctl cubic &&
	routes >"$dir/routes" && grep -c 'congctl.* swift' "$dir/routes" | grep -qx 6
}

# Nothing but the algorithm of a route changes; others than Quell's stay, and routes that are not to
# be changed.
routes_come_back()
{
	make_routes && q save >"$dir/with" && cat "$dir/with" &&
	grep -qx '10.90.0.0/16 dev n0 metric 100 table 7 = swift' "$dir/with" &&
	grep -qx '10.91.0.0/16 = swift' "$dir/with" && ! grep -qE '^(fd91|10.92)' "$dir/with" &&
	status 0 q sync "$dir/saved" &&
	grep -qx 'routes fd90::/16 dev n0 metric 50: swift -> default' "$dir/out" &&
	sed -E '/^(fd91|10.92)/! s/ congctl (lock )?swift//' "$dir/routes" >"$dir/without" &&
	routes | diff "$dir/without" - &&
	status 0 q restore "$dir/with" && [ "$(wc -l <"$dir/out")" -eq 4 ] &&
	sed 's/congctl lock/congctl/' "$dir/routes" >"$dir/unlocked" &&
	routes | diff "$dir/unlocked" - &&
	status 0 q restore "$dir/with" && [ ! -s "$dir/out" ]
}

# restore_route LINE: status 0, and what is said
restore_route()
{
	printf '[routes]\n%s\n' "$1" >"$dir/file" && status 0 q restore "$dir/file"
}

# The kernel would replace a blackhole by the route behind it, of the same metric; and none of two
# is saved that cannot be told apart in a file.
blackholes_stay()
{
	ip -n "$netns" route add blackhole 10.96.0.0/16 metric 5 &&
	ip -n "$netns" route append 10.96.0.0/16 via 10.73.0.2 dev n0 metric 5 congctl swift &&
	ip -n "$netns" route show >"$dir/black" && restore_route '10.96.0.0/16 = cubic' &&
	says 'cannot distinguish it' && ip -n "$netns" route show | diff "$dir/black" - &&
	q save >"$dir/with" && ! grep 10.96 "$dir/with" &&
	ip -n "$netns" route del blackhole 10.96.0.0/16 metric 5 &&
	ip -n "$netns" route del 10.96.0.0/16 metric 5
}

# The kernel does not put back a route with a hop whose interface is down: no change is told.
routes_kept_are_no_changes()
{
	ip -n "$netns" link add n9 type dummy && ip -n "$netns" link set n9 up &&
	ip -n "$netns" addr add 10.79.0.1/24 dev n9 &&
	ip -n "$netns" route add 10.97.0.0/16 nexthop via 10.73.0.2 dev n0 \
		nexthop via 10.79.0.2 dev n9 && ip -n "$netns" link set n9 down &&
	ip -n "$netns" route show 10.97.0.0/16 | grep -q . &&
	restore_route '10.97.0.0/16 = swift' && says '10.97.0.0/16' && [ ! -s "$dir/out" ] &&
	! ip -n "$netns" route show 10.97.0.0/16 | grep swift && ip -n "$netns" link del n9
}

# No route is made, none is changed that the kernel would take for another.
routes_are_those_there_are()
{
	restore_route '10.95.0.0/16 = swift' && says 'file:2: .*there is no such route' &&
	[ ! -s "$dir/out" ] && ! routes | grep 10.95 &&
	restore_route '10.93.0.0/16 dev n0 metric 7 = swift' && says 'there is no such route' &&
	restore_route '10.93.0.0/16 = swift' &&
	routes | grep -qE '^10.93.0.0/16 via 10.73.0.2 dev n0 .*metric 100 congctl swift' &&
	restore_route '10.93.0.0/16 table main = default' &&
	ip -n "$netns" route append 10.93.0.0/16 via 10.73.0.3 dev n0 metric 100 &&
	routes >"$dir/two" && restore_route '10.93.0.0/16 = swift' && says 'cannot distinguish it' &&
	routes | diff "$dir/two" - && blackholes_stay &&
	wrong 7 "is no network" '[routes]\n10.90.0.0/33 = swift\n' &&
	wrong 7 "is no network" '[routes]\nten = swift\n' &&
	wrong 7 "none of dev, metric" '[routes]\n10.90.0.0/16 hop 1 = swift\n' &&
	wrong 7 "nothing behind 'dev'" '[routes]\n10.90.0.0/16 dev = swift\n' &&
	wrong 7 "metric: .*out of range" '[routes]\ndefault metric -1 = swift\n' &&
	wrong 7 "'frob' is not loaded" '[routes]\n10.90.0.0/16 = frob\n' &&
	wrong 8 "given twice, first in line 7" \
		'[routes]\n10.94.0.0/16 = swift\n10.94.0.0/16 dev n0 = cubic\n' &&
	routes | diff "$dir/two" - && ip -n "$netns" route flush proto 99 &&
	ip -n "$netns" nexthop flush && is_as_it_was
}

# The kernel then reports no name, and of "congctl lock" the lock alone, which crashes ip route show
# of iproute2 6.1.0 and 7.3.0.
routes_of_unloaded()
{
	modprobe tcp_timely && ip -n "$netns" route add 10.98.0.0/16 via 10.73.0.2 dev n0 \
		congctl lock timely && ip -n "$netns" route add fd98::/16 via fd73::2 dev n0 \
		congctl lock timely && ip -n "$netns" route add 10.99.0.0/16 via 10.73.0.2 dev n0 \
		congctl timely && unload tcp_timely &&
	status 0 q save "$dir/with" && ! grep -E '10.9[89]|fd98' "$dir/with" &&
	status 0 q sync "$dir/with" && [ ! -s "$dir/out" ] && [ ! -s "$dir/err" ] &&
	restore_route '10.98.0.0/16 = swift' && ip -n "$netns" route show 10.98.0.0/16 &&
	ip -n "$netns" route show 10.98.0.0/16 | grep -q 'congctl lock swift' &&
	restore_route '10.98.0.0/16 = default' && ip -n "$netns" route show 10.98.0.0/16 &&
	{ q -j doctor >"$dir/out"; json length "$dir/out"; } &&
	modprobe tcp_timely &&
	ip -n "$netns" route show 10.99.0.0/16 | grep -q 'congctl timely' &&
	ip -n "$netns" -6 route show fd98::/16 | grep -q 'congctl lock timely' &&
	ip -n "$netns" route del 10.98.0.0/16 && ip -n "$netns" route del 10.99.0.0/16 &&
	ip -n "$netns" route del fd98::/16
}

# The initial namespace's default, whatever the one has that it is made in.
new_namespaces_have_the_initial_default()
{
	choose_cc "$netns" swift &&
	[ "$(in_netns "$netns" unshare -n cat /proc/sys/net/ipv4/tcp_congestion_control)" = \
		"$(cat /proc/sys/net/ipv4/tcp_congestion_control)" ] && [ "$(cc_of "$netns")" = swift ]
}

other_is_untouched()
{
	quell -n "$other" save >"$dir/out" && ! grep -q '\[swift\]' "$dir/out" &&
	quell -n "$other" restore --dry-run "$dir/out" >"$dir/err" && [ ! -s "$dir/err" ]
}

has_no_leak()
{
	local verb

	for verb in "restore $dir/wrong" "sync --dry-run $dir/none"; do
		# shellcheck disable=SC2086 # words
		q_clean $verb || { echo "$verb"; cat "$dir/err"; return 1; }
	done
}

q_clean()
{
	in_netns "$netns" valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=all \
		--errors-for-leak-kinds=all quell "$@" >"$dir/out" 2>"$dir/err"
	[ $? -le 1 ]
}

plan 25
new_netns netns
check "without the module" without_module
check "two hosts, all modules" make_hosts
check "a fresh namespace has nothing to save but its algorithm" fresh_is_empty
check "every kind of setting is changed" change_all
check "save: what differs, with -d all" save_is_readable
check "restore and sync of what is: nothing" restore_changes_nothing
check "sync: back to the defaults, and says so; --dry-run says the same and does nothing" sync_to_fresh
check "restore: all of it comes back" restore_all
check "restore: what a file does not name stays" restore_part
check "wrong files change nothing, and are refused with their line" wrong_files
check "an algorithm that is not loaded" module_is_missing
check "what the kernel refuses is taken back" kernel_refuses
check "groups whose time is above their limit come back" groups_above_their_limit
check "whatever can be set comes back" settings_at_their_ends
check "missing and unreadable files" unreadable_files
check "save keeps links and modes, writes into devices, leaves no file behind" save_keeps_files
check "what another user has put in a directory for all is refused" others_files_are_refused
check "users without privilege" of_other_users
check "routes: their algorithm goes and comes back, all else stays" routes_come_back
check "routes: what the kernel keeps is no change" routes_kept_are_no_changes
check "routes: none is made, none that is ambiguous is changed" routes_are_those_there_are
check "routes: an algorithm that is unloaded" routes_of_unloaded
check "the default of a new namespace" new_namespaces_have_the_initial_default
check "the other namespace is as it was" other_is_untouched
if command -v valgrind >/dev/null; then
	check "valgrind finds nothing" has_no_leak
else
	skip "valgrind finds nothing" "no valgrind"
fi
finish
