#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iproute2 6.1.0 (Debian 12): where no interface is named "if1", "tc qdisc add dev if1" does not
# fail, but changes the interface of index 1, here lo; so does a word that only begins with "if1",
# as "if1-uplink".  "ip link show dev if1" finds no such device.
#
# Guess: a misspelt name of an interface is refused, by tc as by ip.
set -euo pipefail
version=6.1.0-3

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "iproute2=$version" > /dev/null
dpkg-deb -x iproute2_*.deb root
export PATH=$dir/root/sbin:$dir/root/bin:$PATH

cat > try <<'TRY'
ip link show dev if1 > /dev/null 2>&1 || echo "ip if1: no such device"
tc qdisc add dev if1 root handle 1: pfifo && tc qdisc show dev lo
tc qdisc replace dev if1-uplink root handle 2: pfifo && tc qdisc show dev lo
TRY
unshare --map-root-user --net sh try > out || exit 2
cat out
[ "$(cut -d ' ' -f 1-4 out)" = 'ip if1: no such
qdisc pfifo 1: root
qdisc pfifo 2: root' ] || {
	echo "changed: tc no longer takes \"ifN\" for the interface of index N"
	exit 1
}
