#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Transfers by connections of their own, and the times until their reply of one byte.

usage: buffers.py		receive
       buffers.py HOST		send
"""

import itertools
import socket
import sys
import time

SIZES_BYTES = (100_000, 1_000_000, 10_000_000, 40_000_000)
PORT = 8400
READ_BYTES = 65536


def receive():
    """Read each transfer to its end, and reply, until a signal."""
    with socket.create_server(("", PORT)) as listener:
        for size_bytes in itertools.cycle(SIZES_BYTES):
            connection, _ = listener.accept()
            with connection:
                while size_bytes:
                    size_bytes -= len(connection.recv(min(size_bytes, READ_BYTES)))
                connection.sendall(b"x")


def send(host):
    """Print bytes and us of each transfer."""
    data = memoryview(bytes(max(SIZES_BYTES)))
    for size_bytes in SIZES_BYTES:
        with socket.create_connection((host, PORT)) as connection:
            begin_ns = time.monotonic_ns()
            connection.sendall(data[:size_bytes])
            connection.recv(1)
            print(size_bytes, (time.monotonic_ns() - begin_ns) // 1000)


if len(sys.argv) > 1:
    send(sys.argv[1])
else:
    receive()
