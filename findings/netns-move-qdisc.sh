#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Linux 6.18.44: a device that is moved to another network namespace keeps its MTU, the length of
# its queue and its alias.  Its qdisc and the filters of its ingress are removed without a message,
# as are its addresses, and it is down.  So a port that is set up before its container starts is
# one with the default qdisc afterwards.
#
# Guess: what was set on the device moves with it, apart from the addresses.
#
# Output seen, of a veth device with htb, clsact and a filter, before and after:
#
#	mtu 4000, qlen 77, alias port, qdiscs htb clsact, filters 1
#	mtu 4000, qlen 77, alias port, qdiscs -, filters 0
set -euo pipefail
version=6.1.0-3

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "iproute2=$version" > /dev/null
dpkg-deb -x iproute2_*.deb root
export PATH=$dir/root/sbin:$dir/root/bin:$PATH

cat > show <<'SHOW'
link=$(ip -d link show dev eth0 | tr '\n' ' ')
mtu=$(grep -o ' mtu [0-9]*' <<< "$link") || true
qlen=$(grep -o 'qlen [0-9]*' <<< "$link") || true
alias=$(grep -o 'alias [a-z]*' <<< "$link") || true
qdiscs=$(tc qdisc show dev eth0 | awk '$2 != "noqueue" { printf " %s", $2 }')
filters=$(tc filter show dev eth0 ingress 2> errors | grep -c "flowid 1:1") || true
echo "${mtu# }, $qlen, $alias, qdiscs ${qdiscs:- -}, filters $filters" | tr -s ' '
SHOW
cat > try <<'TRY'
ip link add eth0 type veth peer name eth1
ip link set eth0 mtu 4000 txqueuelen 77 alias port up
tc qdisc add dev eth0 root handle 1: htb
tc qdisc add dev eth0 clsact
tc filter add dev eth0 ingress u32 match u32 0 0 flowid 1:1
bash -e show
mkfifo done
unshare --net cat done > waited &
other=$!
trap 'kill $other 2> kill || true' EXIT
while [ "$(readlink /proc/$other/ns/net)" = "$(readlink /proc/self/ns/net)" ]; do
	true
done
ip link set eth0 netns $other
nsenter --net=/proc/$other/ns/net bash -e show
echo > done
wait $other
TRY
unshare --map-root-user --net bash -e try > out || exit 2
cat out
kept="mtu 4000, qlen 77, alias port"
[ "$(sed -n 1p out)" = "$kept, qdiscs htb clsact, filters 1" ] || exit 2
[ "$(sed -n 2p out)" = "$kept, qdiscs -, filters 0" ] || {
	echo "changed: a device keeps its qdisc in another namespace, or loses other settings"
	exit 1
}
