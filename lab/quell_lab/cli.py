# SPDX-License-Identifier: GPL-2.0
"""Command line of the laboratory."""

import argparse
import os
import shlex
import sys
import traceback
from dataclasses import replace

from . import compare, cost, files, flows, kernel_build, plan, programs, runner, scenario, show, \
    targets, version
from .algorithms import ALGORITHMS, unknown_parameter
from .errors import InputError, nearest
from .result_directory import MARKER, SWEEP_MARKER, check_directory, open_directory
from .schema import Key, Places, value_of

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_ABORT = 128		# of git bisect run
EXIT_INTERRUPTED = 130
TIMEOUT_S = 3600

UNITS = """\
Sizes, rates and times are written as for tc(8), "UNITS" there: sizes in b, kb
(1024 bytes), mb, gb, rates in bit, kbit (1000 bit/s), mbit, gbit, times in ns,
us, ms, s; a bare number is bytes, bits per second, microseconds.

"""
EXIT = """\
Exit status: 0 all runs finished and every sanity check held, 1 not so,
2 the input was wrong and nothing was created, 130 interrupted.
"""
HOLDS = """\
Exit status, as git bisect run takes it: 0 all runs meet the condition, 1 not
so, 125 (the commit is skipped) the source cannot be used, does not build, the
disk is full or a run does not end, 128 (bisection ends) the input was wrong or
the lab failed, 130 interrupted.
"""

REQUIRED = object()
# Options of incast: name, what it takes (None: nothing), the scenario key, default, help.
INCAST = (
    ("seed", "N", "seed", "1", "of everything random"),
    ("until", "TIME", "until", None, "give up at this virtual time"),
    ("topology", "KIND", "topology.kind", "star", "star, dumbbell: senders on the left, receiver "
     "on the right; or leaf-spine: hosts evenly at the leaves, the receiver last, flows hashed "
     "over the spines"),
    ("rate", "RATE", "topology.rate", REQUIRED, "of every link"),
    ("delay", "TIME", "topology.delay", REQUIRED, "propagation delay of every link"),
    ("mtu", "BYTES", "topology.mtu", "1500", ""),
    ("trunk-rate", "RATE", "topology.trunk-rate", None, "dumbbell: between the switches; default: "
     "--rate"),
    ("trunk-delay", "TIME", "topology.trunk-delay", None, "dumbbell: default: --delay"),
    ("leaves", "N", "topology.leaves", "4", "leaf-spine"),
    ("spines", "N", "topology.spines", "2", "leaf-spine"),
    ("tso", "PACKETS", "tso", None, "TCP hands over as many at once, back to back; default 1"),
    ("option", None, "option", None, "Quell's algorithms use the Quell TCP option"),
    ("limit", "SIZE", "queue.limit", "500kb", "data queue of a switch port"),
    ("control-limit", "SIZE", "queue.control-limit", "64kb", "control queue"),
    ("ecn", "MIN[:MAX]", "queue.ecn", None, "mark from MIN on, all from MAX on; default: no marks"),
    ("ecn-probability", "P", "queue.ecn-probability", "1", "just below MAX"),
    ("ecn-mode", "MODE", "queue.ecn-mode", "dequeue", "dequeue, by the queue behind a packet, or "
     "enqueue, by that before it"),
    ("telemetry", "TIME", "queue.telemetry", None, "switch ports stamp data that has room; TIME is "
     "the network's base round-trip time; default: no stamps"),
    ("trim", "SIZE", "queue.trim", None, "switch ports trim packets without room to SIZE; default: "
     "they are dropped"),
    ("buffer", "SIZE", "queue.buffer", None, "the ports of a switch share so much; default: each "
     "has its limit alone"),
    ("alpha", "A", "queue.alpha", "1", "share of the free part of it that a port may hold"),
    ("trim-to-sender", None, "queue.trim-to-sender", None, "ports notify the sender instead, if it "
     "supports NACKs"),
    ("deflect", "SIZE", "queue.deflect", None, "leaf-spine: a flow that has tokens and finds more "
     "than SIZE queued at a port between switches takes another path; break-even: SIZE of each "
     "port by rates and delays; default: it is queued"),
    ("deflect-entries", "N", "queue.deflect-entries", None, "flows a port deflects at a time; "
     "default 8"),
    ("deflect-base", "DSCP", "queue.deflect-base", None, "of a flow without tokens; default 0"),
    ("deflect-tokens", "N", "queue.deflect-tokens", None, "most a flow may have; default 4"),
    ("deflect-idle", "TIME", "queue.deflect-idle", None, "above the delay difference of any two "
     "paths; default 10ms"),
    ("noise", "TIME", "noise.max", None, "hosts receive packets up to this late, at random"),
    ("noise-at", "HOSTS", "noise.at", None, "which: hosts (default: all), senders, receivers"),
    ("cc", "CC[:KEY=VALUE]...,...", "algorithm", REQUIRED, "congestion controls, each a run of its "
     f"own: {', '.join(ALGORITHMS)}, or bpf:FILE, an object file with a struct_ops congestion "
     "control, named without : and ,; parameters or a preset make a variant of its own, for "
     "example swift,swift:ai=1gbit,smartt:preset=nscc"),
    ("senders", "N", "incast.senders", REQUIRED, "hosts that send one flow each"),
    ("bytes", "SIZE", "incast.bytes", REQUIRED, "size of every flow"),
    ("cold", None, "incast.cold", False, "connections are opened by the flows themselves"),
    ("dscp", "N", "incast.dscp", None, "of all flows: --deflect-base and a flow's tokens; default "
     "0"),
    ("stagger", "COUNT:TIME", "incast.stagger", None, "COUNT flows start every TIME; default: all "
     "at once"),
    ("jitter", "TIME", "incast.jitter", None, "each start is late by a random part of this, drawn "
     "from the seed; default: one packet's wire time"),
    ("record-queue", "TIME", "record.queue", "1us", "sampling of queues"),
    ("record-cwnd", "TIME", "record.cwnd", "1us", "sampling of windows"),
    ("window", "TIME", "record.window", "10us", "of goodput and fairness"),
    ("record-core", None, "record.core", False, "write input and decision of the core at each of "
     "its events to raw/*/out/core.out"),
)
# Options by the scenario key they set, so that errors name what was typed.
INCAST_OPTIONS = {key: f"--{name}" for name, _, key, _, _ in INCAST} | {
    "topology.hosts": "--senders", "topology.left": "--senders"}
