"""The single statements of a note, each with the line on which it begins."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from ricordo.health.conflicts.plain import LONGEST
from ricordo.health.conflicts.words import pattern
from ricordo.health.prose import Statement, statements
from ricordo.health.vocabulary import lowered
from ricordo.memory.note import Note

MOST = 80
"""Statements of one note that are compared; what goes on longer is a log."""
_LONGEST_LABEL = 40
_SHORTEST = 6
"""Characters."""
_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=\S)|(?<=[。！？])|\n(?=\s*(?:[-*+#|]|\d+[.)])\s)")
_STOPS = (". ", "! ", "? ", '."', ".)", ".*", ".]")
"""One of these is in every text of one line that holds several sentences."""
_ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|z\.b|d\.h|etc|vs|no|nr|approx|ca|bzw|dr|mr|st)|\b\w)\.\Z", re.I
)
_LIST_MARK = re.compile(r"\s*(?:[-*+]\s+|\d+[.)]\s+)+")
_LABEL = re.compile(r"\*\*[^*\n]{1,40}?:?\*\*:?\s*(?=\S)")
_NOTHING_SAID = re.compile(r"\s*(?:#{1,6}\s|\||[-*+]\s+\[[ xX]\]\s|<!--)")
"""Headings, rows of tables, tasks with a box, comments."""
_QUOTED = re.compile(r"[\"“„«「].{12,}[\"”“»」]")


class Said(NamedTuple):
    """A statement and where it stands."""

    line: int
    """1-based line of the file on which it begins."""
    text: str
    in_head: bool = False
    """Whether it is of the description, which mostly says what the body says too."""


def sayings(note: Note) -> tuple[Said, ...]:
    """Return what `note` states, sentence by sentence, its description first."""
    found: list[Said] = []
    body = note.line_of(note.head.end) if note.head.end else 0
    for statement in statements(note):
        if not _NOTHING_SAID.match(statement.text) and not _gives_reason(statement):
            found.extend(_sentences(statement, statement.line < body))
        if len(found) >= MOST:
            break
    return tuple(found[:MOST])


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text that is no note, up to `MOST`: what a person said."""
    for said in islice(_sentences(Statement(1, text), False), MOST):
        yield said.text


def _gives_reason(statement: Statement) -> bool:
    """Whether it only says why, as `**Why:**` does."""
    begin = statement.text[:_LONGEST_LABEL]
    if ":" not in begin:
        return False
    begin = lowered(begin.lstrip(" *-"))
    label, colon, _ = begin.partition(":")
    return bool(colon) and bool(pattern("why").match(label))


def _sentences(statement: Statement, in_head: bool) -> Iterator[Said]:
    text = statement.text
    start = 0
    for end in [*_ends(text), len(text)]:
        said = text[start:end]
        begin = start + len(said) - len(said.lstrip())
        if not start or "\n" in text[start - 1 : begin]:
            begin = _behind_marks(text, begin, end)
        start = end
        if _SHORTEST <= end - begin <= LONGEST:
            plain = " ".join(text[begin:end].split())
            may_quote = '"' in plain or not plain.isascii()
            if not (may_quote and _QUOTED.search(plain)):
                yield Said(statement.line_at(begin), plain, in_head)


def _behind_marks(text: str, begin: int, end: int) -> int:
    """Where a statement begins behind the mark of its list and its label."""
    for mark in (_LIST_MARK, _LABEL):
        if found := mark.match(text, begin, end):
            begin = found.end()
    return begin


def _ends(text: str) -> Iterator[int]:
    text = text.rstrip()
    if text.isascii() and "\n" not in text and not any(map(text.count, _STOPS)):
        return
    for match in _END.finditer(text):
        if not _ABBREVIATED.search(text, max(0, match.start() - 8), match.start()):
            yield match.end()
