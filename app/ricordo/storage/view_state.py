"""The saved state of the main screen, by memory: open note, order, filter and pane widths."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from typing import Any

from ricordo.storage.foreign_file import read_json
from ricordo.storage.state_file import replace_state_file

_FILE = "desk.json"
_MOST_MEMORIES = 200
_LARGEST = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ViewState:
    """The state of the main screen for one memory."""

    note: str = ""
    """Path of the open note."""
    order: str = ""
    type_filter: str = ""
    words: str = ""
    """The filter of the index."""
    as_source: bool = False
    widths: dict[str, int] = field(default_factory=dict)
    """The width of each pane, as a share of the screen."""
    conventions: str = ""
    """What was last reported of the memory's conventions."""


def load_view_state(state: str, root: str) -> ViewState:
    """Return the saved state for the memory at `root`; the defaults if there is none."""
    record = _read_all(state).get(root)
    if not isinstance(record, dict):
        return ViewState()
    widths = record.get("widths")
    return ViewState(
        note=_text(record, "note"),
        order=_text(record, "order"),
        type_filter=_text(record, "type_filter"),
        words=_text(record, "words"),
        as_source=record.get("as_source") is True,
        widths={str(k): v for k, v in widths.items() if isinstance(v, int) and 0 < v < 100}
        if isinstance(widths, dict)
        else {},
        conventions=_text(record, "conventions"),
    )


def save_view_state(state: str, root: str, view_state: ViewState) -> None:
    """Save the state for the memory at `root`. Raises OSError."""
    records = _read_all(state)
    records.pop(root, None)
    records[root] = asdict(view_state)
    text = json.dumps(dict(list(records.items())[-_MOST_MEMORIES:]))
    replace_state_file(state, _FILE, text.encode("ascii"))


def _read_all(state: str) -> dict[str, Any]:
    document, _ = read_json(os.path.join(state, _FILE), _LARGEST)
    return document if isinstance(document, dict) else {}


def _text(record: dict[str, Any], key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) else ""
