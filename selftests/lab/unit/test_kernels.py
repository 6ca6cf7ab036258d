# SPDX-License-Identifier: GPL-2.0
"""Kernels of other sources: which are refused, and what is built again.

The trees are small git repositories, and make, objcopy and the modules' build are scripts.
"""

import contextlib
import errno
import fcntl
import io
import os
import signal
import stat
import subprocess
import tempfile
import types
import unittest
from dataclasses import replace
from unittest import mock

from quell_lab import kernel_build, kernel_patches, kernel_source, runner
from quell_lab.errors import InputError, SourceError

MAKEFILE = "VERSION = {0}\nPATCHLEVEL = {1}\nSUBLEVEL = 4\n"
TIMER = "".join(f"line {number}\n" for number in range(1, 21))
PATCH = """text

--- a/kernel/{0}.c
+++ b/kernel/{0}.c
@@ -9,3 +9,3 @@ line 8
 line 9
-line {1}
+{0} patched
 line 11
"""
MAKE = """#!/bin/sh
echo "$@" >>"$CALLS"
for word; do
	case $word in
	O=*) objects=${word#O=} ;;
	esac
done
case "$*" in
*allnoconfig*) touch "$objects/.config" ;;
*" all") grep -q broken "$2/net/tcp.c" && { echo "  CC      net/tcp.o"
	echo "net/tcp.c:3: error: broken"; echo "make: *** [net/tcp.o] Error 1"; exit 2; }
	cat "$2/net/tcp.c" "$2/kernel/a.c" "$2/kernel/c.c" "$objects/.config" >"$objects/vmlinux" ;;
esac
"""
MERGE = """#!/bin/sh
config=$4
shift 4
awk -F= '/^CONFIG_/ { value[$1] = $0 } END { for (name in value) print value[name] }' "$@" |
	grep -v "${LOST:-never}" >"$config"
"""
# The status of flock is 1 where the lock is held.
MODULES = """#!/bin/sh
flock -n "$QUELL_CACHE"/trees/ready/*/lock true
echo "lock $?" >>"$CALLS"
[ ! -e "$0.broken" ] || { echo "swift.c:3: error: no such member"; exit 2; }
mkdir -p "$2"
echo "$1" >"$2/one.ko"
"""


