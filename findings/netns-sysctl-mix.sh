#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Linux 6.1.176: a new network namespace has some sysctls of the initial namespace and the built-in
# defaults of others.  The congestion control, tcp_rmem and IPv4's ip_forward and rp_filter are the
# host's.  tcp_ecn, tcp_sack, tcp_notsent_lowat, fib_multipath_hash_policy and IPv6's forwarding are
# not: on a host with tcp_ecn=1 a container's clients do not request ECN.  Namespaces made within
# another have the initial namespace's values too, not those of the creator.
#
# Guess: all are the built-in defaults, or all those of the namespace in which it was made.
#
# Output seen, of a host (H) which differs from the defaults (D) in each, and a namespace in another
# of which all values are others again (A):
#
#	tcp_congestion_control H, tcp_rmem H, ip_forward H, conf/all/rp_filter H,
#	tcp_ecn D, tcp_sack D, tcp_notsent_lowat D, fib_multipath_hash_policy D,
#	../ipv6/conf/all/forwarding D
#
# The kernel is Debian's user-mode-linux, so that no sysctl of the machine changes.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download user-mode-linux=6.1um4+b13 > /dev/null
dpkg-deb -x user-mode-linux_*.deb root
mkdir root/lib
ln -s ../usr/lib/uml/modules root/lib/modules

# Names, values of the host, of the first namespace, and the defaults.
cat > values <<'VALUES'
tcp_congestion_control reno bbr cubic
tcp_rmem 5000,6000,7000 8000,9000,10000 4096,131072,6291456
ip_forward 1 0 0
conf/all/rp_filter 2 1 0
tcp_ecn 1 0 2
tcp_sack 0 0 1
tcp_notsent_lowat 1000 2000 4294967295
fib_multipath_hash_policy 1 1 0
../ipv6/conf/all/forwarding 1 1 0
VALUES
cat > set.sh <<'SET'
cd /proc/sys/net/ipv4
while read -r name host other _; do
	[ "$1" = host ] && value=$host || value=$other
	echo "$value" | tr , ' ' > $name
done < "$2"
SET
cat > show.sh <<'SHOW'
cd /proc/sys/net/ipv4
while read -r name host other default; do
	case $(tr '\t' , < $name) in
	"$host")	from=H ;;
	"$default")	from=D ;;
	"$other")	from=A ;;
	*)		from=? ;;
	esac
	printf '%s %s, ' $name $from
done < "$1"
SHOW
cat > init <<INIT
#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
modprobe -a -d $dir/root ipv6 tcp_bbr
sh $dir/set.sh host $dir/values
unshare --net sh -c 'sh $dir/set.sh other $dir/values; unshare --net sh $dir/show.sh $dir/values' |
	sed 's/^/seen /'
echo
echo o > /proc/sysrq-trigger
sleep 60
INIT
chmod +x init
timeout 300 root/usr/bin/linux.uml mem=128M root=none rootfstype=hostfs rootflags=/ ro quiet \
	con=null con0=null,fd:1 init="$dir/init" < /dev/null > log 2>&1 || true
grep -a '^seen ' log | tr -d '\r' | sed 's/^seen //; s/, $//; s/, /,\n/g' > out
cat out
[ "$(wc -l < out)" -gt 1 ] || {
	cat log
	exit 2
}
[ "$(sed 's/.* \([A-Z?]\),*$/\1/' out | tr -d '\n')" = HHHHDDDDD ] || {
	echo "changed: a new namespace has other sysctls of the initial one"
	exit 1
}
