#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# pandas 1.5.3 (Debian 12): read_json() makes dates of integers where a column's name ends with
# "_time" or "_at" or begins with "timestamp", if all values exceed 31536000, a year in seconds.
# Flow completion times in nanoseconds are read as seconds since 1970: 40 ms are 8 April 1971.
# With one flow below 31.5 ms the same column is of integers.  read_csv() does neither.
#
# Guess: a column of integers is int64, as the type does not depend on the name and the values.
#
# Output seen, of a column "completion_time":
#
#	40000000, 90000000: datetime64[ns], first 1971-04-08 23:06:40
#	30000000, 90000000: int64, first 30000000
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
import json

import pandas as pd

for times in ([40_000_000, 90_000_000], [30_000_000, 90_000_000]):
    text = json.dumps([{"flow": flow, "completion_time": time} for flow, time in enumerate(times)])
    column = pd.read_json(text)["completion_time"]
    print(f"{times[0]}, {times[1]}: {column.dtype}, first {column[0]}")
END
cat out
grep -q '^30000000, 90000000: int64, first 30000000$' out || exit 2
grep -q '^40000000, 90000000: datetime64\[ns\], first 1971-04-08 23:06:40$' out || {
	echo "changed: read_json() leaves completion times as integers"
	exit 1
}
