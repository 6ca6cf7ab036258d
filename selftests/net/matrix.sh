#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every algorithm that is there, with the option and without: 50 KB go to a
# server and come back, so that it sends to its peer and gets ACKs from it, and
# acknowledges, too.
#
#	peer	runs the algorithm and answers; has no Quell at all, or may not answer
#	family	IPv4; IPv6
#	cards	segmentation, checksum and receive offloads on; off
#	loss	none; 1 % both ways, of which each transfer meets some
#
# Each algorithm meets every value: in one combination and in its opposite, and
# which two changes from algorithm to algorithm.  Two algorithms in a row differ in
# one value, eight have seen them all.  The state of the option is as the peer has it,
# round trips come from echoes where it is negotiated, no packet has it elsewhere, and
# every checksum is right.
# shellcheck disable=SC2154 # $flows is talk.sh's

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./pair.sh
. ./talk.sh
. ./suited.sh

port=8080
xfer_bytes=50000

set_host()
{
	choose_cc "$1" "$2" && suit "$1" "$2" || return 1
	quell -n "$1" cc set quell option "$3"
}

# And a delay: without one virtual time has round trips of 0, and echoes are refused.
set_loss()
{
	local netns

	for netns in "$client" "$server"; do
		tc -n "$netns" qdisc replace dev wire0 root netem limit 1000 delay 1ms \
			loss "$1%" || return 1
	done
}

# Nothing was refused, at either end.
nothing_refused()
{
	local netns

	for netns in "$client" "$server"; do
		same "wrong checksums" "$(counter_of "$netns" snmp Tcp InCsumErrors)" 0 &&
		quell -n "$netns" -j stat quell >"$dir/stat" &&
		json '.[0].counters | [to_entries[] | select(.key |
			test("malformed|bad-checksum|out-of-window"))] |
			length == 7 and (map(.value) | add == 0)' "$dir/stat" || return 1
	done
}

# counters: packets that the client sent with the option, its round-trip samples, those of echoes.
counters()
{
	quell -n "$client" -j stat quell | jq -r '.[0].counters | "\(.["option-sent"] // 0)" +
		" \(.["rtt-samples"] // 0) \(.["rtt-echo"] // 0)"'
}

# drops: of both cables.
drops()
{
	{ tc -n "$client" -s -j qdisc show dev wire0 && tc -n "$server" -s -j qdisc show dev wire0; } |
		jq -s 'map(.[0].drops) | add'
}

# exchange LOSS: transfer bytes, and packets one by one until some were lost: of 4000 some are but
# once in 1e17 times, while of the super-packets of one transfer often none is.
exchange()
{
	local before try

	before=$(drops) && set_loss "$1" && say "xfer $xfer_bytes" || return 1
	for ((try = 0; $1 > 0 && try < 20; try++)); do
		[ "$(drops)" -eq "$before" ] || return 0
		say "turns 100 1000" || return 1
	done
	[ "$1" -eq 0 ]
}

# transfer ALGORITHM PEER FAMILY CARDS LOSS: of data.  A SYN or its answer that is sent
# again has no option; offer-loss.sh loses those.  With the option an emulator that does not run a
# receiver has more packets under way than are remembered, and with loss SACK blocks may leave no
# room: then fewer samples are of echoes.
transfer()
{
	local there=10.78.0.1 option=no-reply before after sent samples echoes least=$(($5 ? 10 : 40))

	say reset
	[ "$3" = 4 ] || there=fd78::1
	case $2 in
	answers)	set_host "$server" "$1" 2 && option=on ;;
	none)		set_host "$server" cubic 2 ;;
	silent)		set_host "$server" "$1" 0 ;;
	esac &&
	set_host "$client" "$1" 1 && set_offloads "$4" && set_loss 0 && poll 20 no_flow "$client" &&
	read -ra before <<<"$(counters)" &&
	say "open $3" "connect $there $port" && exchange "$5" &&
	poll 5 one_flow "$client" "$port" "$option" && say reset && nothing_refused &&
	read -ra after <<<"$(counters)" && sent=$((after[0] - before[0])) &&
	samples=$((after[1] - before[1])) echoes=$((after[2] - before[2])) &&
	echo "$sent packets with the option, $echoes of $samples samples from echoes" &&
	case $option in
	on)	[ "$sent" -gt 0 ] && [ "$echoes" -gt 0 ] &&
		[ $((100 * echoes)) -ge $((least * samples)) ] ;;
	*)	same "sum of these" $((sent + echoes)) 0 ;;
	esac && return
	echo "$flows"
	return 1
}

# pair ALGORITHM NUMBER: a combination and its opposite.
pair()
{
	local gray=$(($2 ^ $2 >> 1)) peer=(answers none) family=(4 6) cards=(on off) loss=(0 1)
	local i a b c

	[ $(($2 & 1)) = 0 ] || peer[1]=silent
	for i in 0 1; do
		a=$(((gray & 1) ^ i)) b=$(((gray >> 1 & 1) ^ i)) c=$(((gray >> 2 & 1) ^ i))
		check "$1: peer ${peer[i]}, IPv${family[a]}, offloads ${cards[b]}, loss ${loss[c]} %" \
			transfer "$1" "${peer[i]}" "${family[a]}" "${cards[b]}" "${loss[c]}"
	done
}

require "two hosts with all algorithms" eval 'make_network 78 && load_all &&
	talker talker "$client" && serve "$server" "$port"'
all=()
read -ra all -d "" <<<"$(algorithms)"
plan $((1 + 2 * ${#all[@]}))
# As many as there are modules, at least: some have two.
check "algorithms: ${all[*]}" [ ${#all[@]} -ge "$(lsmod | grep -c '^tcp_')" ]
for i in "${!all[@]}"; do
	pair "${all[i]}" "$i"
done
finish
