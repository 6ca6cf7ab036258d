#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iproute2 6.1.0 (Debian 12): the burst of an htb class is kept as a time in whole microseconds.  At
# 100 Gbit/s it goes in steps of 12500 bytes, downward: 64 kB become 50000 bytes, and the burst that
# tc itself computes for cburst becomes 0.  At the other end 32 bits of ticks of 64 ns are 275 s:
# 1 MB at 1 kbit/s becomes some other, smaller number.  Both without a warning.  iproute2 6.15
# (Debian 13) has steps of 800 bytes; the wrap of a long burst is still there.
#
# Guess: the burst is a number of bytes, kept as given; one that does not fit is refused.
#
# Output seen:
#
#	rate 100gbit burst 64kb: burst 50000b cburst 0b
#	rate 1kbit burst 1mb: burst 30668b cburst 1600b
set -euo pipefail
version=6.1.0-3

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "iproute2=$version" > /dev/null
dpkg-deb -x iproute2_*.deb root
export PATH=$dir/root/sbin:$PATH

cat > try <<'TRY'
tc qdisc add dev lo root handle 1: htb
tc class add dev lo parent 1: classid 1:10 htb rate 100gbit burst 64kb quantum 60000
tc class add dev lo parent 1: classid 1:11 htb rate 1kbit burst 1mb quantum 1500
tc class show dev lo
TRY
unshare --map-root-user --net sh -e try > classes || exit 2
fast=$(grep -o 'rate 100Gbit .*' classes | grep -o 'burst .*b')
slow=$(grep -o 'rate 1Kbit .*' classes | grep -o 'burst .*b')
echo "rate 100gbit burst 64kb: $fast"
echo "rate 1kbit burst 1mb: $slow"
[ "$fast, $slow" = "burst 50000b cburst 0b, burst 30668b cburst 1600b" ] || {
	echo "changed: tc keeps the burst of an htb class otherwise"
	exit 1
}