TRUNK = ("trunk-rate", "trunk-delay")

SEED = ("--seed", {"metavar": "N", "help": "instead of the file's seed"})
SCALE = ("--scale", {"metavar": "NAME", "help": "[scale.NAME] of the file overrides it"})
NO_FIGURES = ("--no-figures", {"action": "store_true", "help": "tables and numbers alone: drawing "
                               "takes longer than many a run"})
CONDITION = ("condition", {"metavar": "CONDITION", "help": "of each run, such as 'p99 < 80us'; "
                           "quantities are p50, p99, max (of completion times), goodput, drops, "
                           "queue max, offered load, carried load, slowdown_p99 all, or of a class "
                           "of sizes"})
PCAP = ("--pcap", {"metavar": "PORT", "action": "append", "help": "write the packets of a link to "
                   "raw/*/out/*.pcap: that of host h1, or of port s1:p3; may be repeated"})
OUT = ("--out", {"metavar": "DIR", "required": True, "help": "where results go: a new or empty "
                 "directory, or an earlier result, which is replaced"})
RUNS = (
    ("-j", "--jobs", {"metavar": "N", "help": "runs at a time; default: one per processor"}),
    ("--mem", {"metavar": "SIZE", "help": "memory of a run, of which the machine gives the part "
               "that is used; default: by the number of hosts"}),
    ("--kernel", {"metavar": "KERNEL", "default": "6.12", "help": "6.12; 7.3: Debian's source "
                  "package, or TREE or TREE@COMMIT: a git tree, built at first; debug: 6.12 with "
                  "KASAN, lockdep and kmemleak, some sixty times slower"}),
    ("--timeout", {"metavar": "SECONDS", "default": str(TIMEOUT_S), "help": "wall time allowed for "
                   f"one run; default {TIMEOUT_S}"}),
    ("--quiet", {"action": "store_true", "help": "no progress, no summary on success"}),
)


