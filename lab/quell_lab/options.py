# SPDX-License-Identifier: GPL-2.0
"""Commands of the laboratory, their options and operands."""

import argparse

from .algorithms import ALGORITHMS
from .errors import InputError, nearest

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
Exit status, as git bisect run takes it:
    0  all runs meet the condition
    1  one does not
  125  skips the commit: the source cannot be used or does not build, the disk
       is full, or a run does not end
  128  ends the bisection: the input was wrong, or the lab failed
  130  interrupted
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
    ("qdisc", "'KIND WORD...'", "queue.qdisc", None, "switch ports are this qdisc of the kernel, in "
     "the words of tc, instead of swport: codel, fq_codel, pie, fq, cake, red, or from 6.17 on "
     "dualpi2"),
    ("tcp-ecn", "N", "tcp-ecn", None, "net.ipv4.tcp_ecn of hosts; from 3 on, Accurate ECN"),
    ("noise", "TIME", "noise.max", None, "hosts receive packets up to this late, at random"),
    ("noise-at", "HOSTS", "noise.at", None, "which: hosts (default: all), senders, receivers"),
    ("cc", "CC[:KEY=VALUE]...,...", "algorithm", REQUIRED, "congestion controls, each a run of its "
     f"own: {', '.join(ALGORITHMS)}, bpf:FILE, an object file with a struct_ops congestion "
     "control, named without : and ,, or with --kernel tcp_NAME.ko of that tree; parameters or a preset make a variant of its own, for "
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
    ("window", "TIME", "record.window", None, "of goodput and fairness; default 10us, at slow "
     "links that of eight packets"),
)
# Options by the scenario key they set, so that errors name what was typed.
INCAST_OPTIONS = {key: f"--{name}" for name, _, key, _, _ in INCAST} | {
    "topology.hosts": "--senders", "topology.left": "--senders"}
TRUNK = ("trunk-rate", "trunk-delay")

SEED = ("--seed", {"metavar": "N", "help": "instead of the file's seed"})
PARTS = ("--parts", {"metavar": "N", "help": "divide the network in so many parts, a kernel on a "
                     "processor each; default: it is one, and events of one ns are in another "
                     "order"})
MEET = ("--meet", {"metavar": "HOST:PORT", "help": "several machines have the parts: each runs "
                   "this command as a rank of mpirun or srun; rank 0 is at HOST, and has the tables"})
SCALE = ("--scale", {"metavar": "NAME", "help": "[scale.NAME] of the file overrides it"})
NO_FIGURES = ("--no-figures", {"action": "store_true", "help": "tables and numbers alone: drawing "
                               "takes longer than many a run"})
CONDITION = ("condition", {"metavar": "CONDITION", "help": "of each run, such as 'p99 < 80us', "
                           "or of one label, 'swift: p99 < 80us'; quantities are p50, p99, max (of "
                           "completion times), goodput, drops, queue max, offered load, carried load, slowdown_p99 all, or of a class "
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
                         "and medians over them"}),
            PARTS, MEET, SCALE, PCAP, OUT, *RUNS, NO_FIGURES),
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
                  PARTS, OUT, *RUNS, NO_FIGURES),
    "figures": ("all figures of the papers, and whether each is reproduced",
                ("word", {"metavar": "WORD", "nargs": "?", "default": "", "help": "only those with "
                          "this word in their name or a scenario's"}),
                ("--page", {"action": "store_true", "help": "print Documentation/figures.md"})),
    "demo": ("four scenarios, and a page that explains them", OUT, *RUNS),
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
              PARTS, *RUNS),
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
             ("a", {"metavar": "A", "help": "a kernel, named as for --kernel of run"}),
             ("b", {"metavar": "B", "help": "another; ratios are of B over A"}),
             ("files", {"metavar": "FILE", "nargs": "+", "help": "FILE.scenario, or FILE.sweep: "
                        "each of its points with all algorithms"}),
             ("--seeds", {"metavar": "N", "help": "of each scenario, from its own on; default 5"}),
             SCALE, OUT, *(row for row in RUNS if row[0] != "--kernel"), NO_FIGURES),
    "holds": ("whether a scenario's result meets a condition, for git bisect run",
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
        verb = self.prog.partition(" ")[2]
        raise InputError(verb or "command line", f"{message}; see {self.prog} --help")

    def parse_known_args(self, args=None, namespace=None):
        try:
            found, unknown = super().parse_known_args(args, namespace)
        except InputError:
            # argparse reports a missing argument first, but an unknown one may be its misspelling.
            for action in self._actions:
                action.required = False
            unknown = super().parse_known_args(args)[1]
            if not any(word.startswith("-") for word in unknown):
                raise
        if unknown:
            word = next((word for word in unknown if word.startswith("-")), unknown[0])
            name = word.partition("=")[0]
            self.error(f"unrecognized argument {name!r}"
                       + nearest(name, self._option_string_actions))
        return found, unknown


def make_parser():
    """The command line."""
    how = {"epilog": UNITS + EXIT, "allow_abbrev": False,
           "formatter_class": argparse.RawDescriptionHelpFormatter}
    parser = Parser(prog="lab", description="Run real kernel TCP through a network in virtual "
                    "time, one run per congestion control.", **how)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND",
                                     parser_class=Parser)
    for name, (words, *rows) in COMMANDS.items():
        one = commands.add_parser(name, help=words, description=words, **dict(
            how, epilog=UNITS + HOLDS if name == "holds" else how["epilog"]))
        group = one.add_mutually_exclusive_group() if name == "sweep" else None
        for *names, settings in rows:
            (group if names[0] in EXCLUSIVE else one).add_argument(*names, **settings)
    return parser
