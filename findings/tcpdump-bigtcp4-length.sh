#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tcpdump 4.99.3 and tcptrace 6.6.7 (Debian 12) on Linux 6.18.44: with BIG TCP over IPv4, a segment
# above 64 kB has a total length of 0 at the capture point.  tcpdump prints "bad-len 0" for it,
# without addresses, ports and flags, though a filter by port passes it.  tcptrace leaves it out
# without a message: a flow of 20 MB has less than 1 MB of data.
#
# Guess: the length is taken from the frame, as for the length 0 of NICs that segment.
#
# Output seen, over lo with gso_ipv4_max_size 200000 (numbers vary):
#
#	tcpdump "tcp port 5201": 499036 bytes in lines with a length, 124 lines of "bad-len 0"
#	tcptrace: 499036 bytes
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download tcpdump=4.99.3-1 libpcap0.8=1.10.3-1 \
	tcptrace=6.6.7-6+b1 > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done
export LD_LIBRARY_PATH=$dir/root/usr/lib/x86_64-linux-gnu PATH=$dir/root/usr/bin:$PATH
chmod 755 "$dir"

cat > sizes.py <<'END'
import socket
import struct
import sys

RTM_NEWLINK, REQUEST_ACK = 16, 5
GSO_IPV4_MAX_SIZE, GRO_IPV4_MAX_SIZE = 63, 64       # unknown to iproute2 6.1

route = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
message = struct.pack("=BxHiII", 0, 0, socket.if_nametoindex("lo"), 0, 0)
for attribute in (GSO_IPV4_MAX_SIZE, GRO_IPV4_MAX_SIZE):
    message += struct.pack("=HHI", 8, attribute, 200_000)
route.send(struct.pack("=IHHII", 16 + len(message), RTM_NEWLINK, REQUEST_ACK, 1, 0) + message)
sys.exit(struct.unpack_from("=i", route.recv(4096), 16)[0] != 0)
END
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


listener = socket.create_server(("127.0.0.1", 5201))
client = socket.create_connection(("127.0.0.1", 5201))
server, _ = listener.accept()
reader = threading.Thread(target=receive, args=(server,))
reader.start()
client.sendall(bytes(LENGTH))
reader.join()
marker = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
marker.bind(("127.0.0.1", 5201))
for _ in range(100):        # until the capture has all packets before the marker
    marker.sendto(b"end of the flow", ("127.0.0.1", 5201))
    with open("capture", "rb") as capture:
        if b"end of the flow" in capture.read():
            sys.exit()
    time.sleep(0.1)
sys.exit("no marker in the capture")
END
cat > try <<'TRY'
ip link set lo up
python3 sizes.py || exit
tcpdump -i lo -s 128 -B 65536 -U --immediate-mode -w capture port 5201 2> log &
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
tcpdump -Z "$(id -un)" -nr capture "tcp port 5201" 2> error > lines
bytes=$(awk '/Flags/ { sum += $NF } END { print sum }' lines)
cut_lines=$(grep -c 'bad-len 0' lines || true)
echo "tcpdump \"tcp port 5201\": $bytes bytes in lines with a length, $cut_lines lines of" \
	'"bad-len 0"'
counted=$(tcptrace -nl capture 2> error | sed -n 's/^ *actual data bytes: *\([0-9]*\) .*/\1/p')
echo "tcptrace: $counted bytes"
[ -n "$counted" ] || exit 2
if [[ "$cut_lines" = 0 || "$bytes" -gt 10000000 || "$counted" -gt 10000000 ]]; then
	echo "changed: the segments of IPv4 BIG TCP are printed or counted"
	exit 1
fi
