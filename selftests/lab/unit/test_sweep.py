# SPDX-License-Identifier: GPL-2.0
"""Sweeps: their runs, what goes into the name of a result, sums over seeds, and bad input."""

import contextlib
import csv
import io
import os
import tempfile
import unittest

from quell_lab import cli, kernel_diff, runner, sweep, sweep_page, sweep_run, sweep_store
from quell_lab.errors import InputError
from quell_lab.runner import Kernel

STAR = """\
title = "Star"
topology = { kind = "star", hosts = 3, rate = "100gbit", delay = "1us" }
queue = { limit = "500kb", ecn = "50kb" }
algorithm = [{ name = "swift" }, { name = "dctcp" }]
flows = [{ src = "h[1-2]", dst = "h3", bytes = 3000 }]
paper = [["A", "swift", "fct_max"]]
[scale.large]
seed = 7
"""
LOADS = """\
topology = { kind = "star", hosts = 4, rate = "10gbit", delay = "1us" }
algorithm = [{ name = "swift" }]
[[workload]]
bytes = ["1kb", "20kb"]
load = 0.1
length = "1ms"
[[workload]]
bytes = "10kb"
load = "30%"
length = "1ms"
[[workload]]
pattern = "incast"
bytes = "1kb"
degree = 2
"""
PANEL = 'panel = [{ quantity = "drops"'
ECN = '[[parameter]]\nkey = "queue.ecn"\nvalues = ["20kb", "80kb"]\n'
AI = '[[parameter]]\nkey = "swift.ai"\nvalues = ["50mbit", "1gbit"]\n'

