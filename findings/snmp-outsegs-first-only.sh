#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Linux 6.18.44: OutSegs of /proc/net/snmp does not count retransmissions, as RFC 1213 has it.
# tcpi_segs_out of TCP_INFO, "segs_out" of ss, counts them.  A loss rate of RetransSegs / OutSegs
# is above the share of the segments on the wire, and exceeds 100% where a path is broken.
#
# Guess: OutSegs has all segments that were sent, and RetransSegs a part of them.
#
# Output seen, of one segment that the receiver drops each time (the number varies):
#
#	TCP_INFO: segs_out 9, total_retrans 8
#	/proc/net/snmp: OutSegs 1, RetransSegs 8
#
# Exits with 1 if that changes.  Needs unshare, ip and python3.
set -e
if [ "${1-}" != inside ]; then
	unshare --map-root-user --net true || exit 2
	exec unshare --map-root-user --net "$0" inside
fi
ip link set lo up
exec python3 - <<'END'
import ctypes
import socket
import struct
import sys
import time

SO_ATTACH_FILTER = 26
RETRANSMISSIONS = 8


def sent():
    """Segments and retransmissions, of the connection and of the namespace."""
    info = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 144)
    retransmitted, segments = struct.unpack_from("100xI32xI", info)
    with open("/proc/net/snmp", encoding="ascii") as snmp:
        names, values = (line.split() for line in snmp if line.startswith("Tcp:"))
    return [segments, retransmitted] + [int(values[names.index(name)])
                                        for name in ("OutSegs", "RetransSegs")]


with open("/proc/sys/net/ipv4/tcp_rto_min_us", "w", encoding="ascii") as sysctl:
    sysctl.write("5000")
listener = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(listener.getsockname())
server, _ = listener.accept()
drop = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))     # BPF_RET of 0 bytes
server.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER,
                  struct.pack("HxxxxxxQ", 1, ctypes.addressof(drop)))
before = sent()
client.send(bytes(100))
deadline = time.monotonic() + 60
while True:
    segments, retransmitted, out, again = (new - old for new, old in zip(sent(), before))
    if retransmitted >= RETRANSMISSIONS and retransmitted == again:
        break
    if time.monotonic() > deadline:
        sys.exit(2)
    time.sleep(0.01)
print(f"TCP_INFO: segs_out {segments}, total_retrans {retransmitted}")
print(f"/proc/net/snmp: OutSegs {out}, RetransSegs {again}")
if segments != 1 + retransmitted:
    sys.exit(2)
if out != 1:
    sys.exit("changed: OutSegs counts retransmissions")
END
