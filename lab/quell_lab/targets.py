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
    for variant in scenario.variants:
        missed = []
        for flow in scenario.flows:
            want_ns = target_ns(variant, len(scenario.links(flow)) - 1)
            idle_ns = idle_rtt_ns(scenario, flow)
            if want_ns is not None and want_ns < idle_ns:
                missed.append((want_ns - idle_ns, flow.number, want_ns, idle_ns))
        if missed:
            _, number, want_ns, idle_ns = min(missed)
            yield (f"{variant.label}: its target is below the idle round trip of {len(missed)} of "
                   f"{len(scenario.flows)} flows (flow {number}: {show_time(want_ns)}, "
                   f"{show_time(idle_ns)}): they take an empty network for congestion; "
                   "base-target is the parameter")
