"""The handoffs that were written before: those of the project, and those that the history knows."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ricordo.disk.act import CHANGE
from ricordo.disk.history import History
from ricordo.errors import MemoryNotFound
from ricordo.handoff.probe import BESIDE, NAME
from ricordo.notebook.handing_off import project_of
from ricordo.notebook.handing_over import REASON
from ricordo.notebook.open import Notebook

_MOST = 20


def handoffs_written(notebook: Notebook) -> tuple[str, ...]:
    """Return the absolute paths of what may be handoffs and is there: those of the project first,
    then those that were written elsewhere, the latest first. Raises StateUnusable.
    """
    found = dict.fromkeys((*_of_project(notebook), *_of_history(notebook)))
    return tuple(path for path in found if os.path.lexists(path))[:_MOST]


def _of_project(notebook: Notebook) -> Iterator[str]:
    try:
        project = project_of(notebook)
    except MemoryNotFound:
        return
    yield from (os.path.join(project, name) for name in (NAME, BESIDE))


def _of_history(notebook: Notebook) -> Iterator[str]:
    if not notebook.database.exists:
        return
    with notebook.database.opened() as connection:
        history = History(connection)
        root = history.known_root(notebook.place.root)
        acts = history.acts(root.id) if root else []
        for act in reversed(acts):
            if act.kind == CHANGE and act.reason.startswith(REASON):
                for op in history.ops(act.n):
                    yield os.path.join(history.root_of_id(op.root).path, op.path)
