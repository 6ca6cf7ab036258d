#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Linux, MPTCP: a socket of IPPROTO_MPTCP refuses SO_MAX_PACING_RATE ("Operation not supported") and
# TCP_USER_TIMEOUT ("Protocol not available"), also while it has no more than TCP's one path, and
# takes SO_PRIORITY, TCP_MAXSEG and TCP_CONGESTION.  A program made MPTCP's by mptcpize loses the
# first two; one that does not check setsockopt() runs unpaced.
#
# Guess: MPTCP is TCP to an application, and a pacing rate is passed on to each subflow.
#
# Seen on Linux 6.18.44.  Output seen:
#
#	SO_MAX_PACING_RATE: Operation not supported
#	TCP_USER_TIMEOUT: Protocol not available
#	SO_PRIORITY: taken
#	TCP_MAXSEG: taken
#	TCP_CONGESTION: taken
#
# Exits with 1 if that changes, with 2 if the kernel has no MPTCP.  Needs python3.
exec python3 - <<'END'
import errno
import os
import socket
import sys

SO_MAX_PACING_RATE, IPPROTO_MPTCP = 47, 262
OPTIONS = (
    ("SO_MAX_PACING_RATE", socket.SOL_SOCKET, SO_MAX_PACING_RATE, 1000000, errno.EOPNOTSUPP),
    ("TCP_USER_TIMEOUT", socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000, errno.ENOPROTOOPT),
    ("SO_PRIORITY", socket.SOL_SOCKET, socket.SO_PRIORITY, 3, 0),
    ("TCP_MAXSEG", socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1000, 0),
    ("TCP_CONGESTION", socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno", 0))

try:
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
except OSError as error:
    print(f"no MPTCP here: {error}", file=sys.stderr)
    sys.exit(2)
changed = []
for name, level, option, value, expected in OPTIONS:
    status = 0
    try:
        sock.setsockopt(level, option, value)
    except OSError as error:
        status = error.errno
    with socket.socket() as plain:
        plain.setsockopt(level, option, value)      # TCP takes each
    print(f"{name}: {os.strerror(status) if status else 'taken'}")
    if status != expected:
        changed.append(name)
if changed:
    sys.exit(f"changed: MPTCP answers otherwise to {', '.join(changed)}")
END
