"""A handoff as a value: its head and its statements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from ricordo.activity.session import Agent
from ricordo.handoff.statement import Statement


class Target(StrEnum):
    """For whom a handoff is written."""

    CLAUDE = "claude"
    CODEX = "codex"
    OPENCODE = "opencode"
    GEMINI = "gemini"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class SourceSession:
    """A session that was handed off."""

    agent: Agent
    id: str
    path: str
    """Its transcript, as it was found."""


@dataclass(frozen=True, slots=True)
class Head:
    """What a program reads of a handoff."""

    written: datetime
    expires: datetime
    target: Target
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

    head: Head
    statements: tuple[Statement, ...]
    left_out: int = 0
    """Statements for which the budget had no room."""
