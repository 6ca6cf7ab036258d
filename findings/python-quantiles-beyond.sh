#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Python 3.11.2 (Debian 12): statistics.quantiles() extrapolates.  The 99th percentile of ten flow
# completion times, quantiles(times, n=100)[98], is above the longest of them, and the 1st is below
# the shortest.  With method="inclusive" both lie between them.
#
# Guess: a percentile of measured values lies between the smallest and the largest of them.
#
# Output seen, of the numbers 1 to 10:
#
#	1st percentile 0.11, 99th 10.89
#	inclusive: 1st percentile 1.09, 99th 9.91
set -euo pipefail
version=3.11.2-6+deb12u9

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "python3.11-minimal=$version" \
	"libpython3.11-minimal=$version" "libpython3.11-stdlib=$version" > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done

PYTHONHOME=$dir/root/usr root/usr/bin/python3.11 > out - <<'END'
import statistics

low, *_, high = statistics.quantiles(range(1, 11), n=100)
print(f"1st percentile {low:.2f}, 99th {high:.2f}")
low, *_, high = statistics.quantiles(range(1, 11), n=100, method="inclusive")
print(f"inclusive: 1st percentile {low:.2f}, 99th {high:.2f}")
END
cat out
[ "$(cat out)" = "1st percentile 0.11, 99th 10.89
inclusive: 1st percentile 1.09, 99th 9.91" ] || {
	echo "changed: statistics.quantiles() no longer goes beyond the measured values"
	exit 1
}
