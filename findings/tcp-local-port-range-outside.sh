#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Linux 6.18.44: setsockopt(IP_LOCAL_PORT_RANGE) narrows the range of the sysctl
# ip_local_port_range, and each bound applies only if it is within that.  A range outside of it is
# accepted, and read back, but ports are of the whole range of the sysctl; of one that is partly
# inside only one bound applies.
#
# Guess: the socket's range is used as set, or one outside of the sysctl's is refused.
#
# Output seen, with a sysctl of 32768 to 60999, of 200 sockets each (ports vary):
#
#	20000 to 20010: read back, ports 32891 to 60763
#	20000 to 33000: read back, ports 32768 to 33000
#	40000 to 40400: read back, ports 40000 to 40400
#
# Exits with 1 if that changes.  Needs unshare and python3.
set -e
if [ "${1-}" != inside ]; then
	unshare --map-root-user --net true || exit 2
	exec unshare --map-root-user --net "$0" inside
fi
echo 32768 60999 > /proc/sys/net/ipv4/ip_local_port_range
exec python3 - <<'END'
import socket
import struct
import sys

IP_LOCAL_PORT_RANGE = 51    # Linux 6.3 and later


def ports(low, high):
    """The least and the largest port of sockets with this range of ports."""
    seen = []
    value = struct.pack("=I", low | high << 16)
    for _ in range(200):
        with socket.socket() as sock:
            try:
                sock.setsockopt(socket.IPPROTO_IP, IP_LOCAL_PORT_RANGE, value)
            except OSError as error:
                print(f"this kernel has no such option: {error}", file=sys.stderr)
                sys.exit(2)
            if sock.getsockopt(socket.IPPROTO_IP, IP_LOCAL_PORT_RANGE, 4) != value:
                sys.exit("changed: a range of ports is not read back as set")
            sock.bind(("0.0.0.0", 0))
            seen.append(sock.getsockname()[1])
    print(f"{low} to {high}: read back, ports {min(seen)} to {max(seen)}")
    return min(seen), max(seen)


outside, partly, inside = ports(20000, 20010), ports(20000, 33000), ports(40000, 40400)
if not 40000 <= inside[0] <= inside[1] <= 40400:
    sys.exit(2)
if outside[1] < 40000 or partly[0] < 32768 or partly[1] > 33000:
    sys.exit("changed: a range of ports outside of the sysctl's is obeyed")
END
