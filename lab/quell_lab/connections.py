# SPDX-License-Identifier: GPL-2.0
"""TCP connections as the packets of a cable show them: how long they took to open and in all."""

import ipaddress
import os
import struct
from dataclasses import dataclass

from .errors import RunError
from .stats import percentile

MAGIC_NS = 0xa1b23c4d
ETHERNET_BYTES = 14
IPV4, IPV6 = 0x0800, 0x86dd
IPV6_BYTES = 40
TCP = 6
FIN, SYN, RST, ACK = 1, 2, 4, 16
COLUMNS = ("cc", "port", "src", "sport", "dst", "dport", "start_ns", "connect_ns", "took_ns",
           "sent_bytes", "received_bytes", "end")


@dataclass
class Connection:
    """One that was opened while packets were written; times count from the measurement's start."""

    src: str			# who sent the SYN
    sport: int
    dst: str
    dport: int
    start_ns: int		# of the first SYN
    connect_ns: object = None	# until the first SYN-ACK; None without
    last_ns: int = 0		# of the last packet with data, a FIN or a RST
    sent_bytes: int = 0		# payload by sequence numbers, without what was sent again
    received_bytes: int = 0
    fins: int = 0		# one bit for each end
    is_reset: bool = False

    @property
    def end(self):
        """How it ended: by both, by a reset, or not yet."""
        return "reset" if self.is_reset else "closed" if self.fins == 3 else "open"

    @property
    def took_ns(self):
        """From the first SYN to the last data, FIN or RST; None of one that is open."""
        return None if self.end == "open" else self.last_ns - self.start_ns

    def row(self):
        """As in COLUMNS, from src on."""
        return (self.src, self.sport, self.dst, self.dport, self.start_ns, self.connect_ns,
                self.took_ns, self.sent_bytes, self.received_bytes, self.end)


def packets(path):
    """(time_ns, frame) of a pcap file with times in nanoseconds; RunError."""
    try:
        with open(path, "rb") as file:
            header = file.read(24)
            if len(header) < 24 or struct.unpack("<I", header[:4])[0] != MAGIC_NS:
                raise RunError(f"{os.path.basename(path)}: not a pcap file in nanoseconds")
            while record := file.read(16):
                seconds, ns, size, _ = struct.unpack("<4I", record)
                frame = file.read(size)
                if len(frame) < size:
                    raise RunError(f"{os.path.basename(path)}: cut off")
                yield seconds * 10**9 + ns, frame
    except OSError as error:
        raise RunError(f"{os.path.basename(path)}: {error.strerror}") from None
    except struct.error:
        raise RunError(f"{os.path.basename(path)}: cut off") from None


def network(frame):
    """(source, destination, TCP segment) of a frame, or None."""
    kind = int.from_bytes(frame[12:14], "big")
    packet = frame[ETHERNET_BYTES:]
    if kind == IPV4 and packet[9] == TCP:
        size = int.from_bytes(packet[2:4], "big")
        return packet[12:16], packet[16:20], packet[(packet[0] & 15) * 4:size]
    if kind == IPV6 and packet[6] == TCP:
        size = IPV6_BYTES + int.from_bytes(packet[4:6], "big")
        return packet[8:24], packet[24:40], packet[IPV6_BYTES:size]
    return None


class _Table:
    """Connections by their ends, in the order of their SYNs."""

    def __init__(self):
        self.all = []
        self.now = {}		# (source, destination, ports) of the opener -> Connection
        self.first = {}		# the same, and whether the opener sends -> its first number

    def see(self, time_ns, src, dst, segment):
        """A segment of one of them, or of none."""
        sport, dport, seq = struct.unpack("!HHI", segment[:8])
        flags = segment[13]
        key, back = (src, dst, sport, dport), (dst, src, dport, sport)
        if flags & (SYN | ACK) == SYN:
            self._open(time_ns, key, seq)
        elif key in self.now:
            self._count(self.now[key], (key, True), (time_ns, seq, flags, segment))
        elif back in self.now:
            self._count(self.now[back], (back, False), (time_ns, seq, flags, segment))

    def _open(self, time_ns, key, seq):
        """A SYN: of a new connection, unless it is that of one that has not opened, again."""
        there = self.now.get(key)
        if there and there.connect_ns is None and self.first[key, True] == seq:
            return
        ends = [str(ipaddress.ip_address(end)) for end in key[:2]]
        self.now[key] = Connection(ends[0], key[2], ends[1], key[3], time_ns, last_ns=time_ns)
        self.first[key, True] = seq
        self.first.pop((key, False), None)
        self.all.append(self.now[key])

    def _count(self, one, direction, seen):
        time_ns, seq, flags, segment = seen
        opener = direction[1]
        if flags & SYN and not opener:
            self.first.setdefault(direction, seq)
            if one.connect_ns is None:
                one.connect_ns = time_ns - one.start_ns
        payload = len(segment) - (segment[12] >> 4) * 4
        if payload and direction in self.first:
            so_far = (seq + payload - self.first[direction] - 1) & 0xffffffff
            if opener:
                one.sent_bytes = max(one.sent_bytes, so_far)
            else:
                one.received_bytes = max(one.received_bytes, so_far)
        one.fins |= (1 if opener else 2) if flags & FIN else 0
        one.is_reset |= bool(flags & RST)
        if payload or flags & (FIN | RST):
            one.last_ns = time_ns


def read(path):
    """Connections of a pcap file."""
    table = _Table()
    for time_ns, frame in packets(path):
        found = network(frame)
        if found and len(found[2]) >= 20:
            table.see(time_ns, *found)
    return table.all


def numbers(connections):
    """What summary.json says of those of a cable."""
    opened = [one.connect_ns for one in connections if one.connect_ns is not None]
    took = [one.took_ns for one in connections if one.took_ns is not None]
    return {"connections": len(connections), "opened": len(opened), "closed": len(took),
            **{f"{name}_{key}_ns": percentile(times, percent)
               for name, times in (("connect", opened), ("took", took))
               for key, percent in (("p50", 50), ("p99", 99), ("max", 100))}}
