# SPDX-License-Identifier: GPL-2.0
"""Kernel sources that a laboratory kernel is built from: Debian's by version, or a git tree.

A git tree is only read.  Its commit, or its files as they are, plus the laboratory's patches are
a commit of a repository in the cache that shares the objects of the tree.  Changing from one
commit to another leaves all files alone that are the same, so that the next build is short.
"""

import contextlib
import fcntl
import functools
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass

from . import kernel_patches
from .errors import InputError, SourceError

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KERNEL_TREE = os.path.join(ROOT, "scripts", "kernel-tree")
DEBIAN = ("7.3",)		# beside 6.12, which "make lab" builds
OLDEST = (6, 12)
AT = "@"
BPF = "-bpf"			# ends the name of a directory for kernels that run BPF programs
# Of a source, where it is a copy of its own.
SOURCE_BYTES = 1_900_000_000
ZERO_TIME = {"GIT_AUTHOR_NAME": "lab", "GIT_AUTHOR_EMAIL": "lab@localhost",
             "GIT_COMMITTER_NAME": "lab", "GIT_COMMITTER_EMAIL": "lab@localhost",
             "GIT_AUTHOR_DATE": "1767225600 +0000", "GIT_COMMITTER_DATE": "1767225600 +0000"}


def cache():
    """The directory of the laboratory's kernels."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(os.environ.get("QUELL_CACHE") or os.path.join(base, "quell"), "trees")


@functools.cache
def _local_variables():
    """Names of the variables by which git finds a repository, whichever directory it is given."""
    try:
        done = subprocess.run(["git", "rev-parse", "--local-env-vars"], capture_output=True,
                              text=True, check=True)
    except FileNotFoundError:
        raise InputError("git", "not installed") from None
    return frozenset(done.stdout.split())


def environment():
    """
    That of this process without a repository: git bisect run exports GIT_DIR, which has priority
    over git -C, and would have commands change the repository that it runs in.
    """
    return {name: value for name, value in os.environ.items() if name not in _local_variables()}


def run_git(directory, *words, given=None, lock=None, **more):
    """git in a directory; its output, as bytes, is in English.  It holds the lock, too."""
    return subprocess.run(["git", "-C", directory, *words], input=given, capture_output=True,
                          check=False, env={**environment(), "LC_ALL": "C", **more},
                          pass_fds=(lock.fileno(),) if lock else ())


def reason(done):
    """Why git failed."""
    return done.stderr.decode(errors="replace").strip().removeprefix("fatal: ")


@contextlib.contextmanager
def locked(path, others=None, waits=lambda: None):
    """
    Hold a lock, the file of which this yields.  For another process that has it, InputError of
    others, if given, as it may take hours, else waits() before this waits.
    """
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if others:
                raise InputError(*others) from None
            waits()
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock


def _replace(path, content):
    """Have content in a file, whole at any time for processes that read it."""
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
        if file.read() == content:
            return
    with open(f"{path}.new", "wb") as file:
        file.write(content)
    os.replace(f"{path}.new", path)


@dataclass(frozen=True)
class Prepared:
    """A source with the patches of the laboratory, before it is written to the disk."""

    identity: str		# of all of its files
    version: str		# 7.3.4
    files: object		# {path: content} that the patches change; of git its commit
    left_out: tuple		# patches for speed that it refused


def _check(where, read):
    """Version of a source; InputError unless the laboratory may run it."""
    makefile = read("Makefile")
    found = makefile and [re.search(rb"^%s = ([0-9]+)" % key, makefile, re.MULTILINE)
                          for key in (b"VERSION", b"PATCHLEVEL", b"SUBLEVEL")]
    if not found or not all(found):
        raise InputError(where, "no kernel source: its Makefile has no VERSION, PATCHLEVEL and "
                         "SUBLEVEL")
    numbers = tuple(int(one[1]) for one in found)
    version = ".".join(map(str, numbers))
    if read("arch/um/Makefile") is None:
        raise SourceError(where, f"Linux {version} without user-mode Linux: no arch/um/Makefile")
    if numbers[:2] < OLDEST:
        raise SourceError(where, f"Linux {version} is too old: the laboratory's patches are for "
                          f"{'.'.join(map(str, OLDEST))} and later")
    return version


class Debian:
    """Debian's source package of a series."""

    def __init__(self, series, runs_bpf=False):
        self.where = f"kernel {series}"
        self.label = self.series = series
        self.runs_bpf = runs_bpf
        self.name = f"debian-{series}{BPF if runs_bpf else ''}"
        self.pristine = self.package = None

    def with_bpf(self):
        """The same source for a kernel that runs BPF programs, in directories of its own."""
        return Debian(self.series, True)

    def _fetch(self):
        done = subprocess.run([KERNEL_TREE, "--source", self.series], stdout=subprocess.PIPE,
                              text=True, check=False)
        if done.returncode or not done.stdout.strip():
            raise InputError(self.where, "its source package cannot be had, see above")
        self.pristine, self.package = done.stdout.split()

    def _read(self, path):
        try:
            with open(os.path.join(self.pristine, path), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def prepare(self):
        """The patched source, not yet written."""
        self._fetch()
        version = _check(self.where, self._read)
        files, left_out = kernel_patches.prepare(self._read, self.where, self.runs_bpf)
        digest = hashlib.sha256(self.package.encode())
        for path, content in sorted(files.items()):
            digest.update(path.encode() + b"\0" + content)
        return Prepared(digest.hexdigest(), version, files, left_out)

    def options(self, prepared):
        """Identity of the options that the source offers."""
        return prepared.identity

    def missing_bytes(self, _directory):
        """Disk that write() takes: the files are links to those of the package."""
        return 0

    def untracked(self):
        """Files that are left out."""
        return []

    def write(self, prepared, directory, _lock):
        """Have the patched source in a directory."""
        mark = os.path.join(directory, ".quell-source")
        if os.path.exists(mark):
            with open(mark, encoding="ascii") as file:
                if file.read() == prepared.identity:
                    return
        # Files of a package keep its times, by which make would take old objects for new ones.
        for old in (directory, os.path.join(os.path.dirname(directory), "objects")):
            shutil.rmtree(old, ignore_errors=True)
        subprocess.run(["cp", "-al", self.pristine, directory], check=True)
        for path, content in prepared.files.items():
            place = os.path.join(directory, path)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            if os.path.exists(place):
                os.unlink(place)	# a link to the package's
            with open(place, "wb") as file:
                file.write(content)
        with open(mark, "w", encoding="ascii") as file:
            file.write(prepared.identity)


class Git:
    """A git tree: one of its commits, or its files as they are."""

    def __init__(self, directory, commit=None, runs_bpf=False):
        self.where = f"kernel {directory}{AT + commit if commit else ''}"
        self.directory = os.path.realpath(directory)
        self.wanted = commit
        self.runs_bpf = runs_bpf
        top = self._ask("rev-parse", "--show-toplevel", problem="no git tree")
        if os.path.realpath(top) != self.directory:
            raise InputError(self.where, f"not the top of a git tree, which is {top}")
        self.base = os.path.basename(self.directory)
        self.hash = self._ask("rev-parse", "--show-object-format", problem="no git tree")
        self.name = f"{re.sub('[^A-Za-z0-9_.-]', '_', self.base)}-" + \
            hashlib.sha256(self.directory.encode()).hexdigest()[:8] + \
            ("" if self.hash == "sha1" else f"-{self.hash}") + (BPF if runs_bpf else "")
        self.repository = os.path.join(cache(), self.name, "source")
        if commit:
            self.commit = self._ask("rev-parse", "--verify", "-q", f"{commit}^{{commit}}",
                                    problem=f"no commit '{commit}'")
            self.tree = self.commit
        else:
            self.commit = self._ask("rev-parse", "--verify", "-q", "HEAD^{commit}",
                                    problem="no commit yet")
            self.tree = None	# of its files as they are, see prepare()
        self.label = f"{self.base}{AT}{self.commit[:12]}"

    def with_bpf(self):
        """The same source for a kernel that runs BPF programs, in directories of its own."""
        return Git(self.directory, self.wanted, True)

    def _ask(self, *words, problem):
        done = run_git(self.directory, *words)
        if done.returncode:
            raise InputError(self.where, reason(done) or problem)
        return done.stdout.decode().strip()

    def git(self, *words, given=None, **more):
        """Output of git in the repository of the cache."""
        done = run_git(self.repository, *words, given=given, **ZERO_TIME, **more)
        if done.returncode:
            raise SourceError(self.where, f"git {words[0]}: {reason(done)}")
        return done.stdout

    def _path(self, name):
        """Of a part of the tree's repository."""
        path = self._ask("rev-parse", "--git-path", name, problem="no git tree")
        return os.path.realpath(os.path.join(self.directory, path))

    def _init(self):
        """
        A repository in the cache that shares the objects of the tree, which may be another's than
        at the last call, and ends where the history of a shallow clone does.
        """
        git = os.path.join(self.repository, ".git")
        if not os.path.exists(os.path.join(git, "HEAD")):
            os.makedirs(self.repository, exist_ok=True)
            self.git("init", "-q", f"--object-format={self.hash}")
        quoted = re.sub(r'(["\\])', r"\\\1", self._path("objects")).replace("\n", "\\n")
        _replace(os.path.join(git, "objects", "info", "alternates"),
                 os.fsencode(f'"{quoted}"\n'))
        shallow = self._path("shallow")
        if os.path.exists(shallow):
            with open(shallow, "rb") as file:
                _replace(os.path.join(git, "shallow"), file.read())
        else:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(git, "shallow"))

    def _as_it_is(self):
        """Tree of the files as they are, those that git ignores or does not track aside."""
        theirs = self._path("index")
        if not os.path.exists(theirs):
            raise InputError(self.where, "no files are checked out; TREE@COMMIT takes a commit")
        with tempfile.TemporaryDirectory() as scratch:
            index = os.path.join(scratch, "index")
            # With its time, by which git knows files that may have changed in the same second.
            shutil.copy2(theirs, index)
            own = {"GIT_INDEX_FILE": index,
                   "GIT_OBJECT_DIRECTORY": os.path.join(self.repository, ".git", "objects")}
            for words in (("add", "-u"), ("write-tree",)):
                done = run_git(self.directory, *words, **own)
                if done.returncode:
                    raise SourceError(self.where, f"git {words[0]}: {reason(done)}")
        tree = done.stdout.decode().strip()
        if tree != self._ask("rev-parse", f"{self.commit}^{{tree}}", problem="no tree"):
            self.label = f"{self.base}{AT}{self.commit[:12]}+{tree[:8]}"
        return tree

    def untracked(self):
        """Files that git neither tracks nor ignores: left out of the files as they are."""
        if self.wanted:
            return []
        done = run_git(self.directory, "ls-files", "-z", "--others", "--exclude-standard",
                       "--directory")
        return done.stdout.decode(errors="replace").split("\0")[:-1]

    def _check_whole(self):
        """SourceError if the tree is a partial clone that lacks files; the tree is only read."""
        if run_git(self.directory, "config", "--get-regexp", r"^remote\..*\.promisor$").returncode:
            return
        listed = self.git("rev-list", "--objects", "--no-object-names", "--missing=print",
                          "--no-walk", self.tree)
        missing = listed.count(b"?")
        if missing:
            raise SourceError(self.where, f"a partial clone, which lacks {missing} objects of it; "
                              "'git fetch --refetch --no-filter' there fetches them")

    def _read(self, path):
        done = run_git(self.repository, "cat-file", "blob", f"{self.tree}:{path}")
        return None if done.returncode else done.stdout

    def prepare(self):
        """The patched source as a commit of the cache's repository; none stays if it is refused."""
        with locked(os.path.join(cache(), "lock")):
            directory = os.path.dirname(self.repository)
            is_new = not os.path.exists(directory)
            try:
                self._init()
                self.tree = self.tree or self._as_it_is()
                self._check_whole()
                return self._prepared()
            except (InputError, OSError):
                if is_new:
                    shutil.rmtree(directory, ignore_errors=True)
                raise

    def _prepared(self):
        version = _check(self.where, self._read)
        files, left_out = kernel_patches.prepare(self._read, self.where, self.runs_bpf)
        with tempfile.TemporaryDirectory() as scratch:
            index = {"GIT_INDEX_FILE": os.path.join(scratch, "index")}
            self.git("read-tree", self.tree, **index)
            for path, content in files.items():
                blob = self.git("hash-object", "-w", "--stdin", given=content).decode().strip()
                self.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", **index)
            tree = self.git("write-tree", **index).decode().strip()
        commit = self.git("commit-tree", tree, "-m", f"{self.label}, patched").decode().strip()
        return Prepared(tree, version, commit, left_out)

    def options(self, prepared):
        """Identity of the options that the source offers: of its Kconfig files."""
        files = self.git("ls-tree", "-r", prepared.identity).splitlines()
        return hashlib.sha256(b"\n".join(one for one in files if b"Kconfig" in one)).hexdigest()

    def missing_bytes(self, directory):
        """Disk that write() takes; a checkout has an index at its end."""
        return 0 if os.path.exists(os.path.join(directory, ".git", "index")) else SOURCE_BYTES

    def write(self, prepared, directory, lock):
        """Have the patched source in a directory, the repository of the cache."""
        assert directory == self.repository
        # Of a checkout that was killed: the lock of the directory is held.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(self.repository, ".git", "index.lock"))
        self.git("checkout", "-q", "--force", "--detach", prepared.files, lock=lock)


def find(text):
    """The source of a kernel, named as for --kernel."""
    if text in DEBIAN:
        return Debian(text)
    if os.path.isdir(text):
        return Git(text)
    for at in re.finditer(AT, text):		# of TREE@main@{1}, too
        directory, commit = text[:at.start()], text[at.end():]
        if os.path.isdir(directory) and commit:
            return Git(directory, commit)
    raise InputError(f"kernel {text}", f"neither 6.12, {', '.join(DEBIAN)}, debug nor the "
                     "directory of a git tree, TREE or TREE@COMMIT")
