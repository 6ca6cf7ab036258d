#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iproute2 6.1.0 (Debian 12): an interface may have alternative names of up to 127 characters.
# "ip link show dev NAME" takes such a name; "tc qdisc add dev NAME" cuts it to 15 characters first
# and finds no device.  An alternative name of at most 15 characters is taken by both.
#
# Guess: tc and ip are of one package and resolve names by one function, so that both take it.
set -euo pipefail
version=6.1.0-3

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "iproute2=$version" > /dev/null
dpkg-deb -x iproute2_*.deb root
export PATH=$dir/root/sbin:$dir/root/bin:$PATH

cat > try <<'TRY'
long=datacenter-uplink-port-one short=uplink-one
ip link add ea type veth peer name eb
ip link property add dev ea altname $long altname $short
ip link show dev $long > /dev/null && echo "ip long: taken"
tc qdisc add dev $long root pfifo 2>&1 && echo "tc long: taken"
tc qdisc add dev $short root pfifo && echo "tc short: taken"
TRY
unshare --map-root-user --net sh try > out || exit 2
cat out
[ "$(cat out)" = 'ip long: taken
Cannot find device "datacenter-upli"
tc short: taken' ] || {
	echo "changed: tc no longer refuses an alternative name that ip takes"
	exit 1
}
