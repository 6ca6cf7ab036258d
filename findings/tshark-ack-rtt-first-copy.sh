#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tshark 4.0.17 (Debian 12): tcp.analysis.ack_rtt of a segment that was sent twice is the time since
# the first copy.  Of an RTT of 1 ms and a retransmission after 200 ms it has 201 ms.  A segment
# above a hole, which a SACK had reported after 1 ms, has the time until the hole was filled.  A
# high percentile of ack_rtt on a lossy path is of recoveries, not of RTTs.
#
# Guess: Karn's rule is kept, so that retransmitted data has no ack_rtt, or that of the last copy.
#
# Output seen, ack_rtt of the ACK of each, on a path with an RTT of 1 ms:
#
#	sent once: 0.001000000
#	sent again after 0.2 s: 0.201000000
#	after a hole, sent once, SACKed after 1 ms: 0.003000000
#
# The libraries that tshark needs beside its own are those of the machine.
set -euo pipefail
version=4.0.17-0+deb12u3

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "tshark=$version" "libwireshark16=$version" \
	"libwireshark-data=$version" "libwiretap13=$version" "libwsutil14=$version" > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done
export LD_LIBRARY_PATH=$dir/root/usr/lib/x86_64-linux-gnu HOME=$dir
export WIRESHARK_DATA_DIR=$dir/root/usr/share/wireshark

python3 - > pcap <<'END'
import struct
import sys

sys.stdout.buffer.write(struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101))


def packet(time_us, to_server, numbers, flags, size=0, options=b""):
    """A segment of numbers = (sequence number, ACK number)."""
    hosts, ports = ((0x0a000001, 0x0a000002), (1000, 80))
    if not to_server:
        hosts, ports = hosts[::-1], ports[::-1]
    header = 20 + len(options)
    data = struct.pack(">BBHHHBBHII", 0x45, 0, 20 + header + size, 0, 0, 64, 6, 0, *hosts)
    data += struct.pack(">HHIIBBHHH", *ports, *numbers, header // 4 << 4, flags, 60000, 0, 0)
    data += options + bytes(size)
    sys.stdout.buffer.write(struct.pack("<IIII", time_us // 1000000, time_us % 1000000,
                                        len(data), len(data)) + data)


SACK_PERMITTED = bytes((4, 2, 1, 1))
packet(0, True, (0, 0), 2, 0, SACK_PERMITTED)
packet(1000, False, (0, 1), 18, 0, SACK_PERMITTED)
packet(10000, True, (1, 1), 24, 100)            # once
packet(11000, False, (1, 101), 16)
packet(20000, True, (101, 1), 24, 100)          # twice
packet(220000, True, (101, 1), 24, 100)
packet(221000, False, (1, 201), 16)
packet(1000000, True, (201, 1), 16, 100)        # lost
packet(1000000, True, (301, 1), 24, 100)        # above the hole
packet(1001000, False, (1, 201), 16, 0, struct.pack(">BBBBII", 1, 1, 5, 10, 301, 401))
packet(1002000, True, (201, 1), 24, 100)
packet(1003000, False, (1, 401), 16)
END

# ack_rtt of the packet from the server with an ACK number.
ack_rtt() {
	root/usr/bin/tshark -r pcap -T fields \
		-Y "tcp.srcport == 80 and tcp.ack == $1 and tcp.analysis.ack_rtt" \
		-e tcp.analysis.ack_rtt 2> log
}

once=$(ack_rtt 101)
twice=$(ack_rtt 201)
above=$(ack_rtt 401)
echo "sent once: $once"
echo "sent again after 0.2 s: $twice"
echo "after a hole, sent once, SACKed after 1 ms: $above"
[ "$once" = 0.001000000 ] || exit 2
[ "$twice $above" = "0.201000000 0.003000000" ] || {
	echo "changed: ack_rtt is no longer that of the first copy until the cumulative ACK"
	exit 1
}
