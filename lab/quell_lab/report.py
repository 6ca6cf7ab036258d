# SPDX-License-Identifier: GPL-2.0
"""One self-contained HTML page of a run."""

import html

from . import convergence, drawing, network_svg, own_axes, page, panels, paper, pfc, plot_tables, \
    plots, show, slowdown, units, written

CAPTIONS = {
    "start-finish": "One mark per flow. A rising row of marks: who starts first finishes first. "
                    "A falling one: those that start last finish first. A flat one: a fair "
                    "network in which all finish together. Flows that finish far beyond the rest "
                    "are drawn on the upper edge and counted in the legend.",
    "fct-cdf": "Flow completion: from the start of the flow until its last byte is handed to the "
               "receiving socket. A line that ends below 1: the other flows did not finish.",
    "jain": "Jain's index of the bytes each active flow was handed in a window: 1 means equal "
            "shares, 1/n one flow has everything. Flows count in windows they span entirely. Axes "
            "of time end at the last completion within twice a run's median one.",
    "queue": "Backlog of the switch port with the longest queue of all runs, sampled. The maximum "
             "in the table is the port's own watermark, exact.",
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
                "many flows each, drawn at the largest size of each. With fewer than 1000 flows a "
                "bin its 99.9th percentile is its slowest flow. slowdown.csv has the numbers.",
    "cwnd": "Congestion window as the sender holds it; logarithmic above one packet. With more "
            "than 24 flows as for goodput.",
    "joins": "Rates that the senders' algorithms set, around some joins. Dotted: the line and an "
             "equal share of it.",
    "joins-cdf": "Share of joins after which the senders had equal shares of the line by then, and "
                 "kept them until the leave. A line that ends below 1: the other joins never got "
                 "there.",
}
OTHERS_SHOWN = 4		# in a row of the papers; more are folded
JOIN_TITLES = {
    "rates": "Joins: until the senders' rates are equal shares of the line",
    "shares": "Joins: until the senders' rates have converged, together no more than the line",
    "arrivals": "Joins: until what arrives in a round trip is equal shares of its sum",
    "halves": "Joins: until what arrives in a round trip is equal shares of the line",
    "reached": "Joins: until what arrives was that for the first time, whether it lasts or not",
    "leave": "Leaves: until the sender that stayed has the line",
}


def _caption(stem):
    if stem.startswith(plot_tables.STEM):
        return own_axes.CAPTION
    return CAPTIONS[plots.DART_STEM if stem.startswith(plots.DART_STEM) else stem]


def _micro(time_ns):
    return "–" if time_ns is None else f"{time_ns / 1000:,.1f}"


def _number(value):
    return "–" if value is None else f"{value:,}"


def _seconds(value):
    return "–" if value is None else f"{value:.2f}"


def _ratio(value):
    return "–" if value is None else f"{value:.3f}"


def _kilo(size_bytes):
    return f"{size_bytes / 1000:.1f}"


def _queue_cell(port, key):
    """Function that shows a number of a port's queue."""
    def show(summary):
        queue = summary["queues"].get(port)
        return _kilo(queue[key]) if queue else "–"

    return show


SLOWDOWN_COLUMNS = (("Flows", lambda s: _number(s["flows"])),) + tuple(
    (title, lambda s, key=key: "–" if s[key] is None else f"{s[key]:.2f}")
    for title, key in (("p50", "p50"), ("p95", "p95"), ("p99", "p99"), ("p99.9", "p999"),
                       ("max", "max")))
