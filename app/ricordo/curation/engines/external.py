"""External engines: they get the brief as sealed text and reply with edits, which are untrusted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ricordo.curation.brief import Brief
from ricordo.curation.edits import read_edits, redact_sources, restore_secrets, with_frontmatter
from ricordo.curation.engine import FREE, EngineAnswer, EngineUsage, Step
from ricordo.llm.redaction import Redaction, Sealed, frame
from ricordo.memory.change import Author
from ricordo.memory.memory import Memory


@dataclass(frozen=True, slots=True)
class SealedBrief:
    """A brief as it is sent."""

    stable: Sealed
    """The part that hardly changes until the next curation."""
    changing: Sealed


@dataclass(frozen=True, slots=True)
class EngineReply:
    """The reply of an engine."""

    value: object
    """The content of the form, any JSON value; rejected unless it is a list of edits."""
    usage: EngineUsage = FREE


@dataclass(frozen=True, slots=True)
class Estimate:
    """The most that a curation may cost."""

    input_tokens: int
    output_tokens: int
    usd: float | None
    """Without any cache hit; None where the price is unknown."""


class Measured(Protocol):
    """Something to send whose size is known."""

    @property
    def tokens(self) -> int:
        """Estimated tokens."""


EMPTY_BRIEF = SealedBrief(frame("", ()), frame("", ()))
"""An empty brief: what is sent with it is the overhead of every brief."""


def seal_brief(brief: Brief, redaction: Redaction) -> SealedBrief:
    """Return `brief` sealed by the `redaction` that it was composed with."""
    return SealedBrief(redaction.seal(brief.stable), redaction.seal(brief.changing))


AskEngine = Callable[[SealedBrief, Step], EngineReply]
"""Sends a brief and returns the reply. Raises CuratorFailed, and what the step raises."""


@dataclass(frozen=True, slots=True)
class ExternalEngine:
    """An engine that asks a model or program, and reads the reply."""

    author: Author
    ask: AskEngine
    redaction: Redaction = field(default_factory=Redaction)
    """The redaction of the brief."""
    messages: Mapping[str, str] = field(default_factory=dict)
    """The messages of the brief, unredacted, by source."""

    def answer(self, memory: Memory, brief: Brief, step: Step) -> EngineAnswer:
        """Return the valid changes of the reply, with the redacted values restored, and the
        rejected rest.
        """
        return self.read_reply(memory, brief, self.ask(seal_brief(brief, self.redaction), step))

    def read_reply(self, memory: Memory, brief: Brief, reply: EngineReply) -> EngineAnswer:
        """Return the valid changes of a `reply` to `brief`, and the rejected rest."""
        redaction = self.redaction
        edits = read_edits(memory, brief, reply.value)
        complete = restore_secrets(redaction, memory, edits.changes)
        changes = tuple(with_frontmatter(memory, change) for change in complete.changes)
        shown = redact_sources(redaction, memory, self.messages, complete.changes)
        rejected = (*edits.rejected, *complete.rejected)
        return EngineAnswer(changes, rejected, reply.usage, shown)
