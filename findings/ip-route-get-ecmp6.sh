#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Linux 6.1.176 and 6.18.44: with two nexthops and fib_multipath_hash_policy=1, "ip -6 route get"
# with the source, the ports and the protocol of a UDP flow names the other nexthop for half of all
# flows.  The socket's lookup had :: as the source, as the route selects the address, and its hash
# is of that.  Without "from" the command names the nexthop in use.
#
# Guess: the more of the flow a query has, the better; with all five fields it is exact.
#
# Output seen, of 32 connected flows (the first number varies):
#
#	from SOURCE: 18 of 32 as in use
#	without from: 32 of 32 as in use
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download iproute2=6.1.0-3 > /dev/null
dpkg-deb -x iproute2_*.deb root
export PATH=$dir/root/bin:$PATH

cat > try <<'TRY'
ip link set lo up
for n in 0 1; do
	ip link add d$n type veth peer name p$n
	ip address add fd0$n::1/64 dev d$n nodad
	ip link set d$n up
	ip link set p$n up
done
echo 1 > /proc/sys/net/ipv6/fib_multipath_hash_policy
ip route add fd08::1 nexthop via fd00::2 nexthop via fd01::2
python3 - <<'END'
import socket
import subprocess

DEVICE_OF = {"fd00::1": "d0", "fd01::1": "d1"}
same = {"from SOURCE": 0, "without from": 0}
socks = []
for _ in range(32):
    sock = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    sock.connect(("fd08::1", 7000))
    source, port, *_ = sock.getsockname()
    socks.append(sock)
    for title, words in ("from SOURCE", ["from", source]), ("without from", []):
        route = subprocess.run(["ip", "-6", "route", "get", "fd08::1", *words, "ipproto", "udp",
                                "sport", str(port), "dport", "7000"],
                               check=True, capture_output=True, text=True).stdout
        same[title] += f" dev {DEVICE_OF[source]} " in route
for title, number in same.items():
    print(f"{title}: {number} of 32 as in use")
END
TRY
unshare --map-root-user --net bash -e try > out || exit 2
cat out
grep -q '^without from: 32 ' out || exit 2
if grep -q '^from SOURCE: 32 ' out; then
	echo "changed: ip -6 route get with a source names the nexthop in use"
	exit 1
fi