FCT_COLUMNS = (
    ("FCT p50 µs", lambda s: _micro(s["fct_ns"]["p50"])),
    ("p99 µs", lambda s: _micro(s["fct_ns"]["p99"])),
    ("max µs", lambda s: _micro(s["fct_ns"]["max"])),
    ("Jain mean", lambda s: _ratio(s["jain"]["mean"])),
    ("Goodput Gbit/s", lambda s: f"{s['goodput_bits_ps'] / 1e9:.2f}"
                                 if s["flows_finished"] else "–"),
)
LOSS_COLUMNS = (
    ("Drops", lambda s: _number(s["drops"])),
    ("CE marks", lambda s: _number(s["marks"])),
    ("Retransmitted", lambda s: _number(s["retransmitted_segs"])),
)
TRIM_COLUMNS = (
    ("Trims", lambda s: _number(s["trims"])),
    ("of them dropped", lambda s: _number(s["trims_dropped"])),
)
GOVERNED_COLUMNS = tuple(
    (title, lambda s, kind=kind: show.governed(s, kind, "–"))
    for title, kind in zip(("Governed by the algorithm", "by the search", "by CUBIC"),
                           show.GOVERNORS))
MORE_COLUMNS = (
    ("Finished", lambda s: f"{s['flows_finished']:,} of {s['flows']:,}"),
    ("FCT min µs", lambda s: _micro(s["fct_ns"]["min"])),
    ("Finish spread µs", lambda s: _micro(s["spread_ns"])),
    ("Start–finish rank", lambda s: _ratio(s["start_finish_rank_correlation"])),
    ("Fair after µs", lambda s: _micro(s["jain"]["fair_after_ns"])),
    ("Its longest queue at", lambda s: s["queue"]["port"] if s["queue"] else "–"),
    ("kB", lambda s: _kilo(s["queue"]["max_bytes"]) if s["queue"] else "–"),
    ("Packet-hops", lambda s: _number(s["packet_hops"])),
    ("Wall s", lambda s: f"{s['wall_s']:.2f}"),
    ("Set-up s", lambda s: _seconds(s["setup_wall_s"])),
    ("CPU s", lambda s: _seconds(s["cpu_s"])),
    ("of it flows", lambda s: _seconds(s["run_cpu_s"])),
    ("Packet-hops/CPU s", lambda s: _number(s["packet_hops_per_cpu_s"])),
    ("Memory MB", lambda s: _number(s["peak_memory_bytes"] and s["peak_memory_bytes"] >> 20)),
)


def _queue_columns(port):
    """Of one port, the same of every run."""
    if port is None:
        return ()
    return ((f"Queue at {port}: mean kB", _queue_cell(port, "mean_bytes")),
            ("p99 kB", _queue_cell(port, "p99_bytes")), ("max kB", _queue_cell(port, "max_bytes")))


def result_columns(summaries):
    """What the first table says of a run; trims where there are any, and what governed the flows
    where that is not always the algorithm."""
    has_trims = any(summary["trims"] for summary in summaries.values())
    is_fitted = any("governed" in summary for summary in summaries.values())
    return (FCT_COLUMNS + _queue_columns(panels.fullest_port(summaries)) + LOSS_COLUMNS[:1]
            + (TRIM_COLUMNS if has_trims else ()) + LOSS_COLUMNS[1:]
            + (GOVERNED_COLUMNS if is_fitted else ()))


def _gbit(bits_ps):
    return "–" if bits_ps is None else f"{bits_ps / 1e9:.3f}"


WINDOW_COLUMNS = (
    ("Payload Gbit/s", lambda s: _gbit(s["throughput_bits_ps"])),
    ("On the wire", lambda s: _gbit(s["wire_throughput_bits_ps"])),
    ("RTT mean µs", lambda s: _micro(s["rtt_ns"]["mean"])),
    ("p50 µs", lambda s: _micro(s["rtt_ns"]["p50"])),
    ("p99 µs", lambda s: _micro(s["rtt_ns"]["p99"])),
    ("Jain", lambda s: _ratio(s["jain"])),
    ("Slowest flow Gbit/s", lambda s: _gbit(s["flow_rate_bits_ps"]["min"])),
    ("Fastest", lambda s: _gbit(s["flow_rate_bits_ps"]["max"])),
) + (
    ("Queue at", lambda s: s["queue"]["port"] if s["queue"] else "–"),
    ("mean kB", lambda s: _kilo(s["queue"]["mean_bytes"]) if s["queue"] else "–"),
    ("p99 kB", lambda s: _kilo(s["queue"]["p99_bytes"]) if s["queue"] else "–"),
    ("max kB", lambda s: _kilo(s["queue"]["max_bytes"]) if s["queue"] else "–"),
)


