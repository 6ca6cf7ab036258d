#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Linux 6.18.44: tcp_retries2 is a time, that of so many retransmissions after a first timeout of
# 200 ms.  tcp_retries2=3 is 0.2 + 0.4 + 0.8 + 1.6 = 3 s, and a connection fails at its first
# timeout after that.  With a tcp_rto_min_us of 5000, as in a datacenter, it is not 75 ms: 8
# retransmissions fit.
#
# Guess: the connection fails after three retransmissions, so sooner by the factor of the timeouts.
#
# Output seen, with tcp_retries2=3 and a receiver that drops the data (varies; with a tail loss
# probe each):
#
#	tcp_rto_min_us 200000: 6.7 s until the error, 5 retransmissions
#	tcp_rto_min_us 5000: 3.2 s until the error, 8 retransmissions
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


def sysctl(name, value):
    with open(f"/proc/sys/net/ipv4/{name}", "w", encoding="ascii") as file:
        file.write(str(value))


def send_into_void(rto_min_us):
    """The time until a connection without ACKs fails, and its retransmissions."""
    sysctl("tcp_rto_min_us", rto_min_us)
    listener = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(listener.getsockname())
    server, _ = listener.accept()
    drop = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))     # BPF_RET of 0 bytes
    server.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER,
                      struct.pack("HxxxxxxQ", 1, ctypes.addressof(drop)))
    client.send(bytes(100))
    start = time.monotonic()
    client.settimeout(60)
    try:
        client.recv(1)
        sys.exit(2)
    except TimeoutError:
        elapsed = time.monotonic() - start
    info = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    retransmitted, = struct.unpack_from("100xI", info)
    print(f"tcp_rto_min_us {rto_min_us}: {elapsed:.1f} s until the error,",
          f"{retransmitted} retransmissions")
    return elapsed, retransmitted


sysctl("tcp_retries2", 3)
slow, fast = send_into_void(200_000), send_into_void(5000)
if slow[1] > 5:
    sys.exit(2)
if fast[0] < 2 or fast[1] < 7:
    sys.exit("changed: tcp_retries2 is a number of retransmissions")
END
