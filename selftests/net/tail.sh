#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Lost tails on stock kernels: files go from a web server to a client over a
# wire that loses 5 % of all packets both ways, over IPv4 and IPv6, with and
# without the Quell option, segmentation offload on and off.
#
#	server (swift) --- client (swift)
#
# They arrive unharmed, tails were probed and repaired, and with tail-probes 0
# none is; connections may be cut off while the timer runs.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./pair.sh

port=8080
file_bytes=60000
fetches=8

dir=$(mktemp -d)
defer rm -rf "$dir"

# Swift's own target is far below an emulated host's round-trip time.
set_hosts()
{
	local netns

	for netns in "$server" "$client"; do
		choose_cc "$netns" swift &&
		in_netns "$netns" quell cc set swift base-target 100ms || return 1
	done
}

lose()
{
	local netns

	for netns in "$server" "$client"; do
		in_netns "$netns" tc qdisc replace dev wire0 root netem loss "$1%" || return 1
	done
}

counter()
{
	in_netns "$server" quell -j stat quell | jq ".[0].counters[\"$1\"] // 0"
}

fetch()
{
	local i

	for ((i = 0; i < fetches; i++)); do
		in_netns "$client" timeout 60 wget -q -O "$dir/copy" "http://$1:$port/file" &&
		cmp "$dir/www/file" "$dir/copy" || return 1
	done
}

# Probes were sent, and not all in vain: an emulated host is often late, though, so
# that as many fetches are made as it takes.  Most connections are closed before it is
# known what their probe repaired.
probed()
{
	local probes spurious i

	for ((i = 0; i < 10; i++)); do
		probes=$(counter tail-probes)
		spurious=$(counter tail-probes-spurious)
		echo "probes $probes, spurious $spurious, recovered $(counter tail-recovered)"
		[ "$probes" -le "$spurious" ] || return 0
		fetch 10.72.0.1 || return 1
	done
	return 1
}

switched_off()
{
	local before

	in_netns "$server" quell cc set quell tail-probes 0 || return 1
	before=$(counter tail-probes)
	fetch 10.72.0.1 && [ "$(counter tail-probes)" -eq "$before" ] &&
	in_netns "$server" quell cc reset quell tail-probes
}

closed_more_than()
{
	[ "$(counter flows-closed)" -gt "$1" ]
}

# What is under way when its reader goes away is outstanding for a while, and
# the timer runs.  Where a SYN was lost there is nothing to cut off.
cut_off()
{
	local before i

	before=$(counter flows-closed)
	for ((i = 0; i < 3; i++)); do
		! in_netns "$client" timeout -s KILL 1 wget -q -O /dev/null \
			"http://10.72.0.1:$port/large" || return 1
	done
	poll 30 closed_more_than "$before"
}

plan 16
mkdir "$dir/www"
head -c "$file_bytes" /dev/urandom >"$dir/www/file"
truncate -s 500M "$dir/www/large"
check "two hosts" make_network 72
check "swift on both" set_hosts
check "web server" serve
check "5 % loss" lose 5
for option in 0 1; do
	for offload in on off; do
		in_netns "$client" quell cc set quell option "$option"
		in_netns "$server" ethtool -K wire0 tso "$offload" gso "$offload" >/dev/null
		check "IPv4, option $option, offload $offload" fetch 10.72.0.1
		check "IPv6, option $option, offload $offload" fetch '[fd72::1]'
	done
done
check "tails were probed" probed
check "none with tail-probes 0" switched_off
check "cut off" cut_off
check "no more loss" lose 0
finish
