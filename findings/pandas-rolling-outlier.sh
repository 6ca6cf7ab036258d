#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# pandas 1.5.3 (Debian 12): after one outlier in a series rolling().std() and var() are wrong in all
# later windows, also those without it: pandas adds and subtracts values in a running sum of
# squares.  tcpi_min_rtt without a sample is 4294967295: among RTTs of 50 us with a deviation of 5
# one such value makes it 20.7, 499 samples later.  rolling().mean() is right.
#
# Guess: a window has the deviation of its values, beyond rounding in the last digits.
#
# Output seen, of the last of 1000 samples, windows of 20:
#
#	without the value: std 5.0, mean 49.8
#	4294967295 as sample 500: std 20.7, mean 49.8
#
# The libraries that numpy needs beside its own are those of the machine.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download python3-pandas=1.5.3+dfsg-2 \
	python3-pandas-lib=1.5.3+dfsg-2 python3-numpy=1:1.24.2-1+deb12u1 \
	python3-dateutil=2.8.2-2 python3-tz=2022.7.1-4 python3-six=1.16.0-4 > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done

PYTHONPATH=$dir/root/usr/lib/python3/dist-packages /usr/bin/python3 > out - <<'END'
import numpy as np
import pandas as pd

samples = np.random.default_rng(1).normal(50, 5, 1000)
for label, outlier in (("without the value", None), ("4294967295 as sample 500", 4294967295)):
    if outlier:
        samples[500] = outlier
    windows = pd.Series(samples).rolling(20)
    print(f"{label}: std {windows.std().iloc[-1]:.1f}, mean {windows.mean().iloc[-1]:.1f}")
END
cat out
grep -q '^without the value: std 5.0, mean 49.8$' out || exit 2
grep -q '^4294967295 as sample 500: std 20.7, mean 49.8$' out || {
	echo "changed: an outlier no longer changes the deviation of later windows as it did"
	exit 1
}
