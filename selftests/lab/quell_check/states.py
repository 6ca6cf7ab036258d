# SPDX-License-Identifier: GPL-2.0
"""
Judges who governed Dart's flows, by the text of the paper's Figure 5 (section III-C).

	no marks			No Congestion		n as counted
	marks, at line rate		Receiver Congestion	n as counted
	marks, below line rate		Non-Receiver Congestion	n = 1, DCQCN governs
"""

from quell_lab import governs

from .lab import rows, summary

# An ACK brings n: a round trip of 40 us, and what the queues on its way add.
LATE_MAX_NS = 250000
MS = 10**6
PORT_BITS_PS = 9.4e9
DCTCP_PAIRS = (2, 4, 6, 8)


class Run:
    """dart.csv of the run of one label."""

    def __init__(self, out, label="dart"):
        self.one = summary(out)[label]
        self.dart = {}
        hosts = {}
        for row in rows(out, "flows.csv"):
            if row["cc"] == label:
                hosts[int(row["flow"])] = row["dst"]
        for row in rows(out, "dart.csv"):
            if row["cc"] == label:
                self.dart.setdefault(int(row["flow"]), []).append(
                    (int(row["time_ns"]), governs.STATES.index(row["state"]),
                     float(row["n_counted"] or 0), float(row["n_told"] or 0),
                     governs.LIMITERS.index(row["limiter"])))
        self.hosts = {}
        for number, samples in self.dart.items():
            self.hosts.setdefault(hosts[number], []).extend(samples)

    def part(self, samples, column, value, begin_ms, end_ms):
        """Part of the time in which a column had a value."""
        spans = governs.spans(sorted(samples), column, end_ms * MS)
        held = [(max(begin, begin_ms * MS), min(end, end_ms * MS), one == value)
                for begin, end, one in spans]
        known = sum(max(end - begin, 0) for begin, end, _ in held)
        return sum(max(end - begin, 0) for begin, end, same in held if same) / (known or 1)

    def state(self, host, name, *times_ms):
        """Part of the time for which a receiver was in a state."""
        return self.part(self.hosts[host], governs.STATE, governs.STATES.index(name), *times_ms)

    def limited(self, flow, name, *times_ms):
        """Part of the time for which that limited a sender."""
        return self.part(self.dart[flow], governs.LIMITER, governs.LIMITERS.index(name), *times_ms)

    def told(self, flow, n, *times_ms):
        """Part of the time for which a sender had that n."""
        return self.part(self.dart[flow], governs.TOLD, n, *times_ms)

    def entered_ms(self, host, name, from_ms):
        """When a receiver was first in a state from a time on."""
        return next((row[governs.TIME] / MS for row in sorted(self.hosts[host])
                     if row[governs.TIME] >= from_ms * MS
                     and governs.STATES[row[governs.STATE]] == name), float("inf"))

    def late_ns(self):
        """The longest time for which a sender's n was not what Figure 5 has for the state."""
        longest = 0
        for samples in self.dart.values():
            since = None
            for row in samples:
                non_receiver = governs.STATES[row[governs.STATE]] == "non-receiver"
                right = row[governs.TOLD] == (1 if non_receiver else row[governs.COUNTED])
                if since is not None:
                    longest = max(longest, row[governs.TIME] - since)
                since = None if right else since or row[governs.TIME]
        return longest


def _network(run):
    yield "the first flow alone: No Congestion", run.state("h3", "none", 0.1, 5) == 1
    for host in ("h3", "h4"):
        yield (f"{host} is in Non-Receiver Congestion 0.3 ms after the flows meet",
               5 < run.entered_ms(host, "non-receiver", 5) < 5.3)
        yield f"{host} is never in Receiver Congestion", run.state(host, "receiver", 0, 25) == 0
        yield (f"{host} is in Non-Receiver Congestion while there are marks",
               run.state(host, "non-receiver", 5.3, 25) > 0.5)
    for flow in (1, 2):
        yield (f"DCQCN limits flow {flow} until the other stops",
               run.limited(flow, "dcqcn", 5.3, 25) == 1)


