#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What hosts and routers do to packets beside TCP: queues to user space, connection
# tracking, translated addresses, virtual routers, handshakes that others make.  In each
# of these an algorithm sends 300 kB and gets them back; cubic is the control:
#
#	- every byte comes, in at most three times what the algorithm takes where nothing is
#	  in the way, beyond what it costs cubic;
#	- packets are known for what they are: there are round-trip times in nanoseconds,
#	  and no more retransmissions than TCP counts;
#	- both ends have the option, or neither.
#
# Every case meets cubic and, in turn, one of few algorithms, the first case all of these; with
# QUELL_ALGORITHMS=all every case meets all that there are, which takes four times as long.
#
#	$client wire --- west $router east --- wire $server
#	10.80.1.2     10.80.1.1     10.80.2.1     10.80.2.2
# shellcheck disable=SC2154 # $flows is talk.sh's

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./talk.sh
. ./routed.sh
. ./suited.sh

# What each algorithm listens on is this and its number; without one, plain.
port=8100 plain_port=8099
# What a translated port is before.
shift_ports=1000
xfer_bytes=300000
inner="" took=0
there=10.80.2.2 nowhere=10.80.9.9

# Queues long enough: nothing is lost but what a case has lost.
make_network()
{
	local device

	new_netns inner
	routed_network 80 || return 1
	for device in west east; do
		tc -n "$router" qdisc add dev "$device" root netem delay 1ms rate 500mbit \
			limit 100000 || return 1
	done
}

make_hosts()
{
	local netns algorithm i

	load_all || return 1
	few_algorithms all || return 1
	all=(cubic "${all[@]}")
	for netns in "$client" "$server" "$inner"; do
		for algorithm in "${all[@]:1}"; do
			suit "$netns" "$algorithm" || return 1
		done
		quell -n "$netns" cc set quell option 1 || return 1
	done
	talker talker "$client" && talker inner "$inner" &&
	serve "$server" "$plain_port" || return 1
	serving=("$started")
	for i in "${!all[@]}"; do
		serve "$server" $((port + i)) "cc,${all[i]}" || return 1
		serving+=("$started")
	done
}

# rules NETNS: of standard input.
rules()
{
	in_netns "$1" nft -f -
}

# Undone, last first, when the case is over.
undo=()
after()
{
	undo+=("$(printf '%q ' "$@")")
}

