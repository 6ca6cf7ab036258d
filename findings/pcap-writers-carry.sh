#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# scapy 2.5.0 and dpkt 1.9.8 (Debian 12): a packet read with nanoseconds and written with
# microseconds is rounded without a carry.  The last half microsecond of a second becomes 1000000
# microseconds of the same second, in a field that ends at 999999: one packet in two millions.
#
# Guess: 1.9999997 s is cut to 1.999999 or rounded to 2.000000.
#
# Output seen, seconds and microseconds as written:
#
#	scapy: 1 s 1000000 us
#	dpkt: 1 s 1000000 us
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download \
	python3-scapy=2.5.0+dfsg-2 python3-dpkt=1.9.8-1 > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done

PYTHONPATH=$dir/root/usr/lib/python3/dist-packages python3 -W ignore > out 2> log - <<'END'
import struct

import dpkt
from scapy.utils import rdpcap, wrpcap

packet = struct.pack(">BBHHHBBHIIHHHH", 0x45, 0, 28, 1, 0, 64, 17, 0, 0x0a000001, 0x0a000002,
                     1000, 2000, 8, 0)
with open("input", "wb") as file:
    file.write(struct.pack("<IHHIIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 101))
    file.write(struct.pack("<IIII", 1, 999999700, len(packet), len(packet)) + packet)

wrpcap("scapy", rdpcap("input"))
with open("input", "rb") as source, open("dpkt", "wb") as file:
    writer = dpkt.pcap.Writer(file, linktype=101)
    for time_s, data in dpkt.pcap.Reader(source):
        writer.writepkt(data, time_s)
for name in ("scapy", "dpkt"):
    with open(name, "rb") as file:
        seconds, us = struct.unpack_from("=II", file.read(), 24)
    print(f"{name}: {seconds} s {us} us")
END
cat out
[ "$(cut -d : -f 2 out | tr '\n' ' ')" = " 1 s 1000000 us  1 s 1000000 us " ] || {
	echo "changed: scapy or dpkt writes microseconds below 1000000"
	exit 1
}
