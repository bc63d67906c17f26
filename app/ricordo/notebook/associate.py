"""What a note reminds of, with the way that leads there."""

from __future__ import annotations

from ricordo.memory.memory import Memory
from ricordo.recall.association import LINKS, Association, Associations, Step

__all__ = ["LINKS", "Association", "Associations", "Step", "associations"]


def associations(memory: Memory) -> Associations:
    """Return what the notes of `memory` remind of; one value for as long as the memory stands."""
    return Associations(memory)
