#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Linux: poll() and epoll stop reporting a socket as writable at half of TCP_NOTSENT_LOWAT, though
# send() accepts data until the whole of it is unsent.  A program that sends only when poll() says
# so keeps half the queue that it asked for.
#
# Guess: the limit is the same for poll() and send(), as the kernel's description of the sysctl
# tcp_notsent_lowat has it.
#
# Output seen, with a limit of 65536 bytes and a peer that does not read:
#
#	poll() reports no room from 32768 unsent bytes on
#	send() is refused from 65536 unsent bytes on
#
# Seen on Linux 6.18.44.  Exits with 1 if that changes.  Needs unshare, ip and python3.
set -e
if [ "${1-}" != inside ]; then
	unshare --map-root-user --net true || exit 2
	exec unshare --map-root-user --net "$0" inside
fi
ip link set lo up
exec python3 - <<'END'
import fcntl
import select
import socket
import struct
import sys

SIOCOUTQNSD = 0x894B
TCP_NOTSENT_LOWAT = 25


def unsent(sock):
    return struct.unpack("i", fcntl.ioctl(sock, SIOCOUTQNSD, bytes(4)))[0]


listener = socket.create_server(("127.0.0.1", 0))
listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
client = socket.create_connection(listener.getsockname())
server, _ = listener.accept()
client.setsockopt(socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT, 65536)
client.setblocking(False)
poller = select.poll()
poller.register(client, select.POLLOUT)
polled = None
while True:
    if not poller.poll(0) and polled is None:
        polled = unsent(client)
    try:
        client.send(bytes(1024))
    except BlockingIOError:
        break
print(f"poll() reports no room from {polled} unsent bytes on")
print(f"send() is refused from {unsent(client)} unsent bytes on")
if (polled, unsent(client)) != (32768, 65536):
    sys.exit("changed: poll() and send() have another limit")
END
