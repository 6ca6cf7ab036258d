#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Linux 6.18.44: with tcp_abort_on_overflow=1 a connection for which a listener has no place is not
# refused: its SYN is dropped, as with 0, and connect() goes on until its timeout.  The sysctl
# concerns only connections whose SYN found a place and whose ACK finds none.  The queue has one
# place more than the argument of listen().
#
# Guess: listen(4) takes four connections, and the next connect() is refused at once.
#
# Output seen, of seven times connect() with a timeout of a second, after listen(4):
#
#	tcp_abort_on_overflow=0: 5 connected, 2 timed out, 0 refused
#	tcp_abort_on_overflow=1: 5 connected, 2 timed out, 0 refused
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
import sys

seen = []
for abort in 0, 1:
    with open("/proc/sys/net/ipv4/tcp_abort_on_overflow", "w", encoding="ascii") as sysctl:
        sysctl.write(str(abort))
    listener = socket.create_server(("127.0.0.1", 0), backlog=4)
    clients = []
    count = {"connected": 0, "timed out": 0, "refused": 0}
    for _ in range(7):
        clients.append(socket.socket())
        clients[-1].settimeout(1)
        try:
            clients[-1].connect(listener.getsockname())
            count["connected"] += 1
        except TimeoutError:
            count["timed out"] += 1
        except (ConnectionRefusedError, ConnectionResetError):
            count["refused"] += 1
    seen.append(tuple(count.values()))
    print(f"tcp_abort_on_overflow={abort}: "
          + ", ".join(f"{number} {end}" for end, number in count.items()), flush=True)
if seen[0] != (5, 2, 0):
    sys.exit(2)
if seen[1] != (5, 2, 0):
    sys.exit("changed: tcp_abort_on_overflow refuses a connection for which there is no place")
END
