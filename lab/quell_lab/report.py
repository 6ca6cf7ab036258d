# SPDX-License-Identifier: GPL-2.0
"""One self-contained HTML page of a run."""

from . import charts, convergence, express, network_chart, page, paper, pfc, rcp, show, \
    slowdown, units, written

SWPORT = "swport"
OF_SCENARIO = "As a [[plot]] table of the scenario has it."
CAPTIONS = {
    "plot": "In the axes of the paper's figure. Circles: numbers that the paper's text gives; its "
            "curves are not in the text.",
    "start-finish": "One mark per flow. A rising row of marks: who starts first finishes first. "
                    "A falling one: those that start last finish first. A flat one: all "
                    "finish together. Flows that finish far beyond the rest "
                    "are drawn on the upper edge and counted in the legend.",
    "fct-cdf": "Flow completion: from the start of the flow until its last byte is handed to the "
               "receiving socket. A line that ends below 1: the other flows did not finish.",
    "jain": "Jain's index of the bytes each active flow was handed in a window: 1 means equal "
            "shares, 1/n one flow has everything. Where a window holds a few packets of each flow, "
            "whole packets keep it below 1: set record.window (--window) longer. Flows count in "
            "windows they span entirely. Axes "
            "of time end at the last completion within twice a run's median one, or with the last "
            "measured window.",
    "queue": "Backlog of the switch port with the longest queue of all runs, sampled. The maximum "
             "in the table is the port's own watermark, exact{of_samples}.",
    "goodput": "Bytes handed to each receiving socket per window. Data that waited for a lost "
               "packet is handed over at once when that arrives, so peaks may exceed the line "
               "rate; the axis ends there. With more than 24 flows: of those active at each time "
               "the median, the 10th to 90th percentile, and the first to start, the last, the "
               "slowest.",
    "dart": "Bands and lines share one axis of time. Flows of one host to another that come one "
            "after the other share a line and a band. Grey: nobody holds a sender back. Blue: the "
            "receiver's n does, marks are hidden. Orange: the receiver states n = 1 and lets marks "
            "pass, or DCQCN holds the sender below its share. A band shows what held longest in "
            "each 900th of the time; dart.csv has every change.",
    "slowdown": "Completion time over that of the flow alone on the idle network, in bins of as "
                "many flows each, or of one size that has more, drawn at the largest size; with a "
                "99.9th percentile where every bin has 1000 flows. slowdown.csv has the numbers.",
    "cwnd": "Congestion window as the sender holds it; logarithmic above one packet. With more "
            "than 24 flows as for goodput.",
    "joins": "Rates that the senders' algorithms set, around some joins. Dotted: the line and an "
             "equal share of it.",
    "joins-cdf": "Share of joins after which the senders had equal shares of the line by then, and "
                 "kept them until the leave. A line that ends below 1: the other joins never got "
                 "there.",
}
JOIN_TITLES = {
    "rates": "At the senders: until their rates are equal shares of the line",
    "shares": "At the senders: until their rates are equal, together no more than the line",
    "arrivals": "At the receiver: until bytes of a round trip are equal shares of their sum",
    "halves": "At the receiver: until bytes of a round trip are equal shares of the line",
    "reached": "At the receiver: the first time they are, whether it lasts or not",
    "leave": "After a leave: until the sender that stayed has the line",
}
JOINS = ("Times are from the start of the joining flow, over all joins, at two places. At the "
         "senders: the instant from which the rates that their algorithms set are equal. At the "
         "receiver: the beginning of the first round trip from which the bytes delivered in each "
         "are equal, which may be before the rates are set; of the first time its end.")


def _micro(time_ns):
    return "–" if time_ns is None else f"{time_ns / 1000:,.1f} us"


def _text(write, value):
    return "–" if value is None else write(value)


# Of a whole run, beside those of show.whole_run(): title, function that shows it.
MORE_COLUMNS = (
    ("FCT min", lambda s: _micro(s["fct_ns"]["min"])),
    ("Finish spread", lambda s: _micro(s["spread_ns"])),
    ("Start–finish rank", lambda s: _text("{:.3f}".format, s["start_finish_rank_correlation"])),
    ("Jain mean", lambda s: _text("{:.3f}".format, s["jain"]["mean"])),
    ("Fair after", lambda s: _micro(s["jain"]["fair_after_ns"])),
    ("Queue max at", lambda s: s["queue"]["port"] if s["queue"] else "–"),
)
SLOWDOWN_COLUMNS = (("Flows", lambda s: f"{s['flows']:,}"), *(
    (title, lambda s, key=key: _text("{:.2f}".format, s[key] if key != "p999" or
                                     s["flows"] >= slowdown.TAIL_FLOWS else None))
    for title, key in (("p50", "p50"), ("p95", "p95"), ("p99", "p99"), ("p99.9", "p999"),
                       ("max", "max"))))


