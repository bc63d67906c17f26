"""What agents did, as values that are the same for all agents: sessions of turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from ricordo.agents.agent import Agent
from ricordo.agents.transcripts.lines import text_of


@dataclass(frozen=True, slots=True)
class Task:
    """A task on the list that an agent keeps of its work."""

    id: str
    """As the agent calls it; "" where it has no name yet."""
    text: str
    status: str
    """`pending`, `in_progress`, `completed` or `cancelled`; "" where that was not told."""
    turn: int = 0
    """The turn that told its words; 0 where that is not known."""


class Call(NamedTuple):
    """The call of a tool."""

    id: str
    """Names it; an ending says later what became of it."""
    tool: str
    command: str = ""
    """The shell command that it runs; cut where it is long."""
    process: str = ""
    """The command that still runs, to which it looks again."""
    tasks: tuple[Task, ...] = ()
    is_whole_list: bool = False
    """Whether `tasks` is the list from now on, and not what is new of it."""


class CallResult(NamedTuple):
    """How a call ended."""

    call: str
    has_failed: bool | None = False
    """None where that cannot be told: it was stopped, or goes on in the background."""
    exit: int | None = None
    """None where no number is told."""
    output: str = ""
    """Both ends of it where it is long."""
    process: str = ""
    """Names the command that goes on."""
    task: str = ""
    """What the task is called that it made."""
    is_refused: bool = False
    """Whether the person did not let it be done."""
    is_denied: bool = False
    """Whether the rules of the agent's program did not let it be done, without asking anybody."""
    words: str = ""
    """What the person said in refusing it."""
    answers: tuple[tuple[str, str], ...] = ()
    """The questions that it put to the person, each with the answer."""


LONGEST_COMMAND = 4_000
"""Characters of a command that are kept."""
MOST_TASKS = 500
"""Tasks of one list that are kept."""
_HEAD, _TAIL = 4_000, 12_000
"""Characters of an output that are kept: how it went stands at its end, what was wrong often at its
beginning.
"""
LEFT_OUT = "…"
"""Stands on a line of its own in an output for what is not kept between its ends."""
_STATUSES = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
    "cancelled": "cancelled",
    "deleted": "cancelled",
}


def both_ends(text: str) -> str:
    """Return an output as far as it is kept."""
    if len(text) <= _HEAD + _TAIL:
        return text
    return f"{text[:_HEAD]}\n{LEFT_OUT}\n{text[-_TAIL:]}"


def status_of(said: str) -> str:
    """Return the status that an agent gives a task, in our words; "" for one that is unknown."""
    return _STATUSES.get(said, "")


class TaskList:
    """The tasks of one session, as calls and endings tell of them."""

    def __init__(self) -> None:
        """The list is empty at first."""
        self._tasks: dict[str, Task] = {}
        """By their names; one without a name is called by its call."""

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks as they stand now, in their order."""
        return tuple(self._tasks.values())

    def hear(self, call: Call, turn: int) -> None:
        """Take note of what a call in this turn says of tasks."""
        if call.is_whole_list:
            self._tasks = {f"{n}": replace(it, turn=turn) for n, it in enumerate(call.tasks)}
            return
        for task in call.tasks:
            name = task.id or call.id
            before = self._tasks.get(name, Task(name, "", "pending"))
            text, told = (task.text, turn) if task.text else (before.text, before.turn)
            if text and (name in self._tasks or len(self._tasks) < MOST_TASKS):
                self._tasks[name] = Task(task.id, text, task.status or before.status, told)

    def end(self, ending: CallResult) -> None:
        """Take note of how a call ended: a task may have got its name, or was not made at all."""
        made = self._tasks.get(ending.call)
        if made is None:
            return
        if ending.has_failed:
            del self._tasks[ending.call]
        elif ending.task:
            renamed = {ending.call: ending.task}
            self._tasks = {renamed.get(name, name): it for name, it in self._tasks.items()}


def answers_of(value: object) -> tuple[tuple[str, str], ...]:
    """Return the questions and answers in an object that has the answer to each question."""
    if not isinstance(value, Mapping):
        return ()
    told = ((text_of(question), text_of(answer)) for question, answer in value.items())
    return tuple((question, answer) for question, answer in told if answer)


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


class FileAction(StrEnum):
    """What a tool did to a file."""

    READ = "read"
    WROTE = "wrote"
    EDITED = "edited"
    DELETED = "deleted"

    @property
    def changes(self) -> bool:
        """Whether the file is another one afterwards."""
        return self is not FileAction.READ


class Where(NamedTuple):
    """The place of a turn in its transcript."""

    offset: int
    """In bytes; 0 where the transcript is no file of lines."""
    line: int
    """1-based, or the number of the part in its session."""


@dataclass(frozen=True, slots=True)
class Touch:
    """A file that a tool read, wrote, edited or deleted."""

    deed: FileAction
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
    endings: tuple[CallResult, ...] = ()
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
