"""The parts of a file that a change names: functions, classes, headings, by a table of expressions
(`parts.toml`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Any

from ricordo.resources import data_text

_LONGEST_LINE = 200
"""Characters; a longer line names nothing."""


def parts_of(path: str, written: str) -> list[str]:
    """Return the names of the parts that the lines `written` into the file at `path` begin, in
    their order, each once.
    """
    pattern = next((it for end, it in _patterns().items() if path.endswith(end)), None)
    if pattern is None:
        return []
    lines = (line.rstrip() for line in written.split("\n") if len(line) <= _LONGEST_LINE)
    found = (match for line in lines if (match := pattern.match(line)))
    return list(dict.fromkeys(next(filter(None, match.groups())) for match in found))


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    """The expressions, by the ends of names."""
    table: Mapping[str, Any] = tomllib.loads(data_text("handoff/gathering/parts.toml"))
    return {end: re.compile(table[kind]) for kind, ends in table["ends"].items() for end in ends}
