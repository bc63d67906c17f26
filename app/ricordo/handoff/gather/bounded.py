"""A list that stays within bounds whatever a transcript holds: what came first and what came last
is kept, what lies between them goes.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

Item = TypeVar("Item")
Name = TypeVar("Name")


class Bounded(Generic[Item]):
    """Keeps the first and the last of what is added."""

    def __init__(self, most: int, weight: Callable[[Item], int] = lambda _: 1) -> None:
        """`most` is what all that is kept weighs together, half of it for the first ones."""
        self._room = most // 2
        self._weight = weight
        self._first: list[Item] = []
        self._first_weight = 0
        self._last: deque[Item] = deque()
        self._last_weight = 0

    def add(self, item: Item) -> None:
        """Keep `item`, and let go what there is no room for any more."""
        weight = self._weight(item)
        if not self._last and self._first_weight + weight <= self._room:
            self._first.append(item)
            self._first_weight += weight
            return
        self._last.append(item)
        self._last_weight += weight
        while self._last_weight > self._room and len(self._last) > 1:
            self._last_weight -= self._weight(self._last.popleft())

    def __iter__(self) -> Iterator[Item]:
        """Yield what is kept, in the order in which it came."""
        yield from self._first
        yield from self._last


def bounded(items: Iterable[Item], most: int) -> list[Item]:
    """Return the first and the last of `items`, at most `most`."""
    kept: Bounded[Item] = Bounded(most)
    for item in items:
        kept.add(item)
    return list(kept)


class Recent(OrderedDict[Name, Item]):
    """A table that holds what was put into it last, and forgets the rest."""

    def __init__(self, most: int) -> None:
        """`most` is how many it holds."""
        super().__init__()
        self._most = most

    def __setitem__(self, name: Name, item: Item) -> None:
        """Put `item` into it; what was put into it first goes where there is no room."""
        super().__setitem__(name, item)
        if len(self) > self._most:
            self.popitem(last=False)