REQUEST_COLUMNS = (
    ("Requests p50 µs", lambda s: _micro(s.get("request_ns", {}).get("p50"))),
    ("p99 µs", lambda s: _micro(s.get("request_ns", {}).get("p99"))),
    ("unanswered", lambda s: _ratio(s.get("request_ns", {}).get("unanswered_share"))),
)


def _windows(scenario, summaries, look):
    """One table for each measured window."""
    parts = []
    for window in scenario.windows:
        numbers = {label: summary["measured"][window.name]
                   for label, summary in summaries.items()}
        span = f"{units.show_time(window.begin_ns)} to {units.show_time(window.end_ns)}"
        columns = WINDOW_COLUMNS + (REQUEST_COLUMNS if any("request_ns" in one for one in
                                                           numbers.values()) else ())
        parts += [f"<h2>Measured: {html.escape(window.name)}, {span}, "
                  f"{len(window.flows)} flows</h2>", page.table(columns, numbers, look)]
    return parts


def _join_columns(kind):
    """Times of one kind in microseconds, and how many joins never got there."""
    def show(name):
        def text(joins):
            value = joins[kind][f"{name}_ns"]
            return "never" if value is None else f"{_micro(value)} ({joins[kind][f'{name}_rtts']})"
        return text

    return tuple((f"{name} µs (round trips)", show(name)) for name in convergence.PERCENTILES) + (
        ("never", lambda joins: f"{joins[kind]['never']} of {joins['joins']}"),
        ("slower / faster at the end", lambda joins: _ratio(joins["last_ratio_p50"])))


def _joins(scenario, summaries, look):
    """One table for each way to say that two senders have their shares."""
    if scenario.convergence is None:
        return []
    joins = {label: summary["convergence"] for label, summary in summaries.items()}
    parts = []
    for kind, title in JOIN_TITLES.items():
        parts += [f"<h2>{title}</h2>", page.table(_join_columns(kind), joins, look)]
    return parts


def paper_table(rows):
    """The papers' figures beside ours, as HTML; a row may link to a report."""
    names = (*paper.COLUMNS, "other runs", "note")
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    lines = []
    for row in rows:
        texts = [html.escape(text).replace("_", "_<wbr>") for text in paper.cells(row)]
        if "report" in row:
            texts[0] = f'<a href="{html.escape(row["report"])}">{texts[0]}</a>'
        others = html.escape(", ".join(f"{label} {text}"
                                       for label, text in row["others_text"].items()))
        if len(row["others_text"]) > OTHERS_SHOWN:
            others = (f"<details><summary>{len(row['others_text'])} runs</summary>{others}"
                      "</details>")
        cells = "".join(f"<td>{text}</td>" for text in texts)
        lines.append(f'<tr>{cells}<td class="prose">{others}</td>'
                     f'<td class="prose">{html.escape(row["note"])}</td></tr>')
    return (f'<div class="scroll"><table class="paper"><thead><tr>{head}</tr></thead>'
            f"<tbody>{''.join(lines)}</tbody></table></div>")


def _slowdowns(summaries, look):
    """One table for each class of size."""
    parts = []
    found = {label: summary["slowdown"] for label, summary in summaries.items()}
    if not any(found.values()):
        return []
    for index, first in enumerate(next(iter(found.values()))["classes"]):
        numbers = {label: one["classes"][index] for label, one in found.items()}
        if any(one["flows"] for one in numbers.values()):
            parts.append(f"<div><h2>Slowdown of flows {slowdown.class_name(first)}</h2>"
                         f"{page.table(SLOWDOWN_COLUMNS, numbers, look)}</div>")
    return [f'<div class="tables">{"".join(parts)}</div>']


