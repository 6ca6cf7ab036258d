#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Linux 6.18.44: setsockopt(TCP_TX_DELAY) sets a departure time, which fq obeys.  With a qdisc that
# does not, or without one, it succeeds and no packet is delayed.  But the socket's smoothed RTT
# rises at once as on a longer path, and its timeout with it.  Both go down again with each sample.
#
# Guess: as with pacing, TCP itself holds the packets back where the qdisc is another.
#
# Output seen, over lo, which has no qdisc, of a byte that the peer receives (times vary):
#
#	before: received after 0.1 ms, RTT 0.0 ms, timeout 204 ms
#	TCP_TX_DELAY 50 ms: received after 0.1 ms, RTT 43.8 ms, timeout 244 ms
#
# Exits with 1 if that changes.  Needs unshare, ip and python3.
set -e
if [ "${1-}" != inside ]; then
	unshare --map-root-user --net true || exit 2
	exec unshare --map-root-user --net "$0" inside
fi
ip link set lo up
exec python3 - <<'END'
import socket
import struct
import sys
import time

TCP_TX_DELAY = 37
RTO_US, RTT_US = 8, 68      # offsets in struct tcp_info

listener = socket.create_server(("127.0.0.1", 0))
client = socket.socket()
client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
client.connect(listener.getsockname())
server, _ = listener.accept()


def send(label):
    """The time until the peer has a byte, and the state of the sender, in ms."""
    start = time.monotonic()
    client.send(b"x")
    server.recv(1)
    received_ms = (time.monotonic() - start) * 1e3
    time.sleep(0.1)         # until a delayed ACK is received
    info = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    rto_ms, rtt_ms = (struct.unpack_from("=I", info, at)[0] / 1e3 for at in (RTO_US, RTT_US))
    print(f"{label}: received after {received_ms:.1f} ms, RTT {rtt_ms:.1f} ms,",
          f"timeout {rto_ms:.0f} ms")
    return received_ms, rtt_ms


send("before")
client.setsockopt(socket.IPPROTO_TCP, TCP_TX_DELAY, 50_000)
received_ms, rtt_ms = send("TCP_TX_DELAY 50 ms")
if received_ms > 40 or rtt_ms < 20:
    sys.exit("changed: TCP_TX_DELAY delays packets without fq, or leaves the RTT alone")
END
