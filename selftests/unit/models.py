# SPDX-License-Identifier: GPL-2.0
"""
The cores beside their models in floating point.  A model is a class with the flow's state and
a method for each event.  Prints TAP.

OUTDIR, the argument, has the cores as a library and its preprocessed source, which has their
structures.  In a model a field's name lacks the unit: times are ns, sizes bytes, rates bytes/ns,
fractions parts of 1.
"""

import copy
import ctypes
import functools
import os
import random
import re
import sys
from types import SimpleNamespace

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS = int(os.environ.get("STEPS", "60000"))
EPISODE = 50		# steps of one flow
INIT, ACK, LOSS, RTO, IDLE = range(5)
EVENTS = (ACK,) * 7 + (LOSS, RTO, IDLE)
UNLIMITED = 2**64 - 1

OUT = (sys.argv[1:] or [HERE])[0]
with open(os.path.join(OUT, "cores.i"), encoding="ascii") as file:
    HEADERS = file.read()
FLAGS = {name: int(value, 0) for name, value in
         re.findall(r"#define QUELL_(\w+)\s+(0x[0-9a-f]+)\b", HEADERS)}
LIBRARY = ctypes.CDLL(os.path.join(OUT, "cores.so"))
LIBRARY.core_draw.argtypes = (ctypes.c_uint64, ctypes.c_uint64)
LIBRARY.core_draw.restype = ctypes.c_uint32
LIBRARY.core_find.restype = LIBRARY.core_param.restype = ctypes.c_void_p


@functools.cache
def structure(name):
    """A structure of the headers as ctypes has it."""
    types = {"u64": ctypes.c_uint64, "u32": ctypes.c_uint32, "u16": ctypes.c_uint16,
             "u8": ctypes.c_uint8, "_Bool": ctypes.c_bool, "enum": ctypes.c_int}
    fields = []
    body = re.search(r"struct quell_%s \{(.*?)\n\};" % name, HEADERS, re.S).group(1)
    for kind, of, pointer, field in re.findall(
            r"(?:const\s+)?(\w+)(?:\s+quell_(\w+))?\s+(\*?)(\w+);", body):
        if pointer:
            kind = ctypes.c_char_p if kind == "char" else ctypes.c_void_p
        else:
            kind = structure(of) if kind == "struct" else types[kind]
        fields.append((field, kind))
    if len(fields) != body.count(";"):
        raise ValueError(f"fields of struct quell_{name} that are not read")
    return type(name, (ctypes.Structure,), {"_fields_": fields})


@functools.cache
def flags(prefix):
    """(name in a model, bit) of the flags with this prefix."""
    return [("f_" + name.removeprefix(prefix).lower(), bit) for name, bit in FLAGS.items()
            if name.startswith(prefix)]


@functools.cache
def scales(kind):
    """(name in a model, field, factor) of each field."""
    found = []
    for field, _ in kind._fields_:
        name, unit, bits = re.fullmatch(
            r"(\w+?)(_bytes_ps|_bytes2?|_ns|_nr|_bool|_steps|_rtos)?(?:_q(\d+))?",
            field).groups()
        found.append((name, field, 2.0 ** -int(bits or 0) / (1e9 if unit == "_bytes_ps" else 1)))
    return found


def numbers(block, prefix=None):
    """{name in a model: value} of all fields, and "f_..." of the flags with this prefix."""
    found = {}
    if prefix:
        for name, bit in flags(prefix):
            found[name] = block.flags & bit != 0
    for name, field, factor in scales(type(block)):
        value = getattr(block, field)
        found[name] = (SimpleNamespace(**numbers(value)) if isinstance(value, ctypes.Structure)
                       else value * factor)
    return found


class Random(random.Random):
    """Seeded numbers."""

    def between(self, low, high):
        """Uniform, both included."""
        return low + int(self.random() * (high - low + 1))

    def magnitude(self, low, high):
        """Uniform over the orders of magnitude; 0 is one of them."""
        bits = self.between(int(low).bit_length(), int(high).bit_length())
        value = self.getrandbits(bits) | 1 << (bits - 1) if bits else 0
        return max(low, min(value, high))


