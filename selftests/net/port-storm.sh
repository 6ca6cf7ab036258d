#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A storm of random changes of configuration under traffic, for the debug kernel:
# KASAN, lockdep and kmemleak look on (run-uml debug port-storm.sh).  Two ports that
# may share a buffer, as roots and below parents; every option, good and bad; links
# that go down; qdiscs replaced and deleted while full.
#
# The same seed makes the same storm; another:  export SEED=2
# shellcheck disable=SC2317,SC2016 # checks are called by name; $ is jq's

cd "$(dirname "$0")" || exit 1
# shellcheck source-path=SCRIPTDIR source=lib.sh
. ./lib.sh
# shellcheck source-path=SCRIPTDIR source=port.sh
. ./port.sh

SEED=${SEED:-1}
CHANGES=${CHANGES:-120}
RANDOM=$SEED
traffic=()

# pick WORD...: one of them, in $picked; no subshell, which would draw for itself.
pick()
{
	local n=$#

	shift $((RANDOM % n))
	picked=$1
}

# One option with a value, in $words; some values are refused.
random_option()
{
	local size=$((RANDOM * RANDOM % 200000))

	case $((RANDOM % 15)) in
	0) pick 0 1mbit 100mbit 10gbit 80bit 11tbit; words=(rate "$picked") ;;
	1) pick 0 24 65535 65536; words=(overhead "$picked") ;;
	2) words=(limit "$size") ;;
	3) words=(control-limit "$size") ;;
	4) words=(ecn min "$((size / 4))" max "$((size / 2))" prob 0."$RANDOM") ;;
	5) words=(ecn enqueue min "$((size / 4))") ;;
	6) words=(noecn) ;;
	7) pick off 46 0-63 8,9 64; words=(ecn-class "$picked")
	   [ "$picked" = off ] || words+=(min "$((size / 8))") ;;
	8) words=(seed "$RANDOM") ;;
	9) pick off 1us 8us 1s 99ns; words=(telemetry "$picked") ;;
	10) pick off 1us 50us 2s; words=(tcp-int "$picked") ;;
	11) pick off "$((64 + size))"; words=(buffer "$picked")
	    [ "$picked" = off ] || { pick 0.1 1 8 1024; words+=(alpha "$picked"); } ;;
	12) pick on off; words=(percentiles "$picked") ;;
	13) pick 63 64 128 9000; words=(trim size "$picked")
	    pick control data; words+=(queue "$picked")
	    pick all 0-31; words+=(eligible "$picked") ;;
	14) words=(notrim) ;;
	esac
}

random_options()
{
	local i

	options=()
	for ((i = RANDOM % 4; i >= 0; i--)); do
		random_option
		options+=("${words[@]}")
	done
}

# A qdisc of the device that swport is the child of, or none.
random_parent()
{
	near_tc qdisc del dev "$1" root
	case $((RANDOM % 4)) in
	0) near_tc qdisc add dev "$1" root handle 1: prio bands 2 ;;
	1) near_tc qdisc add dev "$1" root handle 1: tbf rate 50mbit burst 20k limit 1mb ;;
	2) near_tc qdisc add dev "$1" root handle 1: netem limit 1000 delay 20us ;;
	3) near_tc qdisc add dev "$1" root handle 1: swport ;;
	esac
}

one_change()
{
	local dev verb

	pick va vc; dev=$picked
	random_options
	case $((RANDOM % 12)) in
	0) random_parent "$dev" ;;
	1) ip -n "$near" link set "$dev" down; ip -n "$near" link set "$dev" up ;;
	2) near_tc qdisc del dev "$dev" root ;;
	3) near_tc -s -j qdisc show dev "$dev" ;;
	4|5) near_tc qdisc replace dev "$dev" parent 1:1 handle 2: swport "${options[@]}" ;;
	6) pick change replace; verb=$picked
	   near_tc qdisc "$verb" dev "$dev" parent 1:1 handle 2: swport "${options[@]}" ;;
	*) near_tc qdisc replace dev "$dev" root handle 1: swport "${options[@]}" ;;
	esac
}

# Without end, bursts of every kind, marked and not, super-packets too; a line for each.
traffic()
{
	while :; do
		kinds=(udp gso tcp ack tcp6 vlanudp frag arp other udp6 syn)
		kind=${kinds[RANDOM % 11]}
		swport_pkt send "$1" "$kind" 40 5014 $((RANDOM % 4)) $((RANDOM % 64))
		echo "$kind"
		sleep 0.0005
	done
}

storm()
{
	local done_changes=0 refused=0 accepted=0 dev

	export -f traffic
	for dev in va vc; do
		start_in "$near" bash -c "traffic $dev" >"$dir/traffic-$dev" 2>/dev/null
		traffic+=("$started")
	done
	while [ "$done_changes" -lt "$CHANGES" ]; do
		if one_change >/dev/null 2>&1; then
			accepted=$((accepted + 1))
		else
			refused=$((refused + 1))
		fi
		done_changes=$((done_changes + 1))
		# Virtual time stands still while a processor works: traffic's turn.
		sleep "0.000$((RANDOM % 10))"
	done
	for started in "${traffic[@]}"; do
		stop "$started"
	done
	echo "seed $SEED: $accepted changes made, $refused refused, bursts of traffic:" \
		"$(wc -l <"$dir/traffic-va"), $(wc -l <"$dir/traffic-vc")" | tee "$dir/sum"
	[ "$accepted" -ge $((CHANGES / 3)) ] && [ "$refused" -ge $((CHANGES / 20)) ] &&
	[ "$(wc -l <"$dir/traffic-va")" -ge $((CHANGES / 4)) ] &&
	[ "$(wc -l <"$dir/traffic-vc")" -ge $((CHANGES / 4)) ]
}

drained()
{
	near_tc -s -j qdisc show >"$dir/all" &&
	json 'map(select(.kind == "swport")) | length == 2 and all(.backlog == 0 and
		.qlen == 0 and .buffer_used_bytes == 0 and
		.packets == .data_pkts + .control_pkts and .data_pkts > 0)' "$dir/all"
}

# Whatever it was, both ports serve again, and hold nothing at last.
calm()
{
	local dev

	for dev in va vc; do
		near_tc qdisc del dev "$dev" root
		ip -n "$near" link set "$dev" up
		near_tc qdisc add dev "$dev" root handle 1: swport buffer 1mb percentiles on ||
			return 1
		in_netns "$near" swport_pkt send "$dev" udp 500 1000 2 || return 1
	done
	poll 20 drained
}

nothing_stays()
{
	near_tc qdisc del dev va root && near_tc qdisc del dev vc root && poll 20 rmmod sch_swport
}

plan 4
check "a network of two with two cables" eval "make_network && cable \$near vc \$far vd && modprobe sch_swport"
check "$CHANGES random changes under traffic" storm
note "$(cat "$dir/sum")"
check "both ports serve again, and hold nothing at last" calm
check "nothing stays: the module is unloaded" nothing_stays
finish
