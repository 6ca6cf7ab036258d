#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Linux 6.18.44: setsockopt(SO_RCVLOWAT) of a TCP socket also raises the receive buffer, to twice
# the value, without regard to rmem_max.  A value of more than half of the largest buffer of
# tcp_rmem, or of a buffer that was set by SO_RCVBUF, is reduced to that half without an error.
#
# Guess: it is a threshold of poll() and recv() alone, and one that cannot be met is refused.
#
# Output seen, with a tcp_rmem of 33554432 and a rmem_max of 4194304:
#
#	SO_RCVLOWAT 10000000: 10000000, buffer 20000000
#	SO_RCVLOWAT 100000000: 16777216, buffer 33554432
#	SO_RCVBUF 100000, SO_RCVLOWAT 1000000: 100000, buffer 200000
#
# Exits with 1 if that changes.  Needs unshare and python3.
set -e
if [ "${1-}" != inside ]; then
	unshare --map-root-user --net true || exit 2
	exec unshare --map-root-user --net "$0" inside
fi
echo 4096 131072 33554432 > /proc/sys/net/ipv4/tcp_rmem
exec python3 - <<'END'
import socket
import sys


def lowat(low_bytes, buffer_bytes=None):
    """SO_RCVLOWAT and SO_RCVBUF, as read back after these are set."""
    label = f"SO_RCVLOWAT {low_bytes}"
    with socket.socket() as sock:
        if buffer_bytes:
            label = f"SO_RCVBUF {buffer_bytes}, {label}"
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_bytes)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, low_bytes)
        result = [sock.getsockopt(socket.SOL_SOCKET, option)
                  for option in (socket.SO_RCVLOWAT, socket.SO_RCVBUF)]
    print(f"{label}: {result[0]}, buffer {result[1]}")
    return result


seen = [lowat(10_000_000), lowat(100_000_000), lowat(1_000_000, 100_000)]
if seen != [[10_000_000, 20_000_000], [1 << 24, 1 << 25], [100_000, 200_000]]:
    sys.exit("changed: SO_RCVLOWAT leaves the receive buffer, or is not reduced to half of it")
END
