#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# sqlite3 3.40.1 (Debian 12): ".import --csv" into a new table declares all columns as TEXT.  avg()
# and sum() take the numbers, but max(), ORDER BY and a comparison with a number compare text: of
# the RTTs 99, 1000 and 250 the maximum is 99, and "rtt > 500" has 99 alone.
#
# Guess: a column of numbers is numeric, at the latest in a comparison with a number.
#
# Output seen:
#
#	avg() 449.7, max() 99, rows with rtt > 500: 99
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download sqlite3=3.40.1-2+deb12u2 \
	libsqlite3-0=3.40.1-2+deb12u2 > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done
export LD_LIBRARY_PATH=$dir/root/usr/lib/x86_64-linux-gnu

printf 'flow,rtt\n1,99\n2,1000\n3,250\n' > flows.csv
root/usr/bin/sqlite3 > out <<'END'
.import --csv flows.csv flows
SELECT printf('avg() %.1f, max() %s, rows with rtt > 500: %s', avg(rtt), max(rtt),
	(SELECT group_concat(rtt) FROM flows WHERE rtt > 500)) FROM flows;
END
cat out
grep -q '^avg() 449.7,' out || exit 2
grep -q ' max() 99, rows with rtt > 500: 99$' out || {
	echo "changed: sqlite3 compares imported numbers as numbers"
	exit 1
}
