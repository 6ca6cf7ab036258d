#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Linux 6.18.44: setsockopt(TCP_MAXSEG) of a connected socket returns success and has no effect.
# Before connect() it limits both directions.  It counts the options of each segment: 500 with
# timestamps are 488 bytes of data.
#
# Guess: it limits the segments sent from then on; tcp(7) has it that set before the connection
# "it also" changes the MSS announced to the peer.
#
# Output seen, over lo with an MTU of 1500 and timestamps (the last number varies by one):
#
#	500 set after connect(): status 0, then getsockopt 1448, 100000 bytes in 70 segments
#	500 set before connect(): getsockopt 488, 100000 bytes in 206 segments
#
# Exits with 1 if that changes.  Needs unshare, ip and python3.
set -e
if [ "${1-}" != inside ]; then
	unshare --map-root-user --net true || exit 2
	exec unshare --map-root-user --net "$0" inside
fi
ip link set lo mtu 1500 up
exec python3 - <<'END'
import socket
import struct
import sys

MSS, LENGTH = 500, 100_000


def segments(client):
    """The segments that 100000 bytes are sent in."""
    def count():
        info = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 160)
        return struct.unpack_from("156xI", info)[0]     # tcpi_data_segs_out
    server, _ = listener.accept()
    before = count()
    client.sendall(bytes(LENGTH))
    left = LENGTH
    while left:
        left -= len(server.recv(left))
    return count() - before


listener = socket.create_server(("127.0.0.1", 0))
after = socket.create_connection(listener.getsockname())
after.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, MSS)
late = after.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG), segments(after)
print(f"{MSS} set after connect(): status 0, then getsockopt {late[0]}, {LENGTH} bytes in",
      f"{late[1]} segments")
before = socket.socket()
before.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, MSS)
before.connect(listener.getsockname())
early = before.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG), segments(before)
print(f"{MSS} set before connect(): getsockopt {early[0]}, {LENGTH} bytes in {early[1]} segments")
if early[0] != 488 or early[1] < 200:
    sys.exit(2)
if late[0] != 1448 or late[1] > 100:
    sys.exit("changed: TCP_MAXSEG limits the segments of a connected socket")
END
