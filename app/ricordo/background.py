"""Throttle background threads while the user waits, and control garbage collection.

Python threads share one processor: with a background thread that never pauses, everything on its
way to the screen takes twice as long.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_SLICE = 0.005
"""Seconds of work between two pauses."""
_PAUSE = 0.002
"""Seconds."""
_PAINT_TIME = 0.2
"""Seconds for which a finished result may still be on its way to the screen."""


class _ForegroundWork:
    """The work that the user is waiting for."""

    def __init__(self) -> None:
        self.count = 0
        self.ended = float("-inf")
        """When the last of it ended, by the monotonic clock."""

    @property
    def is_over(self) -> bool:
        """Whether the user is not waiting for anything."""
        return not self.count and time.monotonic() - self.ended >= _PAINT_TIME


_foreground = _ForegroundWork()


@contextmanager
def foreground_work() -> Iterator[None]:
    """Pause all throttled work until the block ends. For the thread of the screen only."""
    _foreground.count += 1
    try:
        yield
    finally:
        _foreground.count -= 1
        _foreground.ended = time.monotonic()


class Throttle:
    """Pauses one background task while the user waits for something else."""

    def __init__(self, patience: float, is_needed: Callable[[], bool] = lambda: False) -> None:
        """Limit the pauses: the task pauses at most `patience` seconds more than it works, so that
        it ends even if the user waits forever. It does not pause while it `is_needed`, because the
        work that the user waits for may depend on it.
        """
        self._max_patience = self._patience = patience
        self._is_needed = is_needed
        self._slice_start = time.monotonic()

    def step(self) -> None:
        """Pause if it is time to; the task calls this every few milliseconds."""
        worked = time.monotonic() - self._slice_start
        if worked < _SLICE:
            return
        self._patience = min(self._patience + worked, self._max_patience)
        time.sleep(_PAUSE)
        began = time.monotonic()
        while self._patience > 0 and not (_foreground.is_over or self._is_needed()):
            time.sleep(_SLICE)
            now = time.monotonic()
            self._patience -= now - began
            began = now
        self._slice_start = time.monotonic()


_FREEZE_ABOVE = 50_000
"""New objects, above which a later collection would cause a noticeable pause."""


@contextmanager
def pause_gc() -> Iterator[None]:
    """Turn the garbage collector off while a memory is read, checked or compared: all objects are
    new and none is garbage, so collections would only take time.

    If many objects were created, they are also excluded from later collections: one takes a tenth
    of the time of reading them, longer than a key press can wait. They are still freed by their
    reference counts, because they form no reference cycles.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] > _FREEZE_ABOVE:
            gc.freeze()
        if was_enabled:
            gc.enable()
