# SPDX-License-Identifier: GPL-2.0
"""Runs plans: one user-mode Linux process per algorithm, several at a time."""

import mmap
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from . import cost, plan, programs, results
from .errors import InputError, RunError

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(HERE)
BUILD = {"normal": os.path.join(ROOT, "build", "lab"),
         "bpf": os.path.join(ROOT, "build", "lab-bpf"),
         "debug": os.path.join(ROOT, "build", "lab-debug")}
UML_RUN = os.path.join(HERE, "uml-run")
DEFAULT_SERIES = "6.12"
TCP_ECN_CLASSIC_MAX = 2		# of net.ipv4.tcp_ecn, where TCP has no Accurate ECN
ACCURATE_ECN = b"\0tcp_ecn_option\0"	# a sysctl
MAKE = {"normal": "make lab", "bpf": "make lab-bpf", "debug": "make lab-debug"}

PLAN_PLACE = re.compile(r"^plan line [0-9]+: run: (?=program )")	# which nobody wrote
COMPLAINT = re.compile(r"\b(WARNING|BUG|Oops|KASAN|UBSAN|Kernel panic|Call Trace)\b|"
                       r"possible circular|possible recursive|inconsistent lock state|"
                       r"unreferenced object")
LEAKS = re.compile(r"^quell-kmemleak [1-9]")
VERSION = re.compile(rb"Linux version ([0-9][^ \0]*) ")
PLAN_LINE = re.compile(r"^plan line [0-9]+: [^:]*: ")
PROGRAM_TIMEOUT_S = 120
STOP_S = 5
REFRESH_S = 0.2
PLAIN_REFRESH_S = 10
TAIL_LINES = 20
BEFORE_LINES = 5		# what led to a complaint is printed before it
PROGRESS_JOBS = 4		# of more than these their numbers are shown
PROGRESS_RUNNING = 2		# and how far those that run are, if no more than these


@dataclass(frozen=True)
class Kernel:
    """What a run executes."""

    kind: str
    linux: str
    modules: str
    init: str
    guest_bytes: object = None		# memory of a run; None: by its hosts
    parts: object = None		# of the network of a run; None: it is not divided
    machines: object = None		# the Machines that have them; None: this one
    # builds the kernel of the same source that runs BPF programs; None: there is not one
    bpf: object = field(default=None, compare=False)

    @property
    def label(self):
        """Its name on a command line."""
        return DEFAULT_SERIES if self.kind == "normal" else self.kind

    @property
    def version(self):
        """Release of the kernel, as its executable says."""
        with self.text() as text:
            match = VERSION.search(text)
            return match.group(1).decode() if match else None

    def has(self, text):
        """Whether its executable has a text, such as the name of a sysctl."""
        with self.text() as found:
            return found.find(text) >= 0

    def text(self):
        """Its executable, in memory."""
        with open(self.linux, "rb") as file:
            if not os.fstat(file.fileno()).st_size:
                raise RunError(self.linux, "is empty")
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def find_kernel(kind):
    """The lab kernel, from QUELL_LAB_* or from where make puts it."""
    base = BUILD[kind]
    places = (("QUELL_LAB_KERNEL", "linux"), ("QUELL_LAB_MODULES", "modules"),
              ("QUELL_LAB_INIT", "lab-init"))
    paths = []
    for variable, name in places:
        path = os.environ.get(variable)
        source = variable
        if path is None:
            path = os.path.join(base, name)
            source = "lab kernel"
        if not os.path.exists(path):
            hint = f", run '{MAKE[kind]}'" if source == "lab kernel" else ""
            raise InputError(source, f"no {name} at {path}{hint}")
        paths.append(path)
    return Kernel(kind, *paths)


def kernel_of(variant, kernel):
    """The kernel that a variant runs on: that of BPF objects is one of its own."""
    if not variant.program:
        return kernel
    if kernel.bpf:
        return replace(kernel.bpf(), guest_bytes=kernel.guest_bytes, parts=kernel.parts,
                       machines=kernel.machines)
    if kernel.kind != "normal":
        raise InputError(f"--kernel {kernel.kind}", f"it runs no BPF, and '{variant.label}' is an "
                         "object")
    return replace(find_kernel("bpf"), guest_bytes=kernel.guest_bytes)


