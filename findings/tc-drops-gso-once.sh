#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Linux 6.18.44: a qdisc counts the segments of a GSO packet that it sends, and the GSO packet that
# it drops as one.  So the share of dropped packets that `tc -s` suggests, dropped / (dropped +
# sent), is too small by the segments of a packet, up to 45 times with TCP over Ethernet.
# pfifo, bfifo, htb and others count so by qdisc_drop() of the kernel.
#
# Guess: both are packets of the same kind, as they are in one line.
#
# Output seen, of sends of 40 datagrams each by UDP_SEGMENT:
#
#	bfifo, 1 send with place for it: sent 40 pkt, dropped 0
#	bfifo, 1 send without: sent 0 pkt, dropped 1
#	bfifo, 5 sends with, 5 without: sent 200 pkt, dropped 5
set -euo pipefail
version=6.1.0-3

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "iproute2=$version" > /dev/null
dpkg-deb -x iproute2_*.deb root
export PATH=$dir/root/sbin:$dir/root/bin:$PATH

cat > send <<'END'
import socket
import sys

UDP_SEGMENT = 103

sock = socket.socket(type=socket.SOCK_DGRAM)
sock.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 1000)
for _ in range(int(sys.argv[1])):
    try:
        sock.sendto(bytes(40 * 1000), ("10.0.0.2", 9))
    except OSError:     # ENOBUFS
        pass
END
cat > try <<'TRY'
# Without IPv6 the device sends no packet of its own.
sysctl -qw net.ipv6.conf.default.disable_ipv6=1
ip link add eth0 type veth peer name eth1
ip link set eth0 up
ip link set eth1 up
ip address add 10.0.0.1/24 dev eth0
ip neighbour add 10.0.0.2 lladdr 02:00:00:00:00:02 dev eth0

# part LABEL COMMAND: the counters of a new qdisc after the command.
part() {
	tc qdisc replace dev eth0 root handle 1: bfifo limit 1mb
	eval "$2"
	tc -s qdisc show dev eth0 |
		sed -n "s/.* bytes \([0-9]*\) pkt (dropped \([0-9]*\),.*/sent \1 pkt, dropped \2/p" |
		sed "s/^/bfifo, $1: /"
	tc qdisc del dev eth0 root
}
without='tc qdisc change dev eth0 root bfifo limit 1kb; python3 send'
part "1 send with place for it" "python3 send 1"
part "1 send without" "$without 1"
part "5 sends with, 5 without" "python3 send 5; $without 5"
TRY
unshare --map-root-user --net bash -e try > out || exit 2
cat out
[ "$(grep -c 'sent 40 pkt, dropped 0\|sent 200 pkt' out)" = 2 ] || exit 2
[ "$(sed -n 's/.*, //; 2,3p' out | paste -s -d ' ')" = "dropped 1 dropped 5" ] || {
	echo "changed: a dropped GSO packet is counted with its segments"
	exit 1
}
