# SPDX-License-Identifier: GPL-2.0
"""The physical limit against values computed by hand and packet by packet."""

import random
import unittest
from fractions import Fraction

from quell_lab import physics
from quell_lab.physics import Link

FAST = Link(10**11, 1000)


def packet_by_packet(links, payload, mss):
    """The recursion over every packet and hop, as slow as it is plain."""
    arrivals = [Fraction(0)] * -(-payload // mss)
    sizes = [min(mss, payload - i * mss) for i in range(len(arrivals))]
    for link in links:
        free = Fraction(0)
        for i, size in enumerate(sizes):
            wire = max(size + 20 + 32 + 14 + 4, 64) + 20
            free = max(arrivals[i], free) + Fraction(wire * 8 * 10**9, link.rate_bits_ps)
            arrivals[i] = free + link.delay_ns
    return int(arrivals[-1])


class Wire(unittest.TestCase):
    def test_full_packet(self):
        self.assertEqual(physics.wire_bytes(1500), 1538)
        self.assertEqual(physics.wire_bytes(9000), 9038)

    def test_short_packet_is_padded(self):
        self.assertEqual(physics.wire_bytes(40), 84)
        self.assertEqual(physics.wire_bytes(46), 84)
        self.assertEqual(physics.wire_bytes(47), 85)


class Ideal(unittest.TestCase):
    def test_one_packet_by_hand(self):
        # 2 x (1538 B at 12.5 B/ns + 1000 ns) = 2 x 1123.04
        self.assertEqual(physics.ideal_ns((FAST, FAST), 1448, 1500), 2246)

    def test_one_byte_by_hand(self):
        # 1 + 52 + 18 + 20 = 91 B, 7.28 ns
        self.assertEqual(physics.ideal_ns((FAST, FAST), 1, 1500), 2014)

    def test_megabyte_by_hand(self):
        # 690 full packets of 123.04 ns and one of 880 + 90 B, 77.6 ns; the last
        # waits at the switch: 1123.04 + 690 x 123.04 + 77.6 + 1000 = 87098.24
        self.assertEqual(physics.ideal_ns((FAST, FAST), 1000000, 1500), 87098)

    def test_cold_adds_syn_and_its_answer(self):
        # 60 + 18 + 20 = 98 B, 7.84 ns a hop; 4 hops in all
        self.assertEqual(physics.ideal_ns((FAST, FAST), 1448, 1500, cold=True),
                         int(Fraction("2246.08") + 4 * (1000 + Fraction("7.84"))))

    def test_slow_hop_first_and_last(self):
        slow = Link(10**10, 1000)
        # 2 packets of 1230.4 ns on the slow hop, 123.04 on the fast one
        self.assertEqual(physics.ideal_ns((slow, FAST), 2896, 1500),
                         int(2 * Fraction("1230.4") + Fraction("123.04") + 2000))
        self.assertEqual(physics.ideal_ns((FAST, slow), 2896, 1500),
                         int(2 * Fraction("1230.4") + Fraction("123.04") + 2000))

    def test_equals_packet_by_packet(self):
        draw = random.Random(2)
        for _ in range(300):
            links = tuple(Link(draw.choice((10**9, 7 * 10**9, 10**10, 10**11, 4 * 10**11)),
                               draw.randrange(3000)) for _ in range(draw.randrange(1, 7)))
            mtu = draw.choice((576, 1500, 9000))
            payload = draw.randrange(1, 40 * mtu)
            with self.subTest(links=links, mtu=mtu, payload=payload):
                self.assertEqual(physics.ideal_ns(links, payload, mtu),
                                 packet_by_packet(links, payload, mtu - 52))

    def test_packet_time_is_that_of_the_slowest_rounded_up(self):
        self.assertEqual(physics.packet_time_ns([FAST, Link(10**10, 0)], 1500), 1231)
        self.assertEqual(physics.packet_time_ns([FAST], 1500), 124)
