# SPDX-License-Identifier: GPL-2.0
"""The ideal of incast-table against the lab's own physical limit and by hand."""

import importlib.machinery
import importlib.util
import os
import subprocess
import unittest
from fractions import Fraction

from quell_lab import runner
from quell_lab.physics import Link, ideal_ns

PATH = os.path.join(runner.HERE, "incast-table")
LOADER = importlib.machinery.SourceFileLoader("incast_table", PATH)
SPEC = importlib.util.spec_from_loader("incast_table", LOADER)
TABLE = importlib.util.module_from_spec(SPEC)
LOADER.exec_module(TABLE)


class Ideal(unittest.TestCase):
    def test_lone_flow_is_the_physical_limit(self):
        for size in (1, 4107, 4108, 4109, 131072, 1048576):
            for rate in (10**11, 8 * 10**11):
                with self.subTest(size=size, rate=rate):
                    links = (Link(rate, 2900), Link(rate, 2900))
                    self.assertEqual(int(TABLE.ideal_ns(1, size, rate)),
                                     ideal_ns(links, size, 4160))

    def test_by_hand(self):
        # 4108 bytes of payload are 4198 on the wire, 335.84 ns at 100 Gbit/s
        packet = Fraction(4198 * 8, 100)
        self.assertEqual(TABLE.ideal_ns(8, 4108, 10**11), 9 * packet + 5800)
        # two packets each; the second of one byte, 53 and the frame around it
        rest = Fraction((53 + 38) * 8, 100)
        self.assertEqual(TABLE.ideal_ns(3, 4109, 10**11), 4 * packet + 3 * rest + 5800)

    def test_comparators_of_the_laboratory(self):
        self.assertEqual(TABLE.algorithm("eqds", "800gbit", True),
                         '[[algorithm]]\nname = "smartt"\nlabel = "eqds"\nvariant = "open"\n'
                         'credit = "1200000b"\n[algorithm.set]\n')
        self.assertIn('name = "smartt"\nlabel = "mprdma"\nvariant = "mprdma"\n[algorithm.set]',
                      TABLE.algorithm("mprdma", "100gbit", True))
        self.assertIn('name = "dcqcn"\nlabel = "roce"\n',
                      TABLE.algorithm("roce", "100gbit", False))
        self.assertIn('name = "timely"\nlabel = "pfc"\n[algorithm.set]\nt-low = "1s"\n',
                      TABLE.algorithm("pfc", "100gbit", False))

    def test_what_is_refused(self):
        for words, told in ((("--cc", "roce"), "--cc roce goes with --pfc alone"),
                            (("--cc", "smartt,pfc", "--pfc"), "--pfc goes with"),
                            (("--cc", "pfc", "--pfc", "--buffer", "2"), "--buffer without --pfc"),
                            (("--cc", "pfc", "--pfc", "--trim", "128b"), "not allowed with"),
                            (("--cc", "nscc", "--rates", "400gbit"), "has values for")):
            with self.subTest(told):
                run = subprocess.run([PATH, "none", *words], capture_output=True, text=True,
                                     check=False)
                self.assertEqual(run.returncode, 2)
                self.assertIn(told, run.stderr)
