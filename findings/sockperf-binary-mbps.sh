#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# sockperf 3.7 (Debian 12): the bandwidth of `sockperf throughput` is in units of 2^20: MBps are
# 1048576 bytes per second, and Mbps are eight times that.  1000 messages of 1000 bytes per second,
# 8 Mbit/s, are so 7.629 Mbps: 4.6% less than a link's rate or iperf3 would have it.
#
# Guess: Mbps are 10^6 bits per second, as of each other tool and of links.
#
# Output seen:
#
#	1000 messages/s of 1000 bytes: BandWidth is 0.954 MBps (7.629 Mbps)
set -euo pipefail
version=3.7-1

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "sockperf=$version" > /dev/null
dpkg-deb -x sockperf_*.deb root

cat > try <<'TRY'
ip link set lo up
root/usr/bin/sockperf server -i 127.0.0.1 > server 2>&1 &
server=$!
trap 'kill $server' EXIT
tries=0
until grep -q 'Warmup\|\[tid' server; do
	((++tries < 1000))
	kill -0 $server
	sleep 0.01
done
root/usr/bin/sockperf throughput -i 127.0.0.1 -t 2 -m 1000 --mps 1000
TRY
unshare --map-root-user --net bash -e try > client || exit 2
rate=$(sed -n 's/.*Message Rate is \([0-9]*\) .*/\1/p' client)
bandwidth=$(grep -o 'BandWidth is .*' client)
echo "$rate messages/s of 1000 bytes: $bandwidth"
[ "$rate" -ge 500 ] || exit 2
awk -v rate="$rate" -v bandwidth="$bandwidth" 'BEGIN {
	sub(/.*\(/, "", bandwidth)
	binary = bandwidth / (8000 * rate / 1048576)
	exit !(binary > 0.99 && binary < 1.01)
}' || {
	echo "changed: Mbps of sockperf are not of 1048576 bit/s"
	exit 1
}
