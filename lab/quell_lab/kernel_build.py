# SPDX-License-Identifier: GPL-2.0
"""Builds a laboratory kernel of any source, with the modules for it, or finds them in the cache.

A tree of the cache has a directory for its source and one for objects, of whichever commit was
built last.  What a run needs is kept for each build, in ready/KEY: the executable and, by a digest
of their sources, the modules.  A build that was interrupted goes on where it ended.
"""

import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time

from . import kernel_source, runner, show
from .errors import InputError, SourceError

CONFIG = os.path.join(runner.HERE, "kernel", "lab.config")
BPF_CONFIG = os.path.join(runner.HERE, "kernel", "bpf.config")	# added to it
# Options that later kernels may not offer: 7.3 has PREEMPT_NONE of no architecture that can be
# preempted, and no longer asks for PROC_SYSCTL.
MAY_LACK = ("CONFIG_PREEMPT_NONE", "CONFIG_PROC_SYSCTL")
AREAS = ("kmod-cc", "kmod-qdisc", "lab/modules", "lab/comparators", "lab/tutorial",
         "lab/qdiscs", "lab/cc", "selftests/net/modules")
MODULES = os.path.join(runner.ROOT, "scripts", "build-modules")
OBJECT_BYTES, BPF_OBJECT_BYTES = 200_000_000, 800_000_000
READY_BYTES = 20_000_000
JOB_BYTES = 400_000_000		# of a compiler; the linker takes as much
FILES, BPF_FILES = 760, 860	# compiled of a kernel
# Who built it, where and when changes no executable.
SAME = {"KBUILD_BUILD_TIMESTAMP": "2026-01-01", "KBUILD_BUILD_USER": "quell",
        "KBUILD_BUILD_HOST": "lab", "KBUILD_BUILD_VERSION": "1", "LOCALVERSION": "", "LC_ALL": "C"}
RECIPE = 1			# counts changes of the steps below that change an executable
ERRORS = re.compile(r"error:|\*\*\*|undefined reference|No rule to make")
ERROR_LINES = 8
STEP = re.compile(r"^  ([A-Z]+)(?: \[M\])? +(\S+)")


class BuildError(SourceError):
    """A kernel or a module that could not be built."""


def _say(text, quiet):
    if not quiet:
        print(f"lab kernel: {text}", file=sys.stderr)


def compiler():
    """Version of the compiler."""
    done = subprocess.run([os.environ.get("CC", "gcc"), "-dumpfullversion"], capture_output=True,
                          text=True, check=False)
    if done.returncode:
        raise InputError("lab kernel", "no compiler; run 'make deps-demo'")
    return done.stdout.strip()


def configuration(runs_bpf):
    """Text of the options of a kernel; where two lines set one option, the later has priority."""
    text = ""
    for path in (CONFIG, BPF_CONFIG) if runs_bpf else (CONFIG,):
        with open(path, encoding="ascii") as file:
            text += file.read()
    return text


def kernel_key(prepared, runs_bpf=False):
    """What decides an executable, in a few digits."""
    config = configuration(runs_bpf).encode()
    digest = hashlib.sha256(f"{RECIPE} {prepared.identity} {compiler()}\n".encode() + config)
    return f"{prepared.version}-{digest.hexdigest()[:12]}"


def modules_key():
    """Of the sources of all modules."""
    digest = hashlib.sha256()
    for area in ("include", *AREAS):
        for base, directories, names in os.walk(os.path.join(runner.ROOT, area)):
            directories.sort()
            for name in sorted(names):
                if name.endswith((".c", ".h")) or name == "Kbuild":
                    path = os.path.join(base, name)
                    digest.update(os.path.relpath(path, runner.ROOT).encode() + b"\0")
                    with open(path, "rb") as file:
                        digest.update(file.read())
    return digest.hexdigest()[:12]


