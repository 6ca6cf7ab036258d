# SPDX-License-Identifier: GPL-2.0
"""Parts of a self-contained HTML page: the page around them, tables, figures, a legend."""

import html
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
# Points: a figure of this width has panels beside each other.
BROAD = 600
DEFINITIONS = "Definitions of every figure: Documentation/lab-results.md."


def _asset(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


def page(title, lead, parts):
    """A whole page around some parts; title and lead are HTML."""
    return "\n".join([
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title} – Quell laboratory</title><style>\n{_asset('page.css')}</style></head>",
        f'<body><h1>{title}</h1>\n<p class="lead">{lead}</p>', *parts,
        f"<footer>{DEFINITIONS}</footer>",
        f"<script>\n{_asset('page.js')}</script></body></html>\n"])


def chip(look, label):
    """The square in an algorithm's colour."""
    return f'<span class="chip" style="background:{look.colour(label)}"></span>'


def legend(look, labels):
    """Names and colours of the algorithms, each with a box that hides it everywhere."""
    boxes = "".join(
        f'<label><input type="checkbox" value="{look.series(label)}" checked> '
        f"{chip(look, label)}{html.escape(label)}</label>" for label in labels)
    return (f'<div class="legend">{boxes}<span class="hint">untick to hide</span></div>'
            "<noscript><style>.legend input, .hint { display: none; }</style></noscript>")


def table(columns, summaries, look):
    """A row for each algorithm; columns: (name, function that shows a summary)."""
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name, _ in columns)
    rows = []
    for label, summary in summaries.items():
        cells = "".join(f"<td>{html.escape(str(show(summary)))}</td>" for _, show in columns)
        rows.append(f'<tr class="{look.series(label)}"><td>{chip(look, label)}'
                    f"{html.escape(label)}</td>{cells}</tr>")
    return ('<div class="scroll"><table><thead><tr><th scope="col">Algorithm</th>'
            f"{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>")


def facts(pairs):
    """Names and what they are."""
    rows = "".join(f"<tr><td>{html.escape(name)}</td><td>{html.escape(str(value))}</td></tr>"
                   for name, value in pairs)
    return f'<table class="facts"><tbody>{rows}</tbody></table>'


def details(title, *parts):
    """Parts that a reader unfolds."""
    return f"<details><summary>{html.escape(title)}</summary>{''.join(parts)}</details>"


def figure(svg, caption, wide=False):
    """One figure under which its caption stands."""
    drawn = re.search(r'viewBox="\S+ \S+ (\S+)', svg)
    names = ["wide"] * wide + ["broad"] * bool(drawn and float(drawn.group(1)) > BROAD)
    kind = f' class="{" ".join(names)}"' if names else ""
    return f"<figure{kind}>{svg}<figcaption>{html.escape(caption)}</figcaption></figure>"


def panels(title, svgs, caption):
    """Figures of several algorithms beside each other; svgs: [(series, SVG text)]."""
    boxes = "".join(f'<div class="{series}">{svg}</div>' for series, svg in svgs)
    return (f'<figure class="wide"><h3>{html.escape(title)}</h3><div class="panels">{boxes}</div>'
            f"<figcaption>{html.escape(caption)}</figcaption></figure>")
