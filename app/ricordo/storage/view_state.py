"""How the person left the notebook: which note, which order, which widths, by memory."""

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
    """The state of the screen for one memory."""

    note: str = ""
    """Path of the open note."""
    order: str = ""
    type_filter: str = ""
    words: str = ""
    """The filter of the index."""
    as_source: bool = False
    widths: dict[str, int] = field(default_factory=dict)
    """Shares of the screen by pane."""


def recall_desk(state: str, root: str) -> ViewState:
    """Return how the memory at `root` was left; the defaults where that is not known."""
    kept = _kept(state).get(root)
    if not isinstance(kept, dict):
        return ViewState()
    widths = kept.get("widths")
    return ViewState(
        note=_text(kept, "note"),
        order=_text(kept, "order"),
        type_filter=_text(kept, "type_filter"),
        words=_text(kept, "words"),
        as_source=kept.get("as_source") is True,
        widths={str(k): v for k, v in widths.items() if isinstance(v, int) and 0 < v < 100}
        if isinstance(widths, dict)
        else {},
    )


def remember_desk(state: str, root: str, desk: ViewState) -> None:
    """Keep how the memory at `root` was left. Raises OSError where it cannot be kept."""
    kept = _kept(state)
    kept.pop(root, None)
    kept[root] = asdict(desk)
    text = json.dumps(dict(list(kept.items())[-_MOST_MEMORIES:]))
    replace_state_file(state, _FILE, text.encode("ascii"))


def _kept(state: str) -> dict[str, Any]:
    document, _ = read_json(os.path.join(state, _FILE), _LARGEST)
    return document if isinstance(document, dict) else {}


def _text(kept: dict[str, Any], key: str) -> str:
    value = kept.get(key)
    return value if isinstance(value, str) else ""