def _incast_argument(name, metavar, _key, default, words):
    if metavar is None:
        return f"--{name}", {"action": "store_true", "default": default, "help": words}
    if default not in (None, REQUIRED):
        words += f"{'; ' * bool(words)}default {default}"
    return f"--{name}", {"metavar": metavar, "required": default is REQUIRED,
                         "default": None if default is REQUIRED else default, "help": words}


# Commands: help, and options and operands, each with the words of add_argument().
COMMANDS = {
    "incast": ("many senders, one receiver", *(_incast_argument(*row) for row in INCAST),
               ("--set", {"metavar": "CC.KEY=VALUE", "action": "append", "default": [],
                          "help": "set a parameter in every run of that congestion control; may be "
                          "repeated"}), PCAP, OUT, *RUNS, NO_FIGURES),
    "run": ("a scenario file", ("file", {"metavar": "FILE.scenario"}), SEED,
            ("--seeds", {"metavar": "N", "help": "so many seeds from that on, a directory each, "
                         "and medians over them"}), SCALE, PCAP, OUT, *RUNS, NO_FIGURES),
    "exec": ("programs of this machine on hosts of a scenario",
             ("file", {"metavar": "FILE.scenario", "help": "the network, and flows beside the "
                       "programs, if there are any"}),
             ("--on", {"metavar": ("HOST", "COMMAND"), "nargs": 2, "action": "append",
                       "default": [], "help": "run a program on that host, or on each of h[1-4], "
                       "from the beginning of the measurement on; {h1} in COMMAND is an address, "
                       "{dir} the directory of FILE; may be repeated. The run ends with the last "
                       "of them"}),
             ("--serve", {"metavar": ("HOST", "COMMAND"), "nargs": 2, "action": "append",
                          "default": [], "help": "before that, start a server there, and wait "
                          "until it listens on a TCP port; may be repeated"}),
             ("--cc", {"metavar": "CC[:KEY=VALUE]...,...", "help": "congestion controls of hosts, "
                       "each a run of its own, instead of the file's"}),
             ("--syscall", {"metavar": "TIME", "help": "of a system call of a program; default "
                            "500ns"}),
             ("--until", {"metavar": "TIME", "help": "give up at this virtual time; default: 60s"}),
             SEED, PCAP, OUT, *RUNS, NO_FIGURES),
    "reproduce": ("every scenario that names a paper's figure",
                  ("word", {"metavar": "WORD", "nargs": "?", "default": "", "help": "only those "
                            "of this figure (\"TIMELY Figure 2\") or file (timely-fig2), or with "
                            "it in a name"}),
                  ("--scale", {"metavar": "NAME", "help": "[scale.NAME] of a file overrides it, "
                               "where it is there: paper is the paper's size"}),
                  ("--scenarios", {"metavar": "DIR", "help": "instead of the ready-made ones; "
                                   "lab/scenarios/long has those that take minutes each"}),
                  OUT, *RUNS, NO_FIGURES),
    "figures": ("all figures of the papers, and what became of them",
                ("word", {"metavar": "WORD", "nargs": "?", "default": "", "help": "only those with "
                          "this word in their name or a scenario's"}),
                ("--page", {"action": "store_true", "help": "print Documentation/figures.md"})),
    "demo": ("four scenarios, and on a page what to see in them", OUT, *RUNS),
    "sweep": ("scenarios with several values of one or two parameters, algorithms and seeds",
              ("file", {"metavar": "FILE.sweep"}),
              ("--list", {"action": "store_true", "help": "print the runs, a line each, and run "
                          "nothing"}),
              ("--only", {"metavar": "N", "help": "run number N of the list alone"}),
              ("--part", {"metavar": "I/N", "help": "every N-th run of the list, from the I-th "
                          "on"}),
              ("--out", {"metavar": "DIR", "help": "where results go, and where those of an "
                         "earlier, perhaps interrupted call are taken from; not needed for "
                         "--list"}),
              *RUNS),
    "plan": ("check a scenario file and print what would run", ("file", {"metavar":
                                                                         "FILE.scenario"}), SCALE,
             ("--cc", {"metavar": "LABEL", "help": "the algorithm; default: the first"})),
    "export": ("flows of a scenario, or completion times of a result, for other simulators",
               ("file", {"metavar": "FILE", "help": "a scenario; for fct a result, DIR or "
                         "DIR@LABEL"}),
               ("--format", {"metavar": "NAME", "required": True, "help": "htsim, hpcc, conweave, "
                             "ns3-rdma: lists of flows; fct: HPCC's fct.txt"}), SEED, SCALE),
    "import": ("a packet trace as a list of flows", ("file", {"metavar": "TRACE", "help": "any "
               "that tshark reads"}),
               ("--sizes", {"action": "store_true", "help": "the distribution of their sizes "
                            "instead"})),
    "diff": ("the same scenarios under two kernels, and what differs by more than the seeds do",
             ("a", {"metavar": "A", "help": "a kernel, as --kernel names it"}),
             ("b", {"metavar": "B", "help": "another; ratios are of B over A"}),
             ("files", {"metavar": "FILE.scenario", "nargs": "+"}),
             ("--seeds", {"metavar": "N", "help": "of each scenario, from its own on; default 5"}),
             SCALE, OUT, *(row for row in RUNS if row[0] != "--kernel"), NO_FIGURES),
    "holds": ("whether a scenario's result meets a condition, for git bisect run: exit status 0 "
              "yes, 1 no, 125 the kernel cannot be built or a run does not end, 128 the input is "
              "wrong",
              ("file", {"metavar": "FILE.scenario"}), CONDITION, SEED, SCALE,
              *(row for row in RUNS if row[0] != "-j")),
    "bisect": ("the first commit of a kernel tree with which a condition is not met",
               ("good", {"metavar": "GOOD", "help": "TREE@COMMIT that meets it"}),
               ("bad", {"metavar": "BAD", "help": "TREE@COMMIT that does not"}),
               ("file", {"metavar": "FILE.scenario"}), CONDITION, SEED, SCALE,
               *(row for row in RUNS if row[0] not in ("-j", "--kernel"))),
    "compare": ("two results, or two runs of one, beside each other",
                ("a", {"metavar": "A", "help": "a result directory of incast, run or exec, of "
                       "which the runs are compared with those of the same label in B; or DIR@LABEL, one "
                       "run"}),
                ("b", {"metavar": "B", "help": "the same; ratios are of B over A"}),
                ("-j", "--json", {"action": "store_true", "help": "JSON, in base units"})),
}
EXCLUSIVE = ("--list", "--only", "--part")	# of each other


