#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# scapy 2.5.0 (Debian 12): an Ethernet frame is filled up to 60 bytes, so that an ACK of TCP without
# options has six bytes behind it.  They are the payload of the TCP header, as a Padding layer: the
# length of packet[TCP].payload is 6, and packet[IP] is longer than its own length field.  Of a
# trace from a receiver's NIC, pure ACKs and FINs so count as data.  dpkt 1.9.8 has no payload.
#
# Guess: what IP's length does not cover is no payload of TCP.
#
# Output seen, of an ACK in a frame of 60 bytes:
#
#	scapy: payload 6 (Padding), IP 46, its length field 40
#	dpkt: payload 0
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download python3-scapy=2.5.0+dfsg-2 \
	python3-dpkt=1.9.8-1 > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done

PYTHONPATH=$dir/root/usr/lib/python3/dist-packages HOME=$dir /usr/bin/python3 > out 2> log - <<'END'
import struct

import dpkt
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether

frame = (bytes.fromhex("020000000002" "020000000001" "0800") +
         struct.pack(">BBHHHBBHII", 0x45, 0, 40, 1, 0, 64, 6, 0, 0x0a000001, 0x0a000002) +
         struct.pack(">HHIIHHHH", 1000, 80, 1, 1, 0x5010, 100, 0, 0)).ljust(60, b"\0")
packet = Ether(frame)
payload = packet[TCP].payload
print(f"scapy: payload {len(payload)} ({type(payload).__name__}), IP {len(packet[IP])},",
      f"its length field {packet[IP].len}")
print(f"dpkt: payload {len(dpkt.ethernet.Ethernet(frame).data.data.data)}")
END
cat out
grep -q 'its length field 40$' out && grep -q '^dpkt: payload 0$' out || exit 2
grep -q '^scapy: payload 6 (Padding), IP 46, ' out || {
	echo "changed: scapy has no padding in the payload of TCP"
	exit 1
}
