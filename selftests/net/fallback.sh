#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Where the Quell option cannot be spoken, the flow is plain TCP and says why:
# peers that do not know it, hosts on the way that take it out or lose it,
# segments without room, sockets that change their mind.  Over IPv4 and IPv6:
#
#	direct	client --- server
#	box	client --- box (option_box) --- server
#	router	client --- router --- server
#
# In each case all bytes come back, both ends name the state of the option, and
# their counters move by what the case says; at the end no checksum was wrong.
# shellcheck disable=SC2154 # $flows is talk.sh's

cd "$(dirname "$0")" || exit 1
. ./lib.sh
. ./talk.sh

port=8080 plain_port=8081 signed_port=8082 queue_port=8083 late_port=8084 sink_port=8085

. ./fallback-net.sh

# Swift's own target is far below an emulated host's round-trip time.
set_hosts()
{
	local netns

	for netns in "$client" "$server"; do
		choose_cc "$netns" swift &&
		in_netns "$netns" sysctl -q -w net.ipv4.tcp_fastopen=3 &&
		in_netns "$netns" quell cc set swift base-target 100ms || return 1
	done
	in_netns "$client" quell cc set quell option 1 &&
	in_netns "$server" quell cc set quell option 2 &&
	choose_cc "$late" swift
}

counters()
{
	quell -n "$client" -j stat quell >"$dir/client.$1" &&
	quell -n "$server" -j stat quell >"$dir/server.$1"
}

mark()
{
	counters before
}

# Counters of what was refused.
refusals='.["option-malformed"] + .["option-bad-checksum"] + .["option-out-of-window"] +
	.["segment-malformed"] + .["segment-bad-checksum"] + .["segment-out-of-window"]'

# moved FILTER [REFUSED]: what the counters moved by since the mark, as .client and
# .server; nothing is refused where nothing was damaged.  Else says what did move.
moved()
{
	counters after &&
	jq -n '[inputs | .[0].counters] | [[.[0], .[1]], [.[2], .[3]]] |
		map(.[0] as $before | .[1] | with_entries(.value -= $before[.key])) |
		{ client: .[0], server: .[1] }' "$dir/client.before" "$dir/client.after" \
		"$dir/server.before" "$dir/server.after" >"$dir/moved" || return 1
	jq -e "($1) and ([.client, .server] | map($refusals) | add == ${2:-0})" \
		"$dir/moved" >/dev/null && return 0
	echo "not true, with ${2:-0} refused: $1"
	jq -c 'map_values(with_entries(select(.value != 0)))' "$dir/moved"
	return 1
}