def _queue_columns(port):
    """Of one port, the same of every run."""
    def cell(key):
        return lambda s: show.kilo(s["queues"][port][key]) if port in s["queues"] else "–"

    return [(f"Queue at {port}: {name}", cell(f"{name}_bytes")) for name in ("mean", "p99", "max")
            if port is not None]


def _join_columns(kind, joins):
    """Times of one kind, and how many joins never got there."""
    def cell(name):
        return lambda s: "never" if s[kind][f"{name}_ns"] is None else (
            f"{_micro(s[kind][f'{name}_ns'])} ({s[kind][f'{name}_rtts']})")

    names = {name: name for name in convergence.PERCENTILES if name != "p999"}
    if joins >= slowdown.TAIL_FLOWS:
        names["p999"] = "p99.9"
    return (*((f"{title} (round trips)", cell(name)) for name, title in names.items()),
            ("never", lambda joins: f"{joins[kind]['never']} of {joins['joins']}"),
            ("slower / faster at the end", lambda s: f"{s['last_ratio_p50']:.3f}"))


def _tables(scenario, summaries):
    """(title, table) of joins, of each measured window, of the whole run."""
    if not summaries:
        return
    if scenario.convergence is not None:
        joins = {label: summary["convergence"] for label, summary in summaries.items()}
        for kind, title in JOIN_TITLES.items():
            yield title, show.table(_join_columns(kind, len(scenario.convergence.joins)), joins)
    for window in scenario.windows:
        span = f"{units.show_time(window.begin_ns)} to {units.show_time(window.end_ns)}"
        yield (f"Measured: {window.name}, {span}, {len(window.flows)} flows",
               show.window(window.name, summaries))
    yield "The whole run", show.whole_run(summaries)


def _slowdowns(summaries):
    """(class of size, table)."""
    found = {label: summary["slowdown"] for label, summary in summaries.items()}
    for index, first in enumerate(next(iter(found.values()))["classes"] if any(found.values())
                                  else ()):
        numbers = {label: one["classes"][index] for label, one in found.items()}
        if any(one["flows"] for one in numbers.values()):
            yield slowdown.class_name(first), show.table(SLOWDOWN_COLUMNS, numbers)


def _deflection(values):
    if not values:
        return "off"
    above = (f"{values.threshold_bytes:,} bytes" if values.threshold_bytes
             else "what a detour takes")
    return (f"above {above}, {values.entries} entries, at most "
            f"{values.tokens} tokens from DSCP {values.base} on, idle after "
            f"{units.show_time(values.idle_ns)}")


def _ports(scenario):
    """{qdisc of switches' ports: labels of its runs}"""
    found = {}
    for variant in scenario.variants:
        kind = express.KIND if variant.is_express else rcp.KIND if variant.is_rcp else SWPORT
        found.setdefault(variant.qdisc.text if variant.qdisc else kind, []).append(variant.label)
    return found


def _sampled(scenario):
    """Labels of the runs, and switches, of which ports have no watermark."""
    runs = [label for qdisc, labels in _ports(scenario).items() for label in labels
            if qdisc not in (SWPORT, express.KIND)]
    return (*runs, *scenario.queue.fifo)


def _switch_ports(scenario):
    """Rows about switches' ports, those of swport alone where it is one."""
    queue, ports = scenario.queue, _ports(scenario)
    texts = {rcp.KIND: f"{rcp.KIND}, {queue.limit_bytes:,} bytes",
             express.KIND: f"{express.KIND}, {queue.limit_bytes:,} bytes of data",
             SWPORT: f"swport, {queue.limit_bytes:,} bytes of data, "
                     f"{queue.control_limit_bytes:,} of control packets"
                     + (f"; bfifo at {', '.join(queue.fifo)}" if queue.fifo else "")}
    yield "Switch ports", "; ".join(
        texts.get(qdisc, qdisc) + (f" ({', '.join(labels)})" if len(ports) > 1 else "")
        for qdisc, labels in ports.items())
    ecn = "off"
    if queue.ecn_max_bytes:
        ecn = f"RED at {queue.ecn_mode}, {queue.ecn_min_bytes:,} to {queue.ecn_max_bytes:,} bytes"
        if queue.ecn_min_bytes == queue.ecn_max_bytes:
            ecn = f"every packet at {queue.ecn_mode} above {queue.ecn_min_bytes:,} bytes"
    of = " of swport" if len(ports) > 1 else ""
    for name, text in () if SWPORT not in ports else (
            ("ECN", ecn),
            ("Telemetry", "stamped at dequeue, base round-trip time "
             f"{units.show_time(queue.telemetry_ns)}" if queue.telemetry_ns else "off"),
            ("Shared buffer", f"{queue.buffer_bytes:,} bytes per switch, alpha "
             f"{units.show_q16(queue.alpha_q16)}" if queue.buffer_bytes else "off"),
            *([("Priority flow control", pfc.described(scenario.pfc))] if scenario.pfc else []),
            ("Deflection", _deflection(queue.deflection)),
            ("Trimming", f"to {queue.trim_bytes:,} bytes" if queue.trim_bytes else "off")):
        yield name + of, text


