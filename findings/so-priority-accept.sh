#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Linux 6.18.44: an accepted socket has SO_PRIORITY 0, for any priority of its listener, though it
# has the listener's IP_TOS and SO_MARK.  The priority that IP_TOS derives is 0, too.  A qdisc that
# classifies by priority (prio, mqprio, fq's bands) has both directions of one flow in different
# bands, with one DSCP on the wire.  To set the same IP_TOS again does not help: it is no change.
#
# Guess: socket options of a listener are inherited; a server that sets priority and TOS has both.
#
# Output seen:
#
#	listener: SO_PRIORITY 5, IP_TOS 0x10, SO_MARK 77
#	accepted: SO_PRIORITY 0, IP_TOS 0x10, SO_MARK 77
#	accepted, then the same IP_TOS set: SO_PRIORITY 0, IP_TOS 0x10, SO_MARK 77
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

OPTIONS = {"SO_PRIORITY": (socket.SOL_SOCKET, socket.SO_PRIORITY),
           "IP_TOS": (socket.IPPROTO_IP, socket.IP_TOS),
           "SO_MARK": (socket.SOL_SOCKET, socket.SO_MARK)}
TOS, PRIORITY, MARK = 0x10, 5, 77


def show(label, sock):
    """Print the three options, and return them."""
    priority, tos, mark = (sock.getsockopt(*option) for option in OPTIONS.values())
    print(f"{label}: SO_PRIORITY {priority}, IP_TOS {tos:#x}, SO_MARK {mark}")
    return priority, tos, mark


listener = socket.create_server(("127.0.0.1", 0))
for name, value in (("IP_TOS", TOS), ("SO_PRIORITY", PRIORITY), ("SO_MARK", MARK)):
    listener.setsockopt(*OPTIONS[name], value)
if show("listener", listener) != (PRIORITY, TOS, MARK):
    sys.exit(2)
client = socket.create_connection(listener.getsockname())
server, _ = listener.accept()
accepted = show("accepted", server)
server.setsockopt(*OPTIONS["IP_TOS"], TOS)
again = show("accepted, then the same IP_TOS set", server)
if not accepted == again == (0, TOS, MARK):
    sys.exit("changed: an accepted socket has another priority, TOS or mark")
END
