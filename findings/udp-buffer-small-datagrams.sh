#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Linux 6.18.44: a datagram of one byte takes 832 bytes of the receive buffer of a UDP socket, its
# packet's memory included.  The default of 212992 bytes has place for 256 small datagrams, 27 us
# of 64 bytes each at 10 Gbit/s.  64 bytes fit 3328 times into it, and 1664 times into the half that
# is no overhead according to socket(7).
#
# Guess: thousands of small datagrams fit.
#
# Output seen, of 5000 datagrams sent before the first is received:
#
#	1 byte each: 256 received
#	64 bytes each: 256 received
#	1000 bytes each: 92 received
#
# Exits with 1 if that changes.  Needs unshare, ip and python3.
set -e
if [ "${1-}" != inside ]; then
	unshare --map-root-user --net true || exit 2
	exec unshare --map-root-user --net "$0" inside
fi
ip link set lo up
exec python3 - <<'END'
import socket
import sys

receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("127.0.0.1", 0))
receiver.setblocking(False)
receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 106496)
if receiver.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) != 212992:
    sys.exit(2)
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
seen = {}
for size in 1, 64, 1000:
    for _ in range(5000):
        sender.sendto(bytes(size), receiver.getsockname())
    seen[size] = 0
    try:
        while receiver.recv(size):
            seen[size] += 1
    except BlockingIOError:
        pass
    print(f"{size} byte{'s' * (size > 1)} each: {seen[size]} received")
if not seen[1]:
    sys.exit(2)
if seen[64] > 1000:
    sys.exit("changed: a receive buffer has place for more small datagrams")
END
