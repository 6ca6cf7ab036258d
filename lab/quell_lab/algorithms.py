# SPDX-License-Identifier: GPL-2.0
"""Congestion controls the lab can run, and the parameters that can be set."""

import re
from dataclasses import dataclass, field, replace

from . import credit, express, programs, units
from .cores import cores
from .errors import InputError, nearest
from .presets import all_presets


@dataclass(frozen=True)
class Kind:
    """How the values of one kind of parameter are written."""

    parse: object
    show: object


# By unit, as in the netlink interface.
KINDS = {
    "none": Kind(units.parse_int, str),
    "ns": Kind(units.parse_time, units.show_time),
    "bytes": Kind(units.parse_size, units.show_size),
    "bytes-ps": Kind(units.parse_byte_rate, units.show_byte_rate),
    "q16": Kind(units.parse_q16, units.show_q16),
    "pkts": Kind(units.parse_int, str),
    "pkts-q16": Kind(units.parse_q16, units.show_q16),
    "bool": Kind(units.parse_switch, units.show_switch),
}


@dataclass(frozen=True)
class Parameter:
    """One parameter: kind, range and default in base units."""

    kind: Kind
    low: int
    high: int
    default: int

    def parse(self, where, text):
        """Base-unit value of the text, or InputError with the range."""
        allowed = f"{self.kind.show(self.low)} to {self.kind.show(self.high)}"
        try:
            value = self.kind.parse(text)
        except ValueError as error:
            raise InputError(where, f"{error}: allowed is {allowed}") from None
        if not self.low <= value <= self.high:
            raise InputError(where, f"'{text}' is out of range: {allowed}")
        return value


@dataclass(frozen=True)
class Algorithm:
    """A congestion control: what it takes beyond the kernel's own, and parameters by name."""

    modules: tuple = ()
    parameters: dict = field(default_factory=dict)
    core: str = None		# of Quell's, that it is made of
    program: object = None	# the programs.Program that it is, none of a module


def _algorithm(name, core):
    """One of ours, by what its core says."""
    return Algorithm(("quell.ko", core["module"] + ".ko"), {
        key: Parameter(KINDS[what["unit"]], what["min"], what["max"], what["default"])
        for key, what in core["parameters"].items()}, name)


def _parse_signed(text):
    """A decimal number, which may be negative."""
    digits = str(text).strip()
    return -units.parse_int(digits[1:]) if digits[:1] == "-" else units.parse_int(digits)


SIGNED = Kind(_parse_signed, str)


def _of_program(program):
    """A BPF object: parameters are those of its core, or else its global variables."""
    if program.core:
        return Algorithm((), ALGORITHMS[program.core].parameters, program.core, program)
    return Algorithm((), {key: Parameter(SIGNED, what.low, what.high, what.value)
                          for key, what in program.variables.items()}, None, program)


# Those whose segments may take paths of their own; swift's in the laboratory alone, as labswift.c.
SPRAYED = ("smartt", "swift")
KERNELS_OWN = ("dctcp", "cubic", "bbr", "reno")
# Of the kernel's tree, with the name of its source; lab/cc builds it.
TREES_OWN = re.compile(r"tcp_([a-z0-9_]+)\.ko")
ALGORITHMS = {name: _algorithm(name, core) for name, core in cores().items()}
# RCP's sender, of the laboratory alone: rcp_sender.h of its modules.
ALGORITHMS["rcp"] = Algorithm(("quell.ko", "quell_labrcp.ko"), {}, "rcp")
# ExpressPass's as well, whose rate receivers set: labexpress.c and labnic_credit.c.
ALGORITHMS["expresspass"] = Algorithm(("quell_labexpress.ko",), {
    "first-rate": Parameter(KINDS["q16"], 1, units.Q16_ONE, express.FIRST_Q16),
    "w": Parameter(KINDS["q16"], 1, express.W_MAX_Q16, express.W_Q16)})
