# SPDX-License-Identifier: GPL-2.0
"""Command line of the laboratory."""

import argparse
import os
import shlex
import sys
from dataclasses import replace

from . import compare, cost, files, flows, plan, programs, runner, scenario, show, targets, version
from .algorithms import ALGORITHMS, unknown_parameter
from .errors import InputError, nearest
from .schema import Key, Places, check

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130
MARKER = ".quell-lab"
SWEEP_MARKER = ".quell-sweep"
TIMEOUT_S = 3600

UNITS = """\
Sizes, rates and times are written as for tc(8), "UNITS" there: sizes in b, kb
(1024 bytes), mb, gb, rates in bit, kbit (1000 bit/s), mbit, gbit, times in ns,
us, ms, s; a bare number is bytes, bits per second, microseconds.

Exit status: 0 all runs finished and every sanity check held, 1 not so,
2 the input was wrong and nothing was created, 130 interrupted.
"""

# Options by the scenario key they set, so that errors name what was typed.
INCAST_OPTIONS = {
    "topology.kind": "--topology", "topology.hosts": "--senders", "topology.left": "--senders",
    "topology.rate": "--rate", "topology.delay": "--delay", "topology.mtu": "--mtu",
    "topology.leaves": "--leaves", "topology.spines": "--spines",
    "topology.trunk-rate": "--trunk-rate", "topology.trunk-delay": "--trunk-delay",
    "queue.limit": "--limit", "queue.control-limit": "--control-limit", "queue.ecn": "--ecn",
    "queue.ecn-probability": "--ecn-probability", "queue.ecn-mode": "--ecn-mode",
    "queue.telemetry": "--telemetry",
    "queue.trim": "--trim", "queue.buffer": "--buffer", "queue.alpha": "--alpha",
    "queue.trim-to-sender": "--trim-to-sender",
    "queue.deflect": "--deflect", "queue.deflect-entries": "--deflect-entries",
    "queue.deflect-base": "--deflect-base", "queue.deflect-tokens": "--deflect-tokens",
    "queue.deflect-idle": "--deflect-idle", "incast.dscp": "--dscp",
    "algorithm": "--cc", "incast.senders": "--senders", "incast.bytes": "--bytes",
    "incast.stagger": "--stagger", "incast.jitter": "--jitter", "seed": "--seed", "tso": "--tso",
    "option": "--option",
    "until": "--until", "record.queue": "--record-queue", "record.cwnd": "--record-cwnd",
    "record.window": "--window", "record.core": "--record-core", "noise.max": "--noise", "noise.at": "--noise-at",
}


class Parser(argparse.ArgumentParser):
    """argparse whose errors read like ours."""

    def error(self, message):
        raise InputError("lab", f"{message}; see lab --help")


