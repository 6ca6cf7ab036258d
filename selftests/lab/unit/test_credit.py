# SPDX-License-Identifier: GPL-2.0
"""Credits of receivers: what a scenario may ask for, and the plan that comes of it."""

import unittest

import helpers
from quell_lab import credit, plan, report, summary
from quell_lab.errors import InputError

TRIMS = {"trim": "128b"}
OPEN = {"name": "smartt", "variant": "open", "credit": "150000b"}


def build(**changes):
    """Two hosts to one, with trimming."""
    return helpers.build(**{"option": True, "queue": dict(TRIMS), "algorithm": [OPEN], **changes})


class Plans(unittest.TestCase):
    """Lines of the plan."""

    def test_cards_of_hosts_hand_them_out_and_no_other(self):
        wanted = build(algorithm=[OPEN, {"name": "smartt"}])
        first, second = (plan.write(wanted, variant) for variant in wanted.variants)
        links = [line.split() for line in first.splitlines() if line.startswith("link ")]
        self.assertEqual(len(links), 3)
        for words in links:
            ends = {"credit": words[1], "peer-credit": words[3]}
            told = {key: value for key, _, value in (word.partition("=") for word in words[5:])
                    if "credit" in key}
            self.assertEqual(told, {key: "99:150000" for key, node in ends.items()
                                    if node.startswith("h")})
        self.assertIn("param h3 quell nack-rate 1000000000\n", first)
        self.assertNotIn("credit", second)
        self.assertNotIn("nack-rate", second)

    def test_only_windows_that_go_by_marks_miss_them(self):
        said, = build(algorithm=[OPEN, {**OPEN, "variant": "mprdma"}]).notes
        self.assertRegex(said, "^smartt:[^,]*mprdma[^,]* without queue.ecn: no switch marks")
        self.assertEqual(build().notes, ())

    def test_who_sends_by_them(self):
        wanted = build(algorithm=[OPEN, {**OPEN, "variant": "mprdma"},
                                  {"name": "smartt", "credit": "1kb"}])
        self.assertEqual([variant.modules for variant in wanted.variants],
                         [("quell.ko", f"quell_labeqds.ko sender={name}")
                          for name in ("open", "mprdma", "smartt")])
        self.assertEqual([variant.label for variant in wanted.variants],
                         ["smartt:credit=150000b:variant=open",
                          "smartt:credit=150000b:variant=mprdma", "smartt:credit=1kb"])
        self.assertIn("by credits after 150000b, variant open", report.algorithms(wanted)[0][1])


class Refusals(unittest.TestCase):
    """What would have no effect, or would lose credits, is refused."""

    def test_each(self):
        for changes, words in (
                ({"algorithm": [{"name": "smartt", "variant": "open"}]},
                 "open has no window of its own: it needs credit"),
                ({"algorithm": [{"name": "swift", "credit": "150000b"}]},
                 "swift does not go by credit: smartt does"),
                ({"algorithm": [{"name": "dctcp", "credit": "150000b"}]},
                 "dctcp does not go by credit: smartt does"),
                ({"algorithm": [{**OPEN, "variant": "delay"}]},
                 "delay does not go by credit: smartt itself and its variants open and mprdma do"),
                ({"algorithm": [{**OPEN, "credit": "599b"}]},
                 "credit: '599b' is out of range: 600b"),
                ({"algorithm": [{**OPEN, "credit": "1gb"}]},
                 "credit is more than 16384 packets of"),
                ({"incast": None, "flow": [{"src": "h1", "dst": "h3", "bytes": 1000,
                                            "cc": "dctcp"}]}, "dctcp does not go by credit"),
                ({"queue": {}}, "credit needs queue.trim without trim-to-sender, and option"),
                ({"queue": {**TRIMS, "trim-to-sender": True}}, "credit needs queue.trim without"),
                ({"option": False}, "credit needs queue.trim without trim-to-sender, and option"),
                ({"pfc": {}, "queue": {}}, "for networks that trim, not for those that pause")):
            with self.subTest(words), self.assertRaisesRegex(InputError, words):
                build(**changes)


class Numbers(unittest.TestCase):
    """Sums of the cards' counters."""

    def test_sums_are_of_all_cards(self):
        wanted = build()
        ports = {"h1:eth0": {"credit_whole": 1, "credit_granted": 1},
                 "h3:eth0": {"credit_whole": 5, "credit_trimmed": 2, "credit_granted": 7,
                             "credit_pulls": 3}, "s1:p1": {"drops": 2}}
        self.assertEqual(credit.numbers(ports),
                         {"whole": 6, "trimmed": 2, "granted": 8, "pulls": 3})
        result = helpers.run_result(wanted, [], ports=ports)
        self.assertEqual(summary.summarise(wanted, result)["credit"]["granted"], 8)
        other = helpers.build(algorithm=[{"name": "smartt"}])
        self.assertNotIn("credit", summary.summarise(other, helpers.run_result(other, [])))
