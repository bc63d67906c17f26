"""Bounding the history, where the person wants it bounded: texts of old versions are dropped,
their place in the history stays.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from ricordo.disk.database import transaction
from ricordo.disk.decisions import effective_acts
from ricordo.disk.history import CHANGE, Act, History, Op
from ricordo.notebook.open import Notebook

UNDO_KEEPS = 100
"""Acts, the last ones of each memory, that can be undone whatever was dropped."""


@dataclass(frozen=True, slots=True)
class Trimming:
    """What would be dropped."""

    texts: tuple[str, ...]
    """SHA-256 of each."""
    bytes: int
    """What they take in the history, packed."""
    kept: int
    """Texts that stay."""


def plan_trimming(notebook: Notebook, days: int) -> Trimming:
    """Return which texts of the history, of all memories, are only of versions older than `days`.

    Never among them: what a file holds now, the last version of a deleted note, what the last
    acts need to be undone, what the inbox has not shown. Raises StateUnusable.
    """
    if not notebook.database.exists:
        return Trimming((), 0, 0)
    horizon = notebook.surroundings.now - timedelta(days=days)
    with notebook.database.opened() as connection:
        history = History(connection)
        needed: set[str | None] = set()
        for root in history.roots():
            needed.update(history.heads(root.id).values())
            acts = {act.n: act for act in history.acts(root.id)}
            ops = [(acts[n], op) for n, _, op in history.ops_of_acts(root.id, 0) if n in acts]
            needed |= _still_needed(acts.values(), ops, horizon)
        rows = connection.execute("SELECT sha, length(data) FROM blob").fetchall()
    dropped = [(sha, size) for sha, size in rows if sha not in needed]
    texts = tuple(sha for sha, _ in dropped)
    return Trimming(texts, sum(size for _, size in dropped), len(rows) - len(dropped))


def trim(notebook: Notebook, trimming: Trimming) -> None:
    """Drop what was planned, and give its room back. Raises StateUnusable."""
    with notebook.database.opened() as connection:
        with transaction(connection):
            connection.executemany(
                "DELETE FROM blob WHERE sha = ?", ((sha,) for sha in trimming.texts)
            )
        connection.execute("VACUUM")


def _still_needed(
    acts: Iterable[Act], ops: Iterable[tuple[Act, Op]], horizon: datetime
) -> set[str | None]:
    own = [act.n for act in effective_acts(list(acts)) if act.kind == CHANGE]
    undoable = set(own[-UNDO_KEEPS:])
    needed: set[str | None] = set()
    last: dict[str, str] = {}
    for act, op in ops:
        young = datetime.fromisoformat(act.at) >= horizon
        if young or act.n in undoable or act.undoes is not None:
            needed |= {op.pre, op.post}
        content = op.post or op.pre
        if content is not None:
            last[op.path] = content
    return needed | set(last.values())
