"""Values that were corrected in one page of the project while a note still states the old one.

Git shows that a line had a value and has another one since, with the same words around it. A note
that has the old value with these words was forgotten. The pages of the memory count too: where one
note was corrected, the others that say the same are found.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ricordo.dates import has_year
from ricordo.lexicon import build_alternation, list_expressions, lower_text
from ricordo.lint.claims.claim import Passage, split_passages
from ricordo.lint.claims.history import FileCommit, Hunk
from ricordo.lint.evidence import CheckOutcome, ClaimKind, Verdict
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily
from ricordo.search.words import count_stop_words, split_words, stem_word

if TYPE_CHECKING:
    from ricordo.lint.claims.project import Project

_NUMBER = r"\d+(?:[.,:]\d+)*"
_VALUE = compile_lazily(rf"(?<![\w.#/–-])v?{_NUMBER}(?:[–-]{_NUMBER})?(?![\w/]|[.,:–-]\d|-\w)")
"""A number, a time or a version that is a word of its own."""
_SEGMENT = compile_lazily(r"[.;|!?](?=\s|$)|\s[—–]\s|[()（）。；！？]|,\s|\n")
_RANGE = compile_lazily("[–-]")
_DISTINCTIVE = compile_lazily(r"\d{3}|\d[.,:]\d")
"""A value that hardly any two things have by chance."""
_LONGEST = 2_000
"""Characters of a line; longer ones are data."""
_MOST_LINES = 40
"""Lines of a hunk; in a larger one the page was written again."""
_MOST_VALUES = 3
_MOST_FILES = 40
_STEM = 4
"""Letters of a word that its stem leaves as they are."""
_MOST_HUNKS = 200
"""Hunks with one value that are compared, the newest."""
_FEWEST_WORDS = 2
_OF_FRAME, _OF_NOTE = 0.6, 0.4
"""The shares of the words of both texts that have to be the same."""
_MOST_QUOTED = 120


class _Segment(NamedTuple):
    """A part of a sentence with values."""

    text: str
    start: int
    words: tuple[str, ...]
    """The words that carry meaning, without values."""
    values: tuple[str, ...]
    beside: frozenset[tuple[str, str]]
    """Each value with each of the words next to it."""


class _Correction(NamedTuple):
    """A value that a commit replaced, and what it is of."""

    path: str
    words: tuple[str, ...]
    old: str
    at: int
    """Which of the values of its segment it is."""
    beside: frozenset[str]
    commit: FileCommit


class Corrections:
    """The values that commits replaced in the pages of a project."""

    def __init__(self, hunks: Iterable[Hunk]) -> None:
        self._by_value: dict[str, list[Hunk]] = defaultdict(list)
        self._compared: dict[tuple[int, str], Sequence[_Correction]] = {}
        for hunk in hunks:
            if len(hunk.removed) + len(hunk.added) <= _MOST_LINES:
                old, new = (set(_list_values(lines)) for lines in (hunk.removed, hunk.added))
                for value in old - new if new else ():
                    # a single digit is in any text
                    if len(value) > 1:
                        self._by_value[value].append(hunk)

    def find(self, value: str, segment: _Segment) -> Iterator[_Correction]:
        """Yield the corrections of a `value` of a part of a note, newest first: of what it shares
        most words with, and for a small number also the one that says what it counts.
        """
        hunks = self._by_value.get(value, [])
        if not _DISTINCTIVE.search(value):
            words = [word[:_STEM] for it, word in segment.beside if it == value]
            hunks = [it for it in hunks if any(map(it.removed_text.__contains__, words))]
        for hunk in hunks[:_MOST_HUNKS]:
            key = (id(hunk), value)
            if key not in self._compared:
                self._compared[key] = _compare(hunk, value)
            yield from (it for it in self._compared[key] if _is_of(segment, value, it))

    def has(self, value: str) -> bool:
        """Return whether `value` was ever replaced."""
        return value in self._by_value


def find_corrected(note: Note, project: Project) -> Iterator[Verdict]:
    """Yield the verdicts on the values of a note that were corrected elsewhere since."""
    corrections = project.corrections
    lines = (it for it in note.text.split("\n") if any(map(corrections.has, _list_values((it,)))))
    # few notes are near any, so that the others need not be split into passages again
    parts = (part for line in lines for part in _split(line))
    if not any(any(corrections.find(it, part)) for part in parts for it in part.values):
        return
    seen: set[tuple[int, str]] = set()
    for passage in split_passages(note):
        is_judged = any(map(corrections.has, _list_values((passage.text,))))
        if not is_judged or passage.is_excluded or has_year(passage.text):
            continue
        for segment in _split(passage.text):
            for value in filter(corrections.has, dict.fromkeys(segment.values)):
                verdict = _judge(passage, segment, value, project)
                if verdict and (verdict.line, value) not in seen:
                    seen.add((verdict.line, value))
                    yield verdict


def _judge(passage: Passage, segment: _Segment, value: str, project: Project) -> Verdict | None:
    near = list(project.corrections.find(value, segment))
    places = [(place, it.commit) for it in near for place in _find_present(it, project)]
    new = {place.new for place, _ in places}
    known = {value, *_list_values((passage.text,))}
    if len(new) != 1 or any(known & set(_RANGE.split(it)) for it in new):
        return None
    place, commit = places[0]
    if passage.is_unsure(value, existed=True) or _is_still_said(near[0], project):
        return None
    before, _, behind = segment.text.partition(value)
    claim = before.rpartition("\n")[2].lstrip() + value + behind.partition("\n")[0].rstrip()
    evidence = (place.text, f"git: changed in {commit.summary}")
    problem = f"{value} is {place.new} now in {place.text.partition(': ')[0]}"
    return Verdict(
        claim,
        ClaimKind.VALUE,
        passage.line_at(segment.start + len(before)),
        CheckOutcome.CHANGED,
        evidence,
        problem=problem,
        existed=True,
    )


class _Place(NamedTuple):
    """The present line of a corrected value."""

    new: str
    text: str
    """Path, line and text."""


def _find_present(correction: _Correction, project: Project) -> Iterator[_Place]:
    """Yield where the page has the words of the corrected value now, with its present value."""
    text = project.load_text(correction.path) if correction.path in project.tree.files else ""
    begins = [word[:_STEM] for word in correction.words]
    for number, line in enumerate(text.split("\n"), 1):
        # few lines have the words, so that the others need not be read closely
        plain = line.lower() if len(line) <= _LONGEST else ""
        for segment in _split(line) if all(map(plain.__contains__, begins)) else ():
            if segment.words == correction.words and len(segment.values) > correction.at:
                new = segment.values[correction.at]
                quoted = line.strip()[:_MOST_QUOTED]
                yield _Place(new, f"{correction.path}:{number}: {quoted}")


def _is_still_said(correction: _Correction, project: Project) -> bool:
    """Return whether a file of the project besides the memory still has the old value of what was
    corrected: it may be that of another case.
    """
    known = set(correction.words)
    for path in project.find_files(correction.old, _MOST_FILES):
        text = "" if project.is_of_memory(path) else project.load_text(path)
        for line in text.split("\n"):
            if correction.old in line and len(line) <= _LONGEST:
                said = correction.old in _VALUE.findall(line)
                if said and len(known.intersection(_list_words(line))) >= _FEWEST_WORDS:
                    return True
    return False


def _is_of(segment: _Segment, value: str, correction: _Correction) -> bool:
    """Return whether a part of a note is about what was corrected: it shares most words, and for a
    small number the one that says what it counts.
    """
    mine, its = set(segment.words), set(correction.words)
    shared = mine & its
    if len(shared) < max(_FEWEST_WORDS, _OF_FRAME * len(its), _OF_NOTE * len(mine)):
        return False
    if _DISTINCTIVE.search(value):
        return True
    is_beside = any((value, word) in segment.beside for word in correction.beside)
    return is_beside and (len(shared) > _FEWEST_WORDS or its <= mine)


def _compare(hunk: Hunk, value: str) -> Sequence[_Correction]:
    """Return what of `value` a hunk replaced: one value in the same words."""
    after: dict[tuple[str, ...], list[_Segment]] = defaultdict(list)
    for line in hunk.added:
        for segment in _split(line):
            after[segment.words].append(segment)
    found: list[_Correction] = []
    for line in hunk.removed:
        for segment in _split(line) if value in line else ():
            now = after.get(segment.words, ())
            if len(now) != 1 or len(now[0].values) != len(segment.values):
                continue
            differs = [
                at
                for at, pair in enumerate(zip(segment.values, now[0].values, strict=True))
                if pair[0] != pair[1]
            ]
            if len(differs) == 1 and segment.values[differs[0]] == value:
                beside = frozenset(word for it, word in segment.beside if it == value)
                words = segment.words, value, differs[0], beside
                found.append(_Correction(hunk.path, *words, hunk.commit))
    return found


def _list_values(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield from _VALUE.findall(line)


def _split(text: str) -> Iterator[_Segment]:
    """Yield the parts of a text with few values that are neither dates nor numbers of parts."""
    ends = (0, *(match.end() for match in _SEGMENT.finditer(text)), len(text))
    for start, end in pairwise(ends):
        part = text[start:end]
        values = list(_VALUE.finditer(part)) if end > start else []
        if not 0 < len(values) <= _MOST_VALUES or has_year(part):
            continue
        if _numbered().search(lower_text(part)):
            continue
        plain = _VALUE.sub(" ", part)
        words = _list_words(plain)
        if len(set(words)) >= _FEWEST_WORDS:
            beside = frozenset(
                (match[0], word)
                for match in values
                for word in (
                    *_list_words(part[: match.start()])[-1:],
                    *_list_words(part[match.end() :])[:1],
                )
            )
            yield _Segment(part, start, words, tuple(it[0] for it in values), beside)


def _list_words(text: str) -> tuple[str, ...]:
    words = split_words(text.replace("_", " "))
    return tuple(stem_word(it) for it in words if not (it.isdigit() or _is_stop_word(it)))


@lru_cache(maxsize=10_000)
def _is_stop_word(word: str) -> bool:
    return len(word) == 1 or any(count_stop_words((word,)).values())


@cache
def _numbered() -> re.Pattern[str]:
    """Return the pattern of a part of the work with its number, which is a name."""
    kinds = build_alternation(list_expressions("status", "part"))
    return re.compile(rf"(?:{kinds})s?\W{{0,3}}\d")
