#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Dart as its users see it: three senders and a receiver, whose line is the slowest of the
# path.  n in the senders' flows, the list of senders, weights, look-ahead groups and their
# limits, counters, errors.
#
#	hosts[0] wire --- port0 +---------+
#	hosts[1] wire --- port1 | $router | out0, swport 1 Gbit/s --- wire $receiver
#	hosts[2] wire --- port2 +---------+                           10.85.9.2
#	10.85.N.2       10.85.N.1
# shellcheck disable=SC2086 # words

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./talk.sh

port=7100 there=10.85.9.2 line_bytes_ps=125000000
nobody=65534
router="" receiver=""
hosts=() talker_pid=() serving=""

make_host()
{
	local netns

	new_netns netns && hosts+=("$netns") &&
	cable "$netns" wire "$router" "port$1" "10.85.$1.2/24" "10.85.$1.1/24" &&
	ip -n "$netns" route add default via "10.85.$1.1" &&
	tc -n "$router" qdisc add dev "port$1" root netem delay 200us limit 10000 &&
	prepare "$netns" && talker "$1" "$netns" && talker_pid[$1]=$started
}

# Dart from the first packet on; round trips are of a third of a millisecond.
prepare()
{
	choose_cc "$1" dart && quell -n "$1" cc set dart adapt off slack 100us &&
	quell -n "$1" cc set quell option 1 &&
	in_netns "$1" ethtool -K wire tso off gso off gro off >/dev/null
}

make_network()
{
	local i

	modprobe -a tcp_dart sch_swport &&
	new_netns router receiver &&
	cable "$receiver" wire "$router" out0 "$there/24" 10.85.9.1/24 &&
	in_netns "$router" sysctl -q -w net.ipv4.ip_forward=1 &&
	ip -n "$receiver" route add default via 10.85.9.1 &&
	tc -n "$router" qdisc add dev out0 root swport rate 1gbit limit 500kb \
		ecn min 40kb max 160kb &&
	quell -n "$receiver" link set wire rate 1gbit && prepare "$receiver" || return 1
	for ((i = 0; i < 3; i++)); do
		make_host "$i" || return 1
	done
	serve "$receiver" "$port" sink && serving=$started
}

# send N...: from these, 10 s at the line rate, in the background.
send()
{
	local i

	for i; do
		ordered "$i" "open 4" "connect $there $port" || return 1
	done
	for i; do
		ask "$i" "push 1250000000"
	done
}

# cut_off N...: these send no more; their talkers were busy, so others take their places.
cut_off()
{
	local i

	for i; do
		stop "${talker_pid[$i]}"
		rm -f "$dir/$i.in" "$dir/$i.out"
		talker "$i" "${hosts[$i]}" && talker_pid[i]=$started || return 1
	done
}

# n_is HOST N_Q8: what the receiver states to all flows of a sender.
n_is()
{
	quell -n "${hosts[$1]}" -j flow show >"$dir/flows" &&
	json "length > 0 and all(.n_q8 == $2 and
		.share_bytes_ps == ($line_bytes_ps * 256 / $2 | floor))" "$dir/flows"
}

# receiver_is FILTER: of the receiver's interface.
receiver_is()
{
	quell -n "$receiver" -j sender show >"$dir/senders" &&
	json "length == 1 and (.[0] | .dev == \"wire\" and .rate_bytes_ps == $line_bytes_ps and
		($1))" "$dir/senders"
}

# senders_are NUMBER: in the line of the interface, in the list, and in a flow.
senders_are()
{
	receiver_is ".active == $1 and ([.senders[] | select(.connections > 0)] | length) == $1" &&
	quell -n "$receiver" -j flow show >"$dir/flows" &&
	json "all(.receiver_senders == $1)" "$dir/flows"
}

# groups_are FILTER: those of the receiver.
groups_are()
{
	quell -n "$receiver" -j lookahead show >"$dir/groups" && json "$1" "$dir/groups"
}

at_receiver()
{
	in_netns "$receiver" "$@"
}

as_nobody()
{
	at_receiver setpriv --reuid "$nobody" --clear-groups --inh-caps=-all "$@"
}

## n and the list of senders

one_sender()
{
	send 0 && poll 10 senders_are 1 && poll 10 n_is 0 256 &&
	receiver_is '.weight == 1 and .senders == [{address: "10.85.0.2", weight: 1,
		connections: 1, waiting: 0}]'
}

two_senders()
{
	send 1 && poll 10 senders_are 2 && poll 10 n_is 0 512 && poll 10 n_is 1 512
}

