"""What was gathered for a handoff: facts, each with where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from ricordo.agents.agent import Agent
from ricordo.agents.transcripts.session import FileAction, Session


class Ref(NamedTuple):
    """A turn, by its place in its session."""

    session: int
    """Which of the sessions that were handed off, from 0."""
    turn: int
    """The line of its transcript, or the number of the part in its session; from 1."""
    at: str = ""
    """ISO 8601 in UTC; "" where it is not known."""


@dataclass(frozen=True, slots=True)
class MessageFact:
    """A message of the person or of the agent, word for word."""

    id: str
    """Names the fact within one handoff: `f12`."""
    ref: Ref
    text: str
    is_person: bool


@dataclass(frozen=True, slots=True)
class Summary:
    """What a compaction kept, in the words of the agent."""

    id: str
    ref: Ref
    text: str


class Refusal(StrEnum):
    """Who did not let something be done."""

    USER = "user"
    RULES = "rules"
    """The rules of the agent's program, without asking the user."""


class Work(StrEnum):
    """What a command was run for."""

    TEST = "test"
    CHECK = "check"
    """Types, style, a build."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that the agent ran."""

    id: str
    ref: Ref
    command: str
    work: Work
    exit: int | None
    """As the transcript reports it; None where it tells no number."""
    has_failed: bool | None
    """None where the transcript does not tell."""
    result: str = ""
    """The line of its output that says how it went: "12 passed in 3.1s"; "" without one."""
    changed_since: tuple[str, ...] = ()
    """Files that the sessions changed after it ran, by their paths in the project."""
    ended: str = ""
    """When it ended, ISO 8601 in UTC; "" where that is not known."""


@dataclass(frozen=True, slots=True)
class FileUse:
    """A file that was read or changed."""

    id: str
    path: str
    """In the project, with `/`; absolute for one outside it."""
    deeds: tuple[FileAction, ...]
    """In the order in which they were first done."""
    last: Ref
    """The last turn that changed it, else the last that read it."""
    times: int
    """How often it was changed."""
    sha: str | None
    """SHA-256 of its content now, in hexadecimal; None where it is not there or cannot be read."""
    parts: tuple[str, ...] = ()
    """What the changes name of it, the latest last: functions, classes, headings. Those that it has
    now; all, where it was not looked at.
    """
    is_gone: bool = False
    """Whether it was seen that nothing of that name is in the project now."""

    @property
    def is_changed(self) -> bool:
        """Whether the sessions changed it."""
        return any(deed.changes for deed in self.deeds)


@dataclass(frozen=True, slots=True)
class Todo:
    """A task on the agent's list, as it stood last."""

    id: str
    ref: Ref
    """The turn that told its words."""
    text: str
    status: str
    """`pending`, `in_progress`, `completed` or `cancelled`."""


@dataclass(frozen=True, slots=True)
class ErrorFact:
    """An error that a command or tool came to."""

    id: str
    ref: Ref
    """The turn that told it."""
    what: str
    """What was done: the command, or the tool and its file."""
    error: str
    """The line that tells the error."""
    mended: Ref | None = None
    """The turn at which the same thing succeeded; None where it never did."""
    by: str = ""
    """What was changed in between, in a few words."""


@dataclass(frozen=True, slots=True)
class GivenUp:
    """What was tried and given up."""

    id: str
    ref: Ref
    what: str
    why: str
    """In the words of the session; "" where none are found."""
    is_deed: bool = False
    """Whether it was seen to be taken back: `what` tells of it then, and is nobody's words."""
    refusal: Refusal | None = None
    """Who did not let it be done; `what` is the command then, or the file and the tool."""
    said: str = ""
    """How the transcript tells of the refusal, word for word."""


@dataclass(frozen=True, slots=True)
class DecisionFact:
    """What was decided, in the words of the session."""

    id: str
    ref: Ref
    text: str
    why: str
    is_person: bool
    asked: str = ""
    """The question that it answers; "" where it answers none."""


GIT = "git"
"""Names the state of the repository among what a statement stands on."""


MEMORY = "memory"
"""Names the directory of the memory among what a statement stands on."""


@dataclass(frozen=True, slots=True)
class GitState:
    """The repository of the project, as git tells it now."""

    commit: str
    """In full; "" without commits."""
    branch: str
    """"" where none is checked out."""
    dirty: tuple[str, ...]
    """Files that are not as committed, with those that git does not know."""
    unpushed: int | None
    """Commits that the upstream has not; None without an upstream."""
    subject: str = ""
    """The first line of the commit's message."""


@dataclass(frozen=True, slots=True)
class NoteFound:
    """A note of the memory that bears on the work."""

    id: str
    path: str
    """In the memory."""
    name: str
    description: str
    sha: str
    why: str
    """Why recall gave it."""


Fact = MessageFact | Summary | Ran | FileUse | Todo | ErrorFact | GivenUp | DecisionFact | NoteFound
"""What a statement can stand on."""


@dataclass(frozen=True, slots=True)
class Facts:
    """All that was gathered, each kind in the order of time."""

    project: str
    """Absolute path of the directory in which `HANDOFF.md` stands."""
    sessions: tuple[Session, ...]
    """Those that are handed off, and behind them those of their sub-agents that changed files."""
    said: tuple[MessageFact, ...] = ()
    summaries: tuple[Summary, ...] = ()
    ran: tuple[Ran, ...] = ()
    files: tuple[FileUse, ...] = ()
    todos: tuple[Todo, ...] = ()
    mishaps: tuple[ErrorFact, ...] = ()
    given_up: tuple[GivenUp, ...] = ()
    decided: tuple[DecisionFact, ...] = ()
    git: GitState | None = None
    """None where the project is in no repository."""
    memory: str = ""
    """Where the memory lies; "" where there is none."""
    notes: tuple[NoteFound, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    """How sessions call files, each with the file's path in the project."""

    @property
    def agents(self) -> tuple[Agent, ...]:
        """Whose sessions they are, each once."""
        return tuple(dict.fromkeys(session.agent for session in self.sessions))
