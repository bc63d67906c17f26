"""A transcript of this machine, unread, and what those that are files of lines have in common."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from ricordo.agents.agent import Agent
from ricordo.agents.transcripts.lines import parsed

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
    touched: float = 0.0
    """When something was added last, in seconds since 1970; 0 where that is not known."""


def line_files(agent: Agent, folder: str) -> Iterator[TranscriptSource]:
    """Yield the files of lines in a folder; none where it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".jsonl") and entry.is_file(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    stamp = f"{status.st_ino} {status.st_size} {status.st_mtime_ns}"
                    yield TranscriptSource(agent, entry.path, stamp=stamp, touched=status.st_mtime)
    except OSError:
        return


def is_of_lines(raw: bytes) -> bool:
    """Say whether one of the first lines that are not blank is a JSON object, for one may be
    damaged; True for an empty file.
    """
    *lines, last = raw.lstrip().split(b"\n")
    written = [line for line in lines if line.strip()][:FIRST_LINES]
    if any(parsed(line) is not None for line in written):
        return True
    # the last line may be one that is still being written, or goes on behind what was read
    return not written and (not last or last.startswith(b"{"))
