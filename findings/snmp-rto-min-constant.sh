#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Linux 6.18.44: RtoMin and RtoMax of /proc/net/snmp are two constants, 200 and 120000.  They
# do not follow the sysctls tcp_rto_min_us and tcp_rto_max_ms.  TCP-MIB has them as tcpRtoMin and
# tcpRtoMax, so that hosts with other timeouts appear to have these.
#
# Guess: the two fields are the limits in force in the namespace.
#
# Output seen (the timeout of the connection varies):
#
#	set: 5 and 2000 ms; a connection with a timeout of 8 ms
#	/proc/net/snmp: RtoMin 200, RtoMax 120000
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

for name, value in (("tcp_rto_min_us", "5000"), ("tcp_rto_max_ms", "2000")):
    with open(f"/proc/sys/net/ipv4/{name}", "w", encoding="ascii") as sysctl:
        sysctl.write(value)
listener = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(listener.getsockname())
# tcpi_rto is behind eight fields of a byte each
timeout_us, = struct.unpack_from("8xI", client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 12))
print(f"set: 5 and 2000 ms; a connection with a timeout of {timeout_us // 1000} ms")
if timeout_us >= 200_000:
    sys.exit(2)
with open("/proc/net/snmp", encoding="ascii") as snmp:
    names, values = (line.split() for line in snmp if line.startswith("Tcp:"))
seen = {name: int(values[names.index(name)]) for name in ("RtoMin", "RtoMax")}
print("/proc/net/snmp: " + ", ".join(f"{name} {value}" for name, value in seen.items()))
if list(seen.values()) != [200, 120000]:
    sys.exit("changed: /proc/net/snmp has other limits of the timeout")
END