def make_parser():
    """The command line."""
    parser = Parser(prog="lab", description="Run real kernel TCP through a network in virtual "
                    "time, one run per congestion control.", epilog=UNITS, allow_abbrev=False,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND",
                                     parser_class=Parser)
    incast = commands.add_parser("incast", help="many senders, one receiver", epilog=UNITS,
                                 allow_abbrev=False,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
    _incast_options(incast)
    _pcap_option(incast)
    _run_options(incast)
    _figure_option(incast)
    run = commands.add_parser("run", help="a scenario file", epilog=UNITS, allow_abbrev=False,
                              formatter_class=argparse.RawDescriptionHelpFormatter)
    run.add_argument("file", metavar="FILE.scenario")
    run.add_argument("--seed", metavar="N", help="instead of the file's seed")
    run.add_argument("--seeds", metavar="N", help="so many seeds from that on, a directory each, "
                     "and medians over them")
    run.add_argument("--scale", metavar="NAME", help="what [scale.NAME] of the file has instead")
    _pcap_option(run)
    _run_options(run)
    _figure_option(run)
    own = commands.add_parser("exec", help="programs of this machine on hosts of a scenario",
                              epilog=UNITS, allow_abbrev=False,
                              formatter_class=argparse.RawDescriptionHelpFormatter)
    _exec_options(own)
    again = commands.add_parser("reproduce", help="every scenario that names a paper's figure",
                                epilog=UNITS, allow_abbrev=False,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    again.add_argument("word", metavar="WORD", nargs="?", default="", help="only scenarios of "
                       "this figure (\"TIMELY Figure 2\") or file (timely-fig2), or with it in a name")
    again.add_argument("--scale", metavar="NAME", help="what [scale.NAME] of a file has instead, "
                       "where it is there: paper is the paper's size")
    again.add_argument("--scenarios", metavar="DIR", help="instead of the ready-made ones; "
                       "lab/scenarios/long has those that take minutes each")
    _run_options(again)
    _figure_option(again)
    known = commands.add_parser("figures", help="all figures of the papers, and what became of them",
                                allow_abbrev=False)
    known.add_argument("word", metavar="WORD", nargs="?", default="", help="only those with this "
                       "word in their name or a scenario's")
    known.add_argument("--page", action="store_true", help="print Documentation/figures.md")
    told = commands.add_parser("demo", help="four scenarios, and on a page what to see in them",
                               epilog=UNITS, allow_abbrev=False,
                               formatter_class=argparse.RawDescriptionHelpFormatter)
    _run_options(told)
    many = commands.add_parser("sweep", help="scenarios with several values of one or two "
                               "parameters, algorithms and seeds", epilog=UNITS, allow_abbrev=False,
                               formatter_class=argparse.RawDescriptionHelpFormatter)
    _sweep_options(many)
    only = commands.add_parser("plan", help="check a scenario file and print what would run",
                               allow_abbrev=False)
    only.add_argument("file", metavar="FILE.scenario")
    only.add_argument("--scale", metavar="NAME", help="what [scale.NAME] of the file has instead")
    only.add_argument("--cc", metavar="LABEL", help="the algorithm; default: the first")
    two = commands.add_parser("compare", help="two results, or two runs of one, beside each other",
                              allow_abbrev=False)
    two.add_argument("a", metavar="A", help="a result directory of incast, run or exec, whose "
                     "runs are compared with those of the same label in B; or DIR@LABEL, one run")
    two.add_argument("b", metavar="B", help="the same; ratios are of B over A")
    two.add_argument("-j", "--json", action="store_true", help="JSON, in base units")
    return parser


def _incast_options(parser):
    add = parser.add_argument
    add("--senders", metavar="N", required=True, help="hosts that send one flow each")
    add("--bytes", metavar="SIZE", required=True, help="size of every flow")
    add("--stagger", metavar="COUNT:TIME", help="COUNT flows start every TIME; default: all "
        "at once")
    add("--jitter", metavar="TIME", help="each start is late by a random part of this, drawn from "
        "the seed; default: one packet's wire time")
    add("--cold", action="store_true", help="connections are opened by the flows themselves")
    add("--topology", metavar="KIND", default="star", help="star (default), dumbbell: senders "
        "on the left, receiver on the right; or leaf-spine: hosts evenly at the leaves, the "
        "receiver last, flows hashed over the spines")
    add("--leaves", metavar="N", default="4", help="leaf-spine: default 4")
    add("--spines", metavar="N", default="2", help="leaf-spine: default 2")
    add("--rate", metavar="RATE", required=True, help="of every link")
    add("--delay", metavar="TIME", required=True, help="propagation delay of every link")
    add("--mtu", metavar="BYTES", default="1500", help="default 1500")
    add("--trunk-rate", metavar="RATE", help="dumbbell: between the switches; default: --rate")
    add("--trunk-delay", metavar="TIME", help="dumbbell: default: --delay")
    add("--cc", metavar="CC[:KEY=VALUE]...,...", required=True, help="congestion controls, each a "
        f"run of its own: {', '.join(ALGORITHMS)}, or bpf:FILE, an object file with a struct_ops "
        "congestion control, named without : and ,; parameters or a preset make a variant of its "
        "own, for example swift,swift:ai=1gbit,smartt:preset=nscc")
    add("--set", metavar="CC.KEY=VALUE", action="append", default=[], help="set a parameter in "
        "every run of that congestion control; may be repeated")
    add("--limit", metavar="SIZE", default="500kb", help="data queue of a switch port; default "
        "500kb")
    add("--control-limit", metavar="SIZE", default="64kb", help="control queue; default 64kb")
    add("--ecn", metavar="MIN[:MAX]", help="mark from MIN on, all from MAX on; default: no marks")
    add("--ecn-probability", metavar="P", default="1", help="just below MAX; default 1")
    add("--ecn-mode", metavar="MODE", default="dequeue", help="dequeue, on what a packet leaves "
        "behind (default), or enqueue, on what it finds")
    add("--telemetry", metavar="TIME", help="switch ports stamp data that has room; TIME is the "
        "network's base round-trip time; default: no stamps")
    add("--buffer", metavar="SIZE", help="the ports of a switch share so much; default: each has "
        "its limit alone")
    add("--alpha", metavar="A", default="1", help="share of what is free of it that a port may "
        "hold; default 1")
    add("--trim", metavar="SIZE", help="switch ports cut what they have no room for to SIZE; "
        "default: it is dropped")
    add("--trim-to-sender", action="store_true", help="they answer who sent it, if that knows NACKs, "
        "and send nothing on")
    _deflection_options(add)
    add("--tso", metavar="PACKETS", help="TCP hands over as many at once, back to back; default 1")
    add("--option", action="store_true", help="Quell's algorithms speak the Quell TCP option")
    add("--noise", metavar="TIME", help="hosts take in what arrives up to this late, at random")
    add("--noise-at", metavar="HOSTS", help="which: hosts (default: all), senders, receivers")
    add("--seed", metavar="N", default="1", help="of everything random; default 1")
    add("--until", metavar="TIME", help="give up at this virtual time")
    add("--record-queue", metavar="TIME", default="1us", help="sampling of queues; default 1us")
    add("--record-cwnd", metavar="TIME", default="1us", help="sampling of windows; default 1us")
    add("--window", metavar="TIME", default="10us", help="of goodput and fairness; default 10us")
    add("--record-core", action="store_true", help="write what the core gets and decides at each of "
        "its events to raw/*/out/core.out")


def _deflection_options(add):
    add("--deflect", metavar="SIZE", help="leaf-spine: a flow that has tokens and finds more than "
        "SIZE queued at a port between switches takes another path; break-even: SIZE "
        "of each port by rates and delays; default: it waits")
    add("--deflect-entries", metavar="N", help="flows a port deflects at a time; default 8")
    add("--deflect-base", metavar="DSCP", help="of a flow without tokens; default 0")
    add("--deflect-tokens", metavar="N", help="most a flow may have; default 4")
    add("--deflect-idle", metavar="TIME", help="above the delay difference "
        "of any two paths; default 10ms")
    add("--dscp", metavar="N", help="of all flows: --deflect-base and a flow's tokens; default 0")


def _pcap_option(parser):
    parser.add_argument("--pcap", metavar="PORT", action="append", help="write the packets of a "
                        "link to raw/*/out/*.pcap: that of host h1, or of port s1:p3; may be "
                        "repeated")


def _exec_options(parser):
    add = parser.add_argument
    add("file", metavar="FILE.scenario", help="the network, and flows beside the programs, if "
        "there are any")
    add("--on", metavar=("HOST", "COMMAND"), nargs=2, action="append", default=[], help="run a "
        "program on that host, or on each of h[1-4], from the beginning of the measurement on; "
        "{h1} in COMMAND is an address, {dir} the directory of FILE; may be repeated. The run "
        "ends with the last of them")
    add("--serve", metavar=("HOST", "COMMAND"), nargs=2, action="append", default=[],
        help="before that, start a server there, and wait until it listens on a TCP port; may "
        "be repeated")
    add("--cc", metavar="CC[:KEY=VALUE]...,...", help="congestion controls of hosts, each a run "
        "of its own, instead of the file's")
    add("--syscall", metavar="TIME", help="what a system call of a program takes; default 500ns")
    add("--until", metavar="TIME", help="give up at this virtual time; default: 60s")
    add("--seed", metavar="N", help="instead of the file's seed")
    _pcap_option(parser)
    _run_options(parser)
    _figure_option(parser)


def _sweep_options(parser):
    parser.add_argument("file", metavar="FILE.sweep")
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--list", action="store_true", help="print the runs, a line each, and run "
                     "nothing")
    one.add_argument("--only", metavar="N", help="run number N of the list alone")
    one.add_argument("--part", metavar="I/N", help="every N-th run of the list, from the I-th on")
    _run_options(parser, out="where results go, and where those of an earlier, perhaps interrupted "
                 "call are taken from; not needed for --list")


def _run_options(parser, out=None):
    add = parser.add_argument
    add("--out", metavar="DIR", required=out is None, help=out or "where results go: a new or "
        "empty directory, or an earlier result, which is replaced")
    add("-j", "--jobs", metavar="N", help="runs at a time; default: one per processor")
    add("--mem", metavar="SIZE", help="memory of a run, of which the machine gives what is "
        "touched; default: by the number of hosts")
    add("--kernel", choices=("normal", "debug"), default="normal", help="debug: with KASAN, "
        "lockdep and kmemleak, some sixty times slower")
    add("--timeout", metavar="SECONDS", default=str(TIMEOUT_S), help="wall time allowed for one "
        f"run; default {TIMEOUT_S}")
    add("--quiet", action="store_true", help="no progress, no summary on success")


def _figure_option(parser):
    parser.add_argument("--no-figures", action="store_true", help="tables and numbers alone: "
                        "drawing takes longer than many a run")


def _hosts_of_a_leaf(places, leaves, hosts):
    key = {"leaves": scenario.TOPOLOGY_KEYS["leaf-spine"]["leaves"]}
    return -(-hosts // check(places, "topology", {"leaves": leaves}, key)["leaves"])


def incast_table(args):
    """The scenario dictionary an incast command line stands for."""
    places = Places(options=INCAST_OPTIONS)
    senders = check(places, "incast", {"senders": args.senders},
                    {"senders": flows.INCAST_KEYS["senders"]})["senders"]
    network = {"kind": args.topology, "rate": args.rate, "delay": args.delay, "mtu": args.mtu}
    trunk = {"trunk-rate": args.trunk_rate, "trunk-delay": args.trunk_delay}
    trunk = {key: value for key, value in trunk.items() if value is not None}
    if args.topology == "dumbbell":
        network.update(trunk, left=senders, right=1)
    elif trunk:
        raise InputError(f"--{list(trunk)[0]}", "only a dumbbell has a trunk")
    elif args.topology == "leaf-spine":
        network.update(leaves=args.leaves, spines=args.spines,
                       hosts=_hosts_of_a_leaf(places, args.leaves, senders + 1))
    else:
        network["hosts"] = senders + 1
    if args.topology not in scenario.INCAST_TOPOLOGIES:
        raise InputError("--topology", f"'{args.topology}'"
                         f"{nearest(args.topology, scenario.INCAST_TOPOLOGIES)}: "
                         f"one of {', '.join(scenario.INCAST_TOPOLOGIES)}")
    incast = {"senders": args.senders, "bytes": args.bytes, "cold": args.cold,
              "dscp": args.dscp,
              "stagger": args.stagger, "jitter": args.jitter}
    queue = {"limit": args.limit, "control-limit": args.control_limit, "ecn": args.ecn,
             "ecn-probability": args.ecn_probability, "ecn-mode": args.ecn_mode,
             "telemetry": args.telemetry, "trim": args.trim,
             "buffer": args.buffer, "alpha": args.alpha,
             "trim-to-sender": args.trim_to_sender or None,
             "deflect": args.deflect, "deflect-entries": args.deflect_entries,
             "deflect-base": args.deflect_base, "deflect-tokens": args.deflect_tokens,
             "deflect-idle": args.deflect_idle}
    if args.noise is None and args.noise_at is not None:
        raise InputError("--noise-at", "without --noise there is nothing to place")
    noise = _given({"max": args.noise, "at": args.noise_at})
    table = {
        "title": f"Incast {args.senders}:1, {args.bytes} bytes, {args.rate}",
        "seed": args.seed,
        "until": args.until,
        "topology": network,
        "tso": args.tso,
        "option": args.option or None,
        "multipath": args.topology == "leaf-spine" or None,
        "queue": _given(queue),
        "noise": noise or None,
        "algorithm": _algorithms(args.cc, args.set),
        "incast": _given(incast),
        "record": {"queue": args.record_queue, "cwnd": args.record_cwnd, "window": args.window,
                   "core": args.record_core},
    }
    return _given(table), places


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


def _whole(where, text, low, high):
    return check(Places(options={"value": where}), "", {"value": text},
                 {"value": Key("int", low, high)})["value"]


def check_directory(path, marker=MARKER):
    """InputError unless results may be written there; creates nothing."""
    if os.path.lexists(path) and not os.path.isdir(path):
        raise InputError("--out", f"'{path}' exists and is not a directory")
    if os.path.isdir(path) and os.listdir(path) and not os.path.exists(
            os.path.join(path, marker)):
        what = "sweep" if marker == SWEEP_MARKER else "result"
        raise InputError("--out", f"'{path}' is not empty and holds no earlier {what} of the lab: "
                         "name a new or empty directory")
    parent = os.path.dirname(os.path.abspath(path))
    while not os.path.exists(parent):
        parent = os.path.dirname(parent)
    if not os.path.isdir(parent) or not os.access(parent, os.W_OK | os.X_OK):
        raise InputError("--out", f"'{path}' cannot be created: no right to write in {parent}")


def open_directory(path):
    """Create the result directory, or mark the earlier one as being replaced."""
    replaced = os.path.exists(os.path.join(path, MARKER))
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, MARKER), "w", encoding="ascii") as file:
        file.write("Results of lab/lab; the next run into this directory "
                   "replaces them.\n")
    return replaced


