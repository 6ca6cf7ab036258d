# SPDX-License-Identifier: GPL-2.0
"""Results of single runs, each in a directory named by what went into it.

runs/KEY appears whole, by a rename, or not at all.  Until then a run lives in
runs/.work-*, whose lock its process holds: what nobody holds was cut off.
"""

import errno
import fcntl
import functools
import glob
import hashlib
import json
import os
import shutil
import tempfile

from . import cores, plan, runner
from .errors import InputError

RESULT = "result.json"
WORK = ".work-"
LOCK = "lock"
KEY_DIGITS = 24
# What draws and prints, and changes no result of a run.
PRESENTATION = {f"{name}.py" for name in (
    "by_size chart charts cli compare dart_chart demo exchange figures fluid kernel_bisect "
    "kernel_build kernel_diff kernel_patches kernel_source network_chart output own_axes page "
    "report reproduce result_directory seeds show slowdown_chart sweep sweep_page sweep_run tables "
    "version written").split()}
# Keys of a scenario that change no result.
NO_INPUT = ("title", "paper", "algorithm")


@functools.cache
def digest(path):
    """SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@functools.cache
def lab_version():
    """SHA-256 of what makes plans, starts the kernel and measures."""
    own = os.path.dirname(os.path.abspath(__file__))
    paths = sorted(glob.glob(os.path.join(own, "*.py"))) + [cores.SOURCE]
    paths = [path for path in paths if os.path.basename(path) not in PRESENTATION]
    paths += [runner.UML_RUN, os.path.join(runner.HERE, "uml-start")]
    lines = [f"{os.path.basename(path)} {digest(path)}\n" for path in paths]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def key_of(scenario, kernel):
    """
    Name of a run's result: a hash of the plan that the kernel executes, of what the lab
    measures, and of everything that executes it.
    """
    variant = scenario.variants[0]
    kernel = runner.kernel_of(variant, kernel)
    modules = [os.path.join(kernel.modules, words.split()[0])
               for words in plan.modules(scenario, variant)]
    inputs = {
        "scenario": {key: value for key, value in scenario.config.items() if key not in NO_INPUT},
        "sizes": sorted({row.sizes for row in scenario.paper if row.sizes}),
        "algorithm": variant.name,
        "seed": scenario.seed,
        "in_parts": kernel.parts is not None,
        "plan": hashlib.sha256(plan.write(scenario, variant).encode()).hexdigest(),
        "programs": {name: digest(path) for name, path in
                     runner.program_files(scenario, variant).items()},
        "lab": lab_version(),
        "kernel": [digest(kernel.linux), digest(kernel.init),
                   digest(os.path.join(os.path.dirname(kernel.init), "detrand.so"))],
        "modules": [[os.path.basename(path), digest(path)] for path in modules],
    }
    text = json.dumps(inputs, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_DIGITS]


def _numbers(pairs):
    """A JSON object whose keys may be numbers of flows."""
    return {int(key) if key.isdigit() else key: value for key, value in pairs}


class Work:
    """A directory of a run under way, locked by this process."""

    def __init__(self, parent):
        while True:
            self.path = tempfile.mkdtemp(prefix=WORK, dir=parent)
            try:
                self.lock = os.open(os.path.join(self.path, LOCK), os.O_CREAT | os.O_RDWR, 0o600)
            except FileNotFoundError:
                continue	# another process took it for one that was cut off
            if _take(self.lock) and os.path.exists(os.path.join(self.path, LOCK)):
                return
            os.close(self.lock)

    def close(self):
        """Remove it."""
        _remove(self.path)
        os.close(self.lock)


def _take(lock):
    """Whether this process has the lock now."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove(path):
    """Remove a directory that this process has locked, its lock last: it may be cut off here."""
    for name in os.listdir(path):
        if name != LOCK:
            shutil.rmtree(os.path.join(path, name), ignore_errors=True)
    if os.listdir(path) == [LOCK]:	# else a kernel still writes there, and the next sweep does
        os.unlink(os.path.join(path, LOCK))
        os.rmdir(path)


def _remove_cut_off(path):
    """Remove a directory of a run unless a process has it locked."""
    try:
        lock = os.open(os.path.join(path, LOCK), os.O_RDWR)
    except FileNotFoundError:
        try:
            os.rmdir(path)	# without a lock it is empty
        except OSError:
            pass
        return
    if _take(lock):
        _remove(path)
    os.close(lock)


class Store:
    """The results of a directory."""

    def __init__(self, directory):
        self.runs = os.path.join(directory, "runs")

    def open(self):
        """Make the directory, and remove what was cut off."""
        os.makedirs(self.runs, exist_ok=True)
        for path in glob.glob(os.path.join(self.runs, WORK + "*")):
            _remove_cut_off(path)

    def path(self, key):
        """Directory of a result."""
        return os.path.join(self.runs, key)

    def load(self, key):
        """A result, or None."""
        try:
            with open(os.path.join(self.path(key), RESULT), encoding="utf-8") as file:
                return json.load(file, object_pairs_hook=_numbers)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise InputError(self.path(key), f"not a result of a run: {error}; remove it to have "
                             "it made again") from None

    def put(self, key, work, result, log):
        """A run's result, whole, and the kernel log beside it."""
        whole = os.path.join(work.path, "whole")
        os.mkdir(whole)
        shutil.copyfile(log, os.path.join(whole, os.path.basename(log)))
        with open(os.path.join(whole, RESULT), "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1, sort_keys=True)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            os.rename(whole, self.path(key))
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                raise
            # Another process has made the same run meanwhile, unless what is there is half
            # of one, as a machine that failed may leave.
            if self.load(key) is None:
                shutil.rmtree(self.path(key))
                os.rename(whole, self.path(key))