def _check_ports(kernel, variant):
    """InputError where a kernel lacks the qdisc, the module or the Accurate ECN of a run."""
    qdisc = variant.qdisc
    if qdisc and qdisc.module and not os.path.exists(os.path.join(kernel.modules, qdisc.module)):
        raise InputError(f"--kernel {kernel.label}", f"Linux {kernel.version} has no {qdisc.kind}, "
                         f"which the ports of '{variant.label}' are")
    for module in variant.tree.modules if variant.tree else ():
        if not os.path.exists(os.path.join(kernel.modules, module)):
            raise InputError(f"--kernel {kernel.label}", f"Linux {kernel.version} has no {module}"
                             " here: it is of the kernel's tree, built for --kernel 7.3 or DIR")
    if (variant.tcp_ecn or 0) > TCP_ECN_CLASSIC_MAX and not kernel.has(ACCURATE_ECN):
        raise InputError(f"--kernel {kernel.label}", f"Linux {kernel.version} has no Accurate ECN: "
                         f"tcp-ecn of '{variant.label}' is at most {TCP_ECN_CLASSIC_MAX}")


def check_modules(wanted, scenario):
    """InputError for a module that is not built, or that a kernel lacks, before anything runs."""
    for variant in scenario.variants:
        kernel = kernel_of(variant, wanted)
        _check_ports(kernel, variant)
        for name in (words.split()[0] for words in plan.modules(scenario, variant)):
            if not os.path.exists(os.path.join(kernel.modules, name)):
                raise InputError("modules" if name in plan.LAB_MODULES else f"--cc {variant.label}",
                                 f"no {name} in {kernel.modules}, run '{MAKE.get(kernel.kind, MAKE['normal'])}'")


def program_files(scenario, variant):
    """{name in a plan: path} of the BPF objects of a run."""
    if not variant.program:
        return {}
    program = variant.program.program
    files = {program.file: program.path}
    if plan.is_spoken(scenario, variant):
        files[programs.OPTION_FILE] = program.option
    return files


def copy_programs(scenario, variant, directory):
    """The variant's BPF objects, where its plan has them."""
    for name, path in program_files(scenario, variant).items():
        os.makedirs(directory, exist_ok=True)
        try:
            shutil.copyfile(path, os.path.join(directory, name))
        except FileNotFoundError as error:
            raise InputError(path, "no such file: the program of the Quell option is made with "
                             "the algorithms, by 'make ebpf'") from error


