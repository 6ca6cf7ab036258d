# SPDX-License-Identifier: GPL-2.0
"""A network in parts on several machines: ranks of mpirun or srun, which have TCP in common.

Rank 0 has the tables.  Each other rank connects to it, by its address of --meet, and to each rank
between.  The parts of a machine share memory, and a parts-link (lab/partslink.c) of each carries it
to the others; what follows here is the ranks' own connection: the end of a run, results, failures.
"""

import ctypes
import hashlib
import ipaddress
import json
import os
import secrets
import signal
import socket
import struct
import subprocess
import threading
import time
from dataclasses import replace

from . import sweep_store
from .errors import InputError

RANKS = (("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"),
         ("SLURM_PROCID", "SLURM_NTASKS"))
MEET_S = 60			# until all ranks have connected
HELLO_S = 5			# until one that has connected has said which rank it is
LOST_S = 30			# until a machine that does not respond is lost
RETRY_S = 0.1
TOKEN_BYTES = 16
LENGTH = struct.Struct("!I")
MESSAGE_MAX_BYTES = 1 << 24
PR_SET_PDEATHSIG = 1


def of_command(args):
    """The Machines of the option --meet; None without."""
    if getattr(args, "meet", None) is None:
        return None
    if args.parts is None:
        raise InputError("--meet", "the machines have parts of a network: --parts is missing")
    host, _, port = args.meet.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise InputError("--meet", f"'{args.meet}' is not HOST:PORT")
    for rank, size in RANKS:
        if os.environ.get(rank, "").isdecimal() and os.environ.get(size, "").isdecimal():
            return Machines(int(os.environ[rank]), int(os.environ[size]), (host, int(port)))
    raise InputError("--meet", "no rank in the environment: start all by mpirun or srun")


class Lost(Exception):
    """A connection that has ended."""


class Connection:
    """Messages, each a dictionary, and files after one."""

    def __init__(self, end, name):
        self.socket = end
        self.name = name
        self.lock = threading.Lock()
        self.heard_s = time.monotonic()		# when the last piece of a message came
        _prepare(end)
        self.file = end.makefile("rb")

    def send(self, message, paths=()):
        """A message, and the content of files."""
        text = json.dumps(message).encode()
        with self.lock:
            try:
                self.socket.sendall(LENGTH.pack(len(text)) + text)
                for path in paths:
                    with open(path, "rb") as file:
                        self.socket.sendfile(file)
            except OSError as error:
                raise Lost(f"{self.name}: {error.strerror}") from None

    def read(self, length):
        """So many bytes."""
        try:
            found = self.file.read(length)
        except OSError as error:
            raise Lost(f"{self.name}: {error.strerror}") from None
        if len(found) < length:
            raise Lost(f"{self.name}: connection lost")
        self.heard_s = time.monotonic()
        return found

    def receive(self):
        """The next message."""
        length, = LENGTH.unpack(self.read(LENGTH.size))
        if length > MESSAGE_MAX_BYTES:
            raise Lost(f"{self.name}: no message of ours")
        return json.loads(self.read(length))

    def receive_files(self, directory, files):
        """Files of [(path, size)], below a directory."""
        directory = os.path.abspath(directory)
        for path, size in files:
            path = os.path.normpath(os.path.join(directory, path))
            if os.path.commonpath((path, directory)) != directory:
                raise Lost(f"{self.name}: a file outside of its directory")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                while size:
                    piece = self.read(min(size, 1 << 20))
                    file.write(piece)
                    size -= len(piece)

    def close(self):
        """End it, so that a thread that reads it ends, too."""
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass	# the other end was faster


def digest(scenario, kernel, cut):
    """A hash of all that ranks must have in common."""
    inputs = [sweep_store.key_of(replace(scenario, variants=[variant]), kernel)
              for variant in scenario.variants]
    inputs += [repr(cut), sweep_store.digest(os.path.join(os.path.dirname(kernel.init),
                                                          "parts-link"))]
    return hashlib.sha256("\n".join(inputs).encode()).hexdigest()


