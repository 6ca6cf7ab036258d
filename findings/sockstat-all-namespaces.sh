#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Linux, /proc/net/sockstat: on the line of TCP, "inuse" and "tw" are of the network namespace of
# the reader, and "alloc" and "mem" beside them are of all namespaces.  A new namespace, which has
# no socket, shows the sockets that another one has allocated, and so does "TCP:" of "ss -s".
#
# Guess: /proc/net is a view of one namespace, and so is each number of a line in it.
#
# Seen on Linux 6.18.44 and 6.1.176.  Output seen, with 500 unconnected TCP sockets in a namespace
# and one reader in another (the rest of "alloc" are sockets of the machine):
#
#	before: inuse 0, alloc 2
#	500 sockets elsewhere: inuse 0, alloc 502
#
# Exits with 1 if that changes.  Needs unshare and python3.
exec python3 - <<'END'
import re
import subprocess
import sys

SPACE = ["unshare", "--map-root-user", "--net"]
HOLD = """
import socket, sys
held = [socket.socket() for _ in range(500)]
print("ready", flush=True)
sys.stdin.read()
"""


def show(when):
    text = subprocess.run(SPACE + ["cat", "/proc/net/sockstat"], capture_output=True, text=True,
                          check=True).stdout
    inuse, alloc = map(int, re.search(r"TCP: inuse (\d+) .*alloc (\d+)", text).groups())
    print(f"{when}: inuse {inuse}, alloc {alloc}")
    return inuse, alloc


before = show("before")
with subprocess.Popen(SPACE + ["python3", "-c", HOLD], stdin=subprocess.PIPE,
                      stdout=subprocess.PIPE) as holder:
    holder.stdout.readline()
    after = show("500 sockets elsewhere")
    holder.stdin.close()
# Other programs of the machine have sockets too.
if before[0] or after[0] or after[1] - before[1] < 400:
    sys.exit("changed: alloc of /proc/net/sockstat no longer counts other namespaces")
END
