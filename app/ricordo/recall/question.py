"""What a message asks for: its words that name something, and the cues in how it is put."""

from __future__ import annotations

import re
from datetime import date

from ricordo.recall.stem import stem
from ricordo.recall.window import window_in
from ricordo.recall.words import content_words, words

LONGEST = 20_000
"""Characters of a message that are looked at: the beginning says what it is about."""

_WHEN = re.compile(r"\bwhen\b|\b(?:what|which) (?:year|month|day|date|time|week)\b", re.I)
_HOW_MANY = re.compile(r"\bhow (?:many|much|often|long|old|far)\b", re.I)
_FILLER = re.compile(r"\b(?:kind|sort|type)s? of\b|\bhow long\b", re.I)
"""Asks and names nothing, though its words alone may."""
_NOW = re.compile(r"\b(?:current|currently|latest|newest|most recent|right now|nowadays)\b", re.I)


class Question:
    """A message, analysed. `words` are the words that name something, folded, each once and in
    their order; `stems` stand beside them.
    """

    __slots__ = ("asks_how_many", "asks_now", "asks_when", "pairs", "stems", "text", "window", "words")

    def __init__(self, message: str, today: date) -> None:
        """`today` is what "last week" is counted from."""
        self.text = text = message[:LONGEST]
        found = content_words(words(_FILLER.sub(" ", text)))
        self.words: tuple[str, ...] = tuple(dict.fromkeys(found))
        self.stems: tuple[str, ...] = tuple([stem(word) for word in self.words])
        stems = [stem(word) for word in found]
        self.pairs = frozenset(zip(stems, stems[1:], strict=False))
        """Stems that follow one another."""
        self.window = window_in(text, today)
        self.asks_when = bool(_WHEN.search(text))
        self.asks_how_many = bool(_HOW_MANY.search(text))
        self.asks_now = bool(_NOW.search(text))
