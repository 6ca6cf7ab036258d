#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# fping 5.1 (Debian 12): the loss is cut to a whole percent.  With one reply of 200 missing it
# reports 0%, as without a loss, and 0% up to 9 of 1000.
#
# Guess: the percentage has a fraction, as that of ping, or a loss is rounded up to 1%.
#
# Output seen, nftables dropping one request:
#
#	127.0.0.1 : xmt/rcv/%loss = 200/199/0%
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download fping=5.1-1 nftables=1.0.6-2+deb12u2 \
	libnftables1=1.0.6-2+deb12u2 libnftnl11=1.2.4-2 > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done
export PATH=$dir/root/usr/bin:$dir/root/usr/sbin:$PATH
export LD_LIBRARY_PATH=$dir/root/usr/lib/x86_64-linux-gnu

cat > rules <<'RULES'
table ip t {
	chain c {
		type filter hook input priority 0
		icmp type echo-request numgen inc mod 200 100 drop
	}
}
RULES
cat > try <<'TRY'
ip link set lo up
nft -f rules
fping --quiet --count 200 --period 10 --timeout 1000 127.0.0.1
TRY
unshare --map-root-user --net bash -e try > out 2>&1
grep -o '^127.0.0.1 : xmt[^,]*' out || {
	cat out
	exit 2
}
grep -q '= 200/199/' out || exit 2
grep -q '= 200/199/0%' out || {
	echo "changed: fping reports a loss below 1%"
	exit 1
}
