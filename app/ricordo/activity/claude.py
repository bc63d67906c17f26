"""Claude Code's transcripts: one JSON object a line (format read from versions up to 2.1.274)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from ricordo.disk.paths import absolute_path
from ricordo.disk.plain_file import read_plain_file

_FIRST_LOOK = 16 * 1024
"""Nearly always enough: the working directory stands in one of the first lines."""
_LAST_LOOK = 256 * 1024


def session_cwd(path: str) -> str | None:
    """Return the working directory in which the session of the transcript at `path` began; None
    where its first 256 KB do not tell.
    """
    for limit in (_FIRST_LOOK, _LAST_LOOK):
        raw = read_plain_file(path, limit)
        for line in (raw or b"").split(b"\n"):
            cwd = _cwd(line) if b'"cwd"' in line else ""
            if cwd:
                return cwd
        if raw is None or len(raw) < limit:
            return None
    return None


def project_cwds(folder: str, limit: int) -> tuple[str, ...]:
    """Return the working directories of the `limit` newest sessions of the project `folder`, newest
    first, each once.
    """
    newest = sorted(_transcripts(folder), reverse=True)[:limit]
    return tuple(dict.fromkeys(cwd for _, path in newest if (cwd := session_cwd(path))))


def _cwd(line: bytes) -> str:
    """The line's own `cwd`; "" where it has none, or is torn."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    return absolute_path(entry.get("cwd")) if isinstance(entry, dict) else ""


def _transcripts(folder: str) -> Iterator[tuple[float, str]]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".jsonl") and entry.is_file(follow_symlinks=False):
                    yield entry.stat(follow_symlinks=False).st_mtime, entry.path
    except OSError:
        return
