"""Where in a note something is claimed, and whether the words around it make it no claim."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from ricordo.health.prose import Statement, statements
from ricordo.health.vocabulary import compiled, lowered
from ricordo.memory.note import Note

_CODE = re.compile(r"(?<!`)(`+)(?!`)([^`\n]{1,300}?)(?<!`)\1(?!`)")
_STRUCK = re.compile(r"~~[^~\n]*~~")
_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_DIARY = re.compile(r"\s*(?:[-*+|#]\s*)*(?:\[[ xX]\]\s*)?[*_~(\[]*\d{4}-\d\d(?:-\d\d)?\b")
"""A statement that begins with its day tells how things were on it."""
_TASK = re.compile(r"\s*[-*+]\s+\[[ xX~-]\]")
_SENTENCE_END = re.compile(r"[.!?](?=[\s*_)]|$)|;(?=\s)|[。！？；]|\n(?=\s*[-*+|#])")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|z\.B|z\. B|p\.ex|vs|etc|cf|ca|Dr|Mr|Mrs|No)$", re.I)


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence of a note."""

    statement: Statement
    start: int
    """Of the sentence, in the text of the statement."""
    end: int
    is_apart: bool
    """Whether it stands in a part of the note that tells of no present state."""
    is_summary: bool
    """Whether it is the description of the note, not its body."""

    @property
    def text(self) -> str:
        """The sentence as it stands."""
        return self.statement.text[self.start : self.end]

    @property
    def spoken(self) -> str:
        """The sentence without code and quotations, offsets kept."""
        return self.statement.spoken[self.start : self.end]

    def is_doubtful(self, name: str = "") -> bool:
        """Say whether what it names need not be there: it is told as past, as planned, as a
        condition, as not being so, or as an example. The words of `name` itself say nothing.
        """
        spoken = self.spoken.replace(name, "") if name else self.spoken
        return self.is_apart or bool(_doubt().search(lowered(spoken)))

    def line_at(self, offset: int) -> int:
        """Return the line of the note on which the character at `offset` of the sentence stands."""
        return self.statement.line_at(self.start + offset)

    def code(self) -> Iterator[tuple[int, str]]:
        """Yield what stands in backticks, each with the offset at which it begins; what is struck
        out is left out.
        """
        struck = [match.span() for match in _STRUCK.finditer(self.text)]
        for match in _CODE.finditer(self.text):
            if not any(start <= match.start() < end for start, end in struck):
                yield match.start(2), match[2].strip()


def passages(note: Note) -> Iterator[Passage]:
    """Yield the sentences of a note, in their order, its description first."""
    away = _is_apart(f"{note.name} {note.stem}")
    headings: list[tuple[int, bool]] = []
    first_of_body = note.text.count("\n", 0, note.head.end) + 1
    for statement in statements(note):
        heading = _HEADING.match(statement.text)
        if heading:
            depth = len(heading[1])
            headings = [kept for kept in headings if kept[0] < depth]
            headings.append((depth, _is_apart(_CODE.sub("", heading[2]))))
        is_apart = (
            away
            or any(apart for _, apart in headings)
            or _DIARY.match(statement.text) is not None
            or _TASK.match(statement.text) is not None
        )
        is_summary = statement.line < first_of_body
        for start, end in _sentences(statement.text):
            yield Passage(statement, start, end, is_apart, is_summary)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    code = [match.span() for match in _CODE.finditer(text)]
    start = 0
    for match in _SENTENCE_END.finditer(text):
        if any(begin <= match.start() < end for begin, end in code):
            continue
        if match[0] == "." and _ABBREVIATION.search(text, start, match.start()):
            continue
        yield start, match.end()
        start = match.end()
    if text[start:].strip():
        yield start, len(text)


def _is_apart(title: str) -> bool:
    plain = lowered(re.sub(r"[_\-/]", " ", title))
    return bool(_apart().search(plain))


@cache
def _doubt() -> re.Pattern[str]:
    return compiled("probes", "doubt")


@cache
def _apart() -> re.Pattern[str]:
    return compiled("probes", "apart")
