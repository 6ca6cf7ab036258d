#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# NICs that QEMU emulates, two of each model on a cable: quell hwtstamp and ethtool -T list the
# same filters, a NIC that cannot stamp all packets is refused and left as it was, and a flow of Swift
# transfers with the software's stamps.  e1000e offers all and accepts it, but QEMU stamps no packet.

cd "$(dirname "$0")" || exit 1
. ./lib.sh

only_in_guest
port=5201
near="" far="" dev=""

# DRIVER, its receive filters as ethtool has them, and the reason of a refusal
models()
{
	cat <<-'END'
	e1000e none all ptpv1-l4-sync ptpv1-l4-delay-req ptpv2-l4-sync ptpv2-l4-delay-req ptpv2-l2-sync ptpv2-l2-delay-req ptpv2-event ptpv2-sync ptpv2-delay-req
	igb none ptpv1-l4-sync ptpv1-l4-delay-req ptpv2-event
	vmxnet3
	virtio_net
	END
}

# devices DRIVER: names of its two cards
devices()
{
	local path

	for path in /sys/class/net/*; do
		[ "$(basename "$(readlink "$path/device/driver")")" != "$1" ] || echo "${path##*/}"
	done
}

two_devices()
{
	[ "$(devices "$1" | wc -l)" -eq 2 ]
}

# cards DRIVER: $near with $dev and $far with another, connected
cards()
{
	local other netns

	poll 20 two_devices "$1" || return 1
	read -r dev other <<<"$(devices "$1" | xargs)"
	new_netns near far
	# The driver of vmxnet3 hits a BUG() of its own when QEMU's is closed, so namespaces remain.
	[ "$1" != vmxnet3 ] || for netns in "$near" "$far"; do
		ip netns exec "$netns" sleep 3600 &
	done
	ip link set "$dev" netns "$near" && ip link set "$other" netns "$far" &&
	ip -n "$near" addr add 10.9.9.1/24 dev "$dev" && ip -n "$near" link set "$dev" up &&
	ip -n "$far" addr add 10.9.9.2/24 dev "$other" && ip -n "$far" link set "$other" up &&
	poll 30 in_netns "$near" ping -c 1 -W 1 10.9.9.2
}

# filters FILTER...: by both programs
filters()
{
	local words=$*

	quell -n "$near" -j hwtstamp show "$dev" >"$dir/json" || return 1
	[ $# -gt 0 ] || words=none
	cat "$dir/json"
	[ "$(jq -r '.[0].offers' "$dir/json")" = "${words// /, }" ] || return 1
	in_netns "$near" ethtool -T "$dev" >"$dir/ethtool" || return 1
	cat "$dir/ethtool"
	[ "$(sed '1,/^Hardware Receive/d' "$dir/ethtool" | xargs)" = "$*" ]
}

# A filter for all packets is set where it is offered, and no other in its place.
accepts_or_refuses()
{
	local before

	before=$(quell -n "$near" hwtstamp show "$dev")
	if [[ " $* " = *" all "* ]]; then
		quell -n "$near" hwtstamp on "$dev" | grep "^$dev: rx all "
		return
	fi
	refuses "cannot" quell -n "$near" hwtstamp on "$dev" &&
	[ "$(quell -n "$near" hwtstamp show "$dev")" = "$before" ]
}

# QEMU stamps no packet.
transfers()
{
	choose_cc "$near" swift && choose_cc "$far" swift &&
	start_in "$far" iperf3 -s -1 -p "$port" && poll 10 listens "$far" "$port" &&
	in_netns "$near" timeout 60 iperf3 -J -c 10.9.9.2 -p "$port" -n 2M >"$dir/iperf" &&
	jq -e '.end.sum_sent.bytes >= 2000000' "$dir/iperf" &&
	quell -n "$near" -j stat quell >"$dir/stat" &&
	jq -e '.[0].counters | .["hardware-stamps"] == 0 and .["hardware-refused"] == 0 and
		.["hardware-warming"] == 0' "$dir/stat"
}

doctor_reports()
{
	quell -n "$near" doctor | xargs | grep "though $dev is set to stamp all packets"
}

# The administrator would believe in the filter.
is_reported()
{
	start_in "$far" iperf3 -s -1 -p "$port" && poll 10 listens "$far" "$port" &&
	start_in "$near" iperf3 -c 10.9.9.2 -p "$port" -t 120 >/dev/null && poll 60 doctor_reports
}

plan $((4 * $(models | wc -l) + 1))
modprobe -a e1000e igb vmxnet3 virtio_pci virtio_net tcp_swift
while read -ru 9 driver words; do
	read -ra offered <<<"$words"
	check "$driver: two cards exchange packets" cards "$driver"
	check "$driver: the filters that it offers" filters "${offered[@]}"
	check "$driver: stamps of all packets" accepts_or_refuses "${offered[@]}"
	check "$driver: a flow of Swift, by the software's stamps" transfers
	[[ " $words " != *" all "* ]] ||
		check "$driver: doctor reports that no packet is stamped" is_reported
done 9<<<"$(models)"
finish
