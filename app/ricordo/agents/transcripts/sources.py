"""The transcripts of this machine, each as something that can be read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ricordo.agents import opencode
from ricordo.agents.claude.transcript import SUB_AGENTS
from ricordo.agents.opencode import sessions_at
from ricordo.agents.transcripts.checkpoint import Learnt
from ricordo.agents.transcripts.lines import parsed
from ricordo.agents.transcripts.reader import Transcript
from ricordo.agents.transcripts.session import Agent
from ricordo.errors import WrongUsage
from ricordo.storage.foreign_file import folders_in, read_plain_file
from ricordo.text import one_line

_ROLLOUTS = ("sessions", "archived_sessions")
_OF_ROLLOUTS = frozenset(("payload", "record_type", "role"))
"""Names that only the lines of rollouts have."""
_FIRST_LOOK, _FIRST_LINES = 64 * 1024, 5
_DEEPEST = 6
"""Levels of folders below those of Codex; the year, the month and the day are three."""


class TranscriptSource(NamedTuple):
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
            kept = opencode.OpencodeSession(self.path, self.session, self.cwd, self.stamp)
            return opencode.OpencodeTranscript(kept, step)
        return Transcript(self.agent, self.path, learnt, step)


def claude_sources(folder: str) -> Iterator[TranscriptSource]:
    """Yield the transcripts in a project folder of Claude Code, those of sub-agents too."""
    yield from _line_files(Agent.CLAUDE, folder)
    for session in folders_in(folder):
        yield from _line_files(Agent.CLAUDE, os.path.join(session, SUB_AGENTS))


def helpers_of(source: TranscriptSource) -> Iterator[TranscriptSource]:
    """Yield the transcripts of the sub-agents of a session; they have files of their own in Claude
    Code alone, in a folder that is called after the session.
    """
    if source.agent is Agent.CLAUDE:
        own = os.path.splitext(source.path)[0]
        yield from _line_files(Agent.CLAUDE, os.path.join(own, SUB_AGENTS))


def codex_sources(home: str) -> Iterator[TranscriptSource]:
    """Yield the rollouts in the folder of Codex."""
    for folder in rollout_folders(home):
        yield from _below(folder, _DEEPEST)


def rollout_folders(home: str) -> list[str]:
    """Return where Codex, whose folder is `home`, keeps its rollouts, by year, month and day."""
    return [os.path.join(home, name) for name in _ROLLOUTS]


def opencode_sources(data: str) -> Iterator[TranscriptSource]:
    """Yield the sessions in the data directory of opencode."""
    for kept in opencode.sessions(data):
        yield TranscriptSource(Agent.OPENCODE, kept.path, kept.id, kept.cwd, kept.stamp)


def source_at(path: str) -> TranscriptSource:
    """Return the transcript at `path`; whose it is, its name or its first lines tell."""
    agent = Agent.CODEX if _is_rollout(path) else Agent.CLAUDE
    return TranscriptSource(agent, path)


def _is_rollout(path: str) -> bool:
    if os.path.basename(path).startswith("rollout-"):
        return True
    raw = read_plain_file(path, _FIRST_LOOK) or b""
    for line in raw.split(b"\n")[:_FIRST_LINES]:
        entry = parsed(line)
        if entry is not None and not _OF_ROLLOUTS.isdisjoint(entry):
            return True
    return False


def _below(folder: str, levels: int) -> Iterator[TranscriptSource]:
    yield from _line_files(Agent.CODEX, folder)
    if levels:
        for inner in folders_in(folder):
            yield from _below(inner, levels - 1)


def _line_files(agent: Agent, folder: str) -> Iterator[TranscriptSource]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".jsonl") and entry.is_file(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    stamp = f"{status.st_ino} {status.st_size} {status.st_mtime_ns}"
                    yield TranscriptSource(agent, entry.path, stamp=stamp, touched=status.st_mtime)
    except OSError:
        return


_FIRST_LOOK = 256 * 1024
"""Bytes; a first line that is longer is not judged by what it holds."""
_FIRST_LINES = 5
_MOST_NAMED = 5


def named_session(name: str) -> TranscriptSource:
    """Return the transcript at the path `name`: a file of lines by Claude Code or Codex, a session
    file of opencode, or its database with `#` and the id of a session behind it. Raises WrongUsage
    where there is none.
    """
    path, _, session = name.rpartition("#") if "#" in name else (name, "", "")
    if os.path.lexists(name):
        path, session = name, ""
    raw = read_plain_file(path, _FIRST_LOOK)
    if raw is None:
        raise _wrong(path, _why_unread(path))
    if raw.startswith(b"SQLite") or path.endswith(".json"):
        return _of_opencode(path, session)
    if session or not _is_of_lines(raw):
        raise _wrong(path, "is no transcript of Claude Code, Codex or opencode")
    return source_at(path)


def _is_of_lines(raw: bytes) -> bool:
    """Whether one of the first lines that say something is a JSON object, for one may be damaged;
    an empty file says nothing.
    """
    *lines, last = raw.lstrip().split(b"\n")
    told = [line for line in lines if line.strip()][:_FIRST_LINES]
    if any(parsed(line) is not None for line in told):
        return True
    # the last line may be one that is still being written, or goes on behind what was looked at
    return not told and (not last or last.startswith(b"{"))


def _of_opencode(path: str, session: str) -> TranscriptSource:
    there = list(sessions_at(path))
    if not there:
        raise _wrong(path, "holds no session of opencode that can be read")
    found = [it for it in there if session in ("", it.id)]
    if len(found) == 1:
        kept = found[0]
        return TranscriptSource(Agent.OPENCODE, kept.path, kept.id, kept.cwd, kept.stamp)
    newest = sorted(there, key=lambda it: (len(it.stamp), it.stamp), reverse=True)[:_MOST_NAMED]
    named = ", ".join(f"{os.path.basename(path)}#{it.id}" for it in newest)
    raise _wrong(path, f"holds {len(there)} sessions; name one of them, such as {named}")


def _why_unread(path: str) -> str:
    if os.path.isdir(path):
        return "is a directory; name one transcript in it"
    if os.path.lexists(path):
        return "cannot be read as a plain file"
    return "is not there"


def _wrong(path: str, why: str) -> WrongUsage:
    return WrongUsage(f"--session: {one_line(path)} {one_line(why)}.")
