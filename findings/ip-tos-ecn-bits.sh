#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Linux: getsockopt(IP_TOS) and IPV6_TCLASS of a TCP connection with ECN return ECN bits that the
# program never set, and the value changes with each segment: ECT(0) after one with new data, 0
# again after a pure ACK.  A program that reads its own DSCP back finds another value, or not, by
# the segment sent last.
#
# Guess: TCP's ECN bits are added to packets, and the option returns the value that was set; the
# kernel refuses these bits from a program of TCP anyway.
#
# Seen on Linux 6.18.44.  Output seen:
#
#	IP_TOS set to 0x48: 0x48, after data 0x4a, after an ACK 0x48
#	IPV6_TCLASS set to 0x48: 0x48, after data 0x4a, after an ACK 0x48
#
# Exits with 1 if that changes.  Needs unshare, ip, sysctl and python3.
set -e
if [ "${1-}" != inside ]; then
	unshare --map-root-user --net true || exit 2
	exec unshare --map-root-user --net "$0" inside
fi
ip link set lo up
sysctl -q -w net.ipv4.tcp_ecn=1
exec python3 - <<'END'
import socket
import sys
import time


def settled(sock, level, option, value):
    """The option's value; polled until it is the expected one, at most two seconds."""
    end = time.monotonic() + 2
    while sock.getsockopt(level, option) != value and time.monotonic() < end:
        time.sleep(0.01)
    return sock.getsockopt(level, option)


for family, address, level, option, name in (
        (socket.AF_INET, "127.0.0.1", socket.IPPROTO_IP, socket.IP_TOS, "IP_TOS"),
        (socket.AF_INET6, "::1", socket.IPPROTO_IPV6, socket.IPV6_TCLASS, "IPV6_TCLASS")):
    listener = socket.create_server((address, 0), family=family)
    sock = socket.create_connection(listener.getsockname()[:2])
    peer, _ = listener.accept()
    sock.setsockopt(level, option, 0x48)
    seen = [sock.getsockopt(level, option)]
    sock.sendall(b"data")
    peer.recv(4)
    seen.append(settled(sock, level, option, 0x4a))
    peer.sendall(b"data")
    sock.recv(4)
    seen.append(settled(sock, level, option, 0x48))
    print(f"{name} set to 0x48: {seen[0]:#x}, after data {seen[1]:#x}, after an ACK {seen[2]:#x}")
    if seen != [0x48, 0x4a, 0x48]:
        sys.exit("changed: the option no longer has the ECN bits of the last segment")
END
