#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tshark 4.0.17 (Debian 12): a pcapng time in picoseconds is converted to nanoseconds in 64 bits,
# which do not hold it.  From 18446744074 ps of each second on the fraction is wrong, and times go
# back within a second: 123456789012 ps are shown as 12776324 ns.  tcpdump reads them.
#
# Guess: digits below a nanosecond are cut, as the format allows a resolution of 10^-12.
#
# Output seen, the fraction of the second of three packets:
#
#	written: 18446744073 ps, 18446744074 ps, 123456789012 ps
#	tcpdump 4.99.3: 018446744 018446744 123456789
#	tshark 4.0.17: 018446744 000000000 012776324
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

python3 - > pcapng <<'END'
import struct
import sys


def block(kind, body):
    """A block of the format, with its length at both ends."""
    sys.stdout.buffer.write(struct.pack("<II", kind, 12 + len(body)) + body +
                            struct.pack("<I", 12 + len(body)))


block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1))
block(1, struct.pack("<HHIHHBxxxI", 1, 0, 65535, 9, 1, 12, 0))      # Ethernet, if_tsresol 12
for fraction_ps in (18446744073, 18446744074, 123456789012):
    time_ps = 1700000 * 10**12 + fraction_ps
    block(6, struct.pack("<IIIII", 0, time_ps >> 32, time_ps & 0xffffffff, 60, 60) + bytes(60))
END

# The nanoseconds of each packet, from lines that begin with its time.
fractions() {
	sed 's/^1700000\.\([0-9]*\).*/\1/' | tr '\n' ' '
}

echo "written: 18446744073 ps, 18446744074 ps, 123456789012 ps"
tcpdump=$(root/usr/bin/tcpdump -Z "$(id -un)" --nano -q -tt -r pcapng 2> log | fractions)
echo "tcpdump 4.99.3: $tcpdump"
tshark=$(root/usr/bin/tshark -r pcapng -T fields -e frame.time_epoch 2> log | fractions)
echo "tshark 4.0.17: $tshark"
[ "$tcpdump" = "018446744 018446744 123456789 " ] || exit 2
[ "$tshark" = "018446744 000000000 012776324 " ] || {
	echo "changed: tshark shows the nanoseconds of a time in picoseconds"
	exit 1
}
