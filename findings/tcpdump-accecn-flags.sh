#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tcpdump 4.99.3 (Debian 12), and 4.99.5 (Debian 13): the flags of a TCP segment lack AE, the ninth
# bit of them.  A SYN that offers Accurate ECN (AE, CWR and ECE) is shown as the SYN of classic ECN,
# and a SYN-ACK that accepts it with AE alone as one that refuses ECN.
#
# Guess: [SEW] against a ninth letter shows which of the two a peer offers.
#
# Output seen:
#
#	SYN of classic ECN: Flags [SEW]
#	SYN of Accurate ECN: Flags [SEW]
#	SYN-ACK without ECN: Flags [S.]
#	SYN-ACK of Accurate ECN, its SYN had ECT(0): Flags [S.]
set -euo pipefail
version=4.99.3-1

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "tcpdump=$version" libpcap0.8=1.10.3-1 > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done
export LD_LIBRARY_PATH=$dir/root/usr/lib/x86_64-linux-gnu

# show FLAGS: as tcpdump shows them in an IPv4 packet.  RFC 9768, table 2, has the flags.
show() {
	python3 - "$1" > pcap <<-'END'
		import struct
		import sys

		flags = int(sys.argv[1], 16)
		tcp = struct.pack(">HHIIHHHH", 1000, 80, 1, 0, 5 << 12 | flags, 1000, 0, 0)
		ip = struct.pack(">BBHHHBBHII", 0x45, 0, 40, 1, 0, 64, 6, 0, 0x0a000001, 0x0a000002)
		packet = ip + tcp
		sys.stdout.buffer.write(struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101) +
		                        struct.pack("<IIII", 1, 0, len(packet), len(packet)) + packet)
	END
	root/usr/bin/tcpdump -Z "$(id -un)" -nr - < pcap 2> log | grep -o 'Flags \[[^]]*\]'
}

{
	echo "SYN of classic ECN: $(show 0x0c2)"
	echo "SYN of Accurate ECN: $(show 0x1c2)"
	echo "SYN-ACK without ECN: $(show 0x012)"
	echo "SYN-ACK of Accurate ECN, its SYN had ECT(0): $(show 0x112)"
} > out
cat out
[ "$(cut -d : -f 2 out)" = ' Flags [SEW]
 Flags [SEW]
 Flags [S.]
 Flags [S.]' ] || {
	echo "changed: tcpdump shows AE among the flags"
	exit 1
}
