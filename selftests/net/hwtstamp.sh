#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# quell hwtstamp on devices without hardware stamps, and on the cards of
# modules/stampnic.c: it shows the settings of the kernel; a card or a driver that
# would leave TCP's packets unstamped is refused and left as it was; and a flow
# between cards that stamp is timed by them.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./talk.sh

port=7000
host0="" host1=""
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

# cards [PARAMETER]...: stamp0 and stamp1, of a driver loaded anew.
cards()
{
	unload quell_stampnic && modprobe quell_stampnic "$@" &&
	ip link set stamp0 up && ip link set stamp1 up
}
defer unload quell_stampnic

# shows FILTER [JQ]: stamp0, and the line of text says the same.
shows()
{
	quell -j hwtstamp show stamp0 >"$dir/json" && quell hwtstamp show stamp0 >"$dir/text" &&
	json ".[0].rx == \"$1\" and (${2:-true})" "$dir/json" &&
	grep -q "^stamp0: rx $1 tx " "$dir/text"
}

# The kernel's own word for it is that packets are stamped, below.
on_and_off()
{
	shows none '.[0].tx == "off"' &&
	quell hwtstamp on stamp0 >"$dir/out" && grep -q "^stamp0: rx all " "$dir/out" &&
	shows all &&
	quell -j hwtstamp show stamp1 >"$dir/json" && json '.[0].rx == "none"' "$dir/json" &&
	quell -j hwtstamp off stamp0 >"$dir/json" && json '.[0].rx == "none"' "$dir/json" &&
	shows none
}

new_driver()
{
	cards && on_and_off
}

# Linux 6.14 and newer have no use for drivers of which the ioctl is all they have.
old_driver()
{
	cards old=1 || return 1
	if ! printf '6.14\n%s\n' "$(uname -r)" | sort -c -V 2>/dev/null; then
		on_and_off
		return
	fi
	quell -j hwtstamp show stamp0 >"$dir/json" &&
	json '.[0].rx == null and .[0].offers == "none, all"' "$dir/json" &&
	status 2 quell hwtstamp on stamp0 &&
	says "^quell: stamp0: .*: the driver has no hardware stamps$"
}

no_clock()
{
	cards clock=0 && shows none '.[0].phc == null' && on_and_off
}

saved_and_restored()
{
	modprobe tcp_swift && cards && quell hwtstamp on stamp0 >"$dir/out" && quell save >"$dir/saved" &&
	grep -qx 'hwtstamp on stamp0' "$dir/saved" && status 0 quell -check hwtstamp off stamp0 &&
	shows all && quell sync /dev/null && shows none && quell -check restore "$dir/saved" && shows none &&
	quell restore "$dir/saved" >"$dir/out" && shows all && quell hwtstamp off stamp0 >"$dir/out"
}

# PTP needs the stamps of both directions, and its own receive filter is not known any more.
kept_for_ptp()
{
	cards tx=1 && shows none '.[0].tx == "on"' &&
	quell hwtstamp on stamp0 >"$dir/out" && shows all '.[0].tx == "on"' &&
	status 2 quell -check hwtstamp off stamp0 && status 2 quell hwtstamp off stamp0 &&
	says "^quell: stamp0: stamps remain on: .*transmitted packets" && shows all &&
	quell sync /dev/null && shows all '.[0].tx == "on"'
}

# The kernel shows a container the stamps of the NIC below its VLAN, and lets it change none.
vlan_is_not_saved()
{
	ip netns add "hwv-$$" && defer ip netns del "hwv-$$" && cards &&
	ip link add link stamp0 name stamp0.9 type vlan id 9 && ip link set stamp0.9 netns "hwv-$$" &&
	ip link add link stamp0 name stamp0.8 type vlan id 8 && quell hwtstamp on stamp0 >"$dir/out" &&
	quell save >"$dir/saved" && grep -qx 'hwtstamp on stamp0' "$dir/saved" &&
	! grep -F stamp0. "$dir/saved" && ! quell -n "hwv-$$" save | grep hwtstamp &&
	quell -n "hwv-$$" sync /dev/null && shows all
}

# ethtool -T asks the same of the kernel, and has the same words.
like_ethtool()
{
	cards && shows none && ethtool -T stamp0 >"$dir/ethtool" || return 1
	cat "$dir/ethtool"
	[ "$(sed '1,/^Hardware Receive/d' "$dir/ethtool" | xargs)" = \
		"$(jq -r '.[0].offers' "$dir/json" | tr -d ,)" ] &&
	grep -q "Hardware Clock: $(jq '.[0].phc' "$dir/json")$" "$dir/ethtool"
}

# 0x1001: none and ptpv2-event.
ptp_only()
{
	cards filters=0x1001 && shows none '.[0].offers == "none, ptpv2-event"' &&
	status 2 quell hwtstamp on stamp0 &&
	says "^quell: stamp0: .* cannot stamp TCP packets; it offers: none, ptpv2-event$" &&
	shows none
}

chooses_less()
{
	cards filters=0x1003 narrow=1 && status 2 quell hwtstamp on stamp0 &&
	says "^quell: stamp0: .* the driver chose 'ptpv2-event', .* back to 'none'$" &&
	shows none
}

# Two hosts on one cable.
hosts()
{
	local side=0 netns

	modprobe tcp_swift && cards || return 1
	for netns in "$host0" "$host1"; do
		ip link set "stamp$side" netns "$netns" &&
		ip -n "$netns" link set "stamp$side" up &&
		ip -n "$netns" addr add "10.90.0.$((side + 1))/24" dev "stamp$side" &&
		choose_cc "$netns" swift &&
		in_netns "$netns" quell cc set quell option 2 || return 1
		side=1
	done
	serve "$host0" "$port" "cc,swift" && talker talker "$host1" &&
	say "open 4" "cc swift" "connect 10.90.0.1 $port"
}

no_stamps()
{
	hosts && say "xfer 300000" && [ "$(quell_count "$host1" hardware-warming)" -eq 0 ] &&
	[ "$(quell_count "$host1" hardware-stamps)" -eq 0 ]
}

# More until the clock is mapped.
timed_by_card()
{
	say "xfer 300000" && flows_of "$host1" && [[ $flows = *'"clock":"hardware"'* ]] &&
	[ "$(quell_count "$host1" hardware-stamps)" -gt 0 ]
}

stamped()
{
	quell -n "$host0" hwtstamp on stamp0 && quell -n "$host1" hwtstamp on stamp1 &&
	poll 60 timed_by_card
}

in_software_again()
{
	quell -n "$host1" hwtstamp off stamp1 && say "xfer 300000" && flows_of "$host1" &&
	[[ $flows = *'"clock":"software"'* ]]
}

plan 16
check "hwtstamp show names a device without stamps" shows_veth
check "hwtstamp show names all devices" shows_all
check "hwtstamp on says why not" on_says_why_not
check "hwtstamp show in another namespace" other_namespace
check "on and off" new_driver
check "on and off, driver with the ioctl only" old_driver
check "on and off, card without a clock" no_clock
check "save has what is on, and restore switches it on" saved_and_restored
check "stamps that PTP needs are not switched off" kept_for_ptp
check "stamps of a VLAN are those of its NIC" vlan_is_not_saved
check "hwtstamp show has what ethtool -T has" like_ethtool
check "a card that stamps PTP only is refused" ptp_only
check "a driver that chooses PTP is refused and put back" chooses_less
new_netns host0 host1
check "a flow is not timed by cards that do not stamp" no_stamps
check "a flow is timed by cards that do" stamped
check "and in software when they no longer do" in_software_again
finish
