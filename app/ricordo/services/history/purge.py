"""Removing a value from everything that Ricordo stores: history, sessions, caches and indexes."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from ricordo.agents.registry import place_from_directory
from ricordo.agents.transcripts.store import TranscriptStore
from ricordo.errors import RicordoError, StateUnusable
from ricordo.search.store import purge_indexes, purge_usage
from ricordo.services.conflicts.opinions import purge_opinions
from ricordo.services.ledger.ledger import purge_ledger
from ricordo.services.search.usage import LOCK_TIMEOUT
from ricordo.services.workspace.environment import Environment
from ricordo.storage.cache_file import move_aside
from ricordo.storage.database import Database
from ricordo.storage.history import History
from ricordo.storage.purge import (
    PurgedValues,
    contains_any,
    encode_forms,
    find_copies,
    list_damaged_histories,
    purge,
    purge_caches,
    purge_documents,
)
from ricordo.storage.reader import read_memory

_ONLY_HISTORY = "The history was purged; run purge again for the rest."


@dataclass(frozen=True, slots=True)
class PurgeResult:
    """What a purge removed, and where the value still is."""

    history: PurgedValues
    still_holding: tuple[str, ...]
    """Absolute paths of notes with the value in text or name; the next recording brings it back
    into the history.
    """
    copies: tuple[str, ...] = ()
    """Files in the state directory that hold it, such as copies for an editor."""
    unsearched: tuple[str, ...] = ()
    """Damaged histories that were moved aside."""
    quotes: int = 0
    """Number of quotes, session titles and curation records it was removed from."""
    derived: int = 0
    """Number of search misses, indexes and lists it was removed from."""


def purge_value(environment: Environment, value: str) -> PurgeResult:
    """Remove `value` from the history and the state directory. Raises StateUnusable and Busy."""
    database = Database(environment.state)
    purged = purge(database, value)
    quotes = _purge_quotes(environment, value) + purge_ledger(environment.state, value)
    quotes += purge_opinions(environment.state, value)
    derived = _purge_derived(environment.state, value)
    wanted = encode_forms(value)
    copies = find_copies(environment.state, value), list_damaged_histories(environment.state)
    if not database.exists:
        return PurgeResult(purged, (), *copies, quotes, derived)
    with database.connect() as connection:
        roots = History(connection).list_roots()
    holding: list[str] = []
    for root in roots:
        try:
            memory = read_memory(root.path, place_from_directory(root.path).layout)
        except RicordoError:
            continue
        holding += [
            f"{memory.root}/{file.path}"
            for file in memory.files
            if value in file.path or contains_any(file.raw, wanted)
        ]
    return PurgeResult(purged, tuple(holding), *copies, quotes, derived)


def _purge_derived(state: str, value: str) -> int:
    try:
        return (
            purge_usage(state, value, move_aside, LOCK_TIMEOUT)
            + purge_indexes(state, value)
            + purge_caches(state, value)
            + purge_documents(state, value)
        )
    except (sqlite3.Error, OSError) as error:
        message = f"Caches and indexes cannot be searched: {error}."
        raise StateUnusable(message, changed=_ONLY_HISTORY) from None
    except StateUnusable as error:
        raise StateUnusable(error.message, changed=_ONLY_HISTORY) from None


def _purge_quotes(environment: Environment, value: str) -> int:
    try:
        return TranscriptStore(environment.state).purge(value)
    except (sqlite3.Error, OSError) as error:
        message = f"Stored session data cannot be searched: {error}."
        raise StateUnusable(message, changed=_ONLY_HISTORY) from None
