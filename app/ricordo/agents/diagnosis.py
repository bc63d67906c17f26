"""What an agent can tell about its own set-up, for a diagnosis: values without any judgement."""

from __future__ import annotations

from typing import NamedTuple


class FolderSession(NamedTuple):
    """A session in such a folder."""

    path: str
    """Its transcript."""
    cwd: str
    """Where it began; "" where that is unknown."""
    began: str
    """When it began, ISO 8601 in UTC; "" where that is unknown."""


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


class ConfiguredHook(NamedTuple):
    """A command that an agent runs at an event."""

    event: str
    command: str
    """As a shell runs it."""
    file: str
    """The settings or the plugin that has it."""
    matcher: str = ""
    """For which tools or starts it is run; "" for all."""


class HookRun(NamedTuple):
    """One run of a hook, as a transcript has it."""

    event: str
    command: str
    milliseconds: int


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


class PathHolder(NamedTuple):
    """A file or folder of an agent that holds the path of a project."""

    path: str
    about: str
    """What it is, in a few words."""
