# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Common parts of the network tests.  A test sources this, calls plan N, makes
# N checks and ends with "finish".  Commands given to defer undo its set-up, last
# first, however it ends.  $dir is a directory for its files, removed after these.

tap_number=0
tap_failed=0
tap_planned=0
dir=$(mktemp -d)
tap_output=$dir/tap-output
deferred=()
netns_nr=0
started=""

plan()
{
	tap_planned=$1
	echo "1..$1"
}

pass()
{
	tap_number=$((tap_number + 1))
	echo "ok $tap_number - $1"
}

fail()
{
	tap_number=$((tap_number + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_number - $1"
}

skip()
{
	tap_number=$((tap_number + 1))
	echo "ok $tap_number - $1 # SKIP $2"
}

note()
{
	printf '%s\n' "$*" | sed 's/^/# /'
}

# check NAME COMMAND...: one check, passed if the command succeeds.  What the
# command prints last is shown if it does not.
check()
{
	local name=$1 status
	shift

	"$@" >"$tap_output" 2>&1
	status=$?
	if [ $status -eq 0 ]; then
		pass "$name"
	else
		fail "$name"
		note "$* (status $status)"
		tail -n 30 "$tap_output" | sed 's/^/# /'
	fi
	return $status
}

# refuses TEXT COMMAND...: the command fails, and says TEXT (a pattern).
refuses()
{
	local text=$1 output
	shift

	if output=$("$@" 2>&1); then
		echo "succeeded: $output"
		return 1
	fi
	echo "$output"
	grep -qiE "$text" <<<"$output"
}

# status N COMMAND...: exit status as documented; output in $dir/out, $dir/err.
status()
{
	local want=$1 got
	shift

	"$@" >"$dir/out" 2>"$dir/err"
	got=$?
	[ "$got" -eq "$want" ] && return 0
	echo "exit status $got, not $want"
	cat "$dir/out" "$dir/err"
	return 1
}

# says PATTERN: on stderr, and nothing on stdout.
says()
{
	cat "$dir/err"
	grep -qE -e "$1" "$dir/err" && [ ! -s "$dir/out" ]
}

# require NAME COMMAND...: set-up without which the test has one check, which fails.
require()
{
	local name=$1
	shift

	"$@" && return
	plan 1
	fail "$name"
	exit 1
}

finish()
{
	[ "$tap_number" -eq "$tap_planned" ] && [ "$tap_failed" -eq 0 ]
	exit
}

# defer COMMAND...: run it when the test ends.
defer()
{
	deferred+=("$(printf '%q ' "$@")")
}

run_deferred()
{
	local i

	for ((i = ${#deferred[@]} - 1; i >= 0; i--)); do
		eval "${deferred[i]}" >/dev/null 2>&1
	done
	deferred=()
}
trap 'run_deferred; rm -rf "$dir"' EXIT

# poll SECONDS COMMAND...: until it succeeds, at most so long; a minute at least where time is not
# virtual: an emulator on a busy machine takes seconds to start a program.  The longer, the less
# often: where time is virtual, pauses cost no processor, and commands do.
poll()
{
	local limit=$1 end pause_ms=50 pause
	shift

	is_virtual || [ "$limit" -ge 60 ] || limit=60
	end=$((SECONDS + limit))
	until "$@"; do
		if [ $SECONDS -ge $end ]; then
			echo "not within $limit s: $*"
			return 1
		fi
		printf -v pause '0.%03d' "$pause_ms"
		sleep "$pause"
		pause_ms=$((pause_ms * 3 / 2 < 200 ? pause_ms * 3 / 2 : 200))
	done
}

# same WHAT GOT WANTED: numbers.
same()
{
	[ "$2" -eq "$3" ] && return 0
	echo "$1: ${2:-nothing}, not $3"
	return 1
}

# new_netns VARIABLE...: a network namespace each, of a new name, lo up.
new_netns()
{
	local name variable

	for variable; do
		# Not random: bash draws in a subshell by time and process, which stand almost still
		# in virtual time, and two were the same.
		((++netns_nr))
		name=ns-$(printf '%04x%04x' $$ $netns_nr)
		ip netns add "$name" || exit 1
		defer ip netns del "$name"
		ip -n "$name" link set lo up
		printf -v "$variable" %s "$name"
	done
}

# keep_order NETNS DEVICE: of what comes in there.  A veth pair queues a packet for the
# processor it is sent on, and a burst waiting for one of two is overtaken by what the
# other sends: by more than a window, and TCP takes it for forged.  A kernel for one
# processor has no such map.  With PROCESSORS=3 two processors share the flows.
keep_order()
{
	in_netns "$1" sh -c 'for map in /sys/class/net/$0/queues/rx-*/rps_cpus; do
		[ ! -e "$map" ] || echo "$1" >"$map" || exit 1
	done' "$2" "${PROCESSORS:-1}"
}

# cable NETNS DEVICE NETNS DEVICE [ADDRESS,... [ADDRESS,...]]: a veth pair, both ends up, its
# packets in order, with the addresses of the first and of the second end.
cable()
{
	ip link add name "$2" netns "$1" type veth peer name "$4" netns "$3" &&
	keep_order "$1" "$2" && keep_order "$3" "$4" &&
	ip -n "$1" link set "$2" up &&
	ip -n "$3" link set "$4" up &&
	add_addresses "$1" "$2" "${5-}" && add_addresses "$3" "$4" "${6-}"
}

# add_addresses NETNS DEVICE [ADDRESS,...]: those of IPv6 without duplicate address detection.
add_addresses()
{
	local address

	for address in ${3//,/ }; do
		case $address in
		*:*)	ip -n "$1" addr add "$address" dev "$2" nodad ;;
		*)	ip -n "$1" addr add "$address" dev "$2" ;;
		esac || return 1
	done
}

# in_netns NETNS COMMAND...
in_netns()
{
	ip netns exec "$@"
}

# start_in NETNS COMMAND...: in the background until the test ends; $started is
# the command's own process, which a function put there with & would not be.
start_in()
{
	ip netns exec "$@" &
	started=$!
	defer kill "$started"
}

# stop PROCESS: one of those, at once and for good.
stop()
{
	kill "$1"
	wait "$1" 2>/dev/null
	true
}

loaded()
{
	[ -d "/sys/module/$1" ]
}

not_loaded()
{
	! loaded "$1"
}

# json FILTER FILE: jq's verdict, with the document shown if it is false.  Of an
# empty file jq says nothing, and succeeds.
json()
{
	if [ -s "$2" ] && jq -e "$1" "$2" >/dev/null; then
		return 0
	fi
	echo "not true: $1"
	jq -c . "$2"
	return 1
}

# counter_of NETNS FILE PREFIX NAME: a counter of the stack.
counter_of()
{
	in_netns "$1" cat "/proc/net/$2" | awk -v prefix="$3:" -v name="$4" '
		$1 != prefix { next }
		!n { n = split($0, names); next }
		{ for (i = 1; i <= n; i++) if (names[i] == name) print $i }'
}

# quell_count NETNS NAME: a counter of quell.ko.
quell_count()
{
	quell -n "$1" -j stat quell | jq --arg name "$2" '.[0].counters[$name] // 0'
}

# pick WORD...: one of them, in $picked; not in a subshell, of which the draws are independent.
pick()
{
	local n=$#

	shift $((RANDOM % n))
	# shellcheck disable=SC2034 # of the caller
	picked=$1
}

# enter CGROUP: this shell, and the processes that it starts from here on.
enter()
{
	echo $$ >"$1/cgroup.procs"
}

is_virtual()
{
	grep -q "User Mode" /proc/cpuinfo
}

# Kernels with PREEMPT_RT are ours, with lockdep and emulated: what takes time is slower there.
is_rt()
{
	uname -v | grep -q PREEMPT_RT
}

# Something listens on this port in that namespace.
listens()
{
	in_netns "$1" ss -Htln "sport = :$2" | grep -q .
}

# unload MODULE...: each in turn, waiting for references that are just going.
unload()
{
	local module

	for module; do
		not_loaded "$module" || poll 10 rmmod "$module" || return 1
	done
}

# allow_cc NAME: every namespace, and every user, may choose it from here on.
allow_cc()
{
	local allowed=/proc/sys/net/ipv4/tcp_allowed_congestion_control

	grep -qw "$1" "$allowed" || echo "$(cat "$allowed") $1" >"$allowed"
}

# choose_cc NETNS NAME [SYSCTL]...: its default, and others.  It is allowed before it is chosen: 6.1
# keeps the module for good that a namespace was refused (Documentation/compat.md).
choose_cc()
{
	local available=/proc/sys/net/ipv4/tcp_available_congestion_control

	grep -qw "$2" "$available" || modprobe "tcp_$2" || return 1
	allow_cc "$2" && in_netns "$1" sysctl -q -w net.ipv4.tcp_congestion_control="$2" "${@:3}"
}

cc_of()
{
	in_netns "$1" cat /proc/sys/net/ipv4/tcp_congestion_control
}

# only_in_guest: for a test that takes devices which a machine may need.  guest-init has this file.
only_in_guest()
{
	[ ! -r /etc/quell-run ] || return 0
	echo "Bail out! for a guest of run-qemu alone"
	exit 1
}
