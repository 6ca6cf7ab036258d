# SPDX-License-Identifier: GPL-2.0
"""Windows of time of a run, measured on their own: for flows that outlast it.

Throughput counts what every selected flow was handed in the window.  Shares
(Jain's index, rates per flow) are of the flows active from its beginning to
its end.  Round-trip times are those of the rows of the window trace within it.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from . import distributions, rounds, slowdown, stats
from .errors import InputError
from .physics import NS_PER_S, mss_bytes, wire_bytes
from .schema import Key, check
from .units import show_time
from .workload import TIME_MAX

NAME_DEFAULT = "steady"
RUN = "run"			# what the whole run is called in paper rows
UNPACED_BYTES_PS = 2**64 - 1
CLOCK_HARDWARE = 3		# enum quell_clock

KEYS = {
    "name": Key("text", default=NAME_DEFAULT),
    "from": Key("time", 0, TIME_MAX),
    "to": Key("time", 1, TIME_MAX),
    "src": Key("names", default=None),
    "dst": Key("names", default=None),
    "idle": Key("time", 0, TIME_MAX, None),
    "sizes": Key("text", default=None),
}


@dataclass(frozen=True)
class Window:
    """A stretch of the run and the flows looked at."""

    name: str
    begin_ns: int
    end_ns: int
    flows: frozenset		# numbers
    idle_ns: object = None	# round trip of the idle network, where it was told


def build(places, tables, flows, tick_ns, until_ns):
    """Windows of the [measure] tables; their edges are sampling times."""
    windows = []
    for index, table in enumerate(tables or []):
        path = "measure" if len(tables) == 1 else f"measure[{index}]"
        values = check(places, path, table, KEYS)
        name = values["name"]
        if not name or name == RUN or name in (window.name for window in windows):
            raise InputError(places.name(f"{path}.name"), f"'{name}' is empty, '{RUN}' or given "
                             "twice")
        for key in ("from", "to"):
            if values[key] % tick_ns:
                raise InputError(places.name(f"{path}.{key}"), f"'{table[key]}' is not a multiple "
                                 f"of {show_time(tick_ns)}, the window of [record]")
        if not values["from"] < values["to"] <= until_ns:
            raise InputError(places.name(f"{path}.to"), f"'{table['to']}' is out of range: above "
                             f"{show_time(values['from'])}, at most {show_time(until_ns)}, the "
                             "end of the run")
        windows.append(Window(name, values["from"], values["to"],
                              _selected(places, path, values, flows), values["idle"]))
    return tuple(windows)


def _selected(places, path, values, flows):
    for key in ("src", "dst"):
        known = {getattr(flow, key) for flow in flows}
        for name in values[key] or []:
            if name not in known:
                raise InputError(places.name(f"{path}.{key}"), f"'{name}' is {key} of no flow")
    low, high = (0, slowdown.SIZE_MAX) if values["sizes"] is None else slowdown.parse_range(
        places.name(f"{path}.sizes"), values["sizes"])
    chosen = frozenset(flow.number for flow in flows
                       if (values["src"] is None or flow.src in values["src"])
                       and (values["dst"] is None or flow.dst in values["dst"])
                       and low < flow.size_bytes <= high)
    if not chosen:
        raise InputError(places.name(path), "no flow has this src, this dst and this size")
    return chosen


def _count_at(rows, time_ns):
    """Bytes delivered by then: the rows hold changes alone."""
    count = 0
    for when_ns, value in rows:
        if when_ns > time_ns:
            break
        count = value
    return count


def delivered_bytes(result, window):
    """{flow number: bytes handed to its receiver in the window}."""
    rows = {row.flow.number: result.delivered.get(row.flow.number, [])
            for row in result.flows if row.flow.number in window.flows}
    return {number: _count_at(one, window.end_ns) - _count_at(one, window.begin_ns)
            for number, one in rows.items()}


def _spanning(result, window):
    """Numbers of the flows active from the window's beginning to its end, on connections of
    their own: a message that waits for another's bytes is not stalled."""
    return [row.flow.number for row in result.flows if row.flow.number in window.flows
            and row.flow.number not in result.sharing and row.start_ns <= window.begin_ns
            and result.active_until_ns(row) >= window.end_ns]