# text of a sweep, and what the message must say, in order
REFUSED = (
    ('scenario = "star.scenario"\n[[parameter]]\nkey = "swft.ai"\nvalues = [1]',
     ("parameter[0].key", "'swft.ai'", "did you mean 'swift'")),
    ('scenario = "star.scenario"\n[[panel]]\nquantity = "fct_p99"\nseeds = 3',
     ("panel[0].seeds", "not a key of a table: it precedes the first [table]")),
    ('scenario = "star.scenario', ("bad.sweep", "not TOML")),
    ('seeds = 2', ("bad.sweep: scenario", "missing")),
    ('scenario = "sun.scenario"', ("sun.scenario", "No such file")),
    ('scenario = ["star.scenario", "star.scenario"]', ("scenario", "named 'star'")),
    ('scenario = "star.scenario"\nseed = 2', ("seed", "did you mean 'seeds'")),
    ('scenario = "star.scenario"\nscale = "huge"', ("[scale.huge]", "large")),
    ('scenario = "star.scenario"\nseeds = 0', ("bad.sweep: seeds", "'0'", "1 to 1000")),
    ('scenario = "star.scenario"\nseeds = [1, 1]', ("bad.sweep: seeds", "each once")),
    ('scenario = "star.scenario"\nload = [0.5]', ("bad.sweep: load", "no [[workload]]")),
    ('scenario = "loads.scenario"\nload = [0.5, 1.5]', ("bad.sweep: load", "'1.5'", "more than")),
    ('scenario = "loads.scenario"\nload = [0]', ("bad.sweep: load", "'0'", "above 0")),
    ('scenario = "loads.scenario"\n[[parameter]]\nkey = "workload.load"\nvalues = [0.4, 0.8]',
     ("bad.sweep: workload.load=0.4", "workload[2]")),
    ('scenario = "star.scenario"\n' + ECN + AI + ECN.replace("ecn", "limit"),
     ("bad.sweep: parameter", "3 of them", "at most 2")),
    ('scenario = "star.scenario"\n' + ECN + ECN, ("parameter", "'queue.ecn' is given twice")),
    ('scenario = "star.scenario"\n[[parameter]]\nkey = "queue.ecn"', ("values", "missing")),
    ('scenario = "star.scenario"\n' + ECN.replace('"20kb", "80kb"', ""), ("values", "empty")),
    ('scenario = "star.scenario"\n' + ECN.replace("80kb", "20kb"), ("values", "twice")),
    ('scenario = "star.scenario"\n' + ECN.replace("80kb", "900kb"),
     ("bad.sweep: queue.ecn=900kb", "queue.ecn", "900kb", "MIN <= MAX <= limit")),
    ('scenario = "star.scenario"\n' + ECN.replace("ecn", "enc"), ("queue.enc", "did you mean")),
    ('scenario = "star.scenario"\n' + ECN.replace("queue", "quue"), ("did you mean 'queue'",)),
    ('scenario = "star.scenario"\n' + ECN.replace("queue.ecn", "seed"), ("give seeds",)),
    ('scenario = "star.scenario"\n' + ECN.replace("queue.ecn", "queue"), ("queue", "not a table")),
    ('scenario = "star.scenario"\n' + ECN.replace("queue.ecn", "Q!"), ("'Q!'", "queue.limit")),
    ('scenario = "star.scenario"\n' + ECN.replace("queue.ecn", "flows[1].bytes"),
     ("'flows[1]'", "no such table")),
    ('scenario = "star.scenario"\n' + ECN.replace("queue.ecn", "workload.load"),
     ("no [[workload]]",)),
    ('scenario = "star.scenario"\n' + AI.replace("swift", "hpcc"), ("no run of 'hpcc'", "dctcp")),
    ('scenario = "star.scenario"\n' + AI.replace("ai", "ia"), ("swift", "'ia'")),
    ('scenario = "star.scenario"\n' + AI.replace("1gbit", "9tbit"), ("ai=9tbit", "to 1tbit")),
    ('scenario = "star.scenario"\nalgorithm = [{ name = "swfit" }]', ("did you mean 'swift'",)),
    ('scenario = "star.scenario"\nalgorithm = [3]', ("algorithm", "not a table")),
    ('scenario = "star.scenario"\nalgorithm = []', ("algorithm", "at least one")),
    ('scenario = "star.scenario"\npanel = [{ quantity = "fct_p98" }]',
     ("bad.sweep: panel[0].quantity", "'fct_p98'", "did you mean")),
    ('scenario = "star.scenario"\n' + PANEL.replace("drops", "drop") + " }]\n" + ECN,
     ("bad.sweep: queue.ecn=20kb: panel[0].quantity", "'drop'", "did you mean 'drops'")),
    ('scenario = "star.scenario"\npanel = [{ quantity = "slowdown_p50" }]', ("slowdown_max",)),
    ('scenario = "star.scenario"\npanel = [{ quantity = "rtt_p50" }]', ("needs a [measure]",)),
    ('scenario = "star.scenario"\noversubscription = 4', ("without load there is none",)),
    ('scenario = "loads.scenario"\nload = [0.5]\noversubscription = 0.5', ("'0.5'", "1 to 1000")),
    ('scenario = "star.scenario"\n' + PANEL + ', over = "swfit" }]', ("did you mean 'swift'",)),
    ('scenario = "star.scenario"\n' + PANEL + ', figure = "A" }]', ("figure and paper go",)),
    ('scenario = "star.scenario"\n' + PANEL + ', figure = "A", paper = [{ run = "x" }] }]',
     ("panel[0].paper[0].run", "no 'x'")),
    ('scenario = "star.scenario"\n' + PANEL + ', figure = "A", paper = [{ run = "swift", '
     'at = "30kb" }] }]\n' + ECN, ("panel[0].paper[0].at", "20kb, 80kb")),
)
OPTIONS = (
    (("--only", "0"), ("--only", "'0'", "1 to 4")),
    (("--only", "5"), ("--only", "'5'", "1 to 4")),
    (("--part", "3/2"), ("--part", "'3/2'", "I/N")),
    (("--part", "0/2"), ("--part", "'0/2'")),
    (("--part", "1"), ("--part", "'1'")),
    (("--only", "1", "--part", "1/2"), ("not allowed with",)),
    (("--jobs", "0"), ("--jobs", "'0'")),
)


class Files(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.directory = scratch.name
        self.write("star.scenario", STAR)
        self.write("loads.scenario", LOADS)

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="ascii") as file:
            file.write(text)

    def sweep(self, *texts, source="star"):
        """The sweep of a scenario with these lines."""
        self.write("a.sweep", "\n".join((f'scenario = "{source}.scenario"', *texts)))
        return sweep.Sweep(self.path("a.sweep"))


