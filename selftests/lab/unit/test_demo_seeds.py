# SPDX-License-Identifier: GPL-2.0
"""README's table of the demonstration: what is refused before the runs, and written after them."""

import contextlib
import io
import os
import tempfile
import unittest
from unittest import mock

from quell_lab import demo_seeds

FOUND = {(stem, cc, quantity): 1.0 for stem, cc, quantity in demo_seeds.read()}


class Main(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.readme, self.table = (os.path.join(scratch.name, name) for name in ("README", "csv"))
        self.write("A\n\n" + "\n".join(demo_seeds.HEADER) + "\n| old |\n\nB\n")

    def write(self, text):
        with open(self.readme, "w", encoding="utf-8") as file:
            file.write(text)

    def run_it(self, *words):
        """Exit status, output, whether anything was run."""
        said = io.StringIO()

        def run_one(stem, count, _scratch):
            for _ in range(count):
                yield {key: value for key, value in FOUND.items() if key[0] == stem}
        with mock.patch.multiple(demo_seeds, README=self.readme, TABLE=self.table), \
                mock.patch.object(demo_seeds, "_run", side_effect=run_one) as runs, \
                contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                status = demo_seeds.main(list(words))
            except SystemExit as end:
                status = end.code
        return status, said.getvalue(), runs.called

    def test_readme_has_the_table(self):
        self.assertTrue(all(demo_seeds.readme()))

    def test_refused_before_a_run(self):
        for count in ("0", "-1", "1", "x"):
            status, said, has_run = self.run_it(f"--seeds={count}")
            self.assertEqual((status, has_run), (2, False), said)
        self.write("no table")
        status, said, has_run = self.run_it()
        self.assertEqual((status, has_run), (2, False))
        self.assertIn("no table with the header", said)

    def test_five_seeds_are_written_and_others_printed(self):
        with open(self.readme, encoding="utf-8") as file:
            before = file.read()
        status, said, _ = self.run_it("--seeds", "2")
        self.assertEqual(status, 0)
        self.assertIn(demo_seeds.HEADER[0], said)
        with open(self.readme, encoding="utf-8") as file:
            self.assertEqual(file.read(), before)
        self.assertFalse(os.path.exists(self.table))
        self.assertEqual(self.run_it()[0], 0)
        with open(self.readme, encoding="utf-8") as file:
            text = file.read()
        self.assertRegex(text, r"(?s)^A\n\n.*p99 slowdown.*\n\nB\n$")
        self.assertNotIn("| old |", text)
        self.assertEqual(len(demo_seeds.read(self.table)), len(FOUND))
        self.assertEqual(sorted(os.listdir(os.path.dirname(self.table))), ["README", "csv"])