def _relevant(log):
    """Lines of a log that name what is wrong, or its last ones."""
    with open(log, encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()
    found = [line for line in lines if ERRORS.search(line)] or lines
    return "".join(f"\n  {line}" for line in found[:ERROR_LINES])


def _run(where, words, log, quiet, what, files=FILES, lock=None):
    """
    Run a step of a build, its output to a log, and show its progress.  It holds the lock of its
    directory, too, so that no other build begins while it outlives this process.
    """
    done = 0
    with open(log, "a", 1, encoding="utf-8") as file, subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace", env={**kernel_source.environment(), **SAME},
            pass_fds=(lock.fileno(),) if lock else ()) as process:
        for line in process.stdout:
            file.write(line)
            step = STEP.match(line)
            if step and not quiet:
                done += step[1] == "CC"
                show.progress(f"{what}: {done} of about {files} files compiled, {step[2]}")
    if not quiet:
        show.progress("")
    if process.returncode:
        raise BuildError(where, f"{what} failed, see {log}:{_relevant(log)}")


class Tree:
    """A source, and the directories that it is built in."""

    def __init__(self, source, quiet):
        self.source = source
        self.quiet = quiet
        self.directory = os.path.join(kernel_source.cache(), source.name)
        self.source_directory = os.path.join(self.directory, "source")
        self.objects = os.path.join(self.directory, "objects")
        if re.search(r"[\s:]", self.directory):
            raise InputError(source.where, f"no kernel can be built in {self.directory}: its path "
                             "has a space or a colon; QUELL_CACHE names another directory")
        os.makedirs(self.directory, exist_ok=True)
        self.lock = None		# of the directory
        self.jobs = len(os.sched_getaffinity(0))

    def _log(self, name):
        """A new log of a step."""
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8"):
            return path

    def _make(self, *words):
        return ["make", "-C", self.source_directory, "ARCH=um", f"O={self.objects}", *words]

    def _check_disk(self):
        """Say what a build takes, before it begins; InputError if the disk is too small."""
        needed = self.source.missing_bytes(self.source_directory) + READY_BYTES
        if not os.path.exists(os.path.join(self.objects, "vmlinux")):
            needed += BPF_OBJECT_BYTES if self.source.runs_bpf else OBJECT_BYTES
        free = shutil.disk_usage(self.directory).free
        _say(f"{self.source.label}: takes up to {needed / 1e9:.1f} GB of disk in {self.directory}, "
             f"{self.jobs * JOB_BYTES / 1e9:.1f} GB of memory, and some minutes if nothing is "
             "built yet", self.quiet)
        if free < needed:
            raise BuildError(self.source.where, f"{self.directory} has {free / 1e9:.1f} GB left, "
                             f"and a build takes {needed / 1e9:.1f} GB")

    def _configure(self, prepared):
        """
        The configuration of the laboratory, of which no option may get lost.  It is left alone
        where neither it nor the options of the source have changed since.
        """
        os.makedirs(self.objects, exist_ok=True)
        text = configuration(self.source.runs_bpf)
        key = f"{self.source.options(prepared)} {compiler()}\n{text}"
        mark = os.path.join(self.objects, ".quell-config")
        if os.path.exists(mark):
            with open(mark, encoding="ascii") as file:
                if file.read() == key:
                    return
        log, config = self._log("config.log"), os.path.join(self.objects, ".config")
        merge = os.path.join(self.source_directory, "scripts", "kconfig", "merge_config.sh")
        fragments = (CONFIG, BPF_CONFIG) if self.source.runs_bpf else (CONFIG,)
        for words in (self._make("-s", "allnoconfig"),
                      [merge, "-m", "-O", self.objects, config, *fragments],
                      self._make("-s", "olddefconfig")):
            _run(self.source.where, words, log, True, "configuration", lock=self.lock)
        with open(config, encoding="ascii") as file:
            have = set(file.read().splitlines())
        wanted = {line.partition("=")[0]: line for line in text.splitlines()
                  if line.startswith("CONFIG_")}
        lost = [line for line in wanted.values() if not line.startswith(MAY_LACK) and (
            line[:-1] + "y" in have if line.endswith("=n") else line not in have)]
        if lost:
            raise BuildError(self.source.where, "the source has no option for "
                             f"{', '.join(lost)}, which the laboratory needs")
        with open(mark, "w", encoding="ascii") as file:
            file.write(key)

    def build(self, prepared):
        """Bring the directory of objects to a source, which it may be at already."""
        self._check_disk()
        left_out = self.source.untracked()
        if left_out:
            more = f" and {len(left_out) - 3} more" if len(left_out) > 3 else ""
            _say(f"without {', '.join(left_out[:3])}{more}: not tracked by git", self.quiet)
        begun = time.monotonic()
        self.source.write(prepared, self.source_directory, self.lock)
        for refused in prepared.left_out:
            _say(f"without {refused}: slower, and events of one ns may have another order",
                 self.quiet)
        self._configure(prepared)
        _run(self.source.where, self._make(f"-j{self.jobs}", "all"), self._log("build.log"),
             self.quiet, f"Linux {prepared.version}",
             BPF_FILES if self.source.runs_bpf else FILES, self.lock)
        _say(f"Linux {prepared.version} took {time.monotonic() - begun:.0f} s", self.quiet)

    def keep(self, linux):
        """The executable, without a debugger's information."""
        temporary = linux + ".new"
        subprocess.run(["objcopy", "--strip-debug", os.path.join(self.objects, "vmlinux"),
                        temporary], check=True)
        os.rename(temporary, linux)

    def build_modules(self, directory):
        """Our modules for the kernel that the objects are of."""
        work = os.path.join(self.directory, "modules")
        _run(self.source.where, ["env", f"AREAS={' '.join(AREAS)}", MODULES, self.objects, work,
                                 "ARCH=um"], self._log("modules.log"), True, "the modules",
             lock=self.lock)
        temporary = directory + ".new"
        shutil.rmtree(temporary, ignore_errors=True)
        os.makedirs(temporary)
        for name in os.listdir(work):
            if name.endswith(".ko"):
                shutil.copyfile(os.path.join(work, name), os.path.join(temporary, name))
        os.rename(temporary, directory)

    def make(self, prepared, linux, modules):
        """Executable and directory of modules, unless another process has made them meanwhile."""
        def waits():
            _say(f"another process builds in {self.directory}; this one waits until it ends",
                 self.quiet)
        with kernel_source.locked(os.path.join(self.directory, "lock"), waits=waits) as self.lock:
            if os.path.exists(linux) and os.path.isdir(modules):
                return
            self.build(prepared)
            # Another tree may have the same content.
            with kernel_source.locked(os.path.join(os.path.dirname(linux), "lock")):
                if not os.path.exists(linux):
                    self.keep(linux)
                if not os.path.isdir(modules):
                    self.build_modules(modules)


