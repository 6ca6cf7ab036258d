#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# qemu-user 7.2 (Debian 12): an option of IPPROTO_TCP is an int to the emulator, of any length.  A
# program under it sets TCP_CONGESTION to "reno", of four letters, but "cubic" becomes "cubi", which
# no module has.  The name read back has four bytes, and of TCP_INFO they are the first four: the
# RTT and all other fields are missing.
#
# Guess: the emulator passes the bytes of a socket option that it does not convert.
#
# Output seen, with and without "qemu-x86_64":
#
#	native: cubic as cubic, reno as reno, 104 bytes of TCP_INFO
#	emulated: cubic refused (No such file or directory), reno as reno, 4 bytes of TCP_INFO
#
# The libraries of qemu-user and the emulated Python are those of the machine.  Exits with 2 if it
# is no x86-64, or the kernel does not allow cubic and reno.
set -euo pipefail
version=1:7.2+dfsg-7+deb12u18+b3

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -q -o APT::Sandbox::User=root download "qemu-user=$version" > /dev/null
dpkg-deb -x qemu-user_*.deb root

cat > try.py <<'END'
import os
import socket

sock = socket.socket()
seen = []
for name in (b"cubic", b"reno"):
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name)
        value = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
        seen.append(f"{name.decode()} as {value.rstrip(bytes(1)).decode()}")
    except OSError as error:
        seen.append(f"{name.decode()} refused ({os.strerror(error.errno)})")
size = len(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104))
print(f"{', '.join(seen)}, {size} bytes of TCP_INFO")
END
python=$(python3 -c 'import sys; print(sys.executable)')
native=$("$python" try.py)
echo "native: $native"
[ "$native" = "cubic as cubic, reno as reno, 104 bytes of TCP_INFO" ] || exit 2
[ "$(uname -m)" = x86_64 ] || exit 2
emulated=$(root/usr/bin/qemu-x86_64 "$python" try.py)
echo "emulated: $emulated"
[[ "$emulated" = "cubic refused"*", reno as reno, 4 bytes of TCP_INFO" ]] || {
	echo "changed: qemu-user no longer cuts TCP's socket options to an int"
	exit 1
}
