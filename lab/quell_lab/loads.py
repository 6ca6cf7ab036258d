# SPDX-License-Identifier: GPL-2.0
"""Offered and carried load: payload that flows bring, and that is delivered, while they start."""

from .physics import NS_PER_S


def _delivered_bytes(result, row, until_ns):
    """Of a flow by then; without samples of its own as if at an even rate."""
    end_ns = result.active_until_ns(row)
    if end_ns <= until_ns:
        return row.delivered_bytes
    if row.start_ns >= until_ns:
        return 0
    samples = result.delivered.get(row.flow.number)
    if samples and row.flow.number not in result.sharing:
        return max((count for time_ns, count in samples if time_ns <= until_ns), default=0)
    return row.delivered_bytes * (until_ns - row.start_ns) // (end_ns - row.start_ns)


def _capacity_bits_ps(scenario, result):
    """Of the cables of all hosts that send, or of all that receive, if that is less."""
    ports = scenario.graph.ports
    return min(sum(ports[host][0].cable.rate_bits_ps for host in {
        getattr(row.flow, end) for row in result.flows}) for end in ("src", "dst"))


def numbers(scenario, result):
    """
    What summary.json says of a run: from the first start to the last, or to the last end where all
    have started before the first one ends, as in an incast.  Offered is None there, without a
    [[workload]] or [[flow-list]], where flows may bring more than the links carry, and where the
    run decides on it: of flows that wait for others, or that have a stop or no end.
    """
    if not result.flows:
        return None
    from_ns = min(row.start_ns for row in result.flows)
    to_ns = last_ns = max(row.start_ns for row in result.flows)
    ends_ns = [result.active_until_ns(row) for row in result.flows]
    together = last_ns <= min(ends_ns)
    if together:
        to_ns = max(ends_ns)
    span_ns = to_ns - from_ns
    offered = None
    is_load = scenario.config.get("workload") or scenario.config.get("flow-list")
    if is_load and not together and not any(row.flow.after or row.flow.stop_ns or row.flow.endless
                                     for row in result.flows):
        brought = sum(row.flow.size_bytes for row in result.flows if row.start_ns < last_ns)
        offered = brought * 8 * NS_PER_S // span_ns
    carried = sum(_delivered_bytes(result, row, to_ns) for row in result.flows)
    return {"from_ns": from_ns, "to_ns": to_ns,
            "capacity_bits_ps": _capacity_bits_ps(scenario, result), "offered_bits_ps": offered,
            "carried_bits_ps": carried * 8 * NS_PER_S // span_ns if span_ns else None}


def share(load, key):
    """A load as a share of the capacity, or a dash."""
    value = load and load[f"{key}_bits_ps"]
    return "-" if value is None else f"{value / load['capacity_bits_ps']:.1%}"
