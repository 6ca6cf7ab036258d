#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# quell bpf option on a cgroup that has another program of type sock_ops, which writes an option
# of its own on each segment (shared_sockops.bpf.c).  Whichever of the two was attached first, the
# other keeps its calls and its room, on plain connections and on those that speak the Quell
# option; and where Quell's program is alone, a plain connection has no calls.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./talk.sh

port=8070 turns=20
host=""
objects=$(dirname "$(dirname "$(command -v quell)")")/lib/quell
cgroup=$dir/cgroup/host
pins=/sys/fs/bpf/shared

# Both ends are processes of one cgroup, on a device with the MTU of Ethernet.
make_host()
{
	new_netns host && ip -n "$host" link set lo mtu 1500 &&
	mkdir "$dir/cgroup" && mount -t cgroup2 none "$dir/cgroup" && defer umount "$dir/cgroup" &&
	mkdir "$cgroup" && defer rmdir "$cgroup" && defer enter "$dir/cgroup" &&
	quell bpf load swift adapt off base-target 1s host-target 1s && defer quell bpf unload swift &&
	enter "$cgroup" &&
	talker talker "$host" && enter "$dir/cgroup" && new_server
}

# A socket asks for its calls when it begins to listen.
new_server()
{
	enter "$cgroup" && serve "$host" $((++port)) && enter "$dir/cgroup"
}

quell_on()
{
	quell bpf option on cgroup "$cgroup"
}

load_other()
{
	mkdir "$pins" && defer rm -r "$pins" &&
	bpftool prog load "$objects/test/shared_sockops.bpf.o" "$pins/prog" type sockops \
		pinmaps "$pins"
}

other_on()
{
	bpftool cgroup attach "$cgroup" sock_ops pinned "$pins/prog" multi
}

both_off()
{
	quell bpf option off && bpftool cgroup detach "$cgroup" sock_ops pinned "$pins/prog"
}

# The counters of both programs, and the packets longer than the MTU.
count()
{
	{
		quell -j bpf option | jq .counters
		bpftool -j map dump pinned "$pins/shared_counts" | jq '.[0].formatted.value'
		echo "{\"too_long\": $(counter_of "$host" snmp Ip FragFails)}"
	} | jq -s 'add' >"$dir/$1"
}

# moved FILTER: by what was counted since "count before"
moved()
{
	count after &&
	jq -n '[inputs] | .[0] as $old | .[1] | with_entries(.value -= $old[.key])' \
		"$dir/before" "$dir/after" >"$dir/moved" && json "$1" "$dir/moved"
}

# Each end sends a segment a turn, and has the other's.
kept="opened == 2 and .written >= 2 * $turns and .heard >= 2 * $turns and
	.stolen == 0 and .too_long == 0"

plain()
{
	count before && say "open 4" "cc cubic" "connect 127.0.0.1 $port" "turns $turns 100" close &&
	moved ".$kept and .\"option-negotiated\" == 0"
}

# Segments of any length up to a full one: some have room for an echo and not for more.  On a busy
# machine many echoes are of segments that waited.
spoken()
{
	local bytes longest

	count before && say "open 4" "cc bpf_swift" "connect 127.0.0.1 $port" "turns $turns 100" mss ||
		return 1
	longest=${answer##* }
	for ((bytes = longest - 40; bytes <= longest; bytes += 4)); do
		say "turns 1 $bytes" || return 1
	done
	say "xfer 200000" close &&
	moved ".$kept and .\"option-negotiated\" == 2 and
		.\"rtt-echo\" + .\"rtt-echo-delayed\" > $turns"
}

in_turn()
{
	"$1" && "$2" && new_server && quell -j bpf option >"$dir/on" && json '(.cgroups | length) == 1' "$dir/on"
}

calls()
{
	bpftool -j prog show pinned /sys/fs/bpf/quell/option/prog | jq '.run_cnt // 0'
}

# Of opening and closing, and not of segments.
alone()
{
	local first last

	sysctl -q -w kernel.bpf_stats_enabled=1 && defer sysctl -q -w kernel.bpf_stats_enabled=0 &&
	quell_on && say "open 4" "cc cubic" "connect 127.0.0.1 $port" "turns 1 100" || return 1
	first=$(calls)
	say "turns $turns 100" && last=$(calls) && say close && quell bpf option off || return 1
	echo "$((last - first)) calls in $turns turns"
	[ "$first" -gt 0 ] && [ "$last" -eq "$first" ]
}

# From a cgroup above it takes over: each end counts each connection once.
above_takes_over()
{
	quell_on && quell bpf option on cgroup "$dir/cgroup" && quell -j bpf option >"$dir/on" &&
	json '(.cgroups | length) == 1' "$dir/on" &&
	status 2 quell bpf option on cgroup "$cgroup" && says "or in a cgroup above" && new_server &&
	say "open 4" "cc bpf_swift" "connect 127.0.0.1 $port" "turns $turns 100" close &&
	quell -j bpf option >"$dir/on" && json '.counters."option-negotiated" == 2' "$dir/on" &&
	quell bpf option off
}

# The other keeps it: its handle cannot be opened, so it is not known whether it lies below.
keeps_without_capability()
{
	quell_on && status 2 setpriv --bounding-set -dac_read_search --inh-caps -dac_read_search \
		quell bpf option on cgroup "$dir/cgroup" && says CAP_DAC_READ_SEARCH &&
	quell -j bpf option >"$dir/on" && json "[.cgroups[].id] == [$(stat -c %i "$cgroup")]" \
		"$dir/on" && quell bpf option off
}

is_gone()
{
	quell -j bpf option >"$dir/on" && json '.cgroups == []' "$dir/on" &&
	[ ! -e /sys/fs/bpf/quell/option/prog ]
}

# The next "on" has the program from where it is asked for.
goes_with_its_cgroup()
{
	mkdir "$dir/cgroup/gone" && quell bpf option on cgroup "$dir/cgroup/gone" &&
	status 1 quell bpf option on cgroup "$cgroup" dir /nowhere && says "for the first" &&
	rmdir "$dir/cgroup/gone" && poll 10 is_gone
}

[ -e "$objects/bpf/option.bpf.o" ] || {
	echo "1..0 # SKIP no object in $objects/bpf"
	exit 4
}
plan 13
check "a host, its talker and server" make_host
check "alone, a plain connection has no calls" alone
check "on in a cgroup above, it runs once" above_takes_over
check "without a capability no cgroup loses it" keeps_without_capability
check "it goes with its cgroup" goes_with_its_cgroup
check "another program is loaded" load_other
check "it is attached before Quell's" in_turn other_on quell_on
check "its calls and its room, plain" plain
check "the same beside the Quell option" spoken
check "both are detached" both_off
check "it is attached after Quell's" in_turn quell_on other_on
check "its calls and its room, plain" plain
check "the same beside the Quell option" spoken
both_off
finish
