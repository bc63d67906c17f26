"""An engine outside our code: it reads the brief as text and replies with edits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ricordo.curator.brief import Brief
from ricordo.curator.edits import read_edits
from ricordo.curator.engine import FREE, Answer, Step, Usage
from ricordo.memory.change import Author
from ricordo.memory.memory import Memory


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    edits: object
    """Any value that JSON has; what is no list of edits is rejected."""
    usage: Usage = FREE


Ask = Callable[[str, Step], Reply]
"""Sends a brief and waits for the reply. Raises CuratorFailed, and what the step raises."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Asks, and reads the reply as if it came from an enemy."""

    author: Author
    ask: Ask

    def answer(self, memory: Memory, brief: Brief, step: Step) -> Answer:
        """Return what the reply wishes, as far as it is of the shape that `edits` reads."""
        reply = self.ask(brief.text, step)
        read = read_edits(memory, brief, reply.edits)
        return Answer(read.wishes, read.rejected, reply.usage)
