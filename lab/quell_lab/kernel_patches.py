# SPDX-License-Identifier: GPL-2.0
"""The laboratory's patches to user-mode Linux, for a source of any version.

Each patch of lab/kernel is tried as it is for 6.12, then as a directory of a later version has
it.  Those for speed alone are left out of a source that refuses all of them.
"""

import glob
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass

from .errors import SourceError

HERE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "kernel")
# The order matters: later ones change lines that earlier ones added.
NEEDED = ("um-exact-timers", "um-seeded-random")
SPEED = ("um-fast-irqflags", "um-fast-forward", "um-timer-wheel")
BPF = ("um-bpf-jit",)		# needed of a kernel that runs BPF programs
FILE = re.compile(r"^\+\+\+ b/(\S+)", re.MULTILINE)
REFUSED = re.compile(r"^Hunk #([0-9]+) FAILED at ([0-9]+)", re.MULTILINE)
PATCHING = re.compile(r"^(?:checking|patching) file (\S+)", re.MULTILINE)


class Refused(SourceError):
    """A source that a patch does not fit."""


@dataclass(frozen=True)
class Applied:
    """What became of the series."""

    files: tuple		# that were patched
    left_out: tuple		# names of patches, with what refused them


def variants(name):
    """Paths of a patch: of 6.12, then of later versions."""
    return [path for path in (os.path.join(HERE, f"{name}.patch"),
                              *sorted(glob.glob(os.path.join(HERE, "*", f"{name}.patch"))))
            if os.path.exists(path)]


def _files(path):
    """Files that a patch changes."""
    with open(path, encoding="utf-8") as file:
        return FILE.findall(file.read())


def _hunk(path, said):
    """The first hunk that was refused: its number, file and first line."""
    failed = REFUSED.search(said)
    if not failed:
        return said.strip().splitlines()[-1] if said.strip() else "refused"
    files = PATCHING.findall(said[:failed.start()])
    with open(path, encoding="utf-8") as file:
        text = file.read()
    part = text[text.find(f"+++ b/{files[-1]}"):]
    heads = re.findall(r"^@@ .*", part, re.MULTILINE)
    return f"hunk {failed[1]} of {files[-1]}, {heads[int(failed[1]) - 1]}"


def _try(path, directory):
    """Apply a patch whole or not at all; None, or the hunk that was refused."""
    words = ["patch", "-p1", "-f", "--no-backup-if-mismatch", "-d", directory, "-i", path]
    done = subprocess.run([*words, "--dry-run"], capture_output=True, text=True, check=False)
    if done.returncode > 1:	# such as a full disk
        raise SourceError("patch", (done.stderr or done.stdout).strip())
    if done.returncode:
        return _hunk(path, done.stdout)
    subprocess.run(words, capture_output=True, check=True)
    return None


def apply(directory, where, needed=NEEDED):
    """Apply the series to a source, or to those of its files that it touches: Applied."""
    files, left_out = set(), []
    for name in (*needed, *SPEED):
        refused = None
        for path in variants(name):
            reason = _try(path, directory)
            if reason is None:
                files.update(_files(path))
                break
            refused = refused or f"{name}.patch, {reason}"
        else:
            if name in needed:
                raise Refused(where, f"the source refuses {refused}")
            left_out.append(refused)
    return Applied(tuple(sorted(files)), tuple(left_out))


def prepare(read, where, runs_bpf=False):
    """
    Patch copies of the files that the series touches: {path: content}, and the patches left out.
    read(path) returns the bytes of a file of the source, or None.
    """
    needed = (*NEEDED, *BPF) if runs_bpf else NEEDED
    with tempfile.TemporaryDirectory() as scratch:
        for path in {file for name in (*needed, *SPEED) for one in variants(name)
                     for file in _files(one)}:
            content = read(path)
            if content is None:
                continue
            os.makedirs(os.path.join(scratch, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(scratch, path), "wb") as file:
                file.write(content)
        done = apply(scratch, where, needed)
        found = {}
        for path in done.files:
            with open(os.path.join(scratch, path), "rb") as file:
                found[path] = file.read()
        return found, done.left_out
