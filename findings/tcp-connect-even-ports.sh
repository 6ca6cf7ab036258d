#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Linux 6.18.44: connect() of TCP takes even source ports, and odd ones only once all even ones of
# the range are in use with that peer (__inet_hash_connect() begins at an even offset and steps by
# two).  bind() with port 0 takes odd ones, and UDP takes both.  A test that sorts flows into two
# groups by "port % 2", and a hash or a filter that uses the lowest bit, has all flows on one side.
#
# Guess: the port is random over the whole of ip_local_port_range.
#
# Output seen, of 500 sockets each (the last line varies):
#
#	TCP, connect(): 500 even, 0 odd
#	TCP, bind() with port 0: 0 even, 500 odd
#	UDP, connect(): 250 even, 250 odd
#
# Exits with 1 if that changes.  Needs unshare, ip and python3.
set -e
if [ "${1-}" != inside ]; then
	unshare --map-root-user --net true || exit 2
	exec unshare --map-root-user --net "$0" inside
fi
ip link set lo up
ulimit -n 4096
exec python3 - <<'END'
import socket
import sys

COUNT = 500

listener = socket.create_server(("127.0.0.1", 20000), backlog=COUNT)
sockets = []


def count(label, kind, method, address):
    """The even and the odd ports that COUNT sockets receive from one system call."""
    odd = 0
    for _ in range(COUNT):
        sock = socket.socket(socket.AF_INET, kind)
        sockets.append(sock)
        getattr(sock, method)(address)
        odd += sock.getsockname()[1] % 2
    print(f"{label}: {COUNT - odd} even, {odd} odd")
    return COUNT - odd, odd


connected = count("TCP, connect()", socket.SOCK_STREAM, "connect", listener.getsockname())
bound = count("TCP, bind() with port 0", socket.SOCK_STREAM, "bind", ("127.0.0.1", 0))
datagram = count("UDP, connect()", socket.SOCK_DGRAM, "connect", ("127.0.0.1", 20000))
if min(datagram) < COUNT / 4:
    sys.exit(2)
if (connected, bound) != ((COUNT, 0), (0, COUNT)):
    sys.exit("changed: connect() and bind() of TCP take even and odd ports")
END