def _options(args, marker=MARKER):
    """(jobs at a time, time limit, kernel) of a command line that runs something."""
    jobs_max = _whole("--jobs", args.jobs, 1, 1024) if args.jobs is not None else len(
        os.sched_getaffinity(0))
    timeout_s = _whole("--timeout", args.timeout, 1, 10**6)
    check_directory(args.out, marker)
    kernel = runner.find_kernel(args.kernel)
    if args.mem is not None:
        size = check(Places(options={"value": "--mem"}), "", {"value": args.mem},
                     {"value": Key("size", cost.GUEST_MIN_BYTES, cost.GUEST_MAX_BYTES)})["value"]
        kernel = replace(kernel, guest_bytes=size)
    return jobs_max, timeout_s, kernel


def _show_notes(args, wanted):
    if not args.quiet:
        for note in (*wanted.notes, *targets.notes(wanted)):
            print(f"lab: note: {note}", file=sys.stderr)


def _replace(args):
    if open_directory(args.out) and not args.quiet:
        print(f"replacing the earlier result in {args.out}", file=sys.stderr)


def _facts(args, command, kernel, jobs_max):
    """What results say of how they came about, and whether figures are drawn."""
    return {"command": command, "version": version.text(), "kernel": kernel.version,
            "kernel_kind": args.kernel, "jobs": jobs_max,
            "has_figures": not getattr(args, "no_figures", False)}


