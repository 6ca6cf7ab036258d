#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iproute2 6.1.0 (Debian 12): the tables of netem's distributions end at 4 times the jitter.  With
# "delay 10ms 1ms distribution pareto", for a long tail, no packet is delayed by more than 14 ms,
# and 1% of the packets by just that.  The deviation is 0.82 ms, not 1 ms.  Netem adds to the delay
# an entry of the table, selected at random, times the jitter.
#
# Guess: a few packets are delayed far more, and the more packets, the longer the longest delay.
#
# Output seen, of the entries of each table, in multiples of the jitter:
#
#	normal: -4.00 to 3.52, deviation 1.00, 0.0% at the largest
#	pareto: -0.67 to 4.00, deviation 0.82, 1.1% at the largest
#	paretonormal: -1.50 to 3.88, deviation 0.83, 0.0% at the largest
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download iproute2=6.1.0-3 > /dev/null
dpkg-deb -x iproute2_*.deb root

python3 > out - <<'END'
import statistics

UNIT = 8192     # NETEM_DIST_SCALE of the kernel
for name in ("normal", "pareto", "paretonormal"):
    with open(f"root/usr/lib/x86_64-linux-gnu/tc/{name}.dist", encoding="ascii") as table:
        entries = [int(entry) / UNIT for line in table if line[0] != "#" for entry in line.split()]
    print(f"{name}: {min(entries):.2f} to {max(entries):.2f},",
          f"deviation {statistics.pstdev(entries):.2f},",
          f"{100 * entries.count(max(entries)) / len(entries):.1f}% at the largest")
END
cat out
grep -q '^normal: .* deviation 1.00,' out || exit 2
grep -q '^pareto: -0.67 to 4.00, deviation 0.82, 1.1% at the largest$' out || {
	echo "changed: the tail of the Pareto distribution goes beyond 4 times the jitter"
	exit 1
}