# A host counts once; its connections have its share in common.
two_connections_of_one_host()
{
	talker again "${hosts[1]}" && talker_pid[9]=$started &&
	ordered again "open 4" "connect $there $port" && ask again "push 1250000000" &&
	poll 10 receiver_is '.active == 2 and .weight == 2 and
		([.senders[] | select(.address == "10.85.1.2") | .connections] == [2])' &&
	poll 10 n_is 0 512 && poll 10 n_is 1 1024
}

text_is_for_people()
{
	quell -n "$receiver" sender show dev wire >"$dir/text" &&
	grep -qE '^wire: state [a-z-]+ senders 2 weight 2 rate 1Gbit$' "$dir/text" &&
	grep -qE '^	10\.85\.1\.2 weight 1 connections 2$' "$dir/text" &&
	[ "$(wc -l <"$dir/text")" -eq 3 ] &&
	[ -z "$(quell -n "$receiver" sender show dev lo)" ] &&
	quell -n "${hosts[0]}" flow show -d >"$dir/text" &&
	grep -q ' n:2\.00 share:500Mbit' "$dir/text" &&
	quell -n "$receiver" flow show -d >"$dir/text" &&
	grep -qE ' receiver-state:[a-z-]+ receiver-senders:2' "$dir/text" && return 0
	cat "$dir/text"
	return 1
}

arrived_bytes()
{
	in_netns "$router" cat "/sys/class/net/port$1/statistics/rx_bytes"
}

# share_of HOST PERCENT: of the receiver's line, within 5 % of the line, in 0.2 s.
share_of()
{
	local before percent

	before=$(arrived_bytes "$1")
	sleep 0.2
	percent=$((($(arrived_bytes "$1") - before) * 100 / (line_bytes_ps / 5)))
	echo "host $1 has $percent % of the line, wanted $2"
	[ $((percent - $2)) -le 5 ] && [ $((percent - $2)) -ge -5 ]
}

# n of the first is 4 / 3, rounded up in units of 1/256.
weights_divide_the_line()
{
	poll 5 share_of 0 50 && at_receiver quell sender weight 10.85.0.2 3 &&
	receiver_is '.weight == 4 and ([.senders[] | select(.weight == 3) | .address]
		== ["10.85.0.2"])' &&
	poll 10 n_is 0 342 && poll 10 n_is 1 2048 && poll 5 share_of 0 75 && poll 5 share_of 1 25
}

weight_one_forgets()
{
	at_receiver quell sender weight 10.85.2.2 9 dev wire &&
	receiver_is '(.senders | length) == 3 and .weight == 4' &&
	at_receiver quell sender weight 10.85.2.2 1 dev wire &&
	at_receiver quell sender weight 10.85.0.2 1 &&
	receiver_is '(.senders | length) == 2 and .weight == 2' && poll 10 n_is 0 512
}

weights_are_refused()
{
	status 2 as_nobody quell sender weight 10.85.0.2 3 && says 'not permitted' &&
	status 2 at_receiver quell sender weight :: 3 dev wire && says 'not that of a host' &&
	status 2 at_receiver quell sender weight ff02::1 3 dev wire && says 'not that of a host' &&
	status 1 at_receiver quell sender weight 10.85.0.2 256 && says 'range 1 .. 255' &&
	status 1 at_receiver quell sender weight 10.85.0.2 3 dev nosuch && says 'No such device' &&
	receiver_is '.weight == 2'
}

senders_leave()
{
	stop "${talker_pid[9]}" && cut_off 0 1 && poll 20 senders_are 0 &&
	same joined "$(quell_count "$receiver" senders-joined)" \
		"$(quell_count "$receiver" senders-left)" &&
	same expired "$(quell_count "$receiver" senders-expired)" 0
}

# has_no_flow N: what was left to send at its end has been sent.
has_no_flow()
{
	quell -n "${hosts[$1]}" -j flow show >"$dir/flows" && json 'length == 0' "$dir/flows"
}

# No packet says that it died, and none makes the receiver look.  It counts again with the
# first packet that TCP's timeout sends once more.
one_dies()
{
	send 2 && poll 10 senders_are 1 && ip -n "$router" link set port2 down && sleep 0.05 &&
	senders_are 0 && same expired "$(quell_count "$receiver" senders-expired)" 1 &&
	ip -n "$router" link set port2 up && poll 20 senders_are 1 && poll 10 n_is 2 256 &&
	cut_off 2 && poll 30 has_no_flow 2 && poll 20 senders_are 0
}