ALGORITHMS.update({name: Algorithm() for name in KERNELS_OWN})


def _smartt_variant(number):
    """What quell_labsmartt.ko runs in place of tcp_smartt.ko: enum labsmartt_variant."""
    module = f"quell_labsmartt.ko variant={number}"
    return replace(ALGORITHMS["smartt"], modules=("quell.ko", module))


def _fast():
    """FAST* in place of tcp_timely.ko: timely_fast.h of the laboratory's modules."""
    own = {"fast-alpha": Parameter(KINDS["bytes-ps"], 1000, 12500000000, 6250000),
           "fast-gamma": Parameter(KINDS["q16"], 1, 65536, 32768),
           "fast-base": Parameter(KINDS["ns"], 0, 1000000000, 0)}
    timely = ALGORITHMS["timely"]
    return replace(timely, modules=("quell.ko", "quell_labfast.ko"),
                   parameters={**timely.parameters, **own})


def _infiniband():
    """InfiniBand's congestion control in place of tcp_dcqcn.ko: dcqcn_ib.h."""
    own = {"ib-timer": Parameter(KINDS["ns"], 1000, 1000000000, 153600),
           "ib-increase": Parameter(KINDS["none"], 0, 127, 1),
           "ib-limit": Parameter(KINDS["none"], 0, 16383, 127),
           "ib-step": Parameter(KINDS["q16"], 1, 65536, 65536)}
    dcqcn = ALGORITHMS["dcqcn"]
    return replace(dcqcn, modules=("quell.ko", "quell_labib.ko"),
                   parameters={**dcqcn.parameters, **own})


# Comparators of papers, in the laboratory alone, in place of an algorithm.
VARIANTS = {
    "marks": ("smartt", _smartt_variant(1)),
    "delay": ("smartt", _smartt_variant(2)),
    "decrease": ("smartt", _smartt_variant(3)),
    "plb": ("smartt", _smartt_variant(4)),
    "mprdma": ("smartt", _smartt_variant(5)),
    "open": ("smartt", ALGORITHMS["smartt"]),	# no window of its own: by credits alone
    "fast": ("timely", _fast()),
    "infiniband": ("dcqcn", _infiniband()),
}


@dataclass(frozen=True)
class Variant:
    """One run: an algorithm under a label, with parameters in base units."""

    name: str
    label: str
    values: dict		# parameter -> base-unit value, the preset's included
    texts: dict			# parameter -> as written, without the preset's
    preset: str = None
    of_paper: str = None	# the preset that holds because none is named
    entropies: int = 0		# of each flow's segments
    recycle: bool = True	# entropies of unmarked packets are used again
    rehash: bool = True		# the hash of a flow may change
    hwstamp: bool = False	# cards of hosts stamp what arrives
    nic_pace_bits_ps: int = 0	# at which cards of hosts pace each flow; 0: they do not
    lookahead: bool = False	# the scenario's look-ahead groups are registered
    deflect: bool = True	# ports deflect, where the scenario says so
    expedite: bool = False	# flows with a DSCP are control to ports: first, never marked
    tcp_int: int = 0		# parameter "tcp-int" of "quell"
    acks_per_rtt: int = 0	# parameter "acks-per-rtt" of "quell"
    tail_floor_ns: int = 0	# parameter "tail-floor" of "quell"; 0: its default
    program: object = None	# the Algorithm of a BPF object
    tree: object = None		# the Algorithm of a module of the kernel's tree
    variant: str = None		# of VARIANTS
    credit_bytes: int = 0	# sent unasked, the rest by credits of receivers; 0: no credits
    qdisc: object = None	# port_qdisc.PortQdisc in place of swport
    tcp_ecn: object = None	# net.ipv4.tcp_ecn of hosts; None: the kernel's default

    @property
    def algorithm(self):
        """What it runs."""
        if self.variant:
            return VARIANTS[self.variant][1]
        return self.program or self.tree or ALGORITHMS[self.name]

    @property
    def modules(self):
        """Modules to load, in order, the last with its parameter where it has one."""
        if self.credit_bytes:
            return ("quell.ko", f"quell_labeqds.ko sender={credit.SENDERS[self.variant]}")
        if self.entropies and self.name == "swift":
            return ("quell.ko", "quell_labswift.ko")
        return self.algorithm.modules

    @property
    def is_fitted(self):
        """Whether its flows are fitted to their path, so that the search or CUBIC may govern them,
        and quell.ko has for how long."""
        adapt = self.algorithm.parameters.get("adapt")
        return "quell.ko" in self.modules and adapt is not None and bool(
            self.values.get("adapt", adapt.default))

    @property
    def is_rcp(self):
        """Whether it is the laboratory's RCP, and no BPF object of that name."""
        return self.name == "rcp" and not self.program

    @property
    def is_express(self):
        """Whether it is the laboratory's ExpressPass, and no BPF object of that name."""
        return self.name == "expresspass" and not self.program


