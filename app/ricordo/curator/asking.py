"""An engine outside our code: it reads the brief as text and replies with edits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ricordo.curator.brief import Brief
from ricordo.curator.edits import read_edits
from ricordo.curator.engine import FREE, Answer, Step, Usage
from ricordo.curator.restoring import restored
from ricordo.memory.change import Author
from ricordo.memory.memory import Memory
from ricordo.model.redaction import Redaction, Sealed


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    edits: object
    """Any value that JSON has; what is no list of edits is rejected."""
    usage: Usage = FREE


Ask = Callable[[Sealed, Step], Reply]
"""Sends a brief that is fit to leave, and waits for the reply. Raises CuratorFailed, and what the
step raises.
"""


@dataclass(frozen=True, slots=True)
class Asking:
    """Asks, and reads the reply as if it came from an enemy."""

    author: Author
    ask: Ask
    redaction: Redaction
    """That of the run: it seals the brief, and brings back what is answered to it."""

    def answer(self, memory: Memory, brief: Brief, step: Step) -> Answer:
        """Return what the reply wishes, as far as it is of the shape that `edits` reads."""
        reply = self.ask(self.redaction.sealed(brief.text), step)
        read = read_edits(memory, brief, reply.edits)
        home = restored(self.redaction, memory, read.wishes)
        return Answer(home.wishes, (*read.rejected, *home.rejected), reply.usage)
