# SPDX-License-Identifier: GPL-2.0
"""Pages by the templates in templates/: each self-contained, with its figures as SVG."""

import functools
import os
from dataclasses import dataclass

import jinja2
import markupsafe

from . import chart

TEMPLATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates")
NARROW = "-narrow"	# ends the stem of a figure's file for phones


@dataclass(frozen=True)
class Drawn:
    """A figure for a page."""

    svg: markupsafe.Markup
    narrow: markupsafe.Markup	# the same for phones
    is_wide: bool		# it takes the width of the page


def drawn(one, prefix, narrow=None):
    """A figure of a Chart; prefix: of its ids, which differ within a page; narrow: that for phones,
    of other contents."""
    shapes = {prefix: one, prefix + NARROW: narrow or chart.stacked(one)}
    return Drawn(*(markupsafe.Markup(chart.inline(chart.svg(shape), name))
                   for name, shape in shapes.items()), one.is_wide)


def write_figure(directory, stem, one, labels, title):
    """Write the file of a Chart, and beside it one for phones; of_file() of them."""
    for name, shape in ((stem, one), (stem + NARROW, chart.stacked(one))):
        with open(os.path.join(directory, f"{name}.svg"), "w", encoding="utf-8") as file:
            file.write(chart.svg(shape, labels, title))
    return of_file(directory, stem)


def of_file(directory, stem, prefix=""):
    """The figure of a file, and the one beside it for phones, or None; prefix: of ids, as for
    drawn()."""
    shapes = []
    for name in (stem, stem + NARROW):
        path = os.path.join(directory, f"{name}.svg")
        if not os.path.exists(path):
            return None
        with open(path, encoding="utf-8") as file:
            shapes.append(markupsafe.Markup(chart.inline(file.read(), prefix + name)))
    return Drawn(*shapes, chart.width_pt(shapes[0]) > chart.WIDE_PT)


def looks(labels):
    """{label: (colour, class)} of the algorithms of a page."""
    return {label: (chart.style(number)["color"], chart.series(number))
            for label, number in chart.numbers(labels).items()}


@functools.cache
def environment():
    """The templates; a value that a page lacks is an error."""
    found = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True,
                               trim_blocks=True, lstrip_blocks=True,
                               undefined=jinja2.StrictUndefined)
    found.filters["breakable"] = lambda text: markupsafe.escape(text).replace(
        "_", markupsafe.Markup("_<wbr>"))
    return found


def render(template, **values):
    """Text of a page."""
    return environment().get_template(template).render(values)


def write(path, template, **values):
    """Write a page."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(render(template, **values))
