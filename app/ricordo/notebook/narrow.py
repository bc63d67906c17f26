"""Narrowing what is listed of a memory to what is typed."""

from __future__ import annotations

from functools import lru_cache
from threading import Lock

from ricordo.memory.memory import Memory
from ricordo.recall.narrow import Narrower


def fitting(memory: Memory, typed: str) -> frozenset[str]:
    """Return the paths of the files of `memory` that fit what is `typed`, by the rules of the
    finder, but word by word.
    """
    return _narrower(memory).fitting(typed)


def prepare(memory: Memory) -> None:
    """Make what `fitting` needs, so that no key has to wait for it."""
    _narrower(memory).prepare()


def _narrower(memory: Memory) -> Narrower:
    # whoever asks while it is made waits, and does not make a second one
    with _making:
        return _made(memory)


_making = Lock()


@lru_cache(maxsize=1)
def _made(memory: Memory) -> Narrower:
    # kept, because the same memory is narrowed with every key
    return Narrower(memory)