def _source(run):
    for host, flow in (("h2", 1), ("h3", 2)):
        yield f"{host} sees no mark and is in No Congestion", run.state(host, "none", 0, 35) == 1
        yield f"nothing limits flow {flow}", run.limited(flow, "line", 0, 35) == 1


def _source_ecn(run):
    yield "alone at line rate there is no queue: No Congestion", run.state(
        "h2", "none", 0, 5) == 1
    yield "and n = 1 limits nothing", run.limited(1, "line", 0, 5) == 1
    for host, flow in (("h2", 1), ("h3", 2)):
        yield (f"{host} is in Non-Receiver Congestion 0.4 ms after the flows meet",
               5 < run.entered_ms(host, "non-receiver", 5) < 5.4)
        yield f"{host} is not in Receiver Congestion", run.state(host, "receiver", 5.4, 25) == 0
        yield f"DCQCN limits flow {flow}", run.limited(flow, "dcqcn", 5.4, 25) == 1


def _alone(run):
    yield "h3 is never in Receiver Congestion, as one host sends", run.state(
        "h3", "receiver", 0, 35) == 0
    yield "h3 is in Non-Receiver Congestion while there are marks", run.state(
        "h3", "non-receiver", 4, 30) > 0.3


def _both(run):
    # far's first flight, at line rate, marks on the trunk: Non-Receiver Congestion for a round trip.
    for begin, end, n, flows, settled in ((0, 10, 2, (1, 2), 0.2), (10, 20, 3, (1, 2, 3), 0.4)):
        yield (f"first step, n = {n}: Receiver Congestion within 0.2 ms",
               begin < run.entered_ms("r", "receiver", begin) < begin + 0.2)
        yield (f"first step, n = {n}: not Non-Receiver Congestion",
               run.state("r", "non-receiver", begin + settled, end) == 0)
        for flow in flows:
            yield (f"first step: n = {n} limits flow {flow}",
                   run.told(flow, n, begin + settled, end) == 1
                   and run.limited(flow, "n", begin + settled, end) == 1)
    yield ("second step: Non-Receiver Congestion within 0.4 ms",
           20 < run.entered_ms("r", "non-receiver", 20) < 20.4)
    yield "second step: never without congestion", run.state("r", "none", 20.4, 45) == 0
    yield ("second step: n = 1 lets r reach line rate, Receiver Congestion, and back",
           0.02 < run.state("r", "non-receiver", 20.4, 45) < 0.9)
    yield "the flow to x: Non-Receiver Congestion", run.state("x", "non-receiver", 21, 45) > 0.95
    yield "DCQCN limits the flow to x", run.limited(4, "dcqcn", 20.4, 45) == 1


JUDGES = {
    "dart-states-network": _network,
    "dart-states-source": _source,
    "dart-states-source-ecn": _source_ecn,
    "dart-states-both": _both,
    "dart-states-alone": _alone,
}


def _beside(tap, name, out):
    """No flow starves another: the least that one may have of the port's 9.4 Gbit/s."""
    for label, one in summary(out).items():
        rates = one["measured"]["joined"]["flow_rate_bits_ps"]["of"]
        for flow, rate_bits_ps in rates.items():
            # Of DCTCP's pairs with marks, a quarter; of the others, a fortieth.
            least = 0.25 if name == "dart-coexist" and int(flow) in DCTCP_PAIRS else 1 / 40
            tap.check(rate_bits_ps >= least * PORT_BITS_PS, f"{name}: {label}: flow {flow} sends",
                      f"{rate_bits_ps / 1e9:.2f} Gbit/s")


def judge(tap, name, out):
    """The cases of a scenario, if it has any."""
    if name.startswith("dart-coexist"):
        _beside(tap, name, out)
    if name not in JUDGES:
        return
    run = Run(out)
    for words, holds in JUDGES[name](run):
        tap.check(holds, f"{name}: {words}")
    late_ns = run.late_ns()
    tap.check(late_ns < LATE_MAX_NS, f"{name}: senders have the n that Figure 5 gives",
              f"{late_ns / 1000:g} us at most until they do")
