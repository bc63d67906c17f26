"""The last summary of each memory, for commands that must not take the time to read it.

The file is replaced as a whole: of two concurrent updates one may be lost, but the file is valid.
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
`max_lines`, `units`, `max_units`, the two limits None if the kind has none. `errors` and `warnings`
are those found in the notes alone; `known_errors`, `known_warnings` and `known_infos` also need
evidence and are from the last check that had it.
"""


def load_summaries(state: str) -> dict[str, Summary]:
    """Return the last summaries by the memory's root; empty if they cannot be read."""
    document, _ = read_json(os.path.join(state, FILE), LARGEST)
    memories = document.get("memories") if isinstance(document, dict) else None
    if not isinstance(memories, dict):
        return {}
    return {root: summary for root, summary in memories.items() if isinstance(summary, dict)}


def save_summary(state: str, root: str, summary: Summary) -> None:
    """Save the summary of the memory at `root`. Raises StateUnusable."""
    save_summaries(state, {root: summary})


def save_summaries(state: str, summaries: Mapping[str, Summary]) -> None:
    """Save summaries by root, and drop those of deleted memories. Raises StateUnusable."""
    # not imported for reading, which has to be fast
    from ricordo.errors import StateUnusable

    before = {root: old for root, old in load_summaries(state).items() if os.path.isdir(root)}
    # fields that take long to compute are kept until they are computed again
    new = {root: {**before.get(root, {}), **summary} for root, summary in summaries.items()}
    text = json.dumps({"memories": {**before, **new}}, indent=1)
    try:
        replace_state_file(state, FILE, text.encode("ascii"), is_synced=False)
    except OSError as error:
        reason = error.strerror or str(error)
        raise StateUnusable(f"{FILE} in {state} cannot be written: {reason}.") from None
