# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A connection of option_tcp and the state of its congestion control, for tests that source this
# after lib.sh and set $port.
#
#	$server wire0 --- wire0 $client, which sends
#	10.N.0.1          10.N.0.2
# shellcheck disable=SC2034,SC2154 # for those who source this; $port is theirs

. ./talk.sh

server="" client=""
# Of the last command: "marks" are packets that the peer reported as marked.
cc="" cwnd=0 ssthresh=0 rtt_us=0 pacing_bytes_ps=0 mss_bytes=0 resent=0 marks=0 ecn=0

# two_hosts N: the server serves until the test ends.
two_hosts()
{
	new_netns server client
	cable "$server" wire0 "$client" wire0 "10.$1.0.1/24" "10.$1.0.2/24" &&
	talker talker "$client" && serve "$server" "$port" sink
}

# open_flow ADDRESS [ALGORITHM]: which is chosen before the server answers.
open_flow()
{
	say "open 4" "connect $1 $port${2:+ $2}"
}

# flow_does WORD...: a command of option_tcp; the variables above have the state after all data is
# acknowledged.
flow_does()
{
	say "$*" acked info &&
	read -r _ _ cc cwnd ssthresh rtt_us pacing_bytes_ps mss_bytes resent marks ecn <<<"$answer"
}

# close_flow STATUS: of what was done with it.
close_flow()
{
	say close && [ "$1" -eq 0 ]
}

# delay TIME [WORD...]: of what the client sends.
delay()
{
	in_netns "$client" tc qdisc replace dev wire0 root netem delay "$@" limit 10000
}

# An algorithm that needs ECN, chosen before the server answers, who does not give it.
late_choice_needs_consent()
{
	in_netns "$client" sysctl -q -w net.ipv4.tcp_ecn=1 &&
	in_netns "$server" sysctl -q -w net.ipv4.tcp_ecn=0 &&
	delay 10ms && choose_cc "$client" cubic && open_flow "$1" "$2" && flow_does send 100000 &&
	[ "$ecn" -eq 0 ]
	close_flow $?
	set -- $?
	in_netns "$client" sysctl -q -w net.ipv4.tcp_ecn=2
	in_netns "$server" sysctl -q -w net.ipv4.tcp_ecn=2
	return "$1"
}

# The window of an algorithm that sends by a rate is a bound far above what the path holds.  The
# next algorithm gets what the rate has in flight.
leaves_what_rate_holds()
{
	local bound

	delay 10ms && open_flow "$1" && flow_does cc "$2" && flow_does send 300000 &&
	bound=$((2 * (pacing_bytes_ps * rtt_us / 1000000 / mss_bytes + 1))) &&
	[ "$cwnd" -gt "$bound" ] && flow_does cc reno && [ "$cwnd" -le "$bound" ]
	set -- $?
	echo "bound $bound"
	close_flow "$1"
}
