#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# User-mode Linux (Debian 12's package, Linux 6.1.176, and one built of 6.12.117): /proc/kallsyms
# has each function of the kernel as local, "t", also the exported ones, which modules use without
# trouble.  A test that searches it for " T NAME" to find out whether the kernel has a feature, as
# mptcp_connect.sh of the kernel's selftests does, finds none and reports a skip.
#
# Guess: an exported function is "T", as on every other architecture.
#
# Output seen:
#
#	tcp_register_congestion_control: t
#	ip_sock_set_tos: t
#	global functions: 0
set -euo pipefail
version=6.1um4+b13

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "user-mode-linux=$version" > /dev/null
dpkg-deb -x user-mode-linux_*.deb root

cat > init <<INIT
#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
for name in tcp_register_congestion_control ip_sock_set_tos; do
	echo "\$name: \$(sed -n "s/.* \(.\) \$name\$/\1/p" /proc/kallsyms)"
done
echo "global functions: \$(grep -c ' T ' /proc/kallsyms)"
echo o > /proc/sysrq-trigger
sleep 60
INIT
chmod +x init
timeout 300 root/usr/bin/linux.uml mem=128M root=none rootfstype=hostfs rootflags=/ ro quiet \
	con=null con0=null,fd:1 init="$dir/init" < /dev/null > log 2>&1 || true
grep -aE '^(tcp_register_c|ip_sock|global).*: ' log | tr -d '\r' > out || {
	cat log
	exit 2
}
cat out
[ "$(cat out)" = "tcp_register_congestion_control: t
ip_sock_set_tos: t
global functions: 0" ] || {
	echo "changed: user-mode Linux has global functions in /proc/kallsyms"
	exit 1
}
