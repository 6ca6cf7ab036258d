# SPDX-License-Identifier: GPL-2.0
"""What figures say in words, and the line of progress."""

import re
import types
import unittest

from quell_lab import plots, runner, slowdown_plot

import helpers


def bins(count, median, tail):
    """Numbers of two bins of so many flows, the first without a slowdown."""
    return [{"to_bytes": 1000, "flows": count, "p50": 1, "p999": 1},
            {"to_bytes": 10000, "flows": count, "p50": median, "p999": tail}]


class Late(unittest.TestCase):
    def said(self, *ends_ns):
        wanted = helpers.build()
        flows = [helpers.flow_result(wanted.flows[0], 0, end_ns) for end_ns in ends_ns]
        return plots._late(helpers.run_result(wanted, flows), 10**6)

    def test_of_flows_that_end_behind_the_axis(self):
        self.assertEqual(self.said(5, 10**6), "")
        self.assertEqual(self.said(5, 16558123), "\n1 flow ends later, at 16.558 ms (not shown)")
        self.assertEqual(self.said(2 * 10**6, 3 * 10**6),
                         "\n2 flows end later, until 3 ms (not shown)")


class Slowdown(unittest.TestCase):
    def draw(self, *of_bins):
        """(labels of the vertical axis in view, title) of the panels for these bins."""
        summaries = {str(number): {"slowdown": {"bins": one}}
                     for number, one in enumerate(of_bins)}
        with plots.plt.rc_context(plots.STYLE):
            figure = slowdown_plot.draw(summaries, plots.Look(list(summaries)))
            figure.canvas.draw()
            panels = []
            for axes in figure.axes:
                low, high = axes.get_ylim()
                panels.append(([tick.get_text() for tick in axes.get_yticklabels()
                                if low <= tick.get_position()[1] <= high], axes.get_title()))
            plots.plt.close(figure)
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
