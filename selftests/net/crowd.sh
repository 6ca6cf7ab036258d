# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Two hosts, 2 ms apart, and as many connections at once as wanted (many_tcp.c), for
# the tests that source this after lib.sh.
#
#	$client wire --- wire $server	or	$client wire --- $box --- wire $server
#	10.79.0.2         10.79.0.1

# shellcheck disable=SC2034 # for those who source this
client="" server="" box="" servers=10.79.0.1 port=8080 ports=4
crowd_client="" crowd_server=""

# Queues that hold all, and every processor's view of the other's address: nothing is
# lost but what a test has lost.  "boxed" leaves room for an option_box.
# shellcheck disable=SC2120
crowd_network()
{
	local netns

	new_netns client server
	if [ "${1-}" = boxed ]; then
		new_netns box
		cable "$client" wire "$box" box0 10.79.0.2/24 &&
		cable "$server" wire "$box" box1 10.79.0.1/24
	else
		cable "$client" wire "$server" wire 10.79.0.2/24 10.79.0.1/24
	fi || return 1
	for netns in "$client" "$server"; do
		in_netns "$netns" sysctl -q -w net.core.somaxconn=200000 \
			net.ipv4.tcp_max_syn_backlog=200000 \
			net.ipv4.ip_local_port_range="10000 65535" &&
		tc -n "$netns" qdisc add dev wire root netem delay 1ms limit 1000000 ||
			return 1
		[ -z "$box" ] || in_netns "$netns" ethtool -K wire tso off gso off gro off \
			tx off >/dev/null || return 1
	done
	[ -n "$box" ] || crowd_answers
}

crowd_answers()
{
	poll 10 in_netns "$client" busybox ping -c 1 -W 1 $servers
}

# The default algorithm of both, Quell's with the option.
crowd_hosts()
{
	local netns

	for netns in "$client" "$server"; do
		choose_cc "$netns" "$1" || return 1
		[ "$1" = cubic ] || {
			quell -n "$netns" cc set "$1" base-target 100ms &&
			quell -n "$netns" cc set quell option 1
		} || return 1
	done
}

crowd_done()
{
	[ "$(grep -c done "$dir/crowd")" -ge "$1" ] || ! kill -0 "$crowd_client"
}

# For whoever wants them to be started elsewhere.
crowd_enter()
{
	:
}

# crowd_open COUNT BYTES [HOW] [NETNS] [ADDRESS]: and wait for each to have its answer.
crowd_open()
{
	local netns=${4:-$client}

	crowd_close || return 1
	crowd_enter server
	start_in "$server" many_tcp listen $port $ports ${3:+"$3"} >"$dir/listener"
	crowd_server=$started
	poll 10 grep -q ready "$dir/listener" || return 1
	crowd_enter client
	rm -f "$dir/more"
	mkfifo "$dir/more"
	start_in "$netns" sh -c 'exec many_tcp connect "$@" <>"$0"' "$dir/more" \
		"${5:-$servers}" $port $ports "$1" "$2" ${3:+"$3"} >"$dir/crowd" 2>&1
	crowd_client=$started
	poll 120 crowd_done 1
	grep -q done "$dir/crowd" && return 0
	cat "$dir/crowd"
	return 1
}

# crowd_more BYTES: every connection sends and gets so many more.
crowd_more()
{
	local times

	times=$(grep -c done "$dir/crowd")
	echo "$1" >"$dir/more"
	poll 120 crowd_done $((times + 1))
	[ "$(grep -c done "$dir/crowd")" -gt "$times" ]
}

no_sockets()
{
	in_netns "$1" grep -q '^TCP: inuse 0 ' /proc/net/sockstat
}

crowd_close()
{
	[ -z "$crowd_client" ] || stop "$crowd_client"
	[ -z "$crowd_server" ] || stop "$crowd_server"
	crowd_client="" crowd_server=""
	poll 60 no_sockets "$server"
}

# What became of the option: $dir/agreed has connections, how many have it at the
# client and at the server, and of how many the ends do not agree.
# shellcheck disable=SC2120 # the client may be another
crowd_agreed()
{
	quell -n "${1:-$client}" -j flow show >"$dir/client.flows" &&
	quell -n "$server" -j flow show >"$dir/server.flows" &&
	jq -n --slurpfile c "$dir/client.flows" --slurpfile s "$dir/server.flows" --argjson port $port '
		def on(here; there): [.[] | select(.[there] >= $port and .[there] < $port + 8) |
			{ key: "\(.[here]) \(.[there])", value: (.option == "on") }] | from_entries;
		($c[0] | on("sport"; "dport")) as $mine | ($s[0] | on("dport"; "sport")) as $theirs |
		{ flows: ($mine | length), server_flows: ($theirs | length),
		  on: ([$mine[] | select(.)] | length), server_on: ([$theirs[] | select(.)] | length),
		  disagree: ([$mine | to_entries[] | select(.value != ($theirs[.key] // false))] | length) }' \
		>"$dir/agreed"
}

# crowd_is FILTER: of that.
crowd_is()
{
	jq -c . "$dir/agreed"
	jq -e "$1" "$dir/agreed" >/dev/null
}