def find(where, name, directory="", ops=None):
    """(name in the kernel, Algorithm) of what --cc or a scenario names, files relative to a
    directory."""
    if programs.is_program(name):
        program = programs.find(where, name, directory, ops)
        return program.name, _of_program(program)
    own = TREES_OWN.fullmatch(name)
    if own and own[1] in ALGORITHMS:
        raise InputError(where, f"{name}: this congestion control is written {own[1]}")
    if not own and name not in ALGORITHMS:
        raise InputError(where, f"unknown congestion control '{name}'"
                         f"{nearest(name, ALGORITHMS)}: one of {', '.join(ALGORITHMS)}, "
                         f"{programs.PREFIX}FILE, tcp_NAME.ko")
    if ops is not None:
        raise InputError(where, f"{name} is no object file: ops chooses in one")
    return (own[1], Algorithm((name,))) if own else (name, ALGORITHMS[name])


def make_variant(where, found, label, texts, preset=None, variant=None):
    """Check the preset of what find() found and the parameters that override it."""
    name, algorithm = found
    if variant and algorithm != ALGORITHMS[VARIANTS[variant][0]]:
        raise InputError(where, f"{name} has no variant '{variant}': {VARIANTS[variant][0]} has")
    if variant:
        found = name, VARIANTS[variant][1]
    known = found[1].parameters
    values = {}
    of_paper = paper_preset(algorithm.core, texts) if preset is None else None
    for key, text in {**preset_texts(where, found, preset or of_paper), **texts}.items():
        if key not in known:
            raise InputError(where, unknown_parameter(found, key))
        values[key] = known[key].parse(f"{where}: {name}.{key}", text)
    return Variant(name, label, values, {key: str(text) for key, text in texts.items()}, preset,
                   of_paper, program=algorithm if algorithm.program else None,
                   tree=None if algorithm.program or name in ALGORITHMS else algorithm,
                   variant=variant)


def paper_preset(core, texts):
    """The preset of the paper, the algorithm's first, which holds where none is named;
    none where "adapt" is, for what is then asked for is the algorithm out of the box."""
    known = all_presets().get(core)
    return next(iter(known)) if known and "adapt" not in texts else None


def preset_texts(where, found, preset):
    """Values of an algorithm's preset as written, none without a preset."""
    if preset is None:
        return {}
    name, algorithm = found
    known = all_presets().get(algorithm.core, {})
    if preset not in known:
        raise InputError(where, f"{name} has no preset '{preset}'" + (
            f"{nearest(preset, known)}: one of {', '.join(known)}" if known else ": it has none"))
    return known[preset].texts


def unknown_parameter(found, key):
    """Sentence for a parameter that what find() found does not have."""
    name, algorithm = found
    known = algorithm.parameters
    if not known:
        return f"{name} has no parameter '{key}': it takes none"
    return f"{name} has no parameter '{key}'{nearest(key, known)}: one of {', '.join(known)}"
