"""A handoff as a value: its head and its statements."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Any

from ricordo.agents.agent import Agent, read_table
from ricordo.agents.registry import handoff_agents
from ricordo.handoff.facts import Ref
from ricordo.resources import data_text


class StatementSection(StrEnum):
    """What a statement is about. How a section is called depends on for whom it is written."""

    OBJECTIVE = "objective"
    CONSTRAINTS = "constraints"
    DONE = "done"
    ACTIVE = "active"
    BLOCKED = "blocked"
    DECISIONS = "decisions"
    RULED_OUT = "ruled out"
    FILES = "files"
    ERRORS = "errors"
    NEXT = "next"
    QUESTIONS = "questions"
    MEMORY = "memory"
    MESSAGES = "messages"


class Status(StrEnum):
    """How far a statement is proved."""

    VERIFIED = "verified"
    REPORTED = "reported"
    STALE = "stale"
    QUOTED = "quoted"
    UNVERIFIED = "unverified"


@dataclass(frozen=True, slots=True)
class FileIs:
    """A file of the project has this content."""

    path: str
    sha: str | None
    """The first 12 digits of its SHA-256; None: it is not there."""


@dataclass(frozen=True, slots=True)
class GitIs:
    """This commit is checked out, on this branch, with as many files that are not as committed."""

    commit: str
    """In full, or its first 12 digits."""
    branch: str
    dirty: int


@dataclass(frozen=True, slots=True)
class NoteIs:
    """A note of the memory has this content."""

    path: str
    sha: str
    """The first 12 digits of its SHA-256."""


@dataclass(frozen=True, slots=True)
class MemoryAt:
    """The memory lies in this directory."""

    path: str
    """Absolute."""


@dataclass(frozen=True, slots=True)
class ResultMark:
    """A transcript reports how a command ended."""

    exit: int | None
    """None where it says only whether it failed."""
    has_failed: bool
    ref: Ref
    changed: tuple[str, ...] = ()
    """What it rests on and was changed since: files, or `commit`."""


@dataclass(frozen=True, slots=True)
class QuoteMark:
    """The words stand in the transcript."""

    ref: Ref


Proof = FileIs | GitIs | NoteIs | MemoryAt | ResultMark | QuoteMark
"""What a statement rests on."""


@dataclass(frozen=True, slots=True)
class HandoffStatement:
    """One line of a handoff."""

    section: StatementSection
    text: str
    """One line or several; several only where it quotes. Without its mark."""
    proof: Proof | None = None
    """None where nothing proves it."""
    stands_on: tuple[str, ...] = ()
    """The ids of the facts that it stands on."""
    quote: str = ""
    """What it quotes word for word, and stands in the document as a quotation."""
    is_own_words: bool = False
    """Whether a model put it into its own words: nothing proves what they mean."""

    @property
    def status(self) -> Status:
        """The mark that it carries."""
        match self.proof:
            case None:
                return Status.UNVERIFIED
            case QuoteMark():
                return Status.QUOTED
            case ResultMark(changed=changed):
                return Status.STALE if changed else Status.REPORTED
            case FileIs() | GitIs() | NoteIs() | MemoryAt():
                return Status.VERIFIED


ANY_AGENT = Agent("any", "any agent")
"""For whom a handoff is written that is for no agent in particular."""


def handoff_targets() -> tuple[Agent, ...]:
    """Return for whom a handoff can be written."""
    return (*handoff_agents(), ANY_AGENT)


def handoff_target(name: str) -> Agent:
    """Return the target that is called `name`. Raises ValueError for no such one."""
    target = next((it for it in handoff_targets() if it.name == name), None)
    if target is None:
        raise ValueError(f"no agent is called {name!r}")
    return target


@cache
def target_table(target: Agent) -> dict[str, Any]:
    """Return what is known of handoffs for `target`, by the tables of `any.toml`."""
    if target == ANY_AGENT:
        return tomllib.loads(data_text("handoff/any.toml"))
    return read_table(target, "handoff")


@dataclass(frozen=True, slots=True)
class SourceSession:
    """A session that was handed off."""

    agent: Agent
    id: str
    path: str
    """Its transcript, as it was found."""


@dataclass(frozen=True, slots=True)
class HandoffHeader:
    """What a program reads of a handoff."""

    written: datetime
    expires: datetime
    target: Agent
    budget: int
    """Tokens."""
    engine: str
    """`rules` where it was composed by extraction."""
    sources: tuple[SourceSession, ...]
    commit: str = ""
    """In full; "" without git."""
    branch: str = ""
    dirty: tuple[str, ...] = ()
    files: Mapping[str, str | None] = field(default_factory=dict)
    """The files that the sessions changed, by path in the project, each with the first 12 digits of
    the SHA-256 of its content when this was written; None where it was not there.
    """
    memory: str = ""
    project: str = ""
    """Absolute path of the project; "" where the handoff lies directly in it."""
    redactions: int = 0
    """How often something stands in it that was kept back."""
    unlisted: int = 0
    """Files, changed or dirty, for which the head had no room."""


@dataclass(frozen=True, slots=True)
class Handoff:
    """One handoff, ready to be written or as it was read."""

    head: HandoffHeader
    statements: tuple[HandoffStatement, ...]
    left_out: int = 0
    """Statements for which the budget had no room."""


Heading = tuple[str, ...]
"""One heading, or the one above it and its own."""


@dataclass(frozen=True, slots=True)
class Family:
    """How handoffs for one agent look."""

    order: tuple[StatementSection, ...]
    """Every section, in the order in which they stand."""
    headings: Mapping[StatementSection, Heading]
    most_tokens: int
    pointer: str
    """How that agent comes to the notes, as a sentence."""

    def section(self, heading: Heading) -> StatementSection | None:
        """Return what stands under a heading; None where none of ours is called so."""
        return next((it for it, own in self.headings.items() if own == heading), None)


@cache
def family(target: Agent) -> Family:
    """Return how handoffs for `target` look."""
    table = target_table(target)["sections"]
    headings = {StatementSection(name): tuple(parts) for name, parts in table["names"].items()}
    order = tuple(StatementSection(name) for name in table["order"])
    assert sorted(order) == sorted(headings) == sorted(StatementSection)
    return Family(order, headings, int(table["tokens"]), str(table["pointer"]))
