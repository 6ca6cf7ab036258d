#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tshark 4.0.17 (Debian 12): with a file, -c counts the packets that are read, not those that the
# filter of -Y lets through.  "-Y udp.dstport==2 -c 3", for the first three of a flow, ends after
# three packets of all flows, with status 0.
#
# Guess: -c is a limit of the packets shown, as tcpdump's -c is with a filter and a file.
#
# Output seen, of 20 packets that go to the ports 1 and 2 in turn:
#
#	tshark -Y udp.dstport==2 -c 3: 1 packets
#	tcpdump -c 3 udp dst port 2: 3 packets
#
# The libraries that tshark needs beside its own are those of the machine.
set -euo pipefail
version=4.0.17-0+deb12u3

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "tshark=$version" "libwireshark16=$version" \
	"libwireshark-data=$version" "libwiretap13=$version" "libwsutil14=$version" \
	tcpdump=4.99.3-1 libpcap0.8=1.10.3-1 > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done
export LD_LIBRARY_PATH=$dir/root/usr/lib/x86_64-linux-gnu HOME=$dir
export WIRESHARK_DATA_DIR=$dir/root/usr/share/wireshark

python3 - > pcap <<'END'
import struct
import sys

sys.stdout.buffer.write(struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101))
for i in range(20):
    packet = struct.pack(">BBHHHBBHIIHHHH", 0x45, 0, 28, i, 0, 64, 17, 0, 0x0a000001, 0x0a000002,
                         1000, 1 + i % 2, 8, 0)
    sys.stdout.buffer.write(struct.pack("<IIII", i, 0, len(packet), len(packet)) + packet)
END
all=$(root/usr/bin/tshark -r pcap -Y udp.dstport==2 2> log | wc -l)
shown=$(root/usr/bin/tshark -r pcap -Y udp.dstport==2 -c 3 2> log | wc -l)
dumped=$(root/usr/bin/tcpdump -Z "$(id -un)" -n -r - -c 3 udp dst port 2 < pcap 2> log | wc -l)
echo "tshark -Y udp.dstport==2 -c 3: $shown packets"
echo "tcpdump -c 3 udp dst port 2: $dumped packets"
[ "$all $dumped" = "10 3" ] || exit 2
[ "$shown" = 1 ] || {
	echo "changed: tshark -c counts the packets that pass the filter"
	exit 1
}
