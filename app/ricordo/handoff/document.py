"""A handoff as a value: its header and its statements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Any

import tomli

from ricordo.agents.agent import Agent, read_table
from ricordo.agents.registry import list_handoff_agents
from ricordo.handoff.facts import MessageRef
from ricordo.resources import read_data_text


class StatementSection(StrEnum):
    """What a statement is about. The heading of a section depends on the target agent."""

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


class ProofStatus(StrEnum):
    """How well a statement is proved."""

    VERIFIED = "verified"
    REPORTED = "reported"
    STALE = "stale"
    QUOTED = "quoted"
    UNVERIFIED = "unverified"


def describe_statuses(statuses: Iterable[ProofStatus]) -> str:
    """Return how many statements have each status: `4 verified, 9 quoted`; `none` for none."""
    count = Counter(statuses)
    return ", ".join(f"{count[it]} {it.value}" for it in ProofStatus if count[it]) or "none"


@dataclass(frozen=True, slots=True)
class FileProof:
    """Proof that a file of the project has this content."""

    path: str
    sha: str | None
    """The first 12 digits of its SHA-256; None for a file that does not exist."""


@dataclass(frozen=True, slots=True)
class GitProof:
    """Proof that this commit and branch are checked out, with this number of uncommitted files."""

    commit: str
    """In full, or its first 12 digits."""
    branch: str
    dirty: int


@dataclass(frozen=True, slots=True)
class NoteProof:
    """Proof that a note of the memory has this content."""

    path: str
    sha: str
    """The first 12 digits of its SHA-256."""


@dataclass(frozen=True, slots=True)
class MemoryProof:
    """Proof that the memory is in this directory."""

    path: str
    """Absolute."""


@dataclass(frozen=True, slots=True)
class ResultProof:
    """Proof that a transcript reports how a command ended."""

    exit: int | None
    """None where the transcript reports only success or failure."""
    has_failed: bool
    ref: MessageRef
    changed: tuple[str, ...] = ()
    """What the result depends on and was changed since: files, or `commit`."""


@dataclass(frozen=True, slots=True)
class QuoteProof:
    """Proof that the transcript contains the quoted words."""

    ref: MessageRef


Proof = FileProof | GitProof | NoteProof | MemoryProof | ResultProof | QuoteProof
"""What a statement is based on."""


@dataclass(frozen=True, slots=True)
class HandoffStatement:
    """One statement of a handoff."""

    section: StatementSection
    text: str
    """Its text without its mark: one line, or several where it quotes."""
    proof: Proof | None = None
    """None where nothing proves it."""
    fact_ids: tuple[str, ...] = ()
    """The ids of the facts that it is based on."""
    quote: str = ""
    """What it quotes word for word; written as a quotation."""
    is_model_text: bool = False
    """Whether a model worded it: then nothing proves it."""

    @property
    def status(self) -> ProofStatus:
        """Return the status that its proof gives it."""
        match self.proof:
            case None:
                return ProofStatus.UNVERIFIED
            case QuoteProof():
                return ProofStatus.QUOTED
            case ResultProof(changed=changed):
                return ProofStatus.STALE if changed else ProofStatus.REPORTED
            case FileProof() | GitProof() | NoteProof() | MemoryProof():
                return ProofStatus.VERIFIED


ANY_AGENT = Agent("any", "any agent")
"""For whom a handoff is written that is for no agent in particular."""


def handoff_targets() -> tuple[Agent, ...]:
    """Return for whom a handoff can be written."""
    return (*list_handoff_agents(), ANY_AGENT)


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
        return tomli.loads(read_data_text("handoff/any.toml"))
    return read_table(target, "handoff")


@dataclass(frozen=True, slots=True)
class SourceSession:
    """A session that was handed off."""

    agent: Agent
    id: str
    path: str
    """The path of its transcript when it was read."""


@dataclass(frozen=True, slots=True)
class HandoffHeader:
    """The machine-readable fields of a handoff."""

    written: datetime
    expires: datetime
    target: Agent
    budget: int
    """In tokens."""
    engine: str
    """`rules` where it was composed without a model."""
    sources: tuple[SourceSession, ...]
    commit: str = ""
    """In full; "" without git."""
    branch: str = ""
    dirty: tuple[str, ...] = ()
    files: Mapping[str, str | None] = field(default_factory=dict)
    """The files that the sessions changed, by path in the project, each with the first 12 digits of
    the SHA-256 of its content when the handoff was written; None where it did not exist.
    """
    memory: str = ""
    project: str = ""
    """Absolute path of the project; "" where the handoff is directly in it."""
    redactions: int = 0
    """The number of redactions in the text."""
    unlisted: int = 0
    """The number of files, changed or dirty, that did not fit into the header."""


@dataclass(frozen=True, slots=True)
class Handoff:
    """One handoff, as read or ready to be written."""

    header: HandoffHeader
    statements: tuple[HandoffStatement, ...]
    left_out: int = 0
    """Statements that did not fit into the budget."""


Heading = tuple[str, ...]
"""One heading, or a parent heading and its own."""


@dataclass(frozen=True, slots=True)
class HandoffLayout:
    """How a handoff for one agent is laid out."""

    order: tuple[StatementSection, ...]
    """Every section, in the order of the document."""
    headings: Mapping[StatementSection, Heading]
    max_tokens: int
    pointer: str
    """A sentence that says how the agent gets at the notes."""

    def find_section(self, heading: Heading) -> StatementSection | None:
        """Return the section with this heading; None for an unknown heading."""
        return next((section for section, known in self.headings.items() if known == heading), None)


@cache
def load_layout(target: Agent) -> HandoffLayout:
    """Return the layout of handoffs for `target`."""
    table = target_table(target)["sections"]
    headings = {StatementSection(name): tuple(parts) for name, parts in table["names"].items()}
    order = tuple(StatementSection(name) for name in table["order"])
    assert sorted(order) == sorted(headings) == sorted(StatementSection)
    return HandoffLayout(order, headings, int(table["tokens"]), str(table["pointer"]))
