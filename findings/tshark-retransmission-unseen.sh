#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tshark 4.0.17 (Debian 12): tcp.analysis.retransmission is set on data that is in the trace once.
# A segment lost before the capture point fills its gap later than 3 ms, and is marked, though no
# byte of it was captured before.  Bytes of a flow summed over "tcp.len > 0 and not
# tcp.analysis.retransmission" are too few by all that was lost on the way to the trace.
#
# Guess: packets that are marked repeat bytes of the trace, so all others add up to the flow.
#
# Output seen, of a flow of 900 bytes in three segments, of which the second comes last:
#
#	all segments: 900 bytes, each once
#	without tcp.analysis.retransmission: 500 bytes
#	from the first to the last sequence number: 900 bytes
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
# Time in us, sequence number, flags, bytes: SYN, the first segment, the third, the second.
for time_us, seq, flags, size in ((0, 99, 2, 0), (10, 100, 16, 400), (20, 900, 16, 100),
                                  (9000, 500, 16, 400)):
    packet = struct.pack(">BBHHHBBHII", 0x45, 0, 40 + size, 0, 0, 64, 6, 0, 0x0a000001, 0x0a000002)
    packet += struct.pack(">HHIIBBHHH", 1000, 80, seq, 0, 5 << 4, flags, 1000, 0, 0) + bytes(size)
    sys.stdout.buffer.write(struct.pack("<IIII", 0, time_us, len(packet), len(packet)) + packet)
END

# Sum of the lengths of the packets that a filter passes.
bytes() {
	root/usr/bin/tshark -r pcap -Y "$1" -T fields -e tcp.len 2> log |
		awk '{ sum += $1 } END { print sum + 0 }'
}

all=$(bytes "tcp.len > 0")
unmarked=$(bytes "tcp.len > 0 and not tcp.analysis.retransmission")
range=$(root/usr/bin/tshark -r pcap -Y "tcp.len > 0" -T fields -e tcp.seq -e tcp.len 2> log |
	awk 'NR == 1 || $1 < low { low = $1 } $1 + $2 > high { high = $1 + $2 } END { print high - low }')
echo "all segments: $all bytes, each once"
echo "without tcp.analysis.retransmission: $unmarked bytes"
echo "from the first to the last sequence number: $range bytes"
[ "$all $range" = "900 900" ] || exit 2
[ "$unmarked" = 500 ] || {
	echo "changed: data that was not captured before is no retransmission"
	exit 1
}
