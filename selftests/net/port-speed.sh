#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The rate that telemetry states where the port has none of its own: its device's, asked
# again as the device comes up.  In a guest of its own, or before port-storm.sh, which unloads
# the module.

cd "$(dirname "$0")" || exit 1
. ./lib.sh

near=""

link_rate_is()
{
	tc -n "$near" -s -j qdisc show dev tap7 | jq -e ".[0].link_rate == $1" >/dev/null
}

# A tap says whatever speed it was given.
make_tap()
{
	{ [ -e /dev/net/tun ] || modprobe tun; } && new_netns near &&
	ip -n "$near" tuntap add tap7 mode tap &&
	in_netns "$near" ethtool -s tap7 speed 100 && ip -n "$near" link set tap7 up
}

speed_follows_the_device()
{
	loaded sch_swport || modprobe sch_swport || return 1
	tc -n "$near" qdisc add dev tap7 root swport telemetry 8us && link_rate_is 12500000 &&
	in_netns "$near" ethtool -s tap7 speed 1000 && link_rate_is 12500000 &&
	ip -n "$near" link set tap7 down && ip -n "$near" link set tap7 up &&
	link_rate_is 125000000
}

plan 2
check "a tap of 100 Mbit/s" make_tap
check "the speed follows the device" speed_follows_the_device
finish
