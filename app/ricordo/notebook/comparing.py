"""Comparing: the notes of a memory that repeat or contradict each other."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from ricordo.disk.compared import recall_compared, remember_compared
from ricordo.health.evidence import Evidence, NotePair
from ricordo.health.rules.pairs import RULE_OF
from ricordo.memory.memory import Memory

if TYPE_CHECKING:
    from ricordo.health.conflicts.comparing import Comparing as Comparer
    from ricordo.notebook.evidence import Step


class Comparing:
    """The source of the pairs. Only notes that changed are compared again; what came of it is kept
    for the next process.
    """

    rules = frozenset(RULE_OF.values())

    def __init__(self, state: str) -> None:
        """`state` is our directory; nothing is looked at yet."""
        self._state = state
        self._comparer: Comparer | None = None
        self._stamp = ""
        """Of the memory of which the pairs are kept."""

    def has_news(self) -> bool:
        """Whether there is more to know of the same memory: never."""
        return False

    def gather(self, memory: Memory, known: Evidence, step: Step) -> Evidence:
        """Return `known` with the pairs of notes of which one may have to go."""
        from ricordo.health.conflicts.keeping import stamp_of

        stamp = stamp_of(memory)
        pairs = self._kept(memory, stamp) if self._comparer is None else None
        if pairs is None:
            pairs = self._compared(memory, stamp, step)
        self._stamp = stamp
        return replace(known, pairs=pairs)

    def _kept(self, memory: Memory, stamp: str) -> tuple[NotePair, ...] | None:
        from ricordo.health.conflicts.keeping import unpacked

        rows = recall_compared(self._state, memory.root, stamp)
        return None if rows is None else unpacked(rows, memory)

    def _compared(self, memory: Memory, stamp: str, step: Step) -> tuple[NotePair, ...]:
        from ricordo.health.conflicts.comparing import Comparing as Comparer
        from ricordo.health.conflicts.keeping import packed

        self._comparer = self._comparer or Comparer()
        pairs = self._comparer.pairs(memory, lambda: step("comparing notes"))
        if stamp != self._stamp:
            # where the state cannot be written, they are compared anew the next time
            with suppress(OSError):
                remember_compared(self._state, memory.root, stamp, packed(pairs, memory))
        return pairs
