#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# NACKs and what is in their way: conntrack with the usual rules at the hosts and at a
# router, and a bridge in the router's place.
#
#	$sender --- $router up0: swport, trimming --- $receiver

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./router.sh

port=8080

# An emulated host's round trips are far longer than what SMaRTT aims at.  As in the
# paper it begins with a burst, of which many are trimmed; fitted, it loses a few.
set_hosts()
{
	local netns

	mkdir "$dir/www" && head -c 300000 /dev/urandom >"$dir/www/file" &&
	modprobe tcp_smartt || return 1
	for netns in "$sender" "$receiver"; do
		quell -n "$netns" cc set quell option 1 &&
		quell -n "$netns" cc set smartt adapt off target-delay 100ms &&
		choose_cc "$netns" smartt || return 1
	done
}

# firewall NETNS HOOK [RULE...]: the usual rules: what belongs to a connection may pass,
# what conntrack calls invalid not; before them the rules given.
firewall()
{
	local netns=$1 hook=$2 rule
	shift 2

	{
		echo "table inet fw { chain fw { type filter hook $hook priority 0; policy drop"
		for rule; do
			echo "$rule"
		done
		echo 'ct state invalid counter drop'
		echo 'ct state established,related accept'
		echo 'meta l4proto { 1, 58 } accept'
		echo "tcp dport $port tcp flags & (fin|syn|rst|ack) == syn accept"
		printf 'counter\n}\n}\n'
	} >"$dir/rules"
	in_netns "$netns" nft -f "$dir/rules"
}

no_firewalls()
{
	local netns

	for netns in "$sender" "$router" "$receiver"; do
		in_netns "$netns" nft flush ruleset
	done
}

# Packets a namespace's rules called invalid.
invalid()
{
	in_netns "$1" nft -j list chain inet fw fw |
		jq '[.nftables[].rule?.expr | select(. != null) | select(any(.[]; has("drop"))) |
			.[].counter?.packets | values] | add'
}

# transfer ADDRESS PORT-OPTION...: a file, by a port with room for a dozen packets.
transfer()
{
	local address=$1
	shift

	up0_port limit 20kb trim size 128 "$@" && web_server "$port" "$dir/www" || return 1
	received=$(quell_count "$sender" nack-received) sent=$(quell_count "$receiver" nack-sent)
	in_netns "$receiver" timeout 100 wget -q -O "$dir/copy" "http://$address:$port/file" &&
	cmp "$dir/www/file" "$dir/copy" || return 1
	received=$(($(quell_count "$sender" nack-received) - received))
	sent=$(($(quell_count "$receiver" nack-sent) - sent))
	up0_stats | jq '.[0]' >"$dir/port"
	answered=$(jq .to_sender_pkts "$dir/port")
	echo "trimmed $(jq .trim_pkts "$dir/port"), by the receiver $sent, by the router $answered, received $received"
}

# Receivers' NACKs pass: they are ACKs, of the connection's own numbers.
hosts_firewalls()
{
	firewall "$sender" input && firewall "$receiver" input && firewall "$router" forward &&
	transfer "$1" && [ "$sent" -gt 10 ] && [ "$received" -eq "$sent" ] || return 1
	echo "invalid: $(invalid "$sender") $(invalid "$router") $(invalid "$receiver")"
	[ "$(invalid "$sender")$(invalid "$router")$(invalid "$receiver")" = 000 ]
}

# The router's own NACKs, to the sender: none of the connection's, and without flags.
to_sender()
{
	transfer "$1" to-sender && [ "$answered" -gt 10 ] && [ "$received" -eq "$answered" ]
}

# The router's own rules see them as coming in from the receiver.
router_calls_them_invalid()
{
	firewall "$router" forward && transfer 10.71.1.1 to-sender && [ "$answered" -gt 10 ] &&
	[ "$received" -eq 0 ] && [ "$(invalid "$router")" -eq "$answered" ]
}

# Before the others, at whoever forwards or takes them.
pass='ip dscp 43 tcp flags & (fin|syn|rst|psh|ack|urg) == 0x0 accept'

a_rule_lets_them_pass()
{
	in_netns "$router" nft flush ruleset && firewall "$router" forward "$pass" &&
	to_sender 10.71.1.1 && [ "$(invalid "$router")" -eq 0 ]
}

# What the sender's rules drop quell.ko, behind them, never sees.
sender_calls_them_invalid()
{
	no_firewalls && firewall "$sender" input && transfer 10.71.1.1 to-sender &&
	[ "$answered" -gt 10 ] && [ "$received" -eq 0 ] &&
	[ "$(invalid "$sender")" -eq "$answered" ]
}

sender_lets_them_pass()
{
	local recovered

	recovered=$(quell_count "$sender" nack-recovered)
	no_firewalls && firewall "$sender" input "$pass" && to_sender 10.71.1.1 || return 1
	recovered=$(($(quell_count "$sender" nack-recovered) - recovered))
	echo "invalid $(invalid "$sender"), recovered $recovered"
	[ "$(invalid "$sender")" -eq 0 ] && [ "$recovered" -gt 0 ]
}

make_bridge()
{
	no_firewalls && ip -n "$router" link add name br0 up type bridge &&
	ip -n "$router" addr flush dev up0 && ip -n "$router" addr flush dev down0 &&
	ip -n "$router" link set down0 master br0 && ip -n "$router" link set up0 master br0 &&
	ip -n "$sender" addr add 10.72.1.1/24 dev up0 &&
	ip -n "$receiver" addr add 10.72.1.2/24 dev down0 &&
	poll 10 in_netns "$sender" ping -c 1 -W 1 10.72.1.2
}

across_a_bridge()
{
	transfer 10.72.1.1 && [ "$sent" -gt 10 ] && [ "$received" -eq "$sent" ]
}

plan 11
check "network" make_network
check "hosts speak the option" set_hosts
check "IPv4: usual rules at hosts and router let receivers' NACKs pass" hosts_firewalls 10.71.1.1
check "IPv6: the same" eval 'no_firewalls && hosts_firewalls "[fd71:1::1]"'
check "to-sender without rules" eval 'no_firewalls && to_sender 10.71.1.1'
check "to-sender: the router's conntrack drops its NACKs" router_calls_them_invalid
check "to-sender: a rule before lets them pass" a_rule_lets_them_pass
check "to-sender: the sender's conntrack drops them" sender_calls_them_invalid
check "to-sender: the same rule lets them pass there" sender_lets_them_pass
check "a bridge in the router's place" make_bridge
check "across a bridge: receivers' NACKs, and the port's own" eval 'across_a_bridge && to_sender 10.72.1.1'
finish
