"""Which statements are worth comparing: those that share two of their rarest words.

Every statement has a few keys, each made of two of its words; statements with a key in common are
candidates. So the work grows with the memory, not with the pairs that there are in it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, combinations

_WORD_BITS = 20
_PLACE_BITS = 24
_MOST_WORDS = (1 << _WORD_BITS) - 2
MOST_PLACES = 1 << _PLACE_BITS
"""Statements that one index holds."""
_RAREST = 4
"""Words of a statement of which two make a key."""
_SHORT = 6
"""Words of a statement of which any two make a key."""
_SCANT = 2
"""Words of a statement so short that one of them makes a key as well."""
_CROWD = 24
"""Statements with one key that are many of a kind, not a few of one subject."""
_EVERY = 2_000


class Blocks:
    """The statements of a memory by their keys."""

    def __init__(
        self, subjects: Sequence[tuple[str, ...]], step: Callable[[], None] = lambda: None
    ) -> None:
        """`subjects` are the words of each statement; `step` is called now and then."""
        counts = Counter(chain.from_iterable(subjects))
        told = sorted((word for word, n in counts.items() if n > 1), key=lambda w: (counts[w], w))
        self._number = {word: number for number, word in enumerate(told[:_MOST_WORDS], 1)}
        found = array("Q")
        for place, words in enumerate(subjects):
            if not place % _EVERY:
                step()
            if words:
                found.extend([key << _PLACE_BITS | place for key in self._keys(words)])
        step()
        self._sorted = array("Q", sorted(found))

    def pairs(self) -> set[tuple[int, int]]:
        """Return the places of every two statements that are worth comparing, the lower first."""
        found: set[tuple[int, int]] = set()
        for places in self._groups():
            found.update(combinations(places, 2))
        return found

    def near(self, words: tuple[str, ...]) -> set[int]:
        """Return the places of the statements that are worth comparing with one of these words."""
        found: set[int] = set()
        for key in self._keys(words):
            start = bisect_left(self._sorted, key << _PLACE_BITS)
            end = bisect_left(self._sorted, (key + 1) << _PLACE_BITS, start)
            if end - start < _CROWD:
                found.update(it & (MOST_PLACES - 1) for it in self._sorted[start:end])
        return found

    def _groups(self) -> Iterator[list[int]]:
        """The places that share a key, in their order, without crowds."""
        last = -1
        places: list[int] = []
        mask = MOST_PLACES - 1
        for it in self._sorted:
            key = it >> _PLACE_BITS
            if key != last:
                if 1 < len(places) <= _CROWD:
                    yield places
                last, places = key, []
            places.append(it & mask)
        if 1 < len(places) <= _CROWD:
            yield places

    def _keys(self, words: Iterable[str]) -> list[int]:
        number = self._number.get
        numbers = sorted([it for word in words if (it := number(word))])
        is_scant = len(numbers) <= _SCANT
        if len(numbers) > _SHORT:
            numbers = numbers[:_RAREST]
        keys = [a << _WORD_BITS | b for a, b in combinations(numbers, 2)]
        return [*keys, *numbers] if is_scant else keys
