"""Transcripts of this machine, unread, and which of their sessions are relevant to a memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ricordo.agents.agent import Agent

FIRST_LINES = 5
"""Lines that show whose a transcript is."""


class TranscriptSource(NamedTuple):
    """One transcript, unread; `registry.open_transcript` opens it."""

    agent: Agent
    path: str
    session: str = ""
    """Its id, where a file holds more than one."""
    cwd: str = ""
    """Where the session worked; "" where only its text shows it."""
    stamp: str = ""
    """While it is the same, nothing was added."""
    changed_at: float = 0.0
    """When something was added last, in seconds since 1970; 0 where that is not known."""


def find_line_files(agent: Agent, folder: str) -> Iterator[TranscriptSource]:
    """Yield the files of lines in a folder; none where it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".jsonl") and entry.is_file(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    stamp = f"{status.st_ino} {status.st_size} {status.st_mtime_ns}"
                    yield TranscriptSource(
                        agent, entry.path, stamp=stamp, changed_at=status.st_mtime
                    )
    except OSError:
        return


def is_line_file(raw: bytes) -> bool:
    """Say whether one of the first lines that are not blank is a JSON object, for one may be
    damaged; True for an empty file.
    """
    from ricordo.agents.transcripts.lines import parse_object

    *lines, last = raw.lstrip().split(b"\n")
    written = [line for line in lines if line.strip()][:FIRST_LINES]
    if any(parse_object(line) is not None for line in written):
        return True
    # the last line may be one that is still being written, or goes on behind what was read
    return not written and (not last or last.startswith(b"{"))


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Which sessions are relevant to one memory."""

    folders: tuple[str, ...] = ()
    """Folders of transcripts: all sessions in them."""
    projects: tuple[str, ...] = ()
    """Directories: all sessions that worked in them."""
    agents: frozenset[Agent] = frozenset()
    """All sessions of these agents."""
    roots: tuple[str, ...] = ()
    """The memory's directory by all its names."""
    root_endings: tuple[str, ...] = ()
    """How its directory's path ends, wherever the home of the agent was at the time."""
    home: str = ""
    """What `~` means."""

    def matches(self, agent: Agent, path: str, cwd: str) -> bool:
        """Say whether a session is relevant: whose, its transcript, where it worked."""
        if agent in self.agents or any(is_inside(path, folder) for folder in self.folders):
            return True
        return cwd in self.projects or any(
            is_inside(cwd, project) for project in self.projects if self._is_project(project)
        )

    def _is_project(self, directory: str) -> bool:
        """Whether what lies in a directory is about one thing: in a home there is everything."""
        return directory != self.home and not is_inside(self.home, directory)

    def find_note_path(self, path: str) -> str:
        """Return the path in the memory of the file that an agent calls `path`; "" where it is
        none of its files.
        """
        whole = self.home + path[1:] if path.startswith("~/") else path
        for root in self.roots:
            if is_inside(whole, root):
                return whole[len(root.rstrip("/")) + 1 :]
        for tail in self.root_endings:
            _, match, inner = whole.partition(tail)
            if match and inner:
                return inner
        return ""


def is_inside(path: str, folder: str) -> bool:
    """Say whether `path` is below `folder`; nothing is below ""."""
    return bool(folder) and path.startswith(folder.rstrip("/") + "/")
