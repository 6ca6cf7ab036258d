#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iperf 2.1.8 (Debian 12): in "-b 10M" the letter stands for 1024 * 1024, in "-b 10m" for a million;
# reports are in units of a million.  iperf3 3.12 has a million for both in -b.
#
# Guess: 10M and 10m are 10 Mbit/s, as in iperf3 and tc.
#
# Output seen, datagrams of 1470 bytes in 2 s (some vary by one; 10 Mbit/s are 1701):
#
#	iperf -b 10M: 1784
#	iperf -b 10m: 1702
set -euo pipefail
version=2.1.8+dfsg-1

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "iperf=$version" > /dev/null
dpkg-deb -x iperf_*.deb root
export PATH=$dir/root/usr/bin:$PATH

cat > try <<'TRY'
ip link set lo up
iperf -s -u -p 5002 > server 2>&1 &
trap "kill $!" EXIT
until ss -Huln sport = 5002 | grep -q 5002; do :; done
for rate in 10M 10m; do
	iperf -c 127.0.0.1 -u -l 1470 -p 5002 -b $rate -t 2 > client
	sed -n 's/.*Sent \([0-9]*\) datagrams.*/\1/p' client
done
TRY
unshare --map-root-user --net bash -e try > out || exit 2
read -r -d '' capital small < out || true
echo "iperf -b 10M: $capital"
echo "iperf -b 10m: $small"
[[ "$capital" -gt 1750 && "$small" -lt 1730 ]] || {
	echo "changed: both letters are a million"
	exit 1
}
