#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The wire format between machines: of two guests on a cable (run-qemu --cable) the first directs
# the second.
#
#	guests.sh 1|2		which of the two
#	guests.sh command	carries out a line of standard input
#
#	host up0 --- down0 router cable === cable router down0 --- up0 host
#	10.70.1.1         10.70.1.2  10.70.0.1  10.70.0.2  10.70.2.2         10.70.2.1
#
# Files go each way through a port of either guest.  It writes telemetry, which the receiver
# returns; it trims packets, which the receiver acknowledges negatively; or it sends the NACK.

cd "$(dirname "$0")" || exit 1
. ./lib.sh

port=8080
command_port=9
file_lines=50000
www=/run/www
ended=/run/ended

## of each guest

# guest NUMBER: its router, and a server that carries out commands.
guest()
{
	local other=$((3 - $1)) nic

	modprobe -a -q virtio_pci virtio_net
	modprobe -a quell tcp_hpcc tcp_smartt tcp_swift sch_swport || return 1
	nic=$(basename "$(dirname /sys/class/net/*/device)") &&
	ip link set "$nic" name cable address "02:00:00:00:00:0$1" && ip link set cable up &&
	ip addr add "10.70.0.$1/24" dev cable && ip addr add "fd70::$1/64" dev cable nodad &&
	ip route add "10.70.$other.0/24" via "10.70.0.$other" &&
	ip route add "fd70:$other::/64" via "fd70::$other" &&
	sysctl -q -w net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 &&
	mkdir "$www" && seq "$file_lines" >"$www/file" || return 1
	nc -ll -p "$command_port" -e ./guests.sh command &
	defer kill $!
}

# host NUMBER CC [WORD]...: a new one, its counters zero; parameters of the algorithm.
host()
{
	local pids

	pids=$(ip netns pids host 2>/dev/null)
	[ -z "$pids" ] || xargs kill -9 <<<"$pids"
	ip netns del host 2>/dev/null
	ip link del down0 2>/dev/null
	tc qdisc del dev cable root 2>/dev/null
	ip netns add host && ip -n host link set lo up &&
	ip link add down0 type veth peer name up0 netns host && keep_order host up0 &&
	ip link set down0 up && ip -n host link set up0 up &&
	ip addr add "10.70.$1.2/24" dev down0 && ip addr add "fd70:$1::2/64" dev down0 nodad &&
	ip -n host addr add "10.70.$1.1/24" dev up0 &&
	ip -n host addr add "fd70:$1::1/64" dev up0 nodad &&
	ip -n host route add default via "10.70.$1.2" &&
	ip -n host route add default via "fd70:$1::2" &&
	choose_cc host "$2" && quell -n host cc set quell option 1 &&
	quell -n host cc set "${@:2}" &&
	in_netns host httpd -p "$port" -h "$www" >/dev/null 2>&1 && poll 10 listens host "$port"
}

# with_port DEVICE OPTION...: to the other router, or to the host.
with_port()
{
	tc qdisc add dev "$1" root swport rate 4mbit "${@:2}"
}

# fetch NUMBER: from the other host, over IPv4 and IPv6, two of each.
fetch()
{
	local address i pids=() status=0

	for address in "10.70.$1.1" "[fd70:$1::1]"; do
		for i in 1 2; do
			in_netns host sh -c "timeout 300 wget -q -O- 'http://$address:$port/file' |
				cmp - '$www/file'" &
			pids+=($!)
		done
	done
	for i in "${pids[@]}"; do
		wait "$i" || status=1
	done
	return "$status"
}

# has_record HOP: a flow that sends has one of the port.
has_record()
{
	quell -n host -j flow show |
		jq -e "any(.[]; .sport == $port and .option == \"on\" and .record_hop == $1 and
			.record_link_bytes_ps > 450000 and .record_link_bytes_ps <= 500000 and
			.record_queue_bytes <= 51500)"
}

counters()
{
	quell -n host -j stat quell | jq -c '.[0].counters'
}

port_counters()
{
	tc -s -j qdisc show dev "$1" | jq -c '.[] | select(.kind == "swport")'
}

# A line of guest 1; the last line of the reply is the status.
carry_out()
{
	local line

	read -r line && eval "$line" 2>&1
	echo "status $?"
}

## of guest 1

