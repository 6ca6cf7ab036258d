#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# libpcap 1.10.3 (Debian 12): tcpdump does not read a pcapng file of two interfaces of raw IP.
# The message is that their type differs, though both are 101: libpcap compares 101 of the file with
# 12, its number for the same type.  With Ethernet it reads them, unless snapshot lengths differ.
#
# Guess: interfaces of one link type are read, and a snapshot length is no more than a limit.
#
# Output seen:
#
#	Ethernet, 96 and 96 bytes: 2 packets
#	Ethernet, 96 and 128 bytes: an interface has a snapshot length 128 different from the
#		snapshot length of the first interface
#	raw IP, 96 and 96 bytes: an interface has a type 101 different from the type of the first
#		interface
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download tcpdump=4.99.3-1 libpcap0.8=1.10.3-1 > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done
export LD_LIBRARY_PATH=$dir/root/usr/lib/x86_64-linux-gnu

cat > make.py <<'END'
import struct
import sys

link_type, *lengths = map(int, sys.argv[1:])
packet = struct.pack(">BBHHHBBHIIHHHH", 0x45, 0, 28, 1, 0, 64, 17, 0, 0x0a000001, 0x0a000002,
                     1000, 2000, 8, 0)
if link_type == 1:
    packet = bytes(12) + b"\x08\x00" + packet


def block(kind, body):
    """A block of the format, with its length at both ends."""
    body += bytes(-len(body) % 4)
    sys.stdout.buffer.write(struct.pack("<II", kind, 12 + len(body)) + body +
                            struct.pack("<I", 12 + len(body)))


block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1))
for length in lengths:
    block(1, struct.pack("<HHI", link_type, 0, length))
for number in range(len(lengths)):
    block(6, struct.pack("<IIIII", number, 0, 1000000, len(packet), len(packet)) + packet)
END

# The number of packets that tcpdump reads, or its message.
try() {
	if python3 make.py "$@" | root/usr/bin/tcpdump -Z "$(id -un)" -n -r - > packets 2> log; then
		echo "$(wc -l < packets) packets"
	else
		sed -n 's/^tcpdump: pcap_loop: //p' log
	fi
}

same=$(try 1 96 96)
lengths=$(try 1 96 128)
raw=$(try 101 96 96)
echo "Ethernet, 96 and 96 bytes: $same"
echo "Ethernet, 96 and 128 bytes: $lengths"
echo "raw IP, 96 and 96 bytes: $raw"
[ "$same" = "2 packets" ] || exit 2
if [[ "$lengths" != "an interface has a snapshot length 128 different from "* ||
	"$raw" != "an interface has a type 101 different from "* ]]; then
	echo "changed: libpcap reads two interfaces of raw IP, or of two snapshot lengths"
	exit 1
fi
