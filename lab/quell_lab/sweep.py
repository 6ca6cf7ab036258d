# SPDX-License-Identifier: GPL-2.0
"""A sweep file: scenarios x values of parameters x algorithms x seeds, as single runs.

The file is TOML, as a scenario is.  Every run is a scenario of its own, with one
algorithm, in which some keys have other values; scenario.build() checks it.
"""

import copy
import itertools
import json
import os
import re
from dataclasses import dataclass
from fractions import Fraction

from . import files, paper, programs, scenario, slowdown, workload
from .algorithms import ALGORITHMS
from .errors import InputError, nearest
from .schema import Key, Places, check, each, value_of

SEEDS_MAX = 1000
RUNS_MAX = 100000
AXES_MAX = 2
OVER_MAX = 1000
LOAD = "load"
TOP_KEYS = {
    "title": Key("text", default=None),
    "scenario": Key("scalars"),
    "scale": Key("text", default=None),
    "algorithm": Key("list", default=None),
    "load": Key("list", default=None),
    "oversubscription": Key("scalar", default=1),
    "seeds": Key("scalars", default=1),
    "parameter": Key("list", default=None),
    "panel": Key("list", default=None),
    "instead": Key("table", default=None),
}
PARAMETER_KEYS = {"key": Key("text"), "values": Key("list"), "name": Key("text", default=None)}
ROW_KEYS = ("quantity", "measure", "sizes")
PANEL_KEYS = {**{name: paper.KEYS[name] for name in ROW_KEYS}, "name": Key("text", default=None),
              "over": Key("text", default=None), "figure": Key("text", default=None),
              "paper": Key("list", default=None)}
POINT_KEYS = {"at": Key("scalar", default=None), "run": Key("text"),
              "scenario": Key("text", default=None), "value": Key("scalar", default=None),
              "note": Key("text", default=None)}
SEED = Key("int", 0, 2**32 - 1)
# Of the scenario, but set by other keys of a sweep, or of no run.
NOT_SWEPT = {"seed": "give seeds", "algorithm": "name the algorithm: swift.ai",
             "title": "it changes no run", "paper": "it changes no run", "scale": "give scale"}
# Of an [[algorithm]] table, beside its parameters.
ENTRY_KEYS = set(scenario.ALGORITHM_KEYS) - {"name", "label", "ops", "set"}
STEP = re.compile(r"([a-z][a-z-]*)(?:\[([0-9]{1,4})\])?")
OF_SIZES = (".bytes", ".sizes")	# keys by which flows may come to be all as large
# Panels where the file has none, of flows of several sizes and of one.
PANELS_OF_SIZES = ("slowdown_p50", "slowdown_p99", "goodput", "queue_max")
PANELS = ("fct_p50", "fct_p99", "goodput", "queue_max")


@dataclass(frozen=True)
class Axis:
    """One thing that varies: the load, or a key with its values as written."""

    key: str
    name: str			# for people
    values: tuple		# as TOML has them


@dataclass(frozen=True)
class Entry:
    """An algorithm of a sweep: one curve."""

    label: str
    name: str			# in the kernel
    table: dict			# [[algorithm]]


@dataclass(frozen=True)
class Source:
    """A scenario file, at the scale, with its algorithms and seeds."""

    path: str
    name: str
    texts: dict			# files.texts()
    table: dict
    entries: tuple		# Entry
    seeds: tuple


@dataclass(frozen=True)
class Cell:
    """What one run is of: a place in the figure, and a seed."""

    source: Source
    values: tuple		# of each axis
    label: str
    seed: int


@dataclass(frozen=True)
class Point:
    """What a paper has at a place of a panel; value: None, it has no number."""

    scenario: str
    at: object			# value of the first axis, None without one
    run: str
    value: object		# as written
    note: str


@dataclass(frozen=True)
class PanelMore:
    """What a panel has beside its quantity."""

    name: object		# for people, or None
    over: object		# label of the run that all are divided by, or None
    figure: object		# of a paper, or None
    points: tuple		# Point


@dataclass(frozen=True)
class Run:
    """One run, and all cells that it stands for: those whose inputs are the same."""

    number: int			# from 1
    cells: tuple
    entry: Entry

    def text(self, axes):
        """The run in a few words."""
        cell = self.cells[0]
        words = [cell.source.name, cell.label, *point_words(axes, cell.values),
                 f"seed={cell.seed}"]
        more = len(self.cells) - 1
        return " ".join(words) + (f" (and {more} more alike)" if more else "")


