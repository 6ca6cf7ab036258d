#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# START and MORE of the Quell option, on every packet of connections that carry
# several messages: an application that asks, and a peer that answers; where packets are
# lost.
#
#	client (swift) --- server (swift)

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./talk.sh

port=7001 client="" server="" loss=0

make_network()
{
	local netns

	new_netns client server && modprobe tcp_swift &&
	cable "$client" wire0 "$server" wire0 10.75.0.1/24,fd75::1/64 \
		10.75.0.2/24,fd75::2/64 || return 1
	# Swift's own target is far below an emulated host's round-trip time.
	for netns in "$client" "$server"; do
		choose_cc "$netns" swift &&
		in_netns "$netns" quell cc set swift base-target 100ms &&
		in_netns "$netns" quell cc set quell option 1 || return 1
	done
	# Bursts are cut before the cable, where they are looked at; ACKs take their time.
	in_netns "$client" ethtool -K wire0 tso off gso off >/dev/null &&
	in_netns "$server" ethtool -K wire0 tso off gso off >/dev/null &&
	in_netns "$server" tc qdisc add dev wire0 root netem delay 20ms &&
	serve "$server" "$port" && talker talker "$client"
}

# lose PERCENT: of the client's packets, once it is connected; a SYN sent three times is
# without the option.
lose()
{
	[ "$1" = 0 ] || in_netns "$client" tc qdisc add dev wire0 root netem loss "$1%"
}

# converse HOST ADDRESS COMMAND...: what HOST says meanwhile is in $dir/said.  All
# packets cut from a burst have one option; .first is the first of them.
converse()
{
	local host=$1 address=$2 family=4 watcher

	[[ $2 = *:* ]] && family=6
	shift 2
	watch "$host" && watcher=$started && say "open $family" "connect $address $port" && lose "$loss" &&
	say "$@" close &&
	stop "$watcher" && grep -v ready "$dir/watch.$host" |
		jq -s '. as $all | [range(length) | $all[.] + {first: (. == 0 or
			$all[.].stamp != $all[. - 1].stamp)}]' >"$dir/said"
}

# said FILTER: of the packets, $data those with payload.
said()
{
	json "map(select(.bytes > 0)) as \$data |
		(\$data | map(select(.start == 1 and .first))) as \$starts |
		(\$data | map(select(.more == 0 and .push == 1) | .seq + .bytes)) as \$ends |
		$1" "$dir/said" || {
		jq -c 'map(select(.bytes > 0) | [.seq, .start, .more, .push, .again])' "$dir/said"
		for netns in "$client" "$server"; do
			quell -n "$netns" -j stat quell | tr , '\n' | grep option
		done
		return 1
	}
}

# A start follows nothing that is outstanding, and is never what was sent before; what
# has no data says nothing.
nothing_false()
{
	said '($data | length) > 0 and ($starts | all(.acked == 1 and .again == 0)) and
		(map(select(.bytes == 0)) | all(.start == 0 and .more == 0))'
}

# bursts SEGMENTS: what TCP hands over as one, at most.
bursts()
{
	ip -n "$client" link set wire0 gso_max_segs "$1"
}

# The first packet of each starts it, all but the last go on: TCP sends full packets in
# the middle of a write, when nothing is behind them yet.
three_messages()
{
	bursts 1 && converse "$client" "$1" "xfer 8000" "xfer 8000" "xfer 8000" &&
	nothing_false &&
	said '($starts | map(.seq)) == [0, 8000, 16000] and $ends == [8000, 16000, 24000] and
		($data | length) == 18 and ($data | map(select(.start == 1)) | length) == 3 and
		($data | map(select(.more == 0)) | length) == 3'
}

# All packets of a burst say the same, and are told apart by stamp and PSH.
bursts_are_told_apart()
{
	bursts 64 && converse "$client" "$1" "xfer 8000" "xfer 8000" "xfer 24000" &&
	nothing_false &&
	said '($starts | map(.seq))[:3] == [0, 8000, 16000] and
		$ends == [8000, 16000, 40000] and
		($data | map(select(.start == 1)) | length) > ($starts | length) and
		($data | map(select(.more == 0)) | length) > ($ends | length)'
}

# A message that is one packet starts and ends.
one_packet_messages()
{
	bursts 64 && converse "$client" "$1" "xfer 100" "xfer 1" "xfer 700" &&
	nothing_false &&
	said '($data | map([.seq, .start, .more, .push])) ==
		[[0, 1, 0, 1], [100, 1, 0, 1], [101, 1, 0, 1]]'
}

# The peer's answer: ends where the message does, and says so beside what it echoes.
the_peer_answers()
{
	bursts 64 && converse "$server" "$1" "xfer 24000" "xfer 300" && nothing_false &&
	said '$starts[0].seq == 0 and $starts[-1].seq == 24000 and
		$ends[-2:] == [24000, 24300]'
}

# Lost packets are sent again; that starts nothing, whatever they were at first.
nothing_starts_again()
{
	local i commands=()

	for ((i = 0; i < 60; i++)); do
		commands+=("xfer 15000")
	done
	loss=5
	bursts 1 && converse "$client" "$1" "${commands[@]}"
	loss=0
	in_netns "$client" tc qdisc del dev wire0 root
	nothing_false &&
	said '($data | map(select(.again == 1)) | length) > 5 and
		($starts | length) > 10'
}

plan 10
check "a network of two, and who answers" make_network
for address in 10.75.0.2 fd75::2; do
	check "three messages to $address" three_messages "$address"
	check "messages of several packets in bursts to $address" bursts_are_told_apart "$address"
	check "messages of a packet to $address" one_packet_messages "$address"
done
check "the peer answers 10.75.0.2" the_peer_answers 10.75.0.2
check "the peer answers fd75::2" the_peer_answers fd75::2
check "packets lost on the way to 10.75.0.2" nothing_starts_again 10.75.0.2
finish
