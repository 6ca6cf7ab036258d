#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# nftables 1.0.6 (Debian 12): "nft -j list ruleset" lacks the flags of a table, and auto-merge and
# dynamic of sets.  Saved and loaded with "nft -j -f", the rules of a table that was dormant are in
# force.
#
# Guess: the JSON has all of the ruleset, so that the loaded one is the one that was saved.
#
# Output seen, the lines that "nft list ruleset" has before and not after:
#
#	auto-merge
#	flags dormant
#	flags dynamic,timeout
set -euo pipefail
version=1.0.6-2+deb12u2

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download \
	"nftables=$version" "libnftables1=$version" libnftnl11=1.2.4-2 > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done
export PATH=$dir/root/usr/sbin:$PATH LD_LIBRARY_PATH=$dir/root/usr/lib/x86_64-linux-gnu

cat > rules <<'RULES'
table ip t {
	flags dormant
	set a {
		type ipv4_addr
		flags interval
		auto-merge
	}
	set b {
		type ipv4_addr
		flags dynamic,timeout
	}
	chain c {
		type filter hook input priority 0; policy drop;
	}
}
RULES
cat > try <<'TRY'
nft -f rules
nft list ruleset > before
nft -j list ruleset > json
nft flush ruleset
nft -j -f json
nft list ruleset > after
TRY
unshare --map-root-user --net bash -e try
sed 's/^[[:space:]]*//; /^$/d' before | sort > before.sorted
sed 's/^[[:space:]]*//; /^$/d' after | sort > after.sorted
comm -23 before.sorted after.sorted | tee out
[ "$(grep -cxE 'auto-merge|flags (dormant|dynamic,timeout)' before.sorted)" = 3 ] || exit 2
[ "$(tr '\n' ';' < out)" = "auto-merge;flags dormant;flags dynamic,timeout;" ] || {
	echo "changed: the JSON of nft has the flags of a table, or auto-merge or dynamic of a set"
	exit 1
}