def shown(value):
    """A value as TOML has it, for people."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def point_words(axes, values):
    """KEY=VALUE of each axis."""
    return [f"{axis.key}={shown(value)}" for axis, value in zip(axes, values)]


def at_scale(table, scale):
    """A sweep's dictionary with what its [instead.NAME] has, if there is one of that name."""
    instead = table.get("instead")
    changed = instead.get(scale, {}) if isinstance(instead, dict) else {}
    return {**table, **(changed if isinstance(changed, dict) else {})}


class Sweep:
    """A sweep file, checked: axes, sources, runs, panels."""

    def __init__(self, path, scale=None):
        self.path = path
        self.places = Places(path)
        if path.endswith(".scenario"):
            raise InputError(path, "a scenario, not a sweep: 'lab run' runs it")
        top = check(self.places, "", at_scale(files.load(path), scale), TOP_KEYS)
        self.texts = files.texts(path)
        self.title = top["title"] or os.path.basename(path)
        self.over = self._over(top["oversubscription"])
        self.axes = self._axes(top)
        self.sources = self._sources(top)
        self.panels, self.more = self._panels(top["panel"])
        self.runs = self._runs()
        self.rows = {}		# (source name, values) -> paper.Row of each panel, once checked

    def _where(self, path):
        return self.places.name(path)

    def _over(self, value):
        """Of what hosts are offered the loads are so many times as much."""
        number = value if isinstance(value, (int, float)) and not isinstance(value, bool) else 0
        if not 1 <= number <= OVER_MAX:
            raise InputError(self._where("oversubscription"), f"'{value}' is out of range: 1 to "
                             f"{OVER_MAX}")
        return Fraction(str(number))

    def _axes(self, top):
        axes = []
        if top["load"] is not None:
            axes.append(Axis(LOAD, "Load", self._values("load", top["load"])))
        elif top["oversubscription"] != 1:
            raise InputError(self._where("oversubscription"), "without load there is none")
        for where, table in each(self.places, "parameter", top["parameter"], PARAMETER_KEYS):
            axes.append(Axis(table["key"], table["name"] or table["key"],
                             self._values(f"{where}.values", table["values"])))
        if len(axes) > AXES_MAX:
            raise InputError(self._where("parameter"), f"{len(axes)} of them, the load included, "
                             f"is out of range: at most {AXES_MAX}")
        if len({axis.key for axis in axes}) < len(axes):
            raise InputError(self._where("parameter"), f"'{axes[0].key}' is given twice")
        return tuple(axes)

    def _values(self, path, values):
        if not values:
            raise InputError(self._where(path), "an empty list: at least one value is needed")
        for value in values:
            if not isinstance(value, (str, int, float)):
                raise InputError(self._where(path), f"'{value}' is not a text, a number, true or "
                                 "false")
        if len({shown(value) for value in values}) < len(values):
            raise InputError(self._where(path), "a value is given twice")
        return tuple(values)

    def _sources(self, top):
        paths = top["scenario"] if isinstance(top["scenario"], list) else [top["scenario"]]
        if not paths or not all(isinstance(path, str) for path in paths):
            raise InputError(self._where("scenario"), "one file, or a list of files")
        sources = [self._source(path, top) for path in paths]
        names = [source.name for source in sources]
        for name in names:
            if names.count(name) > 1:
                raise InputError(self._where("scenario"), f"two files are named '{name}'")
        return tuple(sources)

    def _source(self, path, top):
        path = os.path.join(os.path.dirname(self.path), path)
        places = Places(path)
        table = scenario.at_scale(files.load(path), places, top["scale"])
        table.pop("paper", None)
        entries = table.get("algorithm")
        if top["algorithm"] is not None:
            entries = [self._own(entry) for entry in top["algorithm"]]
            places = Places(path, {"algorithm": self._where("algorithm")})
        if entries is not None:
            table["algorithm"] = entries
        built = scenario.build(table, places)
        entries = tuple(Entry(variant.label, variant.name, dict(entry, label=variant.label))
                        for entry, variant in zip(entries, built.variants))
        return Source(path, os.path.basename(path).removesuffix(".scenario"), files.texts(path),
                      table, entries, self._seeds(top["seeds"], built.seed))

    def _own(self, entry):
        """An [[algorithm]] table of the sweep; a BPF object is relative to the sweep's file."""
        name = entry.get("name") if isinstance(entry, dict) else None
        if isinstance(name, str) and programs.is_program(name):
            file = os.path.join(os.path.dirname(os.path.abspath(self.path)),
                                name.removeprefix(programs.PREFIX))
            return dict(entry, name=programs.PREFIX + file)
        return entry

    def _seeds(self, wanted, first):
        where = self._where("seeds")
        if not isinstance(wanted, list):
            return tuple(range(first, first + value_of(where, wanted, Key("int", 1, SEEDS_MAX))))
        seeds = tuple(value_of(where, one, SEED) for one in wanted)
        if not 1 <= len(seeds) <= SEEDS_MAX or len(set(seeds)) < len(seeds):
            raise InputError(where, f"{len(seeds)} seeds: 1 to {SEEDS_MAX}, each "
                             "once")
        return seeds

    def _panels(self, tables):
        """Tables of the panels as those of paper rows, which have the same quantities, and
        PanelMore."""
        wanted, more = [], []
        for where, table in each(self.places, "panel", tables, PANEL_KEYS):
            wanted.append({name: table[name] for name in ROW_KEYS if table[name] is not None})
            if table["over"] is not None:
                self._known(f"{where}.over", table["over"], self._labels())
            more.append(PanelMore(table["name"], table["over"], table["figure"],
                                  tuple(self._points(where, table))))
        if not wanted:
            sizes = not any(axis.key.endswith(OF_SIZES) for axis in self.axes) and all(
                slowdown.has_sizes(self._built(source).flows) for source in self.sources)
            wanted = [{"quantity": name} for name in (PANELS_OF_SIZES if sizes else PANELS)]
            more = [PanelMore(None, None, None, ())] * len(wanted)
        return tuple(dict(table, figure="sweep") for table in wanted), tuple(more)

    def _labels(self):
        return list(dict.fromkeys(entry.label for source in self.sources
                                  for entry in source.entries))

    def _known(self, path, name, names):
        if name not in names:
            raise InputError(self._where(path), f"no '{name}'{nearest(str(name), list(names))}: "
                             f"one of {', '.join(map(str, names))}")

    def _points(self, where, panel):
        """A panel's numbers of the paper, each at a place that there is."""
        if (panel["figure"] is None) != (panel["paper"] is None):
            raise InputError(self._where(f"{where}.figure"), "figure and paper go together: a "
                             "paper's name of it, and what it has there")
        names = [source.name for source in self.sources]
        for path, table in each(self.places, f"{where}.paper", panel["paper"], POINT_KEYS):
            self._known(f"{path}.run", table["run"], self._labels())
            if len(names) > 1 or table["scenario"] is not None:
                self._known(f"{path}.scenario", table["scenario"], names)
            at = None
            if self.axes:
                values = {shown(value): value for value in self.axes[0].values}
                self._known(f"{path}.at", shown(table["at"]), values)
                at = values[shown(table["at"])]
            yield Point(table["scenario"] or names[0], at, table["run"], table["value"],
                        table["note"] or "")

    def _built(self, source):
        return scenario.build(source.table, Places(source.path))

    def points(self):
        """Every (Source, values of the axes), in order."""
        return [(source, values) for source in self.sources
                for values in itertools.product(*(axis.values for axis in self.axes))]

    def _runs(self):
        groups = {}		# inputs of a run -> (entry, cells)
        for source, values in self.points():
            for entry in source.entries:
                table, own = self._tables_at(source, values, entry)
                inputs = json.dumps((table, dict(own, label=None)), sort_keys=True, default=str)
                for seed in source.seeds:
                    cell = Cell(source, values, entry.label, seed)
                    groups.setdefault((source.path, inputs, seed), (entry, []))[1].append(cell)
        if len(groups) > RUNS_MAX:
            raise InputError(self.path, f"{len(groups)} runs is out of range: at most {RUNS_MAX}")
        return tuple(Run(number, tuple(cells), entry)
                     for number, (entry, cells) in enumerate(groups.values(), start=1))

    def _tables_at(self, source, values, entry):
        """(scenario dictionary without algorithms, the algorithm's own) at a point."""
        table = copy.deepcopy({key: value for key, value in source.table.items()
                               if key != "algorithm"})
        own = copy.deepcopy(entry.table)
        for number, (axis, value) in enumerate(zip(self.axes, values)):
            has_load = self.axes[0].key == LOAD
            where = self._where("load" if axis.key == LOAD else
                                f"parameter[{number - has_load}].key")
            name, _, key = axis.key.rpartition(".")
            if axis.key == LOAD:
                _set_load(where, source, table, value, self.over)
            elif name in ALGORITHMS or name in [one.name for one in source.entries]:
                _need_algorithm(where, source, name)
                if name == entry.name:
                    _set_of_algorithm(own, key, value)
            else:
                _set_key(where, table, axis.key, value)
        return table, own

    def build(self, run):
        """The Scenario of a run, with its one algorithm."""
        cell = run.cells[0]
        table, own = self._tables_at(cell.source, cell.values, run.entry)
        return self._build(cell.source, cell.values, dict(table, algorithm=[own], seed=cell.seed))

    def first(self, source):
        """The Scenario of the first point of a source."""
        return self._at(*next(point for point in self.points() if point[0] is source))

    def at(self, source, values, seed):
        """The Scenario of a point, with all its algorithms and without the panels."""
        return self._at(source, values, seed=seed, paper=[])

    def _at(self, source, values, **other):
        """The Scenario of a point, with all its algorithms and the first seed, or other keys."""
        tables = [self._tables_at(source, values, entry) for entry in source.entries]
        return self._build(source, values, {
            **tables[0][0], "algorithm": [own for _, own in tables], "seed": source.seeds[0],
            **other})

    def build_points(self, runs=None):
        """
        The Scenario of every point, or those of some runs, with all its algorithms and the first
        seed, one after the other, as they may be large; InputError for what is wrong with one.
        """
        wanted = None if runs is None else {(cell.source.name, cell.values)
                                            for run in runs for cell in run.cells[:1]}
        for source, values in self.points():
            if wanted is not None and (source.name, values) not in wanted:
                continue
            built = self._at(source, values)
            self.rows[source.name, values] = built.paper
            yield built

    def _build(self, source, values, table):
        options = {f"paper[{number}].{key}": self._where(f"panel[{number}].{key}")
                   for number in range(len(self.panels)) for key in ROW_KEYS}
        options["algorithm"] = f"{source.path}: algorithm"
        try:
            built = scenario.build({"paper": list(self.panels), **table},
                                   Places(source.path, options))
            if built.processes:
                raise InputError("program", "not in a sweep, which keeps figures of flows alone")
            return built
        except InputError as error:
            words = point_words(self.axes, values)
            raise InputError(f"{self.path}: {', '.join(words)}" if words else self.path,
                             str(error).removeprefix(f"{self.path}: ")) from None


