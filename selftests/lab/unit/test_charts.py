# SPDX-License-Identifier: GPL-2.0
"""Charts: their tables and the words beside them, SVG, pages; and the line of progress."""

import dataclasses
import glob
import itertools
import os
import re
import tempfile
import tomllib
import types
import unittest
import warnings
import xml.dom.minidom

import numpy as np

from quell_lab import chart, charts, cores, files, network_chart, page, runner, show, slowdown_chart, \
    written
from quell_lab.chart import Axis, Chart, Facet, Line

import helpers


def run_of(*ends_ns):
    """A run's result with flows that end so."""
    wanted = helpers.build()
    return helpers.run_result(wanted, [helpers.flow_result(wanted.flows[0], 0, end_ns)
                                       for end_ns in ends_ns])


# sRGB to XYZ over white; then by Machado et al. 2009 as seen with deuteranopia and protanopia.
XYZ = np.array([[.4339, .3762, .1849], [.2126, .7152, .0722], [.0178, .1095, .8728]])
EYES = (np.eye(3),
        np.array([[.3673, .8606, -.2279], [.2801, .6725, .0474], [-.0118, .0429, .9689]]),
        np.array([[.1523, 1.0526, -.2049], [.1145, .7863, .0992], [-.0039, -.0481, 1.0520]]))


def cielab(colour):
    """A colour for each of EYES."""
    rgb = np.array([int(colour[place:place + 2], 16) / 255 for place in (1, 3, 5)])
    linear = np.where(rgb <= .04045, rgb / 12.92, ((rgb + .055) / 1.055) ** 2.4)
    for eye in EYES:
        found = XYZ @ np.clip(eye @ linear, 0, 1)
        x, y, z = np.where(found > .008856, np.cbrt(found), 7.787 * found + 16 / 116)
        yield np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


class Colours(unittest.TestCase):
    def test_all_eyes_distinguish_algorithms_on_any_paper(self):
        for paper in (str, chart.on_dark):
            seen = {name: list(cielab(paper(chart.style(number)["color"])))
                    for name, number in chart.NUMBERS.items()}
            for one, other in itertools.combinations(seen, 2):
                least = min(np.linalg.norm(a - b) for a, b in zip(seen[one], seen[other]))
                self.assertGreater(least, 15, (paper, one, other))

    def test_each_algorithm_has_its_own(self):
        self.assertLessEqual(set(cores.cores()), set(chart.NUMBERS))
        for look in (lambda number: chart.style(number)["color"], chart.marker):
            self.assertEqual(len(set(map(look, chart.NUMBERS.values()))), len(chart.NUMBERS))


class Words(unittest.TestCase):
    def test_of_flows_that_end_behind_the_axis(self):
        for ends_ns, said in (
                ((5, 10**6), ""), ((5, 16558123), "\n1 flow ends later, at 16.558 ms (not shown)"),
                ((2 * 10**6, 3 * 10**6), "\n2 flows end later, until 3 ms (not shown)")):
            self.assertEqual(charts.late(run_of(*ends_ns), 10**6), said)

    def test_of_a_tail_that_is_the_slowest_flow(self):
        numbers = {"bins": [{"to_bytes": size, "flows": 999 + place, "p50": 1, "p99": 2, "p999": 3}
                            for place, size in enumerate((10, 100))]}
        for flows, titles in ((999, ["Median", "99th percentile"]),
                              (1000, ["Median", "99th percentile", "99.9th percentile"])):
            numbers["bins"][0]["flows"] = flows
            found = charts.slowdown({"cubic": {"slowdown": numbers}})
            self.assertEqual([facet.title for facet in found.facets], titles)
        for counts, said in (
                ((999,), "\n(the slowest flow: a point has fewer than 1000)"), ((1000,), ""),
                ((1000, 9), "\n(the slowest flow where a point has fewer than 1000)")):
            self.assertEqual(slowdown_chart.tail_remark([{"flows": count} for count in counts]), said)