class Trees(unittest.TestCase):
    """A tree of a few files, and a cache of its own."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = scratch.name
        self.tree = os.path.join(scratch.name, "linux")
        self.calls = os.path.join(scratch.name, "calls")
        series = os.path.join(scratch.name, "series")
        self.put("series/7.3/speed.patch", PATCH.format("b", "ten"))
        self.put("series/speed.patch", PATCH.format("b", "10"))
        self.put("series/needed.patch", PATCH.format("a", "10"))
        self.put("series/bpf.patch", PATCH.format("c", "10"))
        self.script("bin/make", MAKE)
        self.script("bin/objcopy", "#!/bin/sh\ncp \"$2\" \"$3\"\n")
        self.script("modules", MODULES)
        for target, name, value in ((kernel_patches, "HERE", series),
                                    (kernel_patches, "NEEDED", ("needed",)),
                                    (kernel_patches, "SPEED", ("speed",)),
                                    (kernel_patches, "BPF", ("bpf",)),
                                    (kernel_build, "MODULES", f"{scratch.name}/modules"),
                                    (runner, "find_kernel", lambda kind: runner.Kernel(
                                        kind, "linux", "modules", "lab-init"))):
            patcher = mock.patch.object(target, name, value)
            patcher.start()
            self.addCleanup(patcher.stop)
        patcher = mock.patch.dict(os.environ, {
            "QUELL_CACHE": os.path.join(scratch.name, "cache"), "CALLS": self.calls,
            "PATH": os.path.join(scratch.name, "bin") + ":" + os.environ["PATH"],
            "GIT_AUTHOR_NAME": "lab", "GIT_AUTHOR_EMAIL": "lab@localhost",
            "GIT_COMMITTER_NAME": "lab", "GIT_COMMITTER_EMAIL": "lab@localhost"})
        patcher.start()
        self.addCleanup(patcher.stop)
        self.make_tree()

    def put(self, path, text):
        whole = os.path.join(self.scratch, path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "w", encoding="ascii") as file:
            file.write(text)
        return whole

    def script(self, path, text):
        os.chmod(self.put(path, text), stat.S_IRWXU)

    def git(self, *words):
        return subprocess.run(["git", "-C", self.tree, *words], check=True, capture_output=True,
                              text=True).stdout.strip()

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "one")
        return self.git("rev-parse", "HEAD")

    def make_tree(self):
        os.makedirs(self.tree)
        self.git("init", "-q")
        self.put("linux/Makefile", MAKEFILE.format(7, 3))
        self.put("linux/arch/um/Makefile", "")
        self.put("linux/net/tcp.c", "good\n")
        self.script("linux/scripts/kconfig/merge_config.sh", MERGE)
        for name in "abc":
            self.put(f"linux/kernel/{name}.c", TIMER)
        self.first = self.commit()

    def build(self, text=None):
        return kernel_build.build(kernel_source.find(text or self.tree), True)

    def refused(self, text, *words):
        with self.assertRaises(InputError) as caught:
            self.build(text)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def cached(self):
        """Names of trees that have a directory in the cache."""
        cache = kernel_source.cache()
        return [name for name in os.listdir(cache) if os.path.isdir(os.path.join(cache, name))] \
            if os.path.exists(cache) else []

    def compiled(self):
        """How often a kernel was compiled."""
        with open(self.calls, encoding="ascii") as file:
            return sum(line.rstrip().endswith(" all") for line in file)


class Refusals(Trees):
    def test_no_tree(self):
        self.refused("7.4", "neither 6.12, 7.3, debug nor the directory of a git tree")
        self.refused(os.path.join(self.tree, "net"), "not the top of a git tree")
        plain = os.path.join(self.scratch, "plain")
        os.mkdir(plain)
        self.refused(plain, "not a git repository")
        self.refused(f"{self.tree}@v9", "no commit 'v9'")
        with mock.patch.dict(os.environ, {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}):
            self.refused(self.tree, "dubious ownership", "safe.directory")
        self.assertEqual(self.cached(), [])

    def test_no_kernel(self):
        self.put("linux/Makefile", "all:\n")
        self.refused(self.tree, "no kernel source")
        self.assertEqual(self.cached(), [])
        self.build(f"{self.tree}@HEAD")
        self.refused(self.tree, "no kernel source")
        self.assertIn("ready", self.cached())
        self.assertEqual(len(self.cached()), 2)

    def test_no_uml(self):
        self.git("rm", "-q", "arch/um/Makefile")
        self.refused(self.tree, "Linux 7.3.4 without user-mode Linux")

    def test_too_old(self):
        self.put("linux/Makefile", MAKEFILE.format(6, 1))
        self.refused(self.tree, "Linux 6.1.4 is too old", "6.12 and later")

    def test_patch(self):
        self.put("linux/kernel/a.c", TIMER.replace("line 10\n", "line ten\n"))
        self.refused(self.tree, "needed.patch, hunk 1 of kernel/a.c, @@ -9,3 +9,3 @@")
        self.refused(f"{self.tree}@{self.commit()}", "needed.patch")
        self.assertEqual(self.cached(), [])

    def test_patch_that_cannot_be_tried(self):
        """A full disk does not leave out a patch for speed."""
        self.script("bin/patch", "#!/bin/sh\necho 'patch: write error' >&2\nexit 2\n")
        for names in ((), ("needed",)):
            with mock.patch.object(kernel_patches, "NEEDED", names):
                self.refused(self.tree, "patch: write error")

    def test_bpf_patch(self):
        """It is needed by the kernel that runs BPF programs alone."""
        self.put("linux/kernel/c.c", TIMER.replace("line 10\n", "line ten\n"))
        kernel = self.build()
        with self.assertRaises(SourceError) as caught:
            kernel.bpf()
        self.assertIn("bpf.patch, hunk 1 of kernel/c.c", str(caught.exception))

    def test_all_are_checked_before_one_is_built(self):
        self.put("linux/Makefile", MAKEFILE.format(6, 1))
        for other in ("7.4", self.tree):
            with self.subTest(other), self.assertRaises(InputError):
                kernel_build.find_all((f"{self.tree}@HEAD", other), True)
            self.assertFalse(os.path.exists(self.calls))

    def test_compiler_error(self):
        self.put("linux/net/tcp.c", "broken\n")
        self.refused(self.tree, "Linux 7.3.4 failed, see ", "build.log",
                     "net/tcp.c:3: error: broken")

    def test_option(self):
        with mock.patch.dict(os.environ, {"LOST": "CONFIG_NET_NS="}):
            self.refused(self.tree, "no option for CONFIG_NET_NS=y")

    def test_disk(self):
        small = types.SimpleNamespace(free=10**6)
        with mock.patch.object(kernel_build.shutil, "disk_usage", lambda _: small):
            self.refused(self.tree, "has 0.0 GB left", "a build takes 2.1 GB")
        full = OSError(errno.ENOSPC, "No space left on device")
        with mock.patch.object(kernel_build.Tree, "keep", side_effect=full), \
                self.assertRaises(SourceError) as caught:
            self.build()
        self.assertIn("No space left", str(caught.exception))

    def test_requirements_come_first(self):
        """Disk and memory that a build takes are printed before the source is written."""
        said = io.StringIO()
        stop = mock.patch.object(kernel_source.Git, "write", side_effect=SourceError("x", "stop"))
        with stop, contextlib.redirect_stderr(said), self.assertRaises(SourceError):
            kernel_build.build(kernel_source.find(self.tree), False)
        self.assertRegex(said.getvalue(), "takes up to 2.1 GB of disk in .* GB of memory")


class Builds(Trees):
    def test_patches(self):
        """The patch of 6.12, else that of a later version, else none if it is for speed."""
        for ten, left_out in (("10", ()), ("ten", ()), ("tenth", ("speed.patch, hunk 1 of "
                                                                  "kernel/b.c, @@ -9,3 +9,3 @@ "
                                                                  "line 8",))):
            self.put("linux/kernel/b.c", TIMER.replace("line 10\n", f"line {ten}\n"))
            self.assertEqual(kernel_source.find(self.tree).prepare().left_out, left_out)

    def test_cache(self):
        first = self.build()
        self.assertEqual(self.build(), first)
        self.assertEqual(self.build(f"{self.tree}@HEAD").linux, first.linux)
        self.assertEqual(self.compiled(), 1)
        self.put("linux/net/tcp.c", "changed\n")
        second = self.build()
        self.assertNotEqual(second.linux, first.linux)
        with open(second.linux, encoding="ascii") as file:
            self.assertIn("changed\n", text := file.read())
        self.assertIn("a patched\n", text)
        self.assertEqual(self.build(f"{self.tree}@HEAD").linux, first.linux)
        self.assertEqual(self.compiled(), 2)

    def test_configuration(self):
        """It is made again where a Kconfig file of the source has changed."""
        for path, text, wanted in (("Makefile", MAKEFILE.format(7, 3), 1),
                                   ("net/tcp.c", "changed\n", 1),
                                   ("net/Kconfig", "config NEW\n", 2)):
            self.put(f"linux/{path}", text)
            self.git("add", "-A")
            self.build()
            with open(self.calls, encoding="ascii") as file:
                self.assertEqual(file.read().count("allnoconfig"), wanted)

    def test_bpf(self):
        """Objects run on a kernel of their own, of the same source, with the memory set."""
        for text in (self.tree, f"{self.tree}@HEAD"):
            kernel = replace(self.build(text), guest_bytes=1)
            other = runner.kernel_of(types.SimpleNamespace(program=True, label="bpf"), kernel)
            self.assertEqual((other.label, other.guest_bytes), (kernel.label, 1))
            self.assertNotEqual(other.modules, kernel.modules)
            self.assertIs(runner.kernel_of(types.SimpleNamespace(program=None), kernel), kernel)
        for linux, wanted in ((kernel.linux, False), (other.linux, True)):
            with open(linux, encoding="ascii") as file:
                text = file.read()
            self.assertIn("a patched\n", text)
            for line in ("c patched\n", "CONFIG_BPF_SYSCALL=y\n", "CONFIG_DEBUG_INFO_NONE=n\n"):
                self.assertEqual(line in text, wanted, line)
        self.assertEqual(self.compiled(), 2)

    def test_modules(self):
        """Modules whose sources changed are built for the same kernel."""
        first = self.build()
        with mock.patch.object(kernel_build, "modules_key", lambda: "other"):
            second = self.build()
        self.assertEqual(second.linux, first.linux)
        self.assertNotEqual(second.modules, first.modules)
        self.assertTrue(os.path.exists(os.path.join(second.modules, "one.ko")))

    def test_tree_is_only_read(self):
        self.put("linux/net/tcp.c", "changed\n")
        self.put("linux/new.c", "")

        def state():
            return self.git("status", "--porcelain"), self.git("count-objects"), \
                self.git("for-each-ref"), self.git("worktree", "list")
        before = state()
        self.build()
        self.build(f"{self.tree}@HEAD")
        self.assertEqual(state(), before)

    def test_repository_of_the_environment(self):
        """git bisect run in a linked worktree exports GIT_DIR: that repository is left alone."""
        mine = os.path.join(self.scratch, "mine")
        subprocess.run(["git", "clone", "-q", self.tree, mine], check=True)

        def state():
            with open(os.path.join(mine, ".git", "HEAD"), encoding="ascii") as head:
                return head.read(), subprocess.run(
                    ["git", "-C", mine, "count-objects", "-v"], check=True, capture_output=True
                ).stdout, os.stat(os.path.join(mine, ".git", "index")).st_mtime_ns
        before = state()
        self.put("linux/net/tcp.c", "changed\n")
        with mock.patch.dict(os.environ, {"GIT_DIR": f"{mine}/.git", "GIT_WORK_TREE": mine,
                                          "GIT_INDEX_FILE": f"{mine}/.git/index"}):
            linux = self.build().linux
            self.build(f"{self.tree}@HEAD")
        self.assertEqual(state(), before)
        with open(linux, encoding="ascii") as file:
            self.assertIn("changed\n", file.read())

    def test_next_commit_is_incremental(self):
        """Files that two commits share keep their times, those that patches change among them."""
        self.build()
        self.put("linux/net/tcp.c", "changed\n")
        self.commit()
        source = kernel_source.find(self.tree).repository
        names = ("net/tcp.c", "kernel/a.c", "kernel/b.c", "Makefile")

        def times():
            return [os.stat(os.path.join(source, name)).st_mtime_ns for name in names]
        before = times()
        self.build()
        self.assertEqual([one == other for one, other in zip(before, times())],
                         [False, True, True, True])


class OddTrees(Trees):
    """Trees that are not a plain clone, and builds that end in the middle."""

    def other(self, name, *words):
        """Another tree, by a command of git that takes its path last."""
        path = os.path.join(self.scratch, name)
        self.git(*words, path)
        return path

    def built(self, tree, text="changed\n"):
        """Build a tree with another content of a file: the executable has it."""
        with open(os.path.join(tree, "net", "tcp.c"), "w", encoding="ascii") as file:
            file.write(text)
        with open(self.build(tree).linux, encoding="ascii") as file:
            self.assertIn(text, file.read())
        self.build(f"{tree}@HEAD")

    def test_paths(self):
        self.built(self.other('a "tree":\nof\\mine', "clone", "-q", self.tree))
        self.built(self.other("linked", "worktree", "add", "-q"))
        self.refused(self.other("bare", "clone", "-q", "--bare", self.tree) + "@HEAD", "work tree")

    def test_cache_that_make_refuses(self):
        with mock.patch.dict(os.environ, {"QUELL_CACHE": os.path.join(self.scratch, "a cache")}):
            self.refused(self.tree, "has a space or a colon", "QUELL_CACHE")
        self.assertFalse(os.path.exists(self.calls))

    def test_objects_of_another_repository(self):
        """At the path of a clone there is a worktree of another now."""
        self.built(self.tree)
        moved = os.path.join(self.scratch, "moved")
        os.rename(self.tree, moved)
        self.refused(self.tree, "neither 6.12, 7.3, debug nor the directory")
        self.tree, tree = moved, self.tree
        self.commit()
        self.git("worktree", "add", "-q", tree)
        self.built(tree, "once more\n")

    def test_sha256(self):
        other = self.other("sha256", "init", "-q", "--object-format=sha256")
        self.git(f"--work-tree={self.tree}", f"--git-dir={other}/.git", "add", "-A")
        self.git(f"--git-dir={other}/.git", "commit", "-q", "-m", "one")
        self.git(f"--work-tree={other}", f"--git-dir={other}/.git", "checkout", "-q", "-f")
        self.built(other)

    def test_partial_clone(self):
        """One that lacks files of the commit is named as such, and nothing is fetched into it."""
        self.git("config", "uploadpack.allowFilter", "true")
        self.put("linux/net/tcp.c", "second\n")
        self.commit()
        other = self.other("partial", "clone", "-q", "--filter=blob:none", f"file://{self.tree}")
        self.built(other)
        self.refused(f"{other}@HEAD^", "a partial clone, which lacks 1 objects")
        self.git("-C", other, "fetch", "-q", "--refetch", "--no-filter")
        self.build(f"{other}@HEAD^")

    def test_no_files(self):
        other = self.other("empty", "clone", "-q", "--no-checkout", self.tree)
        self.refused(other, "no files are checked out; TREE@COMMIT")
        self.build(f"{other}@HEAD")

    def test_names_of_commits(self):
        self.git("branch", "-M", "main")
        for name in ("HEAD", "main@{0}", "@{0}"):
            self.assertEqual(kernel_source.find(f"{self.tree}@{name}").commit, self.first)
        self.refused(f"{self.tree}@", "nor the directory")

    def test_labels(self):
        """Results name the commit, and whether files have changed since."""
        commit = f"linux@{self.first[:12]}"
        self.assertEqual(self.build().label, commit)
        self.put("linux/net/tcp.c", "changed\n")
        self.assertRegex(self.build().label, rf"^{commit}\+[0-9a-f]{{8}}$")
        self.assertEqual(self.build(f"{self.tree}@HEAD").label, commit)

    def test_untracked_files_are_named(self):
        for name in "abcde":
            self.put(f"linux/new/{name}/{name}.c", "")
            self.put(f"linux/net/{name}.c", "")
        with mock.patch.object(kernel_build, "_say") as said:
            self.build()
        self.assertIn("without net/a.c, net/b.c, net/c.c and 3 more: not tracked by git",
                      [one.args[0] for one in said.call_args_list])

    def test_modules_that_do_not_compile(self):
        self.put("modules.broken", "")
        self.refused(self.tree, "the modules failed, see ", "swift.c:3: error: no such member")
        os.unlink(os.path.join(self.scratch, "modules.broken"))
        self.build()

    def test_ready_kernels_are_locked(self):
        """Trees of one content share a directory of results."""
        self.build()
        with open(self.calls, encoding="ascii") as file:
            self.assertIn("lock 1\n", file.read())

    def test_killed_checkout(self):
        """Its lock is removed, and the disk for the whole source is needed again."""
        repository = kernel_source.find(self.tree).repository
        path = os.path.relpath(repository, self.scratch)
        self.put(f"{path}/.git/index.lock", "")
        self.put(f"{path}/Makefile", "")
        with mock.patch.object(kernel_build, "_say") as said:
            self.build()
        self.assertIn("takes up to 2.1 GB", said.call_args_list[0].args[0])
        self.built(self.tree)

    def test_another_build(self):
        """It is waited for, with a message."""
        lock = os.path.join(kernel_source.cache(), kernel_source.find(self.tree).name, "lock")
        with contextlib.ExitStack() as other:
            other.enter_context(kernel_source.locked(lock))

            def say(text, _quiet):
                if "another process builds in" in text:
                    other.close()
            with mock.patch.object(kernel_build, "_say", say):
                self.build()
        self.assertEqual(self.compiled(), 1)

    def test_build_outlives_a_killed_process(self):
        """Its lock is held until make ends, so that no two of them write the same files."""
        fifo = os.path.join(self.scratch, "fifo")
        os.mkfifo(fifo)
        self.script("bin/make", MAKE + f'case "$*" in *" all") read -r end <{fifo} ;; esac\n')
        child = os.fork()
        if not child:
            self.build()
            os._exit(0)		# not reached
        with open(fifo, "w", encoding="ascii"):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            path = os.path.join(kernel_source.cache(), kernel_source.find(self.tree).name, "lock")
            with open(path, "w", encoding="ascii") as lock:
                with self.assertRaises(BlockingIOError):
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.script("bin/make", MAKE)
        self.build()
