#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Linux 6.1.176 (Debian 12's user-mode-linux): to make an algorithm the default adds it to
# net.ipv4.tcp_allowed_congestion_control, for every user, and to make another the default does not
# take it away.  Only a write of the list does.  ip-sysctl says of the list that it has reno and the
# default; it has each one that was the default since boot.
#
# Guess: once the default is cubic again, so is the list: reno and cubic.
#
# Output seen:
#
#	at boot, default cubic: reno cubic
#	default dctcp: reno cubic dctcp
#	default cubic again: reno cubic dctcp
set -euo pipefail
version=6.1um4+b13

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "user-mode-linux=$version" > /dev/null
dpkg-deb -x user-mode-linux_*.deb root
mkdir root/lib
ln -s ../usr/lib/uml/modules root/lib/modules

cat > init <<INIT
#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
modprobe -d $dir/root tcp_dctcp
cd /proc/sys/net/ipv4
echo "at boot, default \$(cat tcp_congestion_control): \$(cat tcp_allowed_congestion_control)"
echo dctcp > tcp_congestion_control
echo "default \$(cat tcp_congestion_control): \$(cat tcp_allowed_congestion_control)"
echo cubic > tcp_congestion_control
echo "default \$(cat tcp_congestion_control) again: \$(cat tcp_allowed_congestion_control)"
echo o > /proc/sysrq-trigger
sleep 60
INIT
chmod +x init
timeout 300 root/usr/bin/linux.uml mem=128M root=none rootfstype=hostfs rootflags=/ ro quiet \
	con=null con0=null,fd:1 init="$dir/init" < /dev/null > log 2>&1 || true
grep -aE '^(at boot, )?default ' log | tr -d '\r' > out || {
	cat log
	exit 2
}
cat out
[ "$(cat out)" = "at boot, default cubic: reno cubic
default dctcp: reno cubic dctcp
default cubic again: reno cubic dctcp" ] || {
	echo "changed: an algorithm that is no longer the default is no longer allowed"
	exit 1
}
