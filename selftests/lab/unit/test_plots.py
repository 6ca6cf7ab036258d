# SPDX-License-Identifier: GPL-2.0
"""What figures say in words, and the line of progress."""

import dataclasses
import glob
import os
import re
import tempfile
import tomllib
import types
import unittest
import xml.dom.minidom

from quell_lab import drawing, files, network_svg, page, panels, runner, scenario, slowdown_plot, \
    written

import helpers


def bins(count, median, tail):
    """Numbers of two bins of so many flows, the first without a slowdown."""
    return [{"to_bytes": 1000, "flows": count, "p50": 1, "p999": 1},
            {"to_bytes": 10000, "flows": count, "p50": median, "p999": tail}]


class Late(unittest.TestCase):
    def said(self, *ends_ns):
        wanted = helpers.build()
        flows = [helpers.flow_result(wanted.flows[0], 0, end_ns) for end_ns in ends_ns]
        return drawing.late(helpers.run_result(wanted, flows), 10**6)

    def test_of_flows_that_end_behind_the_axis(self):
        self.assertEqual(self.said(5, 10**6), "")
        self.assertEqual(self.said(5, 16558123), "\n1 flow ends later, at 16.558 ms (not shown)")
        self.assertEqual(self.said(2 * 10**6, 3 * 10**6),
                         "\n2 flows end later, until 3 ms (not shown)")


class Drawn(unittest.TestCase):
    def test_panels_beside_each_other_scroll_where_the_window_is_narrow(self):
        for width, wide, kind in ((748.8, False, ' class="broad"'), (403.2, False, ""),
                                  (662, True, ' class="wide broad"'),
                                  (403.2, True, ' class="wide"')):
            said = page.figure(f'<svg viewBox="0 0 {width} 259.2"></svg>', "", wide)
            self.assertTrue(said.startswith(f"<figure{kind}><svg"), said)

    def test_what_is_composed_of_drawings_turns_dark_once(self):
        said = page.page("title", "lead", [])
        self.assertLess(said.index("figure svg, .chip { filter: invert(1)"),
                        said.index("figure svg svg { filter: none; }"))


class Horizon(unittest.TestCase):
    def of(self, *ends_of_runs):
        """End of an axis for runs of flows that end so."""
        wanted = helpers.build()
        return drawing.horizon_ns([helpers.run_result(wanted, [
            helpers.flow_result(wanted.flows[0], 0, end) for end in ends]) for ends in ends_of_runs])

    def test_ends_far_beyond_the_median_are_not_shown(self):
        self.assertEqual(self.of([10, 11, 12, 500]), 12)
        self.assertEqual(self.of([10, 11, 22]), 22)

    def test_a_slow_run_is_shown_to_its_own_end(self):
        self.assertEqual(self.of([10, 11, 12], [100, 110, 120, 9000]), 120)


class Panels(unittest.TestCase):
    def test_all_runs_show_the_port_with_the_longest_queue(self):
        self.assertEqual(panels.fullest_port({
            "a": {"queues": {"s1:p1": {"max_bytes": 10}, "s1:p2": {"max_bytes": 5}}},
            "b": {"queues": {"s1:p1": {"max_bytes": 1}, "s1:p2": {"max_bytes": 20}}}}), "s1:p2")
        self.assertIsNone(panels.fullest_port({}))

    def test_many_flows_are_a_band_and_some_with_names(self):
        wanted = helpers.build()
        flows = [helpers.flow_result(dataclasses.replace(wanted.flows[0], number=number), number,
                                     2000 - 10 * number) for number in range(1, 31)]
        result = helpers.run_result(wanted, flows)
        lines = {number: [(number, number)] for number in range(1, 31)}
        figure, axes = drawing.plt.subplots()
        panels._flow_lines(axes, result, lines, 1000)
        names = [text.get_text() for text in axes.get_legend().get_texts()]
        median = next(line for line in axes.lines if line.get_label() == "median of active flows")
        drawing.plt.close(figure)
        self.assertEqual(names, ["10th to 90th percentile", "median of active flows",
                                 "flow 1: first and slowest", "flow 30: last"])
        self.assertEqual(median.get_ydata()[-1], 15)

    def test_one_file_has_all_panels(self):
        svgs = []
        for _ in range(3):
            figure, axes = drawing.plt.subplots(figsize=drawing.PANEL_INCH)
            axes.plot([1, 2], [3, 4])
            svgs.append(drawing.to_svg(figure, "one"))
            drawing.plt.close(figure)
        whole = xml.dom.minidom.parseString(drawing.compose("a < b", svgs)).documentElement
        boxes = [node for node in whole.childNodes if node.nodeName == "svg"]
        self.assertEqual([(box.getAttribute("x"), box.getAttribute("y")) for box in boxes],
                         [("0", "22"), ("331", "22"), ("0", "231")])
        ids = [node.getAttribute("id") for node in whole.getElementsByTagName("*")
               if node.hasAttribute("id")]
        self.assertEqual(len(ids), len(set(ids)))