class Machines:
    """All ranks, as one of them has them."""

    def __init__(self, rank, size, address):
        self.rank = rank
        self.size = size
        self.address = address
        self.control = {}		# rank: Connection: of rank 0 to all, of others to rank 0
        self.data = {}			# rank: socket of the windows
        self.failure = None		# of an earlier run: connections may be within a message
        if not 0 <= rank < size:
            raise InputError("--meet", f"rank {rank} of {size} is no rank")
        # A rank does not outlive the program that started it, however that ends.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        signal.signal(signal.SIGTERM, signal.default_int_handler)

    def of(self, rank, parts):
        """Numbers of a rank's parts."""
        return range(rank * parts // self.size, (rank + 1) * parts // self.size)

    def own(self, parts):
        """Those of this rank."""
        return self.of(self.rank, parts)

    def meet(self, scenario, kernel, cut):
        """Connect all ranks; InputError if one does not come, or has another plan."""
        if self.size > cut.parts:
            raise InputError("--meet", f"{self.size} ranks for {cut.parts} parts")
        if self.data or self.size == 1:
            return
        port = 0 if self.rank else self.address[1]
        try:
            listener = socket.create_server(("", port), backlog=self.size)
        except OSError as error:
            raise InputError("--meet", f"port {port}: {os.strerror(error.errno)}") from None
        hello = {"rank": self.rank, "size": self.size, "digest": digest(scenario, kernel, cut),
                 "port": listener.getsockname()[1]}
        try:
            if self.rank:
                self._join(listener, hello)
            else:
                self._gather(listener, hello)
        except Lost as error:
            raise InputError("--meet", str(error)) from None
        except (KeyError, TypeError, ValueError):
            raise InputError("--meet", f"no rank 0 at {self.address[0]}") from None
        except TimeoutError:
            raise InputError("--meet", f"not all of {self.size} ranks came within {MEET_S} s") \
                from None
        except OSError as error:
            raise InputError("--meet", f"{self.address[0]}: {error.strerror}") from None
        finally:
            listener.close()

    def _gather(self, listener, hello):
        """Rank 0: all others, then send each the addresses of all."""
        addresses, wrong, token = {}, None, secrets.token_bytes(TOKEN_BYTES)
        limit = time.monotonic() + MEET_S
        while len(self.control) < self.size - 1:
            other, said = self._greet(listener, limit)
            if not said:
                continue	# no rank: whoever finds the port may connect
            other.name = f"rank {said['rank']} ({other.name})"
            if any(said.get(key) != hello[key] for key in ("size", "digest")):
                wrong = f"{other.name} has another plan, laboratory or number of ranks than rank 0"
            self.control[said["rank"]] = other
            addresses[said["rank"]] = [_address(other.socket), said["port"]]
        for other in self.control.values():
            other.send({"error": wrong, "addresses": addresses, "token": token.hex()})
        if wrong:
            raise InputError("--meet", wrong)
        self._take(listener, token, limit)

    def _greet(self, listener, limit):
        """The next connection, and its hello; None if it is not that of a rank."""
        end, host = _accept(listener, limit)
        other = Connection(end, host)
        end.settimeout(HELLO_S)
        try:
            said = other.receive()
            if said["rank"] not in range(1, self.size) or said["rank"] in self.control \
               or said["port"] not in range(1, 65536):
                raise ValueError
        except (Lost, ValueError, TypeError, KeyError, RecursionError):
            other.close()
            return other, None
        end.settimeout(None)
        return other, said

    def _join(self, listener, hello):
        """Another rank: rank 0, then a connection for windows to each rank."""
        end = _connect(self.address)
        self.control[0] = Connection(end, f"rank 0 ({self.address[0]})")
        self.control[0].send(hello)
        said = self.control[0].receive()
        if said["error"]:
            raise InputError("--meet", said["error"])
        token = bytes.fromhex(said["token"])
        for rank in range(self.rank):
            host, port = said["addresses"][str(rank)] if rank else self.address
            self.data[rank] = _connect((host or self.address[0], port))
            self.data[rank].sendall(LENGTH.pack(self.rank) + token)
        self._take(listener, token, time.monotonic() + MEET_S)

    def _take(self, listener, token, limit):
        """The connections for windows of all later ranks, which have the token of rank 0."""
        while len(self.data) < self.size - 1:
            end, _ = _accept(listener, limit)
            end.settimeout(HELLO_S)
            try:
                said = end.recv(LENGTH.size + TOKEN_BYTES)
            except OSError:
                said = b""
            rank = int.from_bytes(said[:LENGTH.size], "big")
            if not secrets.compare_digest(said[LENGTH.size:], token) \
               or rank not in range(self.rank + 1, self.size) or rank in self.data:
                end.close()	# no rank, as in _greet()
                continue
            self.data[rank] = end
        for one in self.data.values():
            _prepare(one)

    def start_link(self, cut, memory, init):
        """The process that carries windows."""
        own = self.own(cut.parts)
        words = [os.path.join(os.path.dirname(init), "parts-link"), str(memory), str(cut.parts),
                 str(cut.buffer_bytes), str(own.start), str(own.stop)]
        for rank, end in sorted(self.data.items()):
            theirs = self.of(rank, cut.parts)
            words += [str(end.fileno()), str(theirs.start), str(theirs.stop)]
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                pass_fds=(memory, *(end.fileno() for end in self.data.values())))


def _address(end):
    """That of another rank; None if it is on the machine of rank 0, and known there alone."""
    address = ipaddress.ip_address(end.getpeername()[0])
    return None if address.is_loopback else str(address)


def _prepare(end):
    """A connection that fails some time after its other machine has gone."""
    end.settimeout(None)
    for level, option, value in (
            (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
            (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
            (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, LOST_S // 3),
            (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, LOST_S // 3),
            (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 2),
            (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, LOST_S * 1000)):
        end.setsockopt(level, option, value)


def _accept(listener, limit):
    """The next connection, and its host; TimeoutError after the limit."""
    listener.settimeout(max(limit - time.monotonic(), RETRY_S))
    end, (host, _) = listener.accept()
    if time.monotonic() > limit:
        end.close()
        raise TimeoutError("timed out")
    return end, host


def _connect(address):
    """A connection to another rank, which may not listen yet."""
    limit = time.monotonic() + MEET_S
    while True:
        try:
            end = socket.create_connection(address, timeout=MEET_S)
            end.settimeout(None)
            return end
        except ConnectionRefusedError:
            if time.monotonic() > limit:
                raise
            time.sleep(RETRY_S)
