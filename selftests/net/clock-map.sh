#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The map of a NIC's clock goes with its interface.  A card is replaced by one with another
# clock, and the new interface has the number of the old one, as an administrator may choose:
# its receipts are timed by a map of its own, not by a clock that seems to have jumped.
#
#	host0 (swift) --- stamp0, stamp1 --- host1 (swift)

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./talk.sh

host0="" host1=""
defer unload quell_stampnic

index=1000
new_netns host0 host1

# cards OFFSET_S: two of them on one cable, whose clocks are so far ahead; stamps are on.
cards()
{
	local side=0 netns

	modprobe quell_stampnic "index=$index" "offset_s=$1" || return 1
	for netns in "$host0" "$host1"; do
		ip link set "stamp$side" netns "$netns" &&
		ip -n "$netns" link set "stamp$side" up &&
		ip -n "$netns" addr add "10.90.0.$((side + 1))/24" dev "stamp$side" &&
		quell -n "$netns" hwtstamp on "stamp$side" || return 1
		side=1
	done
	[ "$(in_netns "$host1" cat /sys/class/net/stamp1/ifindex)" -eq $((index + 1)) ]
}

# connect PORT: a connection from host1, whose talker has that name.
connect()
{
	serve "$host0" "$1" "cc,swift" && talker "to$1" "$host1" &&
	ordered "to$1" "open 4" "cc swift" "connect 10.90.0.1 $1"
}

# Receipts that an interface's map has timed are more than before.
mapped()
{
	ordered "to$1" "xfer 300000" && [ "$(quell_count "$host1" hardware-stamps)" -gt "$2" ]
}

first()
{
	modprobe tcp_swift && choose_cc "$host0" swift && choose_cc "$host1" swift &&
	cards 1700000000 && connect 7001 && poll 60 mapped 7001 0
}

# The driver goes while the connection is open, and a second connection is the new card's.
replaced()
{
	unload quell_stampnic && cards 1700000100 && connect 7002 &&
	poll 60 mapped 7002 "$(quell_count "$host1" hardware-stamps)"
}

no_step()
{
	same "clock steps" "$(quell_count "$host1" clock-steps)" 0
}

plan 3
check "receipts are timed by a card's clock" first
check "and by that of another card with the same interface number" replaced
check "no clock has jumped" no_step
finish
