# SPDX-License-Identifier: GPL-2.0
"""Who governs Dart's flows when: receivers' states, n, and what limits each sender."""

STATES = ("none", "receiver", "non-receiver")	# enum quell_dart_state
LIMITERS = ("line", "n", "dcqcn")		# enum labflow_limiter
ONE_Q8 = 256
TIME, STATE, COUNTED, TOLD, LIMITER = range(5)	# of a row of RunResult.dart


def show_n(n_q8):
    """n as a number; empty while it is not known."""
    return f"{n_q8 / ONE_Q8:.9g}" if n_q8 else ""


def rows(series):
    """(flow, time, state, n counted, n told, limiter) of dart.csv."""
    for number, samples in series.items():
        for time_ns, state, counted, told, limiter in samples:
            yield (number, time_ns, STATES[state], show_n(counted), show_n(told),
                   LIMITERS[limiter])


def spans(samples, column, end_ns):
    """[(begin, end, value)] of one column, neighbours of one value joined."""
    found = []
    for row, after in zip(samples, [*samples[1:], None]):
        until_ns = after[TIME] if after else max(end_ns, row[TIME])
        if found and found[-1][2] == row[column]:
            found[-1] = (found[-1][0], until_ns, row[column])
        else:
            found.append((row[TIME], until_ns, row[column]))
    return found


def _until_ns(result, number):
    row = next(row for row in result.flows if row.flow.number == number)
    return result.active_until_ns(row)


def by_receiver(result):
    """
    {host: samples of all its flows in order of time}, the state and n that a host's
    flows see; a flow's row holds until its next one, so the newest of any holds.
    """
    hosts = {}
    for row in result.flows:
        samples = result.dart.get(row.flow.number, ())
        hosts.setdefault(row.flow.dst, []).extend(samples)
    return {host: sorted(samples) for host, samples in hosts.items() if samples}


def limits(result):
    """{flow: [(begin, end, limiter)]}."""
    return {number: spans(samples, LIMITER, _until_ns(result, number))
            for number, samples in result.dart.items()}


def lanes(result):
    """
    [rows of flows]: flows of one source to one destination that come one after the other,
    as the rounds of a group do, are drawn as one.
    """
    found, until_ns = {}, {}
    for row in sorted(result.flows, key=lambda row: (row.flow.start_ns, row.flow.number)):
        pair = (row.flow.src, row.flow.dst)
        lane = next((lane for lane in found.setdefault(pair, [])
                     if until_ns[id(lane)] <= row.flow.start_ns), None)
        if lane is None:
            lane = []
            found[pair].append(lane)
        lane.append(row)
        until_ns[id(lane)] = result.active_until_ns(row)
    return sorted((lane for pair in found.values() for lane in pair),
                  key=lambda lane: lane[0].flow.number)


def _changes(result, column):
    """{host: [(time, flow, value)]} in order of time; a flow that ends has 0."""
    hosts = {}
    for row in result.flows:
        samples = result.dart.get(row.flow.number)
        if samples:
            until_ns = result.active_until_ns(row)
            hosts.setdefault(row.flow.dst, []).extend(
                [(sample[TIME], row.flow.number, sample[column]) for sample in samples
                 if sample[TIME] < until_ns] + [(until_ns, row.flow.number, 0)])
    return {host: sorted(changes, key=lambda change: change[0])
            for host, changes in hosts.items()}


def extremes(result, column):
    """{host: [(time, smallest, largest)]} over a host's active flows; 0 where none knows n."""
    found = {}
    for host, changes in _changes(result, column).items():
        held, steps = {}, []
        for place, (time_ns, number, value) in enumerate(changes):
            held[number] = value
            if not value:
                del held[number]
            if place + 1 < len(changes) and changes[place + 1][0] == time_ns:
                continue
            step = (min(held.values(), default=0), max(held.values(), default=0))
            if not steps or steps[-1][1:] != step:
                steps.append((time_ns, *step))
        found[host] = steps
    return found


def states(result):
    """{host: [(begin, end, state)]}, while flows of Dart to the host are active."""
    last_ns = {}
    for row in result.flows:
        if row.flow.number in result.dart:
            last_ns[row.flow.dst] = max(last_ns.get(row.flow.dst, 0), result.active_until_ns(row))
    return {host: spans(samples, STATE, last_ns[host])
            for host, samples in by_receiver(result).items()}
