#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Linux: TcpOutSegs counts segments as they are on the wire, TcpInSegs what the stack was handed, in
# which GRO, or a sender's TSO in a virtual link, has merged dozens of segments.  Their difference
# between two hosts is not the loss.  tcpi_segs_in of a socket counts segments on the wire, too.
#
# Guess: without a loss a receiver's TcpInSegs has what the sender's TcpOutSegs has; RFC 4022
# defines both as numbers of segments.
#
# Output seen, 20 MB over a veth pair (the second number varies):
#
#	sender's TcpOutSegs 13818, receiver's TcpInSegs 322, receiver's tcpi_segs_in 13818
#
# Seen on Linux 6.18.44.  Exits with 1 if that changes.  Needs unshare, ip and python3.
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
python3 - $peer <<'END'
import socket
import struct
import subprocess
import sys

SEGS_IN = 140   # offset in struct tcp_info
SERVER = f"""
import socket, struct
listener = socket.create_server(("192.0.2.2", 5000))
print(flush=True)
sock, _ = listener.accept()
while sock.recv(1 << 20):
    pass
print(struct.unpack_from("=I", sock.getsockopt(6, socket.TCP_INFO, 232), {SEGS_IN})[0])
"""


def counter(process, name):
    with open(f"/proc/{process}/net/snmp") as file:
        names, values = (line.split() for line in file if line.startswith("Tcp:"))
    return int(values[names.index(name)])


server = subprocess.Popen(["nsenter", "--net", "--target", sys.argv[1], sys.executable, "-c", SERVER],
                          stdout=subprocess.PIPE, text=True)
server.stdout.readline()
with socket.create_connection(("192.0.2.2", 5000)) as client:
    client.sendall(bytes(20_000_000))
segs_in = int(server.communicate()[0])
sent = counter("self", "OutSegs")
received = counter(sys.argv[1], "InSegs")
print(f"sender's TcpOutSegs {sent}, receiver's TcpInSegs {received}, "
      f"receiver's tcpi_segs_in {segs_in}")
# tcpi_segs_in was up to 160 larger than the segments sent.
if received > sent / 4 or abs(segs_in - sent) > sent / 20:
    sys.exit("changed: TcpInSegs counts the segments of merged packets")
END
