#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Linux, TCP over IPv6: setsockopt(IPV6_DSTOPTS) on a connected socket makes its segments smaller
# by the length of the extension header, at once.  To remove the options again does not make them
# larger: ipv6_update_options() updates icsk_ext_hdr_len only where there are options.  For the
# rest of the connection, data included, each segment is too short, by 8 bytes here.
#
# Guess: what sets the options and what removes them is one system call, and both compute the MSS.
#
# Seen on Linux 6.18.44, and so in the source of 6.12.117.  Output seen:
#
#	before: 1428
#	8 bytes of options: 1420
#	options removed: 1420
#	after 100000 bytes: 1420
#
# Exits with 1 if the last is 1428, and with another status if it cannot run.  Needs unshare (a user
# and a network namespace of its own), ip and python3.

set -e
if [ "${1-}" != inside ]; then
	unshare --map-root-user --net true || exit 2
	exec unshare --map-root-user --net "$0" inside
fi
ip link set lo mtu 1500 up
exec python3 - <<'END'
import socket
import sys

listener = socket.socket(socket.AF_INET6)
listener.bind(("::1", 0))
listener.listen()
client = socket.create_connection(listener.getsockname()[:2])
server, _ = listener.accept()


def show(when):
    mss = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)
    print(f"{when}: {mss}")
    return mss


# Next header, length, a PadN of six bytes.
options = bytes([0, 0, 1, 4, 0, 0, 0, 0])
before = show("before")
client.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_DSTOPTS, options)
if show("8 bytes of options") != before - 8:
    sys.exit(2)
client.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_DSTOPTS, None, 0)
show("options removed")
client.sendall(bytes(100000))
left = 100000
while left:
    left -= len(server.recv(65536))
if show("after 100000 bytes") == before:
    sys.exit("changed: segments are as long again as before the options")
END
