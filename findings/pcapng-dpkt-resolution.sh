#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# dpkt 1.9.8 (Debian 12): the time of each packet of a pcapng file is read with the resolution of
# the first interface.  Where the first has nanoseconds and the second microseconds, packets of the
# second have a thousandth of their time.  Packets in a Simple Packet Block are left out.
#
# Guess: each interface has its resolution, as the format states, and no packet is missing.
#
# Output seen, of a packet at 1700000000.5 s on each interface and one without a time:
#
#	2 of 3 packets: 1700000000.5 1700000.0005
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download python3-dpkt=1.9.8-1 > /dev/null
dpkg-deb -x python3-dpkt_*.deb root

PYTHONPATH=$dir/root/usr/lib/python3/dist-packages python3 > out - <<'END'
import struct

import dpkt

PACKET = bytes(60)


def block(kind, body):
    """A block of the format, with its length at both ends."""
    return struct.pack("<II", kind, 12 + len(body)) + body + struct.pack("<I", 12 + len(body))


def interface(decimals):
    """A description of an Ethernet interface with if_tsresol."""
    return block(1, struct.pack("<HHIHHBxxxI", 1, 0, 65535, 9, 1, decimals, 0))


def packet(number, time):
    """An Enhanced Packet Block of an interface."""
    return block(6, struct.pack("<IIIII", number, time >> 32, time & 0xffffffff, 60, 60) + PACKET)


with open("input", "wb") as file:
    file.write(block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1)))
    file.write(interface(9) + interface(6))
    file.write(packet(0, 1700000000500000000) + packet(1, 1700000000500000))
    file.write(block(3, struct.pack("<I", 60) + PACKET))
with open("input", "rb") as file:
    times = [str(time) for time, _ in dpkt.pcapng.Reader(file)]
print(f"{len(times)} of 3 packets: {' '.join(times)}")
END
cat out
[ "$(cat out)" = "2 of 3 packets: 1700000000.5 1700000.0005" ] || {
	echo "changed: dpkt reads the resolution of each interface, or a packet without a time"
	exit 1
}
