"""What a note reminds of, with the way that leads there."""

from __future__ import annotations

from ricordo.memory.memory import Memory
from ricordo.notebook.surroundings import Surroundings
from ricordo.notebook.usage import given_together
from ricordo.recall.association import LINKS, Association, Associations, Step

__all__ = ["LINKS", "Association", "Associations", "Step", "associations"]


def associations(memory: Memory, surroundings: Surroundings | None = None) -> Associations:
    """Return what the notes of `memory` remind of; one value for as long as the memory stands.

    With `surroundings`, notes that agents were given at once, as far as they are still there,
    remind of one another too.
    """
    together = given_together(surroundings, memory) if surroundings else ()
    here = memory.by_path
    return Associations(memory, [it for it in together if it[0] in here and it[1] in here])
