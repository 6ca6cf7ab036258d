#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Dart's receiver while all that it counts comes and goes, for the debug kernel: KASAN,
# lockdep and kmemleak look on (run-uml debug dart-churn.sh).  Senders end messages, or reset
# the connection within one, are killed, lose their interface or their namespace; services
# are killed; look-ahead groups, weights, parameters and an interface of the receiver change;
# and all of it is listed without end.
#
#	hosts[N] wire --- portN $router out0 --- wire $receiver, 10.89.9.2
#	10.89.N.2    10.89.N.1
#
# The same seed makes the same storm; another:  export SEED=2.  With STORM_S it ends after so many
# seconds, if that is before CHANGES.

cd "$(dirname "$0")" || exit 1
. ./lib.sh

SEED=${SEED:-1}
CHANGES=${CHANGES:-50}
HOSTS=3
RANDOM=$SEED
there=10.89.9.2 nobody=65534
# So slow that a message is still on its way when the next change is made.
rate=${RATE:-20mbit}
ports=(7200 7201)
hosts=() senders=() services=()
router="" receiver="" lister="" picked=""

at_receiver()
{
	in_netns "$receiver" "$@"
}

# Dart from the first packet on; connections that nobody has any longer end soon.
prepare()
{
	choose_cc "$1" dart && quell -n "$1" cc set quell option 1 &&
	in_netns "$1" sysctl -q -w net.ipv4.tcp_orphan_retries=1
}

make_host()
{
	local name

	printf -v name "host%s-%04x" "$1" "$RANDOM"
	ip netns add "$name" && hosts[$1]=$name && defer ip netns del "$name" &&
	cable "$name" wire "$router" "port$1" "10.89.$1.2/24" "10.89.$1.1/24" &&
	ip -n "$name" route add default via "10.89.$1.1" &&
	tc -n "$router" qdisc add dev "port$1" root netem delay 100us limit 1000 &&
	prepare "$name"
}

# Two services, of root and of nobody: users with connections.
start_services()
{
	start_in "$receiver" option_tcp serve "${ports[0]}" sink >/dev/null 2>&1
	services=("$started")
	start_in "$receiver" setpriv --reuid "$nobody" --clear-groups \
		option_tcp serve "${ports[1]}" sink >/dev/null 2>&1
	services+=("$started")
}

make_network()
{
	local i

	modprobe tcp_dart && new_netns router receiver &&
	cable "$receiver" wire "$router" out0 "$there/24" 10.89.9.1/24 &&
	in_netns "$router" sysctl -q -w net.ipv4.ip_forward=1 &&
	ip -n "$receiver" route add default via 10.89.9.1 &&
	tc -n "$router" qdisc add dev out0 root netem rate "$rate" limit 100 &&
	quell -n "$receiver" link set wire rate "$rate" &&
	prepare "$receiver" && quell -n "$receiver" cc set dart idle 5ms || return 1
	for ((i = 0; i < HOSTS; i++)); do
		make_host "$i" || return 1
	done
	start_services
	poll 10 listens "$receiver" "${ports[0]}" && poll 10 listens "$receiver" "${ports[1]}"
}

# A sender on host $1, until it has done it all or is killed.
start_sender()
{
	local end commands

	pick reset close "send 100000000" "send 100000000"; end=$picked
	pick "${ports[@]}"
	commands=$dir/sender-$((RANDOM % 16))
	printf '%s\n' "open 4" "connect $there $picked" "send $((RANDOM * 4))" "$end" >"$commands"
	start_in "${hosts[$1]}" sh -c "exec option_tcp talk <'$commands'" >/dev/null 2>&1
	senders+=("$started")
}

# A sender that runs, or one that has ended by itself.
kill_sender()
{
	local i=$((RANDOM % (${#senders[@]} + 1)))

	[ -n "${senders[$i]}" ] || return 0
	kill -KILL "${senders[$i]}"
	unset "senders[$i]"
	senders=("${senders[@]}")
}

# Its connections get no packet out, hear nothing, and are gone.
renew_host()
{
	ip netns del "${hosts[$1]}"
	# The namespace goes with its last process, its end of the cable with it.
	ip -n "$router" link del "port$1"
	make_host "$1"
}

restart_services()
{
	kill -KILL "${services[@]}"
	start_services
}

# As root or nobody, by 1 to 4 members of which some send.
add_group()
{
	local i members=() as=()

	for ((i = RANDOM % 4; i >= 0; i--)); do
		members+=("10.89.$i.2")
	done
	[ $((RANDOM % 2)) -eq 0 ] || as=(setpriv --reuid "$nobody" --clear-groups --inh-caps=-all)
	pick 1us 200us 1ms 900ms
	at_receiver "${as[@]}" quell lookahead add "g$((RANDOM % 6))" time "$picked" dev wire \
		"${members[@]}"
}

del_group()
{
	pick 0 "$nobody"
	at_receiver quell lookahead del "g$((RANDOM % 6))" uid "$picked"
}

change_parameter()
{
	case $((RANDOM % 5)) in
	0|1) pick 0 100us 1ms 1s; at_receiver quell cc set dart lookahead "$picked" ;;
	2) pick 1ms 5ms 50ms; at_receiver quell cc set dart idle "$picked" ;;
	3) pick 10us 1ms; at_receiver quell cc set dart plain-idle "$picked" ;;
	4) pick 1us 100us 10ms; at_receiver quell cc set dart period "$picked" ;;
	esac
}