# marks_arrive HOST: its TCP learns of them.
marks_arrive()
{
	in_netns "${hosts[$1]}" ss -tinH dst "$there" | grep -qE 'delivered_ce:[1-9]'
}

# more_hidden THAN
more_hidden()
{
	[ "$(quell_count "$receiver" marks-hidden)" -gt "$1" ]
}

# CUBIC fills the queue up to its marks: Dart's of the same queue are hidden, its own are not.
# Nor are those of a Quell algorithm that has the option and does not follow n.
marks_of_others_pass()
{
	local cc hidden

	at_receiver sysctl -q -w net.ipv4.tcp_ecn=1 && send 0 &&
	poll 10 senders_are 1 || return 1
	for cc in cubic swift; do
		hidden=$(quell_count "$receiver" marks-hidden)
		choose_cc "${hosts[2]}" "$cc" &&
		in_netns "${hosts[2]}" sysctl -q -w net.ipv4.tcp_ecn=1 && send 2 && poll 10 marks_arrive 2 && poll 10 more_hidden "$hidden" &&
		receiver_is '.state != "non-receiver"' && cut_off 2 || return 1
	done
	choose_cc "${hosts[2]}" dart && cut_off 0 && poll 20 senders_are 0
}

## look-ahead

register()
{
	at_receiver quell cc set dart lookahead 1s &&
	at_receiver quell lookahead add workers time 500ms 10.85.0.2 10.85.1.2 10.85.2.2 &&
	groups_are '. == [{name: "workers", uid: 0, dev: "wire", time_ns: 500000000, waiting: 0,
		members: [{address: "10.85.0.2"}, {address: "10.85.1.2"},
			  {address: "10.85.2.2"}]}]' &&
	at_receiver quell lookahead show | grep -qx \
		'workers: uid 0 dev wire time 500ms members 3 waiting 0'
}

# The first to send has a third of the line, until the time has passed.
members_count_ahead()
{
	local armed

	armed=$(quell_count "$receiver" lookahead-armed)
	send 0 && poll 10 n_is 0 768 && groups_are '.[0].waiting == 2' &&
	receiver_is '.active == 1 and
		([.senders[] | select(.waiting == 1) | .address] | sort) ==
			["10.85.1.2", "10.85.2.2"]' &&
	poll 10 n_is 0 256 && groups_are '.[0].waiting == 0' &&
	same armed "$(quell_count "$receiver" lookahead-armed)" $((armed + 1)) &&
	same absent "$(quell_count "$receiver" lookahead-absent)" 2 && cut_off 0 && poll 20 senders_are 0
}

# Those of another user do not, nor are they looked at: the receiving sockets are root's.
strangers_groups_change_nothing()
{
	local armed

	armed=$(quell_count "$receiver" lookahead-armed)
	at_receiver quell lookahead del workers &&
	as_nobody quell lookahead add workers time 500ms 10.85.0.2 10.85.1.2 10.85.2.2 &&
	groups_are 'map([.name, .uid]) == [["workers", 65534]]' &&
	send 0 && poll 10 senders_are 1 && poll 10 n_is 0 256 && groups_are '.[0].waiting == 0' &&
	same armed "$(quell_count "$receiver" lookahead-armed)" "$armed" &&
	cut_off 0 && poll 20 senders_are 0
}

# Root's and nobody's are two.
users_have_their_own()
{
	at_receiver quell lookahead add workers 10.85.0.2 &&
	groups_are 'map([.name, .uid, (.members | length)]) == [["workers", 65534, 3],
		["workers", 0, 1]]' &&
	status 2 as_nobody quell lookahead del workers uid 0 &&
	says "not permitted .*another user's groups" &&
	groups_are 'length == 2' && as_nobody quell lookahead del workers uid "$nobody" &&
	groups_are 'map(.uid) == [0]' &&
	status 2 as_nobody quell lookahead del workers && says 'has no group of this name' &&
	as_nobody quell lookahead add other 10.85.0.2 &&
	at_receiver quell lookahead del other uid "$nobody" && groups_are 'map(.uid) == [0]' &&
	at_receiver quell lookahead del workers && groups_are '. == []'
}

# addresses NUMBER [FIRST]: so many, all different.
addresses()
{
	local i

	for ((i = ${2:-0}; i < ${2:-0} + $1; i++)); do
		echo "10.86.$((i / 256)).$((i % 256))"
	done
}

