#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tcpdump 4.99.3 (Debian 12) on Linux 6.18.44: with BIG TCP over IPv6, a segment above 64 kB has a
# hop-by-hop header with its length at the capture point.  The filter "tcp port N" compares the
# first next header alone, so that it passes the ACKs and small segments and lacks most data of the
# flow.  No packet is reported as dropped.  The filter "ip6 protochain 6" passes all of it.
#
# Guess: the header is for links with jumbograms; a filter by port sees each segment of the flow.
#
# Output seen, bytes of TCP data over lo with gso_max_size 200000 (the second varies):
#
#	ip6: 20000000
#	tcp port 5201: 381012
#	ip6 protochain 6: 20000000
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download tcpdump=4.99.3-1 libpcap0.8=1.10.3-1 > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done
export LD_LIBRARY_PATH=$dir/root/usr/lib/x86_64-linux-gnu PATH=$dir/root/usr/bin:$PATH
chmod 755 "$dir"

cat > send.py <<'END'
import socket
import sys
import threading
import time

LENGTH = 20_000_000


def receive(sock):
    """Read all that the client sends."""
    left = LENGTH
    while left:
        left -= len(sock.recv(1 << 20))


listener = socket.create_server(("::1", 5201), family=socket.AF_INET6)
client = socket.create_connection(("::1", 5201))
server, _ = listener.accept()
reader = threading.Thread(target=receive, args=(server,))
reader.start()
client.sendall(bytes(LENGTH))
reader.join()
marker = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
for _ in range(100):        # until the capture has all packets before the marker
    marker.sendto(b"end of the flow", ("::1", 9))
    with open("capture", "rb") as capture:
        if b"end of the flow" in capture.read():
            sys.exit()
    time.sleep(0.1)
sys.exit("no marker in the capture")
END
cat > try <<'TRY'
ip link set lo up
ip link set lo gso_max_size 200000 gro_max_size 200000
tcpdump -i lo -s 128 -B 65536 -U --immediate-mode -w capture ip6 2> log &
capture=$!
for _ in {1..100}; do
	grep -qs listening log && break
	sleep 0.1
done
python3 send.py || status=$?
kill -INT $capture
wait $capture
exit ${status-0}
TRY
# Not as root of the namespace: tcpdump would change its user.
unshare --user --map-user=1000 --keep-caps --net bash try || {
	cat log
	exit 2
}
for filter in ip6 "tcp port 5201" "ip6 protochain 6"; do
	tcpdump -Z "$(id -un)" -nr capture "$filter" 2> /dev/null |
		awk -v filter="$filter" '/Flags/ { sum += $NF } END { print filter ": " sum }'
done > out
cat out
mapfile -t seen < <(sed 's/.*: //' out)
[ "${seen[0]}" -ge 20000000 ] || exit 2
[[ "${seen[1]}" -lt 10000000 && "${seen[2]}" = "${seen[0]}" ]] || {
	echo "changed: a filter by port passes the segments of IPv6 BIG TCP"
	exit 1
}
