# SPDX-License-Identifier: GPL-2.0
"""What a run costs: read from its log, and whether the machine has the memory."""

import os
import unittest
from unittest import mock

from quell_lab import cost
from quell_lab.errors import InputError

LOG = ("quell-memory small never", "quell-cpu 500000000", "quell-progress 1 0 2",
       "quell-cpu 900000000", "quell-progress 7 1 2", "quell-cpu 2500000000",
       "quell-progress 9 2 2", "reboot: Power down", "quell-cost 2600000000 2048")


class Reading(unittest.TestCase):
    def read(self, lines, clock):
        with mock.patch.object(cost.time, "monotonic", side_effect=clock):
            meter = cost.Meter()
            own = [line for line in lines if meter.is_own(line) or meter.see(line)]
            return meter, own, meter.cost()

    def test_by_hand(self):
        _, own, spent = self.read(LOG, (10.0, 11.0, 12.0, 15.0, 16.5))
        self.assertEqual(spent, cost.Cost(6.5, 1.0, 4.0, 2.6, 0.5, 2.0, 2 << 20, "small (never)"))
        self.assertEqual(own, [line for line in LOG if line.startswith(("quell-cpu", "quell-co"))])
        summary = spent.summary(1000)
        self.assertEqual((summary["packet_hops_ps"], summary["packet_hops_per_cpu_s"]), (250, 500))

    def test_a_kernel_that_does_not_tell(self):
        _, _, spent = self.read(("Linux", "reboot: Power down"), (10.0, 12.0))
        self.assertEqual(spent, cost.Cost(2.0, *[None] * 7))
        self.assertIsNone(spent.summary(9)["packet_hops_per_cpu_s"])

    def test_memory_that_ran_out(self):
        for line, out in (("Out of memory and no killable processes...", True),
                          ("init: page allocation failure: order:4", True),
                          ("a packet was out of memory order", False)):
            self.assertEqual(self.read((line,), (1.0, 2.0))[0].exhausted, out, line)


class Memory(unittest.TestCase):
    def test_grows_with_hosts(self):
        self.assertEqual([cost.guest_bytes(hosts) >> 20 for hosts in (2, 256, 1024, 4096)],
                         [1024, 1024, 1792, 4864])

    def test_grows_with_flows_beyond_what_groups_have(self):
        self.assertEqual([cost.guest_bytes(2, flows) >> 20 for flows in (1, 2048, 67584)],
                         [1024, 1024, 2048])

    def test_a_part_has_its_hosts_and_a_share_of_the_rest(self):
        self.assertEqual([cost.guest_bytes(hosts, 320, parts) >> 20
                          for hosts, parts in ((160, 2), (80, 4), (20, 16))], [640, 336, 276])

    def test_hosts_without_flows_may_be_in_one_part(self):
        self.assertGreater(cost.guest_bytes(912, 128, 16), 2 * cost.touched_bytes(912))

    def test_flows_may_all_end_in_one_part(self):
        self.assertGreater(cost.guest_bytes(20, 67584, 16), 67584 * 16 << 10)

    def test_a_machine_that_has_too_little_is_told_before(self):
        with self.assertRaisesRegex(InputError, r"--jobs: 2 runs at a time of 1024 hosts take at "
                                    r"least \d+mb of memory, and this machine has 600mb "
                                    r"available: run fewer"):
            cost.check_memory(1024, 2, 600 << 20)
        cost.check_memory(1024, 1, 600 << 20)

    def test_what_the_machine_says(self):
        self.assertGreater(cost.available_bytes(), 1 << 20)
        self.assertIsNone(cost.available_bytes(os.devnull))
