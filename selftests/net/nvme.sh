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
number=1 every=()
dir=$(mktemp -d)
defer rm -rf "$dir"

make_disk()
{
	local namespace=$config/subsystems/quell/namespaces/1

	{ mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config; } &&
	truncate -s 8M "$dir/disk" && dd if=/dev/urandom of="$dir/data" bs=64k count=32 &&
	mkdir "$config/subsystems/quell" "$namespace" &&
	echo 1 >"$config/subsystems/quell/attr_allow_any_host" &&
	echo 1 >"$namespace/buffered_io" &&
	echo -n "$dir/disk" >"$namespace/device_path" && echo 1 >"$namespace/enable"
}

# The algorithm of a listener is the default when it opens.
serve()
{
	local at=$config/ports/$number

	mkdir "$at" && echo tcp >"$at/addr_trtype" && echo ipv4 >"$at/addr_adrfam" &&
	echo 127.0.0.1 >"$at/addr_traddr" && echo $((4420 + number)) >"$at/addr_trsvcid" &&
	ln -s "$config/subsystems/quell" "$at/subsystems/quell"
}

disk()
{
	printf '%s\n' /dev/nvme*n1 | tail -n 1
}

is_there()
{
	[ -b "$(disk)" ]
}

connect()
{
	echo "nqn=quell,transport=tcp,traddr=127.0.0.1,trsvcid=$((4420 + number)),nr_io_queues=2" \
		>/dev/nvme-fabrics && poll 20 is_there
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
	dd if="$dir/data" of="$(disk)" bs=64k oflag=direct &&
	dd if="$(disk)" of="$dir/back" bs=64k count=32 iflag=direct && cmp "$dir/data" "$dir/back"
}

no_flows()
{
	[ "$(quell -j flow show | jq length)" -eq 0 ]
}

disconnect()
{
	local path

	for path in /sys/class/nvme/nvme*/delete_controller; do
		echo 1 >"$path" || return 1
	done
	rm "$config/ports/$number/subsystems/quell" && rmdir "$config/ports/$number" &&
	poll 30 no_flows
}

# with ALGORITHM
with()
{
	sysctl -q -w net.ipv4.tcp_congestion_control="$1" && serve && connect && write_and_read &&
	flows "$1" && disconnect
}

if ! modprobe -a nvmet-tcp nvme-tcp; then
	echo "1..0 # SKIP this kernel has no nvmet-tcp and nvme-tcp"
	exit 0
fi
load_all
read -ra every -d '' <<<"$(algorithms)"
plan $((${#every[@]} + 1))
check "a target with a disk" make_disk
for algorithm in "${every[@]}"; do
	check "$algorithm: a disk over NVMe/TCP" with "$algorithm"
	number=$((number + 1))
done
sysctl -q -w net.ipv4.tcp_congestion_control=cubic
finish
