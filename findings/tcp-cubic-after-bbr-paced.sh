#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Linux: a connection that was given bbr and is then set to cubic stays paced for the rest of its
# life.  bbr turns on TCP's own pacing when it starts, and the change of TCP_CONGESTION does not turn
# it off; getsockopt() reports cubic, and ss has no field that shows it.
#
# Guess: after setsockopt(TCP_CONGESTION, "cubic") the socket behaves as one that was always cubic.
#
# Two connections fill a window over a link of 100 Mbit/s, then the link becomes 200 times as fast
# and each sends 300 kB, less than the window.  The shortest of seven tries each.  Output seen:
#
#	cubic from the start: 0.37 ms until all is acknowledged
#	bbr, then cubic:      4.86 ms
#
# Seen on Linux 6.18.44.  Exits with 1 if that changes.  Needs unshare, ip, tc and python3, and a
# kernel with bbr and tbf.
set -e
if [ "${1-}" != inside ]; then
	unshare --map-root-user --net true || exit 2
	exec unshare --map-root-user --net "$0" inside
fi
unshare --net sleep 300 &
peer=$!
trap 'kill $peer' EXIT
until [ "$(readlink /proc/$peer/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do :; done
ip link add va type veth peer name vb netns $peer
ip addr add 192.0.2.1/24 dev va
ip link set va up
nsenter --net --target $peer sh -ec 'ip addr add 192.0.2.2/24 dev vb; ip link set vb up'
tc qdisc add dev va root tbf rate 100mbit burst 100k limit 400k
python3 - $peer <<'END'
import fcntl
import os
import socket
import struct
import subprocess
import sys
import time

SIOCOUTQ = 0x5411
SERVER = """
import socket
listener = socket.create_server(("192.0.2.2", 5000))
print(flush=True)
while True:
    sock, _ = listener.accept()
    while sock.recv(1 << 20):
        pass
"""


def acknowledged(sock):
    while struct.unpack("i", fcntl.ioctl(sock, SIOCOUTQ, bytes(4)))[0]:
        pass


def link(shape):
    subprocess.run(["tc", "qdisc", "change", "dev", "va", "root", "tbf", *shape.split()], check=True)


def burst_ms(first):
    with socket.socket() as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, first)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
        sock.connect(("192.0.2.2", 5000))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
        sock.sendall(bytes(6_000_000))
        acknowledged(sock)
        link("rate 20gbit burst 2m limit 8m")
        begin = time.monotonic()
        sock.sendall(bytes(300_000))
        acknowledged(sock)
        taken = time.monotonic() - begin
        link("rate 100mbit burst 100k limit 400k")
        return 1000 * taken


server = subprocess.Popen(["nsenter", "--net", "--target", sys.argv[1], sys.executable, "-c", SERVER],
                          stdout=subprocess.PIPE)
server.stdout.readline()
try:
    taken = {first: min(burst_ms(first) for _ in range(7)) for first in (b"cubic", b"bbr")}
except FileNotFoundError:
    print("this kernel has no bbr")
    os._exit(2)
finally:
    server.kill()
print(f"cubic from the start: {taken[b'cubic']:.2f} ms until all is acknowledged")
print(f"bbr, then cubic:      {taken[b'bbr']:.2f} ms")
if taken[b"bbr"] < 2 * taken[b"cubic"]:
    sys.exit("changed: a socket that leaves bbr is no longer paced")
END