# With members and a weight of its own, in the middle of which it goes.
pass_interface()
{
	at_receiver ip link add gone type dummy && at_receiver ip link set gone up &&
	at_receiver quell lookahead add gone dev gone 10.90.0.1 10.90.0.2
	at_receiver quell sender weight 10.90.0.3 7 dev gone
	at_receiver ip link del gone
}

one_change()
{
	local i=$((RANDOM % HOSTS))

	case $((RANDOM % 24)) in
	0|1|2|3|4|5|6|7) start_sender "$i" ;;
	8|9|10) kill_sender ;;
	11|12) ip -n "${hosts[$i]}" link set wire down; sleep 0.02
	   ip -n "${hosts[$i]}" link set wire up
	   ip -n "${hosts[$i]}" route add default via "10.89.$i.1" ;;
	13) renew_host "$i" ;;
	14) restart_services ;;
	15|16|17) add_group ;;
	18) del_group ;;
	19|20) change_parameter ;;
	21) pick 1 2 255; at_receiver quell sender weight "10.89.$i.2" "$picked" dev wire ;;
	22) pass_interface ;;
	23) ip -n "$receiver" link set wire down; sleep 0.01; ip -n "$receiver" link set wire up
	   ip -n "$receiver" route add default via 10.89.9.1 ;;
	esac
}

# Without end, all lists there are; a line for each time.
list()
{
	while :; do
		if quell -j sender show >/dev/null && quell -j lookahead show >/dev/null &&
		   quell -j flow show >/dev/null; then
			echo listed
		else
			echo failed
		fi
		sleep 0.01
	done
}

storm()
{
	local i end=$((SECONDS + ${STORM_S:-1000000}))

	export -f list
	start_in "$receiver" bash -c list >"$dir/lists" 2>"$dir/lists.err"
	lister=$started
	for ((i = 0; i < HOSTS; i++)); do
		start_sender "$i"
	done
	for ((i = 0; i < CHANGES && SECONDS < end; i++)); do
		one_change
		# Virtual time stands still while a processor works: the senders' turn.
		sleep "0.00$((RANDOM % 10))"
	done >/dev/null 2>&1
	CHANGES=$i
	stop "$lister"
	quell -n "$receiver" -j stat quell | jq -c '.[0].counters | {
		joined: .["senders-joined"], left: .["senders-left"],
		expired: .["senders-expired"], armed: .["lookahead-armed"],
		absent: .["lookahead-absent"]}' >"$dir/sum"
	echo "lists: $(sort "$dir/lists" | uniq -c | xargs), $(cat "$dir/sum")" | tee "$dir/note"
	cat "$dir/lists.err"
	! grep -q failed "$dir/lists" && [ "$(wc -l <"$dir/lists")" -ge $((CHANGES / 5)) ] &&
	json '.joined > 5 and .left > 0 and .expired > 0 and .armed > 2 and .absent > 0' "$dir/sum"
}

# Whoever died, and however: no one counts, and only what was registered is listed.
nobody_counts()
{
	quell -n "$receiver" -j sender show >"$dir/senders" &&
	json 'map(select(.dev == "wire")) | length == 1 and (.[0] | .active == 0 and .weight == 0
		and all(.senders[]; .connections == 0 and .waiting == 0))' "$dir/senders"
}

calm()
{
	local process

	# A service has a process for each connection, which outlives it.
	for process in "${senders[@]}" $(ip netns pids "$receiver"); do
		kill -KILL "$process" 2>/dev/null
	done
	wait "${senders[@]}" "${services[@]}" 2>/dev/null
	at_receiver quell cc set dart idle 5ms lookahead 1ms && poll 20 nobody_counts
}

# Groups, weights and the connections of the dead are left.
modules_go()
{
	local i

	add_group
	at_receiver quell sender weight 10.89.0.2 7 dev wire || return 1
	for ((i = 0; i < HOSTS; i++)); do
		ip netns del "${hosts[$i]}" || return 1
	done
	# Connections without an owner hold namespace and module until they have given up.
	ip netns del "$receiver" && ip netns del "$router" && poll 60 rmmod tcp_dart
}

plan 4
check "a network" make_network
check "changes while senders come and go" storm
note "seed $SEED: $CHANGES changes, $(cat "$dir/note")"
check "nobody counts at last" calm
check "nothing stays: the module is unloaded" modules_go
finish
