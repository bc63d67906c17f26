"""A claim: one thing that a note says of its project and that can be looked up there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from ricordo.lexicon import compiled, lowered, read_words
from ricordo.lint.evidence import CheckOutcome, ClaimKind, Verdict
from ricordo.lint.prose import ProseBlock, statements
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

    statement: ProseBlock
    start: int
    """Where it begins in the text of the statement."""
    text: str
    """As it stands."""
    spoken: str
    """Without code and quotations, offsets kept."""
    code: tuple[tuple[int, str], ...]
    """What stands in backticks and is not struck out, each with the offset at which it begins."""
    is_apart: bool
    """Whether it stands in a part of the note that tells of no present state."""
    is_summary: bool
    """Whether it is the description of the note, not its body."""

    def is_doubtful(self, name: str = "", *, was_there: bool = False) -> bool:
        """Say whether what it names need not be there: it is told as past, as planned, as a
        condition, as not being so, or as an example. The words of `name` itself say nothing; of
        what `was_there` once, only that it is told as past or planned counts.
        """
        spoken = self.spoken.replace(name, "") if name else self.spoken
        return self.is_apart or _says("gone", spoken) or (not was_there and _says("doubt", spoken))

    def line_at(self, offset: int) -> int:
        """Return the line of the note on which the character at `offset` of the sentence stands."""
        return self.statement.line_at(self.start + offset)


def passages(note: Note) -> Iterator[Passage]:
    """Yield the sentences of a note, in their order, its description first."""
    headings = _Headings(apart=_is_apart(f"{note.name} {note.stem}"))
    first_of_body = note.text.count("\n", 0, note.head.end) + 1
    for statement in statements(note):
        is_apart = headings.put_apart(statement.text) or bool(
            _DIARY.match(statement.text) or _TASK.match(statement.text)
        )
        yield from _passages(statement, is_apart, is_summary=statement.line < first_of_body)


def _passages(statement: ProseBlock, is_apart: bool, *, is_summary: bool) -> Iterator[Passage]:
    text, spoken = statement.text, statement.spoken
    code = list(_CODE.finditer(text)) if "`" in text else []
    struck = [match.span() for match in _STRUCK.finditer(text)] if "~~" in text else []
    for start, end in _sentences(text, [match.span() for match in code]):
        inside = tuple(
            (match.start(2) - start, match[2].strip())
            for match in code
            if start <= match.start() < end and not _is_inside(match.start(), struck)
        )
        own = spoken[start:end]
        yield Passage(statement, start, text[start:end], own, inside, is_apart, is_summary)


class _Headings:
    """The headings under which a statement stands."""

    def __init__(self, *, apart: bool) -> None:
        """`apart` where the whole note tells of no present state."""
        self._note = apart
        self._above: list[tuple[int, bool]] = []

    def put_apart(self, text: str) -> bool:
        """Take in the next statement, a heading or not; say whether it stands in such a part."""
        if heading := _HEADING.match(text):
            depth = len(heading[1])
            self._above = [kept for kept in self._above if kept[0] < depth]
            self._above.append((depth, _is_apart(_CODE.sub("", heading[2]))))
        return self._note or any(apart for _, apart in self._above)


def _is_inside(offset: int, spans: list[tuple[int, int]]) -> bool:
    return any(start <= offset < end for start, end in spans)


def _sentences(text: str, code: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _SENTENCE_END.finditer(text):
        if _is_inside(match.start(), code):
            continue
        if match[0] == "." and _ABBREVIATION.search(text, start, match.start()):
            continue
        yield start, match.end()
        start = match.end()
    if text[start:].strip():
        yield start, len(text)


def _is_apart(title: str) -> bool:
    plain = lowered(re.sub(r"[_\-/]", " ", title))
    return bool(_words("apart").search(plain))


@lru_cache(maxsize=4_096)  # asked for every claim of a sentence
def _says(part: str, spoken: str) -> bool:
    return bool(_words(part).search(lowered(spoken)))


@cache
def _words(part: str) -> re.Pattern[str]:
    return compiled("probes", part)


@dataclass(frozen=True, slots=True)
class ProjectClaim:
    """What is claimed, and the sentence that claims it."""

    kind: ClaimKind
    text: str
    """As it stands in the note."""
    line: int
    passage: Passage

    def found(
        self,
        outcome: CheckOutcome,
        *evidence: str,
        suggestion: str = "",
        was_there: bool = False,
        amiss: str = "",
    ) -> Verdict | None:
        """Return the verdict on it. Where the sentence does not say that it is so today, what is
        otherwise shows that it was no claim: None. `was_there` where it is known to have been so;
        `amiss` as the verdict has it.
        """
        is_otherwise = outcome is not CheckOutcome.HOLDS
        if is_otherwise and self.passage.is_doubtful(self.text, was_there=was_there):
            return None
        what = (self.text, self.kind, self.line, outcome, evidence, suggestion, amiss)
        return Verdict(*what, was_there=was_there)

    @property
    def is_doubtful(self) -> bool:
        """Whether the sentence does not say that it is so today."""
        return self.passage.is_doubtful(self.text)

    def unchecked(self, why: str) -> Verdict:
        """Return the verdict that nothing can be told, and why."""
        return Verdict(self.text, self.kind, self.line, CheckOutcome.UNCHECKED, (why,))


@cache
def names(part: str, key: str) -> frozenset[str]:
    """Return the list `key` under `part` of the data file of probes."""
    return frozenset(read_words("probes")[part][key])