def build(source, quiet, prepared=None):
    """runner.Kernel of a source, built unless it is in the cache."""
    init = runner.find_kernel("normal").init
    prepared = prepared or source.prepare()
    ready = os.path.join(kernel_source.cache(), "ready", kernel_key(prepared, source.runs_bpf))
    linux, modules = os.path.join(ready, "linux"), os.path.join(ready, modules_key())
    if not os.path.exists(linux) or not os.path.isdir(modules):
        tree = Tree(source, quiet)
        try:
            tree.make(prepared, linux, modules)
        except (OSError, subprocess.CalledProcessError) as error:
            raise BuildError(source.where, str(error)) from error
    bpf = None if source.runs_bpf else functools.cache(lambda: build(source.with_bpf(), quiet))
    if source.runs_bpf:		# beside the loader of objects
        init = os.path.join(runner.BUILD["bpf"], os.path.basename(init))
    return runner.Kernel(source.label, linux, modules, init, bpf=bpf)


def sources(texts):
    """The source of each that --kernel names, or the runner.Kernel that "make lab" built."""
    return [runner.find_kernel("debug" if text == "debug" else "normal")
            if text in ("6.12", "normal", "debug") else kernel_source.find(text)
            for text in texts]


def find_all(texts, quiet=False):
    """The runner.Kernel of each that --kernel names; all are checked before one is built."""
    found = sources(texts)
    prepared = [None if isinstance(one, runner.Kernel) else one.prepare() for one in found]
    return [build(one, quiet, source) if source else one for one, source in zip(found, prepared)]


def find(text, quiet=False):
    """runner.Kernel that --kernel names."""
    return find_all([text], quiet)[0]
