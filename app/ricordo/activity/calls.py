"""What an agent asked its tools to do, and how each of these calls ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from ricordo.activity.values import text_of


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


class Ending(NamedTuple):
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

    def end(self, ending: Ending) -> None:
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
