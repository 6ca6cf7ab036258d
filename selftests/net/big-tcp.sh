#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Super-packets of more than 64 KB over a router that drops them: Linux counts the header of a
# jumbogram in each segment's length, and finds segments of the full MTU too long (6.12).  So are
# retransmissions of a whole window.  Once one of them is lost, a flow out of the box must send
# little more than is delivered.
#
#	$client wire --- west $router east --- wire $server, 100 us each way
#	fd86:1::2                              fd86:2::2

cd "$(dirname "$0")" || exit 1
. ./lib.sh

client="" router="" server="" port=8700 bytes=8000000 resent=0

make_network()
{
	local end

	modprobe tcp_swift && new_netns client router server &&
	cable "$client" wire "$router" west fd86:1::2/64 fd86:1::1/64 &&
	cable "$server" wire "$router" east fd86:2::2/64 fd86:2::1/64 &&
	ip -n "$client" route add default via fd86:1::1 &&
	ip -n "$server" route add default via fd86:2::1 &&
	in_netns "$router" sysctl -q -w net.ipv6.conf.all.forwarding=1 &&
	tc -n "$router" qdisc add dev east root netem delay 100us rate 100gbit limit 100000 &&
	tc -n "$server" qdisc add dev wire root netem delay 100us limit 10000 || return 1
	for end in "$client wire" "$router west" "$router east" "$server wire"; do
		ip -n "${end% *}" link set "${end#* }" gso_max_size 190000 gro_max_size 190000 ||
			return 1
	done
}

serve()
{
	start_in "$server" python3 -c "
import socket
listener = socket.create_server(('fd86:2::2', $port), family=socket.AF_INET6)
while True:
    sock, _ = listener.accept()
    if len(sock.recv($bytes, socket.MSG_WAITALL)) == $bytes:
        sock.sendall(b'x')"
	poll 10 listens "$server" "$port"
}

# send ALGORITHM: $resent is how many segments were retransmitted.
send()
{
	local before

	choose_cc "$client" "$1" && before=$(counter_of "$client" snmp Tcp RetransSegs) &&
	in_netns "$client" python3 -c "
import socket
sock = socket.create_connection(('fd86:2::2', $port))
sock.sendall(bytes($bytes))
assert sock.recv(1) == b'x'" &&
	resent=$(($(counter_of "$client" snmp Tcp RetransSegs) - before)) &&
	note "$1: $resent segments retransmitted" >&3
}

# The path must drop packets, or the comparison is void.
cubic_resent=0
cubic()
{
	send cubic && cubic_resent=$resent && ((resent > 0))
}

no_more_than_twice()
{
	send "$1" && ((resent <= 2 * cubic_resent))
}

exec 3>&1
plan 4
check "two hosts and a router" make_network
check "a server" serve
check "cubic" cubic
check "swift retransmits no more than twice as much" no_more_than_twice swift
finish
