# SPDX-License-Identifier: GPL-2.0
"""
The table of presets: every value in range, no two presets alike, the first of
each algorithm its defaults, and the page about those of papers word for word; then what a
preset does to a run.
"""

import os
import re
import unittest
from unittest import mock

from quell_lab import cores as listed
from quell_lab import incast, options, plan, presets, runner, scenario
from quell_lab.algorithms import ALGORITHMS, find, make_variant
from quell_lab.cores import cores
from quell_lab.errors import InputError

import helpers

PAGE = os.path.join(runner.ROOT, "Documentation", "presets.md")
ROW = re.compile(r"^\| `([a-z0-9-]+)` \| ([^|]+) \| `([^`]+)` \|$", re.MULTILINE)
NETWORK = re.compile(r"^\| `([a-z0-9-]+)` \| [0-9]+ Gbit/s \| [0-9]+ us \|$", re.MULTILINE)

# Swift's target where it does not follow the path; section III.D of the VAI and SF paper
SWIFT_TARGET_NS = 5000
DART_IDLE_NS = 2 * 10**9

# From the papers' own words, so that the notation of the table is read right.
KNOWN = (
    ("smartt", "nscc", {"target-delay": 12000, "fi": 5 << 16, "pi-fair": 0, "md-queueing": 1,
                        "eta": 9830, "fast": 16384, "qa-low": 8192, "batch": 8}),
    ("smartt", "nscc-trim", {"target-delay": 9000, "pi": 3 << 16}),
    ("timely", "fig15-64kb", {"segment": 65536, "t-low": 300000, "delta": 1250000}),
    ("timely", "zhu-patched", {"patched": 1, "patched-beta": 524, "patched-ref": 50000}),
    ("swift", "vaisf-fig3-1gbit", {"ai": 125000000, "fs-max": 50 << 16}),
    ("swift_vaisf", "vi-a", {"token": 30, "dampener": 8 << 16, "sampling": 30}),
    ("hpcc", "vaisf-fig1-1gbit", {"eta": 62259, "max-stage": 5, "ai": 125000000}),
    ("hpcc", "vaisf-fig1-prob", {"ai": 6250000, "probabilistic": 1}),
    ("hpcc_vaisf", "vi-a", {"token": 1000, "token-thresh": 50000, "sampling": 30}),
    ("dcqcn", "dart-vi-a", {"g": 256, "byte-counter": 10000000, "timer": 55000}),
    ("dcqcn", "hpcc-100g", {"ai": 2500000, "hai": 25000000, "fast-recovery": 1}),
    ("dart", "vi-a", {"g": 256, "byte-counter": 10000000, "timer": 55000, "idle": 2000000000}),
    ("dart", "v", {"lookahead": 0, "idle": 2000000000}),
)


def each():
    """(algorithm, preset) of the whole table."""
    return [(algorithm, preset) for algorithm, of_one in presets.all_presets().items()
            for preset in of_one.values()]


def block(algorithm, preset):
    """All values of an algorithm under a preset, as one comparable thing."""
    values = {key: known.default for key, known in ALGORITHMS[algorithm].parameters.items()}
    values.update(make_variant("test", find("test", algorithm), "x", {}, preset.name).values)
    return tuple(sorted(values.items()))


