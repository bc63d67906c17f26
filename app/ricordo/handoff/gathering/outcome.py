"""What the output of a command says of how it went, by a table of expressions (`outcomes.toml`)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from ricordo.activity.calls import LEFT_OUT
from ricordo.resources import data_text

_LONGEST_LINE = 300
"""Characters; longer lines tell no result."""
_MOST_LINES = 1_000
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b.")
_LABEL = re.compile(r"^\[[\w:./-]{1,40}\] ")
"""Names the task of which the line tells, where several run side by side."""
_FRAME = re.compile(r"^[=\-*#─━ ]{2,}|[=\-*#─━ ]{2,}$")


class Outcome(NamedTuple):
    """How a test or a check went."""

    line: str
    """"" where no line tells."""
    has_passed: bool | None
    """None where no line tells."""


def outcome(output: str) -> Outcome:
    """Return the line of `output` that says how a test or a check went: the last one that tells of
    a failure, else the last one that tells of success.
    """
    lines = list(_lines(output))
    if line := _last(lines, "failed"):
        return Outcome(line, False)
    if line := _last(lines, "passed"):
        return Outcome(line, True)
    return Outcome("", None)


def told(output: str) -> str:
    """Return the last line that says what came of a command that tests and checks nothing; ""
    without one.
    """
    return _last(list(_lines(output)), "told")


def success(output: str) -> str:
    """Return the last line that tells of success; "" without one."""
    return _last(list(_lines(output)), "passed")


def error_line(output: str) -> str:
    """Return the line of `output` that tells the error best: the first that fits the surest
    expression, else the last line; "" where it is empty.
    """
    lines = list(_lines(output))
    for expression in _patterns("errors"):
        for line in lines:
            if expression.search(_LABEL.sub("", line)):
                return line
    return lines[-1] if lines else ""


def plain(output: str) -> str:
    """Return `output` without what steers a terminal."""
    return _ESCAPES.sub("", output).replace("\r", "\n")


def _lines(output: str) -> Iterator[str]:
    for line in plain(output).split("\n")[-_MOST_LINES:]:
        bare = _FRAME.sub("", line).strip()
        if bare and bare != LEFT_OUT and len(bare) <= _LONGEST_LINE:
            yield bare


def _last(lines: Sequence[str], part: str) -> str:
    """The last line that fits an expression; one that fits nowhere in all of them is looked for in
    none, for there are many lines.
    """
    whole = "\n".join(lines)
    fitting = [it for it in _patterns(part) if it.search(whole)]
    return next((line for line in reversed(lines) if any(it.search(line) for it in fitting)), "")


@cache
def _patterns(part: str) -> tuple[re.Pattern[str], ...]:
    table = tomllib.loads(data_text("handoff/gathering/outcomes.toml"))
    return tuple(re.compile(text, re.MULTILINE) for text in table[part])
