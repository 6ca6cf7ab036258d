#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Linux, TCP_INFO: tcpi_bytes_acked counts the SYN of the side that connects, though not that of the
# side that accepts; tcpi_bytes_sent counts neither.  Once all is acknowledged and without a loss,
# a client has one byte more acknowledged than it has sent, and its server has not.
#
# Guess: "bytes acked" are of the payload, as RFC 4898 has it, so that sent less acked is in flight.
#
# Seen on Linux 6.18.44 and 6.1.176.  Output seen:
#
#	client: 1000 bytes sent, 1001 acknowledged
#	server: 500 bytes sent, 500 acknowledged
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
import struct
import sys
import time

BYTES_ACKED, BYTES_SENT, UNACKED = 120, 200, 24   # offsets in struct tcp_info


def counts(sock):
    """Bytes sent and acknowledged, once no segment is in flight."""
    for _ in range(500):
        info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 232)
        if not struct.unpack_from("=I", info, UNACKED)[0]:
            break
        time.sleep(0.01)
    return tuple(struct.unpack_from("=Q", info, at)[0] for at in (BYTES_SENT, BYTES_ACKED))


def receive(sock, length):
    while length:
        length -= len(sock.recv(length))


listener = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(listener.getsockname())
server, _ = listener.accept()
client.sendall(bytes(1000))
receive(server, 1000)
server.sendall(bytes(500))
receive(client, 500)
seen = counts(client), counts(server)
for name, (sent, acked) in zip(("client", "server"), seen):
    print(f"{name}: {sent} bytes sent, {acked} acknowledged")
if seen != ((1000, 1001), (500, 500)):
    sys.exit("changed: the client's SYN is no longer the one that tcpi_bytes_acked counts")
END
