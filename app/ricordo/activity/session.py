"""What agents did, as values that are the same for all agents: sessions of turns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from ricordo.activity.calls import Call, Ending


class Agent(StrEnum):
    """Whose transcripts are read."""

    CLAUDE = "claude"
    CODEX = "codex"
    OPENCODE = "opencode"

    @property
    def shown(self) -> str:
        """The name as people write it."""
        return {"claude": "Claude Code", "codex": "Codex"}.get(self.value, self.value)


class Who(StrEnum):
    """Whose turn it is."""

    PERSON = "person"
    AGENT = "agent"
    TOOL = "tool"
    SYSTEM = "system"
    """The program around the agent."""


class Noise(StrEnum):
    """Why a turn is nothing that the person or the agent said."""

    CALL = "tool call"
    OUTPUT = "tool output"
    THINKING = "thinking"
    IMAGE = "image"
    REMINDER = "system reminder"
    HOOK = "hook"
    COMMAND = "slash command"
    WRAPPER = "instructions and environment"
    SUMMARY = "summary of a compaction"
    SYNTHETIC = "written by the program"
    REPEATED = "said before"


class Deed(StrEnum):
    """What a tool did to a file."""

    READ = "read"
    WROTE = "wrote"
    EDITED = "edited"
    DELETED = "deleted"

    @property
    def changes(self) -> bool:
        """Whether the file is another one afterwards."""
        return self is not Deed.READ


class Where(NamedTuple):
    """The place of a turn in its transcript."""

    offset: int
    """In bytes; 0 where the transcript is no file of lines."""
    line: int
    """1-based, or the number of the part in its session."""


@dataclass(frozen=True, slots=True)
class Touch:
    """A file that a tool read, wrote, edited or deleted."""

    deed: Deed
    path: str
    """Absolute, without `..`; `~/` as it was written."""
    call: str
    """Names the call of the tool; a result says later whether it failed."""
    text: str = ""
    """What was written, as far as the call tells; cut where it is long."""
    before: str = ""
    """What stood there before, where the call tells; cut where it is long."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a session, or what stands between them."""

    who: Who
    text: str
    """Cut where it is long; "" where a message holds no words."""
    at: str
    """ISO 8601 in UTC; "" where it is not known."""
    key: str
    """The uuid that the agent gave it; "" where it gave none."""
    where: Where
    noise: Noise | None = None
    touches: tuple[Touch, ...] = ()
    calls: tuple[Call, ...] = ()
    endings: tuple[Ending, ...] = ()
    is_aside: bool = False
    """Whether it belongs to a side chain: the talk of an agent with a sub-agent."""

    @property
    def failed(self) -> frozenset[str]:
        """The calls that failed, as this turn tells."""
        return frozenset(it.call for it in self.endings if it.has_failed)

    @property
    def succeeded(self) -> frozenset[str]:
        """The calls that did what they were to do, as this turn tells."""
        return frozenset(it.call for it in self.endings if it.has_failed is False)

    @property
    def is_said(self) -> bool:
        """Whether the person or the agent said it, to one another."""
        spoken = self.who in (Who.PERSON, Who.AGENT) and bool(self.text)
        return spoken and self.noise is None and not self.is_aside


@dataclass(frozen=True, slots=True)
class Session:
    """One session, as far as its transcript was read."""

    agent: Agent
    id: str
    path: str
    """The file that holds it."""
    cwd: str = ""
    """Where it began."""
    branch: str = ""
    title: str = ""
    """As the agent or the person named it, else the first words of the person."""
    started: str = ""
    """ISO 8601 in UTC, the earliest time in it; clocks may run backwards in between."""
    ended: str = ""
    continues: str = ""
    """The session that it went on from or was forked from."""
    part_of: str = ""
    """The session whose sub-agent it is."""

    @property
    def shown(self) -> str:
        """A name for it: its title, else the beginning of its id."""
        return self.title or self.id[:8]
