#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A storm of random changes of configuration under traffic, for the debug kernel:
# KASAN, lockdep and kmemleak look on (run-uml debug port-storm.sh).  Two ports that
# may share a buffer, as roots and below parents; every option, good and bad; links
# that go down; qdiscs replaced and deleted while full; flows deflected from either port
# to the other.
#
# The same seed makes the same storm; another:  export SEED=2.  With STORM_S it ends after so many
# seconds, if that is before CHANGES.

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./port.sh

SEED=${SEED:-1}
CHANGES=${CHANGES:-120}
STORM_S=${STORM_S:-}
# Of a port that deflects: so slow that frames queue.
rate=${RATE:-400mbit}
RANDOM=$SEED
traffic=() other="" deflected=0
declare -A net=([va]=10.74.1 [vc]=10.74.2)

# One option with a value, in $words; some values are refused.
random_option()
{
	local size=$((RANDOM * RANDOM % 200000))

	case $((RANDOM % 22)) in
	0) pick 0 1mbit 100mbit 10gbit 80bit 11tbit; words=(rate "$picked") ;;
	1) pick 0 24 65535 65536; words=(overhead "$picked") ;;
	2) words=(limit "$size") ;;
	3) words=(control-limit "$size") ;;
	4) words=(ecn min "$((size / 4))" max "$((size / 2))" prob 0."$RANDOM")
	   pick 0 1; [ "$picked" = 0 ] || words+=(drop) ;;
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
	    pick all none 0-31; words+=(eligible "$picked")
	    pick 0 40-42 50; words+=(known "$picked") ;;
	14) words=(notrim) ;;
	15|16) pick 0 "$((size / 8))"; words=(deflect threshold "$picked")
	   pick 0 1 8 64 65; words+=(entries "$picked")
	   pick 1us 50us 1ms; words+=(idle "$picked")
	   pick 2 2 2 9; words+=(via "${net[$other]}.$picked" dev "$other") ;;
	17) words=(nodeflect) ;;
	18) pick 0 0.00002 0.5 0.9 1; words=(control-share "$picked") ;;
	19) pick split-gso no-split-gso no-split-gso; words=("$picked") ;;
	20) pick off 10us 500us 1ms; words=(timer_slack "$picked") ;;
	21) pick auto 64kb 200kb 63kb; words=(memory_limit "$picked") ;;
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
	other=va
	[ "$dev" = vc ] || other=vc
	random_options
	case $((RANDOM % 14)) in
	0) random_parent "$dev" ;;
	1) ip -n "$near" link set "$dev" down; ip -n "$near" link set "$dev" up ;;
	2) near_tc qdisc del dev "$dev" root ;;
	3) near_tc -s -j qdisc show dev "$dev" ;;
	4|5) near_tc qdisc replace dev "$dev" parent 1:1 handle 2: swport "${options[@]}" ;;
	6) pick change replace; verb=$picked
	   near_tc qdisc "$verb" dev "$dev" parent 1:1 handle 2: swport "${options[@]}" ;;
	7|8) pick 1 8 64
	   near_tc qdisc replace dev "$dev" root handle 1: swport rate "$rate" limit 10kb noecn \
		deflect threshold 1000 entries "$picked" idle 250us via "${net[$other]}.2" dev "$other" &&
	   # Every flow counts as just seen at first.
	   sleep "0.00$((RANDOM % 5 + 1))" &&
	   # In real time few changes are made, and frames come seldom.
	   { [ -z "$STORM_S" ] || poll 5 look_for_deflections; } ;;
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

# Without end, RoCEv2 messages with tokens and without, by the device of an address.
messages()
{
	while :; do
		deflect_pkt send "$1" 8 1 6 10 $((RANDOM % 5 * 4)) 1000 $((RANDOM % 2))
		echo message
		sleep 0.002
	done
}

# Whether packets are being deflected, by one of both ports.
look_for_deflections()
{
	near_tc -s -j qdisc show >"$dir/look" &&
	jq -e 'any(.[]; (.deflect_pkts // 0) > 0)' "$dir/look" && deflected=$((deflected + 1))
}

storm()
{
	local done_changes=0 refused=0 accepted=0 dev end=$((SECONDS + ${STORM_S:-1000000}))

	export -f traffic messages
	for dev in va vc; do
		start_in "$near" bash -c "traffic $dev" >"$dir/traffic-$dev" 2>/dev/null
		traffic+=("$started")
		start_in "$near" bash -c "messages ${net[$dev]}.2" >"$dir/messages-$dev" 2>/dev/null
		traffic+=("$started")
	done
	while [ "$done_changes" -lt "$CHANGES" ] && [ "$SECONDS" -lt "$end" ]; do
		if one_change >/dev/null 2>&1; then
			accepted=$((accepted + 1))
		else
			refused=$((refused + 1))
		fi
		done_changes=$((done_changes + 1))
		[ $((done_changes % 4)) -ne 0 ] || look_for_deflections >/dev/null 2>&1
		# Virtual time stands still while a processor works: traffic's turn.
		sleep "0.000$((RANDOM % 10))"
	done
	CHANGES=$done_changes
	for started in "${traffic[@]}"; do
		stop "$started"
	done
	echo "seed $SEED: $accepted changes made, $refused refused, bursts of traffic:" \
		"$(wc -l <"$dir/traffic-va"), $(wc -l <"$dir/traffic-vc"), of messages:" \
		"$(wc -l <"$dir/messages-va"), $(wc -l <"$dir/messages-vc");" \
		"deflections seen $deflected times" | tee "$dir/sum"
	[ "$deflected" -ge 2 ] &&
	[ "$accepted" -ge $((CHANGES / 3)) ] && [ "$refused" -ge $((CHANGES / 20)) ] &&
	[ "$(wc -l <"$dir/traffic-va")" -ge $((CHANGES / 4)) ] &&
	[ "$(wc -l <"$dir/traffic-vc")" -ge $((CHANGES / 4)) ]
}

drained()
{
	near_tc -s -j qdisc show >"$dir/all" &&
	json 'map(select(.kind == "swport")) | length == 2 and all(.backlog == 0 and
		.qlen == 0 and .buffer_used_bytes == 0 and .memory_used_bytes == 0 and
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

make_cables()
{
	make_network && cable "$near" vc "$far" vd "${net[vc]}.1/24" "${net[vc]}.2/24" &&
	ip -n "$near" addr add "${net[va]}.1/24" dev va &&
	ip -n "$far" addr add "${net[va]}.2/24" dev vb &&
	modprobe sch_swport
}

plan 4
check "a network of two with two cables" make_cables
check "random changes under traffic" storm
note "$(cat "$dir/sum")"
check "both ports serve again, and hold nothing at last" calm
check "nothing stays: the module is unloaded" nothing_stays
finish
