"""Which memories have an index, and to which project each belongs: how the hook finds one."""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ricordo.disk.cache_file import CacheFile

FOLDER = "recall"
"""Of the state directory: indexes and catalogue."""
FILE = "memories.json"
_LARGEST = 1024 * 1024


def register(file: CacheFile, root: str, project: str, rank: int) -> None:
    """Keep that `file` is the index of the memory at `root`. Raises OSError."""
    from ricordo.disk.state_file import replace_state_file

    known = {at: it for at, it in read_catalogue(file.state).items() if os.path.isdir(at)}
    known[root] = {"index": file.name, "project": project, "rank": rank}
    text = json.dumps(known, indent=1)
    replace_state_file(file.folder, FILE, text.encode("ascii"))


def read_catalogue(state: str) -> dict[str, dict[str, Any]]:
    """Return what is known of each memory, by its root; nothing where that cannot be read."""
    try:
        handle = os.open(os.path.join(state, FOLDER, FILE), os.O_RDONLY | os.O_CLOEXEC)
        try:
            known = json.loads(os.read(handle, _LARGEST))
        finally:
            os.close(handle)
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(known, dict):
        return {}
    return {root: it for root, it in known.items() if isinstance(it, dict)}
