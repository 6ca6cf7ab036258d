#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Trimming to the sender: a router's port that drops a segment answers who sent it.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./port.sh
. ./router.sh

option=fe0c51550100
command -v ping >/dev/null || {
	ln -s "$(command -v busybox)" "$dir/ping"
	PATH=$dir:$PATH
}

# trim_port OPTION...: of the router, without room for data.
trim_port()
{
	port limit 64 trim size 128 eligible all "$@"
}

# say KEY=VALUE...: from the sender, by the router, to the receiver.
say()
{
	local ends="src=10.71.1.1 dst=10.71.2.1"

	[[ " $* " = *" v6=1 "* ]] && ends="v6=1 src=fd71:1::1 dst=fd71:2::1"
	# shellcheck disable=SC2048,SC2086 # words on purpose
	in_netns "$sender" ip_pkt send up0 "mac=$mac" $ends $*
}

# 1000 bytes of frame; the option states fewer, more or as many bytes of payload.  The
# port has room for nothing, so the router's own multicasts are dropped, too.
answered()
{
	local family=$1 states=$2 lost=$3 ttl=63 echo nack

	# The router has counted down what is outside.
	[ -z "$PKT_TUNNEL" ] || ttl=64

	# The departure that the segment stated is what proves that the port saw it.
	echo=fe105155020001020304000000000000
	nack=fe0a514e12345678${lost}0101
	# shellcheck disable=SC2086 # words on purpose
	trim_port to-sender && hear ip_pkt 1 "$sender" up0 &&
	say $family options="$option$states"01020304 seq=305419896 ack=2596069104 dscp=10 ecn=2 \
		flags=19 && heard &&
	packets_are ".[0] | .proto == \"tcp\" and .payload == 0 and .flags == \"00\" and
		.port == 9 and .seq == 2596069104 and .ack == 305419896 and .window == 0 and
		.options == \"$echo$nack\" and .check == \"good\" and
		.ip_check != \"bad\" and .dscp == 43 and .ecn == 0 and .ttl == $ttl" &&
	port_is '.to_sender_pkts == 1 and .to_sender_drop_pkts == 0 and .trim_pkts == 0 and
		.data_drop_pkts >= 1 and .drops == .data_drop_pkts'
}

# The ends of tunnels are beyond the sender and the receiver.
tunnel_ends()
{
	ip -n "$router" route add 198.51.100.1 via 10.71.1.1 &&
	ip -n "$router" route add 198.51.100.2 via 10.71.2.1 &&
	ip -n "$router" route add 2001:db8:100::1 via fd71:1::1 &&
	ip -n "$router" route add 2001:db8:100::2 via fd71:2::1
}

answered_in_tunnels()
{
	tunnel_ends || return 1
	for PKT_TUNNEL in ipip ip6tnl gre gretap vxlan vxlan6; do
		export PKT_TUNNEL
		if ! answered "" 0384 03a6 || ! answered v6=1 0392 0392; then
			echo "in $PKT_TUNNEL"
			return 1
		fi
	done
	unset PKT_TUNNEL
}

# What Geneve's options mean for a packet the other way nobody knows.
options_are_not_answered()
{
	export PKT_TUNNEL=geneve
	trim_port to-sender && hear ip_pkt 1 "$receiver" down0 && say "options=${option}03a601020304" && heard &&
	packets_are '.[0] | .dscp == 43 and .check == "good"' &&
	port_is '.to_sender_pkts == 0 and .trim_pkts == 1'
	local status=$?
	unset PKT_TUNNEL
	return "$status"
}

# Senders that know no NACKs, segments without payload's length, datagrams.
others_are_sent_on()
{
	trim_port to-sender && hear ip_pkt 5 "$receiver" down0 && say && say v6=1 && say proto=udp &&
	say "options=fe1051550200010203040506070809ff" && say "options=fe08515501020304" &&
	heard && packets_are 'all(.bytes == 128 and .dscp == 43 and .check == "good")' &&
	port_is '.to_sender_pkts == 0 and .trim_pkts == 5 and .trim_sent_pkts == 5'
}

off_means_off()
{
	trim_port && hear ip_pkt 1 "$receiver" down0 && say "options=${option}03a601020304" && heard &&
	packets_are '.[0].bytes == 128' && port_is '.to_sender_pkts == 0 and .trim_pkts == 1'
}

# What the router sends itself.
own_is_sent_on()
{
	trim_port to-sender && hear ip_pkt 1 "$receiver" down0 &&
	in_netns "$router" ip_pkt send up0 "options=${option}03a601020304" && heard &&
	packets_are '.[0].bytes == 128' && port_is '.to_sender_pkts == 0 and .trim_pkts == 1'
}

# A strict filter of reverse paths lets the answer pass.
reverse_path_is_right()
{
	in_netns "$router" sysctl -q -w net.ipv4.conf.all.rp_filter=1 \
		net.ipv4.conf.up0.rp_filter=1 net.ipv4.conf.down0.rp_filter=1 &&
	answered "" 03a6 03a6
}

# Of ten segments at once a backlog of none takes one answer, or two.
backlog_is_the_limit()
{
	local limit

	limit=$(cat /proc/sys/net/core/netdev_max_backlog)
	defer sysctl -q -w "net.core.netdev_max_backlog=$limit"
	trim_port to-sender && hear ip_pkt 1 "$sender" up0 &&
	sysctl -q -w net.core.netdev_max_backlog=0 &&
	say "options=${option}03e801020304 gso=1000 bytes=10066" && heard &&
	sysctl -q -w "net.core.netdev_max_backlog=$limit" &&
	port_is '.to_sender_pkts >= 1 and .to_sender_drop_pkts >= 1 and .trim_pkts == 0 and
		.to_sender_pkts + .to_sender_drop_pkts == .data_drop_pkts and
		.data_drop_pkts == 10'
}

plan 12
check "a sender, a router, a receiver" make_network
near=$router port_dev=up0
mac=$(ip -n "$router" -j link show dev down0 | jq -r '.[0].address')
loaded sch_swport || modprobe sch_swport
# 934 bytes of payload over IPv4, 914 over IPv6.
check "IPv4: the sender is answered" answered "" 03a6 03a6
check "IPv6: the sender is answered" answered v6=1 0392 0392
check "a length stated too small is put right" answered "" 0384 03a6
check "of a packet trimmed before, all is named" answered "" 03c2 03c2
check "in a tunnel the answer goes back by it" answered_in_tunnels
check "not by Geneve with options" options_are_not_answered
check "all others are trimmed and sent on" others_are_sent_on
check "without to-sender nobody is answered" off_means_off
check "what the router sends itself is sent on" own_is_sent_on
check "a filter of reverse paths lets answers pass" reverse_path_is_right
check "the backlog bounds the answers" backlog_is_the_limit
finish