# Connections that agreed at client and server, and that the client gave up.
agreed()
{
	echo ".client[\"option-negotiated\"] == $1 and .server[\"option-negotiated\"] == $2 and
		.client[\"option-stripped\"] == ${3:-0} and .server[\"option-stripped\"] == 0"
}

# states PORT CLIENT SERVER: what flow show says of the one flow at each end.
states()
{
	if poll 5 one_flow "$client" "$1" "$2" && poll 5 one_flow "$server" "$1" "$3"; then
		return 0
	fi
	echo "$flows"
	return 1
}

# none NETNS: not now.
none()
{
	no_flow "$1" && return 0
	echo "flows: $flows"
	return 1
}

# The flows of the case before are gone, however it ended, and cannot be taken for
# this one's.
quiet()
{
	say reset
	ordered other reset
	ordered second reset
	poll 10 no_flow "$client" && poll 10 no_flow "$server" && mark
}

# conclude CLIENT SERVER FILTER: of a connection that is open; then it closes.
conclude()
{
	states "$port" "$1" "$2" && moved "$3" && say close
}

# connects FAMILY NETWORK [PORT] [HOST]: and 100 KB go and come.
connects()
{
	quiet && say "open $1" "connect $(address "$1" "$2" "${4:-1}") ${3:-$port}" \
		"xfer 100000"
}

spoken()
{
	connects "$1" 73 && conclude on on "$(agreed 1 1) and
		.client[\"rtt-echo\"] > 0 and .server[\"rtt-echo\"] > 0"
}

# The server's SYN-ACK is that of a socket that is not Quell's.
peer_without()
{
	connects "$1" 73 "$plain_port" &&
	poll 5 one_flow "$client" "$plain_port" no-reply &&
	none "$server" &&
	moved "$(agreed 0 0) and .client[\"option-sent\"] == 0 and
		.server[\"option-sent\"] == 0" && say close
}

# It saw and changed so many segments with the option.  It goes when the connection has, whose
# last segments would else be sent into nothing for minutes.
box_saw()
{
	poll 10 no_flow "$client" && poll 10 no_flow "$server" || return 1
	stop "$box_pid"
	box_pid=""
	cat "$dir/box"
	grep -qxE "seen $1 changed $2" "$dir/box" && return 0
	echo "not: seen $1 changed $2"
	return 1
}

# There, but not taken out of anything.
box_passes()
{
	boxed pass && connects "$1" 74 && conclude on on "$(agreed 1 1)" &&
	box_saw '[1-9][0-9]+' 0
}

syn_stripped()
{
	boxed strip-syn && connects "$1" 74 &&
	conclude no-reply not-offered "$(agreed 0 0)" && box_saw 1 1
}

all_stripped()
{
	boxed strip-all && connects "$1" 74 &&
	conclude no-reply not-offered "$(agreed 0 0)" && box_saw 1 1
}

# exchange N: a byte goes and comes back until the server has sent N segments, of which all
# but its SYN-ACK had room and no option.
exchange()
{
	local sent=0

	while [ "$sent" -lt "$1" ]; do
		say "xfer 1" >/dev/null || return 1
		sent=$(quell -n "$server" -j flow show | jq '[.[].sent_segs] | add') || return 1
	done
}

# Of 32 packets that had room none brings it: the client gives up, and the room back.
# 25 are not enough, 35 are.  The server has never seen the option but in the SYN.
data_stripped()
{
	local with_room

	boxed strip-data && quiet &&
	say "open $1" "connect $(address "$1" 74 1) $port" mss || return 1
	with_room=${answer##* }
	exchange 25 && states "$port" on not-offered && moved "$(agreed 1 0)" &&
	exchange 36 && states "$port" stripped not-offered &&
	moved "$(agreed 1 0 1) and .client[\"option-received\"] == 0 and
		.server[\"option-received\"] == 0" &&
	say mss && same "segments" "${answer##* }" $((with_room + 12)) &&
	mark && say "xfer 100000" &&
	conclude stripped not-offered "$(agreed 0 0) and .client[\"option-sent\"] == 0 and
		.server[\"option-sent\"] == 0"
}

# server_mss BYTES: of the connection's other end.
server_mss_is()
{
	local shown

	shown=$(in_netns "$server" ss -tinH state established "sport = $port")
	[[ $shown =~ \ mss:([0-9]+) ]] && same "server's segments" "${BASH_REMATCH[1]}" "$1"
}

# The server receives the first option with data, after some segments without.  The next ACK is
# enough for it to make its segments shorter by the option.
data_agrees()
{
	local mss_bytes=$((1500 - $(headers "$1")))

	boxed strip-data && quiet &&
	say "open $1" "connect $(address "$1" 74 1) $port" "xfer 10000" &&
	states "$port" on not-offered && server_mss_is $((mss_bytes + 12)) && boxed pass &&
	say "xfer 1" && poll 5 server_mss_is "$mss_bytes" && say "xfer 100000" &&
	conclude on on "$(agreed 1 1)"
}

# Two SYNs are lost; the third has no option.
syn_dropped()
{
	boxed drop-syn && connects "$1" 74 &&
	conclude not-offered not-offered "$(agreed 0 0)" && box_saw 2 2
}

# signed KIND FAMILY: what is signed cannot be added to, and no room is reserved, neither for
# TCP-INT, which this client would send.  There are no timestamps, and the MSS is without the
# signature, which TCP subtracts for each segment.
signed()
{
	local kind=$1 mapped="" status

	[ "$2" = 6 ] || mapped=::ffff:
	in_netns "$client" quell cc set quell tcp-int 1 || return 1
	start_in "$server" option_tcp serve "$signed_port" \
		"$kind,$mapped$(address "$2" 73 2),secret" >"$dir/signed"
	poll 10 says_ready signed && quiet &&
	say "open $2" "$kind $(address "$2" 73 1) secret" \
		"connect $(address "$2" 73 1) $signed_port" "xfer 100000" &&
	mss_is "$2" $((1500 - $(headers "$2") + 12 + 12)) &&
	states "$signed_port" no-room no-room &&
	moved "$(agreed 0 0) and .client[\"option-no-room\"] == 1 and
		.server[\"option-no-room\"] == 0 and .client[\"option-sent\"] == 0 and
		.client[\"tcp-int-sent\"] == 0" &&
	say close
	status=$?
	in_netns "$client" quell cc set quell tcp-int 0
	stop "$started"
	return "$status"
}

# Both ends of a live connection get keys: it gives the option up, and its room back.
signed_later()
{
	local here there kind=$1

	here=$(address "$2" 73 2) there=$(address "$2" 73 1)
	quiet && ordered other "open $2" "bind $there $queue_port" listen &&
	say "open $2" "connect $there $queue_port" && ordered other accept &&
	states "$queue_port" on on && mss_is "$2" $((1500 - $(headers "$2"))) &&
	ordered other "$kind $here secret" && say "$kind $there secret" && mark || return 1
	ask other echo
	say "xfer 100000" && states "$queue_port" no-room no-room &&
	mss_is "$2" $((1500 - $(headers "$2") + 12)) &&
	moved '.client["option-sent"] == 0 and .server["option-sent"] == 0' &&
	say close && told other
}

# Whether this kernel signs segments: 6.1 knows no TCP-AO, others may be built without.
has_md5()
{
	say "open 4" "md5 10.73.0.1 secret"
}

has_ao()
{
	say "open 4" "ao 10.73.0.1 secret"
}

# The first asks for a cookie, the second sends data in its SYN.
fast_open()
{
	local server_address n

	server_address=$(address "$1" 73 1)
	for n in 0 1; do
		quiet && say "open $1" fastopen "connect $server_address $port" \
			"xfer 100000" fastopened && same "fast open" "${answer##* }" "$n" &&
		conclude on on "$(agreed 1 1)" || return 1
	done
}

set_mtu()
{
	ip -n "$router" link set east mtu "$1" && ip -n "$server" link set east mtu "$1"
}

# mss_is BYTES: of an IPv4 packet, and of IPv6 with its longer header.
mss_is()
{
	say mss && same "segments" "${answer##* }" "$2"
}

# headers FAMILY: IP, TCP with timestamps, and the option.
headers()
{
	[ "$1" = 4 ] && echo $((20 + 32 + 12)) || echo $((40 + 32 + 12))
}

# A link on the way gets narrower under the flow; the router says so.
mtu_falls()
{
	set_mtu 1500
	quiet && say "open $1" "connect $(address "$1" 76 2) $port" "xfer 100000" &&
	mss_is "$1" $((1500 - $(headers "$1"))) &&
	set_mtu 1300 && say "xfer 200000" && mss_is "$1" $((1300 - $(headers "$1"))) &&
	conclude on on "$(agreed 1 1)" && set_mtu 1500
}

# within WHAT LEAST GOT MOST
within()
{
	[ "$2" -le "$3" ] && [ "$3" -le "$4" ] && return 0
	echo "$1: $3, not $2 to $4"
	return 1
}

mtu_grew()
{
	say "xfer 300000" mss && [ "${answer##* }" -gt "$1" ]
}

# TCP begins with small segments and tries larger ones.
mtu_probed()
{
	in_netns "$client" sysctl -q -w net.ipv4.tcp_mtu_probing=2 \
		net.ipv4.tcp_base_mss=1024 net.ipv4.tcp_probe_threshold=1 &&
	quiet && say "open $1" "connect $(address "$1" 73 1) $port" mss || return 1
	in_netns "$client" sysctl -q -w net.ipv4.tcp_mtu_probing=0
	within "segments" 0 "${answer##* }" 1099 && poll 20 mtu_grew 1200 &&
	within "segments" 1201 "${answer##* }" $((1500 - $(headers "$1"))) &&
	conclude on on "$(agreed 1 1)"
}

# The application's own extension headers, of 8 bytes: the option and its room stay away, and
# come back.
extension_headers()
{
	connects 6 73 && moved '.client["option-no-room"] == 0' &&
	say "dstopts on" && mark && say "xfer 100000" && states "$port" on on &&
	mss_is 6 $((1500 - $(headers 6) + 12 - 8)) &&
	moved '.client["option-no-room"] > 0 and .client["option-sent"] == 0' &&
	say dstopts "xfer 10000" && mark && say "xfer 100000" &&
	mss_is 6 $((1500 - $(headers 6))) &&
	conclude on on '.client["option-no-room"] == 0 and .client["option-sent"] > 0 and
		.client["rtt-echo"] > 0'
}

# Hop-by-hop options come first, as those of packets above 64 KB.  Short segments leave room.
hop_by_hop()
{
	quiet && say "open 6" "maxseg 1000" "connect $(address 6 73 1) $port" "xfer 100000" &&
	states "$port" on on && say "hopopts on" && mark && say "xfer 100000" &&
	conclude on on '.client["option-sent"] == 0 and .client["option-no-room"] > 0'
}

# accept_source_routes 0|1: by the hosts on the way.
accept_source_routes()
{
	local netns

	for netns in "$client" "$router" "$server"; do
		in_netns "$netns" sh -c 'for conf in /proc/sys/net/ipv4/conf/*; do
			echo "$0" >"$conf/accept_source_route" || exit 1
		done' "$1" || return 1
	done
}

# TCP's checksum has the address of the peer, the IP header that of the first router.
source_routed()
{
	local status

	accept_source_routes 1 && in_netns "$client" quell cc set quell tcp-int 1 && quiet &&
	say "open 4" "via 10.75.0.1" "connect $(address 4 76 2) $port" "xfer 100000" &&
	conclude no-reply not-offered "$(agreed 0 0) and .client[\"tcp-int-sent\"] > 0" &&
	poll 10 no_flow "$server"
	status=$?
	in_netns "$client" quell cc set quell tcp-int 0 && accept_source_routes 0 && return "$status"
}

# Every second of twelve segments is lost: ACKs with three blocks have no room, those
# with fewer have.
sacked()
{
	boxed gaps && connects "$1" 74 && say "xfer 200000" &&
	conclude on on "$(agreed 1 1) and .server[\"option-no-room\"] > 0 and
		.server[\"option-sent\"] > .server[\"option-no-room\"]" &&
	box_saw '[1-9][0-9]+' 6
}

# client_netem OPTION...: of packets from the client to the box.
client_netem()
{
	tc -n "$client" qdisc change dev far root netem limit 10000 "$@"
}

all_acknowledged()
{
	[ "$(in_netns "$client" ss -tinH "dport = $sink_port" | grep -c unacked)" -eq 0 ]
}

# The duplicate of data that was acknowledged is answered with an echo while no data is in flight.
# Later data is selectively acknowledged by an ACK with the same number and without the option:
# the receipt of the former is not that of the latter.
old_receipt()
{
	boxed pass && client_netem delay 100ms && quiet &&
	say "open $1" "connect $(address "$1" 74 1) $sink_port" "send 100000" &&
	poll 10 all_acknowledged && client_netem delay 100ms duplicate 100% && mark &&
	say "send 100" && poll 10 moved '.client["option-received"] == 2' || return 1
	boxed strip-data && client_netem loss 100% && mark && say "send 3000" &&
	client_netem delay 100ms && say "send 3000" &&
	poll 10 moved '.client["rtt-samples"] > 0 and .client["rtt-echo-refused"] == 0 and
		.client["rtt-not-positive"] == 0' && say reset && client_netem delay 100us
}

# wrong_checksums: those that TCP counted, of client and server.
wrong_checksums()
{
	echo $(($(counter_of "$client" snmp Tcp InCsumErrors) +
		$(counter_of "$server" snmp Tcp InCsumErrors)))
}

# What does not hold its checksum is counted, once, and believed by nobody.
damaged()
{
	local before

	before=$(wrong_checksums)
	boxed damage && connects "$1" 74 && states "$port" on on &&
	moved "$(agreed 1 1) and ([.client, .server] |
		(map(.[\"option-bad-checksum\"]) | add == 2) and
		(map(.[\"segment-bad-checksum\"]) | add == 2))" 4 &&
	say close && same "wrong checksums" "$(wrong_checksums)" $((before + 4)) &&
	box_saw '[1-9][0-9]+' 4
}

# A live flow leaves Quell and comes back to it.
switched()
{
	connects "$1" 73 && mss_is "$1" $((1500 - $(headers "$1"))) &&
	say "cc cubic" && none "$client" && mss_is "$1" $((1500 - $(headers "$1") + 12)) &&
	say "xfer 100000" "cc swift" "xfer 100000" &&
	mss_is "$1" $((1500 - $(headers "$1"))) && conclude on on "$(agreed 2 1)"
}

reconnected()
{
	connects "$1" 73 && say disconnect && poll 10 no_flow "$server" &&
	say "connect $(address "$1" 73 1) $port" "xfer 100000" &&
	mss_is "$1" $((1500 - $(headers "$1"))) && conclude on on "$(agreed 2 2)"
}

# The server keeps nothing of a SYN.
cookies()
{
	local status

	in_netns "$server" sysctl -q -w net.ipv4.tcp_syncookies=2 && connects "$1" 73
	status=$?
	in_netns "$server" sysctl -q -w net.ipv4.tcp_syncookies=1
	[ "$status" -eq 0 ] && conclude no-reply not-offered "$(agreed 0 0)"
}

# met BYTES: both send so many, and get the other's.
met()
{
	ask other "xfer $1"
	say "xfer $1" && told other
}

# SYNs meet on the way.  The stack then takes the other's first window for 128 times
# what it is, and may be stuck for good if both ends overrun it at once, as flows that
# start with more than 64 KB can: they begin with less here.
simultaneous()
{
	local here there status

	here=$(address "$1" 73 2) there=$(address "$1" 73 1)
	quiet && tc -n "$client" qdisc replace dev wire root netem delay 300ms &&
	tc -n "$server" qdisc replace dev wire root netem delay 300ms &&
	say "open $1" "bind $here $queue_port" &&
	ordered other "open $1" "bind $there $queue_port" || return 1
	ask other "connect $here $queue_port"
	ask talker "connect $there $queue_port"
	told other && told talker
	status=$?
	tc -n "$client" qdisc del dev wire root
	tc -n "$server" qdisc del dev wire root
	[ "$status" -eq 0 ] && met 20000 && met 100000 && states "$queue_port" on on &&
	moved "$(agreed 1 1)" && say reset
}

overflows_exceed()
{
	[ "$(counter_of "$server" netstat TcpExt ListenOverflows)" -gt "$1" ]
}

# A connection waits to be accepted and the queue is full when the ACK of another
# comes: it is dropped, and the SYN-ACK is sent again.  That ACK has a second, less
# than until the SYN-ACK is sent again, in which the room it had is taken away.
queued()
{
	local there dropped status

	there=$(address "$1" 73 1)
	dropped=$(counter_of "$server" netstat TcpExt ListenOverflows)
	quiet && ordered other "open $1" "bind $there $queue_port" "backlog 1" listen &&
	ordered second "open $1" "connect $there $queue_port" && say "open $1" &&
	tc -n "$client" qdisc replace dev wire root netem delay 900ms || return 1
	say "connect $there $queue_port" && ordered other "backlog 0" &&
	poll 10 overflows_exceed "$dropped"
	status=$?
	tc -n "$client" qdisc del dev wire root
	[ "$status" -eq 0 ] && ordered other accept && ordered second reset &&
	ordered other accept || return 1
	ask other echo
	say "xfer 100000" && states "$queue_port" on on && moved "$(agreed 2 2)" &&
	say close && told other
}

# set_default CC OPTION: of the server, whose hooks are as these want them on return.
set_default()
{
	choose_cc "$server" "$1" &&
	in_netns "$server" quell cc set quell option "$2"
}

# What a listener is when it is made is not what its connections are: they run the
# default of their time, and its offers say that.  With 1 the server has its hooks
# without Quell being its default, too.
default_changed()
{
	local status

	set_default cubic 1 && connects "$1" 73 && poll 5 one_flow "$client" "$port" no-reply &&
	none "$server" && moved "$(agreed 0 0)" && say close &&
	start_in "$server" option_tcp serve "$late_port" >"$dir/late" && poll 10 says_ready late
	status=$?
	set_default swift 2
	[ "$status" -eq 0 ] && connects "$1" 73 "$late_port" && states "$late_port" on on &&
	moved "$(agreed 1 1)" && say close && stop "$started"
}

# A host that was told by sysctl alone looks at nothing before its first flow.
late_hooks()
{
	quiet && say "open 4" "connect 10.77.0.1 $port" "xfer 10000" &&
	poll 5 one_flow "$client" "$port" no-reply && say close &&
	say "open 4" "connect 10.77.0.1 $port" "xfer 10000" &&
	poll 5 one_flow "$client" "$port" on && say close
}

checksums_held()
{
	local netns

	for netns in "$client" "$server" "$late"; do
		same "wrong checksums" "$(counter_of "$netns" snmp Tcp InCsumErrors)" 0 ||
			return 1
	done
}

# Cases, a line each: one once, both over both families.  QUELL_CASES, a pattern, chooses
# among their names.  "no checksum was wrong" speaks for the cases before it.
cases()
{
	grep -E "^[a-z]+ \"[^\"]*(${QUELL_CASES:-})" <<'END' |
both "spoken" spoken
both "peer without Quell" peer_without
both "box that passes all" box_passes
both "box takes the option out of SYNs" syn_stripped
both "box takes the option out of data" data_stripped
both "box takes the option out of everything" all_stripped
both "box passes the option later" data_agrees
both "box loses SYNs with the option" syn_dropped
both "signed: MD5" signed md5
both "signed: TCP-AO" signed ao
both "signed from the middle on: MD5" signed_later md5
both "fast open" fast_open
both "path MTU falls" mtu_falls
both "MTU probing" mtu_probed
once "IPv6 extension headers come and go" extension_headers
once "IPv6 hop-by-hop options, short segments" hop_by_hop
once "source route, IPv4" source_routed
both "three SACK blocks" sacked
both "receipt without a sample" old_receipt
both "congestion control changes twice" switched
both "disconnect and connect again" reconnected
both "SYN cookies" cookies
both "simultaneous open" simultaneous
both "listener's queue is full" queued
both "listener older than the default algorithm" default_changed
once "server without hooks: first flow plain, second not" late_hooks
once "no checksum was wrong" checksums_held
both "damaged packets" damaged
END
		grep -vE " signed(_later)? (none$lacking)\$"
}

once()
{
	check "$@"
}

# both NAME FUNCTION [ARGUMENT]
both()
{
	check "$1, IPv4" "${@:2}" 4
	check "$1, IPv6" "${@:2}" 6
}

prepare()
{
	set_hosts && no_offloads && talker talker "$client" && talker other "$server" &&
	talker second "$client" && serve "$server" "$port" fastopen,16 &&
	serve "$server" "$plain_port" cc,cubic && serve "$late" "$port" &&
	serve "$server" "$sink_port" sink
}

require "hosts, box and router" eval 'make_network && prepare'
lacking=""
has_md5 >/dev/null || lacking+="|md5"
has_ao >/dev/null || lacking+="|ao"
plan $(($(cases | grep -c "^both") * 2 + $(cases | grep -c "^once")))
eval "$(cases)"
finish