def _deflection(values):
    if not values:
        return "off"
    above = (f"{values.threshold_bytes:,} bytes" if values.threshold_bytes
             else "what a detour takes")
    return (f"above {above}, {values.entries} entries, at most "
            f"{values.tokens} tokens from DSCP {values.base} on, idle after "
            f"{units.show_time(values.idle_ns)}")


def _network(scenario):
    graph = scenario.graph
    kinds = sorted({(c.rate_bits_ps, c.delay_ns, c.mtu_bytes) for c in graph.cables})
    cables = "; ".join(f"{units.show_rate(rate)}, {units.show_time(delay)}, MTU {mtu}"
                       for rate, delay, mtu in kinds)
    queue = scenario.queue
    ecn = "off"
    if queue.ecn_max_bytes:
        ecn = f"RED at {queue.ecn_mode}, {queue.ecn_min_bytes:,} to {queue.ecn_max_bytes:,} bytes"
        if queue.ecn_min_bytes == queue.ecn_max_bytes:
            ecn = f"every packet at {queue.ecn_mode} above {queue.ecn_min_bytes:,} bytes"
    sizes = sorted({flow.size_bytes for flow in scenario.flows})
    size = " to ".join(f"{end:,}" for end in dict.fromkeys((*sizes[:1], *sizes[-1:])))
    last_ns = max((flow.start_ns for flow in scenario.flows), default=0)
    cold = sum(flow.cold for flow in scenario.flows)
    how = f"{cold} with a handshake" if cold else "on open connections"
    return [
        ("Network", f"hosts {len(graph.hosts)}, switches {len(graph.switches)}, "
                    f"cables {len(graph.cables)}"),
        ("Cables", cables),
        ("Switch ports", f"swport, {queue.limit_bytes:,} bytes of data, "
                         f"{queue.control_limit_bytes:,} of control packets"
                         + (f"; bfifo at {', '.join(queue.fifo)}" if queue.fifo else "")),
        ("ECN", ecn),
        ("Telemetry", f"stamped at dequeue, base round-trip time "
                      f"{units.show_time(queue.telemetry_ns)}" if queue.telemetry_ns else "off"),
        ("Shared buffer", f"{queue.buffer_bytes:,} bytes per switch, alpha "
                          f"{units.show_q16(queue.alpha_q16)}" if queue.buffer_bytes else "off"),
        *([("Priority flow control", pfc.described(scenario.pfc))] if scenario.pfc else []),
        ("Deflection", _deflection(queue.deflection)),
        ("Trimming", f"to {queue.trim_bytes:,} bytes" if queue.trim_bytes else "off"),
        ("Flows", f"{len(scenario.flows)} of {size} bytes, starting within "
                  f"{units.show_time(last_ns)}, {how}" if sizes else "none"),
        *[(f"Program {one.number} on {one.host}",
           f"{one.command}{' (in the background)' if one.background else ''}")
          for one in scenario.processes],
        ("Seed", scenario.seed),
    ]


def _algorithms(scenario):
    rows = []
    for variant in scenario.variants:
        parts = [f"preset {variant.preset}"] if variant.preset else []
        if variant.of_paper:
            parts = [f"preset {variant.of_paper}, as none is named"]
        if variant.variant:
            parts.insert(0, f"variant {variant.variant}")
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
    parts = []
    for variant in scenario.variants:
        pairs = [(name, parameter.kind.show(variant.values.get(name, parameter.default)))
                 for name, parameter in variant.algorithm.parameters.items()]
        text = page.facts(pairs) if pairs else "<p>The kernel's own: none.</p>"
        parts.append(f"<div><h3>{html.escape(variant.label)}</h3>{text}</div>")
    return page.details("Parameters in force", f'<div class="tables">{"".join(parts)}</div>')


