"""Sessions of agents, as values that are the same for all agents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from ricordo.agents.agent import Agent
from ricordo.agents.transcripts.lines import as_text


@dataclass(frozen=True, slots=True)
class Task:
    """A task on the list that an agent keeps of its work."""

    id: str
    """The agent's id of it; "" if it has none yet."""
    text: str
    status: str
    """`pending`, `in_progress`, `completed` or `cancelled`; "" if it is unknown."""
    message_number: int = 0
    """The number of the message with its text; 0 if it is unknown."""


class ToolCall(NamedTuple):
    """The call of a tool."""

    id: str
    """A `CallResult` with this id comes later."""
    tool: str
    command: str = ""
    """The shell command that it runs, cut if it is long."""
    process: str = ""
    """The id of the running command whose output it asks for."""
    tasks: tuple[Task, ...] = ()
    is_whole_list: bool = False
    """Whether `tasks` replaces the list, instead of adding to it."""


class CallResult(NamedTuple):
    """How a call ended."""

    call: str
    has_failed: bool | None = False
    """None if it is unknown: it was stopped, or goes on in the background."""
    exit: int | None = None
    """None if there is no exit code."""
    output: str = ""
    """Only both ends of it if it is long."""
    process: str = ""
    """The id of the command that is still running."""
    task: str = ""
    """The id of the task that it created."""
    is_rejected: bool = False
    """Whether the user rejected it."""
    is_denied: bool = False
    """Whether the permissions of the agent denied it, without asking the user."""
    user_words: str = ""
    """What the user said when rejecting it."""
    answers: tuple[tuple[str, str], ...] = ()
    """The questions that it asked the user, each with the answer."""


LONGEST_COMMAND = 4_000
"""Characters of a command that are kept."""
MOST_TASKS = 500
"""Tasks of one list that are kept."""
_HEAD, _TAIL = 4_000, 12_000
"""Characters of an output that are kept: the result is at its end, the error often at its
beginning.
"""
OMISSION = "…"
"""A line of an output in place of what is not kept between its ends."""
_STATUSES = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
    "cancelled": "cancelled",
    "deleted": "cancelled",
}


def shorten_output(text: str) -> str:
    """Return an output, without its middle if it is long."""
    if len(text) <= _HEAD + _TAIL:
        return text
    return f"{text[:_HEAD]}\n{OMISSION}\n{text[-_TAIL:]}"


def read_status(status: str) -> str:
    """Return the status that an agent gives a task; "" if it is unknown."""
    return _STATUSES.get(status, "")


class TaskList:
    """The tasks of one session, by its calls and their results."""

    def __init__(self) -> None:
        """The list is empty at first."""
        self._tasks: dict[str, Task] = {}
        """By id; a task without one by the id of its call."""

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks as they are now, in their order."""
        return tuple(self._tasks.values())

    def apply_call(self, call: ToolCall, message_number: int) -> None:
        """Apply what a call in message number `message_number` says about tasks."""
        if call.is_whole_list:
            self._tasks = {
                f"{n}": replace(task, message_number=message_number)
                for n, task in enumerate(call.tasks)
            }
            return
        for task in call.tasks:
            name = task.id or call.id
            before = self._tasks.get(name, Task(name, "", "pending"))
            text, told_in = (
                (task.text, message_number) if task.text else (before.text, before.message_number)
            )
            if text and (name in self._tasks or len(self._tasks) < MOST_TASKS):
                self._tasks[name] = Task(task.id, text, task.status or before.status, told_in)

    def apply_result(self, result: CallResult) -> None:
        """Apply the result of a call: a task may have got its id, or was not created."""
        made = self._tasks.get(result.call)
        if made is None:
            return
        if result.has_failed:
            del self._tasks[result.call]
        elif result.task:
            renamed = {result.call: result.task}
            self._tasks = {renamed.get(name, name): task for name, task in self._tasks.items()}


def read_answers(value: object) -> tuple[tuple[str, str], ...]:
    """Return the questions and answers of an object that has the answer to each question."""
    if not isinstance(value, Mapping):
        return ()
    pairs = ((as_text(question), as_text(answer)) for question, answer in value.items())
    return tuple((question, answer) for question, answer in pairs if answer)


class Speaker(StrEnum):
    """Whose message it is."""

    USER = "person"
    AGENT = "agent"
    TOOL = "tool"
    SYSTEM = "system"
    """The program around the agent."""


class Noise(StrEnum):
    """Why a message is none of the user or the agent."""

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
        """Whether it changes the file."""
        return self is not FileAction.READ


class MessagePlace(NamedTuple):
    """The place of a message in its transcript."""

    offset: int
    """In bytes; 0 if the transcript is not a file of lines."""
    line: int
    """1-based, or the number of the part in its session."""


@dataclass(frozen=True, slots=True)
class FileTouch:
    """A file that a tool read, wrote, edited or deleted."""

    action: FileAction
    path: str
    """Absolute, without `..`; `~/` as it was written."""
    call: str
    """The id of the tool call; its result comes later."""
    text: str = ""
    """What was written, if the call says so; cut if it is long."""
    before: str = ""
    """What was there before, if the call says so; cut if it is long."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a session, or a tool call or output between them."""

    who: Speaker
    text: str
    """Cut if it is long; "" if the message has no text."""
    at: str
    """ISO 8601 in UTC; "" if it is unknown."""
    key: str
    """The agent's uuid of it; "" if it has none."""
    place: MessagePlace
    noise: Noise | None = None
    touches: tuple[FileTouch, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    results: tuple[CallResult, ...] = ()
    is_aside: bool = False
    """Whether it is part of a side chain: messages between an agent and a sub-agent."""
    cwd: str = ""
    """Where its tools ran; "" if its line does not say."""

    @property
    def failed(self) -> frozenset[str]:
        """The calls that failed, by this message."""
        return frozenset(result.call for result in self.results if result.has_failed)

    @property
    def succeeded(self) -> frozenset[str]:
        """The calls that succeeded, by this message."""
        return frozenset(result.call for result in self.results if result.has_failed is False)

    @property
    def is_spoken(self) -> bool:
        """Whether the user or the agent wrote it to the other."""
        spoken = self.who in (Speaker.USER, Speaker.AGENT) and bool(self.text)
        return spoken and self.noise is None and not self.is_aside


@dataclass(frozen=True, slots=True)
class Session:
    """One session, as far as its transcript was read."""

    agent: Agent
    id: str
    path: str
    """The file that holds it."""
    cwd: str = ""
    """The working directory in which it began."""
    branch: str = ""
    title: str = ""
    """The name that the agent or the user gave it, else the first words of the user."""
    started: str = ""
    """ISO 8601 in UTC, the earliest time in it; clocks may run backwards."""
    ended: str = ""
    continues: str = ""
    """The session that it continues or was forked from."""
    part_of: str = ""
    """The session whose sub-agent it is."""

    @property
    def shown(self) -> str:
        """A name for it: its title, else the beginning of its id."""
        return self.title or self.id[:8]