def _round_trips(result, window):
    times = distributions.round_trips_ns(result, window)
    return {
        "samples": len(times),
        "mean": round(sum(times) / len(times), 1) if times else None,
        "p50": stats.percentile(times, 50),
        "p99": stats.percentile(times, 99),
    }


def _completions(result, window):
    """Completion times of the flows that start and finish within the window, and the share of those
    that start in it and do not finish."""
    begun = [row for row in result.flows if row.flow.number in window.flows
             and window.begin_ns <= row.start_ns < window.end_ns]
    times = [row.fct_ns for row in begun if row.finished and row.end_ns <= window.end_ns]
    return {"flows": len(times),
            "unfinished_share": round(1 - len(times) / len(begun), 4) if begun else None,
            "p50": stats.percentile(times, 50),
            "p99": stats.percentile(times, 99), "max": max(times, default=None)}


def _requests(result, window):
    """
    From a message's start to the end of its answer, of those that start within the window, and the
    share that the run ends before; empty where no flow answers another.  A percentile that falls
    on one of these is None: they took longer than all others may have.
    """
    answers = {row.flow.answers: row for row in result.flows if row.flow.answers is not None}
    begun = [row for row in result.flows if row.flow.number in window.flows
             and row.flow.number in answers
             and window.begin_ns <= row.start_ns < window.end_ns]
    if not begun:
        return {}
    times = sorted(answer.end_ns - row.start_ns if (answer := answers[row.flow.number]).finished
                   else math.inf for row in begun)
    return {"request_ns": {
        "requests": len(begun),
        "unanswered_share": round(times.count(math.inf) / len(begun), 4),
        **{name: None if value == math.inf else value
           for name, value in (("p50", stats.percentile(times, 50)),
                               ("p99", stats.percentile(times, 99)), ("max", times[-1]))}}}


def _rtt_errors(result, window):
    """What quell.ko took for round-trip times, beside the truth of the wire."""
    rows = [row for number, rows in result.truth.items() if number in window.flows
            for row in rows if window.begin_ns <= row[0] < window.end_ns]
    whole = [abs(rtt_ns - true_ns) for _, _, rtt_ns, _, true_ns, _ in rows]
    network = [abs(rtt_ns - hold_ns - true_ns + true_hold_ns)
               for _, _, rtt_ns, hold_ns, true_ns, true_hold_ns in rows]
    return {
        "samples": len(rows),
        "hardware": sum(row[1] == CLOCK_HARDWARE for row in rows),
        "p50": stats.percentile(whole, 50),
        "p99": stats.percentile(whole, 99),
        "max": max(whole, default=None),
        "network_max": max(network, default=None),
        "taken_p50": stats.percentile([row[2] - row[3] for row in rows], 50),
        "taken_p99": stats.percentile([row[2] - row[3] for row in rows], 99),
        "true_p50": stats.percentile([row[4] - row[5] for row in rows], 50),
        "true_p99": stats.percentile([row[4] - row[5] for row in rows], 99),
    }


def pacing(result, window, flows):
    """{flow: (mean, standard deviation) of its pacing rate in bits per second} of paced flows."""
    found = {}
    for number in flows:
        rows = [(time_ns, rate * 8) for time_ns, _, rate, *_ in result.cwnd.get(number, [])]
        held = stats.time_weighted(rows, [[window.begin_ns, window.end_ns]])
        if any(held) and UNPACED_BYTES_PS * 8 not in held:
            found[number] = _mean_and_deviation(rows, window)
    return found


def _variation(of_flow):
    """Mean over the flows of the standard deviation over the mean: {flow: (mean, deviation)}."""
    ratios = [deviation / mean for mean, deviation in of_flow.values() if mean]
    return round(sum(ratios) / len(ratios), 4) if ratios else None


def _mean_window(of_flow):
    """Mean over the flows, bytes: {flow: (mean, deviation)}."""
    means = [mean for mean, _ in of_flow.values()]
    return round(sum(means) / len(means)) if means else None


