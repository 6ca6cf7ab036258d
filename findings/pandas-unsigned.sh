#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# pandas 1.5.3 (Debian 12): Series.diff() of unsigned integers wraps in their type and is converted
# to float64 then, so that a step from 30 to 10 is 4294967276.0 of uint32.  diff() within groups of
# the same column gives -20.0.  Series.sum() of uint64 is computed as int64 and may be negative, and
# the sum of a group is not.
#
# Guess: a column and one group with all of it have the same differences and the same sum.
#
# Output seen:
#
#	diff of uint8 [30, 10]: 236.0, in a group: -20.0
#	diff of uint32 [30, 10]: 4294967276.0, in a group: -20.0
#	sum of uint64 [2**63, 5]: -9223372036854775803, in a group: 9223372036854775813
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
import pandas as pd


def column(values, kind):
    """The values, and the same as the only group."""
    frame = pd.DataFrame({"group": 1, "value": pd.Series(values, dtype=kind)})
    return frame["value"], frame.groupby("group")["value"]


for kind in ("uint8", "uint32"):
    one, group = column([30, 10], kind)
    print(f"diff of {kind} [30, 10]: {one.diff()[1]}, in a group: {group.diff()[1]}")
one, group = column([2**63, 5], "uint64")
print(f"sum of uint64 [2**63, 5]: {one.sum()}, in a group: {group.sum()[1]}")
END
cat out
[ "$(cat out)" = "diff of uint8 [30, 10]: 236.0, in a group: -20.0
diff of uint32 [30, 10]: 4294967276.0, in a group: -20.0
sum of uint64 [2**63, 5]: -9223372036854775803, in a group: 9223372036854775813" ] || {
	echo "changed: diff() and sum() of unsigned integers are those of a group"
	exit 1
}