# shellcheck disable=SC2046 # words
members_have_a_limit()
{
	status 2 at_receiver quell lookahead add many dev wire $(addresses 1025) &&
	says 'members: 1 to 1024' && groups_are '. == []' &&
	at_receiver quell lookahead add many dev wire $(addresses 1024) &&
	groups_are 'length == 1 and (.[0].members | length) == 1024 and
		(.[0].members | unique | length) == 1024 and
		.[0].members[1023].address == "10.86.3.255"' &&
	receiver_is '(.senders | map(.address) | unique | length) == 1024' &&
	status 2 at_receiver quell lookahead add one dev wire 10.86.3.255 &&
	says 'groups with one host' &&
	at_receiver quell lookahead add few dev wire 10.86.200.1 &&
	status 2 at_receiver quell lookahead replace few dev wire 10.86.3.255 &&
	groups_are 'map(select(.name == "few") | .members[].address) == ["10.86.200.1"]' &&
	at_receiver quell lookahead replace few dev wire 10.86.200.2 &&
	groups_are 'map(select(.name == "few") | .members[].address) == ["10.86.200.2"]' &&
	at_receiver quell lookahead del few &&
	as_nobody quell lookahead add one dev wire 10.86.3.255 &&
	as_nobody quell lookahead del one &&
	at_receiver quell lookahead del many && groups_are '. == []' &&
	receiver_is '.senders == []'
}

# shellcheck disable=SC2046 # words
users_have_a_limit()
{
	local i

	for ((i = 0; i < 4; i++)); do
		as_nobody quell lookahead add "full$i" dev wire $(addresses 1024 $((i * 1024))) || return 1
	done
	status 2 as_nobody quell lookahead add more dev wire 10.85.0.2 &&
	says 'too many groups or members' && at_receiver quell lookahead add more 10.85.0.2 &&
	groups_are '(map(.members | length)) == [1024, 1024, 1024, 1024, 1]' &&
	at_receiver quell lookahead del more || return 1
	for ((i = 0; i < 4; i++)); do
		as_nobody quell lookahead del "full$i" || return 1
	done
}

groups_have_a_limit()
{
	local i

	for ((i = 0; i < 64; i++)); do
		at_receiver quell lookahead add "g$i" 10.85.0.2 || return 1
	done
	status 2 at_receiver quell lookahead add g64 10.85.0.2 &&
	says 'too many groups or members' && groups_are 'length == 64' &&
	as_nobody quell lookahead add g64 10.85.0.2 && as_nobody quell lookahead del g64 || return 1
	for ((i = 0; i < 64; i++)); do
		at_receiver quell lookahead del "g$i" || return 1
	done
	groups_are '. == []'
}

refuses_group()
{
	status "$1" at_receiver quell lookahead add "${@:3}" && says "$2"
}

mistakes_are_refused()
{
	refuses_group 2 'one address is there twice' g 10.85.0.2 10.85.1.2 10.85.0.2 &&
	refuses_group 2 'one address is there twice' g 10.85.0.2 ::ffff:10.85.0.2 &&
	refuses_group 2 'not that of a host' g dev wire 0.0.0.0 &&
	refuses_group 2 'not that of a host' g dev wire 224.0.0.1 &&
	refuses_group 2 'not that of a host' g dev wire 255.255.255.255 &&
	refuses_group 2 'name: letters, digits' $'g\e[31m' 10.85.0.2 &&
	refuses_group 2 'name: letters, digits' 'g: uid' 10.85.0.2 &&
	refuses_group 2 'at most 1000000000 ns' g time 1001ms 10.85.0.2 &&
	refuses_group 1 'nosuch: No such device' g dev nosuch 10.85.0.2 &&
	refuses_group 2 'unreachable' g fd85::1 && groups_are '. == []' &&
	at_receiver quell lookahead add g 10.85.0.2 &&
	refuses_group 2 'you have a group of this name' g 10.85.1.2 &&
	groups_are 'map(.members) == [[{address: "10.85.0.2"}]]' &&
	at_receiver quell lookahead del g && at_receiver quell cc set dart lookahead 0 &&
	refuses_group 2 'needs .*parameter lookahead' g 10.85.0.2 &&
	at_receiver quell cc reset dart lookahead &&
	refuses_group 2 'at most 1000000 ns' g time 1001us 10.85.0.2 && groups_are '. == []'
}