class Parser(argparse.ArgumentParser):
    """argparse whose errors read like ours."""

    def error(self, message):
        raise InputError("lab", f"{message}; see lab --help")


def make_parser():
    """The command line."""
    how = {"epilog": UNITS + EXIT, "allow_abbrev": False,
           "formatter_class": argparse.RawDescriptionHelpFormatter}
    parser = Parser(prog="lab", description="Run real kernel TCP through a network in virtual "
                    "time, one run per congestion control.", **how)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND",
                                     parser_class=Parser)
    for name, (words, *rows) in COMMANDS.items():
        one = commands.add_parser(name, help=words, **dict(
            how, epilog=UNITS + HOLDS if name == "holds" else how["epilog"]))
        group = one.add_mutually_exclusive_group() if name == "sweep" else None
        for *names, settings in rows:
            (group if names[0] in EXCLUSIVE else one).add_argument(*names, **settings)
    return parser


def incast_table(args):
    """The scenario dictionary an incast command line stands for."""
    places = Places(options=INCAST_OPTIONS)
    table = {"title": f"Incast {args.senders}:1, {args.bytes} bytes, {args.rate}"}
    for name, _, key, *_ in INCAST:
        value = getattr(args, name.replace("-", "_"))
        if value is not None:
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
    table["algorithm"] = _algorithms(args.cc, args.set)
    return table, places


def _given(table):
    return {key: value for key, value in table.items() if value is not None}


