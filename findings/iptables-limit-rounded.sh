#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iptables-nft 1.8.9 (Debian 12): "-m limit" keeps a rate as a period in units of 100 us, rounded
# down.  A limit of 7000/s is one of 10000/s, 4000/s is 5000/s and 3000/s is 3333/s, though nftables
# keeps 7000/s.
#
# Guess: a rate below the largest that is taken, 10000/s, is kept.
#
# Output seen, as "iptables-nft -S" prints the rules that were added:
#
#	--limit 3000/s: 3333/sec
#	--limit 4000/s: 5000/sec
#	--limit 7000/s: 10000/sec
#	nft: 7000/second
set -euo pipefail
version=1.8.9-2

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "iptables=$version" "libxtables12=$version" \
	libnftnl11=1.2.4-2 libnetfilter-conntrack3=1.0.9-3 nftables=1.0.6-2+deb12u2 \
	libnftables1=1.0.6-2+deb12u2 > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done
export LD_LIBRARY_PATH=$dir/root/usr/lib/x86_64-linux-gnu PATH=$dir/root/usr/sbin:$PATH
export XTABLES_LIBDIR=$LD_LIBRARY_PATH/xtables XTABLES_LOCKFILE=$dir/lock

cat > try <<'TRY'
for rate in 3000 4000 7000; do
	iptables-nft -A INPUT -m limit --limit $rate/s -j ACCEPT
	echo "--limit $rate/s: $(iptables-nft -S INPUT | sed -n 's/.*--limit \([^ ]*\).*/\1/p')"
	iptables-nft -F INPUT
done
nft add table ip t
nft add chain ip t c
nft add rule ip t c limit rate 7000/second accept
echo "nft: $(nft list chain ip t c | sed -n 's/.*limit rate \([^ ]*\).*/\1/p')"
TRY
unshare --map-root-user --net bash -e try > out || {
	cat out
	exit 2
}
cat out
[ "$(sed 's/.*: //' out | tr '\n' ' ')" = "3333/sec 5000/sec 10000/sec 7000/second " ] || {
	echo "changed: iptables no longer rounds a limit up to the next period of 100 us"
	exit 1
}
