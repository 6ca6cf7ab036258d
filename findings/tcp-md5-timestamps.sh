#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Linux, TCP-MD5: a socket with a key opens its connections without TCP timestamps, though
# net.ipv4.tcp_timestamps is 1; SACK and window scaling remain.  With both, 8 bytes of options would
# be left for SACK blocks, which need 12.  So a BGP session with a password has no PAWS, and no
# round trips of retransmitted segments.
#
# Guess: a key adds one option to those that the connection has without.
#
# Seen on Linux 6.18.44.  Output seen:
#
#	no key: timestamps sack wscale
#	a key:  sack wscale
#
# Exits with 1 if that changes, with 2 if the kernel has no TCP-MD5.  Needs python3.
exec python3 - <<'END'
import socket
import struct
import sys

TCP_MD5SIG = 14
NAMES = {1: "timestamps", 2: "sack", 4: "wscale"}     # of tcpi_options, the sixth byte


def set_key(sock, key=b"password"):
    address = struct.pack("=H2x4s120x", socket.AF_INET, socket.inet_aton("127.0.0.1"))
    sock.setsockopt(socket.IPPROTO_TCP, TCP_MD5SIG,
                    address + struct.pack("=BBHi80s", 0, 0, len(key), 0, key))


def options(signed):
    with socket.socket() as listener, socket.socket() as client:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        if signed:
            set_key(listener)
            set_key(client)
        client.settimeout(5)
        client.connect(listener.getsockname())
        bits = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 6)[5]
    return " ".join(name for bit, name in NAMES.items() if bits & bit)


with open("/proc/sys/net/ipv4/tcp_timestamps", encoding="ascii") as file:
    if file.read().strip() != "1":
        sys.exit(2)
plain = options(False)
try:
    signed = options(True)
except OSError as error:
    print(f"no TCP-MD5 here: {error}", file=sys.stderr)
    sys.exit(2)
print(f"no key: {plain}\na key:  {signed}")
if (plain, signed) != ("timestamps sack wscale", "sack wscale"):
    sys.exit("changed: a key leaves the other options as they are")
END
