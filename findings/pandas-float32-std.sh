#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# pandas 1.5.3 with bottleneck 1.3.5 (Debian 12): bottleneck adds values of float32 one by one in
# float32.  The deviation of 20 million RTT samples with mean 50 and deviation 5 is 6.1, and of as
# many equal ones it is 0.16.  Pandas uses bottleneck wherever it is installed, without a warning;
# numpy, and pandas without it, have 5.0 and 0.  The mean that pandas prints beside it is right.
#
# Guess: an optional package that makes pandas faster does not change results, beyond rounding.
#
# Output seen, Series.mean() and Series.std() of float32:
#
#	20000000 samples: mean 50.0, std 6.1 with bottleneck, 5.0 without
#	20000000 ones: mean 1.0, std 0.16 with bottleneck, 0.00 without
#
# The libraries that numpy needs beside its own are those of the machine.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download python3-pandas=1.5.3+dfsg-2 \
	python3-pandas-lib=1.5.3+dfsg-2 python3-bottleneck=1.3.5+ds1-2+b1 \
	python3-numpy=1:1.24.2-1+deb12u1 python3-dateutil=2.8.2-2 python3-tz=2022.7.1-4 \
	python3-six=1.16.0-4 > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done

PYTHONPATH=$dir/root/usr/lib/python3/dist-packages /usr/bin/python3 > out - <<'END'
import numpy as np
import pandas as pd

COUNT = 20_000_000


def deviation(values, bottleneck):
    with pd.option_context("compute.use_bottleneck", bottleneck):
        return values.std()


samples = pd.Series(np.random.default_rng(1).normal(50, 5, COUNT).astype(np.float32))
print(f"{COUNT} samples: mean {samples.mean():.1f}, std {deviation(samples, True):.1f}",
      f"with bottleneck, {deviation(samples, False):.1f} without")
samples = pd.Series(np.ones(COUNT, dtype=np.float32))
print(f"{COUNT} ones: mean {samples.mean():.1f}, std {deviation(samples, True):.2f}",
      f"with bottleneck, {deviation(samples, False):.2f} without")
END
cat out
[ "$(cat out)" = "20000000 samples: mean 50.0, std 6.1 with bottleneck, 5.0 without
20000000 ones: mean 1.0, std 0.16 with bottleneck, 0.00 without" ] || {
	echo "changed: bottleneck no longer changes the deviation of float32 in pandas"
	exit 1
}