class Axes(unittest.TestCase):
    def test_time_ends_with_a_run_but_for_its_late_flows(self):
        for runs, end in (([[10, 11, 12, 500]], 12), ([[10, 11, 22]], 22),
                          ([[10, 11, 12], [100, 110, 120, 9000]], 120)):
            self.assertEqual(charts.horizon_ns([run_of(*ends) for ends in runs]), end)
        windows = [types.SimpleNamespace(end_ns=50), types.SimpleNamespace(end_ns=90)]
        self.assertEqual(charts.horizon_ns([run_of(10, 20)], windows), 90)

    def test_goodput_ends_at_the_fastest_path_of_a_flow(self):
        """A faster link that no flow uses does not press the lines against the axis."""
        cables = [{"a": ["h1", "h3"], "b": "s", "rate": "1gbit", "delay": "1us"},
                  {"a": "h2", "b": "s", "rate": "100gbit", "delay": "1us"}]
        wanted = helpers.build(
            topology={"kind": "graph", "hosts": "h[1-3]", "switches": "s", "cables": cables},
            flow=[{"src": "h1", "dst": "h3", "bytes": 10**6}])
        result = helpers.run_result(wanted, [helpers.flow_result(wanted.flows[0], 0, 10**6)],
                                    delivered={1: [(100000, 0), (200000, 10**6)]})
        facet, = charts.rates([result], wanted).facets
        self.assertAlmostEqual(facet.y.high, 1.02)

    def test_words_are_legible(self):
        """Flows that end beyond the axis are below the title, a legend in a facet has a ground."""
        facet, = charts.start_finish([run_of(10, 11, 12, 500)]).facets
        self.assertGreater(facet.y.high, 1.03 * max(facet.lines[0].ys))
        figure = chart.figure(Chart("", [Facet([Line([1], [1], name="a")], Axis(), Axis(),
                                               legend=chart.INSIDE)]))
        self.assertTrue(figure.axes[0].get_legend().get_frame_on())
        chart.pyplot().close(figure)

    def test_a_logarithmic_one_has_more_than_two_labels(self):
        for top, least in ((1.2, 4), (2.4, 3), (3.05, 5), (3.9, 4), (8, 5), (60, 6)):
            axis = Axis(low=1, scale={"value": "log"})
            line = Line([1, 2], [1, top], "line")
            figure = chart.figure(Chart("", [Facet([line], Axis(), axis)]))
            figure.canvas.draw()
            [axes] = figure.axes
            low, high = axes.get_ylim()
            labels = [tick.get_position()[1] for tick in axes.get_yticklabels()
                      if low <= tick.get_position()[1] <= high]
            chart.pyplot().close(figure)
            self.assertGreaterEqual(len(labels), least, top)
            self.assertEqual(labels[0], 1)

    def test_places_lack_the_digits_in_which_the_layout_differs_by_address(self):
        figure = chart.figure(Chart("", [Facet([Line([1], [1])], Axis("x"), Axis("y"), "t")] * 4))
        places = [axes.get_position().bounds for axes in figure.axes]
        figure.canvas.draw()
        chart.pyplot().close(figure)
        for place, axes in zip(places, figure.axes):
            self.assertEqual(place, axes.get_position().bounds)
            np.testing.assert_allclose(place, np.round(place, chart.PLACE_DIGITS), 0, 1e-15)


class Tables(unittest.TestCase):
    def test_all_runs_show_the_port_with_the_longest_queue(self):
        self.assertEqual(charts.fullest_port({
            "a": {"queues": {"s1:p1": {"max_bytes": 10}, "s1:p2": {"max_bytes": 5}}},
            "b": {"queues": {"s1:p1": {"max_bytes": 1}, "s1:p2": {"max_bytes": 20}}}}), "s1:p2")
        self.assertIsNone(charts.fullest_port({}))

    def test_many_flows_are_a_band_and_some_with_names(self):
        wanted = helpers.build()
        flows = [helpers.flow_result(dataclasses.replace(wanted.flows[0], number=number), number,
                                     2000 - 10 * number) for number in range(1, 31)]
        lines = charts.flow_lines(helpers.run_result(wanted, flows),
                                  {number: [(number, number)] for number in range(1, 31)}, 1000)
        self.assertEqual([line.name for line in lines], [
            "10th to 90th percentile", "median of active flows", "flow 1: first and slowest",
            "flow 30: last"])
        self.assertEqual(lines[1].ys[-1], 15)

    def test_extremes_are_kept_in_fewer_points(self):
        values = [number % 7 for number in range(1000)]
        values[500] = 99
        xs, ys = chart.thin(list(range(1000)), values, 100)
        self.assertLessEqual(len(xs), 100)
        self.assertEqual((max(ys), min(ys), xs[ys.index(99)]), (99, 0, 500))


