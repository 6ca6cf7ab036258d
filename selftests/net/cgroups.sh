# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Slabs that cgroups below $top are charged for, for the tests that source this after crowd.sh.

top=$dir/cgroup
# The kernel adds up the charges of each processor every two seconds; those not yet added may be
# 64 pages, more than half of the charges of 200 flows.
add_up_s=3

crowd_enter()
{
	enter "$top/$1"
}

# slab CGROUP: bytes of it, as added up last
slab()
{
	awk '$1 ~ /^slab_(un)?reclaimable$/ { n += $2 } END { print n }' "$top/$1/memory.stat"
}

last="" since=0
# is_added_up CGROUP...: whether their slabs have not changed for as long as it takes to add them up.
is_added_up()
{
	local now="" group

	for group; do
		now+=:$group:$(slab "$group")
	done
	if [ "$now" != "$last" ]; then
		last=$now
		since=$SECONDS
	fi
	[ $((SECONDS - since)) -ge "$add_up_s" ]
}
