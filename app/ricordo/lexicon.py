"""Word lists in many languages, read from data files and compiled once."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

import tomli

from ricordo.patterns import compile_lazily
from ricordo.resources import read_data_text

SPACELESS = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""Kana, Han and Hangul, for a character class: scripts without reliable word boundaries."""
_WORD = compile_lazily(rf"[^\W\d_{SPACELESS}]+")
_LAST_WORD = compile_lazily(r"([^\W\d_]{2,})\.\Z")
"""A word of several letters before the full stop at the end."""
_BLANK = compile_lazily(r"(\(\?<[!=][^()]*\))| (\?)?")
"""A blank that may be optional, or a look-behind of fixed width that may contain one."""
_SPACELESS = compile_lazily(f"[{SPACELESS}]")


_WORD_END = compile_lazily(rf"(?<=\S)(?=\s)|(?<=[{SPACELESS}])|(?<=\S)(?=[{SPACELESS}])")


def list_word_ends(text: str, longest: int) -> list[int]:
    """Return the places up to `longest` characters where `text` can be cut without cutting a word,
    in order; scripts without blanks can be cut after every character.
    """
    if len(text) <= longest:
        return [len(text)]
    return [end for match in _WORD_END.finditer(text) if 0 < (end := match.start()) <= longest]


@cache
def read_words(name: str) -> Mapping[str, Any]:
    """Return the data file `name` of the rules."""
    data = pkgutil.get_data("ricordo.lint.rules", f"{name}.toml")
    assert data is not None
    return tomli.loads(data.decode())


def list_expressions(name: str, part: str) -> list[str]:
    """Return the expressions of all languages under `part` of the data file `name`."""
    return [text for texts in read_words(name)[part].values() for text in texts]


@cache
def load_filler() -> frozenset[str]:
    """Return the words that say nothing by themselves, of all languages: in a file of their own,
    for most rules need no other words of those that tell contradictions.
    """
    return frozenset(list_expressions("filler", "words"))


def lower_text(text: str) -> str:
    """Return `text` in lower case with all offsets unchanged."""
    plain = text.lower()
    if len(plain) == len(text):
        return plain
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def build_alternation(parts: Iterable[str]) -> str:
    """Return one regular expression for whole words and phrases in lower case; a blank matches any
    white space.
    """
    # one shared boundary, and branches that begin with a letter, make it fast
    spaced = [_BLANK.sub(_widen_blank, part) for part in set(parts)]
    spaced.sort(key=lambda part: (-len(part), part))
    bounded = "|".join(part for part in spaced if not _SPACELESS.search(part))
    free = "|".join(part for part in spaced if _SPACELESS.search(part))
    choices = [rf"\b(?:{bounded})(?!\w)"] * bool(bounded) + [f"(?:{free})"] * bool(free)
    return "|".join(choices) or r"(?!)"


def _widen_blank(match: re.Match[str]) -> str:
    """Return the expression for any white space in place of a blank."""
    return match[1] or (r"\s*" if match[2] else r"\s+")


@cache
def compile_part(name: str, part: str) -> re.Pattern[str]:
    """Return the pattern for any expression under `part` of the data file `name`, for texts in
    lower case.
    """
    return re.compile(build_alternation(list_expressions(name, part)))


def is_abbreviation(before: str, after: str) -> bool:
    """Return whether the full stop at the end of `before` ends an abbreviation, an initial, a day
    or an ordinal, so that the sentence goes on with `after`.
    """
    near, rest = lower_text(before[-_LONGEST_ABBREVIATED:]), after.lstrip()
    patterns = _abbreviations()
    last = _LAST_WORD.search(near)
    if last and last[1] not in patterns.words:
        return False
    for match in patterns.inside.finditer(f"{near} {lower_text(rest[:_LONGEST_ABBREVIATED])}"):
        if match.start() < len(near) <= match.end():
            return True
    if patterns.ordinal.search(near):
        return True
    if not patterns.maybe.search(near):
        return False
    word = _WORD.match(rest)
    return rest[:1].islower() or rest[:1].isdigit() or bool(word and _is_month(word[0]))


class _Abbreviations(NamedTuple):
    """The words of abbreviations and their patterns, the last two at the end of a text."""

    words: frozenset[str]
    """The words in them: no other one with several letters is before their full stops."""
    inside: re.Pattern[str]
    maybe: re.Pattern[str]
    ordinal: re.Pattern[str]


_LONGEST_ABBREVIATED = 16
"""Characters before a full stop that are looked at."""


@cache
def _abbreviations() -> _Abbreviations:
    lists = [list_expressions("sentences", part) for part in ("inside", "maybe")]
    inside, maybe = (
        "|".join(re.escape(text).replace(r"\ ", r"\s?") for text in texts) for texts in lists
    )
    articles = build_alternation(list_expressions("sentences", "ordinal"))
    return _Abbreviations(
        frozenset(word for texts in lists for text in texts for word in _WORD.findall(text)),
        re.compile(rf"(?<![^\W\d_])(?:{inside})\."),
        # initials and numbers too
        re.compile(rf"(?<!\w)(?:{maybe}|\w|\d+)\.\Z"),
        re.compile(rf"(?:{articles})\s\d{{1,3}}\.\Z"),
    )


@cache
def _months() -> frozenset[str]:
    lists = read_words("dates")["months"].values()
    return frozenset(
        name for names in lists for spellings in names for name in spellings.split("|")
    )


def _is_month(word: str) -> bool:
    return lower_text(word) in _months()


class Triggers:
    """Checks quickly that a text contains none of some words."""

    def __init__(self, parts: Iterable[str]) -> None:
        """Set the `parts`, in lower case; those that are not words of letters, or are in a script
        without word boundaries, match anywhere.
        """
        distinct = frozenset(parts)
        self._words = frozenset(part for part in distinct if _WORD.fullmatch(part))
        self._signs = tuple(part for part in distinct - self._words if part.isascii())
        self._unbounded = tuple(part for part in distinct - self._words if not part.isascii())

    def are_in(self, words: frozenset[str], text: str) -> bool:
        """Return whether `text`, with the lower-cased `words`, contains any of them."""
        if not self._words.isdisjoint(words) or any(map(text.__contains__, self._signs)):
            return True
        return not text.isascii() and any(map(text.__contains__, self._unbounded))

    def find_in(self, words: frozenset[str], text: str) -> tuple[str, ...]:
        """Return those that `text`, with the lower-cased `words`, contains: a quick test for each
        of its parts.
        """
        if not self.are_in(words, text):
            return ()
        return (
            *self._words.intersection(words),
            *(part for part in (*self._signs, *self._unbounded) if part in text),
        )


@cache
def statement_pattern(part: str) -> re.Pattern[str]:
    """Return the pattern for any expression under `part`, for texts in lower case."""
    return re.compile(
        build_alternation(text for texts in statement_table(part).values() for text in texts)
    )


def statement_table(part: str) -> Mapping[str, list[str]]:
    """Return the lists under `part` of the data file, by language."""
    lists: Mapping[str, list[str]] = _data()[part]
    return lists


@cache
def _data() -> Mapping[str, Any]:
    return tomli.loads(read_data_text("extraction/patterns.toml"))
