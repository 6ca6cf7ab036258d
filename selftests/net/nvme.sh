#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# NVMe over TCP, whose target and host are sockets of the kernel itself: with each algorithm as the
# default a disk is connected, written and read back, its flows are listed, and afterwards gone.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./suited.sh

only_in_guest
config=/sys/kernel/config/nvmet
# By this name the controllers of this script are known among the machine's.
nqn=quell-selftest
subsystem=$config/subsystems/$nqn
number=1 disk="" every=()

# make PATH: a directory of configfs, until the test ends
make()
{
	mkdir "$1" && defer rmdir "$1"
}

make_disk()
{
	local namespace=$subsystem/namespaces/1

	{ [ -d "$config" ] || mount -t configfs none /sys/kernel/config; } &&
	truncate -s 8M "$dir/disk" && dd if=/dev/urandom of="$dir/data" bs=64k count=32 &&
	make "$subsystem" && echo 1 >"$subsystem/attr_allow_any_host" && make "$namespace" &&
	echo 1 >"$namespace/buffered_io" &&
	echo -n "$dir/disk" >"$namespace/device_path" && echo 1 >"$namespace/enable"
}

# The algorithm of a listener is the default when it opens.
serve()
{
	local at=$config/ports/$number

	make "$at" && echo tcp >"$at/addr_trtype" && echo ipv4 >"$at/addr_adrfam" &&
	echo 127.0.0.1 >"$at/addr_traddr" && echo $((4420 + number)) >"$at/addr_trsvcid" &&
	ln -s "$subsystem" "$at/subsystems/$nqn" && defer rm "$at/subsystems/$nqn"
}

# ours DIRECTORY...: those in sysfs that are of this script's subsystem
ours()
{
	local path

	for path; do
		[ "$(cat "$path/subsysnqn" 2>/dev/null)" != "$nqn" ] || echo "$path"
	done
}

# With multipath in the kernel a disk belongs to the subsystem, and without to its controller.
find_disk()
{
	local at path

	disk=""
	for at in $(ours /sys/class/nvme-subsystem/* /sys/class/nvme/*); do
		for path in "$at"/nvme*n1; do
			# Not nvme0c0n1, a path to the disk
			[[ ! ${path##*/} =~ ^nvme[0-9]+n1$ ]] || disk=/dev/${path##*/}
		done
	done
	[ -b "$disk" ]
}

connect()
{
	echo "nqn=$nqn,transport=tcp,traddr=127.0.0.1,trsvcid=$((4420 + number)),nr_io_queues=2" \
		>/dev/nvme-fabrics && defer disconnect && poll 20 find_disk
}

# flows ALGORITHM: both ends of the queue of commands and of one with data at least
flows()
{
	quell -j flow show >"$dir/flows" &&
	jq -e --arg cc "$1" --argjson port $((4420 + number)) '
		[.[] | select((.sport == $port or .dport == $port) and .cc == $cc)] |
		length >= 4' "$dir/flows"
}

write_and_read()
{
	dd if="$dir/data" of="$disk" bs=64k oflag=direct &&
	dd if="$disk" of="$dir/back" bs=64k count=32 iflag=direct && cmp "$dir/data" "$dir/back"
}

no_flows()
{
	[ "$(quell -j flow show | jq length)" -eq 0 ]
}

disconnect()
{
	local path

	for path in $(ours /sys/class/nvme/*); do
		echo 1 >"$path/delete_controller" || return 1
	done
}

close_port()
{
	rm "$config/ports/$number/subsystems/$nqn" && rmdir "$config/ports/$number" &&
	poll 30 no_flows
}

# with ALGORITHM
with()
{
	sysctl -q -w net.ipv4.tcp_congestion_control="$1" && serve && connect && write_and_read &&
	flows "$1" && disconnect && close_port
}

# By what is deferred alone, as after a check that failed
is_undone()
{
	serve && connect || return 1
	run_deferred
	ls "$config"/*
	[ -z "$(ours /sys/class/nvme/*)" ] && [ ! -e "$config/ports/$number" ] &&
	[ ! -e "$subsystem" ] && [ ! -e "$dir" ] &&
	[ "$(sysctl -n net.ipv4.tcp_congestion_control)" = "$found" ]
}

if ! modprobe -a nvmet-tcp nvme-tcp; then
	echo "1..0 # SKIP this kernel has no nvmet-tcp and nvme-tcp"
	exit 0
fi
load_all
found=$(sysctl -n net.ipv4.tcp_congestion_control)
defer sysctl -q -w net.ipv4.tcp_congestion_control="$found"
read -ra every -d '' <<<"$(algorithms)"
plan $((${#every[@]} + 2))
check "a target with a disk" make_disk
for algorithm in "${every[@]}"; do
	check "$algorithm: a disk over NVMe/TCP" with "$algorithm"
	number=$((number + 1))
done
check "a target with a disk that is in use is taken away" is_undone
finish
