"""The transcripts of this machine, each as something that can be read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ricordo.activity import opencode
from ricordo.activity.claude import SUB_AGENTS
from ricordo.activity.learnt import Learnt
from ricordo.activity.session import Agent
from ricordo.activity.transcript import Transcript
from ricordo.activity.values import parsed
from ricordo.disk.paths import folders_in
from ricordo.disk.plain_file import read_plain_file

_ROLLOUTS = ("sessions", "archived_sessions")
_OF_ROLLOUTS = frozenset(("payload", "record_type", "role"))
"""Names that only the lines of rollouts have."""
_FIRST_LOOK, _FIRST_LINES = 64 * 1024, 5
_DEEPEST = 6
"""Levels of folders below those of Codex; the year, the month and the day are three."""


class Source(NamedTuple):
    """One transcript, unread."""

    agent: Agent
    path: str
    session: str = ""
    """Its id, where a file holds more than one."""
    cwd: str = ""
    """Where the session worked; "" where only its text tells."""
    stamp: str = ""
    """While it is the same, nothing was added."""
    touched: float = 0.0
    """When something was added last, in seconds since 1970; 0 where that is not known."""

    def transcript(
        self, learnt: Learnt | None = None, step: Callable[[], None] = lambda: None
    ) -> Transcript | opencode.OpencodeTranscript:
        """Return it for reading, from where `learnt` ends; `step` is called all the while."""
        if self.agent is Agent.OPENCODE:
            kept = opencode.Kept(self.path, self.session, self.cwd, self.stamp)
            return opencode.OpencodeTranscript(kept, step)
        return Transcript(self.agent, self.path, learnt, step)


def claude_sources(folder: str) -> Iterator[Source]:
    """Yield the transcripts in a project folder of Claude Code, those of sub-agents too."""
    yield from _line_files(Agent.CLAUDE, folder)
    for session in folders_in(folder):
        yield from _line_files(Agent.CLAUDE, os.path.join(session, SUB_AGENTS))


def helpers_of(source: Source) -> Iterator[Source]:
    """Yield the transcripts of the sub-agents of a session; they have files of their own in Claude
    Code alone, in a folder that is called after the session.
    """
    if source.agent is Agent.CLAUDE:
        own = os.path.splitext(source.path)[0]
        yield from _line_files(Agent.CLAUDE, os.path.join(own, SUB_AGENTS))


def codex_sources(home: str) -> Iterator[Source]:
    """Yield the rollouts in the folder of Codex."""
    for folder in rollout_folders(home):
        yield from _below(folder, _DEEPEST)


def rollout_folders(home: str) -> list[str]:
    """Return where Codex, whose folder is `home`, keeps its rollouts, by year, month and day."""
    return [os.path.join(home, name) for name in _ROLLOUTS]


def opencode_sources(data: str) -> Iterator[Source]:
    """Yield the sessions in the data directory of opencode."""
    for kept in opencode.sessions(data):
        yield Source(Agent.OPENCODE, kept.path, kept.id, kept.cwd, kept.stamp)


def source_at(path: str) -> Source:
    """Return the transcript at `path`; whose it is, its name or its first lines tell."""
    agent = Agent.CODEX if _is_rollout(path) else Agent.CLAUDE
    return Source(agent, path)


def _is_rollout(path: str) -> bool:
    if os.path.basename(path).startswith("rollout-"):
        return True
    raw = read_plain_file(path, _FIRST_LOOK) or b""
    for line in raw.split(b"\n")[:_FIRST_LINES]:
        entry = parsed(line)
        if entry is not None and not _OF_ROLLOUTS.isdisjoint(entry):
            return True
    return False


def _below(folder: str, levels: int) -> Iterator[Source]:
    yield from _line_files(Agent.CODEX, folder)
    if levels:
        for inner in folders_in(folder):
            yield from _below(inner, levels - 1)


def _line_files(agent: Agent, folder: str) -> Iterator[Source]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".jsonl") and entry.is_file(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    stamp = f"{status.st_ino} {status.st_size} {status.st_mtime_ns}"
                    yield Source(agent, entry.path, stamp=stamp, touched=status.st_mtime)
    except OSError:
        return
