#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iproute2 6.1.0 (Debian 12): nstat shows the increments since its last run, from a file of the
# user that knows no network namespace.  In a second namespace it subtracts the counters of the
# first, so that 50 datagrams there are shown as 30, without "history is stale".
#
# Guess: the increments are of the namespace nstat runs in, since it ran there.
#
# Output seen:
#
#	first namespace, 20 datagrams sent: 20
#	second namespace, 50 datagrams sent: 30
set -euo pipefail
version=6.1.0-3

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "iproute2=$version" > /dev/null
dpkg-deb -x iproute2_*.deb root
export PATH=$dir/root/bin:$dir/root/sbin:$PATH
# In place of a file in /tmp, to leave that of the user alone.
export NSTAT_HISTORY=$dir/history

# sent N: sends N datagrams in a new namespace, and has nstat show how many those are.
cat > try <<'TRY'
ip link set lo up
for ((i = 0; i < $1; i++)); do
	echo > /dev/udp/127.0.0.1/9
done 2> errors
nstat UdpOutDatagrams 2>&1 | sed -n 's/^UdpOutDatagrams *\([0-9]*\).*/\1/p; /stale/p'
TRY
sent() {
	unshare --map-root-user --net bash -e try "$1"
}

first=$(sent 20)
second=$(sent 50)
echo "first namespace, 20 datagrams sent: $first"
echo "second namespace, 50 datagrams sent: $second"
[ "$first $second" = "20 30" ] || {
	echo "changed: nstat no longer subtracts the counters of another namespace"
	exit 1
}
