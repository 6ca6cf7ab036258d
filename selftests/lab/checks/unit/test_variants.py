# SPDX-License-Identifier: GPL-2.0
"""Comparators of papers that are in the laboratory alone: names, parameters, what is refused."""

import os
import re
import unittest

from quell_lab import plan, runner, units
from quell_lab.algorithms import VARIANTS
from quell_lab.errors import InputError

import helpers

MODULES = os.path.join(runner.HERE, "modules")


def defined(header, prefix):
    """{name without the prefix: number} of a header's constants."""
    with open(os.path.join(MODULES, header), encoding="ascii") as file:
        found = re.findall(rf"^#define {prefix}(\w+)\s+(\d+)ULL\b", file.read(), re.M)
    return {name: int(number) for name, number in found}


class Fast(unittest.TestCase):
    """FAST* in place of TIMELY."""

    def test_it_is_a_variant_with_parameters_of_its_own(self):
        wanted = helpers.build(algorithm=[
            {"name": "timely", "variant": "fast",
             "set": {"fast-alpha": "100mbit", "delta": "1mbit"}},
            {"name": "timely"}])
        fast, timely = (plan.write(wanted, one).splitlines() for one in wanted.variants)
        self.assertEqual(wanted.variants[0].label,
                         "timely:variant=fast:fast-alpha=100mbit:delta=1mbit")
        self.assertEqual([line for line in fast if line.startswith("module ")][-2:],
                         ["module quell.ko", "module quell_labfast.ko"])
        self.assertIn("param h1 timely fast-alpha 12500000", fast)
        self.assertIn("param h1 timely delta 125000", fast)
        self.assertIn("module tcp_timely.ko", timely)

    def test_what_is_refused(self):
        fast = {"name": "timely", "variant": "fast"}
        for one, words in (
                ({**fast, "name": "swift"}, "swift has no variant 'fast': timely has"),
                ({**fast, "variant": "plb"}, "timely has no variant 'plb': smartt has"),
                ({**fast, "variant": "fats"}, "'fats'.*fast"),
                ({"name": "timely", "set": {"fast-alpha": "1mbit"}},
                 "timely has no parameter 'fast-alpha'"),
                ({**fast, "set": {"fast-gamma": "1.5"}}, "fast-gamma: '1.5' is out of range"),
                ({**fast, "set": {"fast-alpha": "1tbit"}}, "'1tbit' is out of range: .*100gbit"),
                ({**fast, "set": {"fast-base": "2s"}}, "fast-base: '2s' is out of range: .*1s")):
            with self.subTest(words), self.assertRaisesRegex(InputError, words):
                helpers.build(algorithm=[one])

    def test_its_parameters_are_those_of_the_header(self):
        said = defined("timely_fast.h", "QUELL_TIMELY_FAST_")
        known = VARIANTS["fast"][1].parameters
        for key, name in (("fast-alpha", "ALPHA_BYTES_PS"), ("fast-gamma", "GAMMA_Q16"),
                          ("fast-base", "BASE_NS")):
            self.assertEqual([said[f"{name}_{end}"] for end in ("MIN", "MAX", "DEFAULT")],
                             [known[key].low, known[key].high, known[key].default], key)
        self.assertEqual(known["fast-alpha"].default, units.parse_byte_rate("50mbit"))

    def test_a_variant_s_core_is_not_recorded(self):
        for name, variant in (("timely", "fast"), ("smartt", "plb")):
            with self.assertRaisesRegex(InputError, f"record.core: '{name}:variant={variant}' is"):
                helpers.build(record={"core": True},
                              algorithm=[{"name": name, "variant": variant}])


if __name__ == "__main__":
    unittest.main()
