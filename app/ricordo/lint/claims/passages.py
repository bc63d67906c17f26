"""The sentences of a note, each with what sets it apart from the present state."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from ricordo.lexicon import build_alternation, compile_part, list_expressions, lower_text
from ricordo.lint.claims.distance import (
    Distance,
    Headings,
    Table,
    find_distance_of_item,
    find_distance_of_note,
)
from ricordo.lint.prose import CODE, ProseBlock, extract_statements, first_line_of_body
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily

_STRUCK = compile_lazily(r"~~[^~\n]*~~")
_QUOTED = compile_lazily(
    r"“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|「[^」\n]*」|『[^』\n]*』|(?<!\w)\"[^\"\n]*\""
)
_ARROW = r"\s*(?:→|⇒|->|=>)"
_RENAMED = compile_lazily(rf"`([^`\s(]+)`\**{_ARROW}\s*\**`([^`\s(]+)`(?!\**{_ARROW})")
"""One name after another; three, or calls, are the steps of a way."""
_PATH_SIGN = compile_lazily(r"[./]")
_ARROW_END = compile_lazily(rf"{_ARROW}\s*$")
_SENTENCE_END = compile_lazily(r"[.!?](?=[\s*_)]|$)|;(?=\s)|[。！？；]|\n(?=\s*[-*+|#])")
_PART_END = compile_lazily(r"[,;:()（），、：]\s|\s[(（]|[)）]|\s[–—]\s|\n")
_ABBREVIATION = compile_lazily(
    r"\b(?:e\.g|i\.e|z\.B|z|z\. B|p\.ex|vs|etc|cf|ca|Dr|Mr|Mrs|No)$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence of a note."""

    statement: ProseBlock
    start: int
    """Offset in the text of the statement."""
    text: str
    """The text as written."""
    prose: str
    """The text with code and quotations blanked out, offsets kept."""
    code: tuple[tuple[int, str], ...]
    """The spans in backticks, each with its offset; not what is struck out, or part of a sentence
    that is quoted.
    """
    is_excluded: bool
    """Whether its section or note does not describe the present state."""
    is_past: bool
    """Whether its section or note tells of a day or of the past."""
    is_open: bool
    """Whether its section lists what is still to be done."""
    is_to_make: bool
    """Whether its section lists what a plan says to make."""
    is_summary: bool
    """Whether it is from the description of the note, not its body."""

    def is_unsure(self, name: str = "", *, existed: bool = False) -> bool:
        """Return whether what it names need not exist: it is past, planned, conditional, negated or
        an example. The words of `name` itself do not count; for a name that `existed` once, only
        what says that it is gone, to be made or an example of how to name counts.
        """
        if existed:
            is_told = self.is_past or self.is_to_make or self._is_example_of_naming(name)
            return is_told or self._says_gone(name)
        spoken = self.prose.replace(name, "") if name else self.prose
        return self.is_excluded or _matches("gone", spoken) or _matches("doubt", spoken)

    def forbids(self, name: str) -> bool:
        """Return whether it says that what `name` names must not be made."""
        return any(_matches("forbidden", part) for part in self._find_parts(name))

    def records_removal(self, name: str) -> bool:
        """Return whether the part of it that names `name` says in so many words that it is gone."""
        return any(
            _matches("removed", part.replace(name, "")) and not _matches("kept", part)
            for part in self._find_parts(name)
        )

    def _says_gone(self, name: str) -> bool:
        """Return whether the sentence says that what `name` names is gone, or is not to be made: in
        so many words, or in the part of the sentence that names it with any word of the past or of
        others.
        """
        if _matches("kept", self.prose):
            return False
        if any(name in old for old in self._list_renamed()):
            return True
        spoken = self.prose.replace(name, "") if name else self.prose
        if _matches("removed", spoken) or _matches("forbidden", spoken):
            return True
        return any(
            _matches("gone", part.replace(name, "") if name else self.prose)
            for part in self._find_parts(name)
        )

    def _is_example_of_naming(self, name: str) -> bool:
        """Return whether `name` only shows how names are written: it comes in brackets, behind a
        colon or as an example after the name of a spelling.
        """
        start = self.text.find(name) if name else -1
        spelling = compile_part("probes", "spelling").search(lower_text(self.text[: max(start, 0)]))
        shows = _shows_example()
        return bool(spelling and shows.search(lower_text(self.prose), spelling.end(), start))

    def _list_renamed(self) -> Iterator[str]:
        """Yield the names from which an arrow leads to a new name: from a path to another, not to
        what is in it.
        """
        for match in _RENAMED.finditer(self.text):
            is_path, was_path = (bool(_PATH_SIGN.search(it)) for it in match.groups())
            if is_path == was_path and not _ARROW_END.search(self.text, 0, match.start()):
                yield match[1]

    def _find_parts(self, name: str) -> Iterator[str]:
        """Yield the prose of the parts of the sentence that contain `name`."""
        start = 0
        for mark in (*_PART_END.finditer(self.prose), None):
            end = mark.start() if mark else len(self.prose)
            if name in self.text[start:end]:
                yield self.prose[start:end]
            start = mark.end() if mark else end

    def line_at(self, offset: int) -> int:
        """Return the 1-based line of the note of the character at `offset` of the sentence."""
        return self.statement.line_at(self.start + offset)


