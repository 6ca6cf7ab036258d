#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Hosts that speak the public TCP-INT option: a file goes from a web server through
# a router whose port writes into the option, to a host that echoes it.
#
# Off by default; with a host that has no Quell the file arrives all the same;
# nothing is longer than the MTU, with jumbo bursts and without; under loss no
# retransmission is owed to it.
# shellcheck disable=SC2154

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./router.sh

port=8080
file_bytes=400000

# set_host NETNS CC VALUE: its algorithm and its tcp-int.
set_host()
{
	choose_cc "$1" "$2" &&
	in_netns "$1" quell cc set swift base-target 100ms &&
	in_netns "$1" quell cc set quell option "${4:-2}" &&
	in_netns "$1" quell cc set quell tcp-int "$3"
}

# counts NETNS FILE: counters of quell.ko there.
counts()
{
	in_netns "$1" quell -j stat | jq '.[] | select(.name == "quell").counters' >"$dir/$2"
}

# fetch ADDRESS: through a new port, with counters of both hosts at its end.
fetch()
{
	tc -n "$router" qdisc del dev up0 root 2>/dev/null
	tc -n "$router" qdisc add dev up0 root swport rate 10gbit tcp-int 1ms || return 1
	web_server "$port" "$dir/www" || return 1
	rm -f "$dir/copy"
	counts "$sender" sender.before && counts "$receiver" receiver.before &&
	in_netns "$receiver" timeout 60 wget -q -O "$dir/copy" "http://$1:$port/file" &&
	cmp "$dir/www/file" "$dir/copy" &&
	counts "$sender" sender && counts "$receiver" receiver &&
	tc -n "$router" -s -j qdisc show dev up0 | jq '.[0]' >"$dir/port"
}

# grew HOST COUNTER: by how much during the transfer.
grew()
{
	jq -n --slurpfile a "$dir/$1.before" --slurpfile b "$dir/$1" \
		"(\$b[0][\"$2\"] // 0) - (\$a[0][\"$2\"] // 0)"
}

port_wrote()
{
	jq .int_pkts "$dir/port"
}

said()
{
	echo "sent $(grew sender tcp-int-sent) echoed $(grew sender tcp-int-echoed)" \
	     "no room $(grew sender tcp-int-no-room) port $(port_wrote)" \
	     "receiver sent $(grew receiver tcp-int-sent) got $(grew receiver tcp-int-received)"
}

off_by_default()
{
	local host

	for host in "$sender" "$receiver"; do
		in_netns "$host" quell -j cc show quell | jq -e '.. | objects |
			select(.name? == "tcp-int").value == 0' >/dev/null || return 1
	done
	set_host "$sender" swift 0 && set_host "$receiver" swift 0 && fetch 10.71.1.1 && said &&
	[ "$(port_wrote)" -eq 0 ] && [ "$(grew sender tcp-int-sent)" -eq 0 ]
}

# spoken OPTION ADDRESS: with the Quell option beside it, or without.
spoken()
{
	set_host "$sender" swift 1 "$1" && set_host "$receiver" swift 1 "$1" &&
	fetch "$2" && said &&
	[ "$(port_wrote)" -gt 0 ] && [ "$(grew sender tcp-int-sent)" -gt 0 ] &&
	[ "$(grew receiver tcp-int-received)" -gt 0 ] &&
	[ "$(grew receiver tcp-int-sent)" -gt 0 ] &&
	[ "$(grew sender tcp-int-echoed)" -gt 0 ]
}

spoken_beside_the_quell_option()
{
	spoken 1 "$1" && [ "$(grew sender rtt-echo)" -gt 0 ]
}

# Told to one alone, to a host that has no Quell.
host_without_quell_skips_it()
{
	set_host "$sender" swift 1 && set_host "$receiver" cubic 0 && fetch "$1" && said &&
	[ "$(port_wrote)" -gt 0 ] && [ "$(grew sender tcp-int-sent)" -gt 0 ] &&
	[ "$(grew sender tcp-int-echoed)" -eq 0 ]
}

set_offloads()
{
	local netns offload

	for netns in "$sender" "$receiver"; do
		# Segmentation needs checksums.
		for offload in tx rx gso tso gro; do
			in_netns "$netns" ethtool -K "$(dev_of "$netns")" "$offload" "$1" \
				>/dev/null || return 1
		done
	done
}

dev_of()
{
	[ "$1" = "$sender" ] && echo up0 || echo down0
}

spoken_without_offloads()
{
	set_offloads off && spoken 2 10.71.1.1 && spoken 2 "[fd71:1::1]" &&
	set_offloads on
}

# Selective acknowledgments fill the header: the option stays out of those segments.
room_is_sacks_first()
{
	set_host "$sender" swift 1 1 && set_host "$receiver" swift 1 1 &&
	tc -n "$sender" qdisc replace dev up0 root netem loss 15% &&
	fetches_until_no_room && tc -n "$sender" qdisc del dev up0 root
}

# How many selective acknowledgments a loss calls for is left to chance.
fetches_until_no_room()
{
	local i

	for ((i = 0; i < 10; i++)); do
		fetch 10.71.1.1 && said && [ "$(grew sender tcp-int-echoed)" -gt 0 ] || return 1
		[ "$(grew receiver tcp-int-no-room)" -eq 0 ] || return 0
	done
	return 1
}

# shown NETNS: a flow of it tells of the router's port, the first hop.
shown()
{
	in_netns "$1" quell -j flow show | jq -e 'any(.[];
		.tcp_int_hop == 1 and .tcp_int_link_bytes_ps == 1250000000 and
		.tcp_int_available_bytes_ps <= 1250000000 and
		.tcp_int_latency_ns >= 0 and has("tcp_int_queue_bytes"))' >/dev/null
}

flow_show_says_what_is_known()
{
	set_host "$sender" swift 1 && set_host "$receiver" swift 1 &&
	tc -n "$router" qdisc replace dev up0 root swport rate 10gbit tcp-int 1ms &&
	web_server "$port" "$dir/www" &&
	tc -n "$sender" qdisc replace dev up0 root tbf rate 2mbit burst 20kb limit 1mb ||
		return 1
	start_in "$receiver" wget -q -O /dev/null "http://10.71.1.1:$port/file"
	poll 10 shown "$sender" || {
		in_netns "$sender" quell flow show -d
		return 1
	}
	stop "$started"
	tc -n "$sender" qdisc del dev up0 root
}

plan 11
mkdir "$dir/www"
head -c "$file_bytes" /dev/urandom >"$dir/www/file"

check hosts_and_router make_network
check off_by_default off_by_default
check spoken_ipv4 spoken 0 10.71.1.1
check spoken_ipv6 spoken 0 "[fd71:1::1]"
check spoken_beside_the_quell_option_ipv4 spoken_beside_the_quell_option 10.71.1.1
check spoken_beside_the_quell_option_ipv6 spoken_beside_the_quell_option "[fd71:1::1]"
check host_without_quell_skips_it_ipv4 host_without_quell_skips_it 10.71.1.1
check host_without_quell_skips_it_ipv6 host_without_quell_skips_it "[fd71:1::1]"
check spoken_without_offloads spoken_without_offloads
check room_is_sacks_first room_is_sacks_first
check flow_show_says_what_is_known flow_show_says_what_is_known
finish
