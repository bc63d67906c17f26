"""Phrases by which users and agents say what matters for the next steps, from a data file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple

import tomli

from ricordo.lexicon import build_alternation, lower_text
from ricordo.resources import read_data_text

_MAX_ANSWER = 60
"""Characters of a message that may be an answer and nothing else."""
_EDGES = " \t\n.,;:!…。！，、"


def has_phrase(part: str, text: str) -> bool:
    """Return whether `text` holds an expression under `part` of the data file."""
    return bool(_load_pattern(part).search(lower_text(text)))


def is_only_phrases(part: str, text: str) -> bool:
    """Return whether `text` is an expression under `part`, or several of them, and nothing
    else.
    """
    plain = lower_text(text).strip(_EDGES)
    return (
        len(plain) <= _MAX_ANSWER
        and bool(plain)
        and bool(_load_whole_pattern(part).fullmatch(plain))
    )


def has_phrase_at_start(part: str, text: str) -> bool:
    """Return whether `text` begins with an expression under `part`."""
    return bool(_load_pattern(part).match(lower_text(text).lstrip()))


@lru_cache(maxsize=4_096)
def find_heading_kind(name: str) -> str:
    """Return the kind of a heading with this `name` in the data file: mostly the value of a
    section; "" where it is unknown.
    """
    plain = lower_text(name).strip(_EDGES)
    parts: Mapping[str, Any] = _load_data()["headings"]
    return next((part for part in parts if _load_heading_pattern(part).fullmatch(plain)), "")


@cache
def _load_pattern(part: str) -> re.Pattern[str]:
    return re.compile(build_alternation(_join_languages(_load_data()[part])))


@cache
def _load_whole_pattern(part: str) -> re.Pattern[str]:
    choices = build_alternation(_join_languages(_load_data()[part]))
    return re.compile(rf"(?:{choices})(?:[\s,.;:!]+(?:{choices}))*")


@cache
def _load_heading_pattern(part: str) -> re.Pattern[str]:
    return re.compile(build_alternation(_join_languages(_load_data()["headings"][part])))


def _join_languages(lists: Mapping[str, list[str]]) -> list[str]:
    return [text for texts in lists.values() for text in texts]


@cache
def _load_data() -> Mapping[str, Any]:
    return tomli.loads(read_data_text("handoff/compose/words.toml"))


_HEADING_FORMS = tuple(
    re.compile(form)
    for form in (
        r"\s*(?P<signs>#{1,6})\s+(?:\d+[.)]\s+)?\**(?P<name>[^:*\n]+?):?\**:?\s*(?P<rest>)",
        r"\s*(?:\d+[.)]\s+)?\*\*(?P<name>[^:*\n]+?)(?::\*\*|\*\*:?)\s*(?P<rest>.*)",
        r"\s*\d+[.)]\s+(?P<name>[^:*\n]+):\s*(?P<rest>.*)",
        r"\s*(?P<name>[^:*\n]+):\s*(?P<rest>.*)",
    )
)
_MAX_TEXT = 30_000
"""Characters of a text that are searched for headings."""
_MAX_LINE = 120
"""Characters of a line that are searched for a heading."""
CHECK_KIND = "check"
"""The kind of a heading over how the work is to be checked."""
_LOWEST_RANK = 10
"""The rank of any line with a colon: a heading where its name is known."""


class HeadedText(NamedTuple):
    """The text under a heading."""

    kind: str
    """The kind of the heading in the data file: mostly the value of a section."""
    text: str
    """Word for word, without blank edges."""


class _Heading(NamedTuple):
    start: int
    """Where its line begins."""
    behind: int
    """Where its text begins, which may be on the same line."""
    rank: int
    """One of this rank or a smaller one ends the section that it opens."""
    about: str
    """"" where the data file does not know it."""


def find_headed_texts(text: str) -> Iterator[HeadedText]:
    """Yield the text under each known heading of `text`; of a long text only near its
    beginning.
    """
    text = text[:_MAX_TEXT]
    headings = list(_find_headings(text))
    for number, opening in enumerate(headings):
        if not opening.about:
            continue
        following = (after for after in headings[number + 1 :] if _is_end(opening, after))
        end = next((after.start for after in following), len(text))
        if words := text[opening.behind : end].strip():
            yield HeadedText(opening.about, words)


def _is_end(heading: _Heading, after: _Heading) -> bool:
    return bool(after.about) or after.rank <= heading.rank < _LOWEST_RANK


def _find_headings(text: str) -> Iterator[_Heading]:
    at = 0
    for line in text.split("\n"):
        start_of_line = line[:_MAX_LINE]
        tried = (
            (form, pattern.fullmatch(start_of_line)) for form, pattern in enumerate(_HEADING_FORMS)
        )
        matching = next(((form, match) for form, match in tried if match), None)
        if matching is not None:
            rank, match = _find_rank(*matching), matching[1]
            about = find_heading_kind(match["name"])
            if about or rank < _LOWEST_RANK:
                yield _Heading(at, at + match.start("rest"), rank, about)
        at += len(line) + 1


def _find_rank(form: int, match: re.Match[str]) -> int:
    """Return the number of signs of a heading in Markdown; any other form is below those."""
    return _LOWEST_RANK - len(_HEADING_FORMS) + 1 + form if form else len(match["signs"])
