"""The sentences of a message, each at its place; what was pasted into it is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from ricordo.lexicon import read_words

LONGEST_SPOKEN = 1_500
"""Characters; a longer message is mostly a document that was handed over."""
_LONGEST = 600
"""Characters of a sentence; a longer one is no speech."""
_MOST = 60
_LONGEST_ABBREVIATED = 12
"""Characters before a full stop that tell whether it ends a sentence."""
_FENCE = re.compile(r"^ {0,3}(?:`{3,}|~{3,})")
_NOT_SPOKEN = re.compile(
    r"^\s*(?:>|\||#{1,6}\s|[❯$%]\s|<[/a-z!]|at \S+\(|\s{4,}\S|diff |@@ |\+\+\+|---"
    r"|(?:Assistant|Human|User|System)\s*:\s)"
)
_QUOTED = re.compile(
    r"\"[^\"\n]{2,600}\"|“[^“”\n]{2,600}”|„[^„“”\n]{2,600}[“”]|«[^«»\n]{2,600}»|「[^「」\n]{2,600}」"
)
_END = re.compile(r"(?<=[.!?…])[\"'”’)\]»]*\s+(?=\S)|(?<=[。！？])(?=\S)")
_ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|z\.b|d\.h|etc|vs|nr|approx|ca|bzw|dr|mr|mrs|st|p\.ex|p\.ej)|\b\w|\d)\.\Z",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"[a-zà-öø-ÿ]|\d")
_WORD = re.compile(r"\w+")


class Sentence(NamedTuple):
    """A sentence of a message."""

    start: int
    end: int
    text: str
    """As it stands."""
    paragraph: int
    """Counted from 0."""

    @property
    def is_question(self) -> bool:
        """Whether it asks."""
        return self.text.rstrip(" \"'”’)*").endswith(("?", "？"))


def sentences(message: str) -> tuple[Sentence, ...]:
    """Return the sentences of `message` in their order, without code, quotations, tables and
    headings; none where it is so long that it was hardly spoken.
    """
    return written_sentences(message)[:_MOST] if len(message) <= LONGEST_SPOKEN else ()


def written_sentences(text: str) -> tuple[Sentence, ...]:
    """Return what `sentences` does, of a text that may be a document."""
    found: list[Sentence] = []
    for number, (start, end) in enumerate(_spoken_paragraphs(text)):
        for begin, stop in _split(text, start, end):
            if stop - begin <= _LONGEST:
                found.append(Sentence(begin, stop, text[begin:stop], number))
    return tuple(found)


def without_quotations(message: str) -> str:
    """Return `message` with blanks for what stands in quotation marks: others may have said it.
    All else stays at its place.
    """
    return _QUOTED.sub(lambda found: " " * len(found[0]), message)


def _spoken_paragraphs(message: str) -> Iterator[tuple[int, int]]:
    """Yield where stretches of lines begin and end that the person wrote for the agent."""
    at, start, fenced = 0, -1, False
    for line in message.split("\n"):
        stop = at + len(line)
        is_fence = bool(_FENCE.match(line))
        is_silent = fenced or is_fence or not line.strip() or bool(_NOT_SPOKEN.match(line))
        if is_silent and start >= 0:
            yield start, at - 1
            start = -1
        elif not is_silent and start < 0:
            start = at
        fenced ^= is_fence
        at = stop + 1
    if start >= 0:
        yield start, len(message)


def _split(message: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    begin = start
    for match in _END.finditer(message, start, end):
        before = message[max(begin, match.start() - _LONGEST_ABBREVIATED) : match.start()]
        if not _goes_on(before, message, match.end()):
            yield from _trimmed(message, begin, match.start())
            begin = match.end()
    yield from _trimmed(message, begin, end)


def _goes_on(before: str, message: str, at: int) -> bool:
    """Whether a full stop ends no sentence: behind a short form, or the day of a month."""
    if not _ABBREVIATED.search(before):
        return False
    word = _WORD.match(message, at)
    return bool(_GOES_ON.match(message, at) or (word and word[0].lower() in _months()))


@cache
def _months() -> frozenset[str]:
    lists = read_words("dates")["months"].values()
    return frozenset(name for names in lists for it in names for name in it.split("|"))


def _trimmed(message: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    text = message[start:end]
    begin = start + len(text) - len(text.lstrip(" \t\n-*•"))
    stop = start + len(text.rstrip())
    if begin < stop:
        yield begin, stop
