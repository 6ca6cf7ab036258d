#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ACKs on demand: what data asks for, how many ACKs a transfer takes, and what a peer without
# Quell gets, beside cubic.
#
#	$client wire --- wire $server, 200 us each way
#	10.95.0.2        10.95.0.1

cd "$(dirname "$0")" || exit 1
. ./lib.sh

client="" server="" there=10.95.0.1 port=7200
bytes=6000000
# With timestamps, and with the Quell option.
segments=$((bytes / 1448 + 1))

make_network()
{
	local netns

	modprobe tcp_swift && new_netns client server &&
	cable "$client" wire "$server" wire 10.95.0.2/24 "$there/24" || return 1
	for netns in "$client" "$server"; do
		in_netns "$netns" sysctl -q -w net.ipv4.tcp_no_metrics_save=1 &&
		tc -n "$netns" qdisc add dev wire root netem delay 200us limit 100000 &&
		quell -n "$netns" link set wire rate 10gbit &&
		quell -n "$netns" cc set quell option 1 || return 1
	done
}

# bursts SEGMENTS: what TCP hands over as one, at most
bursts()
{
	ip -n "$client" link set wire gso_max_segs "$1"
}

# become NETNS ALGORITHM [NAME VALUE]...: parameters of quell
become()
{
	choose_cc "$1" "$2" && { [ $# -eq 2 ] || quell -n "$1" cc set quell "${@:3}"; }
}

# Reads when a whole transfer is queued: meanwhile no process owns the socket, and the backlog is
# empty.
serve_late()
{
	start_in "$server" python3 -c "
import select, socket
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, 33, 4 * $bytes)  # SO_RCVBUFFORCE
listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, $bytes)
listener.bind(('', $1))
listener.listen()
conn = listener.accept()[0]
select.select([conn], [], [])
got = 0
while got < $bytes:
    got += len(conn.recv(65536, socket.MSG_DONTWAIT))
conn.sendall(bytes(8))
conn.recv(1)
"
}

serve_at_once()
{
	start_in "$server" many_tcp listen "$1" 1 reply
}

acks=0
# transfer ROUNDS BYTES [SERVE]: to the server, $acks are its segments
transfer()
{
	local asked=$(($1 * $2)) server_pid before

	port=$((port + 1))
	"${3:-serve_at_once}" "$port"
	server_pid=$started
	poll 10 listens "$server" "$port" || return 1
	before=$(counter_of "$server" snmp Tcp OutSegs)
	echo "$1 $2 8" | in_netns "$client" timeout 60 many_tcp connect "$there" "$port" 1 1 0 reply \
		>"$dir/transfer" || return 1
	acks=$(($(counter_of "$server" snmp Tcp OutSegs) - before))
	stop "$server_pid"
	note "$asked bytes: $acks segments of the server" >&3
	grep -q "^done 1 [0-9.]* $asked " "$dir/transfer"
}

# watched COMMAND...: what the option says of the packets meanwhile is in $dir/said
watched()
{
	local watcher status=0

	start_in "$client" ./option_box watch wire >"$dir/watch"
	watcher=$started
	poll 10 grep -q ready "$dir/watch" || return 1
	"$@" || status=$?
	stop "$watcher"
	grep -v ready "$dir/watch" | jq -s 'map(select(.bytes > 0 and .again == 0))' >"$dir/said"
	return "$status"
}

said()
{
	json "$1" "$dir/said" || {
		jq -c '[length, (map(select(.push == 1)) | length)]' "$dir/said"
		return 1
	}
}

# An ACK for one segment in two at most, as of a stack without Quell.
bulk_asks_now_and_then()
{
	bursts 1 && become "$client" swift && become "$server" swift && transfer 1 1000 &&
	watched transfer 1 "$bytes" && ((acks <= segments * 55 / 100)) &&
	said 'length > 4000 and (map(select(.push == 1)) | length | . > 40 and . < 1000)'
}

# So does an algorithm with telemetry: switches stamp these packets, and no others.
telemetry_requests_now_and_then()
{
	modprobe tcp_hpcc && become "$client" hpcc && watched transfer 1 "$bytes" &&
	said 'length > 4000 and (map(select(.push == 1)) | length | . > 40 and . < 1000)'
}

# A window of ten segments that grows by one per round trip, as no switch stamps: as often in
# bursts, as the ACKs that the stack sends without a request have no record.
telemetry_requests_in_bursts()
{
	bursts 64 && become "$client" hpcc && quell -n "$client" cc set hpcc adapt off &&
	watched transfer 1 "$bytes" && quell -n "$client" cc reset hpcc && bursts 1 &&
	said 'length > 150 and length < 500 and (map(select(.push == 1)) | length | . > 120)'
}

