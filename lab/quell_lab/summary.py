# SPDX-License-Identifier: GPL-2.0
"""Numbers of a run: completion times, fairness, queues, goodput, counters."""

from fractions import Fraction

from . import connections, convergence, credit, deflection, express, limits, loads, measure, pfc, \
    physics, processes, slowdown
from .results import queue_max_bytes
from .stats import jain, percentile, queue_numbers, rank_correlation

FAIR = 0.95
PERCENTILES = (("p50", 50), ("p99", 99), ("p999", Fraction(999, 10)))


def _bytes_by_tick(rows, tick_ns):
    """Cumulative bytes by tick number; the rows hold changes alone."""
    return {time_ns // tick_ns: count for time_ns, count in rows}


def jain_windows(result, window_ns, unfinished=False):
    """
    [(start_ns, index, flows)] of the windows in which at least two flows were
    active from beginning to end.  What a flow got in a window is what its
    receiver was handed in it.  Unfinished: count the flows the run cut short.
    Messages that wait for each other on a connection have no shares.
    """
    flows = [row for row in result.flows if (row.finished or unfinished)
             and row.flow.number not in result.sharing]
    if len(flows) < 2:
        return []
    shares = {}		# window -> bytes that each flow active throughout it got
    for row in flows:
        counts = _bytes_by_tick(result.delivered.get(row.flow.number, []), window_ns)
        first = -(-row.start_ns // window_ns)
        so_far = counts.get(first, 0)
        for tick in range(first, result.active_until_ns(row) // window_ns):
            now = counts.get(tick + 1, so_far)
            shares.setdefault(tick, []).append(now - so_far)
            so_far = now
    windows = []
    for tick in sorted(shares):
        index = jain(shares[tick]) if len(shares[tick]) >= 2 else None
        if index is not None:
            windows.append((tick * window_ns, index, len(shares[tick])))
    return windows


def fair_after_ns(windows, last_start_ns):
    """Time from the last start until the index stays above FAIR, or None."""
    since = None
    for begin, index, _ in windows:
        if begin < last_start_ns:
            continue
        if index < FAIR:
            since = None
        elif since is None:
            since = begin
    return None if since is None else since - last_start_ns


def active_spans(result):
    """Merged [start, end) during which at least one flow was active; of programs, the run."""
    if result.processes:
        return [[0, result.virtual_ns]]
    spans = []
    for row in sorted(result.flows, key=lambda row: row.start_ns):
        end_ns = result.active_until_ns(row)
        if spans and row.start_ns <= spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], end_ns)
        else:
            spans.append([row.start_ns, end_ns])
    return spans


def fct_numbers(result):
    """Completion times of the finished flows."""
    times = [row.fct_ns for row in result.flows if row.finished]
    numbers = {"min": min(times, default=None)}
    numbers.update({name: percentile(times, percent) for name, percent in PERCENTILES})
    numbers["max"] = max(times, default=None)
    return numbers


def last_completion_ns(result):
    """From the first start to the last end; None if a flow did not finish."""
    if not result.flows or not all(row.finished for row in result.flows):
        return None
    return max(row.end_ns for row in result.flows) - min(row.start_ns for row in result.flows)


def last_completion_over_ideal(scenario, result):
    """
    Of the receiver that comes off worst: time from its first flow's start to
    its last flow's end, over the earliest at which its cable can have carried
    all; None if a flow did not finish.
    """
    ratios = []
    for dst in {row.flow.dst for row in result.flows}:
        rows = [row for row in result.flows if row.flow.dst == dst]
        if not all(row.finished for row in rows):
            return None
        first_ns = min(row.start_ns for row in rows)
        limit_ns = physics.receive_limit_ns(
            [(row.start_ns, scenario.links(row.flow), row.flow.size_bytes,
              scenario.mtu(row.flow)) for row in rows])
        ratios.append((max(row.end_ns for row in rows) - first_ns) / (limit_ns - first_ns))
    return round(max(ratios), 4) if ratios else None


def last_completion_over_limit(scenario, result):
    """
    From the first start to the last end, over the earliest at which all flows can be
    through; None if one did not finish.
    """
    last_ns = last_completion_ns(result)
    if last_ns is None:
        return None
    return round(last_ns / limits.limit_ns(scenario), 4)


def _start_group_pairs(scenario, result):
    """(nominal start, end): starts jittered within one window count as together."""
    return [(row.start_ns // scenario.record.window_ns, row.end_ns)
            for row in result.flows if row.finished]


def governed(result):
    """
    Shares of the flows' time, from the start of each to its end, in which the algorithm, the search
    and CUBIC governed their windows, and how often CUBIC took over for which reason.
    """
    total_ns = [sum(times) for times in zip(*result.governed.values())] or [0, 0, 0]
    all_ns = sum(total_ns)
    shares = [round(one_ns / all_ns, 4) if all_ns else None for one_ns in total_ns]
    counters = result.counters.get(result.variant.name, {})
    reasons = {name.removeprefix("cubic-"): count for name, count in counters.items()
               if name.startswith("cubic-") and not name.endswith("-ms")}
    return {**dict(zip(("algorithm", "search", "cubic"), shares)), "cubic_times": reasons}


def _counter(ports, *names):
    return sum(port.get(name, 0) for port in ports for name in names)


def summarise(scenario, result):
    """Dictionary of everything summary.json says of one run."""
    finished = [row for row in result.flows if row.finished]
    spans = active_spans(result)
    windows = jain_windows(result, scenario.record.window_ns, scenario.allow_unfinished)
    last_start_ns = max((row.start_ns for row in result.flows), default=0)
    queues = {port.label: queue_numbers(result.queues.get(port.label, []), spans,
                                        queue_max_bytes(result.ports.get(port.label, {}),
                                                        result.queues.get(port.label, [])))
              for port in scenario.watched_ports()}
    worst = max(queues, key=lambda label: queues[label]["max_bytes"], default=None)
    hops = _counter(result.ports.values(), "tx_packets")
    busy_ns = max((row.end_ns for row in finished), default=0) - min(
        (row.start_ns for row in finished), default=0)
    size = sum(row.flow.size_bytes for row in finished)
    indices = [index for _, index, _ in windows]
    pauses = {"pfc": pfc.numbers(scenario, result.ports)} if scenario.pfc else {}
    return {
        "algorithm": result.variant.name,
        "preset": result.variant.preset or result.variant.of_paper,
        **({"variant": result.variant.variant} if result.variant.variant else {}),
        **({"credit": credit.numbers(result.ports)} if result.variant.credit_bytes else {}),
        **({"credit": express.numbers(result.ports)} if result.variant.is_express else {}),
        "parameters": result.variant.texts,
        "flows": len(result.flows),
        "flows_finished": len(finished),
        "fct_ns": fct_numbers(result),
        "fct_of_flow_ns": {row.flow.number: row.fct_ns if row.finished else None
                           for row in result.flows},
        "last_completion_ns": last_completion_ns(result),
        "last_completion_over_ideal": last_completion_over_ideal(scenario, result),
        "last_completion_over_limit": last_completion_over_limit(scenario, result),
        "ideal_ns": {"min": min((row.ideal_ns for row in result.flows), default=None),
                     "max": max((row.ideal_ns for row in result.flows), default=None)},
        "slowdown_max": round(max((row.fct_ns / row.ideal_ns for row in finished), default=0), 4),
        "slowdown": slowdown.numbers(scenario, result),
        "spread_ns": max((row.end_ns for row in finished), default=0) - min(
            (row.end_ns for row in finished), default=0),
        "start_finish_rank_correlation": rank_correlation(_start_group_pairs(scenario, result)),
        "jain": {
            "window_ns": scenario.record.window_ns,
            "mean": round(sum(indices) / len(indices), 6) if indices else None,
            "min": round(min(indices), 6) if indices else None,
            "fair_after_ns": fair_after_ns(windows, last_start_ns),
            "over_time": [[begin, round(index, 6), flows] for begin, index, flows in windows],
        },
        "measured": {window.name: measure.numbers(scenario, result, window)
                     for window in scenario.windows},
        "convergence": convergence.numbers(scenario, result),
        "queue": dict(queues[worst], port=worst) if worst else None,
        "queues": queues,
        "load": loads.numbers(scenario, result),
        "goodput_bits_ps": size * 8 * 10**9 // busy_ns if busy_ns else 0,
        "drops": _counter(result.ports.values(), "drops", "ring_drops") + (
            pauses["pfc"]["drops"] if pauses else 0),
        "marks": _counter(result.ports.values(), "mark_pkts"),
        "marked_percent": slowdown.marked_percent(result.flows),
        **{name: _counter(result.ports.values(), f"{counter}_pkts") for name, counter in (
            ("stamps", "stamp"), ("stamps_kept", "stamp_kept"), ("buffer_drops", "buffer_drop"),
            ("trims", "trim"), ("trims_sent", "trim_sent"), ("trims_dropped", "trim_drop"),
            ("answered_to_sender", "to_sender"))},
        "deflection": deflection.numbers(scenario, result),
        **pauses,
        **({} if result.governed is None else {"governed": governed(result)}),
        "retransmitted_segs": sum(row.retrans_segs for row in result.flows),
        "segs_out": sum(row.segs_out for row in result.flows),
        "counters": result.counters,
        **({"connections": {label: connections.numbers(rows)
                            for label, rows in result.connections.items()}}
           if result.connections else {}),
        **({"programs": processes.summary(result.processes)} if result.processes else {}),
        "virtual_ns": result.virtual_ns,
        "packet_hops": hops,
        "cost": result.cost.summary(hops),
    }