def _execute(args, wanted, command):
    """Run a checked scenario and write all results; exit status."""
    from . import output  # matplotlib takes a second to load: not for bad input
    jobs_max, timeout_s, kernel = _options(args)
    runner.check_modules(kernel, wanted)
    cost.check_memory(len(wanted.graph.hosts), min(jobs_max, len(wanted.variants)))
    runner.check_programs(kernel, wanted)
    _show_notes(args, wanted)
    _replace(args)
    output.clear(args.out)
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
        runner.check_modules(kernel, one)
        cost.check_memory(len(one.graph.hosts), jobs_max)
        runner.check_programs(kernel, one)
        _show_notes(args, one)
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
        runner.check_modules(kernel, one)
        cost.check_memory(len(one.graph.hosts), jobs_max)
    _replace(args)
    facts = _facts(args, command, kernel, jobs_max)
    return 0 if demo.run(wanted, kernel, args.out, timeout_s, args.quiet, facts) else EXIT_FAILED


def _seeds(args, command):
    """A scenario file with several seeds; exit status."""
    from . import seeds
    table, places = _load(args)
    count = check(Places(options={"seeds": "--seeds"}), "", {"seeds": args.seeds},
                  {"seeds": seeds.COUNT})["seeds"]
    first = scenario.build(table, places, args.scale).seed
    wanted = seeds.build_all(lambda seed: scenario.build(dict(table, seed=seed), places,
                                                         args.scale), first, count)
    jobs_max, timeout_s, kernel = _options(args)
    one = wanted[0][1]
    runner.check_modules(kernel, one)
    cost.check_memory(len(one.graph.hosts), jobs_max)
    runner.check_programs(kernel, one)
    _show_notes(args, one)
    _replace(args)
    facts = _facts(args, command, kernel, jobs_max)
    return 0 if seeds.run(wanted, kernel, args, timeout_s, facts) else EXIT_FAILED


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
    if args.pcap and isinstance(table.setdefault("record", {}), dict):
        table["record"]["pcap"] = args.pcap
        places.options["record.pcap"] = "--pcap"
    return table, places


def main(argv):
    """Run the command line; exit status."""
    try:
        args = make_parser().parse_args(argv)
        if args.command == "plan":
            return _plan(args)
        if args.command == "figures":
            return _figures(args)
        if args.command == "sweep":
            return _sweep(args)
        if args.command == "compare":
            compare.run(args.a, args.b, args.json)
            return 0
        command = "lab/lab " + shlex.join(argv)
        if args.command == "reproduce":
            return _reproduce(args, command)
        if args.command == "demo":
            return _demo(args, command)
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
        return EXIT_FAILED
