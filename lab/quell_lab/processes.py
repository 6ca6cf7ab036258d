# SPDX-License-Identifier: GPL-2.0
"""Programs of this machine on hosts of a scenario: [[program]] tables, and their results."""

import os
import re
import shlex
import shutil
from dataclasses import dataclass

from .errors import InputError, RunError, nearest
from .flows import TIME_MAX, known_host
from .schema import Key, each, value_of

PROGRAMS_MAX = 256
SYSCALL_NS = 500		# about what a small one takes on a processor of today
SYSCALL_MAX_NS = 10**6
UNTIL_NS = 60 * 10**9		# of a scenario with programs that does not say
SEARCHED = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
# Of the machine's directories those in whose place programs see something else (program_root.c).
HIDDEN = ("/tmp", "/run", "/var/tmp", "/var/log", "/var/run", "/proc", "/sys", "/dev")
SCENARIO = "/run/scenario"	# where they see the scenario's directory
WORK = "/run/work"
DIRECTORY = "dir"		# {dir} in a command
BRACES = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
ENVIRONMENT = {"PATH": ":".join(SEARCHED), "HOME": WORK, "TMPDIR": "/tmp", "TERM": "dumb",
               "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}

KEYS = {
    "host": Key("names"),
    "command": Key("text"),
    "background": Key("bool", default=False),
    "listen": Key("switch", default=None),
    "start": Key("time", 0, TIME_MAX, None),
    "env": Key("table", default=None),
}
PORT = Key("int", 1, 65535)


@dataclass(frozen=True)
class Process:
    """A program on a host."""

    number: int
    host: str
    command: str		# as written
    path: str			# of its file, as programs see it
    arguments: tuple		# its name first
    background: bool		# the run does not wait for its end
    listen: object		# None, "any", or a port: what must listen before others start
    start_ns: int
    environment: dict

    @property
    def stem(self):
        """Name of the files with its output, without their endings."""
        return f"{self.number}-{self.host}"


@dataclass(frozen=True)
class ProcessResult:
    """What became of it; times count from the beginning of the measurement."""

    process: Process
    start_ns: int
    end_ns: object		# None: the end of the run was its end, or it did not start
    how: str			# "exit", "signal", "stopped" with the run, "unstarted"
    status: int			# exit status or number of the signal

    @property
    def took_ns(self):
        """From its start to its end, or None."""
        return None if self.end_ns is None else self.end_ns - self.start_ns

    @property
    def problem(self):
        """What went wrong, or None."""
        name = f"program {self.process.number} ({self.process.command} on {self.process.host})"
        if self.how == "signal":
            return f"{name} was killed by signal {self.status}"
        if self.process.background:
            return None if self.how == "stopped" else (
                f"{name} ended before those in the foreground, exit status {self.status}")
        if self.how == "unstarted":
            return f"{name} was to start after the end of the run"
        if self.how == "stopped":
            return f"{name} had not ended when the run did: give it more by until"
        return f"{name}: exit status {self.status}" if self.status else None


def build(places, tables, graph, family):
    """Processes of the [[program]] tables, numbered; nothing of them has to be there yet."""
    found = []
    for path, values in each(places, "program", tables, KEYS):
        for host in values["host"]:
            known_host(places.name(f"{path}.host"), host, graph)
            found.append(_one(places, path, values, host, (graph, family, len(found) + 1)))
    if len(found) > PROGRAMS_MAX:
        raise InputError(places.name("program"), f"{len(found)} programs is out of range: at "
                         f"most {PROGRAMS_MAX}")
    if found and all(one.background for one in found):
        raise InputError(places.name("program"), "all are in the background: the run lasts until "
                         "those in the foreground have ended")
    return tuple(found)


def _one(places, path, values, host, rest):
    graph, family, number = rest
    where = places.name(f"{path}.command")
    try:
        words = shlex.split(values["command"])
    except ValueError as error:
        raise InputError(where, f"'{values['command']}': {error}") from None
    if not words:
        raise InputError(where, "'' names no program")
    if values["background"] and values["start"] is not None:
        raise InputError(places.name(f"{path}.start"), "not with background: those start before "
                         "all others")
    file = _find(where, words[0], directory_of(places))
    arguments = [_filled(where, word, graph, family) for word in words]
    return Process(number, host, values["command"], file, tuple(arguments),
                   values["background"], _listen(places, path, values), values["start"] or 0,
                   _environment(places, path, values["env"], host))


def directory_of(places):
    """Where a scenario's file is; the working directory where there is none."""
    return os.path.dirname(os.path.abspath(places.source or "none"))


def _listen(places, path, values):
    """What must listen: in the background any port, unless it is said otherwise."""
    listen = values["listen"]
    where = places.name(f"{path}.listen")
    if listen is None or listen is True:
        return "any" if values["background"] else None
    if listen is False:
        return None
    if not values["background"]:
        raise InputError(where, "without background there is nobody to wait for it")
    return value_of(where, listen, PORT)


def _environment(places, path, table, host):
    found = dict(ENVIRONMENT, LAB_HOST=host)
    for name, value in (table or {}).items():
        where = places.name(f"{path}.env.{name}")
        if not VARIABLE.fullmatch(name):
            raise InputError(where, f"'{name}' is not a name of letters, digits and _")
        if isinstance(value, (dict, list, bool)):
            raise InputError(where, f"'{value}' is not a text or a number")
        found[name] = str(value)
    return found


def _filled(where, word, graph, family):
    """A word with addresses in place of {HOST}."""
    def put(match):
        name = match[1]
        if name is None:
            return match[0][0]
        if graph.is_host(name):
            return graph.address(name, family)
        if name == DIRECTORY:
            return SCENARIO
        raise InputError(where, f"'{match[0]}' is no host{nearest(name, graph.hosts)}: "
                         f"{{{graph.hosts[0]}}} to {{{graph.hosts[-1]}}} are addresses, "
                         f"{{{DIRECTORY}}} is the scenario's directory, {{{{ is a brace")
    return BRACES.sub(put, word)


def _find(where, name, directory):
    """The file of a program, as programs see it; InputError if there is none."""
    own = name.removeprefix("{" + DIRECTORY + "}/")
    if own != name or ("/" in name and not name.startswith("/")):
        file, seen = os.path.join(directory, own), os.path.join(SCENARIO, os.path.normpath(own))
        if os.path.normpath(own).startswith(".."):
            raise InputError(where, f"'{name}' is outside of the scenario's directory, of which "
                             "programs see no more")
    else:
        file = name if "/" in name else shutil.which(
            name, path=":".join((*SEARCHED, os.environ.get("PATH", ""))))
        if file is None:
            raise InputError(where, f"no program '{name}' on this machine: install the package "
                             "that has it")
        seen = os.path.abspath(file)
        hidden = next((top for top in HIDDEN if seen.startswith(top + "/")), None)
        if hidden:
            raise InputError(where, f"'{seen}': programs do not see the machine's {hidden}; put "
                             f"it beside the scenario, and write {{{DIRECTORY}}}/"
                             f"{os.path.basename(seen)}")
    if not os.path.isfile(file):
        raise InputError(where, f"no file '{file}'")
    if not os.access(file, os.X_OK):
        raise InputError(where, f"'{file}' is not executable")
    return seen


def ends(scenario):
    """Hosts with programs, in order."""
    return list(dict.fromkeys(one.host for one in scenario.processes))


def encoded(word):
    """A word of a plan: everything in it that a plan would take for something else as %XX."""
    plain = b"".join(bytes([byte]) if 0x21 <= byte <= 0x7e and byte not in b"%#" else
                     b"%%%02X" % byte for byte in os.fsencode(word))
    return plain.decode("ascii") or "%"


def plan_lines(scenario):
    """What a plan has of a scenario's programs."""
    if not scenario.processes:
        return []
    graph = scenario.graph
    lines = [f"syscall {scenario.syscall_ns}", f"directory {encoded(scenario.directory)}"]
    lines += [f"hostname {host} {graph.address(host, scenario.family)}" for host in graph.hosts]
    for one in scenario.processes:
        words = [f"program {one.number} {one.host}",
                 "background" if one.background else "foreground", str(one.start_ns),
                 str(one.listen or "-"),
                 *(encoded(f"{name}={value}") for name, value in one.environment.items()),
                 encoded(one.path), *(encoded(word) for word in one.arguments)]
        lines.append(" ".join(words))
    return lines


def read(rows, scenario):
    """ProcessResults of programs.out, given as (place, fields)."""
    by_number = {one.number: one for one in scenario.processes}
    found = []
    for place, fields in rows:
        try:
            number, start, end, status = (int(fields[index]) for index in (0, 3, 4, 6))
            found.append(ProcessResult(by_number[number], start, None if end == -1 else end,
                                       fields[5], status))
        except (ValueError, IndexError, KeyError):
            raise RunError(f"{place}: not a program's line: {' '.join(fields)}") from None
    return found


def summary(results):
    """What summary.json says of them."""
    return [{"number": one.process.number, "host": one.process.host,
             "command": one.process.command, "background": one.process.background,
             "start_ns": one.start_ns, "end_ns": one.end_ns, "took_ns": one.took_ns,
             "end": one.how, "status": one.status,
             "stdout": f"programs/{one.process.stem}.stdout",
             "stderr": f"programs/{one.process.stem}.stderr"} for one in results]
