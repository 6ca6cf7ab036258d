#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# datamash 1.7 (Debian 12): it computes in long double, which holds 64-bit integers, and prints 14
# digits.  Times in nanoseconds are so rounded to 100 us, two that differ have one minimum and
# maximum, and an integer of 15 digits loses its last.  "--format %.0f" prints all digits.
#
# Guess: the maximum of a column is one of its values, as it is written there.
#
# Output seen, of 1700000000123456789 and 1700000000123456999:
#
#	min, max: 1.7000000001235e+18 1.7000000001235e+18
#	--format %.0f min, max: 1700000000123456789 1700000000123456999
#	min of 100000000000123: 1.0000000000012e+14
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download datamash=1.7-2 > /dev/null
dpkg-deb -x datamash_*.deb root

{
	printf '1700000000123456789\n1700000000123456999\n' > column
	for option in "" "--format %.0f "; do
		# shellcheck disable=SC2086 # an option or not
		range=$(root/usr/bin/datamash -t ' ' $option min 1 max 1 < column)
		echo "${option}min, max: $range"
	done
	echo "min of 100000000000123: $(echo 100000000000123 | root/usr/bin/datamash min 1)"
} > out
cat out
grep -qe '^--format %.0f min, max: 1700000000123456789 1700000000123456999$' out || exit 2
if [ "$(sed 2d out)" != "min, max: 1.7000000001235e+18 1.7000000001235e+18
min of 100000000000123: 1.0000000000012e+14" ]; then
	echo "changed: datamash prints integers of more than 14 digits in full"
	exit 1
fi
