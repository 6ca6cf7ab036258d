#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# quell bpf option: what stays pinned after a run that was killed, or whose attachment was
# refused, and what is said where nothing is on or loaded.  Needs no module and no network.

cd "$(dirname "$0")" || exit 1
. ./lib.sh

objects=${QUELL_OBJECTS:-$(dirname "$(dirname "$(command -v quell)")")/lib/quell/bpf}
pins=/sys/fs/bpf/quell/option
cgroup=$dir/cgroup/above

make_cgroups()
{
	mkdir "$dir/cgroup" && mount -t cgroup2 none "$dir/cgroup" && defer umount "$dir/cgroup" &&
	mkdir -p "$cgroup" && defer rmdir "$cgroup" && mkdir "$cgroup/below" &&
	defer rmdir "$cgroup/below"
}

# is_attached NUMBER: of programs, whatever is pinned.
is_attached()
{
	[ "$(bpftool cgroup show "$cgroup/below" | grep -c sock_ops)" -eq "$1" ]
}

shows()
{
	quell bpf option >"$dir/text" && cat "$dir/text" && [ "$(cat "$dir/text")" = "no cgroup" ] &&
	[ "$(quell -j bpf option | jq -c '[.cgroups, (.counters | length)]')" = "[[],12]" ]
}

nothing_is_said()
{
	shows && [ "$(quell bpf show)" = "none loaded" ] && [ "$(quell -j bpf show)" = "[]" ]
}

turn_on()
{
	quell bpf option on cgroup "$cgroup/below" dir "$objects"
}

# As if the run had been killed before it gave the link its name.
kill_before_rename()
{
	turn_on && is_attached 1 && mv "$pins"/cgroup-* "$pins/next"
}

show_undoes()
{
	kill_before_rename && shows && is_attached 0 && [ ! -e "$pins/prog" ]
}

off_undoes()
{
	kill_before_rename && status 0 quell bpf option off && is_attached 0 &&
	[ ! -e "$pins/next" ] && [ ! -e "$pins/prog" ] &&
	status 2 quell bpf option off && says "on in no cgroup"
}

on_undoes()
{
	kill_before_rename && turn_on && is_attached 1 && quell bpf option off && is_attached 0
}

# Killed before it attached: the directory that is named next has the say.
program_is_not_reused()
{
	turn_on && keep_program && quell bpf option off &&
	mv "$pins/kept" "$pins/prog" &&
	status 2 quell bpf option on cgroup "$cgroup/below" dir /nowhere && says /nowhere &&
	[ ! -e "$pins/prog" ]
}

keep_program()
{
	bpftool prog pin pinned "$pins/prog" "$pins/kept"
}

# A program that stands alone on the cgroup above.
refusal_leaves_nothing()
{
	local refused

	turn_on && keep_program && quell bpf option off &&
	bpftool cgroup attach "$cgroup" sock_ops pinned "$pins/kept" || return 1
	status 2 turn_on && says "cannot attach to the cgroup: .*CAP_NET_ADMIN, and no program on" &&
	[ ! -e "$pins/prog" ]
	refused=$?
	bpftool cgroup detach "$cgroup" sock_ops pinned "$pins/kept" && rm "$pins/kept" &&
	[ "$refused" -eq 0 ] && turn_on && quell bpf option off && shows
}

[ -e "$objects/option.bpf.o" ] || {
	echo "1..0 # SKIP no object in $objects"
	exit 4
}
plan 7
check "a bpf file system and cgroups" make_cgroups
check "nothing on, nothing loaded" nothing_is_said
check "show undoes what a killed run began" show_undoes
check "off undoes it" off_undoes
check "on undoes it and begins anew" on_undoes
check "a program that was left is not used again" program_is_not_reused
check "a refused attachment says why, and leaves no program" refusal_leaves_nothing
finish
