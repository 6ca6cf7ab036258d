#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# NACKs that somebody made up reach the sender of data that ends with a FIN: TCP's
# counts of its retransmission queue must hold after each, and the data arrive.
#
#	$sender wire0 --- wire0 $receiver, whose ACKs take 5 ms

cd "$(dirname "$0")" || exit 1
. ./lib.sh

storm=/sys/module/quell_nackstorm/parameters
port=7200
# An MTU of 1500 without headers, timestamps and option.
segment_bytes=1436
sender="" receiver=""

make_network()
{
	new_netns sender receiver
	modprobe -a tcp_swift tcp_smartt tcp_dcqcn quell_nackstorm &&
	cable "$sender" wire0 "$receiver" wire0 10.92.0.1/24 10.92.0.2/24 &&
	tc -n "$receiver" qdisc replace dev wire0 root netem delay 5ms limit 100000 &&
	in_netns "$sender" quell cc set swift base-target 1s ai 1mbit &&
	in_netns "$sender" quell cc set quell option 1 tail-probes 0 &&
	in_netns "$receiver" quell cc set quell option 1 &&
	choose_cc "$receiver" swift
}

# Takes connections one after the other and says what each sent, by length and sum.
serve()
{
	start_in "$receiver" python3 -c "
import hashlib, socket
server = socket.create_server(('10.92.0.2', $port))
while True:
    peer, _ = server.accept()
    told = hashlib.sha256()
    while part := peer.recv(1 << 16):
        told.update(part)
    peer.sendall(told.digest())
    peer.close()"
	poll 10 listens "$receiver" "$port"
}

# send SEGMENTS TIMES CC [small]: whole segments, and the FIN behind them while they wait.
# With small the socket is then told to have no room for them.
send()
{
	in_netns "$sender" timeout 100 python3 -c "
import fcntl, hashlib, os, socket, struct, sys, time
segments, times, cc, small = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:]
for _ in range(times):
    s = socket.socket()
    s.setsockopt(socket.IPPROTO_TCP, 13, cc.encode())
    s.setsockopt(socket.SOL_SOCKET, 32, 8000000)    # SO_SNDBUFFORCE
    s.connect(('10.92.0.2', $port))
    data = os.urandom(segments * $segment_bytes)
    # Until the first is there TCP does not know how long its segments are.
    s.sendall(data[:$segment_bytes])
    while struct.unpack('i', fcntl.ioctl(s, 0x5411, b'1234'))[0]:
        time.sleep(0.001)
    s.sendall(data[$segment_bytes:])
    s.shutdown(socket.SHUT_WR)
    if small:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    if s.recv(32) != hashlib.sha256(data).digest():
        sys.exit('not what was sent')
    s.close()
" "$@"
}

# under KINDS COPIES NACKS COMMAND...
under()
{
	local status
	echo "$1" >"$storm/kinds" && echo "$2" >"$storm/copies" && echo "$3" >"$storm/left" || return 1
	"${@:4}"
	status=$?
	echo 0 >"$storm/left"
	return "$status"
}

told()
{
	awk -v name="$1" '$1 == name { print $2 }' /sys/kernel/debug/quell_nackstorm
}

# What the kernel itself says of TCP's counts.
warnings()
{
	dmesg | grep -c 'WARNING:'
}

all_hold()
{
	quell -n "$sender" -j stat quell | jq -c '.[0].counters | with_entries(select(.value > 0))'
	cat /sys/kernel/debug/quell_nackstorm
	dmesg | grep nackstorm | tail -n 10
	[ "$(told walks)" -gt "$1" ] && [ "$(told wrong)" -eq 0 ] && [ "$(warnings)" -eq 0 ]
}

# A FIN behind whole segments is no data.
fins()
{
	under 8 64 200 send 64 10 swift && all_hold 10 && [ "$(told whole-fins)" -gt 10 ] &&
	[ "$(quell_count "$sender" nack-recovered)" -eq 0 ]
}

# Memory that cutting takes has TCP's own bound.
bounded()
{
	local full grown

	under 3 64 4000 send 1500 2 swift small || return 1
	full=$(told full) grown=$(told grown)
	echo "$full NACKs beyond the bound, $grown segments more"
	all_hold 1000 && [ "$full" -gt 500 ] && [ "$grown" -lt $((full / 20)) ]
}

# Each of the three kinds, and with what they lack they are taken.
lies()
{
	local recovered

	recovered=$(quell_count "$sender" nack-recovered)
	under 224 64 1200 send 1500 4 swift
	cat /sys/kernel/debug/quell_nackstorm
	[ "$(told lie)" -gt 50 ] && [ "$(told bare)" -gt 50 ] && [ "$(told ack)" -gt 50 ] &&
	[ "$(told believed-lies)" -eq 0 ] && [ "$(quell_count "$sender" nack-recovered)" -eq "$recovered" ] &&
	[ "$recovered" -gt 100 ]
}

# One NACK of what arrives all the same: the receiver says so (DSACK), and what was cut is
# given back, though TCP itself undoes nothing that a NACK marked.
given_back()
{
	local recovered undone

	recovered=$(quell_count "$sender" nack-recovered) undone=$(quell_count "$sender" undone)
	under 1 64 1 send 600 1 "$1"
	recovered=$(($(quell_count "$sender" nack-recovered) - recovered))
	undone=$(($(quell_count "$sender" undone) - undone))
	echo "$recovered NACKs used, $undone given back"
	[ "$recovered" -eq 1 ] && [ "$undone" -eq 1 ]
}

plan 6
check "network" eval 'make_network && serve'
check "NACKs of a FIN alone mark nothing" fins
check "NACKs of all kinds: TCP's counts are those of its queue" eval \
	'under 31 8 3000 send 300 8 swift && under 31 8 3000 send 300 8 smartt && all_hold 1000'
check "NACKs take no more memory than TCP lets cutting take" bounded
check "no echo, another departure or no such acknowledgment: not believed" lies
check "a cut for a NACK that was false is given back" eval 'given_back swift && given_back dcqcn'
finish
