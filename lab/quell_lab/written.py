# SPDX-License-Identifier: GPL-2.0
"""A scenario as a file that the lab runs: TOML of what it was built from."""

import json
import re

from . import paper

ROWS = "paper"


def _key(name):
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def _is_tables(value):
    return isinstance(value, list) and value and all(isinstance(one, dict) for one in value)


def _value(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_key(key)} = {_value(one)}' for key, one in value.items())}}}"
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def _table(path, table):
    """Lines of a table: its values, then the tables in it."""
    lines = [f"{_key(key)} = {_value(value)}" for key, value in table.items()
             if not isinstance(value, dict) and not _is_tables(value) and value is not None]
    rows = table[ROWS] if _is_tables(table.get(ROWS)) else []
    if rows:
        lines += [f"{ROWS} = [", *(f"\t{_value(paper.written_row(one))}," for one in rows), "]"]
    for key, value in table.items():
        name = f"{path}{_key(key)}"
        if isinstance(value, dict):
            lines += ["", f"[{name}]", *_table(f"{name}.", value)]
        elif _is_tables(value) and value is not rows:
            for one in value:
                lines += ["", f"[[{name}]]", *_table(f"{name}.", one)]
    return lines


def toml(table):
    """Text of a scenario's dictionary."""
    return "\n".join(_table("", table)) + "\n"
