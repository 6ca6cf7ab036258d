#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# iproute2 6.1.0 (Debian 12) on Linux 6.1.176: the times of codel and fq_codel are kept in units of
# 1024 ns and rounded down, those of fq are not.  A ce_threshold of 1 us becomes 0.
#
# Guess: a time in microseconds is kept, as tc reads and prints it in microseconds.
#
# Output seen:
#
#	codel target 50us interval 1ms ce_threshold 20us: target 49us, ce_threshold 19us, interval 999us
#	fq_codel target 50us interval 1ms ce_threshold 1us: target 49us, ce_threshold 0us, interval 999us
#	fq ce_threshold 20us: ce_threshold 20us
#
# The kernel is Debian's user-mode-linux, which has the qdiscs as modules.
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

cat > qdiscs <<'QDISCS'
codel target 50us interval 1ms ce_threshold 20us
fq_codel target 50us interval 1ms ce_threshold 1us
fq ce_threshold 20us
QDISCS
cat > init <<INIT
#!/bin/bash
export PATH=$dir/root/sbin:/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
modprobe -a -d $dir/root sch_codel sch_fq_codel sch_fq
while read -r qdisc; do
	tc qdisc replace dev lo root \$qdisc
	echo "qdisc: \$qdisc: \$(tc qdisc show dev lo |
		grep -oE '(target|interval|ce_threshold) [^ ]+' | paste -sd, | sed 's/,/, /g')"
done < $dir/qdiscs
echo o > /proc/sysrq-trigger
sleep 60
INIT
chmod +x init
timeout 300 root/usr/bin/linux.uml mem=128M root=none rootfstype=hostfs rootflags=/ ro quiet \
	con=null con0=null,fd:1 init="$dir/init" < /dev/null > log 2>&1 || true
tr -d '\r' < log | sed -n 's/^qdisc: //p' | tee out
[ "$(wc -l < out)" = 3 ] || {
	cat log
	exit 2
}
if [ "$(grep -c ': .*target 49us.*' out)" != 2 ] || ! grep -q '^codel.*: .*ce_threshold 19us' out ||
		! grep -q '^fq_codel.*: .*ce_threshold 0us' out; then
	echo "changed: codel keeps a time as it was set"
	exit 1
fi
