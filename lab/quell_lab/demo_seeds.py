# SPDX-License-Identifier: GPL-2.0
"""The demonstration with several seeds: a table of each seed's numbers, and README's of it."""

import argparse
import csv
import json
import math
import os
import re
import subprocess
import tempfile
from statistics import median

from . import demo, runner
from .errors import InputError
from .schema import value_of
from .seeds import COUNT

SEEDS = 5			# from 1 on
TABLE = os.path.join(runner.ROOT, "Documentation", "demo-seeds.csv")
README = os.path.join(runner.ROOT, "README.md")
LICENCE = "# SPDX-License-Identifier: GPL-2.0\n"
COLUMNS = ("scenario", "cc", "quantity")
STORIES = {story.stem: story for story in demo.STORIES}
DEFAULTS, PRESET = "swift-adapt", "swift-dc-100g"
# Runs beside those of the demonstration: Swift as modprobe loads it, and with a preset.
MORE = {stem: f'{{ name = "swift", label = "{DEFAULTS}", set = {{ adapt = "on" }} }}, '
        for stem in ("load", "fairness")}
MORE["load"] += f'{{ name = "swift", label = "{PRESET}", preset = "dc-100g" }}, '
HEADER = ("| demonstration, five seeds: median (least to most) | Quell | beside | cost |",
          "|---|---|---|---|")
# {scenario.cc.quantity}: the text of it, as in the demonstration's table
ROWS = (
    ("web search at 60 % load: p99 slowdown of flows up to 10 kB", "Swift {load.swift.short}",
     "DCTCP {load.dctcp.short}",
     "longest flow {load.swift.longest} ms; DCTCP's {load.dctcp.longest}"),
    ("the same, `adapt=on`", "Swift {load.swift-adapt.short}",
     "preset `dc-100g` {load.swift-dc-100g.short}",
     "longest flow {load.swift-adapt.longest} ms; {load.swift-dc-100g.longest}"),
    ("the last flow of an incast of 48 servers ends after, us", "Swift {incast.swift.last}",
     "DCTCP {incast.dctcp.last}, after a timeout",
     "trimmed packets {incast.swift.trims}; DCTCP's drops {incast.dctcp.drops}"),
    ("16 staggered flows: 1 - Jain's index of their shares, mean",
     "Swift with VAI and SF {fairness.swift_vaisf.unfair}", "Swift {fairness.swift.unfair}",
     "mean queue {fairness.swift_vaisf.mean} kB; {fairness.swift.mean}"),
    ("the same, `adapt=on`", "Swift {fairness.swift-adapt.unfair}", "",
     "mean queue {fairness.swift-adapt.mean} kB"),
    ("equal shares after a second sender starts, us", "Dart {join.dart.median}",
     "never: HPCC {join.hpcc.never} of 20 times, DCTCP {join.dctcp.never}",
     "largest queue {join.dart.queue} kB; HPCC's {join.hpcc.queue}"),
)


def text_of(stem, is_whole=True):
    """The demonstration's scenario with MORE, or with those alone."""
    with open(os.path.join(demo.SCENARIOS, f"{stem}.scenario"), encoding="utf-8") as file:
        head, begin, rest = file.read().partition("algorithm = [")
    return head + begin + MORE.get(stem, "") + (rest if is_whole else rest[rest.index("\n]"):])


def numbers(stem, summaries):
    """{(scenario, cc, quantity): value} of a run; infinite: never."""
    return {(stem, label, name): math.inf if value is None else value
            for label, one in summaries.items() for name, column in STORIES[stem].columns.items()
            for value in (column.value(one),)}


def _run(stem, seeds, scratch):
    """[numbers()] of each seed."""
    path, out = os.path.join(scratch, f"{stem}.scenario"), os.path.join(scratch, stem)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text_of(stem))
    subprocess.run([os.path.join(runner.HERE, "lab"), "run", path, "--seed", "1", "--seeds",
                    str(seeds), "--no-figures", "--out", out], check=True,
                   stdout=subprocess.DEVNULL)
    for seed in range(1, seeds + 1):
        with open(os.path.join(out, f"seed-{seed}", "summary.json"), encoding="utf-8") as file:
            yield numbers(stem, json.load(file)["cc"])


def write(path, found):
    """Write {(scenario, cc, quantity): [value of each seed]}."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(LICENCE)
        table = csv.writer(file, lineterminator="\n")
        table.writerow((*COLUMNS, *range(1, len(next(iter(found.values()))) + 1)))
        table.writerows((*key, *values) for key, values in found.items())


def read(path=TABLE):
    """As it was written."""
    with open(path, encoding="utf-8", newline="") as file:
        return {tuple(row[:len(COLUMNS)]): list(map(float, row[len(COLUMNS):]))
                for row in list(csv.reader(file))[2:]}


def _cell(key, values):
    """Median, least and most, as the demonstration's table writes them."""
    column = STORIES[key[0]].columns[key[2]]
    middle, least, most = (
        column.absent if value == math.inf else
        column.write(int(value) if value == int(value) else value)
        for value in (median(values), min(values), max(values)))
    return middle + f" ({least} to {most})" * (least != most)


def table(found):
    """Lines of README's table."""
    cells = {".".join(key): _cell(key, values) for key, values in found.items()}
    return [*HEADER, *("| " + " | ".join(re.sub(r"{(.*?)}", lambda name: cells[name[1]], cell)
                                         for cell in row) + " |" for row in ROWS)]


def readme():
    """(text before README's table, text after it); InputError without one."""
    with open(README, encoding="utf-8") as file:
        before, header, rest = file.read().partition("\n".join(HEADER) + "\n")
    if not header:
        raise InputError(README, f"no table with the header {HEADER[0]}")
    return before, rest[rest.index("\n\n"):]


def replace(files):
    """Replace files by {path: function that writes one}, all or, if one cannot be written, none."""
    for path, write_one in files.items():
        write_one(f"{path}.new")
    for path in files:
        os.replace(f"{path}.new", path)


def main(argv=None):
    """Run the seeds, write both, or print the table of another number of seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default=SEEDS, metavar="N",
                        help="from 1 on; of another number than five the table is printed alone")
    args = parser.parse_args(argv)
    try:
        count = value_of("--seeds", args.seeds, COUNT)
        before, after = readme()
    except InputError as error:
        parser.error(str(error))
    found = {}
    with tempfile.TemporaryDirectory() as scratch:
        for stem in STORIES:
            for one in _run(stem, count, scratch):
                for key, value in one.items():
                    found.setdefault(key, []).append(value)
    text = "\n".join(table(found))
    if count != SEEDS:
        print(text)
        return 0

    def write_readme(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(before + text + after)
    replace({TABLE: lambda path: write(path, found), README: write_readme})
    return 0
