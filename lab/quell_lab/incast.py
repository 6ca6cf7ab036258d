# SPDX-License-Identifier: GPL-2.0
"""Scenarios of a command line: incast, and the algorithms of --cc."""

from . import flows, programs, scenario
from .algorithms import ALGORITHMS, TREES_OWN, unknown_parameter
from .errors import InputError, nearest
from .options import INCAST, INCAST_OPTIONS, TRUNK
from .schema import Places, value_of


def incast_table(args):
    """The scenario dictionary an incast command line stands for."""
    places = Places(options=INCAST_OPTIONS)
    table = {"title": f"Incast {args.senders}:1, {args.bytes} bytes, {args.rate}"}
    for name, _, key, default, _ in INCAST:
        value = getattr(args, name.replace("-", "_"))
        # Defaults of swport, which are those of [queue], would be refused with other ports.
        if value is not None and not (key.startswith("queue.") and value == default):
            section, _, last = key.rpartition(".")
            (table.setdefault(section, {}) if section else table)[last] = value
    network, kind = table["topology"], args.topology
    senders = value_of("--senders", args.senders, flows.INCAST_KEYS["senders"])
    given = [key for key in TRUNK if key in network]
    if given and kind != "dumbbell":
        raise InputError(f"--{given[0]}", "only a dumbbell has a trunk")
    if kind == "dumbbell":
        network.update(left=senders, right=1)
    elif kind == "leaf-spine":
        leaves = value_of("--leaves", args.leaves, scenario.TOPOLOGY_KEYS[kind]["leaves"])
        network["hosts"] = -(-(senders + 1) // leaves)
    else:
        network["hosts"] = senders + 1
    if kind not in scenario.INCAST_TOPOLOGIES:
        raise InputError("--topology", f"'{kind}'{nearest(kind, scenario.INCAST_TOPOLOGIES)}: "
                         f"one of {', '.join(scenario.INCAST_TOPOLOGIES)}")
    if kind == "leaf-spine":
        table["multipath"] = True
    else:
        del network["leaves"], network["spines"]
    if "at" in table.get("noise", {}) and args.noise is None:
        raise InputError("--noise-at", "without --noise there is nothing to place")
    table["algorithm"] = algorithms(args.cc, args.set)
    return table, places


def given_keys(table):
    """A table without the keys that were not given."""
    return {key: value for key, value in table.items() if value is not None}


def _pair(where, text):
    key, equals, value = text.partition("=")
    if not equals or not key or not value:
        raise InputError(where, f"'{text}' is not KEY=VALUE")
    return key, value


def algorithms(cc_text, set_texts):
    """--cc and --set as algorithm tables; an entry's own parameters win over --set, --set
    over its preset."""
    entries = []
    for text in cc_text.split(","):
        name, *pairs = text.split(":")
        if text.startswith(programs.PREFIX):
            name += ":" + pairs.pop(0)
        settings = dict(_pair("--cc", pair) for pair in pairs)
        preset, ops = settings.pop("preset", None), settings.pop("ops", None)
        label = None if programs.is_program(name) or TREES_OWN.fullmatch(name) else text
        entries.append(given_keys({"name": name, "label": label, "preset": preset, "ops": ops,
                               "set": settings}))
    own = [dict(entry["set"]) for entry in entries]
    for text in set_texts:
        path, value = _pair("--set", text)
        name, dot, key = path.partition(".")
        if not dot or not key:
            raise InputError("--set", f"'{text}' is not CC.KEY=VALUE")
        matching = [number for number, entry in enumerate(entries) if entry["name"] == name]
        if not matching:
            names = list(dict.fromkeys(entry["name"] for entry in entries))
            raise InputError("--set", f"'{text}': no run of '{name}'{nearest(name, names)}: "
                             f"--cc has {', '.join(names)}")
        if name in ALGORITHMS and key not in ALGORITHMS[name].parameters:
            raise InputError("--set", unknown_parameter((name, ALGORITHMS[name]), key))
        if name in ALGORITHMS:
            ALGORITHMS[name].parameters[key].parse(f"--set {name}.{key}", value)
        for number in matching:
            if key not in own[number]:
                entries[number]["set"][key] = value
    return entries