def _need_algorithm(where, source, name):
    names = list(dict.fromkeys(entry.name for entry in source.entries))
    if name not in names:
        raise InputError(where, f"no run of '{name}'{nearest(name, names)}: {source.path} has "
                         f"{', '.join(names)}")


def _set_of_algorithm(own, key, value):
    """What an algorithm's table has itself stays: a curve to compare with."""
    if key in ENTRY_KEYS:
        own.setdefault(key, value)
    else:
        own.setdefault("set", {}).setdefault(key, value)


def _set_load(where, source, table, value, over):
    """The loads of all workloads add up to the value over the oversubscription, in the
    proportions they have."""
    workloads = [one for one in table.get("workload") or [] if "load" in one]
    if not workloads:
        raise InputError(where, f"no [[workload]] of {source.path} has a load")
    loads = [workload.parse_load(where, one["load"]) for one in workloads]
    factor = workload.parse_load(where, value) / over / sum(loads)
    for one, load in zip(workloads, loads):
        one["load"] = str(load * factor)


def _set_key(where, table, path, value):
    steps = [STEP.fullmatch(step) for step in path.split(".")]
    if not all(steps):
        raise InputError(where, f"'{path}' is not written as queue.limit, workload[0].load, or "
                         "swift.ai")
    name = steps[0][1]
    if name in NOT_SWEPT:
        raise InputError(where, f"'{path}' is not a key to sweep: {NOT_SWEPT[name]}")
    if name not in scenario.TOP_KEYS:
        known = [key for key in scenario.TOP_KEYS if key not in NOT_SWEPT]
        raise InputError(where, f"'{path}': unknown key{nearest(name, (*known, *ALGORITHMS))}: one "
                         f"of {', '.join(known)}, or an algorithm")
    if name not in table and scenario.TOP_KEYS[name].kind == "list":
        raise InputError(where, f"'{path}': the scenario has no [[{name}]]")
    _set_in(where, table, steps, value)


def _set_in(where, table, steps, value):
    """Set a key of a table, or of all tables of a list on the way, or of one by its number."""
    name, number = steps[0].groups()
    if len(steps) == 1:
        if number is not None:
            raise InputError(where, f"'{steps[0][0]}' is a whole table: name a key of it")
        table[name] = value
        return
    below = table.setdefault(name, {})
    if number is not None and not (isinstance(below, list) and int(number) < len(below)):
        raise InputError(where, f"'{steps[0][0]}': the scenario has no such table")
    chosen = below if isinstance(below, list) else [below]
    for one in chosen if number is None else [chosen[int(number)]]:
        if not isinstance(one, dict):
            raise InputError(where, f"'{steps[0][0]}' is no table of the scenario")
        _set_in(where, one, steps[1:], value)