def _pair(where, text):
    key, equals, value = text.partition("=")
    if not equals or not key or not value:
        raise InputError(where, f"'{text}' is not KEY=VALUE")
    return key, value


def _algorithms(cc_text, set_texts):
    """--cc and --set as algorithm tables; an entry's own parameters win over --set, --set
    over its preset."""
    entries = []
    for text in cc_text.split(","):
        name, *pairs = text.split(":")
        if text.startswith(programs.PREFIX):
            name += ":" + pairs.pop(0)
        settings = dict(_pair("--cc", pair) for pair in pairs)
        preset, ops = settings.pop("preset", None), settings.pop("ops", None)
        label = None if programs.is_program(name) else text
        entries.append(_given({"name": name, "label": label, "preset": preset, "ops": ops,
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


def _guest_bytes(args):
    """Memory that --mem sets, or None."""
    return None if args.mem is None else value_of("--mem", args.mem, Key(
        "size", cost.GUEST_MIN_BYTES, cost.GUEST_MAX_BYTES))


def _limits(args):
    """(jobs at a time, time limit) of a command line that runs something."""
    _guest_bytes(args)
    jobs = getattr(args, "jobs", None)
    jobs_max = len(os.sched_getaffinity(0)) if jobs is None else value_of(
        "--jobs", jobs, Key("int", 1, 1024))
    return jobs_max, value_of("--timeout", args.timeout, Key("int", 1, 10**6))


def _with_memory(args, kernel):
    """A kernel whose runs have the memory that --mem sets."""
    return replace(kernel, guest_bytes=_guest_bytes(args))


def _options(args, marker=MARKER):
    """(jobs at a time, time limit, kernel) of the same, which also has --out and --kernel."""
    limits = _limits(args)
    check_directory(args.out, marker)
    return *limits, _with_memory(args, kernel_build.find(args.kernel, args.quiet))


def _ready(args, kernel, wanted, jobs, has_notes=True):
    """InputError if this machine lacks what a scenario's runs take, so many at a time."""
    runner.check_modules(kernel, wanted)
    cost.check_memory(len(wanted.graph.hosts), jobs)
    runner.check_programs(kernel, wanted)
    if has_notes and not args.quiet:
        for note in targets.of_scenario(wanted):
            print(f"lab: note: {note}", file=sys.stderr)


def _replace(args):
    from . import output  # jinja2 takes a while to load: not for bad input
    if open_directory(args.out) and not args.quiet:
        print(f"replacing the earlier result in {args.out}", file=sys.stderr)
    output.clear(args.out)


def _facts(args, command, kernel, jobs_max):
    """What results say of how they came about, and whether figures are drawn."""
    return {"command": command, "version": version.text(), "kernel": kernel.version,
            "kernel_kind": kernel.kind, "jobs": jobs_max,
            "has_figures": not getattr(args, "no_figures", False)}


def _execute(args, wanted, command):
    """Run a checked scenario and write all results; exit status."""
    from . import output
    jobs_max, timeout_s, kernel = _options(args)
    _ready(args, kernel, wanted, min(jobs_max, len(wanted.variants)))
    _replace(args)
    jobs = runner.make_jobs(wanted, kernel, args.out)
    outcomes = {}
    runner.run_all(jobs, jobs_max, timeout_s, args.quiet,
                   lambda job, outcome: outcomes.update({job: outcome}))
    facts = _facts(args, command, kernel, jobs_max)
    done = output.evaluate(args.out, wanted, jobs, outcomes, facts)
    if not args.quiet:
        show.programs(done.summaries, {job.variant.label: os.path.join(job.directory, "out")
                                       for job in jobs})
    if done.summaries and not args.quiet:
        show.result(done.summaries, done.paper, args.out)
    return 0 if done.good else EXIT_FAILED


def _reproduce(args, command):
    """All scenarios that name a paper's figure, or those a word picks; exit status."""
    from . import reproduce
    wanted, sweeps = reproduce.choose(args.scenarios or reproduce.SCENARIOS, args.word, args.scale)
    jobs_max, timeout_s, kernel = _options(args)
    for one in sweeps:
        reproduce.check_sweep(one, kernel, args.quiet, jobs_max)
    for _, one in wanted:
        _ready(args, kernel, one, jobs_max)
    _replace(args)
    facts = _facts(args, command, kernel, jobs_max)
    good = reproduce.run((wanted, sweeps), kernel, args.out, timeout_s, args.quiet, facts)
    return 0 if good else EXIT_FAILED


def _figures(args):
    """What became of the papers' figures; exit status."""
    from . import figures
    papers, known = figures.load()
    if args.page:
        sys.stdout.write(figures.page(papers, known))
    else:
        print("\n".join(figures.text(figures.choose(known, args.word))))
    return 0


def _demo(args, command):
    """The demonstration; exit status."""
    from . import demo
    wanted = demo.load()
    jobs_max, timeout_s, kernel = _options(args)
    for _, _, one in wanted:
        _ready(args, kernel, one, jobs_max, has_notes=False)
    _replace(args)
    facts = _facts(args, command, kernel, jobs_max)
    return 0 if demo.run(wanted, kernel, args.out, timeout_s, args.quiet, facts) else EXIT_FAILED


def _seeds(args, command):
    """A scenario file with several seeds; exit status."""
    from . import seeds
    table, places = _load(args)
    count = value_of("--seeds", args.seeds, seeds.COUNT)
    first = scenario.build(table, places, args.scale).seed
    wanted = seeds.build_all(lambda seed: scenario.build(dict(table, seed=seed), places,
                                                         args.scale), first, count)
    jobs_max, timeout_s, kernel = _options(args)
    _ready(args, kernel, wanted[0][1], jobs_max)
    _replace(args)
    facts = _facts(args, command, kernel, jobs_max)
    return 0 if seeds.run(wanted, kernel, args, timeout_s, facts) else EXIT_FAILED


def _diff(args, command):
    """Scenarios under two kernels; exit status."""
    from . import kernel_diff
    count = value_of("--seeds", args.seeds or kernel_diff.SEEDS, kernel_diff.COUNT)

    def build(path, seed):
        table = files.load(path)
        return scenario.build(table if seed is None else dict(table, seed=seed), Places(path),
                              args.scale)
    wanted = kernel_diff.scenarios(args.files, build, count)
    jobs_max, timeout_s = _limits(args)
    check_directory(args.out)
    kernels = [_with_memory(args, one)
               for one in kernel_build.find_all((args.a, args.b), args.quiet)]
    for kernel in kernels:
        for _, builds in wanted:
            _ready(args, kernel, builds[0][1], jobs_max, has_notes=False)
    _replace(args)
    facts = _facts(args, command, kernels[0], jobs_max)
    return 0 if kernel_diff.run(wanted, kernels, args, timeout_s, facts) else EXIT_FAILED


def _bisect(args, command):
    """A condition on a scenario of one kernel, or of a range of commits; exit status."""
    from . import kernel_bisect
    condition = kernel_bisect.Condition(args.condition)
    wanted = scenario.build(*_load(args), args.scale)
    condition.check(wanted)
    jobs_max, timeout_s = _limits(args)
    normal = runner.find_kernel("normal")
    facts = dict(_facts(args, command, normal, jobs_max), has_figures=False)
    test = kernel_bisect.Test(wanted, condition, (facts, timeout_s, args.quiet), lambda kernel:
                              _with_memory(args, kernel))
    return kernel_bisect.holds(args.kernel, test) if args.command == "holds" else \
        kernel_bisect.bisect(args.good, args.bad, test)


def _sweep(args):
    """All runs of a sweep file that have no result yet, or some of them; exit status."""
    from . import sweep, sweep_run
    wanted = sweep.Sweep(args.file)
    if args.list:
        for _ in wanted.build_points():	# what is wrong has no list
            pass
        sys.stdout.writelines(f"{line}\n" for line in sweep_run.lines(wanted))
        return 0
    if args.out is None:
        raise InputError("--out", "missing: it names the directory of the results")
    jobs_max, timeout_s, kernel = _options(args, SWEEP_MARKER)
    sweep_run.check(wanted, kernel, args, jobs_max)
    os.makedirs(args.out, exist_ok=True)
    with open(os.path.join(args.out, SWEEP_MARKER), "w", encoding="ascii") as file:
        file.write("Results of lab/lab sweep.\n")
    good, _ = sweep_run.execute(wanted, kernel, args, (jobs_max, timeout_s, args.quiet))
    return 0 if good else EXIT_FAILED


def _plan(args):
    wanted = scenario.build(files.load(args.file), Places(args.file), args.scale)
    variants = {variant.label: variant for variant in wanted.variants}
    label = args.cc or wanted.variants[0].label
    if label not in variants:
        raise InputError("--cc", f"no '{label}' in {args.file}{nearest(label, variants)}: one of "
                         f"{', '.join(variants)}")
    sys.stdout.write(plan.write(wanted, variants[label]))
    return 0


def _exec_table(args, table, options):
    """Put the programs of an exec command line, and what else it sets, into a scenario."""
    known = table.setdefault("program", [])
    if not isinstance(known, list):
        return		# build() says what is wrong with it
    for option, wanted, more in (("--serve", args.serve, {"background": True}),
                                 ("--on", args.on, {})):
        for host, command in wanted:
            path = f"program[{len(known)}]"
            options.update({f"{path}.{key}": option for key in ("host", "command")})
            known.append({"host": host, "command": command, **more})
    if not known:
        raise InputError("--on", f"missing: no program in {args.file} either")
    for key in ("syscall", "until"):
        if getattr(args, key) is not None:
            table[key] = getattr(args, key)
            options[key] = f"--{key}"
    if args.cc is not None:
        table["algorithm"] = _algorithms(args.cc, [])
        options["algorithm"] = "--cc"


def _load(args):
    if args.command == "incast":
        table, places = incast_table(args)
    else:
        table, places = files.load(args.file), Places(args.file, {})
        if args.seed is not None:
            table["seed"] = args.seed
            places.options["seed"] = "--seed"
    if args.command == "exec":
        _exec_table(args, table, places.options)
    if getattr(args, "pcap", None) and isinstance(table.setdefault("record", {}), dict):
        table["record"]["pcap"] = args.pcap
        places.options["record.pcap"] = "--pcap"
    return table, places


def _compare(args):
    compare.run(args.a, args.b, args.json)
    return 0


def _export(args):
    from . import exchange
    value_of("--format", args.format, Key("text", choices=exchange.FORMATS))

    def build():
        table, places = files.load(args.file), Places(args.file, {"seed": "--seed"})
        return scenario.build(dict(table, **_given({"seed": args.seed})), places, args.scale)
    exchange.export(args, build)
    return 0


def _import(args):
    from . import exchange
    exchange.load(args)
    return 0


PRINT = {"plan": _plan, "figures": _figures, "sweep": _sweep, "compare": _compare,
         "export": _export, "import": _import}
RUN = {"reproduce": _reproduce, "demo": _demo, "diff": _diff, "holds": _bisect, "bisect": _bisect}


def main(argv):
    """Run the command line; exit status."""
    if argv[:1] != ["holds"]:
        return _main(argv)
    try:
        status = _main(argv)
        sys.stdout.flush()
    except BrokenPipeError:	# the interpreter would exit with 120, a bad commit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = EXIT_ABORT
    except Exception:  # pylint: disable=broad-exception-caught
        traceback.print_exc()	# the interpreter would exit with 1, a bad commit
        status = EXIT_ABORT
    return EXIT_ABORT if status == EXIT_USAGE else status


def _main(argv):
    try:
        args = make_parser().parse_args(argv)
        if args.command in PRINT:
            return PRINT[args.command](args)
        command = "lab/lab " + shlex.join(argv)
        if args.command in RUN:
            return RUN[args.command](args, command)
        if args.command == "run" and args.seeds is not None:
            return _seeds(args, command)
        table, places = _load(args)
        return _execute(args, scenario.build(table, places, getattr(args, "scale", None)), command)
    except InputError as error:
        print(f"lab: {error}", file=sys.stderr)
        return EXIT_USAGE
    except KeyboardInterrupt:
        print("\nlab: interrupted, nothing left running", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        if argv[:1] == ["holds"]:
            raise
        return EXIT_FAILED