class Drawn(unittest.TestCase):
    """A chart with a facet for each of two runs, and one for both, that has each kind of line."""

    KINDS = [Line([1, 2], [3, 4], kind, "both") for kind in ("line", "steps", "points")] + [
        Line([1, 2], [(0, 1), (1, 3)], "band"), Line([], 2, "level"), Line((1, 2), (), "span"),
        Line([(0, 1, "#000000")], 0, "bars"), Line([1, 2], [[1, 2], [3]], "boxes"),
        Line([1], [2], "texts", look={"texts": ["h1"]})]

    def setUp(self):
        runs = ("swift", "dctcp")
        facets = [Facet([Line([1, 2], [3, 4], run=run, name=run)], Axis(), Axis(), run, run)
                  for run in runs]
        self.text = chart.svg(Chart("a < b", [*facets, None, Facet(
            self.KINDS + [Line([1, 2], [3, 4], run=run) for run in runs], Axis(), Axis())]), runs)

    def test_is_xml_with_ids_that_differ_and_the_same_again(self):
        whole = xml.dom.minidom.parseString(self.text).documentElement
        ids = [node.getAttribute("id") for node in whole.getElementsByTagName("*")
               if node.hasAttribute("id")]
        self.assertEqual(len(ids), len(set(ids)))
        first = self.text
        self.setUp()
        self.assertEqual(self.text, first)

    def test_a_line_without_points_leaves_the_layout(self):
        log = {"value": "log"}
        lines = [Line([1, 100], [1, 100], "line"), Line([], [], "points", "none")]
        with warnings.catch_warnings():
            warnings.simplefilter("error")	# "constrained_layout not applied"
            chart.svg(Chart("", [Facet(lines, Axis(scale=log), Axis(scale=log))] * 2))

    def test_a_box_of_the_legend_names_what_it_hides(self):
        looks = page.looks(("swift", "dctcp"))
        parts = page.environment().get_template("parts.html").module
        table = parts.table(show.table((("n", str),), {"swift": 1, "dctcp": 2}), looks)
        names = re.findall(r'value="([^"]+)"', parts.legend(looks))
        self.assertEqual(len(names), 2)
        for series in names:	# its facet, its line there, that in the facet of both
            self.assertEqual(chart.inline(self.text, "x").count(f'class="{series}"'), 3)
            self.assertEqual(table.count(f'class="{series}"'), 1)

    def test_an_algorithm_has_one_look_everywhere(self):
        for labels in (("swift", "dctcp"), ("cubic", "x", "swift"), ("y", "z", "swift", "x")):
            found = chart.numbers(labels)
            self.assertEqual(found["swift"], chart.NUMBERS["swift"])
            self.assertEqual(len({chart.style(number)["color"] for number in found.values()}),
                             len(labels))

    def test_nothing_of_a_page_is_fetched(self):
        text = page.render("page.html", title="t < u", lead="l")
        self.assertNotRegex(text, r"(src|href)=|url\(|@import")
        self.assertIn("prefers-color-scheme: dark", text)
        self.assertIn("<h1>t &lt; u</h1>", text)


class Network(unittest.TestCase):
    def test_tiers_of_a_fat_tree(self):
        tree = {"kind": "fat-tree", "pods": 2, "tors": 2, "aggs": 2, "spines": 4, "hosts": 2,
                "rate": "100gbit", "delay": "1us"}
        wanted = helpers.build(topology=tree, flow=None, incast={"senders": 2, "bytes": 1000})
        self.assertEqual([len(tier) for tier in network_chart.tiers(wanted.graph)], [8, 4, 4, 4])
        at = network_chart.places(wanted.graph)
        self.assertEqual(len({y for _, y in at.values()}), 4)
        self.assertEqual(len(set(at.values())), len(at))

    def test_the_cable_of_the_port_is_drawn(self):
        graph = helpers.build().graph
        plain, marked = ({line.name for line in network_chart.make(graph, hot).facets[0].lines}
                         for hot in (None, "s1:p3"))
        self.assertEqual(marked - plain, {"port s1:p3, the longest queue"})


class Written(unittest.TestCase):
    def test_what_tests_of_others_left_out(self):
        table = {"title": "a \x7f\n\"b\" ü", "scale": {"small": {}}, "on": False,
                 "rows": [{"x y": [1, "2"]}, {"z": {"w": True}}]}
        self.assertEqual(tomllib.loads(written.toml(table)), table)

    def test_ready_made_scenarios_are_what_they_were(self):
        paths = glob.glob(os.path.join(runner.HERE, "scenarios", "**", "*.scenario"),
                          recursive=True)
        self.assertGreater(len(paths), 40)
        with tempfile.NamedTemporaryFile("w+", encoding="utf-8") as file:
            for path in paths:
                table = files.load(path)
                file.seek(0)
                file.truncate()
                file.write(written.toml(table))
                file.flush()
                self.assertEqual(files.load(file.name), table, path)


class Progress(unittest.TestCase):
    def said(self, **states):
        """The line for so many jobs of each state, without the time."""
        wanted = types.SimpleNamespace(flows=[1, 2])
        jobs = [types.SimpleNamespace(state=state, name=f"{state}{number}", done=1,
                                      virtual_ns=1500000, scenario=wanted)
                for state, count in states.items() for number in range(count)]
        return re.sub(r"^\[ *[0-9.]+ s\] ", "", runner.Progress(jobs, True).text())

    def test_of_many_runs_their_numbers(self):
        self.assertEqual(self.said(done=3, failed=1, running=3, waiting=6),
                         "done 4, running 3, waiting 6")
        self.assertEqual(self.said(done=4, running=1, waiting=6),
                         "done 4, running 1, waiting 6 | running0 1/2 flows at 1.500 ms")

    def test_of_few_runs_each(self):
        self.assertEqual(self.said(done=1, running=1, waiting=1),
                         "done0 done | running0 1/2 flows at 1.500 ms | waiting0 waiting")
