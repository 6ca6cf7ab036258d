#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# numpy 1.24.2 (Debian 12): np.unwrap() of sequence numbers in an array of uint32 leaves the wrap in
# place, without a warning, and of uint64 gives 2^63 from the wrap on, with a warning of a cast.
# Its differences are of the type of the array, so that a step down is a large step up.  An array
# of int64 is unwrapped.
#
# Guess: period=2**32 is for such counters, of any type of integers.
#
# Output seen, np.unwrap([4294967290, 10, 20], period=2**32) of each type:
#
#	uint32: 4294967290 10 20
#	uint64: 4294967290 9223372036854775808 9223372036854775808
#	int64: 4294967290 4294967306 4294967316
#
# The libraries that numpy needs beside its own are those of the machine.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download python3-numpy=1:1.24.2-1+deb12u1 > /dev/null
dpkg-deb -x python3-numpy_*.deb root

PYTHONPATH=$dir/root/usr/lib/python3/dist-packages /usr/bin/python3 > out - <<'END'
import numpy as np

for kind in ("uint32", "uint64", "int64"):
    numbers = np.array([2**32 - 6, 10, 20], dtype=kind)
    print(f"{kind}:", *(int(number) for number in np.unwrap(numbers, period=2**32)))
END
cat out
grep -q '^int64: 4294967290 4294967306 4294967316$' out || exit 2
if [ "$(sed 2q out)" != "uint32: 4294967290 10 20
uint64: 4294967290 9223372036854775808 9223372036854775808" ]; then
	echo "changed: np.unwrap() unwraps unsigned integers"
	exit 1
fi
