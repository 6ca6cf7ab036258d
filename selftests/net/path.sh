#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Path entropies on stock kernels: a file goes from a web server over IPv6, and
# the other host counts what would decide its way in a network of switches, the
# flow labels of the packets: by their last six bits, in 64 bins.
#
#	server (smartt) --- client
#
# Two milliseconds of delay keep several segments under way; without, one entropy
# is always back before the next segment leaves.
#
# Each segment has its label, and the entropies come back and are used again;
# ACKs keep to one.  None of it where nobody asks for it, or may: entropies 0, no
# option at the other end, labels switched off or not the stack's own, IPv4.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./pair.sh

port=8080
file_bytes=300000
bins=64
here="[fd73::1]"

# count_labels NETNS: of what comes in, from now on.
count_labels()
{
	local bin

	echo "qdisc add dev wire0 clsact" >"$dir/batch"
	for ((bin = 0; bin < bins; bin++)); do
		echo "filter add dev wire0 ingress protocol ipv6 u32" \
			"match u32 $bin 0x3f at 0 match u8 6 0xff at 6" \
			"action gact pass index $((bin + 1))"
	done >>"$dir/batch"
	tc -n "$1" -batch "$dir/batch"
}

count_both()
{
	count_labels "$client" && count_labels "$server"
}

# set_server CC ENTROPIES
set_server()
{
	choose_cc "$server" "$1" &&
	in_netns "$server" quell cc set quell entropies "$2"
}

set_option()
{
	in_netns "$server" quell cc set quell option 2 &&
	choose_cc "$client" swift &&
	in_netns "$client" quell cc set quell option "$1"
}

set_sysctl()
{
	in_netns "$server" sysctl -q -w "$1"
}

serve_anew()
{
	stop "$web"
	serve
}

# rehashes: how often the client's stack itself chose new labels.
rehashes()
{
	echo $(($(counter_of "$client" netstat TcpExt TcpDuplicateDataRehash) +
		$(counter_of "$client" netstat TcpExt TcpTimeoutRehash)))
}

# Counters of the server, and labels of what came in at client and server.
counters()
{
	in_netns "$server" quell -j stat >"$dir/$1.stat" &&
	tc -n "$client" -s -j actions list action gact >"$dir/$1.data" &&
	tc -n "$server" -s -j actions list action gact >"$dir/$1.acks" &&
	rehashes >"$dir/$1.rehashes"
}

