#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Segments that TCP does not get to see, or refuses, change nothing of a flow: what the
# host's own rules drop, what came from too far away (GTSM), what is not signed where
# signatures are wanted (MD5, TCP-AO).  Of each kind a NACK that is right in every number
# of TCP's, and an acknowledgment.  The same two without any of that are looked at.
# IPsec policies are not tried: ESP does not start in virtual time (debug.config).
#
#	$client wire --- west $router east --- wire $server
#	10.81.1.2     10.81.1.1     10.81.2.1     10.81.2.2
#
# The router makes them up, while the server's answers take 300 ms.
# shellcheck disable=SC2154 # $flows is talk.sh's

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./talk.sh
. ./routed.sh

# Those of ip_pkt.c.
port=20821 own_port=9
here=10.81.1.2 there=10.81.2.2
server_pid=""
# Behind three routers less than the least initial value above: no host is that far.
false_ttl=100 false_hops=28

make_hosts()
{
	local netns

	modprobe tcp_swift || return 1
	for netns in "$client" "$server"; do
		choose_cc "$netns" swift &&
		quell -n "$netns" cc set quell option 1 &&
		quell -n "$netns" cc set swift base-target 1s || return 1
	done
	talker talker "$client"
}

hops()
{
	quell -n "$client" -j flow show | jq '.[0].hops'
}

# forge OPTIONS KEY=VALUE...: from the server's address.
forge()
{
	in_netns "$router" ip_pkt send west "mac=$(in_netns "$client" cat /sys/class/net/wire/address)" \
		src="$there" dst="$here" flags=10 options="$1" bytes=$((54 + ${#1} / 2)) "${@:2}"
}

# A NACK of the first 1400 bytes from a number on.
nack()
{
	printf 'fe0a514e%08x05780101' "$1"
}

# connected [COMMAND]...: a flow that has sent and received.
connected()
{
	say "open 4" "bind $here $own_port" "$@" "connect $there $port" "xfer 10000" numbers || return 1
	read -r _ _ next awaited <<<"$answer"
	nacks=$(quell_count "$client" nack-received)
}

# An acknowledgment of nothing new, while nothing is under way, and a NACK of what is.
forge_both()
{
	local seen

	forge "" ttl="${ttl:-$false_ttl}" seq="$awaited" ack="$next" dscp=43 && seen=$(hops) &&
	tc -n "$server" qdisc replace dev wire root netem delay 300ms || return 1
	ask talker "xfer 5000"
	poll 5 in_flight && forge "$(nack "$next")" ${ttl:+"ttl=$ttl"} seq="$awaited" ack="$next" dscp=43
	told talker && tc -n "$server" qdisc del dev wire root || return 1
	hops=$seen nacks=$(($(quell_count "$client" nack-received) - nacks))
	echo "hops $hops, NACKs $nacks"
}

in_flight()
{
	in_netns "$client" ss -Htin "sport = :$own_port" | grep -q unacked
}

# believed|refused [COMMAND]...  What the NACK is then worth is nack-storm.sh's; TCP itself
# sends again what waits for 300 ms.
believed()
{
	connected "$@" && forge_both && say reset &&
	[ "$hops" -eq "$false_hops" ] && [ "$nacks" -eq 1 ]
}

refused()
{
	connected "$@" && forge_both && say reset &&
	[ "$hops" -ne "$false_hops" ] && [ "$nacks" -eq 0 ]
}

# serve_with [COMMAND]: the server anew.
serve_with()
{
	[ -z "$server_pid" ] || stop "$server_pid"
	serve "$server" "$port" "$@"
	server_pid=$started
}

firewall()
{
	in_netns "$client" nft -f - <<-END
		table ip f { chain f { type filter hook input priority 0; ip dscp 43 counter drop; }; }
	END
	refused && in_netns "$client" nft list ruleset | grep 'packets [1-9]'
	local status=$?
	in_netns "$client" nft flush ruleset
	return "$status"
}

ttl_security()
{
	ttl=$false_ttl
	in_netns "$server" sysctl -q -w net.ipv4.ip_default_ttl=255
	refused "minttl 250"
	local status=$?
	in_netns "$server" sysctl -q -w net.ipv4.ip_default_ttl=64
	ttl=""
	return "$status"
}

signed()
{
	serve_with "$1,::ffff:$here,secret" && refused "$1 $there secret"
	local status=$?
	serve_with
	return "$status"
}

require "two hosts and a router" eval 'routed_network 81 && make_hosts && serve_with'
ttl=""
plan 5
check "what TCP takes is believed" believed
check "what the host's rules drop is not" firewall
check "nor what came from too far" ttl_security
check "nor what is not signed by MD5" signed md5
check "nor what is not signed by TCP-AO" signed ao
finish
