#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A box on the path that cuts segments in two and copies the options to both, as hypervisors
# and translators do: neither half has the payload that its option states, and both are data,
# not the rest of a trimmed packet.
#
#	$client wire --- west $box east --- wire $server, 50 us each way, 1 Gbit/s
#	10.94.0.2                           10.94.0.1

cd "$(dirname "$0")" || exit 1
. ./lib.sh

port=7200
cut_bytes=1000
client="" server="" box=""

# Ethernet, IPv4 and TCP; all else passes as it is.
cat >"$dir/box.py" <<'PY'
import select
import socket
import struct
import sys

LIMIT = int(sys.argv[1])
PACKET_IGNORE_OUTGOING = 23
FIN_PSH = 0x09

def device(name):
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    sock.setsockopt(263, PACKET_IGNORE_OUTGOING, 1)
    sock.bind((name, 0))
    return sock

def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff

def part(frame, at, options_end, piece, seq, last):
    ip, tcp = bytearray(frame[14:at]), bytearray(frame[at:options_end])
    tcp[4:8] = struct.pack("!I", seq & 0xffffffff)
    if not last:
        tcp[13] &= ~FIN_PSH
    tcp[16:18] = b"\0\0"
    ip[2:4] = struct.pack("!H", len(ip) + len(tcp) + len(piece))
    ip[10:12] = b"\0\0"
    ip[10:12] = struct.pack("!H", checksum(bytes(ip)))
    pseudo = bytes(ip[12:20]) + struct.pack("!BBH", 0, 6, len(tcp) + len(piece))
    tcp[16:18] = struct.pack("!H", checksum(pseudo + bytes(tcp) + piece))
    return frame[:14] + bytes(ip) + bytes(tcp) + piece

def cut(frame):
    if frame[12:14] != b"\x08\x00" or frame[23] != 6:
        return [frame]
    at = 14 + (frame[14] & 15) * 4
    end = 14 + struct.unpack("!H", frame[16:18])[0]
    options_end = at + (frame[at + 12] >> 4) * 4
    payload, seq = frame[options_end:end], struct.unpack("!I", frame[at + 4:at + 8])[0]
    if len(payload) <= LIMIT:
        return [frame]
    return [part(frame, at, options_end, payload[i:i + LIMIT], seq + i, i + LIMIT >= len(payload))
            for i in range(0, len(payload), LIMIT)]

west, east = device("west"), device("east")
print("ready", flush=True)
while True:
    for side in select.select([west, east], [], [])[0]:
        for piece in cut(side.recv(65536)):
            (east if side is west else west).send(piece)
PY

is_ready()
{
	grep -q ready "$dir/box"
}

make_network()
{
	local netns

	modprobe tcp_swift && new_netns client server box &&
	cable "$client" wire "$box" west 10.94.0.2/24 &&
	cable "$server" wire "$box" east 10.94.0.1/24 || return 1
	for netns in "$client" "$server"; do
		in_netns "$netns" ethtool -K wire tso off gso off gro off tx off >/dev/null &&
		tc -n "$netns" qdisc add dev wire root netem delay 50us rate 1gbit limit 1000 ||
			return 1
	done
	start_in "$box" python3 "$dir/box.py" "$cut_bytes" >"$dir/box"
	poll 10 is_ready && start_in "$server" many_tcp listen "$port" 1 reply &&
	poll 10 listens "$server" "$port"
}

# become ALGORITHM OPTION
become()
{
	local netns

	for netns in "$client" "$server"; do
		choose_cc "$netns" "$1" && quell -n "$netns" cc set quell option "$2" || return 1
	done
}

# All arrives, in the time that 1 Gbit/s takes and half as much again, and nothing was sent twice.
arrives()
{
	local before

	before=$(counter_of "$client" snmp Tcp RetransSegs)
	become "$@" &&
	echo "1 1000000 8" |
		in_netns "$client" timeout 0.3 many_tcp connect 10.94.0.1 "$port" 1 1 0 reply &&
	[ "$(counter_of "$client" snmp Tcp RetransSegs)" -eq "$before" ]
}

agreed()
{
	[ "$(quell_count "$server" option-negotiated)" -gt 0 ]
}

nothing_was_trimmed()
{
	[ "$(quell_count "$server" trim-received)" -eq 0 ] && [ "$(quell_count "$server" nack-sent)" -eq 0 ]
}

plan 6
check "two hosts and a box" make_network
check "cubic" arrives cubic 0
check "swift without the option" arrives swift 0
check "swift with it" arrives swift 1
check "the option was spoken" agreed
check "no half was taken for trimmed" nothing_was_trimmed
finish
