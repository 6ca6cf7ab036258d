# SPDX-License-Identifier: GPL-2.0
"""Targets below the idle round trip are said."""

import unittest

import helpers
from quell_lab import targets


def notes(**algorithm):
    """Of a star of 100 Gbit/s, cables of 1 us: 2 cables there, 2 back."""
    return list(targets.notes(helpers.build(algorithm=[algorithm])))


class Targets(unittest.TestCase):
    def test_idle_round_trip(self):
        wanted = helpers.build()
        flow = wanted.flows[0]
        # 4 cables of 1 us; 1538 and 90 bytes of wire time on two of them each, 0.08 ns a byte.
        self.assertEqual(targets.idle_rtt_ns(wanted, flow),
                         4000 + 2 * (1538 + 90) * 8 // 100)

    def test_a_target_below_it(self):
        said, = notes(name="swift", set={"base-target": "2us", "hop-scale": "1us"})
        self.assertIn("2 of 2 flows", said)
        self.assertIn("3us", said)

    def test_targets_that_are_met(self):
        self.assertEqual(notes(name="swift", set={"base-target": "5us"}), [])
        self.assertEqual(notes(name="swift", set={"adapt": "on"}), [])
        self.assertEqual(notes(name="cubic"), [])

    def test_the_preset_that_nobody_named(self):
        variant, = helpers.build(algorithm=[{"name": "swift"}]).variants
        self.assertEqual((variant.preset, variant.of_paper), (None, "vaisf-iii-d"))
        variant, = helpers.build(algorithm=[{"name": "swift", "set": {"adapt": "on"}}]).variants
        self.assertEqual(variant.of_paper, None)
