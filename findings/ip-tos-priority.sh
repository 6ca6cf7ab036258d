#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Linux: setsockopt(IP_TOS) also sets the priority of the socket (SO_PRIORITY), from a table of the
# old TOS bits, and so overwrites one set before; setsockopt(IPV6_TCLASS) of the same value leaves
# the priority alone.  What selects a band by priority (pfifo_fast, prio, mqprio) thus sends DSCP
# 18 of an IPv4 socket in another band than DSCP 18 of an IPv6 socket.
#
# Guess: the two options are one option of two families, and neither changes SO_PRIORITY.
#
# Seen on Linux 6.18.44 and 6.1.176.  Output seen, after SO_PRIORITY 3:
#
#	IP_TOS 0x10: priority 6
#	IP_TOS 0x48: priority 2
#	IP_TOS 0xb8: priority 4
#	IPV6_TCLASS 0x10: priority 3
#	IPV6_TCLASS 0x48: priority 3
#	IPV6_TCLASS 0xb8: priority 3
#
# Exits with 1 if that changes.  Needs python3.
exec python3 - <<'END'
import socket
import sys

seen = []
for family, level, option, name in (
        (socket.AF_INET, socket.IPPROTO_IP, socket.IP_TOS, "IP_TOS"),
        (socket.AF_INET6, socket.IPPROTO_IPV6, socket.IPV6_TCLASS, "IPV6_TCLASS")):
    for tos in (0x10, 0x48, 0xb8):
        with socket.socket(family) as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, 3)
            sock.setsockopt(level, option, tos)
            seen.append(sock.getsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY))
        print(f"{name} {tos:#04x}: priority {seen[-1]}")
if seen != [6, 2, 4, 3, 3, 3]:
    sys.exit("changed: IP_TOS and IPV6_TCLASS no longer differ so in SO_PRIORITY")
END
