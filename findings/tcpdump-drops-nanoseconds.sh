#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tcpdump 4.99.3 (Debian 12), libpcap 1.10.3: a capture with nanoseconds that is read with -r and
# written with -w, as with a filter to cut a part of it, has microseconds.  Two packets 210 ns apart
# have the same time then.  --nano keeps them; without it tcpdump writes the magic of microseconds.
#
# Guess: -w writes the packets as -r has read them, in the resolution of the input.
#
# Output seen, the nanoseconds of the second that the two packets have:
#
#	input: magic a1b23c4d, 123456789 123456999
#	tcpdump -r -w: magic a1b2c3d4, 123456000 123456000
#	tcpdump --nano -r -w: magic a1b23c4d, 123456789 123456999
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

cat > make.py <<'END'
import struct
import sys

packet = struct.pack(">BBHHHBBHIIHHHH", 0x45, 0, 28, 1, 0, 64, 17, 0, 0x0a000001, 0x0a000002,
                     1000, 2000, 8, 0)
sys.stdout.buffer.write(struct.pack("<IHHIIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 101))
for ns in (123456789, 123456999):
    sys.stdout.buffer.write(struct.pack("<IIII", 1700000000, ns, len(packet), len(packet)) + packet)
END
cat > show.py <<'END'
import struct
import sys

data = sys.stdin.buffer.read()
magic, = struct.unpack_from("<I", data)
unit_ns = 1 if magic == 0xa1b23c4d else 1000
times = []
at = 24
while at < len(data):
    _, fraction, length, _ = struct.unpack_from("<IIII", data, at)
    times.append(str(fraction * unit_ns))
    at += 16 + length
print(f"magic {magic:x}, {' '.join(times)}")
END
python3 make.py > input
{
	echo "input: $(python3 show.py < input)"
	for options in "" " --nano"; do
		# shellcheck disable=SC2086 # an option or not
		root/usr/bin/tcpdump -Z "$(id -un)" $options -r - -w - < input 2> log > output
		echo "tcpdump$options -r -w: $(python3 show.py < output)"
	done
} > out
cat out
[ "$(cut -d : -f 2 out)" = ' magic a1b23c4d, 123456789 123456999
 magic a1b2c3d4, 123456000 123456000
 magic a1b23c4d, 123456789 123456999' ] || {
	echo "changed: tcpdump no longer rounds to microseconds what it reads and writes"
	exit 1
}
