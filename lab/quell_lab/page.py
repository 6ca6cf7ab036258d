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
    is_wide: bool = False	# it takes the width of the page
    narrow: object = None	# the same for phones, or None


def drawn(text, prefix, is_wide=False):
    """A figure of the text of an SVG file; prefix: of its ids, which differ within a page."""
    return Drawn(markupsafe.Markup(chart.inline(text, prefix)), is_wide)


def write_figure(directory, stem, one, labels, title, has_narrow=True):
    """Write the file of a Chart, and beside it one for phones; of_file() of them."""
    shapes = {stem: one, **({stem + NARROW: chart.stacked(one)} if has_narrow else {})}
    for name, shape in shapes.items():
        with open(os.path.join(directory, f"{name}.svg"), "w", encoding="utf-8") as file:
            file.write(chart.svg(shape, labels, title))
    return of_file(directory, stem)


def of_file(directory, stem, prefix=""):
    """The figure of a file, and the one beside it for phones, as a wide one has; prefix: of ids, as
    for drawn()."""
    shapes = {}
    for name in (stem, stem + NARROW):
        path = os.path.join(directory, f"{name}.svg")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                shapes[name] = markupsafe.Markup(chart.inline(file.read(), prefix + name))
    narrow = shapes.get(stem + NARROW)
    return Drawn(shapes[stem], bool(narrow), narrow) if stem in shapes else None


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
