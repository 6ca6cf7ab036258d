#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iproute2 6.1.0 (Debian 12): `nstat NAME` prints the increments of one counter, and saves the state
# of all of them in its history.  A later `nstat OTHER` so lacks the increments of OTHER before the
# first command.  A script that queries one counter after another has, for all but the first, those
# since the last query alone.  With -s the history is left as it is.
#
# Guess: a counter that was not printed keeps its increments until it is.
#
# Output seen, after 40 datagrams to a port without a socket:
#
#	nstat UdpNoPorts: 40, nstat UdpOutDatagrams: -
#	nstat -s UdpNoPorts: 40, nstat UdpOutDatagrams: 40
set -euo pipefail
version=6.1.0-3

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "iproute2=$version" > /dev/null
dpkg-deb -x iproute2_*.deb root
export PATH=$dir/root/bin:$dir/root/sbin:$PATH

# Sends the datagrams, and queries two counters, the first with the option $1, if any.
cat > try <<'TRY'
export NSTAT_HISTORY=$PWD/history$1
ip link set lo up
nstat > before
for ((i = 0; i < 40; i++)); do
	echo > /dev/udp/127.0.0.1/9
done 2> errors

query() {
	local count
	count=$(nstat "$@" | awk '!/^#/ { print $2 }')
	echo "nstat $*: ${count:--}"
}
# shellcheck disable=SC2086 # no argument, if the option is empty
first=$(query $1 UdpNoPorts)
echo "$first, $(query UdpOutDatagrams)"
TRY
unshare --map-root-user --net bash -e try "" | tee out || exit 2
unshare --map-root-user --net bash -e try -s | tee -a out || exit 2
[ "$(sed -n 2p out)" = "nstat -s UdpNoPorts: 40, nstat UdpOutDatagrams: 40" ] || exit 2
[ "$(sed -n 1p out)" = "nstat UdpNoPorts: 40, nstat UdpOutDatagrams: -" ] || {
	echo "changed: nstat keeps the increments of counters that it did not print"
	exit 1
}
