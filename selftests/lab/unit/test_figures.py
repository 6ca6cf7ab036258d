# SPDX-License-Identifier: GPL-2.0
"""The list of the papers' figures: whole, and true of the scenarios; and VAI/SF's fluid model."""

import glob
import os
import re
import tempfile
import types
import unittest

from quell_lab import figures, files, fluid, paper, reproduce, runner, scenario, sweep
from quell_lab.errors import InputError
from quell_lab.schema import Places

ROOT = os.path.dirname(runner.HERE)
DOCUMENTATION = os.path.join(ROOT, "Documentation")
SCENARIOS = {os.path.basename(path).removesuffix(".scenario"): path for part in ("", "long")
             for path in glob.glob(os.path.join(reproduce.SCENARIOS, part, "*.scenario"))}
SWEEPS = {os.path.basename(path).removesuffix(".sweep"): path
          for path in glob.glob(os.path.join(reproduce.SCENARIOS, "*.sweep"))}
# Scenarios with paper rows of what is no result of the four papers: DCQCN's, what others are
# compared with, and the example of Dart's Figure 3(b).
OTHERS = {"dcqcn-incast", "dcqcn-two-flows", "dcqcn-dart", "dart-iofd-off", "dart-load-off",
          "dart-fig3b"}


class Listed(unittest.TestCase):
    def setUp(self):
        self.papers, self.figures = figures.load()

    def test_every_figure_once(self):
        names = [str(one) for one in self.figures]
        self.assertEqual(len(set(names)), len(names))
        for name, number in self.papers.items():
            self.assertEqual(sum(one.paper == name for one in self.figures), number, name)
        self.assertEqual(sum(self.papers.values()), len(names))

    def test_verdicts(self):
        for one in self.figures:
            with self.subTest(str(one)):
                self.assertIn(one.verdict, figures.VERDICTS)
                self.assertEqual(one.verdict == "absent", not one.ours)
                self.assertTrue(one.why or one.verdict == "reproduced")
                self.assertEqual(bool(one.scenarios), one.verdict != "absent"
                                 and str(one) != fluid.FIGURE)
                self.assertEqual(bool(one.page), one.verdict != "absent")

    def test_scenarios_are_there(self):
        for one in self.figures:
            for name in one.scenarios:
                self.assertIn(name, {**SCENARIOS, **SWEEPS}, str(one))

    def test_scenarios_of_papers_are_listed(self):
        listed = {name for one in self.figures for name in one.scenarios}
        for name, path in SCENARIOS.items():
            one = scenario.build(files.load(path), Places(path))
            if one.paper and name not in OTHERS:
                self.assertIn(name, listed)
        self.assertLessEqual(set(SWEEPS), listed)

    def test_sweeps_are_right_at_every_scale(self):
        for path in SWEEPS.values():
            for scale in (None, "check"):
                with self.subTest(os.path.basename(path), scale=scale):
                    wanted = sweep.Sweep(path, scale)
                    self.assertTrue(any(more.figure for more in wanted.more))
                    points = len(list(wanted.build_points()))
                    self.assertTrue(points <= 2 if scale else points > 1)

    def test_pages_have_their_anchors(self):
        for one in self.figures:
            if not one.page:
                continue
            path, _, anchor = one.page.partition("#")
            with open(os.path.join(DOCUMENTATION, path), encoding="utf-8") as file:
                titles = re.findall(r"^#+ (.*)$", file.read(), re.MULTILINE)
            anchors = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
            self.assertIn(anchor, {"", *anchors}, str(one))

    def test_page_is_written_by_the_program(self):
        with open(os.path.join(DOCUMENTATION, "figures.md"), encoding="utf-8") as file:
            self.assertEqual(file.read(), figures.page(self.papers, self.figures))

    def test_word(self):
        self.assertEqual({one.paper for one in figures.choose(self.figures, "vai-sf-fig10")},
                         {"VAI/SF"})
        self.assertEqual([one.name for one in figures.choose(self.figures, "timely table")],
                         ["Table 1"])
        for word in ("smartt fig 12", "SMaRTT Fig. 12", "smartt figure 12", "smartt-fig12"):
            self.assertEqual(list(map(str, figures.choose(self.figures, word))),
                             ["SMaRTT Figure 12"])
        every = figures.choose(self.figures, "Figure 12")
        for word in ("fig 12", "fig12", "Fig.12", "figs 12", "Figures 12"):
            self.assertEqual(figures.choose(self.figures, word), every, word)
        with self.assertRaisesRegex(InputError, "no figure has 'nosuch' in its name$"):
            figures.choose(self.figures, "nosuch")
        with self.assertRaisesRegex(InputError, "did you mean 'VAI/SF Figure 10'"):
            figures.choose(self.figures, "vaisf fig 10")

    def test_command_that_runs_it(self):
        told = figures.text(figures.choose(self.figures, "SMaRTT Fig. 3"))
        self.assertEqual([line.strip() for line in told if "run: " in line], [
            "run:   lab/lab reproduce 'SMaRTT Figure 3' --out DIR",
            "run:   lab/lab reproduce 'SMaRTT Figure 3' --scenarios "
            "lab/scenarios/long --out DIR"])

    def test_readme_counts_them(self):
        with open(os.path.join(figures.runner.HERE, "..", "README.md"),
                  encoding="utf-8") as file:
            told = " ".join(file.read().split())
        counts = figures.count(self.figures)
        self.assertIn(f"Of the {len(self.figures)} figures and tables of the papers on TIMELY, VAI/"
                      f"SF, SMaRTT and Dart {counts['reproduced']} are reproduced, "
                      f"{counts['same conclusion']} lead to the same conclusion with other "
                      f"numbers, {counts['contradicted']} are contradicted", told)


