# SPDX-License-Identifier: GPL-2.0
"""Tables of several seeds by size of flow: percentiles, bands, CSV, LaTeX, SVG and PDF."""

import csv
import os
import re
import tempfile
import unittest

from quell_lab import by_size, chart, slowdown

import helpers

EDGES = (0, 10**4, 10**6, slowdown.SIZE_MAX)
LABELS = ("swift_vaisf", "dctcp")


def part(low, high, flows, value):
    """Numbers of a class in which every percentile is a value, and the tail ten times that."""
    value = value if flows else None
    return {"from_bytes": low, "to_bytes": high, "flows": flows, "p50": value, "p99": value,
            "p999": value and 10 * value}


def summary(*classes):
    """A run's summary with (flows, value) of each class."""
    parts = [part(low, high, *one) for low, high, one in zip(EDGES, EDGES[1:], classes)]
    flows = sum(one["flows"] for one in parts)
    return {"slowdown": {"all": part(0, slowdown.SIZE_MAX, flows, 2), "classes": parts}}


def table(seeds=((1000, 1.5), (1000, 1.25), (1200, 2))):
    """Three seeds of two algorithms; the last class is empty, the second has few flows."""
    return by_size.table({label: [by_size.classes(summary((flows, value + place), (9, 40), (0, 0)))
                                  for flows, value in seeds]
                          for place, label in enumerate(LABELS)})


class Tables(unittest.TestCase):
    def test_medians_and_bands_of_the_seeds(self):
        header, rows = by_size.texts(table())
        self.assertEqual(header, ("slowdown", "flows", *LABELS))
        self.assertEqual(rows[3:], [
            ("up to 10 kB, p50", "1,000", "1.50 (1.25 to 2.00)", "2.50 (2.25 to 3.00)"),
            ("up to 10 kB, p99", "1,000", "1.50 (1.25 to 2.00)", "2.50 (2.25 to 3.00)"),
            ("up to 10 kB, p99.9", "1,000", "15.0 (12.5 to 20.0)", "25.0 (22.5 to 30.0)"),
            ("10 kB to 1 MB, p50", "9", "40.0", "40.0"),
            ("10 kB to 1 MB, p99", "9", "40.0", "40.0")])

    def test_no_tail_of_fewer_than_a_thousand(self):
        for flows, said in ((999, False), (1000, True)):
            _, rows = by_size.texts(table(((1000, 1), (flows, 2))))
            self.assertEqual("up to 10 kB, p99.9" in [row[0] for row in rows], said)

    def test_flows_that_are_alike_have_completion_times(self):
        one = {"slowdown": None, "flows_finished": 7,
               "fct_ns": {"p50": 1500, "p99": 2500, "p999": 2500}}
        found = by_size.table({"cubic": [by_size.classes(one)] * 2})
        self.assertEqual(by_size.texts(found), (("FCT (us)", "flows", "cubic"), [
            ("all, p50", "7", "1.50"), ("all, p99", "7", "2.50")]))
        self.assertIsNone(by_size.make_chart(found, ""))

    def test_runs_without_a_result(self):
        self.assertIsNone(by_size.table({"cubic": []}))
        found = by_size.table({"cubic": [], "swift": [by_size.classes(summary((5, 1), (0, 0),
                                                                             (0, 0)))]})
        self.assertEqual(found.labels, ("swift",))

    def test_large_numbers(self):
        self.assertEqual([by_size.number(value) for value in (1, 12.34, 123.4, 999.6, 12345)],
                         ["1.00", "12.3", "123", "1,000", "12,345"])


class Files(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.directory = scratch.name

    def read(self, name):
        with open(os.path.join(self.directory, name), "rb") as file:
            return file.read()

    def test_latex_has_as_many_columns_as_its_head(self):
        lines = list(by_size.tex({"50 % & more": table()}, ["Quell 1", "A\nb"]))
        self.assertEqual(lines[1:3], ["% Quell 1", "% A b"])
        self.assertIn(r"\begin{tabular}{llrrr}", lines)
        rows = [line for line in lines if line.endswith(r" \\")]
        self.assertEqual([line for line in rows if "dagger" in line], [
            r" & p99$^\dagger$ &  & 40.0 & 40.0 \\", r"\multicolumn{5}{l}{\footnotesize "
            r"$^\dagger$ the slowest: fewer than 100 flows} \\"])
        rows.remove(lines[-2])
        self.assertEqual({len(re.split(r"(?<!\\)&", line)) for line in rows}, {5})
        self.assertEqual(rows[0], r"Flow size &  & Flows & swift\_vaisf & dctcp \\")
        self.assertIn(r"up to 10 kB & p50 & 1{,}000 & 1.50 {\scriptsize [1.25, 2.00]} & "
                      r"2.50 {\scriptsize [2.25, 3.00]} \\", rows)
        for begin, end in ((r"\toprule", r"\bottomrule"), (r"\begin{", r"\end{")):
            self.assertEqual(sum(begin in line for line in lines),
                             sum(end in line for line in lines))

    def test_p99_of_a_hundred_flows_has_no_mark(self):
        found = by_size.table({"cubic": [by_size.classes(summary((100, 1), (100, 2), (0, 0)))]})
        self.assertNotIn("dagger", " ".join(by_size.tex({"A": found}, ())))

    def test_origin(self):
        one = helpers.build(title="A", algorithm=[{"name": "swift", "label": "x"}])
        self.assertEqual(list(by_size.origin("2, laboratory 3", [((4, 5), one)])), [
            "Quell 2, laboratory 3", "A, seeds 4, 5",
            "x: swift: preset vaisf-iii-d, as none is named"])

    def test_csv_without_the_rounding_of_floats(self):
        found = by_size.table({"cubic": [by_size.classes(summary((9, value), (0, 0), (0, 0)))
                                         for value in (2.5753, 2.5754)]})
        row = next(row for row in by_size.csv_rows(found) if row[1:4] == (0, 10**4, "p50"))
        self.assertEqual(row[7:], (2.57535, 2.5753, 2.5754, "2.5753 2.5754"))

    def test_text_on_phones_is_of_11_px(self):
        by_size.write(self.directory, table(), "A title of more than one line " * 4, ())
        pt = float(re.search(rb'width="([\d.]+)pt"', self.read(by_size.PHONE))[1])
        self.assertGreaterEqual(chart.STYLE["font.size"] * 361 / pt, 11)	# of a page of 390 px

    def test_all_files_twice_the_same(self):
        by_size.write(self.directory, table(), "A", ())
        first = [self.read(name) for name in by_size.FILES]
        by_size.write(self.directory, table(), "A", ())
        self.assertEqual([self.read(name) for name in by_size.FILES], first)
        self.assertTrue(first[3].startswith(b"%PDF-"))
        self.assertIn(b"<svg", first[2])
        rows = list(csv.DictReader(first[0].decode().splitlines()))
        self.assertEqual(tuple(rows[0]), by_size.COLUMNS)
        self.assertIn({"quantity": "slowdown", "from_bytes": "0", "to_bytes": "10000",
                       "percentile": "p99.9", "cc": "dctcp", "flows": "1000", "seeds": "3",
                       "median": "25.0", "min": "22.5", "max": "30",
                       "values": "25.0 22.5 30"}, rows)

    def test_several_tables(self):
        path = os.path.join(self.directory, "a.csv")
        by_size.write_csv(path, {"load 0.2": table(), "load 0.4": table()})
        rows = list(csv.DictReader(self.read("a.csv").decode().splitlines()))
        self.assertEqual({row["of"] for row in rows}, {"load 0.2", "load 0.4"})
