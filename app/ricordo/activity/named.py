"""The transcript that a person named by its path, and what is wrong with a path that is none."""

from __future__ import annotations

import os

from ricordo.activity.opencode import sessions_at
from ricordo.activity.session import Agent
from ricordo.activity.sources import Source, source_at
from ricordo.activity.values import parsed
from ricordo.disk.plain_file import read_plain_file
from ricordo.errors import WrongUsage
from ricordo.text import one_line

_FIRST_LOOK = 256 * 1024
"""Bytes; a first line that is longer is not judged by what it holds."""
_FIRST_LINES = 5
_MOST_NAMED = 5


def named_session(name: str) -> Source:
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


def _of_opencode(path: str, session: str) -> Source:
    there = list(sessions_at(path))
    if not there:
        raise _wrong(path, "holds no session of opencode that can be read")
    found = [it for it in there if session in ("", it.id)]
    if len(found) == 1:
        kept = found[0]
        return Source(Agent.OPENCODE, kept.path, kept.id, kept.cwd, kept.stamp)
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
