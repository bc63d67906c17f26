"""The values that commits replaced in pages: git shows that a line had a value and has another one
since, with the same words around it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from ricordo.dates import has_year
from ricordo.lexicon import build_alternation, list_expressions, lower_text
from ricordo.lint.claims.commits import FileCommit
from ricordo.lint.claims.history import CODE_ENDINGS, ReplacedLines
from ricordo.patterns import compile_lazily
from ricordo.search.words import count_stop_words, split_words, stem_word

_OTHER_ENDINGS = (".cfg", ".html", ".json", ".md", ".toml", ".txt", ".yaml", ".yml")
_NUMBER = r"(?!0\d\d)\d+(?:[.,:]\d+)*"
_VALUE = compile_lazily(
    rf"(?<![\w.#/–-])(?<!/ )v?{_NUMBER}(?:[–-]{_NUMBER})?"
    r"(?![\w/]|\s/\s?\d|[.,:–-]\d|-\w|\.[xX*])"
)
"""A number, a time or a version that is a word of its own; not a range of versions as `16.x`, a
part of a whole as `9 / 12`, or a name as `0027`.
"""
_LINES_OF_FILE = compile_lazily(
    rf"((?:{'|'.join(map(re.escape, (*CODE_ENDINGS, *_OTHER_ENDINGS)))})`?(?::|#L|\s\(?L)"
    r"|(?<!\w)[Ll]ines? )~?\d+(?:(?:\s?[-–,]\s?|,\s)(?:L|~)?\d+)*"
)
"""The numbers of some lines of a file, which every change above them moves."""
_SEGMENT = compile_lazily(r"[.;|!?](?=\s|$)|\s[—–]\s|[()（）。；！？]|,\s|\n")
_NUMBER_OF_TITLE = compile_lazily(r"\s*#{1,6}\s[\W_]*\d+(?:\.\d+)*")
"""A heading up to the end of the number of its section."""
_DISTINCTIVE = compile_lazily(r"\d{3}|\d[.,:]\d")
"""A value that hardly any two things have by chance."""
_MOST_LINES = 40
"""Lines that are replaced together; where there are more, the page was written again."""
_MOST_VALUES = 3
STEM_LENGTH = 4
"""Letters of a word that its stem leaves as they are."""
_MOST_PLACES = 200
"""Places with one value that are compared, the newest."""
FEWEST_WORDS = 2
_OF_FRAME, _OF_NOTE = 0.6, 0.4
"""The shares of the words of both texts that have to be the same."""


class ValuePart(NamedTuple):
    """A part of a sentence with values."""

    text: str
    start: int
    words: tuple[str, ...]
    """The words that carry meaning, without values."""
    values: tuple[str, ...]
    beside: frozenset[tuple[str, str]]
    """Each value with each of the words next to it."""


class CorrectedValue(NamedTuple):
    """A value that a commit replaced, and what it is of."""

    path: str
    words: tuple[str, ...]
    old: str
    at: int
    """Which of the values of its segment it is."""
    beside: frozenset[str]
    commit: FileCommit


class CorrectedValues:
    """The values that commits replaced in the pages of a project."""

    def __init__(self, places: Iterable[ReplacedLines]) -> None:
        self._by_value: dict[str, list[ReplacedLines]] = defaultdict(list)
        self._compared: dict[tuple[int, str], Sequence[CorrectedValue]] = {}
        for place in places:
            if len(place.removed) + len(place.added) <= _MOST_LINES:
                old, new = (set(list_values(lines)) for lines in (place.removed, place.added))
                for value in old - new if new else ():
                    # a single digit is in any text
                    if len(value) > 1:
                        self._by_value[value].append(place)

    def find(self, value: str, segment: ValuePart) -> Iterator[CorrectedValue]:
        """Yield the corrections of a `value` of a part of a note, newest first: of what it shares
        most words with, and for a small number also the one that says what it counts.
        """
        places = self._by_value.get(value, [])
        if not _DISTINCTIVE.search(value):
            words = [word[:STEM_LENGTH] for it, word in segment.beside if it == value]
            places = [it for it in places if any(map(it.removed_text.__contains__, words))]
        for place in places[:_MOST_PLACES]:
            key = (id(place), value)
            if key not in self._compared:
                self._compared[key] = _compare(place, value)
            yield from (it for it in self._compared[key] if _is_of(segment, value, it))

    def has(self, value: str) -> bool:
        """Return whether `value` was ever replaced."""
        return value in self._by_value


def _is_of(segment: ValuePart, value: str, correction: CorrectedValue) -> bool:
    """Return whether a part of a note is about what was corrected: it shares most words, and for a
    small number the one that says what it counts.
    """
    mine, its = set(segment.words), set(correction.words)
    shared = mine & its
    if len(shared) < max(FEWEST_WORDS, _OF_FRAME * len(its), _OF_NOTE * len(mine)):
        return False
    if _DISTINCTIVE.search(value):
        return True
    is_beside = any((value, word) in segment.beside for word in correction.beside)
    return is_beside and (len(shared) > FEWEST_WORDS or its <= mine)


def is_surely_of(segment: ValuePart, value: str, correction: CorrectedValue) -> bool:
    """Return whether what a part of a note shares with a correction of `value` tells of one thing
    even where the subject of each is that of another note.
    """
    shared = set(segment.words) & set(correction.words)
    return _DISTINCTIVE.search(value) is not None or len(shared) > FEWEST_WORDS


def _compare(place: ReplacedLines, value: str) -> Sequence[CorrectedValue]:
    """Return what a commit replaced of `value` at a place: one value in the same words."""
    after: dict[tuple[str, ...], list[ValuePart]] = defaultdict(list)
    for line in place.added:
        for segment in split_parts(line):
            after[segment.words].append(segment)
    found: list[CorrectedValue] = []
    for line in place.removed:
        for segment in split_parts(line) if value in line else ():
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
                found.append(CorrectedValue(place.path, *words, place.commit))
    return found


def list_values(lines: Iterable[str]) -> Iterator[str]:
    """Yield the values in some lines."""
    for line in lines:
        yield from _VALUE.findall(_blank_lines_of_files(line))


def _blank_lines_of_files(text: str) -> str:
    """Return a text as long with blanks for the numbers of lines of files."""
    # most texts have none
    if ":" not in text and "L" not in text and "line" not in text:
        return text
    return _LINES_OF_FILE.sub(lambda it: it[1] + " " * (len(it[0]) - len(it[1])), text)


def split_parts(text: str) -> Iterator[ValuePart]:
    """Yield the parts of a text with few values that are neither dates nor numbers of parts."""
    told = _blank_lines_of_files(text)
    title = _NUMBER_OF_TITLE.match(told)
    # sections are numbered again when one is added
    first = title.end() if title else 0
    ends = (first, *(match.end() for match in _SEGMENT.finditer(told, first)), len(told))
    for start, end in pairwise(ends):
        part = told[start:end]
        values = list(_VALUE.finditer(part)) if end > start else []
        if not 0 < len(values) <= _MOST_VALUES or has_year(part):
            continue
        if _numbered().search(lower_text(part)):
            continue
        plain = _VALUE.sub(" ", part)
        words = list_words(plain)
        if len(set(words)) >= FEWEST_WORDS:
            beside = frozenset(
                (match[0], word)
                for match in values
                for word in (
                    *list_words(part[: match.start()])[-1:],
                    *list_words(part[match.end() :])[:1],
                )
            )
            yield ValuePart(text[start:end], start, words, tuple(it[0] for it in values), beside)


def list_words(text: str) -> tuple[str, ...]:
    """Return the stems of the words of a text that carry meaning."""
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