class Table(unittest.TestCase):
    def test_a_laboratory_that_is_not_built(self):
        with mock.patch.object(listed, "SOURCE", "/nowhere/cores.json"), \
                self.assertRaisesRegex(SystemExit, "no /nowhere/cores.json, run 'make lab'"):
            cores.__wrapped__()

    def test_values_are_in_range(self):
        for algorithm, preset in each():
            with self.subTest(f"{algorithm} {preset.name}"):
                variant = make_variant("test", find("test", algorithm), "x", {}, preset.name)
                self.assertEqual(list(variant.values), list(preset.texts))

    def test_every_algorithm_of_ours_has_some(self):
        self.assertEqual(set(presets.all_presets()),
                         set(cores()))

    def test_no_two_are_alike(self):
        blocks = [(algorithm, block(algorithm, preset)) for algorithm, preset in each()]
        self.assertEqual(len(set(blocks)), len(blocks))

    def test_the_first_is_the_defaults_without_fitting_to_the_path(self):
        for algorithm, of_one in presets.all_presets().items():
            first = next(iter(of_one.values()))
            with self.subTest(f"{algorithm} {first.name}"):
                values = {key: known.default
                          for key, known in ALGORITHMS[algorithm].parameters.items()}
                values["adapt"] = 0
                if not values.get("base-target", 1):
                    values["base-target"] = SWIFT_TARGET_NS
                if "idle" in values:	# the paper's; the defaults are Quell's own
                    values.update({"idle": DART_IDLE_NS, "period": 30000})
                self.assertEqual(dict(block(algorithm, first)), values)

    def test_values_as_the_sources_have_them(self):
        for algorithm, name, values in KNOWN:
            with self.subTest(f"{algorithm} {name}"):
                got = make_variant("test", find("test", algorithm), "x", {}, name).values
                self.assertEqual({key: got[key] for key in values}, values)

    def test_sources_fit_a_line_of_the_command(self):
        for algorithm, preset in each():
            with self.subTest(f"{algorithm} {preset.name}"):
                self.assertLessEqual(len(preset.source), 59)
                self.assertRegex(preset.name, "^[a-z0-9-]{1,16}$")

    def test_the_page_has_them_all(self):
        with open(PAGE, encoding="ascii") as file:
            sections = re.split(r"^## ", file.read(), flags=re.MULTILINE)
        # Those by rules have a row together, with rate and round trip.
        networks = NETWORK.findall("".join(sections))
        self.assertEqual(len(networks), 5)
        page = {}
        for section in sections:
            rows = ROW.findall(section)
            if rows:
                page[section.split("\n", 1)[0]] = rows
        table = {algorithm: [(one.name, one.source,
                              " ".join(f"{key} {text}" for key, text in one.texts.items()))
                             for one in of_one.values() if one.name not in networks]
                 for algorithm, of_one in presets.all_presets().items()}
        self.assertEqual(page, table)
        for of_one in presets.all_presets().values():
            self.assertLessEqual(set(networks), set(of_one))


class Runs(unittest.TestCase):
    @staticmethod
    def built(*algorithms):
        return helpers.build(algorithm=list(algorithms)).variants

    def test_a_preset_of_a_scenario(self):
        variant, = self.built({"name": "smartt", "preset": "nscc"})
        self.assertEqual((variant.label, variant.preset, variant.texts),
                         ("smartt:preset=nscc", "nscc", {}))
        self.assertEqual(variant.values["fi"], 5 << 16)

    def test_parameters_override_it(self):
        variant, = self.built({"name": "smartt", "preset": "nscc", "set": {"fi": "2"}})
        self.assertEqual((variant.label, variant.values["fi"], variant.values["batch"]),
                         ("smartt:preset=nscc:fi=2", 2 << 16, 8))
        self.assertEqual(variant.texts, {"fi": "2"})

    def test_a_label_of_its_own(self):
        variant, = self.built({"name": "smartt", "preset": "nscc", "label": "uec"})
        self.assertEqual((variant.label, variant.preset), ("uec", "nscc"))

    def test_the_plan_sets_every_value(self):
        wanted = helpers.build(algorithm=[{"name": "smartt", "preset": "nscc"}])
        text = plan.write(wanted, wanted.variants[0])
        for key, value in wanted.variants[0].values.items():
            self.assertIn(f"param h1 smartt {key} {value}\n", text)

    def test_the_command_line(self):
        argv = ["incast", "--senders", "2", "--bytes", "1000", "--rate", "10gbit", "--delay", "1us",
                "--cc", "smartt:preset=nscc,smartt:preset=nscc:fi=2,smartt",
                "--set", "smartt.fi=3", "--set", "smartt.batch=4", "--out", "x"]
        wanted = scenario.build(*incast.incast_table(options.make_parser().parse_args(argv)))
        self.assertEqual([(one.label, one.preset, one.values["fi"] >> 16, one.values["batch"])
                          for one in wanted.variants],
                         [("smartt:preset=nscc", "nscc", 3, 4),
                          ("smartt:preset=nscc:fi=2", "nscc", 2, 4), ("smartt", None, 3, 4)])

    def test_unknown_ones_are_refused(self):
        for entry, words in (
                ({"name": "smartt", "preset": "nsccc"}, ("'nsccc'", "did you mean 'nscc'", "iii")),
                ({"name": "cubic", "preset": "nscc"}, ("cubic", "'nscc'", "none")),
                ({"name": "smartt", "preset": "nscc", "set": {"fi": "99"}}, ("fi", "'99'"))):
            with self.subTest(entry), self.assertRaises(InputError) as caught:
                self.built(entry)
            for word in words:
                self.assertIn(word, str(caught.exception))
