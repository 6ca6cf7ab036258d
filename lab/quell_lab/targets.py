# SPDX-License-Identifier: GPL-2.0
"""Targets that no flow can meet: below the round trip of the idle network."""

from . import physics
from .units import show_time

SWIFT = "swift"


def idle_rtt_ns(scenario, flow):
    """A full packet alone to the receiver, and its acknowledgment back, whole ns."""
    links = scenario.links(flow)
    total = (physics.one_way_ns(links, scenario.mtu(flow))
             + physics.one_way_ns(links[::-1], physics.HEADER_BYTES))
    return total.numerator // total.denominator


def target_ns(variant, switches):
    """What a Swift variant steers for with a large window; None: its path tells, or none."""
    if not (variant.algorithm.core or "").startswith(SWIFT):
        return None
    known = variant.algorithm.parameters

    def value(key):
        return variant.values.get(key, known[key].default)
    if value("adapt") or not value("base-target"):
        return None
    # A program is not told of switches.
    return value("base-target") + (0 if variant.program else switches * value("hop-scale"))


def notes(scenario):
    """A sentence for each variant whose target is below the idle round trip of a flow."""
    of_ends = {}
    for flow in scenario.flows:
        of_ends.setdefault((flow.src, flow.dst), []).append(flow)
    idle = {ends: idle_rtt_ns(scenario, flows[0]) for ends, flows in of_ends.items()}
    for variant in scenario.variants:
        missed = []
        for ends, flows in of_ends.items():
            want_ns = target_ns(variant, len(scenario.links(flows[0])) - 1)
            if want_ns is not None and want_ns < idle[ends]:
                missed.append((want_ns - idle[ends], flows[0].number, want_ns, idle[ends],
                               len(flows)))
        if missed:
            _, number, want_ns, idle_ns, _ = min(missed)
            yield (f"{variant.label}: its target is below the idle round trip of "
                   f"{sum(one[-1] for one in missed)} of {len(scenario.flows)} flows (flow "
                   f"{number}: {show_time(want_ns)}, {show_time(idle_ns)}): they take an empty "
                   "network for congestion; base-target is the parameter")


def of_scenario(scenario):
    """All that is allowed, but rarely meant: of the scenario, and of its variants' targets."""
    return [*scenario.notes, *notes(scenario)]