def _verdicts(scenario, problems, failures):
    complete = "Every flow finished; bytes delivered equal bytes sent equal bytes asked for."
    if scenario.allow_unfinished:
        complete = ("Flows may outlast the run: of those that did, bytes delivered are at most "
                    "bytes sent, in order and as sent; of the others they are equal.")
    if not problems and not failures:
        return ('<p><span class="verdict good">All sanity checks hold</span></p>'
                + page.details("What was checked", "<ul>"
                               "<li>No flow completed before its physical limit.</li>"
                               "<li>No queue exceeded its limit by more than one packet.</li>"
                               f"<li>{complete}</li>"
                               "<li>The kernel logs are free of warnings.</li></ul>"))
    items = "".join(f"<li><b>{html.escape(label)}</b>: {html.escape(text)}</li>"
                    for source in (failures, problems)
                    for label, texts in source.items() for text in texts)
    return (f'<p><span class="verdict bad">This run must not be trusted</span></p>'
            f"<ul>{items}</ul>")


def _figures(drawn, look):
    """The figures, those with panels over the whole width."""
    parts = []
    for stem, one in drawn.items():
        caption = _caption(stem)
        if one.panels:
            parts.append(page.panels(one.title, [
                (look.series(label), drawing.inline(svg, f"{stem}-{number}"))
                for number, (label, svg) in enumerate(one.panels.items())], caption))
        else:
            parts.append(page.figure(drawing.inline(one.svg, stem), caption,
                                     stem.startswith((plots.DART_STEM, "slowdown", "joins"))))
    return f'<div class="figures">{"".join(parts)}</div>'


def _configuration(scenario, summaries, facts):
    hot = panels.fullest_port(summaries) if summaries else None
    said = "Switches above hosts, by tier."
    if hot is not None:
        said += f" The thick line is the link of port {hot}, which had the longest queue."
    versions = [("Kernel", facts["kernel"]), ("Quell", facts["version"])]
    return [
        "<h2>Network and configuration</h2>",
        page.figure(network_svg.draw(scenario.graph, hot), said),
        page.facts(_network(scenario) + _algorithms(scenario) + versions),
        _parameters(scenario),
        page.details("The scenario, as a file",
                     f"<pre>{html.escape(written.toml(scenario.config))}</pre>"),
        "<h2>Reproduce</h2>",
        f"<pre>{html.escape(facts['command'])}</pre>",
        "<p>The same seed gives the same flows.csv, queues.csv, cwnd.csv and delivered.csv, byte "
        "for byte; only the wall-clock figures differ.</p>",
    ]


def write(path, scenario, summaries, rows, drawn, problems, failures, facts):
    """
    Write the page.  rows: comparisons with a paper; drawn: stem -> output.Drawn;
    problems and failures: label -> sentences; facts: dict with command, kernel
    and version.
    """
    look = drawing.Look(list(summaries))
    parts = [_verdicts(scenario, problems, failures)]
    if summaries:
        parts.append(page.legend(look, summaries))
    if rows:
        parts += ["<h2>The paper's figures and ours</h2>", paper_table(rows)]
    if summaries:
        parts += _joins(scenario, summaries, look) + _windows(scenario, summaries, look)
        parts += ["<h2>The whole run</h2>",
                  page.table(result_columns(summaries), summaries, look),
                  page.details("More numbers, and what the runs cost",
                               page.table(MORE_COLUMNS, summaries, look))]
        parts += _slowdowns(summaries, look)
    parts += [_figures(drawn, look), *_configuration(scenario, summaries, facts)]
    lead = ("Real kernel TCP in virtual time: every packet was sent by the Linux stack and "
            "switched by a Linux router.")
    with open(path, "w", encoding="utf-8") as file:
        file.write(page.page(html.escape(scenario.title), lead, parts))
