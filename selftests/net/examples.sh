#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The examples of quell(8) and tc-swport(8), run as they are printed, on a host with eth0 in
# 10.0.0.0/24, eth1, and the /etc of an installation.  Each ends with status 0 and without a
# complaint.

[ -n "${examples_private-}" ] || examples_private=1 exec unshare -m "$0"
cd "$(dirname "$0")" || exit 1
. ./lib.sh
man=$PWD/../../Documentation/man
host=""

make_host()
{
	new_netns host &&
	ip -n "$host" link add eth0 type veth peer name eth1 &&
	ip -n "$host" addr add 10.0.0.9/24 dev eth0 &&
	ip -n "$host" link set eth0 up && ip -n "$host" link set eth1 up &&
	cp -a /etc "$dir/etc" && rm -rf "$dir/etc/quell" && mount --bind "$dir/etc" /etc
}

# examples PAGE: of its section, a command a line.
examples()
{
	sed -n '/^\.SH EXAMPLES/,/^\.SH /p' "$man/$1" |
		sed -z 's/\\\\\n */ /g; s/\\(aq/'\''/g; s/\\-/-/g; s/\\e/\\/g' |
		sed -nE 's/^(# |    )//p'
}

# run COMMAND: it succeeds and prints nothing on standard error.
run()
{
	echo "$1"
	(cd "$dir" && in_netns "$host" timeout 60 bash -o pipefail -c "$1") 2>"$dir/err" &&
	[ ! -s "$dir/err" ] && return 0
	cat "$dir/err"
	return 1
}

# run_page PAGE COUNT: at least so many examples.
run_page()
{
	local command commands

	examples "$1" >"$dir/examples"
	mapfile -t commands <"$dir/examples"
	[ ${#commands[@]} -ge "$2" ] || return 1
	for command in "${commands[@]}"; do
		[[ $command != "tc qdisc add"* ]] || tc -n "$host" qdisc del dev eth1 root 2>/dev/null
		run "$command" || return 1
	done
}

# As after an upgrade whose modules were not built.
settings_are_kept()
{
	local save

	save=$(examples quell.8 | grep -F /etc/quell/settings | head -n 1)
	cp /etc/quell/settings "$dir/before" &&
	unload tcp_swift tcp_smartt tcp_dart tcp_dcqcn tcp_hpcc tcp_timely quell && ! run "$save" &&
	cmp /etc/quell/settings "$dir/before"
}

plan 5
check "a host" make_host
check "examples of tc-swport(8)" run_page tc-swport.8 5
check "examples of quell(8)" run_page quell.8 12
check "the settings are saved" grep -q '^cc preset smartt nscc$' /etc/quell/settings
check "without modules the saved settings are kept" settings_are_kept
finish