def _boot_program(kernel, scenario, variant, scratch):
    """Load a variant's BPF object into a guest; the kernel's reason not to, or None."""
    path, objects = os.path.join(scratch, "plan"), os.path.join(scratch, "objects")
    with open(path, "w", encoding="ascii") as file:
        file.write(plan.write_program(scenario, variant))
    copy_programs(scenario, variant, objects)
    out = os.path.join(scratch, "out")
    done = subprocess.run([UML_RUN, "--kernel", kernel.linux, "--modules", kernel.modules,
                           "--init", kernel.init, "--objects", objects, "--plan", path,
                           "--out", out, "--timeout", str(PROGRAM_TIMEOUT_S)],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if not done.returncode:
        return None
    if os.path.exists(os.path.join(out, "errors.out")):
        with open(os.path.join(out, "errors.out"), encoding="utf-8", errors="replace") as file:
            return PLAN_LINE.sub("", file.read().strip())
    return "\n".join(done.stdout.decode("utf-8", "replace").splitlines()[-TAIL_LINES:])


def check_programs(kernel, scenario):
    """InputError for a BPF object that the kernel does not take, before anything runs."""
    for variant in scenario.variants:
        if not variant.program:
            continue
        with tempfile.TemporaryDirectory(prefix="quell-lab-bpf.") as scratch:
            reason = _boot_program(kernel_of(variant, kernel), scenario, variant, scratch)
        if reason:
            raise InputError(f"{variant.program.program.path}", reason)


class Job:
    """One variant's run: its directory, process and progress."""

    def __init__(self, scenario, variant, kernel, directory, group=""):
        self.name = f"{group}: {variant.label}" if group else variant.label
        self.scenario = scenario
        self.variant = variant
        self.kernel = kernel
        self.directory = directory
        self.guest_bytes = kernel.guest_bytes or cost.guest_bytes(len(scenario.graph.hosts),
                                                                   len(scenario.flows))
        self.process = None
        self.virtual_ns = 0
        self.done = 0
        self.state = "waiting"
        self.meter = cost.Meter()
        self.complaints = []

    @property
    def log(self):
        """Path of the kernel log."""
        return os.path.join(self.directory, "kernel.log")

    @property
    def objects(self):
        """Directory of the BPF objects that the plan names."""
        return os.path.join(self.directory, "objects")

    def prepare(self):
        """An empty directory with the plan."""
        shutil.rmtree(self.directory, ignore_errors=True)
        os.makedirs(os.path.join(self.directory, "out"))
        copy_programs(self.scenario, self.variant, self.objects)
        with open(os.path.join(self.directory, "plan"), "w", encoding="ascii") as file:
            file.write(self.plan_text())

    def plan_text(self):
        """The plan that the process executes."""
        return plan.write(self.scenario, self.variant)

    def command(self):
        """Command line of the process."""
        return [UML_RUN, "--kernel", self.kernel.linux, "--modules", self.kernel.modules,
                "--init", self.kernel.init, "--seed", str(self.scenario.seed),
                "--mem", f"{self.guest_bytes >> 20}M",
                "--plan", os.path.join(self.directory, "plan"),
                "--objects", self.objects, "--out", os.path.join(self.directory, "out")]

    def inherited(self):
        """File descriptors that the process has of this one."""
        return ()

    def see(self, text):
        """A line of the log."""

    def run(self, timeout_s):
        """Run to the end; results.RunResult, or RunError."""
        if self.state == "stopped":
            raise RunError("interrupted")
        self.state = "running"		# from here on a stop ends the process
        self.prepare()
        self.meter = cost.Meter()
        with subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, start_new_session=True,
                              pass_fds=self.inherited()) as self.process:
            guard = threading.Timer(timeout_s, self._time_out)
            guard.daemon = True
            guard.start()
            if self.state == "stopped":
                self.kill()
            try:
                self._read_log()
                status = self.process.wait()
            except OSError as error:
                self.state = "failed"
                self.kill()
                raise RunError(f"{self.log}: {error.strerror}") from error
            finally:
                guard.cancel()
        try:
            return self._finish(status, self.meter.cost())
        except RunError:
            self.state = "failed" if self.state == "running" else self.state
            raise

    def _read_log(self):
        with open(self.log, "w", encoding="utf-8") as log:
            for line in self.process.stdout:
                text = line.decode("utf-8", "replace").rstrip()
                if self.meter.is_own(text):
                    continue
                self.meter.see(text)
                self.see(text)
                match = cost.PROGRESS.match(text)
                if match:
                    self.virtual_ns, self.done = int(match.group(1)), int(match.group(2))
                    continue
                log.write(text + "\n")
                if COMPLAINT.search(text) or LEAKS.search(text):
                    self.complaints.append(text)

    def _finish(self, status, spent):
        out = os.path.join(self.directory, "out")
        error = os.path.join(out, "errors.out")
        if self.state == "out of time":
            raise RunError(f"killed after {spent.wall_s:.0f} s of --timeout")
        if self.state == "stopped":
            raise RunError("interrupted")
        if self.meter.exhausted:
            raise RunError(f"the guest's memory of {self.guest_bytes >> 20}M did not suffice: "
                           "give more by --mem")
        if os.path.exists(error):
            with open(error, encoding="utf-8", errors="replace") as file:
                text = PLAN_PLACE.sub("", file.read().strip())
                raise RunError(text or "errors.out is empty")
        if not os.path.exists(os.path.join(out, "done.out")):
            raise RunError(f"the kernel ended early, exit status {status}")
        if status and not self.complaints:
            raise RunError(f"exit status {status}")
        result = self.result(spent)
        self.state = "done"
        self.done = len(self.scenario.flows)
        return result

    def result(self, spent):
        """What the run has left."""
        return results.read(os.path.join(self.directory, "out"), self.scenario, self.variant, spent)

    def _time_out(self):
        self.state = "out of time"
        self.kill()

    def kill(self):
        """End the process, which ends the kernel it started; harder if it does not."""
        process = self.process
        if not process or process.poll() is not None:
            return
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)

    def excerpt(self):
        """What to show of the kernel log: its first complaint, or its last lines."""
        try:
            with open(self.log, encoding="utf-8", errors="replace") as log:
                lines = log.read().splitlines()
        except OSError:
            return []
        first = next((number for number, text in enumerate(lines)
                      if COMPLAINT.search(text) or LEAKS.search(text)), len(lines))
        begin = max(0, min(first - BEFORE_LINES, len(lines) - TAIL_LINES))
        return lines[begin:begin + TAIL_LINES]


