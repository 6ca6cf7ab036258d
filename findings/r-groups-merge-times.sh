#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# R 4.2.2 (Debian 12): table(), factor(), split() and tapply() compare numbers by their text of 15
# digits.  Seconds since 1970 have ten before the point: times within 10 us are one group, though
# unique() and == have them apart.
#
# Guess: a group has the values that are equal.
#
# Output seen, of 100 times that are 2 us apart:
#
#	distinct times: unique() 100, table() 21, split() 21
#	bytes of the first group of tapply(), 1500 each: 4500
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download r-base-core=4.2.2.20221110-2 > /dev/null
dpkg-deb -x r-base-core_*.deb root
ln -sf Renviron.ucf root/usr/lib/R/etc/Renviron
export R_HOME=$dir/root/usr/lib/R
export LD_LIBRARY_PATH=$R_HOME/lib R_DEFAULT_PACKAGES=NULL

"$R_HOME/bin/exec/R" --vanilla --no-echo > out 2> log <<'END'
times <- 1700000000 + (0:99) * 2e-6
cat(sprintf("distinct times: unique() %d, table() %d, split() %d\n", length(unique(times)),
	length(table(times)), length(split(times, times))))
bytes <- tapply(rep(1500, 100), times, sum)
cat(sprintf("bytes of the first group of tapply(), 1500 each: %d\n", bytes[[1]]))
END
cat out
[ "$(cat out)" = "distinct times: unique() 100, table() 21, split() 21
bytes of the first group of tapply(), 1500 each: 4500" ] || {
	grep -q 'unique() 100' out || { cat log; exit 2; }
	echo "changed: R groups numbers by their values"
	exit 1
}
