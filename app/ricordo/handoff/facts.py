"""The facts that were gathered for a handoff, each with its place in a transcript."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from ricordo.agents.agent import Agent
from ricordo.agents.transcripts.session import FileAction, Session

KEPT = 0
"""The number of what is in no transcript: summaries that hooks kept."""


class MessageRef(NamedTuple):
    """The place of a message: its session and its number there."""

    session: int
    """The number of the session among those that were handed off, from 0."""
    number: int
    """The line of its transcript, or the number of the part in its session; from 1. `KEPT` for the
    summaries that hooks kept of it.
    """
    at: str = ""
    """ISO 8601 in UTC; "" where unknown."""


@dataclass(frozen=True, slots=True)
class MessageFact:
    """A message of the user or of the agent, word for word."""

    id: str
    """The id of the fact within one handoff: `f12`."""
    ref: MessageRef
    text: str
    is_user: bool


@dataclass(frozen=True, slots=True)
class SummaryFact:
    """The summary that a compaction wrote, in the words of the agent."""

    id: str
    ref: MessageRef
    text: str


class Refusal(StrEnum):
    """Who refused an action."""

    USER = "user"
    RULES = "rules"
    """The permission rules of the agent, without asking the user."""


class CommandPurpose(StrEnum):
    """The purpose of a command."""

    TEST = "test"
    CHECK = "check"
    """Types, style, a build."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class CommandFact:
    """A command that the agent ran."""

    id: str
    ref: MessageRef
    command: str
    purpose: CommandPurpose
    exit: int | None
    """As the transcript reports it; None where it has no number."""
    has_failed: bool | None
    """None where the transcript does not report it."""
    result: str = ""
    """The line of its output that reports the outcome: "12 passed in 3.1s"; "" without one."""
    changed_since: tuple[str, ...] = ()
    """Files that the sessions changed after it ran, by their paths in the project."""
    ended: str = ""
    """When it ended, ISO 8601 in UTC; "" where unknown."""


@dataclass(frozen=True, slots=True)
class FileUse:
    """A file that was read or changed."""

    id: str
    path: str
    """Relative to the project, with `/`; absolute for a file outside it."""
    actions: tuple[FileAction, ...]
    """What was done to it, in the order in which each was done first."""
    last_use: MessageRef
    """The message of the last change, else of the last reading."""
    change_count: int
    """How often it was changed."""
    sha: str | None
    """SHA-256 of its content now, in hexadecimal; None where it does not exist or cannot be read.
    """
    parts: tuple[str, ...] = ()
    """Functions, classes and headings that the changes name, the latest last: only those that the
    file has now, or all where it was not checked.
    """
    is_missing: bool = False
    """Whether a check found that the project has no such file now."""

    @property
    def is_changed(self) -> bool:
        """Whether the sessions changed it."""
        return any(action.changes for action in self.actions)


@dataclass(frozen=True, slots=True)
class TaskFact:
    """A task on the agent's list, with its last status."""

    id: str
    ref: MessageRef
    """The message that worded it."""
    text: str
    status: str
    """`pending`, `in_progress`, `completed` or `cancelled`."""


@dataclass(frozen=True, slots=True)
class ErrorFact:
    """An error of a command or tool."""

    id: str
    ref: MessageRef
    """The message that reported it."""
    what: str
    """What failed: the command, or the tool and its file."""
    error: str
    """The line that reports the error."""
    fixed: MessageRef | None = None
    """The message at which the same thing succeeded; None where it never did."""
    changed_files: str = ""
    """The files that were changed in between, in a few words."""


@dataclass(frozen=True, slots=True)
class RuledOutFact:
    """Something that was tried and abandoned, reverted or refused."""

    id: str
    ref: MessageRef
    what: str
    reason: str
    """The reason in the words of the session; "" where none is found."""
    is_action: bool = False
    """Whether an action shows it, such as a reverted edit: then `what` describes the action and
    quotes nobody.
    """
    refusal: Refusal | None = None
    """Who refused it; then `what` is the command, or the file and the tool."""
    refusal_text: str = ""
    """How the transcript reports the refusal, word for word."""


@dataclass(frozen=True, slots=True)
class DecisionFact:
    """A decision, in the words of the session."""

    id: str
    ref: MessageRef
    text: str
    reason: str
    is_user: bool
    question: str = ""
    """The question that it answers; "" where it answers none."""


GIT_ID = "git"
"""The id of the repository state among the facts of a statement."""


MEMORY_ID = "memory"
"""The id of the memory's directory among the facts of a statement."""


@dataclass(frozen=True, slots=True)
class GitState:
    """The current state of the project's repository."""

    commit: str
    """The full id; "" without commits."""
    branch: str
    """"" where no branch is checked out."""
    dirty: tuple[str, ...]
    """Files with uncommitted changes, untracked files included."""
    unpushed: int | None
    """Commits that the upstream does not have; None without an upstream."""
    subject: str = ""
    """The first line of the commit message."""


@dataclass(frozen=True, slots=True)
class NoteFact:
    """A note of the memory that is relevant to the work."""

    id: str
    path: str
    """Relative to the memory."""
    name: str
    description: str
    sha: str
    reason: str
    """Why recall returned it."""


Fact = (
    MessageFact
    | SummaryFact
    | CommandFact
    | FileUse
    | TaskFact
    | ErrorFact
    | RuledOutFact
    | DecisionFact
    | NoteFact
)
"""What a statement can be based on."""


@dataclass(frozen=True, slots=True)
class Facts:
    """All facts, each kind in the order of time."""

    project: str
    """Absolute path of the directory that gets `HANDOFF.md`."""
    sessions: tuple[Session, ...]
    """The handed-off sessions, then those of their sub-agents that changed files."""
    messages: tuple[MessageFact, ...] = ()
    summaries: tuple[SummaryFact, ...] = ()
    commands: tuple[CommandFact, ...] = ()
    files: tuple[FileUse, ...] = ()
    tasks: tuple[TaskFact, ...] = ()
    errors: tuple[ErrorFact, ...] = ()
    ruled_out: tuple[RuledOutFact, ...] = ()
    decisions: tuple[DecisionFact, ...] = ()
    git: GitState | None = None
    """None where the project is in no repository."""
    memory: str = ""
    """The directory of the memory; "" without one."""
    notes: tuple[NoteFact, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    """The paths of files in the project, by the names that the sessions use for them."""

    @property
    def agents(self) -> tuple[Agent, ...]:
        """Return the agents of the sessions, each once."""
        return tuple(dict.fromkeys(session.agent for session in self.sessions))
