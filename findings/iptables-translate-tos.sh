#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iptables 1.8.9 (Debian 12): iptables-translate turns -j TOS of an IPv4 rule into "ip6 dscp set",
# which nft refuses in a table of IPv4.  The translation of -j DSCP is right.
#
# Guess: iptables-translate writes "ip dscp", and ip6tables-translate "ip6 dscp".
#
# Output seen:
#
#	-j TOS --set-tos 0x10: nft 'add rule ip mangle OUTPUT counter ip6 dscp set 0x04'
#	nft: Error: conflicting protocols specified: ip vs. ip6
#	-j DSCP --set-dscp 4: nft 'add rule ip mangle OUTPUT counter ip dscp set 0x04'
#	nft: accepted
set -euo pipefail
version=1.8.9-2
nft=1.0.6-2+deb12u2

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "iptables=$version" "libxtables12=$version" \
	"libip4tc2=$version" "libip6tc2=$version" "nftables=$nft" "libnftables1=$nft" \
	libnftnl11=1.2.4-2 > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done
export PATH=$dir/root/usr/sbin:$PATH LD_LIBRARY_PATH=$dir/root/usr/lib/x86_64-linux-gnu
export XTABLES_LIBDIR=$LD_LIBRARY_PATH/xtables

cat > try <<'TRY'
nft 'add table ip mangle'
nft 'add chain ip mangle OUTPUT'
for target in "TOS --set-tos 0x10" "DSCP --set-dscp 4"; do
	rule=$(iptables-translate -t mangle -A OUTPUT -j $target)
	echo "-j $target: $rule"
	eval "$rule" 2> error && echo "nft: accepted" || echo "nft: $(head -1 error)"
done
TRY
unshare --map-root-user --net bash -e try | tee out || exit 2
if ! grep -q 'TOS.* ip6 dscp set' out || ! grep -q '^nft: Error' out ||
		! grep -q '^nft: accepted' out; then
	echo "changed: iptables-translate writes another rule for -j TOS, or nft takes it"
	exit 1
fi
