"""What was last seen of each memory, for answers that may not take the time to look.

The file is replaced whole: two processes may lose each other's update, never tear the file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from ricordo.storage.foreign_file import read_json
from ricordo.storage.state_file import replace_state_file

FILE = "last_seen.json"
LARGEST = 4 * 1024 * 1024

Summary = Mapping[str, object]
"""`name`, `project`, `at` (ISO 8601), and the numbers `notes`, `errors`, `warnings`, `lines`,
`max_lines`, `units`, `max_units`, the two limits None where the kind has none; beside the errors
and warnings that the notes alone tell, `known_errors`, `known_warnings` and `known_infos`, which
take evidence, from the last look that had it.
"""


def recall(state: str) -> dict[str, Summary]:
    """Return what was last seen, by the memory's root; nothing where that cannot be read."""
    document, _ = read_json(os.path.join(state, FILE), LARGEST)
    memories = document.get("memories") if isinstance(document, dict) else None
    if not isinstance(memories, dict):
        return {}
    return {root: seen for root, seen in memories.items() if isinstance(seen, dict)}


def remember(state: str, root: str, summary: Summary) -> None:
    """Keep what was seen of the memory at `root`. Raises StateUnusable."""
    remember_all(state, {root: summary})


def remember_all(state: str, seen: Mapping[str, Summary]) -> None:
    """Keep what was seen, by root, and forget memories that are gone. Raises StateUnusable."""
    # not needed for recalling, which has to be quick
    from ricordo.errors import StateUnusable

    known = {root: old for root, old in recall(state).items() if os.path.isdir(root)}
    # what takes long to find out stands until it is found out anew
    new = {root: {**known.get(root, {}), **summary} for root, summary in seen.items()}
    text = json.dumps({"memories": {**known, **new}}, indent=1)
    try:
        replace_state_file(state, FILE, text.encode("ascii"))
    except OSError as error:
        reason = error.strerror or str(error)
        raise StateUnusable(f"{FILE} in {state} cannot be written: {reason}.") from None