class Page(unittest.TestCase):
    def index(self, *stems):
        """The page where these scenarios were run: all before what is folded, and that."""
        simple = types.SimpleNamespace
        groups = [simple(name=stem, done=simple(good=True), scenario=simple(title=stem))
                  for stem in stems]
        with tempfile.TemporaryDirectory() as out:
            reproduce.write_index(out, groups, [], {"command": "lab reproduce"})
            with open(os.path.join(out, "index.html"), encoding="utf-8") as file:
                return file.read().split("<details>")

    def test_index_has_all_figures(self):
        shown, folded = self.index()
        self.assertIn("SMaRTT Figure 17", folded)
        self.assertIn("<svg", folded)
        self.assertNotIn("<tr><td>", shown)
        for name in paper.COLUMNS:
            self.assertIn(f"<th>{name}</th>", shown)

    def test_those_run_come_first_with_links(self):
        shown, folded = self.index("vai-sf-fig2")
        self.assertEqual((shown + folded).count("<tr><td>"), len(figures.load()[1]))
        self.assertIn('<a href="vai-sf-fig2/report.html">vai-sf-fig2</a></td>', shown)
        self.assertIn("VAI/SF Figure 2<", shown)
        self.assertNotIn("TIMELY Figure 1<", shown)
        self.assertIn("TIMELY Figure 1<", folded)
        self.assertNotIn("timely-table1/report.html", folded)


