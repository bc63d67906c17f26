"""Long work in threads gives way to what a person waits for.

The threads of a process share one processor for all that is written in Python: beside work that
never rests, everything that is on its way to the screen takes twice as long.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_SLICE = 0.005
"""Seconds of work, after which others get their turn."""
_REST = 0.002
"""Seconds."""
_PAINTED_AFTER = 0.2
"""Seconds for which what was awaited may still be on its way to the screen."""


class _Awaited:
    """What is being done while a person waits for it."""

    def __init__(self) -> None:
        self.count = 0
        self.ended = float("-inf")
        """When the last of it was done, by a steady clock."""

    @property
    def is_over(self) -> bool:
        """Whether nothing is awaited any more."""
        return not self.count and time.monotonic() - self.ended >= _PAINTED_AFTER


_awaited = _Awaited()


@contextmanager
def awaited() -> Iterator[None]:
    """Let all long work wait meanwhile. For one thread, that of the screen."""
    _awaited.count += 1
    try:
        yield
    finally:
        _awaited.count -= 1
        _awaited.ended = time.monotonic()


class Throttle:
    """One piece of long work that gives way."""

    def __init__(self, patience: float, is_needed: Callable[[], bool] = lambda: False) -> None:
        """`patience` is for how many seconds it waits more than it works: it must be done some day,
        even where something is awaited without an end. It does not wait while it `is_needed`: what
        is awaited may need it itself.
        """
        self._most = self._patience = patience
        self._is_needed = is_needed
        self._turn = time.monotonic()

    def step(self) -> None:
        """Rest, if it is time to; called by the work itself, every few milliseconds."""
        worked = time.monotonic() - self._turn
        if worked < _SLICE:
            return
        self._patience = min(self._patience + worked, self._most)
        time.sleep(_REST)
        began = time.monotonic()
        while self._patience > 0 and not (_awaited.is_over or self._is_needed()):
            time.sleep(_SLICE)
            now = time.monotonic()
            self._patience -= now - began
            began = now
        self._turn = time.monotonic()


_MANY = 50_000
"""Values that were made and kept, from which on going through them would be felt."""


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """While a memory is read, judged or compared, all is new and nothing garbage: to go through
    ten thousand notes again and again would only take time.

    What was made is spared later collections too, where it is much: to go through it once takes
    as long as a tenth of reading it, and longer than a key can wait. It is still freed once nobody
    refers to it, for these values refer to each other in no circle.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] > _MANY:
            gc.freeze()
        if was_enabled:
            gc.enable()
