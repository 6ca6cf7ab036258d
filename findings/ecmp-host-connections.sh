#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Linux 6.1.176: a host has two links to a server and fib_multipath_hash_policy=1, which hashes
# addresses and ports.  IPv4 spreads its connections over both links, but all have the address of
# one link, as the address is selected before the port.  IPv6 sends all over one link: the port
# is still 0 when it selects it.  After bind(), which selects a port earlier, IPv6 spreads them too.
#
# Guess: both spread their connections, each with the address of its link.
#
# Output seen, of 32 connections to one port (numbers of IPv4 vary, and the links may be reversed):
#
#	IPv4, addresses: 32 of link 1
#	IPv4, sent over: 14 link 0, 18 link 1
#	IPv6, addresses: 32 of link 0
#	IPv6, sent over: 32 link 0
#	IPv6 bound, sent over: 15 link 0, 17 link 1
#
# The kernel is Debian's user-mode-linux, which has dummy interfaces.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download iproute2=6.1.0-3 user-mode-linux=6.1um4+b13 \
	> /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done
mkdir root/lib
ln -s ../usr/lib/uml/modules root/lib/modules

cat > links <<'LINKS'
link add d0 type dummy
link add d1 type dummy
address add 10.1.0.1/24 dev d0
address add 10.2.0.1/24 dev d1
address add fd01::1/64 dev d0 nodad
address add fd02::1/64 dev d1 nodad
address add fd09::1/128 dev lo nodad
link set lo up
link set d0 up
link set d1 up
route add 10.8.0.1 nexthop via 10.1.0.2 nexthop via 10.2.0.2
route add fd08::1 nexthop via fd01::2 nexthop via fd02::2
LINKS
cat > try.py <<'END'
import collections
import re
import socket

LINK_OF = {"10.1.0.1": 0, "10.2.0.1": 1, "fd01::1": 0, "fd02::1": 1}


def sent():
    """The packets that each link has sent."""
    with open("/proc/net/dev", encoding="ascii") as file:
        return [int(line.split()[10]) for line in file if re.match(r" *d[01]:", line)]


def show(title, unit, counter):
    """One result, the numbers in the order of the links."""
    print(f"{title}: " + ", ".join(f"{n} {unit}link {link}" for link, n in sorted(counter.items())))


def connect(title, family, server, source=""):
    """32 connections to a server that does not reply."""
    addresses, links, socks = collections.Counter(), collections.Counter(), []
    for _ in range(32):
        sock = socket.socket(family)
        sock.setblocking(False)
        if source:
            sock.bind((source, 0))
        before = sent()
        try:
            sock.connect((server, 7000))
        except BlockingIOError:
            pass
        links[[a > b for a, b in zip(sent(), before)].index(True)] += 1
        addresses[LINK_OF.get(sock.getsockname()[0])] += 1
        socks.append(sock)
    if not source:
        show(f"{title}, addresses", "of ", addresses)
    show(f"{title}, sent over", "", links)


connect("IPv4", socket.AF_INET, "10.8.0.1")
connect("IPv6", socket.AF_INET6, "fd08::1")
connect("IPv6 bound", socket.AF_INET6, "fd08::1", "fd09::1")
END
cat > init <<INIT
#!/bin/sh
export PATH=$dir/root/sbin:/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
modprobe -a -d $dir/root dummy ipv6
ip -batch $dir/links
echo 1 > /proc/sys/net/ipv4/fib_multipath_hash_policy
echo 1 > /proc/sys/net/ipv6/fib_multipath_hash_policy
$(python3 -c 'import sys; print(sys.executable)') $dir/try.py
echo o > /proc/sysrq-trigger
sleep 60
INIT
chmod +x init
timeout 300 root/usr/bin/linux.uml mem=128M root=none rootfstype=hostfs rootflags=/ ro quiet \
	con=null con0=null,fd:1 init="$dir/init" < /dev/null > log 2>&1 || true
grep -a '^IPv' log | tr -d '\r' > out || {
	cat log
	exit 2
}
cat out
grep -q '^IPv6 bound, sent over: .* link 0, .* link 1$' out || exit 2
{
	grep -q '^IPv4, addresses: 32 of link .$' out &&
		grep -q '^IPv4, sent over: .* link 0, .* link 1$' out &&
		grep -q '^IPv6, sent over: 32 link .$' out
} || {
	echo "changed: IPv4 has the address of the link, or IPv6 spreads its connections"
	exit 1
}