# fetch ADDRESS: what it changed is in $dir/seen; of bins those that changed.
fetch()
{
	rm -f "$dir/copy"
	counters before || return 1
	in_netns "$client" timeout 60 wget -q -O "$dir/copy" "http://$1:$port/file" &&
	cmp "$dir/www/file" "$dir/copy" && counters after || return 1
	jq -n --slurpfile stat0 "$dir/before.stat" --slurpfile stat1 "$dir/after.stat" \
		--slurpfile data0 "$dir/before.data" --slurpfile data1 "$dir/after.data" \
		--slurpfile acks0 "$dir/before.acks" --slurpfile acks1 "$dir/after.acks" \
		--slurpfile rehashes0 "$dir/before.rehashes" \
		--slurpfile rehashes1 "$dir/after.rehashes" '
		def quell($stat): $stat[0][] | select(.name == "quell") | .counters;
		def more($name): (quell($stat1)[$name] // 0) - (quell($stat0)[$name] // 0);
		def bins($list): [$list[0][].actions[]?] | sort_by(.index) |
			map(.stats.packets);
		def changed($from; $to): [bins($to), bins($from)] | transpose |
			map(.[0] - .[1]) | map(select(. > 0));
		{ data: changed($data0; $data1), acks: changed($acks0; $acks1),
		  fresh: more("entropy-fresh"), recycled: more("entropy-recycled"),
		  frozen: more("entropy-frozen"), kept: more("entropy-kept"),
		  rehashes: ($rehashes1[0] - $rehashes0[0]),
		  marked: more("entropy-marked"), sent: more("option-sent"),
		  agreed: more("option-negotiated") }' >"$dir/seen"
}

# Until the option is agreed on: a SYN-ACK that was lost is sent again without.
fetch_agreed()
{
	local try

	for try in 1 2 3 4 5; do
		fetch "$1" || return 1
		jq -e '.agreed == 1' "$dir/seen" >"$dir/agreed" && return
		note "$1: try $try without the option"
	done
	return 1
}

# seen FILTER: of the last transfer.
seen()
{
	json "$1" "$dir/seen"
}

# A SYN or its answer sent again, or a reset, may have another label.
one_way='(.data | max) >= (.data | add) - 2 and .fresh + .recycled + .frozen == 0'
# A label a segment, some of them drawn and some used again, each once after it
# came back; the option also goes with a few packets without payload.  Three labels drawn share a
# bin once in 4096 runs.
sprayed='(.data | max) <= (.data | add) - 8 and .fresh >= 3 and .recycled > 0 and
	.recycled <= .kept and .kept <= .fresh + .recycled + .frozen and
	.fresh + .recycled + .frozen <= .sent and
	.fresh + .recycled + .frozen >= .sent - 8'
# The client's stack takes a data packet that came twice for a sign that its ACKs are lost, if the
# second has another label, and each segment has: a spurious retransmission suffices.
acks_one_way='(.acks | max) >= (.acks | add) - 2 or
	(.rehashes > 0 and (.acks | length) <= .rehashes + 2)'

# stays NAME: another way of asking, and all goes one way.
stays()
{
	check "$1: the file arrives unharmed" fetch "$here"
	check "$1: one label" seen "$one_way"
}

sprays()
{
	check "$1: the file arrives unharmed" fetch_agreed "$here"
	check "$1: a label per segment, and entropies come back" seen "$sprayed"
	check "$1: ACKs keep one label" seen "$acks_one_way"
	note "$(jq -c . "$dir/seen")"
}

# The flow under way says how many ways it has.
flow_says()
{
	in_netns "$server" quell -j flow show >"$dir/flows" &&
	jq -e "any(.[]; .sport == $port and .entropies == 64 and
		.counters[\"entropy-fresh\"] > 0)" "$dir/flows"
}

slow_flow_says()
{
	shape rate 2mbit || return 1
	start_in "$client" wget -q -O /dev/null "http://$here:$port/file"
	poll 60 flow_says || {
		cat "$dir/flows"
		return 1
	}
	stop "$started"
	in_netns "$server" tc qdisc del dev wire0 root
}

shape()
{
	in_netns "$server" tc qdisc replace dev wire0 root netem "$@"
}

plan 37
mkdir "$dir/www"
head -c "$file_bytes" /dev/urandom >"$dir/www/file"
check "two hosts" make_network 73
check "labels are counted" count_both
check "the server sprays" set_server smartt 64
check "the client offers" set_option 1
check "web server" serve
check "2 ms of delay" shape delay 2ms
sprays "offloads on"
check "offloads off" set_offloads off
sprays "offloads off"
check "2 % loss" shape delay 2ms loss 2%
sprays "loss"
check "flow show: entropies" slow_flow_says
check "entropies 0" set_server smartt 0
stays "switched off"
check "and on" set_server smartt 64
check "no option asked for" set_option 2
stays "no option"
check "option again" set_option 1
check "no labels" set_sysctl net.ipv6.auto_flowlabels=0
stays "no labels"
check "labels" set_sysctl net.ipv6.auto_flowlabels=1
check "IPv4: the file arrives unharmed" fetch 10.73.0.1
check "IPv4: no entropy" seen '.fresh + .recycled + .frozen == 0 and .agreed == 1'
check "labels of the client are sent back" set_sysctl net.ipv6.flowlabel_reflect=1
check "for new listeners" serve_anew
stays "reflected label"
check "labels of the server's own" set_sysctl net.ipv6.flowlabel_reflect=0
finish
