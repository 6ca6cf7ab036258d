# SPDX-License-Identifier: GPL-2.0
"""Command line of the laboratory."""

import errno
import os
import shlex
import sys
import tempfile
import traceback
from dataclasses import replace

from . import compare, cost, files, kernel_build, machines, parted, parts, plan, runner, scenario, \
    show, targets, version
from .errors import InputError, RunError, nearest
from .incast import algorithms, given_keys, incast_table
from .options import make_parser
from .result_directory import MARKER, SWEEP_MARKER, check_directory, open_directory
from .schema import Key, Places, value_of

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_ABORT = 128		# of git bisect run
EXIT_INTERRUPTED = 130
DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)


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
    # Of runs in parts each has as many processes.
    jobs_max = max(1, jobs_max // (parts.of_command(args) or 1))
    return jobs_max, value_of("--timeout", args.timeout, Key("int", 1, 10**6))


def _with_memory(args, kernel):
    """A kernel whose runs have the memory that --mem sets, and the parts of --parts."""
    return replace(kernel, guest_bytes=_guest_bytes(args), parts=parts.of_command(args),
                   machines=machines.of_command(args))


def _options(args, marker=MARKER):
    """(jobs at a time, time limit, kernel) of the same, which also has --out and --kernel."""
    limits = _limits(args)
    check_directory(args.out, marker)
    return *limits, _with_memory(args, kernel_build.find(args.kernel, args.quiet))


def _ready(args, kernel, wanted, jobs, has_notes=True):
    """InputError if this machine lacks what a scenario's runs take, so many at a time."""
    runner.check_modules(kernel, wanted)
    parts.of_kernel(wanted, kernel)
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


def _run_rank(args, wanted, kernel, timeout_s):
    """The parts of a rank that has no tables; exit status."""
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="quell-lab-rank.") as scratch:
        runner.run_all(parted.make_jobs(wanted, kernel, scratch), 1, timeout_s, args.quiet,
                       lambda _, outcome: outcomes.append(outcome))
    return EXIT_FAILED if any(isinstance(one, RunError) for one in outcomes) else 0


def _execute(args, wanted, command):
    """Run a checked scenario and write all results; exit status."""
    from . import output
    jobs_max, timeout_s, kernel = _options(args)
    _ready(args, kernel, wanted, min(jobs_max, len(wanted.variants)))
    if kernel.machines:
        kernel.machines.meet(wanted, kernel, parts.of_kernel(wanted, kernel))
        jobs_max = 1
        if kernel.machines.rank:
            return _run_rank(args, wanted, kernel, timeout_s)
    _replace(args)
    jobs = parted.make_jobs(wanted, kernel, args.out)
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
    for name, kernel in (("A", args.a), ("B", args.b)):
        if kernel.endswith((".scenario", ".sweep")):
            raise InputError(name, f"'{kernel}' is a file, not a kernel: files follow A and B")
    # Before the points of a sweep, which take longer.
    jobs_max, timeout_s = _limits(args)
    check_directory(args.out)
    kernel_build.sources((args.a, args.b))

    def build(path, seed):
        table = files.load(path)
        return scenario.build(table if seed is None else dict(table, seed=seed), Places(path),
                              args.scale)
    wanted = kernel_diff.scenarios(args.files, build, args.scale, count)
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
    if not args.on:
        options["program"] = "--on"
    for key in ("syscall", "until"):
        if getattr(args, key) is not None:
            table[key] = getattr(args, key)
            options[key] = f"--{key}"
    if args.cc is not None:
        table["algorithm"] = algorithms(args.cc, [])
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
        return scenario.build(dict(table, **given_keys({"seed": args.seed})), places, args.scale)
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
            if args.meet is not None:
                raise InputError("--meet", "not with --seeds")
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
    except OSError as error:
        if error.errno not in DISK_ERRORS or argv[:1] == ["holds"]:
            raise
        print(f"lab: {error.filename or 'results cannot be written'}: {error.strerror}",
              file=sys.stderr)
        return EXIT_FAILED
