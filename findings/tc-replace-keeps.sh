#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iproute2 6.1.0 (Debian 12), Linux 6.18.44: `tc qdisc replace` of a qdisc by one of the same kind
# changes the one that is there: parameters that are not given keep their values, and the counters
# go on.  A script that is run again after a parameter was removed from it leaves that in force,
# with status 0.  After one of another kind, or with another handle, the qdisc is a new one.
#
# Guess: replace is del and add in one step: the result is that of the command alone.
#
# Output seen, after `pfifo limit 10`, a datagram and its ICMP error:
#
#	replace pfifo: limit 10p, sent 2
#	replace handle 8: pfifo: limit 1000p, sent 0
#	replace bfifo, replace pfifo: limit 1000p, sent 0
set -euo pipefail
version=6.1.0-3

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "iproute2=$version" > /dev/null
dpkg-deb -x iproute2_*.deb root
export PATH=$dir/root/sbin:$PATH

cat > try <<'TRY'
# after ARGUMENTS...: the qdisc after `tc qdisc replace dev lo root` with each of them.
after() {
	local each label=

	tc qdisc replace dev lo root handle 7: pfifo limit 10
	echo > /dev/udp/127.0.0.1/9
	for each; do
		# shellcheck disable=SC2086 # words of the command
		tc qdisc replace dev lo root $each
		label="$label, replace $each"
	done
	tc -s qdisc show dev lo | paste -s -d ' ' |
		sed "s/.*\(limit [0-9]*p\).* bytes \([0-9]*\) pkt.*/${label#, }: \1, sent \2/"
	tc qdisc del dev lo root
}
ip link set lo up txqueuelen 1000
after pfifo
after "handle 8: pfifo"
after bfifo pfifo
TRY
unshare --map-root-user --net bash -e try > out 2> errors || exit 2
cat out
[ "$(sed -n 2,3p out | grep -c 'limit 1000p, sent 0$')" = 2 ] || exit 2
grep -q '^replace pfifo: limit 10p, sent 2$' out || {
	echo "changed: tc qdisc replace gives a new qdisc"
	exit 1
}
