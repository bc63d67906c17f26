"""Waiting while an agent consolidates its memory.

Claude Code marks that by `.consolidate-lock` in the memory: its body is the number of the process,
its time that of the last consolidation; after an hour it is stale. The file stays when the
consolidation is over, so a process that has ended holds nothing.
"""

from __future__ import annotations

import os
import time

from ricordo.disk.plain_file import read_plain_file
from ricordo.errors import Busy
from ricordo.text import visible

LOCK = ".consolidate-lock"
STALE_AFTER = 3600.0
"""Seconds."""
UNSEEN_FOR = 600.0
"""Seconds for which the lock of a process that we do not see counts: it may run in a container."""
PATIENCE = 5.0
"""Seconds for which we wait."""
_PAUSE = 0.05


def wait_for_agents(root: str, patience: float | None = None) -> None:
    """Return once no agent consolidates the memory at `root`.

    Raises Busy where one still does after `patience` seconds (`PATIENCE`).
    """
    until = time.monotonic() + (PATIENCE if patience is None else patience)
    while is_consolidating(root):
        if time.monotonic() >= until:
            raise Busy(
                f"An agent is consolidating this memory ({visible(os.path.join(root, LOCK))}). "
                "Try again when it is done."
            )
        time.sleep(_PAUSE)


def is_consolidating(root: str) -> bool:
    """Say whether an agent holds the memory at `root`."""
    path = os.path.join(root, LOCK)
    try:
        age = time.time() - os.lstat(path).st_mtime
    except OSError:
        return False
    if age > STALE_AFTER:
        return False
    body = (read_plain_file(path, 20) or b"").strip()
    return age < UNSEEN_FOR or not body.isdigit() or _is_running(int(body))


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
