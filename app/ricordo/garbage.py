"""Keeping garbage collection away from the many values of a large memory."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

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
