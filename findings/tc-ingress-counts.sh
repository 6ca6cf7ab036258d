#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Linux 6.1.176 with iproute2 6.1.0 (Debian 12): the qdiscs ingress and clsact count no packet until
# they have a filter.  Then they count bytes without the Ethernet header, which a qdisc at the other
# end of the link has counted.
#
# Guess: "tc -s qdisc" counts every packet that passes a qdisc, with the bytes of the other end.
#
# Output seen, of twenty packets of 128 bytes over a veth pair, ten before a filter and ten after:
#
#	at the sender: 2840 bytes, 20 packets
#	at ingress: 0 bytes, 0 packets without a filter; 1280 bytes, 10 packets with one
#
# The kernel is Debian's user-mode-linux, which has the classifier as a module.
set -euo pipefail
version=6.1.0-3

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "iproute2=$version" \
	user-mode-linux=6.1um4+b13 > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done
mkdir root/lib
ln -s ../usr/lib/uml/modules root/lib/modules

cat > init <<INIT
#!/bin/sh
export PATH=$dir/root/sbin:$dir/root/bin:/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
modprobe -a -d $dir/root veth sch_ingress sch_tbf cls_matchall act_gact
echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6
ip link add va type veth peer name vb
ip link set va arp off
ip link set vb arp off
ip addr add 192.0.2.1/24 dev va
ip link set vb up
ip link set va up
tc qdisc add dev va root tbf rate 10gbit burst 1m limit 10m
tc qdisc add dev vb ingress
send() {
	python3 -c '
import socket
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(10):
	sock.sendto(bytes(100), ("192.0.2.2", 9))'
}
counts() {
	echo "\$1: \$(tc -s qdisc show dev \$2 | grep Sent | tail -1)"
}
send
counts without vb
tc filter add dev vb ingress protocol all matchall action ok
send
counts with vb
counts sender va
echo o > /proc/sysrq-trigger
sleep 60
INIT
chmod +x init
timeout 300 root/usr/bin/linux.uml mem=128M root=none rootfstype=hostfs rootflags=/ ro quiet \
	con=null con0=null,fd:1 init="$dir/init" < /dev/null > log 2>&1 || true
tr -d '\r' < log > out
counted() {
	sed -n "s/^$1: *Sent \([0-9]*\) bytes \([0-9]*\) pkt.*/\1 bytes, \2 packets/p" out
}
[ "$(counted sender)" ] || {
	cat log
	exit 2
}
echo "at the sender: $(counted sender)"
echo "at ingress: $(counted without) without a filter; $(counted with) with one"
[ "$(counted without), $(counted with)" = "0 bytes, 0 packets, 1280 bytes, 10 packets" ] || {
	echo "changed: ingress counts packets without a filter, or their Ethernet header"
	exit 1
}
