"""The handoffs that were written from a memory, as the history knows them; those that are there
still. How true they are, `resuming.py` tells.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime

from ricordo.disk.act import CHANGE
from ricordo.disk.history import History
from ricordo.disk.plain_file import read_plain_file
from ricordo.handoff.document import Target
from ricordo.handoff.parse import MOST_BYTES, State, parse
from ricordo.notebook.open import Notebook


@dataclass(frozen=True, slots=True)
class Past:
    """A handoff that was written."""

    path: str
    """Absolute."""
    written: datetime
    expires: datetime
    target: Target
    state: State
    """What became of its file since."""


def handoffs(notebook: Notebook) -> list[Past]:
    """Return the handoffs that were written from this memory and can be read still, the latest
    first. Raises StateUnusable.
    """
    found = (_past(path) for path in _written(notebook))
    return sorted(filter(None, found), key=lambda it: it.written, reverse=True)


def _written(notebook: Notebook) -> dict[str, None]:
    """The single files that were ever written from this memory."""
    if not notebook.database.exists:
        return {}
    with notebook.database.opened() as connection:
        history = History(connection)
        root = history.known_root(notebook.place.root)
        acts = history.acts(root.id) if root else []
        ops = [op for act in acts if act.kind == CHANGE for op in history.ops(act.n) if op.single]
        roots = {op.root: history.root_of_id(op.root).path for op in ops}
    return dict.fromkeys(os.path.join(roots[op.root], op.path) for op in ops)


def _past(path: str) -> Past | None:
    raw = read_plain_file(path, MOST_BYTES + 1)
    parsed = parse(raw) if raw is not None else None
    if parsed is None or parsed.handoff is None:
        return None
    head = parsed.handoff.head
    return Past(path, head.written, head.expires, head.target, parsed.state)
