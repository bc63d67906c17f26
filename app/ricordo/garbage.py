"""Keeping garbage collection away from the many values of a large memory."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

MANY = 500
"""Files of a memory, from which on garbage collection would be felt."""


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """While a memory is read or judged, all is new and nothing garbage: to go through ten thousand
    notes again and again would only take time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def set_aside() -> None:
    """Spare what is there now every later collection: to go through ten thousand notes, or what was
    found of them, takes as long as a tenth of reading them. They are still freed once nobody refers to them, for their
    values refer to each other in no circle.
    """
    gc.freeze()
