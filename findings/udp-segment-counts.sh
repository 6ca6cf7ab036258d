#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Linux 6.18.44, UDP: OutDatagrams in /proc/net/snmp counts a send() with UDP_SEGMENT once, for any
# number of datagrams.  InDatagrams of the receiver counts each, or one where it has UDP_GRO.
# A loss computed as the difference of the two is negative, or misses lost datagrams.
#
# Guess: a datagram is counted at both ends, as both have one length on the wire.
#
# Output seen, of 40 datagrams of 1000 bytes in one send():
#
#	UDP_SEGMENT: OutDatagrams 1, InDatagrams 40
#	UDP_SEGMENT and UDP_GRO: OutDatagrams 1, InDatagrams 1
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

SOL_UDP, UDP_SEGMENT, UDP_GRO = 17, 103, 104
COUNT, LENGTH = 40, 1000


def counts():
    with open("/proc/net/snmp", encoding="ascii") as snmp:
        names, values = (line.split() for line in snmp if line.startswith("Udp:"))
    return [int(values[names.index(name)]) for name in ("OutDatagrams", "InDatagrams")]


def send(label):
    """The counts of one send() of which the receiver has all bytes."""
    before = counts()
    sender.sendto(bytes(COUNT * LENGTH), receiver.getsockname())
    left = COUNT * LENGTH
    while left:
        left -= len(receiver.recv(65536))
    seen = tuple(after - first for after, first in zip(counts(), before))
    print(f"{label}: OutDatagrams {seen[0]}, InDatagrams {seen[1]}")
    return seen


receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("127.0.0.1", 0))
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.setsockopt(SOL_UDP, UDP_SEGMENT, LENGTH)
each = send("UDP_SEGMENT")
receiver.setsockopt(SOL_UDP, UDP_GRO, 1)
merged = send("UDP_SEGMENT and UDP_GRO")
if (each, merged) != ((1, COUNT), (1, 1)):
    sys.exit("changed: OutDatagrams counts the datagrams of one send()")
END