class Page(unittest.TestCase):
    def test_a_box_of_the_legend_names_what_it_hides(self):
        look = drawing.Look(["swift", "dctcp"])
        figure, axes = drawing.plt.subplots()
        for label in look.numbers:
            axes.plot([1, 2], [3, 4], gid=look.series(label))
        svg = drawing.inline(drawing.to_svg(figure, "two"), "two")
        drawing.plt.close(figure)
        table = page.table((("n", lambda one: one),), {"swift": 1, "dctcp": 2}, look)
        for series in re.findall(r'value="([^"]+)"', page.legend(look, look.numbers)):
            self.assertEqual(svg.count(f'class="{series}"'), 1)
            self.assertEqual(table.count(f'class="{series}"'), 1)

    def test_nothing_is_fetched(self):
        text = page.page("t", "l", [])
        self.assertNotRegex(text, r"(src|href)=|url\(|@import")
        self.assertIn("prefers-color-scheme: dark", text)


class Network(unittest.TestCase):
    def test_tiers_of_a_fat_tree(self):
        tree = {"kind": "fat-tree", "pods": 2, "tors": 2, "aggs": 2, "spines": 4, "hosts": 2,
                "rate": "100gbit", "delay": "1us"}
        wanted = helpers.build(topology=tree, flow=None, incast={"senders": 2, "bytes": 1000})
        self.assertEqual([len(tier) for tier in network_svg.tiers(wanted.graph)], [8, 4, 4, 4])
        at = network_svg.places(wanted.graph)
        self.assertEqual(len({y for _, y in at.values()}), 4)
        self.assertEqual(len(set(at.values())), len(at))

    def test_the_cable_of_the_port_is_drawn(self):
        graph = helpers.build().graph
        plain, marked = (network_svg.draw(graph, hot) for hot in (None, "s1:p3"))
        xml.dom.minidom.parseString(marked)
        self.assertEqual(marked.count("<path") - plain.count("<path"), 1)


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


class Slowdown(unittest.TestCase):
    def draw(self, *of_bins):
        """(labels of the vertical axis in view, title) of the panels for these bins."""
        summaries = {str(number): {"slowdown": {"bins": one}}
                     for number, one in enumerate(of_bins)}
        with drawing.plt.rc_context(drawing.STYLE):
            figure = slowdown_plot.draw(summaries, drawing.Look(list(summaries)))
            figure.canvas.draw()
            panels = []
            for axes in figure.axes:
                low, high = axes.get_ylim()
                panels.append(([tick.get_text() for tick in axes.get_yticklabels()
                                if low <= tick.get_position()[1] <= high], axes.get_title()))
            drawing.plt.close(figure)
        return panels

    def test_an_axis_has_more_than_two_labels(self):
        (median, _), (tail, _) = self.draw(bins(100, 1.2, 3.05))
        self.assertGreaterEqual(len(median), 4)
        self.assertEqual(tail, ["1", "1.5", "2", "2.5", "3"])
        (median, _), (tail, _) = self.draw(bins(100, 8, 60))
        self.assertEqual(median, ["1", "2", "3", "5", "7"])
        self.assertEqual(tail, ["1", "2", "5", "10", "20", "50"])

    def test_a_tail_that_is_the_slowest_flow(self):
        titles = [self.draw(*of_bins)[1][1] for of_bins in (
            (bins(999, 1, 2),), (bins(1000, 1, 2),), (bins(1000, 1, 2), bins(9, 1, 2)))]
        self.assertEqual(titles, [
            "99.9th percentile\n(the slowest flow: a point has fewer than 1000)",
            "99.9th percentile",
            "99.9th percentile\n(the slowest flow where a point has fewer than 1000)"])


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


if __name__ == "__main__":
    unittest.main()