# All are requests, and each is acknowledged once, wherever in the round of a reader's system calls
# the transfer begins: packets received while a process owns the socket get one ACK per release.
bulk_asks_with_each()
{
	local offset_us packets

	become "$client" swift acks-per-rtt 0 || return 1
	for offset_us in 0 17 60 230; do
		sleep "0.$(printf %06d "$offset_us")"
		watched transfer 1 "$bytes" serve_late &&
		said 'length > 4000 and all(.push == 1)' || return 1
		packets=$(jq length "$dir/said")
		((acks >= packets && acks <= packets + 5)) || return 1
	done
}

# Swift's windows shrink below a packet, as its target is below the path's round trip.
small_windows_ask_always()
{
	become "$client" swift acks-per-rtt 4 && quell -n "$client" cc set swift base-target 300us \
		adapt off && watched transfer 1 2400000 && quell -n "$client" cc reset swift &&
	said 'length > 400 and (map(select(.push == 1)) | length) < length * 0.9 and
	      (.[-20:] | all(.push == 1))'
}

# Of a write larger than a burst all goes on but its end, whatever PSH TCP sets.
writes_go_on()
{
	bursts 64 && watched transfer 3 1000000 &&
	said '(map(select(.more == 0)) | length) <= 6 and
		(map(select(.more == 0 and .push == 1)) | length) >= 3'
}

# In bursts no more ACKs than a stack without Quell takes for what one without it sends.
plain_acks=0
bursts_between_cubics()
{
	bursts 64 && become "$client" cubic && become "$server" cubic &&
	transfer 1 "$bytes" && plain_acks=$acks
}

# Without the option, where a sender may be one without Quell, nothing is forced.
cubic_gets_no_more()
{
	become "$server" swift option 0 && transfer 1 "$bytes" && ((acks <= plain_acks * 11 / 10 + 5))
}

slow_probes=0
# read_slowly ALGORITHM: the server reads 64 KB each 2 ms; $acks are its segments
read_slowly()
{
	local server_pid before probes

	port=$((port + 1))
	start_in "$server" python3 -c "
import socket, time
listener = socket.create_server(('', $port))
conn = listener.accept()[0]
got = 0
while data := conn.recv(65536):
    got += len(data)
    time.sleep(0.002)
conn.sendall(got.to_bytes(8, 'big'))
"
	server_pid=$started
	poll 10 listens "$server" "$port" || return 1
	before=$(counter_of "$server" snmp Tcp OutSegs)
	probes=$(counter_of "$client" netstat TcpExt TCPDSACKRecv)
	in_netns "$client" timeout 60 python3 -c "
import socket
conn = socket.create_connection(('$there', $port))
conn.sendall(bytes(4000000))
conn.shutdown(socket.SHUT_WR)
assert int.from_bytes(conn.recv(8), 'big') == 4000000
" || return 1
	acks=$(($(counter_of "$server" snmp Tcp OutSegs) - before))
	slow_probes=$(($(counter_of "$client" netstat TcpExt TCPDSACKRecv) - probes))
	stop "$server_pid"
	note "$1: $acks segments of a slow reader, $slow_probes sent to it twice" >&3
}

# A reader that is slow gets no more, and sends no more ACKs, than cubic's: in neither case TCP
# acknowledges what it has not read.
slow_readers()
{
	local plain_acks option

	bursts 64 && become "$client" cubic && become "$server" cubic && read_slowly cubic || return 1
	plain_acks=$acks
	for option in 0 1; do
		become "$server" swift option "$option" &&
		become "$client" swift acks-per-rtt 4 option "$option" &&
		read_slowly "swift, option $option" || return 1
		((acks <= plain_acks * 11 / 10 + 5 && slow_probes <= 2)) || return 1
	done
}

# A window of one packet, to a peer without Quell that takes turns: it delays the ACK of a packet by
# 40 ms, in the middle of a request, but that of two in a row it does not.  100 requests of three
# packets are 400 round trips of 400 us.
lone_packets_do_not_wait()
{
	local from_ns took_ms

	bursts 1 && become "$server" cubic && become "$client" swift option 0 &&
	quell -n "$client" cc set swift base-target 100ms ai 8kbit init-window 1500b adapt off ||
		return 1
	from_ns=$(date +%s%N)
	transfer 100 4000 || return 1
	took_ms=$((($(date +%s%N) - from_ns) / 1000000))
	note "100 requests took $took_ms ms" >&3
	((took_ms >= 80 && took_ms <= 600))
}

exec 3>&1
plan 11
check "two hosts" make_network
check "a bulk transfer asks a few times per window" bulk_asks_now_and_then
check "with telemetry as well" telemetry_requests_now_and_then
check "with telemetry in bursts as well" telemetry_requests_in_bursts
check "acks-per-rtt 0: each packet asks, and is acknowledged once" bulk_asks_with_each
check "each packet of small windows asks" small_windows_ask_always
check "a write in bursts goes on until its end" writes_go_on
check "cubic to cubic, in bursts" bursts_between_cubics
check "cubic to swift takes no more ACKs" cubic_gets_no_more
check "slow readers send no more ACKs, and get their data once" slow_readers
check "lone packets do not wait for delayed ACKs" lone_packets_do_not_wait
finish