def _progress(job):
    if job.state != "running":
        return f"{job.name} {job.state}"
    return (f"{job.name} {job.done}/{len(job.scenario.flows)} flows at "
            f"{job.virtual_ns / 1e6:.3f} ms")


class Progress:
    """A line that is rewritten on a terminal, a line now and then elsewhere."""

    def __init__(self, jobs, quiet):
        self.jobs = jobs
        self.quiet = quiet
        self.terminal = sys.stderr.isatty()
        self.begin = time.monotonic()
        self.next_s = self.begin + (0 if self.terminal else PLAIN_REFRESH_S)

    def text(self):
        """The state of all runs: of a few each, of more their numbers."""
        states = [job.state for job in self.jobs]
        if len(self.jobs) > PROGRESS_JOBS:
            running, waiting = states.count("running"), states.count("waiting")
            said = f"done {len(states) - running - waiting}, running {running}, waiting {waiting}"
            if running <= PROGRESS_RUNNING:
                said = " | ".join((said, *(_progress(job) for job in self.jobs
                                           if job.state == "running")))
        else:
            said = " | ".join(_progress(job) for job in self.jobs)
        return f"[{time.monotonic() - self.begin:5.1f} s] {said}"

    def show(self):
        """Show the state if it is time to."""
        now = time.monotonic()
        if self.quiet or now < self.next_s:
            return
        if self.terminal:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write("\r\033[K" + self.text()[:width])
        else:
            sys.stderr.write(self.text() + "\n")
        sys.stderr.flush()
        self.next_s = now + (REFRESH_S if self.terminal else PLAIN_REFRESH_S)

    def say(self, text):
        """A line that stays."""
        if self.quiet:
            return
        clear = "\r\033[K" if self.terminal else ""
        sys.stderr.write(f"{clear}{text}\n")
        sys.stderr.flush()


def _await(futures, progress, finished):
    waiting = set(futures)
    while waiting:
        for future in [future for future in waiting if future.done()]:
            waiting.remove(future)
            job = futures.pop(future)
            error = future.exception()
            if error is None:
                wall_s = future.result().cost.wall_s
                progress.say(f"{job.name}: " + ("is there" if wall_s is None else
                                                f"done in {wall_s:.1f} s"))
            elif isinstance(error, RunError):
                progress.say(f"{job.name}: FAILED: {error}")
            else:
                raise error
            finished(job, error or future.result())
        progress.show()
        time.sleep(0.05)


def run_all(jobs, workers, timeout_s, quiet, finished):
    """
    Run jobs, several at a time; finished(job, RunResult or RunError) is called
    for each as it ends.  An interrupt ends all processes and is passed on.
    """
    progress = Progress(jobs, quiet)
    futures = {}
    pool = ThreadPoolExecutor(max_workers=workers)
    try:
        futures = {pool.submit(job.run, timeout_s): job for job in jobs}
        _await(futures, progress, finished)
    except BaseException:
        for future in futures:
            future.cancel()
        for job in jobs:
            job.state = "stopped"
            job.kill()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def raw_name(number, variant):
    """Directory of a variant's run: its number, and its label for people."""
    return f"{number}-" + re.sub(r"[^A-Za-z0-9_.+-]", "_", variant.label)
