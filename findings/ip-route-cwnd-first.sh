#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Linux 6.18.44: the metrics cwnd and ssthresh of a route do not apply to the first connection to an
# address.  TCP reads them from its cache of metrics, and an address has an entry there only after a
# connection to it closed.  With tcp_no_metrics_save=1, a common setting, no connection has them.
# ssthresh needs tcp_no_ssthresh_metrics_save=0 beside that; it is 1 in a new namespace.
#
# Guess: they apply to each connection over the route, as initcwnd, mtu and rto_min do; ip-route(8)
# names no other condition than "lock".
#
# Output seen, with "cwnd lock 4 ssthresh lock 100", after 1 MB over lo with reno (75
# varies):
#
#	10.9.0.1: cwnd 75, ssthresh not set
#	10.9.0.1, the next connection: cwnd 4, ssthresh not set
#	10.9.0.2, tcp_no_metrics_save=1: cwnd 75, ssthresh not set
#	10.9.0.2, the next connection: cwnd 75, ssthresh not set
#
# Exits with 1 if that changes.  Needs unshare, ip and python3.
set -e
if [ "${1-}" != inside ]; then
	unshare --map-root-user --net true || exit 2
	exec unshare --map-root-user --net "$0" inside
fi
ip link set lo mtu 1500 up
ip route add local 10.9.0.0/24 dev lo cwnd lock 4 ssthresh lock 100
exec python3 - <<'END'
import socket
import struct
import sys

LENGTH = 1_000_000
INFINITE_SSTHRESH = 0x7fffffff


def connection(label, address):
    """The congestion window and the threshold after 1 MB."""
    listener = socket.create_server((address, 0))
    client = socket.socket()
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
    client.connect(listener.getsockname())
    server, _ = listener.accept()
    left = LENGTH
    while left:
        client.sendall(bytes(min(left, 50_000)))
        part = min(left, 50_000)
        left -= part
        while part:
            part -= len(server.recv(part))
    info = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    ssthresh, cwnd = struct.unpack_from("76xII", info)
    print(f"{label}: cwnd {cwnd}, ssthresh",
          "not set" if ssthresh == INFINITE_SSTHRESH else ssthresh)
    client.close()
    server.recv(1)
    return cwnd, ssthresh


first = connection("10.9.0.1", "10.9.0.1")
second = connection("10.9.0.1, the next connection", "10.9.0.1")
with open("/proc/sys/net/ipv4/tcp_no_metrics_save", "w", encoding="ascii") as sysctl:
    sysctl.write("1")
unsaved = [connection("10.9.0.2, tcp_no_metrics_save=1", "10.9.0.2"),
           connection("10.9.0.2, the next connection", "10.9.0.2")]
if second[0] != 4:
    sys.exit(2)
if min(first[0], unsaved[0][0], unsaved[1][0]) < 10 or second[1] != INFINITE_SSTHRESH:
    sys.exit("changed: cwnd or ssthresh of a route applies to each connection")
END
