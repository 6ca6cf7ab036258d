#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# numpy 1.24.2 (Debian 12): np.searchsorted() of an array of uint64 with a Python integer compares
# doubles.  Nanoseconds since 1970 are rounded to 256, so that an index is off by one or two for
# times 100 ns apart, without a warning.  With np.uint64(time), or an array of int64, it is right.
#
# Guess: integers are compared as integers.
#
# Output seen, of 1000 times that are 100 ns apart, each looked for:
#
#	int, uint64: 609 wrong
#	np.uint64, uint64: 0 wrong
#	int, int64: 0 wrong
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

BEGIN = 1764526821123456000
times = np.arange(BEGIN, BEGIN + 100_000, 100, dtype=np.uint64)
for label, array, number in (("int, uint64", times, int), ("np.uint64, uint64", times, np.uint64),
                             ("int, int64", times.astype(np.int64), int)):
    wrong = sum(np.searchsorted(array, number(BEGIN + 100 * place)) != place
                for place in range(len(array)))
    print(f"{label}: {wrong} wrong")
END
cat out
[ "$(tail -n 2 out)" = 'np.uint64, uint64: 0 wrong
int, int64: 0 wrong' ] || exit 2
grep -q '^int, uint64: [1-9]' out || {
	echo "changed: np.searchsorted() of uint64 compares integers"
	exit 1
}