class Pair:
    """
    A flow of a core and of its model.  For each core: name, model, begin(), random_sample(),
    is_ambiguous(), compare(), and follow() where the model's state has other names.
    """

    name = parts = model = None
    most_ambiguous = 1 / 20

    def enough(self):
        """{event: whether a run has met enough of it}"""
        return {}

    def __init__(self):
        name, parts = self.name, self.parts or self.name
        self.core = ctypes.c_void_p(LIBRARY.core_find(name.encode()))
        self.event = structure("event")()
        self.params = structure(name + "_params")()
        self.vars = structure(parts + "_vars")()
        self.stats = structure(parts + "_stats")()
        for part in ("params", "vars", "stats"):
            setattr(self.event, part, ctypes.addressof(getattr(self, part)))
        self.sample, self.out = self.event.sample, self.event.decision
        self.descs, index = [], 0
        while desc := LIBRARY.core_param(self.core, index):
            self.descs.append(structure("param_desc").from_address(desc))
            index += 1

    def start(self, r=None, of=3, most=False, params=None, **sample):
        """
        A new flow: default parameters but for @params or, with @r, some or most of them random.
        """
        for desc in self.descs:
            value = (params or {}).get(desc.field.decode(), getattr(desc, "def"))
            if r and (r.between(1, of) == 1) != most:
                value = r.magnitude(desc.min, desc.max)
            ctypes.c_uint64.from_address(self.event.params + desc.offset).value = value
        LIBRARY.core_params_derive(self.core, ctypes.byref(self.params))
        ctypes.memset(ctypes.byref(self.stats), 0, ctypes.sizeof(self.stats))
        self.p = SimpleNamespace(**numbers(self.params))
        self.m = self.model(self.p)
        self.fill(sample)
        LIBRARY.core_event(self.core, INIT, ctypes.byref(self.event))
        self.follow()

    def state(self):
        """The core's state in the model's names."""
        return numbers(self.vars, self.name.upper() + "_F_")

    def follow(self):
        """Set the model to the core's state."""
        vars(self.m).update(self.state())

    def step(self, event, rand=0, **sample):
        """The same event for both; @rand is the core's draw."""
        s = self.fill(sample, rand)
        LIBRARY.core_event(self.core, event, ctypes.byref(self.event))
        (None, self.m.on_ack, self.m.on_loss, self.m.on_rto, self.m.on_idle)[event](s)

    def fill(self, sample, rand=0):
        """The core's sample; returns the model's."""
        ctypes.memset(ctypes.byref(self.sample), 0, ctypes.sizeof(self.sample))
        for field, value in sample.items():
            if isinstance(value, dict):
                for inner, number in value.items():
                    setattr(getattr(self.sample, field), inner, int(number))
            else:
                setattr(self.sample, field, int(value))
        return SimpleNamespace(**numbers(self.sample, "S_"), rand=rand)


class Errors:
    """The largest errors of a run and its results."""

    ran = failed = 0

    def __init__(self, core, run):
        self.core, self.run = core, run
        self.found, self.counts = {}, {}

    def near(self, quantity, got, wanted, bound, of=None, limit=0):
        """Compare a number; @limit of its error in parts of @of, which is @wanted."""
        error = abs(got - wanted)
        of = wanted if of is None else of
        relative = error / of if error > 0 else 0
        e = self.found.setdefault(quantity, SimpleNamespace(
            steps=0, relative=0, bound=0, share=0, limit=limit))
        e.steps += 1
        if relative >= e.relative:
            e.relative, e.bound = relative, bound / of
        e.share = max(e.share, error / bound if error else 0)
        self.same(quantity, error <= bound and (not limit or relative <= limit), got, wanted, bound)

    def same(self, name, is_same, *values):
        """Count; print the first that differs."""
        if not is_same and not self.counts.get(name):
            print(f"# {self.run} {name}: {values}")
        self.counts[name] = self.counts.get(name, 0) + (not is_same)

    def finish(self, **enough):
        """Print all; each of @enough must be true."""
        for name, wrong in (*self.counts.items(), *((k, not v) for k, v in enough.items())):
            Errors.ran += 1
            Errors.failed += wrong > 0
            print(f"{'not ' * (wrong > 0)}ok {Errors.ran} - {self.run}_{name}")
        for name, e in self.found.items():
            print(f"# model-error {self.core} {self.run} {name} {e.steps} {e.relative:.1e} "
                  f"{e.limit or e.bound:.1e} {e.share:.3f}")


def single_steps(pair, run):
    """Random steps; the model begins each with the core's state."""
    r, errors = Random(7), Errors(pair.name, run)
    events, ambiguous = [0] * len(EVENTS), 0
    for i in range(STEPS):
        if i % EPISODE == 0:
            pair.begin(r, run == "any")
        event = EVENTS[r.between(0, 9)]
        sample = pair.random_sample(r, event)
        pair.follow()
        before = copy.copy(pair.m)
        pair.step(event, **sample)
        events[event] += 1
        if pair.is_ambiguous(before, event):
            ambiguous += 1
        else:
            pair.compare(errors, before, event)
    print(f"# {STEPS} steps, {ambiguous} of them undecidable ({events[ACK]} ACKs, "
          f"{events[LOSS]} losses, {events[RTO]} timeouts, {events[IDLE]} idle)")
    errors.finish(steps_were_comparable=ambiguous < STEPS * pair.most_ambiguous, **pair.enough())


def main(*tests):
    """Runs all tests."""
    for test in tests:
        test()
    print(f"1..{Errors.ran}")
    sys.exit(Errors.failed > 0)
