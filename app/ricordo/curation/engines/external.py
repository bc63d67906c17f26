"""An engine outside our code: it is sent the brief as sealed text and replies with edits, which are
read as if they came from an enemy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ricordo.curation.brief import Brief
from ricordo.curation.edits import as_shown, read_edits, restored, with_frontmatter
from ricordo.curation.engine import FREE, EngineAnswer, EngineUsage, Step
from ricordo.llm.redaction import Redaction, Sealed, framed
from ricordo.memory.change import Author
from ricordo.memory.memory import Memory


@dataclass(frozen=True, slots=True)
class Sent:
    """A brief as it leaves."""

    stable: Sealed
    """What is hardly another one in the next curation."""
    changing: Sealed


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    said: object
    """What the form says: any value that JSON has. What is no list of edits is rejected."""
    usage: EngineUsage = FREE


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a curation may cost, before it."""

    input_tokens: int
    output_tokens: int
    """The most that may be written."""
    usd: float | None
    """The most, with nothing served by a cache; None where the price is not known."""


class Measured(Protocol):
    """What can be sent, before it is."""

    @property
    def tokens(self) -> int:
        """About how many tokens it costs."""


NOTHING = Sent(framed("", ()), framed("", ()))
"""No brief: what is sent with it is sent around every one."""


def sent_of(brief: Brief, redaction: Redaction) -> Sent:
    """Return `brief` as it leaves, by the `redaction` that it was composed with."""
    return Sent(redaction.sealed(brief.stable), redaction.sealed(brief.changing))


Ask = Callable[[Sent, Step], Reply]
"""Sends a brief and waits for the reply. Raises CuratorFailed, and what the step raises."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Asks, and reads the reply."""

    author: Author
    ask: Ask
    redaction: Redaction = field(default_factory=Redaction)
    """That of the brief."""
    said: Mapping[str, str] = field(default_factory=dict)
    """The turns of the brief as they are, by their source."""

    def answer(self, memory: Memory, brief: Brief, step: Step) -> EngineAnswer:
        """Return what the reply wishes, as far as it is of the shape that `edits` reads, and with
        what the notes hold in the place of what was kept back.
        """
        redaction = self.redaction
        reply = self.ask(sent_of(brief, redaction), step)
        read = read_edits(memory, brief, reply.said)
        brought = restored(redaction, memory, read.wishes)
        wishes = tuple(with_frontmatter(memory, it) for it in brought.wishes)
        shown = as_shown(redaction, memory, self.said, brought.wishes)
        rejected = (*read.rejected, *brought.rejected)
        return EngineAnswer(wishes, rejected, reply.usage, shown)
