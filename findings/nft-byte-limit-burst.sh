#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# nftables 1.0.6 (Debian 12) on Linux 6.18.44: the bucket of a limit of bytes holds one unit of time
# of the rate beside the burst.  "limit rate over 1 mbytes/second burst 2 kbytes" lets a megabyte
# pass at line rate, after each second of silence.  The bucket of a limit of packets holds the burst
# alone.
#
# Guess: the burst is the depth of the bucket, as in tc's tbf and police, so that two packets pass.
#
# Output seen (the first number varies by some packets):
#
#	1 mbytes/second burst 2 kbytes: 738 of 2000 packets of 1428 bytes pass
#	10/second burst 2 packets: 2 of 2000 packets pass
set -euo pipefail
version=1.0.6-2+deb12u2

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download \
	"nftables=$version" "libnftables1=$version" libnftnl11=1.2.4-2 > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done
export PATH=$dir/root/usr/sbin:$PATH LD_LIBRARY_PATH=$dir/root/usr/lib/x86_64-linux-gnu

cat > rules <<'RULES'
table ip t {
	chain c {
		type filter hook input priority 0;
		udp dport 1000 limit rate over 1 mbytes/second burst 2 kbytes drop
		udp dport 1000 counter
		udp dport 1001 limit rate over 10/second burst 2 packets drop
		udp dport 1001 counter
	}
}
RULES
cat > try <<'TRY'
ip link set lo up
nft -f rules
python3 -c '
import socket
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for port in 1000, 1001:
	for _ in range(2000):
		sock.sendto(bytes(1400), ("127.0.0.1", port))'
nft list chain ip t c | sed -n 's/.*counter packets \([0-9]*\).*/\1/p'
TRY
unshare --map-root-user --net bash -e try > out || exit 2
read -r -d '' bytes packets < out || true
echo "1 mbytes/second burst 2 kbytes: $bytes of 2000 packets of 1428 bytes pass"
echo "10/second burst 2 packets: $packets of 2000 packets pass"
# 2 kbytes are one packet; a slow machine adds some that the rate allows.
[[ "$bytes" -ge 700 && "$packets" -lt 100 ]] || {
	echo "changed: a limit of bytes no longer passes a second of its rate at once"
	exit 1
}
