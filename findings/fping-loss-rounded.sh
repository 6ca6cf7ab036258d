#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# fping 5.1 (Debian 12): %loss is a whole number, rounded down: 1 of 200 lost is 0%.
#
# Guess: 0% is no loss.
#
# Output seen:
#
#	xmt/rcv/%loss = 200/199/0%
#
# nftables drops one of the requests on the loopback device of a namespace.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download fping=5.1-1 > /dev/null
dpkg-deb -x fping_*.deb root

cat > try <<'TRY'
ip link set lo up
nft add table ip lost
nft 'add chain ip lost input { type filter hook input priority 0; }'
nft add rule ip lost input icmp type echo-request numgen inc mod 200 0 drop
# It ends with 1 if the last request has no answer.
root/usr/bin/fping -q -c 200 -p 10 -t 1000 127.0.0.1 2> log || true
TRY
unshare --map-root-user --net bash -e try
grep -o 'xmt/rcv/%loss = [^,]*' log > out || { cat log; exit 2; }
cat out
grep -q ' = 200/199/' out || exit 2
grep -q '/0%$' out || {
	echo "changed: fping prints a loss below 1%"
	exit 1
}