class Fluid(unittest.TestCase):
    STEP_NS = 1

    def solve(self, slope, first, end_ns):
        """The equation by steps of the midpoint."""
        rate = first
        for _ in range(0, end_ns, self.STEP_NS):
            middle = rate + slope(rate) * self.STEP_NS / 2
            rate += slope(middle) * self.STEP_NS
        return rate

    def test_solutions_solve(self):
        for first in fluid.FIRST:
            for end_ns in (1000, 30000):
                by_rtt = self.solve(lambda rate: -fluid.BETA * rate / fluid.RTT_NS, first, end_ns)
                self.assertAlmostEqual(fluid.by_rtt(first, end_ns), by_rtt, 6)
                by_packets = self.solve(lambda rate: -fluid.BETA * rate ** 2 / (
                    fluid.PACKETS * fluid.MTU_BYTES), first, end_ns)
                self.assertAlmostEqual(fluid.by_packets(first, end_ns), by_packets, 6)

    def test_figure_4(self):
        self.assertEqual(fluid.lead(0), 0)
        self.assertTrue(all(fluid.lead(time) > 0 for time in range(100, fluid.END_NS, 100)))
        most_ns = max(range(0, fluid.END_NS, 10), key=fluid.lead)
        self.assertTrue(11000 < most_ns < 13000)
        self.assertAlmostEqual(fluid.lead(most_ns) / fluid.GBIT_BYTES_PNS, 34.6, 1)

    def test_condition(self):
        """Packets are ahead at first exactly if 1 / r < (C1 + C0) / (s MTU)."""
        high, low = fluid.FIRST
        for packets in (30, 560, 563, 5000):
            ahead = (fluid.by_rtt(high, 1) - fluid.by_rtt(low, 1)
                     > fluid.by_packets(high, 1, packets) - fluid.by_packets(low, 1, packets))
            self.assertEqual(ahead, 1 / fluid.RTT_NS < (high + low) / (packets * fluid.MTU_BYTES))


class Picked(unittest.TestCase):
    """Scenarios of a word: a figure as its paper writes it, or a file."""

    def of(self, word, directory=reproduce.SCENARIOS):
        chosen, sweeps = reproduce.choose(directory, word)
        paths = [path for path, _ in chosen] + [one.path for one in sweeps]
        return [os.path.splitext(os.path.basename(path))[0] for path in paths]

    def test_both_spellings(self):
        for word in ("TIMELY Figure 2", "TIMELY Fig. 2", "timely-fig2"):
            self.assertEqual(self.of(word), ["timely-fig2"], word)
        self.assertEqual(self.of("SMaRTT Fig. 10"), ["smartt-fig10"])

    def test_a_figure_that_the_list_alone_names(self):
        self.assertEqual(self.of("TIMELY Figure 9"), ["timely-table1"])

    def test_the_whole_name_of_a_file_before_a_part(self):
        self.assertEqual(self.of("timely-fig17"), ["timely-fig17"])
        self.assertEqual(self.of("TIMELY Figure 17"), ["timely-fig17-7", "timely-fig17"])
        self.assertEqual(self.of("vai-sf-fig1"), ["vai-sf-fig10", "vai-sf-fig11"])

    def test_all_without_a_word(self):
        papers = {name for name, path in SCENARIOS.items()
                  if "/long/" not in path and files.load(path).get("paper")}
        self.assertEqual(set(self.of("")), papers | set(SWEEPS))

    def test_sweeps(self):
        self.assertEqual(self.of("Dart Figure 12"), ["dart-fig11-14"])
        self.assertEqual(self.of("smartt-fig13"), ["smartt-fig13"])

    def test_what_takes_long_is_told_with_its_command(self):
        with self.assertRaisesRegex(InputError, "SMaRTT Figure 1 takes long: lab/lab "
                                    "reproduce 'SMaRTT Figure 1' --scenarios "
                                    "lab/scenarios/long --out DIR"):
            self.of("SMaRTT Figure 1")
        self.assertEqual(self.of("SMaRTT Figure 1", figures.LONG), ["smartt-fig1", "smartt-fig17a"])
        with self.assertRaisesRegex(InputError, "lab reproduce timely-fig22-low --scenarios"):
            self.of("timely-fig22-low")

    def test_what_is_absent_is_told_with_its_reason(self):
        with self.assertRaisesRegex(InputError, "TIMELY Figure 23 is absent: an application of"):
            self.of("TIMELY Fig. 23")
