"""The protocol of an engine: it gets a brief, proposes changes, and writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from ricordo.curation.brief import Brief
from ricordo.curation.proposal import ProposedChange, RejectedChange
from ricordo.memory.change import Author
from ricordo.memory.memory import Memory


class CurationProgress(NamedTuple):
    """The progress of a curation."""

    phase: str
    """The current activity, such as “reading transcripts”."""
    tokens: int = 0
    """Output tokens of the engine so far."""
    text: str = ""
    """The end of the engine's output so far, unchecked."""


Step = Callable[[CurationProgress], None]
"""Gets the progress again and again; raises where the user cancelled."""


@dataclass(frozen=True, slots=True)
class EngineUsage:
    """The cost of an answer."""

    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0
    """None where the price is unknown."""

    def __add__(self, other: EngineUsage) -> EngineUsage:
        known = None if self.usd is None or other.usd is None else self.usd + other.usd
        tokens = self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens
        return EngineUsage(*tokens, known)


FREE = EngineUsage()


@dataclass(frozen=True, slots=True)
class UnreadInput:
    """A part of a brief that no answer covers."""

    source: str
    """The path of a note or the source of a message; "" for everything around them."""
    why: str
    is_deferred: bool = False
    """Whether the engine was not asked about it; the next curation may cover it."""


@dataclass(frozen=True, slots=True)
class EngineAnswer:
    """The changes that an engine proposes, unchecked."""

    changes: tuple[ProposedChange, ...] = ()
    rejected: tuple[RejectedChange, ...] = ()
    """Parts of the answer that are not valid changes."""
    usage: EngineUsage = FREE
    shown: Mapping[str, str] = field(default_factory=dict)
    """Texts that the engine saw redacted, by source: its quotes are looked up in these."""
    extra_usage: EngineUsage = FREE
    """Cost besides the `usage`, of questions that the ledger records separately."""
    unread: tuple[UnreadInput, ...] = ()


class Engine(Protocol):
    """Proposes changes."""

    @property
    def author(self) -> Author:
        """Its name, its model and the version of its prompt."""

    def answer(self, memory: Memory, brief: Brief, step: Step) -> EngineAnswer:
        """Return the changes to `memory` that it proposes, by the `brief` on it. Raises
        CuratorFailed, and what `step` raises.
        """
