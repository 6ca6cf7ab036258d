#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# mawk 1.3.4-20200120 (Debian 12, its awk): printf "%d" prints 2147483647 for each larger number,
# print writes it with six digits, and %x ends at ffffffff.  A sum of byte counters that is printed
# with %d is so a constant from 2 GiB on, with status 0.
#
# Guess: as in gawk, integers up to 2^53 are printed in full.
#
# Output seen, of the counters 4000000000 and 1234567890:
#
#	printf %d: 2147483647
#	print: 5.23457e+09
#	printf %x: ffffffff
#	printf %.0f: 5234567890
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download mawk=1.3.4.20200120-3.1 > /dev/null
dpkg-deb -x mawk_*.deb root

printf '4000000000\n1234567890\n' | root/usr/bin/mawk '
{
	sum += $1
}
END {
	printf "printf %%d: %d\n", sum
	print "print: " sum
	printf "printf %%x: %x\n", sum
	printf "printf %%.0f: %.0f\n", sum
}' > out
cat out
grep -q '^printf %.0f: 5234567890$' out || exit 2
if [ "$(grep -c '^printf %d: 2147483647$\|^print: 5.23457e+09$' out)" != 2 ]; then
	echo "changed: mawk prints integers above 31 bits in full"
	exit 1
fi