# on NUMBER COMMAND...: of that guest.
on()
{
	local reply fd

	if [ "$1" = 1 ]; then
		"${@:2}"
		return
	fi
	exec {fd}<>"/dev/tcp/10.70.0.2/$command_port" || return 1
	{ printf '%q ' "${@:2}" && echo; } >&"$fd"
	reply=$(cat <&"$fd")
	exec {fd}>&-
	sed '$d' <<<"$reply"
	[ "${reply##*$'\n'}" = "status 0" ]
}

# hosts CC [WORD]...
hosts()
{
	on 1 host 1 "$@" && on 2 host 2 "$@"
}

# figures SENDER RECEIVER PLACE DEVICE: one object; of its numbers those above zero are printed.
figures()
{
	{ on "$1" counters && on "$2" counters && on "$3" port_counters "$4"; } >"$dir/lines" &&
	jq -s '{sender: .[0], receiver: .[1], port: .[2]} |
		map_values(with_entries(select(.value | type == "number" and . > 0)))' \
		"$dir/lines" >"$dir/figures" && jq -c . "$dir/figures" >>"$dir/notes"
}

# Of both hosts, in each case.
healthy='all(.sender, .receiver; [.["option-malformed", "option-bad-checksum", "segment-malformed",
	"segment-bad-checksum", "nack-malformed", "nack-outside"] // 0] | add == 0) and
	.receiver["option-negotiated"] > 0 and .sender["rtt-echo"] > 0'

# telemetry SENDER RECEIVER PLACE DEVICE HOP
telemetry()
{
	local transfer status

	hosts hpcc adapt off base-rtt 50ms init-window 15kb ai 100kbit min-rate 200kbit &&
	on "$3" with_port "$4" limit 50000 telemetry 50ms || return 1
	on "$2" fetch "$1" &
	transfer=$!
	poll 60 on "$1" has_record "$5"
	status=$?
	wait "$transfer" && [ "$status" -eq 0 ] && figures "$@" &&
	json "$healthy and .port.stamp_pkts > 20 and
		.receiver[\"record-stamped\"] >= 0.9 * .port.stamp_pkts and
		.sender[\"record-received\"] >= 0.9 * .receiver[\"record-echoed\"]" "$dir/figures"
}

# trimmed SENDER RECEIVER PLACE DEVICE OPTION...: four files, a port that has little room.
trimmed()
{
	hosts smartt target-delay 100ms &&
	on "$3" with_port "$4" limit 20kb trim size 128 "${@:5}" && on "$2" fetch "$1" && figures "$@"
}

receiver_sends_nacks()
{
	trimmed "$@" && json "$healthy and .port.trim_sent_pkts > 5 and
		.receiver[\"trim-received\"] >= 0.9 * .port.trim_sent_pkts and
		.sender[\"nack-received\"] >= 0.9 * .receiver[\"nack-sent\"] and
		.sender[\"nack-recovered\"] >= 0.8 * .sender[\"nack-received\"]" "$dir/figures"
}

port_sends_nacks()
{
	trimmed "$@" to-sender && json "$healthy and .port.to_sender_pkts > 5 and
		.sender[\"nack-received\"] >= 0.9 * .port.to_sender_pkts and
		.sender[\"nack-recovered\"] >= 0.8 * .sender[\"nack-received\"]" "$dir/figures"
}

# from SENDER RECEIVER: through a port of either.
from()
{
	local place

	for place in "$1 cable 1" "$2 down0 2"; do
		# shellcheck disable=SC2086 # words
		set -- "$1" "$2" $place
		check "guest $1 sends, port of guest $3: a record of it" telemetry "$@"
		check "guest $1 sends, port of guest $3 trims: NACKs of the receiver" \
			receiver_sends_nacks "${@:1:4}"
		check "guest $1 sends, port of guest $3 trims: its NACKs" port_sends_nacks "${@:1:4}"
	done
}

case $1 in
command)
	carry_out
	;;
1)
	plan 14
	note "guest 1: $(uname -m)"
	check "router of guest 1" guest 1
	defer on 2 touch "$ended"
	check "guest 2 carries out commands" poll 900 on 2 uname -m
	from 1 2
	from 2 1
	note "$(cat "$dir/notes")"
	finish
	;;
2)
	plan 2
	note "guest 2: $(uname -m)"
	check "router of guest 2" guest 2
	check "guest 1 ends the test" poll 3000 test -e "$ended"
	finish
	;;
esac
