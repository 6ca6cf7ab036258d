#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# libpcap 1.10.3, tcpdump 4.99.3 (Debian 12): in a capture filter `and` and `or` have the same
# precedence, from left to right: `tcp or udp and port 53` is `(tcp or udp) and port 53`, and the
# capture lacks the TCP flow that was its purpose.  In a display filter of tshark 4.0.17 `and` binds
# more tightly, so that the same words select other packets of the same trace.
#
# Guess: `and` binds more tightly than `or`, as in C, in Python and in SQL.
#
# Output seen, of packets to TCP ports 80 and 53 and to UDP ports 53 and 99:
#
#	tcpdump 'tcp or udp and port 53': udp 53, tcp 53
#	tcpdump 'udp and port 53 or tcp': tcp 80, udp 53, tcp 53
#	tshark 'tcp or udp and udp.port == 53': tcp 80, udp 53, tcp 53
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

# The time of a packet, in seconds, is its number.
python3 - > pcap <<'END'
import struct
import sys

TCP, UDP = 6, 17


def packet(protocol, port):
    header = (struct.pack(">HHIIHHHH", 1000, port, 1, 1, 0x5010, 100, 0, 0) if protocol == TCP else
              struct.pack(">HHHH", 1000, port, 8, 0))
    return struct.pack(">BBHHHBBHII", 0x45, 0, 20 + len(header), 1, 0, 64, protocol, 0,
                       0x0a000001, 0x0a000002) + header


out = sys.stdout.buffer
out.write(struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101))
for number, each in enumerate((packet(TCP, 80), packet(UDP, 53), packet(UDP, 99), packet(TCP, 53))):
    out.write(struct.pack("<IIII", number, 0, len(each), len(each)) + each)
END

# Names the packets of the times at the begin of each line.
names() {
	sed 's/^ *0\..*/tcp 80/; s/^ *1\..*/udp 53/; s/^ *2\..*/udp 99/; s/^ *3\..*/tcp 53/' |
		paste -s -d , | sed 's/,/, /g'
}

capture() {
	local seen
	seen=$(root/usr/bin/tcpdump -Z "$(id -un)" -tt -nr - "$1" < pcap 2> log | names)
	echo "tcpdump '$1': $seen"
}

capture 'tcp or udp and port 53' > out
capture 'udp and port 53 or tcp' >> out
filter='tcp or udp and udp.port == 53'
seen=$(root/usr/bin/tshark -r pcap -Y "$filter" -T fields -e frame.time_epoch 2> log | names)
echo "tshark '$filter': $seen" >> out
cat out
[ "$(sed -n 2p out)" = "tcpdump 'udp and port 53 or tcp': tcp 80, udp 53, tcp 53" ] || exit 2
[ "$(sed -n 's/.*: //; 1p; 3p' out)" = 'udp 53, tcp 53
tcp 80, udp 53, tcp 53' ] || {
	echo "changed: the precedence of and in capture and display filters is another"
	exit 1
}
