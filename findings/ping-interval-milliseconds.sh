#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iputils 20221126 (Debian 12), as root: the interval of ping is kept in whole milliseconds, rounded
# down.  `-i 0.0019` sends 1000 packets per second instead of 526.  `-i 0.0009` is a flood: each
# reply is followed by the next request at once, without a message.
#
# Guess: an interval that has a fraction of a millisecond is kept, or refused.
#
# Output seen, of 100 packets over lo, the shortest of five runs (times vary):
#
#	-i 0.002: 199 ms
#	-i 0.0019: 99 ms
#	-i 0.0009: 0 ms
set -euo pipefail
version=3:20221126-1+deb12u1

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "iputils-ping=$version" > /dev/null
dpkg-deb -x iputils-ping_*.deb root

cat > try <<'TRY'
ip link set lo up
for interval in 0.002 0.0019 0.0009; do
	for _ in 1 2 3 4 5; do
		root/bin/ping -n -q -c 100 -i $interval 127.0.0.1 |
			sed -n 's/.* 100 received, .* time \([0-9]*\)ms/\1/p'
	done | sort -n | sed -n "1s/.*/-i $interval: & ms/p"
done
TRY
unshare --map-root-user --net bash -e try > out || exit 2
cat out
read -r two below flood < <(sed 's/.*: //; s/ ms//' out | paste -s -d ' ')
[ "$two" -ge 198 ] || exit 2
# 99 intervals of 1.9 and of 0.9 ms are 188 and 89 ms.
if [ "$below" -ge 188 ] || [ "$flood" -ge 89 ]; then
	echo "changed: ping keeps intervals that are not whole milliseconds"
	exit 1
fi
