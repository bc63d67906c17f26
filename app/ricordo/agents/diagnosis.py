"""What an agent can tell about its own set-up, for a diagnosis: values without any judgement, and
what reads the forms that several agents share.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from typing import Any, NamedTuple

from ricordo.agents.transcripts.lines import as_dict, as_dicts, as_text
from ricordo.storage.foreign_file import read_json, read_plain_file

LARGEST_SETTINGS = 16 * 1024 * 1024
_SECONDS = {"seconds": 1.0, "milliseconds": 0.001}


class FolderSession(NamedTuple):
    """A session in such a folder."""

    path: str
    """Its transcript."""
    cwd: str
    """Where it began; "" where that is unknown."""
    began: str
    """When it began, ISO 8601 in UTC; "" where that is unknown."""

    @property
    def id(self) -> str:
        """Its id, by the name of its transcript."""
        return os.path.splitext(os.path.basename(self.path))[0]


class ProjectFolder(NamedTuple):
    """A folder that an agent keeps for a project, with transcripts and a memory."""

    path: str
    memory: str
    """The directory of its memory, there or not."""
    sessions: tuple[FolderSession, ...]
    """The newest first."""
    owners: tuple[str, ...] = ()
    """The directories after which it may be named, as far as they are known, there or not."""

    @property
    def name(self) -> str:
        """Its own name."""
        return self.path.rpartition("/")[2]

    @property
    def cwds(self) -> tuple[str, ...]:
        """Where its sessions began, each once."""
        return tuple(dict.fromkeys(it.cwd for it in self.sessions if it.cwd))


class MemorySource(NamedTuple):
    """A settings file that names the directory of a memory."""

    file: str
    scope: str
    """Whose settings they are: `user`, `local`, `project` or `managed`."""
    directory: str
    """What it names; "" where that is no usable path."""
    value: str = ""
    """As the file says it; "" for no text."""


class HookTimeout(NamedTuple):
    """After what time an agent stops a hook."""

    seconds: float
    value: float
    """As the settings say it."""
    unit: str
    """What the agent takes that for."""


class ConfiguredHook(NamedTuple):
    """A command that an agent runs at an event."""

    event: str
    command: str
    """As a shell runs it."""
    file: str
    """The settings or the plugin that has it."""
    matcher: str = ""
    """For which tools or starts it is run; "" for all."""
    ignored_arguments: tuple[str, ...] = ()
    """Arguments that the settings give it, and the agent does not."""
    timeout: HookTimeout | None = None
    """None where the settings do not say it."""
    is_trusted: bool = True
    """Whether the agent runs it: some skip hooks until the user trusts them."""


class HookRun(NamedTuple):
    """One run of a hook, as a transcript has it."""

    event: str
    command: str
    milliseconds: int
    exit: int = 0
    error: str = ""
    """What it printed as an error."""


class ConfiguredServer(NamedTuple):
    """An MCP server that an agent starts."""

    name: str
    command: tuple[str, ...]
    file: str
    is_of_project: bool = False
    """Whether a file in the project names it, which anybody may have written."""


class NamedFile(NamedTuple):
    """A file that settings name."""

    path: str
    """Absolute."""
    file: str
    """The settings."""


class SettingInEffect(NamedTuple):
    """A setting that a diagnosis reports, and the file that has it."""

    key: str
    file: str


class BrokenFile(NamedTuple):
    """A settings file that its agent cannot read."""

    path: str
    error: str
    """What is wrong with it, after its name."""


class RepositoryRecord(NamedTuple):
    """What an agent noted of the repository in a directory, there or not."""

    directory: str
    commit: str = ""
    """The whole name of a commit in it; "" where none was noted."""
    remote: str = ""
    """The address of its remote; "" where none was noted."""
    branch: str = ""


class PathHolder(NamedTuple):
    """A file or folder of an agent that holds the path of a project."""

    path: str
    about: str
    """What it is, in a few words."""


def read_object(path: str) -> dict[str, Any]:
    """Return the JSON object in a settings file; an empty one if it has none."""
    return as_dict(read_json(path, LARGEST_SETTINGS)[0])


def read_hooks(
    table: dict[str, Any], file: str, *, unit: str = "seconds", takes_arguments: bool = True
) -> Iterator[ConfiguredHook]:
    """Yield the hooks in the `hooks` of a settings file, which several agents write alike:
    `{Event: [{matcher, hooks: [{command, args, timeout}]}]}`. Timeouts are in `unit`.
    """
    for event, groups in as_dict(table.get("hooks")).items():
        for group in as_dicts(groups):
            for hook in as_dicts(group.get("hooks")):
                if command := as_text(hook.get("command")):
                    arguments = as_texts(hook.get("args"))
                    if takes_arguments and arguments:
                        command, arguments = shlex.join((command, *arguments)), ()
                    value, timeout = hook.get("timeout"), None
                    if isinstance(value, int | float) and not isinstance(value, bool):
                        timeout = HookTimeout(value * _SECONDS[unit], value, unit)
                    matcher = as_text(group.get("matcher"))
                    yield ConfiguredHook(event, command, file, matcher, arguments, timeout)


def read_servers(table: dict[str, Any], file: str) -> Iterator[ConfiguredServer]:
    """Yield the MCP servers of a settings file that run a program: those of `mcpServers`, where
    `command` is a program or a list with its arguments, which are not disabled.
    """
    for name, server in as_dict(table.get("mcpServers")).items():
        described = as_dict(server)
        command = as_text(described.get("command"))
        words = (command,) if command else as_texts(described.get("command"))
        is_off = described.get("enabled") is False or described.get("disabled") is True
        if words and not is_off:
            yield ConfiguredServer(name, (*words, *as_texts(described.get("args"))), file)


def as_texts(value: object) -> tuple[str, ...]:
    """Return the texts in `value` if it is a list."""
    return tuple(it for it in value if isinstance(it, str)) if isinstance(value, list) else ()


def find_broken_link(path: str) -> Iterator[NamedFile]:
    """Yield an instruction file that is a link to a file that is not there."""
    if os.path.islink(path) and not os.path.exists(path):
        yield NamedFile(os.path.realpath(path), path)


def holds_path(file: str, path: str) -> bool:
    """Return whether a file names `path`, or something inside it, but not a path that only begins
    alike.
    """
    raw = read_plain_file(file, LARGEST_SETTINGS) or b""
    behind = rb"(?![^/\"'`\s,;:.)\]}\\])(?!\.\w)"
    return re.search(re.escape(os.fsencode(path)) + behind, raw) is not None
