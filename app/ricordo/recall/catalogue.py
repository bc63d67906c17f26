"""Which memories have an index, and to which project each belongs: how the hook finds one.

Standard library alone.
"""

from __future__ import annotations

import json
import os

from ricordo.disk.plain_file import read_plain_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FOLDER = "recall"
"""Of the state directory: indexes and catalogue."""
FILE = "memories.json"
MOST = 500
"""Memories that are kept, those last written; another one comes back when it is opened."""
_LARGEST = 1024 * 1024


def read_catalogue(state: str) -> dict[str, dict[str, Any]]:
    """Return what is known of each memory, by its root; nothing where that cannot be read."""
    raw = read_plain_file(os.path.join(state, FOLDER, FILE), _LARGEST, follow=True)
    try:
        known = json.loads(raw or b"{}")
    except (ValueError, RecursionError):
        return {}
    if not isinstance(known, dict):
        return {}
    return {root: it for root, it in known.items() if isinstance(it, dict)}
