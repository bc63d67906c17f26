"""What an engine is: it is given a brief and answers with wishes. It writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from ricordo.curation.brief import Brief
from ricordo.curation.proposal import ProposedChange, Rejected
from ricordo.memory.change import Author
from ricordo.memory.memory import Memory


class CurationProgress(NamedTuple):
    """How far a curation is."""

    phase: str
    """What is being done, as “reading transcripts”."""
    tokens: int = 0
    """How many tokens an engine has answered so far."""
    text: str = ""
    """The end of what it has answered so far, as it came: nobody has looked at it."""


Step = Callable[[CurationProgress], None]
"""Told all the while how far it is; raises where it was cancelled."""


@dataclass(frozen=True, slots=True)
class EngineUsage:
    """What an answer cost."""

    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0
    """None where the price is not known."""

    def __add__(self, other: EngineUsage) -> EngineUsage:
        known = None if self.usd is None or other.usd is None else self.usd + other.usd
        tokens = self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens
        return EngineUsage(*tokens, known)


FREE = EngineUsage()


@dataclass(frozen=True, slots=True)
class Unread:
    """Something of a brief that stands behind no answer."""

    source: str
    """The path of a note or the source of a turn; "" for all that stands around them."""
    why: str
    is_left: bool = False
    """Whether it was only not asked about: another time it may be answered."""


@dataclass(frozen=True, slots=True)
class EngineAnswer:
    """What an engine wishes, unchecked."""

    wishes: tuple[ProposedChange, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    """What it said that is no wish at all."""
    usage: EngineUsage = FREE
    shown: Mapping[str, str] = field(default_factory=dict)
    """What the engine was shown, by its source, where that is not what stands there: its quotes
    are looked up in these.
    """
    besides: EngineUsage = FREE
    """What was paid besides the `usage`, for questions that have a cost of their own."""
    unread: tuple[Unread, ...] = ()


class Engine(Protocol):
    """Proposes changes."""

    @property
    def author(self) -> Author:
        """Who it is: its name, its model, the version of its prompt."""

    def answer(self, memory: Memory, brief: Brief, step: Step) -> EngineAnswer:
        """Return what it would change in `memory`, on which `brief` was composed. Raises
        CuratorFailed, and what `step` raises.
        """
