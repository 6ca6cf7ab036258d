# SPDX-License-Identifier: GPL-2.0
"""System V shared memory for programs in the laboratory: what its calls return."""

import ctypes
import errno
import os
import subprocess
import tempfile
import unittest

from quell_lab import runner

CREATE, EXCLUSIVE = 0o1000, 0o2000
PRIVATE, REMOVE = 0, 0
KEY, SIZE = 7, 4096
FAILED = ctypes.c_void_p(-1).value


class Calls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as scratch:
            path = os.path.join(scratch, "sysvshm.so")
            subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", path,
                            os.path.join(runner.HERE, "sysvshm.c")], check=True)
            cls.calls = ctypes.CDLL(path, use_errno=True)
        cls.calls.shmget.argtypes = (ctypes.c_int, ctypes.c_size_t, ctypes.c_int)
        cls.calls.shmat.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
        cls.calls.shmat.restype = ctypes.c_void_p
        cls.calls.shmdt.argtypes = (ctypes.c_void_p,)

    def fails(self, result, error):
        self.assertIn(result, (-1, FAILED))
        self.assertEqual(errno.errorcode[ctypes.get_errno()], errno.errorcode[error])

    def get(self, key=PRIVATE):
        """A new segment."""
        made = self.calls.shmget(key, SIZE, CREATE | EXCLUSIVE)
        self.assertGreaterEqual(made, 0)
        return made

    def remove(self, made):
        self.assertEqual(self.calls.shmctl(made, REMOVE, None), 0)

    def test_a_removed_segment_ends_with_its_last_attach(self):
        for _ in range(100):
            made = self.get(KEY)
            at = self.calls.shmat(made, None, 0)
            ctypes.memset(at, 1, SIZE)
            self.assertEqual(self.calls.shmat(made, None, 0), at)
            self.assertEqual(self.calls.shmdt(at), 0)
            self.remove(made)
            self.fails(self.calls.shmget(KEY, SIZE, 0), errno.ENOENT)
            ctypes.memset(at, 2, SIZE)
            self.assertEqual(self.calls.shmdt(at), 0)
            self.fails(self.calls.shmdt(at), errno.EINVAL)
            self.fails(self.calls.shmat(made, None, 0), errno.EINVAL)

    def test_a_segment_outlasts_its_attaches(self):
        made = self.get()
        at = self.calls.shmat(made, None, 0)
        ctypes.memset(at, 5, 1)
        self.assertEqual(self.calls.shmdt(at), 0)
        self.assertEqual(ctypes.string_at(self.calls.shmat(made, None, 0), 1), b"\5")
        self.remove(made)
        self.assertEqual(self.calls.shmdt(at), 0)

    def test_size_of_a_segment_that_is_there(self):
        made = self.get(KEY)
        self.assertEqual(self.calls.shmget(KEY, 0, 0), made)
        self.assertEqual(self.calls.shmget(KEY, SIZE, CREATE), made)
        self.fails(self.calls.shmget(KEY, SIZE + 1, CREATE), errno.EINVAL)
        self.fails(self.calls.shmget(KEY, SIZE + 1, CREATE | EXCLUSIVE), errno.EEXIST)
        self.remove(made)