def network(scenario):
    """Rows about the network and its flows."""
    graph = scenario.graph
    kinds = sorted({(c.rate_bits_ps, c.delay_ns, c.mtu_bytes) for c in graph.cables})
    cables = "; ".join(f"{units.show_rate(rate)}, {units.show_time(delay)}, MTU {mtu}"
                       for rate, delay, mtu in kinds)
    sizes = sorted({flow.size_bytes for flow in scenario.flows})
    size = " to ".join(f"{end:,}" for end in dict.fromkeys((*sizes[:1], *sizes[-1:])))
    last_ns = max((flow.start_ns for flow in scenario.flows), default=0)
    cold = sum(flow.cold for flow in scenario.flows)
    how = f"{cold} with a handshake" if cold else "on open connections"
    return [
        ("Network", f"hosts {len(graph.hosts)}, switches {len(graph.switches)}, "
                    f"cables {len(graph.cables)}"),
        ("Cables", cables),
        *_switch_ports(scenario),
        ("Flows", f"{len(scenario.flows)} of {size} bytes, starting within "
                  f"{units.show_time(last_ns)}, {how}" if sizes else "none"),
        *[(f"Program {one.number} on {one.host}",
           f"{one.command}{' (in the background)' if one.background else ''}")
          for one in scenario.processes],
    ]


def algorithms(scenario):
    """[(label, preset and parameters in words)] of a scenario's runs."""
    rows = []
    for variant in scenario.variants:
        parts = [f"preset {variant.preset}"] if variant.preset else []
        if variant.of_paper:
            parts = [f"preset {variant.of_paper}, as none is named"]
        if variant.variant:
            parts.insert(0, f"variant {variant.variant}")
        if variant.qdisc:
            parts.append(f"ports {variant.qdisc.text}")
        if variant.tcp_ecn is not None:
            parts.append(f"tcp_ecn {variant.tcp_ecn}")
        if variant.nic_pace_bits_ps:
            parts.insert(0, f"NICs pace flows at {units.show_rate(variant.nic_pace_bits_ps)}")
        if variant.credit_bytes:
            parts.insert(0, f"by credits after {units.show_size(variant.credit_bytes)}")
        text = ", ".join(parts + [f"{key} {value}" for key, value in variant.texts.items()])
        name = f"{variant.name} of {variant.program.program.path}" if variant.program else (
            variant.name)
        rows.append((variant.label, f"{name}: {text or 'defaults'}"))
    return rows


def _parameters(scenario):
    """Every parameter of every algorithm, as it was in force."""
    for variant in scenario.variants:
        yield variant.label, [
            (name, parameter.kind.show(variant.values.get(name, parameter.default)))
            for name, parameter in variant.algorithm.parameters.items()]


def _caption(stem, has_paper, sampled=()):
    """What a figure shows; sampled: of _sampled()."""
    known = max((key for key in CAPTIONS if stem == key or stem.startswith(f"{key}-")), key=len)
    if known == "queue":
        return CAPTIONS[known].format(
            of_samples=sampled and f"; of {', '.join(sampled)} it is the largest sample" or "")
    return OF_SCENARIO if known == "plot" and not has_paper else CAPTIONS[known]


def write(path, scenario, summaries, rows, drawn, problems, failures, facts):
    """
    Write the page.  rows: comparisons with a paper; drawn: stem -> page.Drawn;
    problems and failures: label -> sentences; facts: dict with command, kernel,
    version and notes.
    """
    hot = charts.fullest_port(summaries)
    sampled = _sampled(scenario)
    picture = page.drawn(network_chart.make(scenario.graph, hot), "network", network_chart.make(
        scenario.graph, hot, True)) if facts["has_figures"] else None
    page.write(
        path, "report.html", title=scenario.title, scenario=scenario,
        lead="Real kernel TCP in virtual time: every packet was sent by the Linux stack and "
        "switched by a Linux router.",
        problems=[(label, text) for source in (failures, problems)
                  for label, texts in source.items() for text in texts],
        notes=facts["notes"], looks=page.looks(summaries), columns=paper.COLUMNS,
        rows=[(row, paper.cells(row)) for row in rows],
        joins=JOINS if scenario.convergence and summaries else "",
        tables=list(_tables(scenario, summaries)), slowdowns=list(_slowdowns(summaries)),
        more=show.table((*_queue_columns(hot), *MORE_COLUMNS), summaries),
        costs=show.costs(summaries),
        figures=[(one, _caption(stem, bool(scenario.paper), sampled))
                 for stem, one in drawn.items()],
        network=picture, sampled=sampled,
        facts=network(scenario) + [("Seed", scenario.seed)] + algorithms(scenario) + [
            ("Kernel", facts["kernel"]), ("Quell", facts["version"])],
        parameters=list(_parameters(scenario)), file=written.toml(scenario.config),
        command=facts["command"])
