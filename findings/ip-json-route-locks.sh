#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iproute2 6.1.0 (Debian 12): "ip -j route" does not say which metrics are locked, and the text does.
# A lock decides whether a program's TCP_CONGESTION, a discovered MTU or a measured RTT replaces the
# value of the route.  Names differ, too: congctl is "congestion", and features are keys with null.
#
# Guess: what the text shows is in the JSON, so that a tool can restore a route from it.
#
# Output seen:
#
#	text: mtu lock 1400 advmss 1360 features ecn rto_min lock 5ms congctl lock reno
#	JSON: {"mtu":1400,"advmss":1360,"ecn":null,"rto_min":5,"congestion":"reno"}
set -euo pipefail
version=6.1.0-3

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "iproute2=$version" > /dev/null
dpkg-deb -x iproute2_*.deb root
export PATH=$dir/root/bin:$PATH

cat > try <<'TRY'
ip link add va type veth peer name vb
ip link set vb up
ip link set va up
ip route add 192.0.2.0/24 dev va mtu lock 1400 advmss 1360 rto_min 5ms features ecn \
	congctl lock reno
ip route show 192.0.2.0/24 > text
ip -j route show 192.0.2.0/24 > json
TRY
unshare --map-root-user --net sh -e try
echo "text: $(grep -o 'mtu.*' text)"
echo "JSON: $(grep -o '{"mtu[^}]*}' json)"
[ "$(grep -o 'lock' text | wc -l)" = 3 ] || exit 2
if grep -q lock json || ! grep -q '"ecn":null' json || ! grep -q '"congestion":"reno"' json; then
	echo "changed: the JSON shows locks, or has other names"
	exit 1
fi
