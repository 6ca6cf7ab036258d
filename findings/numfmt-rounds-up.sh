#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# GNU coreutils 9.1 (Debian 12): "numfmt --to=si" and "--to=iec" round away from zero, to two digits
# below ten of a unit and to whole units above, so that a number is shown up to 10% too large.  A
# rate of 1001 Mbit/s becomes 1.1 Gbit/s.  "--round=nearest" is an option.
#
# Guess: the nearest number is shown, as printf does.
#
# Output seen:
#
#	1001000000: 1.1G, nearest 1.0G
#	10001: 11K, nearest 10K
#	-1001: -1.1K, nearest -1.0K
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download coreutils=9.1-1 > /dev/null
dpkg-deb -x coreutils_*.deb root

for number in 1001000000 10001 -1001; do
	echo "$number: $(root/usr/bin/numfmt --to=si -- $number)," \
		"nearest $(root/usr/bin/numfmt --to=si --round=nearest -- $number)"
done > out
cat out
[ "$(sed 's/.*, //' out)" = 'nearest 1.0G
nearest 10K
nearest -1.0K' ] || exit 2
[ "$(sed 's/,.*//' out)" = '1001000000: 1.1G
10001: 11K
-1001: -1.1K' ] || {
	echo "changed: numfmt does not round away from zero"
	exit 1
}