clean_up()
{
	local i netns

	for ((i = ${#undo[@]} - 1; i >= 0; i--)); do
		eval "${undo[i]}"
	done
	undo=()
	for netns in "$client" "$server" "$router"; do
		in_netns "$netns" nft flush ruleset
	done
}

# queue HOOK PRIORITY HOW...: at both hosts.
queue()
{
	local netns

	for netns in "$client" "$server"; do
		start_in "$netns" ./nfq_hold 0 "${@:3}" >"$dir/queue.$netns"
		after stop "$started"
		poll 10 says_ready "queue.$netns" &&
		rules "$netns" <<-END || return 1
			table ip q { chain q { type filter hook $1 priority $2;
				ip protocol tcp queue num 0; }; }
		END
	done
}

# The rules of most hosts.
track()
{
	local netns

	for netns in "$client" "$server"; do
		rules "$netns" <<-END || return 1
			table ip t {
				chain in { type filter hook input priority 0; policy drop;
					ct state invalid drop
					ct state established,related accept
					tcp dport $plain_port-8200 ct state new accept
					meta l4proto icmp accept; }
				chain out { type filter hook output priority 0;
					ct state invalid drop; }
			}
		END
	done
}

# Elements of a map from translated ports to those that listen.
port_map()
{
	local i

	for i in -1 "${!all[@]}"; do
		printf '%d : %d, ' $((port + i + shift_ports)) $((port + i))
	done
}

# translate NETNS HOOK WHAT
translate()
{
	rules "$1" <<-END
		table ip n { chain n { type nat hook $2 priority -100; $3; }; }
	END
}

dnat()
{
	translate "$client" output \
		"ip daddr $nowhere meta l4proto tcp dnat to $there : tcp dport map { $(port_map) }"
}

dnat_address()
{
	translate "$client" output "ip daddr $nowhere dnat to $there"
}

redirect()
{
	translate "$server" prerouting "meta l4proto tcp redirect to : tcp dport map { $(port_map) }"
}

masquerade()
{
	translate "$router" postrouting "oif east masquerade"
}

# vrf [QDISC]: both hosts' cables are in a VRF of theirs.
vrf()
{
	local netns via

	in_netns "$server" sysctl -q -w net.ipv4.tcp_l3mdev_accept=1
	for netns in "$client" "$server"; do
		via=10.80.1.1
		[ "$netns" = "$client" ] || via=10.80.2.1
		ip -n "$netns" link add vrf0 type vrf table 10 &&
		ip -n "$netns" link set vrf0 up &&
		ip -n "$netns" link set wire master vrf0 || return 1
		after ip -n "$netns" route replace default via "$via"
		after ip -n "$netns" link del vrf0
		ip -n "$netns" route add default via "$via" table 10 || return 1
		[ -z "$1" ] || tc -n "$netns" qdisc add dev vrf0 root "$1" || return 1
	done
}

ipvlan()
{
	ip -n "$client" link add ipv0 link wire type ipvlan mode l3 &&
	ip -n "$client" link set ipv0 netns "$inner" && after ip -n "$inner" link del ipv0 &&
	ip -n "$inner" addr add 10.80.3.1/24 dev ipv0 && ip -n "$inner" link set ipv0 up &&
	ip -n "$inner" route add default dev ipv0 &&
	ip -n "$router" route replace 10.80.3.0/24 via 10.80.1.2
}

flowtable()
{
	rules "$router" <<-END
		table inet f {
			flowtable ft { hook ingress priority 0; devices = { west, east }; }
			chain f { type filter hook forward priority 0;
				ip protocol tcp flow add @ft; }
		}
	END
}

# The router answers SYNs and makes the handshake with the server when it was accepted.
synproxy()
{
	in_netns "$router" sysctl -q -w net.netfilter.nf_conntrack_tcp_loose=0 &&
	rules "$router" <<-END
		table ip s {
			chain raw { type filter hook prerouting priority raw;
				tcp dport $plain_port-8200 tcp flags syn notrack; }
			chain f { type filter hook forward priority 0;
				ct state invalid,untracked synproxy mss 1460 wscale 7 timestamp sack-perm
				ct state invalid drop; }
		}
	END
}

cookies()
{
	in_netns "$server" sysctl -q -w net.ipv4.tcp_syncookies=2
	after in_netns "$server" sysctl -q -w net.ipv4.tcp_syncookies=1
}

# by_route NETNS VIA ALGORITHM
by_route()
{
	ip -n "$1" route replace default via "$2" congctl "$3"
	after ip -n "$1" route replace default via "$2"
}

# Which end, if any, has its algorithm by route.
declare -A route_ends=([none]=0 [active]=1 [passive]=2 [both]=3)

# connect TALKER NUMBER ADDRESS SHIFT ROUTED: the connection of a case.
connect()
{
	local algorithm=${all[$2]} at=$((port + $2)) words=("open 4")

	if [ $(($5 & 1)) = 1 ]; then
		by_route "$client" 10.80.1.1 "$algorithm"
	else
		words+=("cc $algorithm")
	fi
	if [ $(($5 & 2)) = 2 ]; then
		by_route "$server" 10.80.2.1 "$algorithm"
		at=$plain_port
	fi
	[ -z "$device" ] || words+=("device $device")
	ordered "$1" "${words[@]}" "connect $3 $((at + $4))"
}

# Retransmissions that TCP counted, of clients and server.
retransmitted()
{
	echo $(($(counter_of "$1" snmp Tcp RetransSegs) +
		$(counter_of "$server" snmp Tcp RetransSegs)))
}

# judge NETNS RETRANSMITTED KNOWN: the one flow of each end.  TCP also counts a SYN and a
# SYN-ACK sent again, which are no flow's yet.
judge()
{
	quell -n "$1" -j flow show >"$dir/client.flows" &&
	quell -n "$server" -j flow show >"$dir/server.flows" &&
	jq -n --slurpfile c "$dir/client.flows" --slurpfile s "$dir/server.flows" '
		[$c[0], $s[0]] | map(if length == 1 then .[0] else "flows: \(length)" | halt_error end) |
		{ option: map(.option), samples: map(.counters["rtt-samples"]),
		  retransmits: (map(.counters.retransmits) | add), tcp: '"$2"' }' >"$dir/judged" || return 1
	jq -c . "$dir/judged"
	jq -e "(.option | (.[0] == \"on\") == (.[1] == \"on\")) and
		$([ "$3" = no ] || echo '(.samples | min > 0) and .retransmits <= .tcp and
			(.tcp <= 2 or .retransmits > 0) and') true" "$dir/judged" >/dev/null
}

# transfer NUMBER TALKER NETNS ADDRESS SHIFT ROUTED KNOWN: $took is its time.
transfer()
{
	local before start status

	took=0
	clean_routes
	before=$(retransmitted "$3")
	connect "$2" "$1" "$4" "$5" "$6" || return 1
	start=$((10#${EPOCHREALTIME/.}))
	ordered "$2" "xfer $xfer_bytes" || return 1
	took=$((10#${EPOCHREALTIME/.} - start))
	[ "$1" = 0 ] || judge "$3" $(($(retransmitted "$3") - before)) "$7"
	status=$?
	ordered "$2" reset && poll 10 no_flow "$3" && poll 10 no_flow "$server" &&
	in_time "$1" && [ "$status" -eq 0 ]
}

# Each one's time where nothing is in the way, and that of the first, cubic, here.
declare -A alone_us

in_time()
{
	[ "$1" != 0 ] || cubic_us=$took
	: "${alone_us[$1]:=$took}"
	echo "took $took us, alone ${alone_us[$1]}, cubic $cubic_us, alone ${alone_us[0]}"
	[ "$cubic_us" -gt 0 ] && [ "${alone_us[$1]}" -le $((10 * alone_us[0])) ] &&
	[ $((took * alone_us[0])) -le $((3 * alone_us[$1] * cubic_us)) ]
}

# Of an algorithm before.
clean_routes()
{
	ip -n "$client" route replace default via 10.80.1.1 2>/dev/null
	ip -n "$server" route replace default via 10.80.2.1 2>/dev/null
}

# chosen: numbers of the algorithms a case meets.  All have to show how fast they are with
# nothing in the way.
turn=0
chosen()
{
	local i

	for i in "${!all[@]}"; do
		[ "$i" != 0 ] && [ "$turn" != 0 ] && [ "${QUELL_ALGORITHMS-}" != all ] &&
			[ $(((i + turn) % (${#all[@]} - 1))) != 0 ] || echo "$i"
	done
}

# one_case NAME SETUP [KEY=VALUE]...: one check for each algorithm.  Keys: talker, netns,
# address, shift (of ports), routed, device, and known=no where packets may pass Quell
# unseen.
one_case()
{
	local name=$1 setup=$2 talker=talker netns=$client address=$there shift=0 routed=none
	local device="" known=yes cubic_us=0 i
	shift 2

	[ $# = 0 ] || local "$@"
	[ "$netns" != inner ] || netns=$inner
	if ! eval "$setup" >"$dir/setup" 2>&1; then
		note "$name: $(cat "$dir/setup")"
		address=failed
	fi
	for i in $(chosen); do
		check "$name: ${all[i]}" transfer "$i" "$talker" "$netns" "$address" "$shift" \
			"${route_ends[$routed]}" "$known"
	done
	clean_up >/dev/null 2>&1
	turn=$((turn + 1))
}

# Words of one_case, a line each; QUELL_CASES, a pattern, chooses among their names.
cases()
{
	grep -E "^\"(nothing|[^\"]*(${QUELL_CASES:-}))" <<'END'
"nothing" true
"connection tracking" track
"queue in OUTPUT" "queue output 0 accept"
"queue in OUTPUT, bursts whole" "queue output 0 gso accept"
"queue in OUTPUT, 1 ms" "queue output 0 delay 1"
"queue in OUTPUT, order reversed" "queue output 0 reverse 4"
"queue in INPUT" "queue input 0 accept"
"queue in INPUT, 1 ms" "queue input 0 delay 1"
"queue in INPUT, order reversed" "queue input 0 reverse 4"
"queue before all hooks" "queue output -2147483648 accept" known=no
"queue before all hooks, bursts whole, 1 ms" "queue output -2147483648 gso delay 1" known=no
"queue behind all hooks" "queue input 2147483647 accept" known=no
"address translated in OUTPUT" dnat_address address=$nowhere
"address and port translated in OUTPUT" dnat address=$nowhere shift=$shift_ports
"port translated at the server" redirect shift=$shift_ports
"masquerade" masquerade
"VRF" vrf device=vrf0
"VRF with a queue" "vrf pfifo" device=vrf0
"ipvlan, l3" ipvlan talker=inner netns=inner
"flowtable at the router" flowtable
"SYNPROXY at the router" synproxy
"SYN cookies" cookies
"algorithm by route, active" true routed=active
"algorithm by route, passive" true routed=passive
"algorithm by route, both" true routed=both
END
}

# queued_now NETNS: packets that wait for their verdict.
queued_now()
{
	in_netns "$1" awk '{ n += $3 } END { print n + 0 }' /proc/net/netfilter/nfnetlink_queue
}

# queued NETNS COUNT
queued()
{
	[ "$(queued_now "$1")" -eq "$2" ]
}

not_queued()
{
	! queued "$@"
}

# A packet waits for its verdict, its socket is closed and the algorithm's module gone.
verdict_after_all()
{
	local queue held

	start_in "$client" ./nfq_hold 0 hold >"$dir/held"
	queue=$started
	poll 10 says_ready held && ordered talker "open 4" "cc swift" "connect $there $plain_port" &&
	rules "$client" <<-END || return 1
		table ip q { chain q { type filter hook output priority 0; ip protocol tcp queue num 0; }; }
	END
	ask talker "xfer 1000"
	poll 10 not_queued "$client" 0 && stop_talker || return 1
	held=$(queued_now "$client")
	unload_all && queued "$client" "$held" && kill -USR1 "$queue" &&
	poll 10 queued "$client" 0 && not_loaded tcp_swift
}

# Its socket is closed with it; what it sends to say so waits, too.
stop_talker()
{
	ask talker reset
	told talker || true
	poll 10 in_netns "$client" sh -c '! ss -Htn | grep -q .'
}

# The servers hold theirs.
unload_all()
{
	local pid

	for pid in "${serving[@]}"; do
		stop "$pid"
	done
	unload tcp_swift_vaisf tcp_swift
}

# Packets of another program, held for its verdict, stay in their queue while the first and
# only Quell flow of the namespace opens, closes and is long gone; and are delivered after.
# No algorithm that offers the option is loaded yet, which would put hooks into each namespace.
held_beside_a_flow()
{
	local other queue before

	modprobe tcp_swift || return 1
	new_netns other
	start_in "$other" ./nfq_hold 0 hold >"$dir/beside"
	queue=$started
	poll 10 says_ready beside && rules "$other" <<-END || return 1
		table ip q { chain q { type filter hook output priority 0; udp dport 9 queue num 0; }; }
	END
	before=$(counter_of "$other" snmp Udp NoPorts)
	in_netns "$other" bash -c 'for i in 1 2 3; do echo $i >/dev/udp/127.0.0.1/9; done' &&
	poll 10 queued "$other" 3 && serve "$other" $plain_port cc,swift || return 1
	serving=("$started")
	talker beside "$other" &&
	ordered beside "open 4" "cc swift" "connect 127.0.0.1 $plain_port" "xfer 200000" reset &&
	poll 10 no_flow "$other" && stop "${serving[0]}" || return 1
	if poll 30 not_queued "$other" 3; then
		in_netns "$other" cat /proc/net/netfilter/nfnetlink_queue
		return 1
	fi
	kill -USR1 "$queue" && poll 10 queued "$other" 0 &&
	same "delivered" "$(counter_of "$other" snmp Udp NoPorts)" $((before + 3))
}

# earlier FILE STATUS: the outcome of what was done before the plan.
earlier()
{
	cat "$1"
	return "$2"
}

held_beside_a_flow >"$dir/beside.log" 2>&1
held_status=$?
require "two hosts and a router" eval 'make_network && make_hosts'
cases >"$dir/cases"
mapfile -t lines <"$dir/cases"
checks=2
for ((turn = 0; turn < ${#lines[@]}; turn++)); do
	checks=$((checks + $(chosen | wc -l)))
done
plan $checks
turn=0
for line in "${lines[@]}"; do
	eval "one_case $line"
done
check "a verdict when its socket and its algorithm are gone" verdict_after_all
check "packets that others hold stay while a flow comes and goes" \
	earlier "$dir/beside.log" "$held_status"
finish
