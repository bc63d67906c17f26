"""Known values, and where they are in a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ricordo.secrets.rules import load_rules

_SHORTEST = 3
"""Characters; a shorter value would be found everywhere."""
_HEADS = (16, 6, _SHORTEST)
"""Values are looked up by their first characters: by the largest of these numbers that fits."""
_FEW = 500
"""Up to so many values, searching for one after the other is faster than for all at once."""
_WHOLE_WORD = 8
"""Characters; a shorter value is found only where it is a word of its own."""
_NAME = re.compile(r"(?=.{1,19}\Z)(?!(?:\w+\W){3})[A-Z]*[a-z]*(?:[A-Z][a-z]{2,}|[-_. /][A-Za-z]+)*")
"""Words, and names that are put together from words: letters alone, fewer than four of them."""
_NUMBER = re.compile(r"(?:19|20)\d\d|\d{0,3}|\d{1,4}00|(\d)\1*|[\d.,:/-]{1,8}(?<=\D.)")
"""Years, round numbers, dates, versions."""


def is_distinct(value: str) -> bool:
    """Return whether a value is no common word, number or name, which are in texts anyway."""
    if _NAME.fullmatch(value) or _NUMBER.fullmatch(value):
        return False
    known = load_rules()
    return not known.guards["term"].search(value) and value.rstrip("0123456789") not in known.words


class KnownValues:
    """Values that are searched for together: many of them take hardly longer than a few.

    Common words are not searched for: one is a secret only where its context says so.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values: dict[str, frozenset[str]] = {}
        """Each with its characters."""
        self._by_head: dict[str, dict[int, set[str]]] = {}
        for value in values:
            self.add(value)

    def add(self, value: str) -> None:
        """Search for `value` too."""
        if len(value) < _SHORTEST or not is_distinct(value):
            return
        size = next(size for size in _HEADS if size <= len(value))
        by_length = self._by_head.setdefault(value[:size], {})
        by_length.setdefault(len(value), set()).add(value)
        self._values[value] = frozenset(value)

    def find_places(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where a value starts and ends in `text`, in no order. Of several that overlap
        at least one is yielded.
        """
        few = len(self._values) <= _FEW
        for start, end in self._find_one_by_one(text) if few else self._find_at_once(text):
            if end - start >= _WHOLE_WORD or _is_whole_word(text, start, end):
                yield start, end

    def _find_one_by_one(self, text: str) -> Iterator[tuple[int, int]]:
        present = set(text)
        for value, characters in self._values.items():
            at = text.find(value) if characters <= present else -1
            while at >= 0:
                yield at, at + len(value)
                at = text.find(value, at + len(value))

    def _find_at_once(self, text: str) -> Iterator[tuple[int, int]]:
        known = self._by_head
        for size in _HEADS:
            heads = [at for at in range(len(text) - size + 1) if text[at : at + size] in known]
            end = 0
            for at in heads:
                if at >= end and (length := self._longest(text, at, size)):
                    end = at + length
                    yield at, end

    def _longest(self, text: str, at: int, size: int) -> int:
        """Return the length of the longest value at a place; 0 for none."""
        by_length = self._by_head[text[at : at + size]]
        fitting = (
            length for length, values in by_length.items() if text[at : at + length] in values
        )
        return max(fitting, default=0)


def _is_whole_word(text: str, start: int, end: int) -> bool:
    around = text[max(0, start - 1) : start] + text[end : end + 1]
    return not re.search(r"\w", around)
