#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Linux 6.18.44: tcp_syn_retries=2 is not two retransmissions of a SYN, but five.  The first four
# are a second apart (tcp_syn_linear_timeouts), and connect() ends no sooner for it.  The default
# has them after 1, 2, 3, 4, 5, 7, 11, ... seconds, where tcp(7) has 1, 3, 7, 15, ...
#
# Guess: two retransmissions, after 1 and 3 s.
#
# Output seen, with tcp_syn_retries=2:
#
#	tcp_syn_linear_timeouts=4: retransmissions after 1 2 3 4 5 s, the end after 7 s
#	tcp_syn_linear_timeouts=0: retransmissions after 1 3 s, the end after 7 s
#
# The SYNs go to a neighbour that does not exist.  Exits with 1 if that changes.  Needs unshare, ip
# and python3.
set -e
if [ "${1-}" != inside ]; then
	unshare --map-root-user --net true || exit 2
	exec unshare --map-root-user --net "$0" inside
fi
ip link add v0 type veth peer name v1
ip link set v0 up
ip link set v1 up
ip address add 10.0.0.1/24 dev v0
ip neighbour add 10.0.0.2 lladdr 02:00:00:00:00:01 dev v0
echo 2 > /proc/sys/net/ipv4/tcp_syn_retries
exec python3 - <<'END'
import select
import socket
import sys
import time

ETH_P_ALL = 3
ETH_P_IP = 0x800
LINEAR = "/proc/sys/net/ipv4/tcp_syn_linear_timeouts"

capture = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL))
capture.bind(("v0", 0))


def connect():
    """Seconds from the first SYN to each later one and to the end of connect()."""
    with open(LINEAR, encoding="ascii") as sysctl:
        linear = int(sysctl.read())
    seen = []
    with socket.socket() as client:
        client.setblocking(False)
        client.connect_ex(("10.0.0.2", 80))
        begin = time.monotonic()
        while client not in (ready := select.select([capture, client], [], [], 20)[0]):
            if not ready:
                sys.exit(2)
            if capture.recvfrom(100)[1][1] == ETH_P_IP:
                seen.append(round(time.monotonic() - begin))
        end = round(time.monotonic() - begin)
    print(f"tcp_syn_linear_timeouts={linear}: retransmissions after", *seen[1:],
          f"s, the end after {end} s", flush=True)
    return linear, seen[1:], end


default = connect()
with open(LINEAR, "w", encoding="ascii") as sysctl:
    sysctl.write("0")
if connect()[:2] != (0, [1, 3]):
    sys.exit(2)
if default[:2] != (4, [1, 2, 3, 4, 5]):
    sys.exit("changed: a SYN is sent as often as tcp_syn_retries has it")
END
