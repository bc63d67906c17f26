"""The text of a handoff as a value again, or why it is none.

A document is ours when its head says so. When its digest fits it is what we wrote, letter by
letter; else somebody edited it, and it is read as far as it goes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from ricordo.handoff.document import Handoff, Target
from ricordo.handoff.head import is_ours, is_whole, read_fields
from ricordo.handoff.marks import read_mark
from ricordo.handoff.render import BEGIN, END, TITLE
from ricordo.handoff.sections import Family, family
from ricordo.handoff.statement import Section, Statement
from ricordo.handoff.written import read_line, read_quotation
from ricordo.memory.frontmatter import read as read_head

MOST_BYTES = 512 * 1024
"""A longer file is no handoff of ours: no budget has room for it."""


class State(Enum):
    """What became of a document since we wrote it."""

    WHOLE = "whole"
    EDITED = "edited"
    """Something in it is other than we wrote it."""
    TORN = "torn"
    """Its end is missing."""
    FOREIGN = "foreign"
    """Nothing shows that we wrote it, or its head cannot be read."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a document says."""

    state: State
    handoff: Handoff | None
    """None only where it is foreign."""
    why: str = ""
    """Why it is not whole, as a sentence; "" where it is."""


def parse(raw: bytes) -> Parsed:
    """Return what the document `raw` says. Never raises."""
    if len(raw) > MOST_BYTES:
        return _foreign("It is too large to be a handoff.")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return _foreign("It is no text in UTF-8.")
    head = read_head(text.replace("\r\n", "\n"))
    if head.fault or not is_ours(head.fields):
        return _foreign("Its head does not say that Ricordo wrote it.")
    try:
        values, left_out = read_fields(head.fields)
    except ValueError as error:
        return _foreign(f"“{error}” in its head says what it cannot say.")
    lines = text.replace("\r\n", "\n")[head.end :].split("\n")
    statements, strange = _Body(family(values.target)).read(lines)
    handoff = Handoff(values, statements, left_out)
    if is_whole(text) and not strange:
        return Parsed(State.WHOLE, handoff)
    if END not in lines:
        return Parsed(State.TORN, handoff, "Its end is missing: it was not written whole.")
    return Parsed(State.EDITED, handoff, _edited(text, strange))


def read_statement(written: str, section: Section) -> Statement | None:
    """Return the one statement of a `section` that stands in the lines `written`; None where
    anything else does.
    """
    body = _Body(family(Target.ANY), section)
    statements, strange = body.read(written.split("\n"))
    return statements[0] if len(statements) == 1 and not strange else None


def _foreign(why: str) -> Parsed:
    return Parsed(State.FOREIGN, None, why)


def _edited(text: str, strange: int) -> str:
    if "\r\n" in text:
        return "Its line ends were changed since it was written."
    lines = "1 line in it is" if strange == 1 else f"{strange} lines in it are"
    told = f"; {lines} none of ours" if strange else ""
    return f"It was edited since it was written{told}."


class _Body:
    """Reads what stands behind the head, line by line."""

    def __init__(self, look: Family, section: Section | None = None) -> None:
        self._look = look
        self._parent = ""
        self._section = section
        self._statements: list[Statement] = []

    def read(self, lines: list[str]) -> tuple[tuple[Statement, ...], int]:
        """Return the statements in `lines`, and how many lines are none of ours."""
        start, end = _markers(lines)
        strange = sum(map(bool, (*lines[: max(0, start - 1)], *lines[end + 1 :])))
        at = start
        while at < end:
            behind = self._statement(lines, at) or self._heading(lines, at)
            if not behind:
                strange += self._is_strange(lines[at])
            at = behind or at + 1
        return tuple(self._statements), strange

    def _heading(self, lines: list[str], at: int) -> int:
        """Take in the heading at `at`; return the line behind it, 0 where none of ours is there."""
        level, _, name = lines[at].partition(" ")
        if level not in ("##", "###"):
            return 0
        if level == "##":
            self._parent = name
        heading = (name,) if level == "##" else (self._parent, name)
        self._section = self._look.section(heading)
        is_parent = level == "##" and any(
            own[:-1] == heading for own in self._look.headings.values()
        )
        return at + 1 if self._section or is_parent else 0

    def _statement(self, lines: list[str], at: int) -> int:
        """Take in the statement at `at`, as `_heading` does."""
        if not lines[at].startswith(_BULLET) or self._section is None:
            return 0
        whole = lines[at].removeprefix(_BULLET)
        before, opening, rest = f" {whole}".rpartition(" [")
        try:
            proof = read_mark(f"[{rest}") if opening else None
            text = before[1:] if opening else whole
        except ValueError:
            proof, text = None, whole
        quoted = read_quotation(lines, at + 1)
        quote, behind = quoted or ("", at + 1)
        self._statements.append(Statement(self._section, read_line(text), proof, quote=quote))
        return behind

    def _is_strange(self, text: str) -> bool:
        """Whether a line is none that we write: before the first heading stands our foreword."""
        is_foreword = self._section is None and not self._parent and text[:1] not in "#-<>"
        return bool(text) and text != TITLE and not is_foreword and not _LEFT_OUT.fullmatch(text)


_BULLET = "- "
_LEFT_OUT = re.compile(
    r"\d+ more statements? (?:was|were) left out: no room in the budget, or a credential in them\."
)


def _markers(lines: list[str]) -> tuple[int, int]:
    """Return the first line behind our first marker, and the line of the last."""
    start = lines.index(BEGIN) + 1 if BEGIN in lines else 0
    end = lines.index(END, start) if END in lines[start:] else len(lines)
    return start, end
