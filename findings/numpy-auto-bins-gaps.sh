#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# numpy 1.24.2 (Debian 12): np.histogram() with bins="auto", as of matplotlib's hist(), takes bins
# narrower than 1 for integers.  RTTs in whole microseconds have gaps, which appear as modes: of
# 100000 Poisson samples with mean 50 more than half of the bins are empty where most samples are.
#
# Guess: the rule for the width gives a smooth histogram of a distribution with one mode.
#
# Output seen:
#
#	integers: bins of 0.43, of 46 between 40 and 60 27 are empty
#	with noise from 0 to 1: bins of 0.41, of 48 between 40 and 60 0 are empty
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

random = np.random.default_rng(1)
samples = random.poisson(50, 100_000)
for label, values in (("integers", samples),
                      ("with noise from 0 to 1", samples + random.random(samples.size))):
    counts, edges = np.histogram(values, bins="auto")
    middle = counts[(edges[:-1] > 40) & (edges[1:] < 60)]
    print(f"{label}: bins of {edges[1] - edges[0]:.2f}, of {middle.size} between 40 and 60",
          f"{np.count_nonzero(middle == 0)} are empty")
END
cat out
grep -q '^with noise .* 60 0 are empty$' out || exit 2
grep -q '^integers: bins of 0.43, of 46 between 40 and 60 27 are empty$' out || {
	echo "changed: bins of integers are not narrower than 1"
	exit 1
}