def _mean_and_deviation(rows, window):
    """Of a value, weighted by the time that it held in a window: [(time_ns, value)]."""
    held = stats.time_weighted(rows, [[window.begin_ns, window.end_ns]])
    mean = Fraction(sum(value * ns for value, ns in held.items()), sum(held.values()))
    square = Fraction(sum(value**2 * ns for value, ns in held.items()), sum(held.values()))
    return float(mean), math.sqrt(square - mean**2)


def congestion_windows(result, window, flows):
    """{flow: (mean, standard deviation) of its congestion window in bytes}."""
    return {number: _mean_and_deviation([row[:2] for row in result.cwnd[number]], window)
            for number in flows if number in result.cwnd}


def _queueing(scenario, result, window, worst):
    """Only of a window that says what the idle network takes."""
    if window.idle_ns is None or worst is None:
        return {}
    port = next(port for port in scenario.watched_ports() if port.label == worst)
    return {"queueing": distributions.queueing(scenario, result, window, port)}


def _queues(scenario, result, window):
    span = [[window.begin_ns, window.end_ns]]
    queues = {}
    for port in scenario.watched_ports():
        rows = result.queues.get(port.label, [])
        top = max(stats.time_weighted(rows, span), default=0)
        queues[port.label] = stats.queue_numbers(rows, span, top)
    return queues


def numbers(scenario, result, window):
    """What summary.json says of one window of one run."""
    length_ns = window.end_ns - window.begin_ns
    got = delivered_bytes(result, window)
    sizes = {row.flow.number: scenario.mtu(row.flow) for row in result.flows}
    wire = sum(Fraction(count * wire_bytes(sizes[number]), mss_bytes(sizes[number]))
               for number, count in got.items())
    spanning = _spanning(result, window)
    shares = [got[number] for number in spanning]
    moving = [number for number in spanning if got[number]]
    rates = {number: got[number] * 8 * NS_PER_S // length_ns for number in spanning}
    index = stats.jain(shares) if shares else None
    queues = _queues(scenario, result, window)
    worst = max(queues, key=lambda label: queues[label]["mean_bytes"], default=None)
    rates_set = pacing(result, window, spanning)
    return {
        "from_ns": window.begin_ns,
        "to_ns": window.end_ns,
        "flows": len(window.flows),
        "flows_throughout": len(spanning),
        "flows_stalled": len(spanning) - len(moving),
        "throughput_bits_ps": sum(got.values()) * 8 * NS_PER_S // length_ns,
        "wire_throughput_bits_ps": int(wire * 8 * NS_PER_S / length_ns),
        "rtt_ns": _round_trips(result, window),
        "fct_ns": _completions(result, window),
        **_requests(result, window),
        "rtt_error_ns": _rtt_errors(result, window) if scenario.record.truth else None,
        "jain": round(index, 6) if index is not None else None,
        "flow_rate_bits_ps": {"min": min(rates.values(), default=None),
                              "max": max(rates.values(), default=None), "of": rates},
        "flow_rate_ratio": (round(min(rates.values()) / max(rates.values()), 4)
                            if len(rates) > 1 and max(rates.values()) else None),
        "rate_variation": _variation(rates_set),
        "window_bytes": _mean_window(congestion_windows(result, window, spanning)),
        "window_variation": _variation(congestion_windows(result, window, moving)),
        "pacing_bits_ps": {
            "mean": {number: round(mean) for number, (mean, _) in rates_set.items()},
            "deviation": {number: round(one) for number, (_, one) in rates_set.items()}},
        "queue": dict(queues[worst], port=worst) if worst else None,
        "queues": queues,
        **({"marks_rtt_correlation": stats.correlation([
            (one.marked, one.min_rtt_ns) for one in rounds.in_window(result.rounds, window)])}
           if result.rounds else {}),
        **_queueing(scenario, result, window, worst),
    }


def problems(result, windows):
    """Sentences for windows the run did not reach the end of."""
    return [f"the run ended at {show_time(result.virtual_ns)}, before the end of the window "
            f"'{window.name}' at {show_time(window.end_ns)}"
            for window in windows if result.virtual_ns < window.end_ns]
