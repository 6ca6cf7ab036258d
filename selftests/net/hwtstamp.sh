#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# quell hwtstamp where no card stamps anything: what it shows is what ethtool's
# interface says, and a refusal names the device and the reason.  Cards that do
# stamp are in the laboratory (selftests/lab/check-hwstamp).
# shellcheck disable=SC2317 # checks are called by name

cd "$(dirname "$0")" || exit 1
# shellcheck source-path=SCRIPTDIR source=lib.sh
. ./lib.sh

dir=$(mktemp -d)
defer rm -rf "$dir"
ip link add hws0 type veth peer name hws1 || exit 1
defer ip link del hws0

# A veth pair, unlike lo, has ethtool operations and a driver.
shows_veth()
{
	quell -j hwtstamp show hws0 >"$dir/json" &&
	jq -e 'length == 1 and .[0].dev == "hws0" and .[0].phc == null and
	       .[0].offers == "none" and (.[0].rx == null or .[0].rx == "none")' "$dir/json"
}

shows_all()
{
	[ "$(quell -j hwtstamp show | jq -c '[.[].dev] | sort')" = \
	  "$(ip -j link show | jq -c '[.[].ifname] | sort')" ]
}

on_says_why_not()
{
	status 2 quell hwtstamp on hws0 &&
	says "^quell: hws0: cannot switch stamps on: the driver has no hardware stamps$"
}

other_namespace()
{
	ip netns add "hws-$$" && defer ip netns del "hws-$$" &&
	[ "$(quell -n "hws-$$" -j hwtstamp show | jq -c '[.[].dev]')" = '["lo"]' ]
}

plan 4
check "hwtstamp show names a device without stamps" shows_veth
check "hwtstamp show names all devices" shows_all
check "hwtstamp on says why not" on_says_why_not
check "hwtstamp show in another namespace" other_namespace
finish
