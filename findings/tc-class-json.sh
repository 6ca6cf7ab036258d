#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iproute2 6.1.0 (Debian 12): "tc -j class show" of htb prints text, with status 0, where "tc -j
# qdisc show" of the same device prints JSON.  iproute2 6.15 (Debian 13) prints JSON for both.
#
# Guess: -j is an option of tc; a command without JSON refuses it, or prints JSON without details.
#
# Output seen:
#
#	tc -j qdisc show: [{"kind":"htb","handle":"1:","root":true,"refcnt":2,"options":{"r2q":10,...
#	tc -j class show: class htb 1:10 root prio 0 rate 1Gbit ceil 1Gbit burst 1375b cburst 1375b
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
tc class add dev lo parent 1: classid 1:10 htb rate 1gbit quantum 60000
tc -j qdisc show dev lo > qdisc
tc -j class show dev lo > class
TRY
unshare --map-root-user --net sh -e try
echo "tc -j qdisc show: $(cat qdisc)"
echo "tc -j class show: $(cat class)"
python3 -m json.tool qdisc > /dev/null
if python3 -m json.tool class > /dev/null 2>&1 || ! grep -q "^class htb 1:10 root" class; then
	echo "changed: tc -j class show prints JSON"
	exit 1
fi