@lru_cache(maxsize=4)  # for the rules that read a note one after another
def split_passages(note: Note, *, is_fixed: bool = False) -> tuple[Passage, ...]:
    """Return the sentences of a note in order, its description first; `is_fixed` where an index
    says that it tells of a fixed fault.
    """
    return tuple(_split_passages(note, is_fixed=is_fixed))


def _split_passages(note: Note, *, is_fixed: bool) -> Iterator[Passage]:
    first_of_body = first_line_of_body(note)
    distance_of_note = find_distance_of_note(note, first_of_body)
    distance_of_note |= Distance.FIXED if is_fixed else Distance.NONE
    headings, table = Headings(distance_of_note), Table()
    for statement in extract_statements(note):
        distance = headings.track(statement.text)
        if table.track(statement):
            distance |= Distance.OTHER
        distance |= find_distance_of_item(statement.text)
        yield from _passages(statement, distance, is_summary=statement.line < first_of_body)


def _passages(statement: ProseBlock, distance: Distance, *, is_summary: bool) -> Iterator[Passage]:
    text, spoken = statement.text, statement.prose
    is_past = Distance.PAST in distance or Distance.FIXED | Distance.ACCOUNT in distance
    code = list(CODE.finditer(text)) if "`" in text else []
    left_out = [match.span() for match in _STRUCK.finditer(text)] if "~~" in text else []
    left_out += _find_quoted(text) if code else []
    for start, end in _sentences(text, [match.span() for match in code]):
        inside = tuple(
            (match.start(2) - start, match[2].strip())
            for match in code
            if start <= match.start() < end and not _is_inside(match.start(), left_out)
        )
        plain = spoken[start:end]
        yield Passage(
            statement,
            start,
            text[start:end],
            plain,
            inside,
            is_past or bool(distance & (Distance.OTHER | Distance.TO_MAKE)),
            is_past,
            Distance.OPEN in distance,
            Distance.TO_MAKE in distance,
            is_summary,
        )


def _find_quoted(text: str) -> list[tuple[int, int]]:
    """Return where a text quotes more than code."""
    plain = CODE.sub(lambda match: "\0" * len(match[0]), text)
    quoted = _QUOTED.finditer(plain)
    return [it.span() for it in quoted if "\0" in it[0] and any(map(str.isalnum, it[0]))]


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


@lru_cache(maxsize=4_096)  # called for every claim of a sentence
def _matches(part: str, spoken: str) -> bool:
    return bool(compile_part("probes", part).search(lower_text(spoken)))


@cache
def _shows_example() -> re.Pattern[str]:
    """Return the pattern of what leads to an example."""
    return re.compile(rf"[(（:：–—→=]|{build_alternation(list_expressions('probes', 'example'))}")
