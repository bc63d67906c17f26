"""What curations have done to a memory, as its history tells: over restarts, and whatever became of
what we keep of proposals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from ricordo.disk.act import Act, Op
from ricordo.disk.decisions import effective_acts, taken_back
from ricordo.disk.history import History
from ricordo.memory.change import Author, Role
from ricordo.memory.layout import Role as FileRole
from ricordo.notebook.open import Notebook

_DAY = timedelta(days=1)

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Edited:
    """What a curation made of one note."""

    path: str
    before: bytes | None
    """None where there was none."""
    after: bytes | None


@dataclass(frozen=True, slots=True)
class Curated:
    """One curation that was applied, and not taken back."""

    act: int
    """Its number in the history."""
    at: datetime
    author: Author
    notes: tuple[Edited, ...]
    """Without those of which a value was purged."""
    purged: int = 0
    """How many notes that were."""


def applied_at(notebook: Notebook) -> list[datetime]:
    """Return when curations of the memory were applied, those too that were taken back. Raises
    StateUnusable.
    """
    return _of_acts(notebook, lambda _, acts: [_moment(it) for it in acts if it.undoes is None], [])


def retired_lately(notebook: Notebook) -> int:
    """Return how many notes curations have retired in the day before now, of those that were not
    undone. What a clock that was put back leaves in the future counts too. Raises StateUnusable.
    """
    return _count_lately(notebook, lambda op: op.pre is not None and op.post is None)


def created_lately(notebook: Notebook) -> int:
    """Return how many notes curations have created in the day before now, of those that were not
    undone. Raises StateUnusable.
    """
    return _count_lately(notebook, lambda op: op.pre is None and op.post is not None)


def _count_lately(notebook: Notebook, counts: Callable[[Op], bool]) -> int:
    now, layout = notebook.surroundings.now, notebook.place.layout

    def counted(history: History, acts: list[Act]) -> int:
        lately = [it for it in effective_acts(acts) if now - _moment(it) < _DAY]
        ops = (op for act in lately for op in history.ops(act.n))
        return sum(layout.role(op.path) is FileRole.NOTE and counts(op) for op in ops)

    return _of_acts(notebook, counted, 0)


def curated(notebook: Notebook) -> list[Curated]:
    """Return the curations that stand, oldest first. Raises StateUnusable."""

    def all_of(history: History, acts: list[Act]) -> list[Curated]:
        return [_curated(notebook, history, act) for act in effective_acts(acts)]

    return _of_acts(notebook, all_of, [])


def acts_taken_back(notebook: Notebook) -> frozenset[str]:
    """Return the acts that applied or refused proposals and were undone, by their tokens. Raises
    StateUnusable.
    """
    if not notebook.database.exists:
        return frozenset()
    with notebook.database.opened() as connection:
        history = History(connection)
        root = history.known_root(notebook.place.root)
        acts = history.acts(root.id) if root else []
    undone = taken_back(acts)
    return frozenset(it.token for it in acts if it.n in undone and it.token)


def _of_acts(
    notebook: Notebook, ask: Callable[[History, list[Act]], Found], otherwise: Found
) -> Found:
    """Return what `ask` makes of the acts of curators, and of those that took acts back."""
    if not notebook.database.exists:
        return otherwise
    with notebook.database.opened() as connection:
        history = History(connection)
        root = history.known_root(notebook.place.root)
        return otherwise if root is None else ask(history, history.acts_by(root.id, Role.CURATOR))


def _moment(act: Act) -> datetime:
    return datetime.fromisoformat(act.at)


def _curated(notebook: Notebook, history: History, act: Act) -> Curated:
    role = notebook.place.layout.role
    ops = [op for op in history.ops(act.n) if role(op.path) is FileRole.NOTE and op.pre != op.post]
    whole = [op for op in ops if history.is_whole(op.pre) and history.is_whole(op.post)]
    notes = tuple(
        Edited(op.path, history.content(op.pre), history.content(op.post)) for op in whole
    )
    return Curated(act.n, _moment(act), act.author, notes, len(ops) - len(whole))
