"""Bounding the history, where the person wants it bounded: texts of old versions are dropped,
their place in the history stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from ricordo.disk.act import CHANGE, Act
from ricordo.disk.database import transaction
from ricordo.disk.decisions import effective_acts
from ricordo.disk.history import History
from ricordo.disk.lock import state_lock
from ricordo.notebook.open import Notebook

UNDO_KEEPS = 100
"""Acts, the last ones of each memory, that can be undone whatever was dropped."""


@dataclass(frozen=True, slots=True)
class Trimming:
    """What is dropped, or would be."""

    texts: tuple[str, ...] = ()
    """SHA-256 of each."""
    bytes: int = 0
    """What they take in the history, packed."""
    kept: int = 0
    """Texts that stay."""


def plan_trimming(notebook: Notebook, days: int) -> Trimming:
    """Return which texts of the history, of all memories, are only of versions older than `days`.

    Never among them: what a file holds now, the last version of a deleted note, what the last
    acts need to be undone. Raises StateUnusable.
    """
    if not notebook.database.exists:
        return Trimming()
    with notebook.database.opened() as connection:
        return _planned(History(connection), _horizon(notebook, days))


def trim(notebook: Notebook, days: int) -> Trimming:
    """Drop what `plan_trimming` names, give its room back, and return what was dropped. Raises
    StateUnusable and Busy.
    """
    if not notebook.database.exists:
        return Trimming()
    database = notebook.database
    with state_lock(database.state), database.opened() as connection:
        # what is needed may not change between the plan and its deed
        with transaction(connection):
            history = History(connection)
            trimming = _planned(history, _horizon(notebook, days))
            history.drop(trimming.texts)
        connection.execute("VACUUM")
    return trimming


def _horizon(notebook: Notebook, days: int) -> datetime:
    return notebook.surroundings.now - timedelta(days=days)


def _planned(history: History, horizon: datetime) -> Trimming:
    needed = _needed(history, horizon)
    rows = history.db.execute("SELECT sha, length(data) FROM blob").fetchall()
    dropped = [(sha, size) for sha, size in rows if sha not in needed]
    texts = tuple(sha for sha, _ in dropped)
    return Trimming(texts, sum(size for _, size in dropped), len(rows) - len(dropped))


def _needed(history: History, horizon: datetime) -> set[str | None]:
    roots = [root.id for root in history.roots()]
    acts: dict[int, Act] = {}
    undoable: set[int] = set()
    for root in roots:
        of_root = history.acts(root)
        acts.update((act.n, act) for act in of_root)
        own = [act.n for act in effective_acts(of_root) if act.kind == CHANGE]
        undoable.update(own[-UNDO_KEEPS:])
    needed: set[str | None] = set()
    for unfinished in history.unfinished():
        needed.update(sha for op in history.ops(unfinished.n) for sha in (op.pre, op.post))
    for root in roots:
        needed.update(history.kept_heads(root).values())
        last: dict[str, str] = {}
        for number, _, op in history.ops_of_acts(root, 0):
            act = acts.get(number)
            if act is None:
                continue
            young = datetime.fromisoformat(act.at) >= horizon
            if young or number in undoable or act.undoes is not None:
                needed |= {op.pre, op.post}
            if content := op.post or op.pre:
                last[op.path] = content
        needed.update(last.values())
    return needed
