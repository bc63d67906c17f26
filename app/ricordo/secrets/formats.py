"""Credentials that are recognised by their format alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import ascii_letters, digits

from ricordo.secrets.rules import BETWEEN_RULES, EARLY, SHORTEST, entropy, rules
from ricordo.secrets.secret import Secret

_LINE = 120
"""Characters."""
_BEGIN = re.compile(EARLY)
_OF_FORMAT = bytes(
    ord("x" if i > 127 or chr(i) in f"{ascii_letters}{digits}_.:/$%=|~+-?" else " ")
    for i in range(256)
)
"""For Latin 1, in which `?` is also every character that it has not."""


def of_format(text: str, runs: list[tuple[int, int]]) -> Iterator[Secret]:
    """Yield the credentials of `text` that a format tells; `runs` are its long words."""
    known = rules()
    for match in _formats(text, runs):
        index = (match.lastgroup or "")[1:]
        rule = known.tokens[int(index)]
        start, end = match.span(f"{'v' if 'group' in rule else 't'}{index}")
        value = text[start:end]
        if not known.guards["filler"].search(value) and entropy(value) >= rule.get("entropy", 1.5):
            yield Secret(rule["kind"], start, end)


def cut_off(text: str) -> Iterator[Secret]:
    """Yield private keys of which only the last lines are there."""
    pieces = rules().pieces
    for end in pieces["key_end"].finditer(text):
        first = last = _line_start(text, end.start())
        while first > 0:
            line = _line_start(text, first - 1)
            if not pieces["key_line"].fullmatch(text, line, first - 1):
                break
            first = line
        if first < last:
            yield Secret("private-key", first, end.end())


def _line_start(text: str, at: int) -> int:
    """Return where the line of `at` starts; a line of a key is never longer than is looked at."""
    return text.rfind("\n", max(0, at - _LINE), at) + 1


def _formats(text: str, runs: list[tuple[int, int]]) -> Iterator[re.Match[str]]:
    """The places of `text` that are written in any format, none overlapping another."""
    token = rules().token
    if BETWEEN_RULES in text:
        yield from token.finditer(text)
        return
    at = 0
    for run in runs:
        for begin in _BEGIN.finditer(text, *run):
            if begin.start() >= at and (match := token.match(text, begin.start())):
                at = match.end()
                yield match


def long_runs(text: str) -> list[tuple[int, int]]:
    """Return where the words stand that are long enough for a format; most are not."""
    # every character as one byte, so that places stay
    marked = text.encode("latin-1", "replace").translate(_OF_FORMAT)
    runs: list[tuple[int, int]] = []
    end = 0
    while (start := marked.find(b"x" * SHORTEST, end)) >= 0:
        end = marked.find(b" ", start)
        end = end if end >= 0 else len(marked)
        runs.append((start, end))
    return runs
