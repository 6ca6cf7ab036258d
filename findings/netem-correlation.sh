#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iproute2 6.1.0, Linux 6.1.176: a correlation of netem changes how often the event occurs.
# "reorder 25% 50%", the example of tc-netem(8), reorders 7% of the packets.  A correlated random
# number is a weighted mean with the one before, so it is seldom near 0.  tc takes the correlation
# of "duplicate 10% 50%", and it is not set.
#
# Guess: the rate is the first number, and the events come in longer bursts.
#
# Output seen, events of 10000 packets (numbers vary a little):
#
#	delay 1ms reorder 25%: 2519
#	delay 1ms reorder 25% 50%: 707
#	duplicate 10% 50%: shown as duplicate 10%
#
# The kernel is Debian's user-mode-linux, which has netem as a module.
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

cat > send.py <<'END'
import socket

sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(10000):
    sock.sendto(b"x", ("10.0.0.2", 9))
END
cat > init <<INIT
#!/bin/bash
export PATH=$dir/root/sbin:/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
modprobe -a -d $dir/root dummy sch_netem
ip link add d0 type dummy
ip address add 10.0.0.1/24 dev d0
ip link set d0 up
for event in "delay 1ms reorder 25%" "delay 1ms reorder 25% 50%"; do
	tc qdisc replace dev d0 root netem limit 100000 \$event
	$(python3 -c 'import sys; print(sys.executable)') $dir/send.py
	# netem counts a reordered packet as a requeue.
	echo "\$event: \$(tc -s qdisc show dev d0 | sed -n 's/.* requeues \([0-9]*\)) *$/\1/p')"
	tc qdisc delete dev d0 root
done
tc qdisc replace dev d0 root netem duplicate 10% 50%
echo "duplicate 10% 50%: shown as \$(tc qdisc show dev d0 | grep -o 'duplicate .*')"
echo o > /proc/sysrq-trigger
sleep 60
INIT
chmod +x init
timeout 300 root/usr/bin/linux.uml mem=128M root=none rootfstype=hostfs rootflags=/ ro quiet \
	con=null con0=null,fd:1 init="$dir/init" < /dev/null > log 2>&1 || true
grep -aE '^(delay|duplicate) ' log | tr -d '\r' > out || {
	cat log
	exit 2
}
cat out
mapfile -t seen < <(sed 's/.*: //; s/ *$//' out)
[[ "${#seen[@]}" = 3 && "${seen[0]}" -gt 2000 ]] || exit 2
[[ "${seen[1]}" -lt 1200 && "${seen[2]}" = "shown as duplicate 10%" ]] || {
	echo "changed: a correlation of netem keeps the rate, or is kept with duplicate"
	exit 1
}
