#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# libslirp 4.7.0 (Debian 12; slirp4netns, and QEMU's "-netdev user"): it is a TCP endpoint that
# accepts the MSS alone.  Connections of the guest have no window scaling, SACK, timestamps or ECN,
# though the host's connection to the server has: a window of 64 kB bounds the throughput, a loss is
# repaired without SACK, and the algorithm of the guest ends at the gateway.
#
# Guess: the options of the guest's SYN are those of the connection, as with NAT.
#
# Output seen, of a connection from a namespace to a server of the host, both with tcp_ecn=1:
#
#	guest: timestamps 0, SACK 0, window scaling 0, ECN 0, window of the peer 65535
#	server: timestamps 1, SACK 1, window scaling 1, ECN 1
#
# The libraries that slirp4netns needs beside its own are those of the machine.  The server is in a
# namespace of its own.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download slirp4netns=1.2.0-1 libslirp0=4.7.0-1 > /dev/null
for package in *.deb; do
	dpkg-deb -x "$package" root
done
export LD_LIBRARY_PATH=$dir/root/usr/lib/x86_64-linux-gnu

cat > options.py <<'END'
import socket
import struct


def options(sock):
    """The negotiated options, and the window that the peer advertised."""
    info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 232)
    seen = ", ".join(f"{name} {int(bool(info[5] & bit))}" for name, bit in (
        ("timestamps", 1), ("SACK", 2), ("window scaling", 4), ("ECN", 8)))
    return seen, struct.unpack_from("228xI", info)[0]
END
cat > server.py <<'END'
import socket
from options import options

listener = socket.create_server(("127.0.0.1", 7000))
with open("listening", "w", encoding="ascii"):
    pass
server, _ = listener.accept()
server.recv(1)
print("server: " + options(server)[0])
END
cat > guest.py <<'END'
import socket
from options import options

with socket.create_connection(("10.0.2.2", 7000), timeout=10) as guest:
    guest.send(b"x")
    guest.recv(1)       # the end, after the server has read the byte
    seen, window = options(guest)
    print(f"guest: {seen}, window of the peer {window}")
END
cat > try <<'TRY'
ip link set lo up
echo 1 > /proc/sys/net/ipv4/tcp_ecn
python3 server.py > server &
mkfifo ready hold
unshare --net bash -c 'echo 1 > /proc/sys/net/ipv4/tcp_ecn; echo > ready; read -r < hold' &
guest=$!
read -r < ready
root/usr/bin/slirp4netns --configure --ready-fd=3 $guest tap0 3> slirp-ready > log 2>&1 &
slirp=$!
for _ in {1..100}; do
	[[ -s slirp-ready && -e listening ]] && break
	sleep 0.1
done
nsenter --net --target $guest timeout 20 python3 guest.py > guest
wait %1
kill $slirp
echo > hold
wait
TRY
timeout 60 unshare --map-root-user --net bash try || {
	cat log
	exit 2
}
cat guest server
grep -q 'timestamps 1, SACK 1, window scaling 1, ECN 1$' server || exit 2
grep -q 'timestamps 0, SACK 0, window scaling 0, ECN 0, window of the peer 65535$' guest || {
	echo "changed: libslirp accepts more options than the MSS"
	exit 1
}