class Points(Files):
    def test_algorithms_times_values_times_seeds(self):
        wanted = self.sweep("seeds = 3", ECN)
        self.assertEqual(len(wanted.runs), 12)
        self.assertEqual(list(sweep_run.lines(wanted))[4],
                         "5\tstar\tdctcp\tseed=2\tqueue.ecn=20kb")
        built = wanted.build(wanted.runs[11])
        self.assertEqual((built.seed, built.queue.ecn_min_bytes, built.variants[0].label),
                         (3, 80 << 10, "dctcp"))

    def test_seeds_begin_with_that_of_the_scenario_or_are_listed(self):
        for text, seeds in (('scale = "large"\nseeds = 2', [7, 8]), ("seeds = [9, 4]", [9, 4]),
                            ("", [1])):
            wanted = self.sweep(text)
            self.assertEqual([run.cells[0].seed for run in wanted.runs], seeds * 2)

    def test_what_a_parameter_does_not_touch_runs_once(self):
        wanted = self.sweep(AI)
        self.assertEqual([(run.entry.label, len(run.cells)) for run in wanted.runs],
                         [("swift", 1), ("dctcp", 2), ("swift", 1)])
        self.assertIn("and 1 more alike", wanted.runs[1].text(wanted.axes))

    def test_an_algorithm_keeps_what_its_table_has(self):
        wanted = self.sweep('algorithm = [{ name = "swift" }, '
                            '{ name = "swift", set = { ai = "2gbit" } }]', AI)
        self.assertEqual([(run.entry.label, wanted.build(run).variants[0].values["ai"])
                          for run in wanted.runs],
                         [("swift", 50 * 10**6 // 8), ("swift:ai=2gbit", 2 * 10**9 // 8),
                          ("swift", 10**9 // 8)])

    def test_keys_of_an_algorithm_beside_its_parameters(self):
        wanted = self.sweep('[[parameter]]\nkey = "swift.acks-per-rtt"\nvalues = [0, 8]')
        self.assertEqual([wanted.build(run).variants[0].acks_per_rtt for run in wanted.runs],
                         [0, 0, 8])	# the second is dctcp, for both

    def test_loads_add_up_in_their_proportion(self):
        wanted = self.sweep("load = [0.2, '80%']", source="loads")
        tables = [wanted.build(run).config["workload"] for run in wanted.runs]
        self.assertEqual([[one.get("load") for one in table] for table in tables],
                         [["1/20", "3/20", None], ["1/5", "3/5", None]])

    def test_loads_of_what_is_behind_hosts(self):
        wanted = self.sweep("load = ['80%']\noversubscription = 4", source="loads")
        self.assertEqual([one.get("load") for one in wanted.build(wanted.runs[0]).config[
            "workload"]], ["1/20", "3/20", None])

    def test_a_scale_has_other_keys(self):
        self.write("b.sweep", 'scenario = "star.scenario"\nseeds = 2\n[instead.check]\nseeds = 3\n')
        for scale, seeds in ((None, 2), ("check", 3), ("paper", 2)):
            self.assertEqual(len(sweep.Sweep(self.path("b.sweep"), scale).runs), 2 * seeds)

    def test_a_key_of_all_tables_and_of_one(self):
        for key, sizes in (("workload.bytes", [500] * 3), ("workload[1].bytes", None)):
            wanted = self.sweep(f'[[parameter]]\nkey = "{key}"\nvalues = [500]', source="loads")
            found = [one["bytes"] for one in wanted.build(wanted.runs[0]).config["workload"]]
            self.assertEqual(found, sizes or [["1kb", "20kb"], 500, "1kb"])

    def test_a_table_that_the_scenario_does_not_have(self):
        wanted = self.sweep('[[parameter]]\nkey = "noise.max"\nvalues = ["1us"]')
        self.assertEqual(wanted.build(wanted.runs[0]).noise.max_ns, 1000)

    def test_parts_have_each_run_once(self):
        wanted = self.sweep("seeds = 5", ECN)
        parts = [sweep_run.choose(wanted, None, f"{part}/3") for part in (1, 2, 3)]
        self.assertEqual(sorted(run.number for part in parts for run in part),
                         list(range(1, 21)))
        self.assertEqual([run.number for run in sweep_run.choose(wanted, "4", None)], [4])

    def test_points_under_two_kernels(self):
        """lab diff runs each with all its algorithms, and with its seeds from the first on."""
        self.sweep('scale = "large"', PANEL + "}]", ECN)
        found = kernel_diff.scenarios([self.path("a.sweep")], None, None, 3)
        self.assertEqual([(stem, [(seed, one.seed, one.queue.ecn_min_bytes, len(one.variants),
                                   one.paper) for seed, one in builds]) for stem, builds in found],
                         [(f"star-queue.ecn={size}kb", [(seed, seed, size << 10, 2, ())
                                                        for seed in (7, 8, 9)])
                          for size in (20, 80)])


class Keys(Files):
    def setUp(self):
        super().setUp()
        modules = self.path("modules")
        os.mkdir(modules)
        names = [os.path.join("modules", name) for name in
                 ("quell_labnic.ko", "quell_labflow.ko", "sch_swport.ko", "quell.ko",
                  "tcp_swift.ko")]
        for name in [*names, "linux", "lab-init", "detrand.so"]:
            self.write(name, name)
        self.kernel = Kernel("normal", self.path("linux"), modules, self.path("lab-init"))

    def key(self, *texts, number=0, **changes):
        sweep_store.digest.cache_clear()
        wanted = self.sweep(*texts, **changes)
        return sweep_store.key_of(wanted.build(wanted.runs[number]), self.kernel)

    def test_what_changes_a_result_changes_its_name(self):
        names = [self.key(), self.key(number=1), self.key("seeds = [2]"), self.key(ECN),
                 self.key(AI, number=2),
                 self.key('algorithm = [{ name = "swift", acks-per-rtt = 3 }]')]
        for name in ("linux", "lab-init", "detrand.so", "modules/tcp_swift.ko"):
            self.write(name, "another")
            names.append(self.key())
        self.write("star.scenario", STAR + "[[measure]]\nfrom = '0'\nto = '10us'\n")
        names.append(self.key())
        self.assertEqual(len(set(names)), len(names))

    def test_names_and_panels_do_not(self):
        one = self.key()
        self.assertEqual(self.key('panel = [{ quantity = "drops" }]'), one)
        self.assertEqual(self.key('algorithm = [{ name = "swift", label = "other" }]'), one)
        self.write("star.scenario", STAR.replace('"Star"', '"Sun"').replace("fct_max", "drops"))
        self.assertEqual(self.key(), one)
        # The paper's value, written out.
        self.assertEqual(self.key(AI), one)


def panel(quantity, over=None):
    """A panel of a figure."""
    return sweep_page.Panel(quantity, quantity, "time", quantity,
                            sweep.PanelMore(None, over, None, ()))


class Sums(Files):
    def sums(self, *texts, values):
        wanted = self.sweep(*texts)
        list(wanted.build_points())
        return wanted, sweep_page.Sums(wanted, values(wanted))

    def test_each_file_is_shown_once(self):
        """A key that a file overrides would be there twice in the text of both."""
        texts = {"star.scenario": STAR, "more.scenario": 'extends = "star.scenario"\nseed = 5\n',
                 "below.sweep": 'scenario = ["star.scenario", "more.scenario"]\nseeds = 2\n',
                 "top.sweep": 'extends = "below.sweep"\nseeds = 3\n'}
        for name, text in texts.items():
            with open(self.path(name), "w", encoding="ascii") as file:
                file.write(text)
        wanted = sweep.Sweep(self.path("top.sweep"))
        self.assertEqual(sweep_page.file_texts(wanted), texts)

    def test_medians_over_seeds_that_have_a_value(self):
        wanted, sums = self.sums("seeds = 3", ECN, values=lambda wanted: {
            run.number: {"fct_p50": run.number * 10} for run in wanted.runs if run.number != 4})
        self.assertEqual(sums.at(panel("fct_p50"), ("star",), "20kb", "swift"), (20, 10, 30))
        self.assertEqual(sums.at(panel("fct_p50"), ("star",), "20kb", "dctcp"), (55, 50, 60))
        self.assertIsNone(sums.at(panel("drops"), ("star",), "20kb", "dctcp"))
        path = self.path("sweep.csv")
        sweep_page._write_table(path, wanted, sums)
        with open(path, encoding="ascii", newline="") as file:
            rows = list(csv.reader(file))
        self.assertEqual(rows[:3], [
            ["scenario", "cc", "queue.ecn", "quantity", "seeds", "median", "min", "max", "values"],
            ["star", "swift", "20kb", "fct_p50", "3", "20", "10", "30", "10 20 30"],
            ["star", "dctcp", "20kb", "fct_p50", "2", "55", "50", "60", "50 60"]])

    def test_the_table_for_a_paper_names_each_scenario_and_its_runs(self):
        wanted = self.sweep("seeds = 2", ECN)
        (source,) = wanted.sources
        self.assertEqual([variant.label for variant in wanted.first(source).variants],
                         ["swift", "dctcp"])
        self.assertEqual(sweep_page._middle([2.5753, 2.5754]), 2.57535)

    def test_a_run_for_several_values_is_in_all_of_them(self):
        _, sums = self.sums(AI, values=lambda wanted: {
            run.number: {"drops": run.number} for run in wanted.runs})
        self.assertEqual([sums.at(panel("drops"), ("star",), ai, "dctcp")
                          for ai in ("50mbit", "1gbit")], [(2, 2, 2)] * 2)

    def test_the_second_parameter_has_panels_beside_each_other(self):
        _, sums = self.sums(ECN, AI, values=lambda wanted: {})
        self.assertEqual((sums.x_name, sums.combos), (
            "queue.ecn", [("star", "50mbit"), ("star", "1gbit")]))
        self.assertEqual(sums.combo_title(sums.combos[1]), "swift.ai 1gbit")

    def test_without_a_parameter_scenarios_are_on_the_axis(self):
        wanted = self.sweep('algorithm = [{ name = "swift" }]')
        list(wanted.build_points())
        sums = sweep_page.Sums(wanted, {1: {"drops": 5}})
        self.assertEqual((sums.x_values, sums.at(panel("drops"), (), "star", "swift")), (["star"],
                                                                                 (5, 5, 5)))

    def test_beside_the_papers_numbers(self):
        wanted = self.sweep('panel = [{ quantity = "drops", figure = "A", over = "dctcp", paper = ['
                            '{ run = "swift", at = "80kb", value = 3, note = "twice" }, '
                            '{ run = "swift", at = "20kb" }] }]', ECN)
        list(wanted.build_points())
        sums = sweep_page.Sums(wanted, {run.number: {"drops": run.number + 1}
                                        for run in wanted.runs})
        one, two = sweep_page.compared(sums, "a")
        self.assertEqual((one["figure"], one["quantity"], one["of"], one["run"], one["note"]),
                         ("A", "drops over dctcp", " at queue.ecn 80kb", "swift", "twice"))
        self.assertEqual((one["paper"], one["ours"], one["ratio"], one["others"]),
                         (3, 0.8, 0.2667, {"dctcp": 1}))
        self.assertEqual((two["paper_text"], two["ratio"], two["report"]),
                         ("-", None, "a/report.html"))
        marks = [(line.xs, line.ys) for facet in sweep_page.make_chart(sums).facets
                 for line in facet.lines if line.kind == "points" and line.xs]
        self.assertEqual(marks, [([80 * 1024], [3])])

    def test_places_on_the_axis(self):
        for values, where in (
                ((0.2, "40%", 0.6), ([0.2, 0.4, 0.6], False)),
                (("20us", "1ms"), ([2e4, 1e6], True)), (("0", "10us"), ([0, 1e4], False)),
                (("1kb", "2kb"), ([1024, 2048], False)),
                (("1gbit", "40gbit"), ([2**27, 40 * 2**27], True)),
                (("dequeue", "enqueue"), ([0, 1], False)), ((True, False), ([0, 1], False)),
                ((float("nan"), 1), ([0, 1], False))):
            self.assertEqual(sweep_page.positions(values), where)


class ReadyMade(unittest.TestCase):
    def test_incasts(self):
        """Of Figure 12 of SMaRTT: 12 points a scenario, buffers by bandwidth-delay products."""
        products = {"100g": 150000, "800g": 1200000}
        for name, runs, share in (("incasts", 144, 5), ("trimmed", 168, 1), ("paused", 48, None)):
            with self.subTest(name):
                wanted = sweep.Sweep(os.path.join(runner.HERE, "scenarios", "incasts",
                                                  f"{name}.sweep"))
                self.assertEqual(len(wanted.runs), runs)
                built = list(wanted.build_points())
                self.assertEqual(len(built), 12 * len(wanted.sources))
                for source in wanted.sources if share else ():
                    product = products[source.name.partition("-")[0]]
                    queue = wanted.first(source).queue
                    self.assertEqual((queue.limit_bytes, queue.ecn_min_bytes, queue.ecn_max_bytes),
                                     (share * product, product // 5, product * 4 // 5))


class Stores(Files):
    def test_a_run_appears_whole_or_not_at_all(self):
        store = sweep_store.Store(self.path("out"))
        store.open()
        work = sweep_store.Work(store.runs)
        self.write("kernel.log", "log")
        self.assertIsNone(store.load("key"))
        store.put("key", work, {"fct": {"1": 5}}, self.path("kernel.log"))
        self.assertEqual(store.load("key"), {"fct": {1: 5}})
        store.put("key", sweep_store.Work(store.runs), {}, self.path("kernel.log"))
        self.assertEqual(store.load("key"), {"fct": {1: 5}})	# who comes second changes nothing

    def test_who_is_at_work_is_left_alone(self):
        store = sweep_store.Store(self.path("out"))
        store.open()
        work = sweep_store.Work(store.runs)
        # flock(2) is of the opened file, so one process can see it held.
        store.open()
        self.assertTrue(os.path.exists(work.path))
        os.close(work.lock)
        store.open()
        self.assertEqual(os.listdir(store.runs), [])

    def test_a_directory_without_a_result_is_replaced(self):
        store = sweep_store.Store(self.path("out"))
        store.open()
        self.write("kernel.log", "log")
        os.mkdir(store.path("key"))
        self.write("out/runs/key/kernel.log", "of old")
        self.assertIsNone(store.load("key"))
        store.put("key", sweep_store.Work(store.runs), {"a": 1}, self.path("kernel.log"))
        self.assertEqual(store.load("key"), {"a": 1})

    def test_half_a_result_is_refused(self):
        store = sweep_store.Store(self.path("out"))
        os.makedirs(store.path("key"))
        with open(os.path.join(store.path("key"), "result.json"), "w", encoding="ascii") as file:
            file.write("{")
        with self.assertRaisesRegex(InputError, "remove it"):
            store.load("key")


class BadInput(Files):
    def refused(self, text, words, *options):
        self.write("bad.sweep", text)
        out = self.path("out")
        with contextlib.redirect_stderr(io.StringIO()) as stream:
            status = cli.main(["sweep", self.path("bad.sweep"), "--out", out, *options])
        said, place = stream.getvalue(), 0
        for word in words:
            place = said.find(word, place)
            self.assertNotEqual(place, -1, f"no '{word}' in: {said}")
        self.assertEqual(status, 2, said)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertLessEqual(said.count("bad.sweep"), 1, said)
        self.assertFalse(os.path.exists(out))

    def test_files(self):
        for text, words in REFUSED:
            with self.subTest(text=text):
                self.refused(text, words)

    def test_options(self):
        for options, words in OPTIONS:
            with self.subTest(options=options):
                self.refused('scenario = "star.scenario"\n' + ECN, words, *options)

    def test_directory_of_something_else(self):
        os.mkdir(self.path("full"))
        self.write("full/.quell-lab", "a run's")
        self.refused('scenario = "star.scenario"\n' + ECN, ("no earlier sweep",), "--out",
                     self.path("full"))
        self.assertEqual(os.listdir(self.path("full")), [".quell-lab"])
