"""Values that are known, and where they stand in a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_HEADS = (16, 3)
"""Characters by which values are looked up: long ones by many, so that few places are tried."""


class KnownValues:
    """Values that are looked for all at once: how many there are costs next to no time."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._by_head: dict[str, dict[int, set[str]]] = {}
        self._heads: set[int] = set()
        for value in values:
            self.add(value)

    def add(self, value: str) -> None:
        """Look for `value` too; one of fewer than three characters would be found everywhere."""
        size = next((it for it in _HEADS if it <= len(value)), 0)
        if size:
            self._heads.add(size)
            by_length = self._by_head.setdefault(value[:size], {})
            by_length.setdefault(len(value), set()).add(value)

    def places(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where a value starts and ends in `text`, those of 16 characters and more first.
        Of two values that start at one place, the longer one is told.
        """
        known = self._by_head
        for size in sorted(self._heads, reverse=True):
            heads = (at for at in range(len(text) - size + 1) if text[at : at + size] in known)
            end = 0
            for at in heads:
                if at >= end and (length := self._length(text, at, size)):
                    end = at + length
                    yield at, end

    def _length(self, text: str, at: int, size: int) -> int:
        """Return how long the longest value is that stands at a place; 0 for none."""
        by_length = self._by_head[text[at : at + size]]
        fitting = (it for it, values in by_length.items() if text[at : at + it] in values)
        return max(fitting, default=0)
