"""Removing a value from the history of all memories, and telling where it still stands."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from ricordo.activity.store import Store
from ricordo.disk.database import Database
from ricordo.disk.history import History
from ricordo.disk.own_copies import copies_holding, histories_aside
from ricordo.disk.purge import Purged, forms, holds, purge
from ricordo.disk.reader import read_memory
from ricordo.errors import RicordoError, StateUnusable
from ricordo.notebook.ledger import purge_ledger
from ricordo.notebook.opinions import purge_opinions
from ricordo.notebook.places import itself
from ricordo.notebook.surroundings import Surroundings


@dataclass(frozen=True, slots=True)
class PurgedFrom:
    """What a purge removed, and what it could not reach."""

    history: Purged
    still_holding: tuple[str, ...]
    """Absolute paths of notes that hold the value, in their name too; seen again, it is in the
    history again.
    """
    copies: tuple[str, ...] = ()
    """Files of our own state that hold it, as what an editor was given."""
    unsearched: tuple[str, ...] = ()
    """Damaged histories that were moved aside."""
    quotes: int = 0
    """How many quotes and titles of sessions, and lines of what is kept of curations, it was taken
    out of.
    """


def purge_value(surroundings: Surroundings, value: str) -> PurgedFrom:
    """Remove `value` from every version. Raises StateUnusable and Busy."""
    database = Database(surroundings.state)
    purged = purge(database, value)
    quotes = _purge_quotes(surroundings, value) + purge_ledger(surroundings.state, value)
    quotes += purge_opinions(surroundings.state, value)
    wanted = forms(value)
    copies = copies_holding(surroundings.state, wanted), histories_aside(surroundings.state)
    if not database.exists:
        return PurgedFrom(purged, (), *copies, quotes)
    with database.opened() as connection:
        roots = History(connection).roots()
    holding: list[str] = []
    for root in roots:
        try:
            memory = read_memory(root.path, itself(root.path).layout)
        except RicordoError:
            continue
        holding += [
            f"{memory.root}/{file.path}"
            for file in memory.files
            if value in file.path or holds(file.raw, wanted)
        ]
    return PurgedFrom(purged, tuple(holding), *copies, quotes)


def _purge_quotes(surroundings: Surroundings, value: str) -> int:
    try:
        return Store(surroundings.state).forget(value)
    except (sqlite3.Error, OSError) as error:
        raise StateUnusable(
            f"What is kept of sessions cannot be searched: {error}.",
            changed="The history was purged.",
        ) from None