# Requests that the command does not make: lookahead-add 8, -del 9, weight-set 12.
kernel_checks_for_itself()
{
	local wire request="at_receiver quell_nl request"

	wire=$(at_receiver cat /sys/class/net/wire/ifindex)
	refuses 'name of the group is missing' $request 8 "3:u32:$wire" 8:x:0a550002 &&
	refuses 'interface is missing' $request 8 2:s:g 8:x:0a550002 &&
	refuses 'no such interface' $request 8 2:s:g 3:u32:0 8:x:0a550002 &&
	refuses 'no such interface' $request 8 2:s:g 3:u32:4294967295 8:x:0a550002 &&
	refuses 'no such interface in' $request 8 2:s:g 3:u32:4711 8:x:0a550002 &&
	refuses 'members: 1 to 1024' $request 8 2:s:g "3:u32:$wire" &&
	refuses 'address: 4 or 16 bytes' $request 8 2:s:g "3:u32:$wire" 8:x:0a55000200 &&
	refuses 'address: 4 or 16 bytes' $request 8 2:s:g "3:u32:$wire" 8:x: &&
	refuses 'address: 4 or 16 bytes' $request 8 2:s:g "3:u32:$wire" \
		8:x:fd000000000000000000000000000001ff &&
	refuses 'nsupported attribute' $request 8 2:s:g "3:u32:$wire" 4:u32:1 8:x:0a550002 &&
	refuses 'nknown attribute' $request 9 2:s:g 5:u64:1 &&
	refuses 'address or weight is missing' $request 12 "1:u32:$wire" 2:x:0a550002 &&
	refuses 'weight: 1 to 255' $request 12 "1:u32:$wire" 2:x:0a550002 3:u32:0 &&
	refuses 'weight: 1 to 255' $request 12 "1:u32:$wire" 2:x:0a550002 3:u32:256 &&
	groups_are '. == []' && receiver_is '.weight == 0 and .senders == []'
}

ipv6_members()
{
	at_receiver quell lookahead add six dev wire fd85::1 10.85.0.2 &&
	groups_are '.[0].members == [{address: "fd85::1"}, {address: "10.85.0.2"}]' &&
	at_receiver quell lookahead del six
}

## lives

# What is registered for an interface goes with it, and only that.
groups_go_with_the_interface()
{
	at_receiver ip link add gone type dummy && at_receiver ip link set gone up &&
	at_receiver quell lookahead add stays 10.85.0.2 &&
	at_receiver quell lookahead add goes dev gone 10.87.0.1 10.87.0.2 &&
	at_receiver quell sender weight 10.87.0.3 7 dev gone &&
	groups_are 'map(.name) == ["stays", "goes"]' &&
	at_receiver quell -j sender show >"$dir/senders" &&
	json 'map([.dev, (.senders | length)]) | sort == [["gone", 3], ["wire", 1]]' \
		"$dir/senders" &&
	at_receiver ip link del gone && groups_are 'map(.name) == ["stays"]' &&
	receiver_is '(.senders | length) == 1'
}

# A group and weights are left, and flows are open.
module_goes()
{
	local i

	at_receiver quell sender weight 10.85.1.2 7 && send 0 && poll 10 senders_are 1 &&
	cut_off 0 && poll 20 senders_are 0 || return 1
	for i in 0 1 2; do
		stop "${talker_pid[$i]}"
	done
	stop "$serving"
	for i in "$receiver" "${hosts[@]}"; do
		in_netns "$i" sysctl -q -w net.ipv4.tcp_congestion_control=cubic || return 1
	done
	groups_are 'map(.name) == ["stays"]' && unload tcp_swift tcp_dart quell
}

plan 23
check "a network" make_network
check "one sender" one_sender
check "two senders" two_senders
check "two connections of a host" two_connections_of_one_host
check "text" text_is_for_people
check "weights divide the line" weights_divide_the_line
check "weight 1 is none" weight_one_forgets
check "weights that are refused" weights_are_refused
check "senders leave" senders_leave
check "a sender dies" one_dies
check "marks of others pass" marks_of_others_pass
check "a group" register
check "members count ahead" members_count_ahead
check "a stranger's group changes nothing" strangers_groups_change_nothing
check "each user has groups of its own" users_have_their_own
check "1024 members, and no more" members_have_a_limit
check "4096 members of a user, and no more" users_have_a_limit
check "64 groups of a user, and no more" groups_have_a_limit
check "groups that are refused" mistakes_are_refused
check "requests that are refused" kernel_checks_for_itself
check "IPv6" ipv6_members
check "an interface goes" groups_go_with_the_interface
check "the module goes" module_goes
finish
