"""Split a message into sentences, without pasted text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ricordo.lexicon import is_abbreviation

MAX_MESSAGE_LENGTH = 1_500
"""Characters; a longer message is mostly a pasted document."""
_LONGEST = 600
"""Characters of a sentence; longer ones are ignored."""
_MOST = 60
_LONGEST_WORD = 24
"""Characters on either side of a full stop that show whether a sentence ends there."""
_FENCE = re.compile(r"^ {0,3}(?:`{3,}|~{3,})")
_NOT_SPOKEN = re.compile(
    r"^\s*(?:>|\||#{1,6}\s|[❯$%]\s|<[/a-z!]|at \S+\(|\s{4,}\S|diff |@@ |\+\+\+|---"
    r"|(?:Assistant|Human|User|System)\s*:\s"
    # a line of a log, by its severity
    r"|(?:\[?\d{4}-\d\d-\d\d\S*\s+(?:\d\d:\S+\s+)?)?"
    r"[\[(]?(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b)"
)
_QUOTED = re.compile(
    r"\"[^\"\n]{2,600}\"|“[^“”\n]{2,600}”|„[^„“”\n]{2,600}[“”]|«[^«»\n]{2,600}»|「[^「」\n]{2,600}」"
)
_END = re.compile(r"(?<=[.!?…])[\"'”’)\]»]*\s+(?=\S)|(?<=[。！？])(?=\S)")


class Sentence(NamedTuple):
    """A sentence of a message."""

    start: int
    end: int
    text: str
    """The exact text."""
    paragraph: int
    """Counted from 0."""

    @property
    def is_question(self) -> bool:
        """Whether it is a question."""
        return self.text.rstrip(" \"'”’)*").endswith(("?", "？"))


def split_message(message: str) -> tuple[Sentence, ...]:
    """Return the sentences of `message` in order, without code, quotations, tables and headings;
    none if it is longer than `MAX_MESSAGE_LENGTH`.
    """
    return split_text(message)[:_MOST] if len(message) <= MAX_MESSAGE_LENGTH else ()


def split_text(text: str) -> tuple[Sentence, ...]:
    """Return the sentences of `text` as `split_message` does, for documents of any length."""
    result: list[Sentence] = []
    for number, (start, end) in enumerate(_spoken_paragraphs(text)):
        for begin, stop in _split(text, start, end):
            if stop - begin <= _LONGEST:
                result.append(Sentence(begin, stop, text[begin:stop], number))
    return tuple(result)


def mask_quotations(message: str) -> str:
    """Return `message` with text in quotation marks, possibly of others, replaced by blanks;
    offsets stay the same.
    """
    return _QUOTED.sub(lambda match: " " * len(match[0]), message)


def _spoken_paragraphs(message: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each paragraph that the user wrote to the agent."""
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
        before = message[max(begin, match.start() - _LONGEST_WORD) : match.start()]
        if not is_abbreviation(before, message[match.end() : match.end() + _LONGEST_WORD]):
            yield from _trim(message, begin, match.start())
            begin = match.end()
    yield from _trim(message, begin, end)


def _trim(message: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the range without surrounding blanks and bullets, unless it is empty."""
    text = message[start:end]
    begin = start + len(text) - len(text.lstrip(" \t\n-*•"))
    stop = start + len(text.rstrip())
    if begin < stop:
        yield begin, stop
