# SPDX-License-Identifier: GPL-2.0
"""Rounds of a sender from its packets: marks, the smallest round trip, and how they correlate."""

import os
import struct
import tempfile
import types
import unittest

from quell_lab import connections, rounds, stats

HOST, PEER = b"\x0a\x00\x00\x01", b"\x0a\x00\x00\x02"
START = 0xfffffff0		# of the sequence numbers: they pass 2^32


def frame(src, dst, seq, ack, payload, flags=16):
    """An IPv4 frame of TCP from port 1 to 2, or back."""
    ports = (1, 2) if src == HOST else (2, 1)
    segment = struct.pack("!HHIIBBHHH", *ports, seq % (1 << 32), ack % (1 << 32), 5 << 4, flags, 0,
                          0, 0) + bytes(payload)
    packet = struct.pack("!BBHIBBH", 0x45, 0, 20 + len(segment), 0, 64, 6, 0) + src + dst + segment
    return bytes(12) + b"\x08\x00" + packet


def data(number, size=100):
    return frame(HOST, PEER, START + number, 5, size)


def ack(number, has_ece=False):
    return frame(PEER, HOST, 5, START + number, 0, 16 | (64 if has_ece else 0))


class Read(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def read(self, *seen):
        path = os.path.join(self.directory.name, "h1.pcap")
        with open(path, "wb") as file:
            file.write(struct.pack("<IHHiIII", connections.MAGIC_NS, 2, 4, 0, 0, 65535, 1))
            for time_ns, packet in seen:
                file.write(struct.pack("<4I", 0, time_ns, len(packet), len(packet)) + packet)
        return [(one.end_ns, one.marked, one.min_rtt_ns) for one in rounds.read(path)]

    def test_rounds_end_when_the_newest_byte_is_acknowledged(self):
        # the first ACK ends a round of its packet; the next one is 100 to 300, of which half
        # come back marked
        self.assertEqual(self.read(
            (10, data(0)), (20, data(100)), (30, data(200)), (110, ack(100)),
            (115, data(300)), (140, ack(200, True)), (150, ack(300)), (190, ack(400))),
                         [(110, 0.0, 100), (150, 0.5, 120), (190, 0.0, 75)])

    def test_a_packet_that_was_sent_again_has_no_round_trip(self):
        self.assertEqual(self.read((10, data(0)), (50, data(0)), (60, ack(100)),
                                   (70, data(100)), (90, ack(200, True))), [(90, 1.0, 20)])

    def test_an_ack_between_packets_has_none_either(self):
        self.assertEqual(self.read((10, data(0)), (60, ack(50))), [])

    def test_what_is_acknowledged_twice_counts_once(self):
        self.assertEqual(self.read((10, data(0)), (60, ack(100, True)), (61, ack(100, True))),
                         [(60, 1.0, 50)])

    def test_an_old_ack_changes_nothing(self):
        self.assertEqual(self.read((10, data(0)), (20, data(100)), (30, data(200)),
                                   (110, ack(200)), (111, ack(100, True)), (130, ack(300))),
                         [(110, 0.0, 90), (130, 0.0, 100)])


class Correlation(unittest.TestCase):
    def of(self, *pairs):
        return stats.correlation(pairs)

    def test_of_what_rises_together(self):
        self.assertEqual(self.of((0, 10), (0.5, 20), (1, 30)), 1)
        self.assertEqual(self.of((1, 10), (0.5, 20), (0, 30)), -1)

    def test_of_what_does_not(self):
        self.assertEqual(self.of((0, 10), (0, 30), (1, 10), (1, 30)), 0)
        self.assertIsNone(self.of((1, 10), (1, 20)))
        self.assertIsNone(self.of())

    def test_of_a_window(self):
        window = types.SimpleNamespace(begin_ns=10, end_ns=20)
        inside = rounds.Round(10, 0, 1)
        self.assertEqual(rounds.in_window({"h1:eth0": [rounds.Round(9, 0, 1), inside],
                                           "h2:eth0": [rounds.Round(20, 0, 1)]}, window), [inside])
