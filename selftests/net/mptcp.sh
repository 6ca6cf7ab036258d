#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# MPTCP and the Quell option: MPTCP's own options need the room in data, so its subflows have
# no Quell option, reserve no room for one, and say so.  Two subflows, the second by a second
# address of the client:
#
#	client --- server
#
# with each value of the parameter, an algorithm that does without the option (swift) and two
# that need it (hpcc, dart), at both ends and at the client alone, over IPv4 and IPv6; with
# MPTCP at one end alone, where the connection is plain TCP; and with Fast Open.
# shellcheck disable=SC2154 # $flows is talk.sh's

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./talk.sh
. ./suited.sh

port=8080 plain_port=8081
client="" server="" queue=()

# host FAMILY NUMBER
host()
{
	[ "$1" = 4 ] && echo "10.79.0.$2" || echo "fd79::$2"
}

# Linux 6.1 has no Fast Open on listeners of MPTCP.
has_fast_open()
{
	say "open 6 mptcp" "fastopen 16"
}

make_network()
{
	local netns number

	new_netns client server
	cable "$client" wire "$server" wire || return 1
	for number in 1 2 3; do
		netns=$client
		[ "$number" != 1 ] || netns=$server
		ip -n "$netns" addr add "$(host 4 "$number")/24" dev wire &&
		ip -n "$netns" addr add "$(host 6 "$number")/64" dev wire nodad || return 1
	done
	for netns in "$client" "$server"; do
		ip -n "$netns" mptcp limits set subflows 2 &&
		in_netns "$netns" sysctl -q -w net.ipv4.tcp_fastopen=3 || return 1
	done
	ip -n "$client" mptcp endpoint add "$(host 4 3)" subflow &&
	ip -n "$client" mptcp endpoint add "$(host 6 3)" subflow &&
	talker talker "$client" || return 1
	! has_fast_open || queue=("fastopen,16")
	serve "$server" "$port" open,6,mptcp "${queue[@]}" && serve "$server" "$plain_port"
}

# set_host NETNS ALGORITHM OPTION
set_host()
{
	choose_cc "$1" "$2" && suit "$1" "$2" && quell -n "$1" cc set quell option "$3"
}

# The flows of the check before are gone, however it ended.
quiet()
{
	say reset
	poll 10 no_flow "$client" && poll 10 no_flow "$server"
}

# set_hosts ALGORITHM OPTION PEER: algorithms of client and server, and the option of both.
set_hosts()
{
	quiet && set_host "$client" "$1" "$2" && set_host "$server" "$3" "$2"
}

options_sent()
{
	for netns in "$client" "$server"; do
		quell -n "$netns" -j stat quell
	done | jq -s '[.[][0].counters["option-sent"]] | add'
}

joined()
{
	counter_of "$server" netstat MPTcpExt MPJoinAckRx
}

joins_exceed()
{
	[ "$(joined)" -gt "$1" ]
}

# subflows NETNS N STATE MSS
subflows()
{
	flows_of "$1" && jq -e --argjson n "$2" --arg state "$3" --argjson mss "$4" '
		[.[] | select(.cc)] | length == $n and all(.option == $state and
		.mss_bytes == $mss)' <<<"$flows" >/dev/null
}

# shows NETNS N STATE MSS: of its flows.
shows()
{
	poll 5 subflows "$@" && return 0
	jq -c '[.[] | { cc, dport, sport, option, mss_bytes }]' <<<"$flows"
	return 1
}

# mss FAMILY: of a packet of 1500 bytes, with timestamps and no other option.
mss()
{
	[ "$1" = 4 ] && echo 1448 || echo 1428
}

# Doctor says it of algorithms that need the option, and says it alone.
doctor_says()
{
	local words

	words=$(quell -n "$client" doctor | tr -s ' \n' ' ')
	echo "$words"
	[[ $words = *"have no room for the Quell option, which $1 needs"* ]] &&
	[[ $words != *"peer uses no algorithm"* ]] && [[ $words != *"writes telemetry"* ]]
}

# two_subflows ALGORITHM OPTION ENDS FAMILY
two_subflows()
{
	local state=no-room before sent theirs=2

	[ "$2" != 0 ] || state=not-offered
	[ "$3" = both ] || theirs=0
	set_hosts "$1" "$2" "$([ "$3" = both ] && echo "$1" || echo cubic)" || return 1
	before=$(joined) sent=$(options_sent)
	say "open $4 mptcp" "bind $(host "$4" 2) 0" "connect $(host "$4" 1) $port" \
		"xfer 20000" &&
	poll 10 joins_exceed "$before" && say "xfer 50000" &&
	shows "$client" 2 "$state" "$(mss "$4")" &&
	shows "$server" "$theirs" "$state" "$(mss "$4")" &&
	same "packets with the option" "$(options_sent)" "$sent" || return 1
	[ "$1" = swift ] || doctor_says "$1"
}

# The peer takes no part, and plain TCP goes on; the offer was not made.
client_alone()
{
	set_hosts swift 1 swift && say "open $1 mptcp" "connect $(host "$1" 1) $plain_port" \
		"xfer 50000" && shows "$client" 1 no-room "$(mss "$1")" &&
	shows "$server" 1 not-offered "$(mss "$1")"
}

# A listener with MPTCP takes plain connections, and those have the option.
listener_alone()
{
	set_hosts swift 1 swift && say "open $1" "connect $(host "$1" 1) $port" "xfer 50000" &&
	shows "$client" 1 on $(($(mss "$1") - 12)) && shows "$server" 1 on $(($(mss "$1") - 12))
}

# The first asks for a cookie, the second sends data in its SYN.
fast_open()
{
	local n

	set_hosts swift 1 swift || return 1
	for n in 0 1; do
		quiet && say "open $1 mptcp" fastopen "bind $(host "$1" 2) 0" \
			"connect $(host "$1" 1) $port" "xfer 50000" fastopened &&
		same "fast open" "${answer##* }" "$n" || return 1
	done
	shows "$client" 2 no-room "$(mss "$1")" && shows "$server" 2 no-room "$(mss "$1")"
}

# ALGORITHM OPTION ENDS FAMILY: the ends swap their families from row to row.
cases()
{
	cat <<'END'
swift 0 both 4
swift 0 client 6
swift 1 both 6
swift 1 client 4
swift 2 both 4
swift 2 client 6
hpcc 2 both 6
hpcc 2 client 4
dart 2 both 4
dart 2 client 6
END
}

require "hosts with MPTCP" eval 'make_network && load_all'
plan $(($(cases | wc -l) + 6))
while read -ru 9 algorithm option ends family; do
	check "$algorithm, option $option, $ends, IPv$family: two subflows without the option" \
		two_subflows "$algorithm" "$option" "$ends" "$family"
done 9<<<"$(cases)"
for family in 4 6; do
	check "MPTCP at the client alone, IPv$family" client_alone "$family"
	check "MPTCP at the listener alone, IPv$family" listener_alone "$family"
	if [ ${#queue[@]} -ne 0 ]; then
		check "Fast Open, IPv$family" fast_open "$family"
	else
		skip "Fast Open, IPv$family" "this kernel has none for MPTCP"
	fi
done
finish
