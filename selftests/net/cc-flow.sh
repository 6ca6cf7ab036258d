# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A connection that is told what to do, cc_tcp, for the tests that source this after lib.sh
# and set $port.
#
#	$server wire0 --- wire0 $client, which sends
#	10.N.0.1          10.N.0.2
# shellcheck disable=SC2034,SC2154 # for those who source this; $port is theirs

server="" client="" sink=""

flow_pid=0 flow_in="" flow_out=""
# What it answered last.
cc="" cwnd=0 ssthresh=0 rtt_us=0 pacing_bytes_ps=0 mss_bytes=0 resent=0 told=0
ecn=0

# two_hosts N: the server serves until the test ends.
two_hosts()
{
	new_netns server client
	cable "$server" wire0 "$client" wire0 "10.$1.0.1/24" "10.$1.0.2/24" &&
	start_sink
}

# start_sink: its algorithm is what is chosen there now.
start_sink()
{
	start_in "$server" cc_tcp sink "$port"
	sink=$started
	poll 10 listens "$server" "$port"
}

# open_flow ADDRESS [ALGORITHM]: which is chosen before the server answers.
open_flow()
{
	coproc in_netns "$client" cc_tcp flow "$1" "$port" ${2:+"$2"}
	flow_pid=$COPROC_PID flow_out=${COPROC[0]} flow_in=${COPROC[1]}
}

# tell WORD...: the flow; its state is in the variables above.
tell()
{
	echo "$*" >&"$flow_in"
	read -r -t 30 cc cwnd ssthresh rtt_us pacing_bytes_ps mss_bytes resent told \
		ecn <&"$flow_out" ||
		return 1
	echo "$*: $cc cwnd $cwnd ssthresh $ssthresh rtt $rtt_us us rate $pacing_bytes_ps B/s" \
		"mss $mss_bytes resent $resent told $told ECN $ecn"
}

# close_flow STATUS: of what was done with it.
close_flow()
{
	eval "exec $flow_in>&-"
	wait "$flow_pid" && [ "$1" -eq 0 ]
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
	delay 10ms && choose_cc "$client" cubic && open_flow "$1" "$2" && tell send 100000 && [ "$ecn" -eq 0 ]
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

	delay 10ms && open_flow "$1" && tell cc "$2" && tell send 300000 &&
	bound=$((2 * (pacing_bytes_ps * rtt_us / 1000000 / mss_bytes + 1))) &&
	[ "$cwnd" -gt "$bound" ] && tell cc reno && [ "$cwnd" -le "$bound" ]
	set -- $?
	echo "bound $bound"
	close_flow "$1"
}
