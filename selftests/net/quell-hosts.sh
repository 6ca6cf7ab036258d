# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Two hosts for what users touch, and a flow between them; sourced after lib.sh.
#
#	left (swift) --- veth, shaped --- right

port=5201
left="" right=""

left_quell()
{
	quell -n "$left" "$@"
}

# make_network RATE: of the left host's cable.
make_network()
{
	modprobe tcp_swift &&
	new_netns left right &&
	cable "$left" l0 "$right" r0 10.72.0.1/24,fd72::1/64 10.72.0.2/24,fd72::2/64 &&
	tc -n "$left" qdisc add dev l0 root netem rate "$1" limit 100 &&
	choose_cc "$left" swift
}

start_transfer()
{
	start_in "$right" option_tcp serve "$port" sink >"$dir/server" 2>&1
	poll 10 listens "$right" "$port" || return 1
	left_quell cc set swift adapt off && start_client 10.72.0.2
}

# start_client ADDRESS: two connections, of which one sends without end and the other idles.
# Not iperf3, which looks again and again whether it can begin: in virtual time that is for long.
start_client()
{
	local family=4

	[[ $1 != *:* ]] || family=6
	printf '%s\n' "open $family" "connect $1 $port" "send 2000000000" >"$dir/commands"
	ip netns exec "$left" bash -c 'exec 3<>"/dev/tcp/$0/$1" && exec option_tcp talk <"$2"' \
		"$1" "$port" "$dir/commands" >"$dir/client" 2>&1 &
	client=$!
	defer kill "$client"
	poll 10 busy_flow "$1"
}

stop_client()
{
	kill "$client"
	wait "$client" 2>/dev/null
	poll 10 no_flow_left
}

no_flow_left()
{
	[ "$(left_quell -j flow show)" = "[]" ]
}

# The row of the data connection to $1.  Sockets get their cookies from ss.
busy_flow()
{
	in_netns "$left" ss -Htne >"$dir/ss"
	left_quell -j flow show >"$dir/flows" &&
	jq -e "[.[] | select(.dst == \"$1\" and .rtt_ns and .cookie)] |
		max_by(.counters[\"rtt-samples\"]) | select(.counters[\"rtt-samples\"] > 10)" \
		"$dir/flows" >"$dir/flow"
}

# A user namespace of its own gives no rights over this network namespace.
as_nobody()
{
	in_netns "$left" setpriv --reuid 65534 --clear-groups --inh-caps=-all "$@"
}
