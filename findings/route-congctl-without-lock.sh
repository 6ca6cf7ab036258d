#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Linux: the congestion control of a route ("ip route ... congctl NAME", without "lock") replaces
# the one that the application has set with TCP_CONGESTION before connect(), without an error, and
# that of a listener for the sockets it accepts.  Only a setsockopt() after connect() holds; "lock"
# refuses that one too.  ip-route(8) says that without "lock" an application may overwrite it.
#
# Guess: without "lock" the algorithm of the route takes the place of the system's default only.
#
# Seen on Linux 6.18.44 and 6.1.176.  Output seen:
#
#	set before connect: cubic, after connect: reno, set again: cubic
#	set on the listener: cubic, accepted: reno
#
# Exits with 1 if that changes.  Needs unshare, ip and python3.
set -e
if [ "${1-}" != inside ]; then
	unshare --map-root-user --net true || exit 2
	exec unshare --map-root-user --net "$0" inside
fi
ip link set lo up
ip route add local 10.9.0.1 dev lo congctl reno
exec python3 - <<'END'
import socket
import sys


def algorithm(sock, name=""):
    if name:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
    value = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
    return value.rstrip(b"\0").decode()


listener = socket.create_server(("10.9.0.1", 0))
at_listener = algorithm(listener, "cubic")
client = socket.socket()
before = algorithm(client, "cubic")
client.connect(listener.getsockname())
after = algorithm(client)
again = algorithm(client, "cubic")
accepted = algorithm(listener.accept()[0])
print(f"set before connect: {before}, after connect: {after}, set again: {again}")
print(f"set on the listener: {at_listener}, accepted: {accepted}")
if (before, after, again, at_listener, accepted) != ("cubic", "reno", "cubic", "cubic", "reno"):
    sys.exit("changed: the algorithm of a route gives way to one that was set before")
END
