#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Connections agree on the Quell option at both ends, to have it or not, whatever happens
# to the segments that open them and whoever speaks first.
# shellcheck disable=SC2119

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./talk.sh
. ./crowd.sh

count=50 bytes=100

# agree FILTER [HOW] [NETNS ADDRESS]: all open and get what they wait for.
agree()
{
	local status

	crowd_open "$count" "$bytes" "${@:2}" && crowd_agreed "${3:-$client}" && crowd_is "$1"
	status=$?
	crowd_close && return "$status"
}

all_on=".flows == $count and .on == $count and .server_on == $count and .disagree == 0"
alike=".flows == $count and .disagree == 0"
# The servers' sockets are gone; clients that still speak need not have been heard.
opened=".flows == $count"

# lost MODE [FILTER]: a SYN-ACK that its timer sends again offers nothing.
lost()
{
	boxed "$1" && agree "${2:-$all_on}" && stop "$box_pid" && box_pid="" &&
	cat "$dir/box" && grep -q "changed $count\$" "$dir/box"
}

cookies()
{
	local before status

	in_netns "$server" sysctl -q -w net.ipv4.tcp_syncookies=2
	before=$(counter_of "$server" netstat TcpExt SyncookiesRecv)
	agree "$alike"
	status=$?
	in_netns "$server" sysctl -q -w net.ipv4.tcp_syncookies=1
	same "cookies" $(($(counter_of "$server" netstat TcpExt SyncookiesRecv) - before)) "$count" &&
	return "$status"
}

require "two hosts and a box" eval 'modprobe tcp_swift && crowd_network boxed && crowd_hosts swift &&
	boxed pass && crowd_answers'
plan 9
check "nothing is lost" agree "$all_on"
check "the server speaks first" agree "$all_on" first
bytes=0
check "the server closes at once" agree "$opened" close
bytes=100
check "SYN cookies" cookies
check "over loopback" agree "$all_on" "" "$server" 127.0.0.1
check "the first SYN is lost" lost lose-syn
check "the first SYN-ACK is lost" lost lose-syn-ack "$alike"
check "the first segment after the SYN is lost" lost lose-ack
check "nothing is lost, after all that" eval 'boxed pass && agree "$all_on"'
finish
