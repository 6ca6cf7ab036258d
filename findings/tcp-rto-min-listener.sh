#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Linux 6.18.44: a change of net.ipv4.tcp_rto_min_us does not reach the connections that a running
# server accepts.  A socket takes the value when it is created, and an accepted one copies that of
# its listener.  Clients have the new timeout at once, servers after their restart only.
# tcp_congestion_control, in contrast, is that of the time of each connection, at both ends.
#
# Guess: connections set up after the change have it at both ends.
#
# Output seen over lo, with 5000 us set after the first listen() (in ticks of 4000 us, varies):
#
#	listener from before the change: timeout of the client 12000 us, of the server 204000 us
#	listener from after the change: timeout of the client 12000 us, of the server 12000 us
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


def timeouts(label, listener):
    """The retransmission timeouts of both ends of a new connection."""
    client = socket.create_connection(listener.getsockname())
    server, _ = listener.accept()
    # tcpi_rto is behind eight fields of a byte each
    seen = [struct.unpack_from("8xI", sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 12))[0]
            for sock in (client, server)]
    print(f"{label}: timeout of the client {seen[0]} us, of the server {seen[1]} us")
    return seen


before = socket.create_server(("127.0.0.1", 0))
with open("/proc/sys/net/ipv4/tcp_rto_min_us", "w", encoding="ascii") as sysctl:
    sysctl.write("5000")
old = timeouts("listener from before the change", before)
new = timeouts("listener from after the change", socket.create_server(("127.0.0.1", 0)))
if max(new) >= 100_000:
    sys.exit(2)
if old[0] >= 100_000 or old[1] < 200_000:
    sys.exit("changed: an accepted connection has the new tcp_rto_min_us")
END
