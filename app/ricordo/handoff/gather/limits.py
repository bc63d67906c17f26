"""A list with a limit: it keeps the first and the last items and drops those between."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

Item = TypeVar("Item")
Name = TypeVar("Name")


class BoundedList(Generic[Item]):
    """Keeps the first and the last of what is added."""

    def __init__(self, most: int, weight: Callable[[Item], int] = lambda _: 1) -> None:
        """`most` is the limit of the weights of all items together, half of it for the
        first ones.
        """
        self._room = most // 2
        self._weight = weight
        self._first: list[Item] = []
        self._first_weight = 0
        self._last: deque[Item] = deque()
        self._last_weight = 0

    def add(self, item: Item) -> None:
        """Add `item`, and drop what exceeds the limit."""
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
        """Yield the kept items, in the order in which they were added."""
        yield from self._first
        yield from self._last


def keep_first_and_last(items: Iterable[Item], most: int) -> list[Item]:
    """Return the first and the last of `items`, at most `most`."""
    limited: BoundedList[Item] = BoundedList(most)
    for item in items:
        limited.add(item)
    return list(limited)


class RecentDict(OrderedDict[Name, Item]):
    """A dict that keeps only the last items that were set."""

    def __init__(self, most: int) -> None:
        """`most` is the maximum number of items."""
        super().__init__()
        self._most = most

    def __setitem__(self, name: Name, item: Item) -> None:
        """Set an item; the oldest one is dropped beyond the limit."""
        super().__setitem__(name, item)
        if len(self) > self._most:
            self.popitem(last=False)
