"""What a tool call asks for, and which files it touches, by the table `tools.toml` of an
agent.

The table has for each tool the action (`deed`) on a file, the argument that names its `path`, and
the one that holds the `text` that is written, with what was there `before`. For a tool that runs a
`command`, looks again at the `process` that runs one, keeps the list of `tasks`, or shows the user
what it `says`, the table has the arguments that hold them. A tool that the table does not name
touches no file that is known.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from ricordo.agents.agent import Agent, read_table
from ricordo.agents.transcripts.lines import as_dicts, as_text, cut
from ricordo.agents.transcripts.session import (
    LONGEST_COMMAND,
    MOST_TASKS,
    FileAction,
    FileTouch,
    Task,
    ToolCall,
    read_status,
)
from ricordo.agents.transcripts.shell import find_file_actions

LONGEST_WRITTEN = 16_000
"""Characters of what a tool wrote, and of what was there before, that are kept."""
_PATCHED = {
    "*** Add File: ": FileAction.WROTE,
    "*** Update File: ": FileAction.EDITED,
    "*** Move to: ": FileAction.WROTE,
    "*** Delete File: ": FileAction.DELETED,
}
"""The lines of a patch that name files."""
_SHELL_OPTIONS = frozenset(("-c", "-lc", "-ic", "-lic", "/c", "-Command"))
_OF_CALLS = frozenset(("command", "process", "task", "tasks"))
"""Fields of a tool whose call has more than a name."""
_WINDOWS_LONG = "\\\\?\\"


def find_touches(
    agent: Agent, tool: str, given: Mapping[str, Any], cwd: str, call: str
) -> tuple[FileTouch, ...]:
    """Return the files that a `tool` of `agent` touches when it is `given` these arguments; `cwd`
    is where it works.
    """
    known = read_table(agent, "tools").get(tool)
    if known is None:
        return ()
    cwd = as_text(_argument(known, "directory", given)) or cwd
    if "command" in known:
        return tuple(_find_by_command(given.get(known["command"]), cwd, call))
    if "patch" in known:
        return tuple(read_patch(as_text(given.get(known["patch"])), cwd, call))
    path = resolve_path(as_text(_argument(known, "path", given)), cwd)
    if not path:
        return ()
    written, before = _read_written(known, given, "text"), _read_written(known, given, "before")
    return (FileTouch(FileAction(known["deed"]), path, call, written, before),)


def make_call(agent: Agent, tool: str, given: Mapping[str, Any], call: str) -> ToolCall:
    """Return the `call` of a `tool` of `agent` that is `given` these arguments."""
    known = read_table(agent, "tools").get(tool, {})
    if _OF_CALLS.isdisjoint(known):
        return ToolCall(call, tool)
    return ToolCall(
        call,
        tool,
        cut(_join_words(_argument(known, "command", given)), LONGEST_COMMAND),
        _name(_argument(known, "process", given)),
        tuple(islice(_find_tasks(known, given), MOST_TASKS)),
        "tasks" in known,
    )


def read_shown_text(agent: Agent, tool: str, given: Mapping[str, Any]) -> str:
    """Return what a call of `tool` shows the user; "" if it shows nothing."""
    return as_text(_argument(read_table(agent, "tools").get(tool, {}), "says", given))


def read_patch(patch: str, cwd: str, call: str) -> Iterator[FileTouch]:
    """Yield the files that a patch touches, with the lines that it adds and
    removes.
    """
    parts: list[tuple[FileAction, str, list[str], list[str]]] = []
    for line in patch.split("\n"):
        mark = next((mark for mark in _PATCHED if line.startswith(mark)), "")
        if mark:
            parts.append((_PATCHED[mark], line.removeprefix(mark).strip(), [], []))
        elif parts and line.startswith(("+", "-")):
            _, _, added, removed = parts[-1]
            (added if line.startswith("+") else removed).append(line[1:])
    for deed, name, added, removed in parts:
        if path := resolve_path(name, cwd):
            yield FileTouch(deed, path, call, _join_lines(added), _join_lines(removed))


def resolve_path(path: str, cwd: str) -> str:
    """Return `path`, as an agent in `cwd` wrote it, as an absolute one; "" if that is
    unknown. One that begins with `~/` keeps it.
    """
    path = path.removeprefix(_WINDOWS_LONG)
    if not path or "\0" in path:
        return ""
    if path.startswith("~/"):
        return "~" + os.path.normpath(path[1:])
    whole = os.path.join(cwd, path)
    return os.path.normpath(whole) if whole.startswith("/") else ""


def _find_by_command(command: object, cwd: str, call: str) -> Iterator[FileTouch]:
    line = _join_words(command)
    if "*** Begin Patch" in line:
        yield from read_patch(line, cwd, call)
        return
    for deed, path, directory in find_file_actions(line):
        if whole := resolve_path(path, os.path.join(cwd, directory)):
            yield FileTouch(deed, whole, call)


def _argument(known: Mapping[str, str], part: str, given: Mapping[str, Any]) -> object:
    """Return the argument of a tool for `part`; None if it has none."""
    return given.get(known[part]) if part in known else None


def _join_words(value: object) -> str:
    """Return the line that a shell is given, or all words of another command."""
    if not isinstance(value, list):
        return as_text(value)
    words = list(map(as_text, value))
    if len(words) > 2 and words[1] in _SHELL_OPTIONS:
        # ["bash", "-lc", "cat notes.md"]
        return words[-1]
    return shlex.join(words)


def _find_tasks(known: Mapping[str, str], given: Mapping[str, Any]) -> Iterator[Task]:
    """Yield the tasks that a call names: the whole list, or one that is new or changed."""
    if "task" in known:
        named, text = _name(_argument(known, "id", given)), _read_text(given.get(known["task"]))
        yield Task(named, text, read_status(as_text(given.get("status"))))
    for task in as_dicts(_argument(known, "tasks", given)):
        if text := _read_text(task.get(known["text"])):
            yield Task("", text, read_status(as_text(task.get("status"))) or "pending")


def _read_text(value: object) -> str:
    """Return the text of a task; "" if it is blank."""
    text = as_text(value)
    return text if text.strip() else ""


def _name(value: object) -> str:
    return str(value) if isinstance(value, int) else as_text(value)


def _read_written(known: Mapping[str, str], given: Mapping[str, Any], which: str) -> str:
    if "texts" not in known:
        return as_text(_argument(known, which, given))[:LONGEST_WRITTEN]
    return _join_lines(as_text(it.get(known[which])) for it in as_dicts(given.get(known["texts"])))


def _join_lines(lines: Iterable[str]) -> str:
    return "\n".join(lines)[:LONGEST_WRITTEN]
