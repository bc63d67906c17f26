"""Comparing: the notes of a memory that repeat or contradict each other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ricordo.health.evidence import Evidence
from ricordo.memory.memory import Memory

if TYPE_CHECKING:
    from ricordo.health.conflicts.comparing import Comparing as Comparer
    from ricordo.notebook.evidence import Step

RULES = frozenset(("contradiction", "duplicate"))


class Comparing:
    """The source of the pairs. Only notes that changed are compared again."""

    rules = RULES

    def __init__(self) -> None:
        self._comparer: Comparer | None = None

    def gather(self, memory: Memory, known: Evidence, step: Step) -> Evidence:
        """Return `known` with the pairs of notes of which one may have to go."""
        from ricordo.health.conflicts.comparing import Comparing as Comparer

        comparer = self._comparer or Comparer()
        self._comparer = comparer
        pairs = comparer.pairs(memory, lambda: step("comparing notes"))
        return replace(known, pairs=pairs)
