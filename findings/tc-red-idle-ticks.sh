#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iproute2 6.1.0 (Debian 12): while a queue with RED is idle, its average decays by one packet time
# of "bandwidth" a step, by a table that tc computes.  tc computes it in ticks of 64 ns.  The kernel
# reads the table by microseconds (red_calc_qavg_from_idle_time() in include/net/red.h), so that the
# average decays 15.6 times as slowly as tc-red(8) has it.
#
# Guess: the average decays at the rate that "bandwidth" gives.
#
# Output seen, for packets of 1000 bytes at 10 Mbit/s, 800 us each, and W of 1/32.  The table spans
# 31 / -ln(1 - W) packets, 781134 us, in fewer than 512 cells of 2^Scell_log: 2^11 us or
# 2^15 ticks.
#
#	kernel: us_idle >> p->Scell_log
#	tc: Scell_log 15
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download iproute2=6.1.0-3 strace=6.1-0.1 \
	linux-headers-6.1.0-53-common=6.1.187-1 > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done

kernel=$(grep -o 'us_idle >> p->Scell_log' root/usr/src/*/include/net/red.h)
grep -q 'ktime_us_delta(ktime_get(), v->qidlestart)' root/usr/src/*/include/net/red.h
# The kernel may lack RED: the request that tc sends is enough.
unshare --map-root-user --net root/usr/bin/strace -x -s 64 -e trace=sendmsg -o trace \
	root/sbin/tc qdisc add dev lo root red limit 400000 min 30000 max 90000 avpkt 1000 \
	burst 55 probability 0.1 bandwidth 10mbit 2> log || true
# struct tc_red_qopt: after limit, qth_min and qth_max, Wlog, Plog, Scell_log
cell=$(grep -o 'x30\\x75\\x00\\x00\\x90\\x5f\\x01\\x00\\x05\\x14\\x[0-9a-f]*' trace | tail -c 3)
[ -n "$cell" ] || { cat log trace; exit 2; }
cell=$((16#$cell))
echo "kernel: $kernel"
echo "tc: Scell_log $cell"
[ "$cell" = 15 ] || {
	echo "changed: tc computes RED's idle table otherwise"
	exit 1
}
