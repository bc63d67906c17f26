"""What came of comparing the notes of a memory, kept for the next process. It holds no text of a
note: only which statements of which notes, by their numbers.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256

from ricordo.disk.json_file import read_json
from ricordo.disk.state_file import replace_state_file

_FOLDER = "compared"
_LARGEST = 16 * 1024 * 1024

Row = tuple[str, str, int, str, int]
"""What two notes are to each other, and of each its path and which of its statements."""


def recall_compared(state: str, root: str, stamp: str) -> list[Row] | None:
    """Return what was kept of the memory at `root` in the state of that `stamp`; None where there
    is nothing.
    """
    document, _ = read_json(os.path.join(state, _FOLDER, _name(root)), _LARGEST)
    if not isinstance(document, dict) or document.get("stamp") != stamp:
        return None
    rows = document.get("pairs")
    if not isinstance(rows, list) or not all(_is_row(row) for row in rows):
        return None
    return [(row[0], row[1], row[2], row[3], row[4]) for row in rows]


def remember_compared(state: str, root: str, stamp: str, rows: list[Row]) -> None:
    """Keep what came of comparing. Raises OSError."""
    text = json.dumps({"stamp": stamp, "pairs": rows})
    replace_state_file(os.path.join(state, _FOLDER), _name(root), text.encode("ascii"))


def _name(root: str) -> str:
    return f"{sha256(os.fsencode(root)).hexdigest()[:16]}.json"


def _is_row(row: object) -> bool:
    kinds = (str, str, int, str, int)
    return (
        isinstance(row, list)
        and len(row) == len(kinds)
        and all(isinstance(value, kind) for value, kind in zip(row, kinds, strict=True))
    )
