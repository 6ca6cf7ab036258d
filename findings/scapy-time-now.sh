#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# scapy 2.5.0 (Debian 12): a packet of a pcapng file that has no time, in a Simple Packet Block, has
# the time at which scapy reads it: years after its neighbours, and another in each run.  The option
# if_tsoffset of an interface is passed over, so that its packets are of 1970.  tcpdump and tshark
# add the offset, and print 0 and an empty field for the packet without a time.
#
# Guess: a missing time is None or 0, and if_tsoffset is added, as the format states.
#
# Output seen, of a packet at 1700000000 + 1 s, the offset being 1700000000 s, and one without time:
#
#	with if_tsoffset: 1 s
#	without a time: the time of reading
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download python3-scapy=2.5.0+dfsg-2 > /dev/null
dpkg-deb -x python3-scapy_*.deb root

PYTHONPATH=$dir/root/usr/lib/python3/dist-packages python3 -W ignore > out 2> log - <<'END'
import struct
import time

from scapy.utils import rdpcap

PACKET = bytes(60)


def block(kind, body):
    """A block of the format, with its length at both ends."""
    return struct.pack("<II", kind, 12 + len(body)) + body + struct.pack("<I", 12 + len(body))


with open("input", "wb") as file:
    file.write(block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1)))
    file.write(block(1, struct.pack("<HHIHHqI", 1, 0, 65535, 14, 8, 1700000000, 0)))
    file.write(block(6, struct.pack("<IIIII", 0, 0, 1000000, 60, 60) + PACKET))
    file.write(block(3, struct.pack("<I", 60) + PACKET))
start = time.time()
first, second = (packet.time for packet in rdpcap("input"))
print(f"with if_tsoffset: {first} s")
now = start <= second <= time.time()
print(f"without a time: {'the time of reading' if now else second}")
END
cat out
[ "$(cut -d : -f 2 out | tr '\n' ' ')" = " 1 s  the time of reading " ] || {
	echo "changed: scapy adds if_tsoffset, or leaves a packet without a time"
	exit 1
}
