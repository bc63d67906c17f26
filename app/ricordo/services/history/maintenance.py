"""Maintenance of the history: checking, measuring, trimming and purging it."""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from ricordo.agents.registry import place_from_directory
from ricordo.agents.transcripts.store import TranscriptStore
from ricordo.errors import RicordoError, StateUnusable
from ricordo.memory.change import compute_digest
from ricordo.search.reader import read_catalogue
from ricordo.search.store import purge_indexes, purge_usage
from ricordo.services.conflicts.opinions import purge_opinions
from ricordo.services.ledger.ledger import purge_ledger
from ricordo.services.search.recall import open_index
from ricordo.services.search.usage import LOCK_TIMEOUT
from ricordo.services.workspace.environment import Environment
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.cache_file import move_aside
from ricordo.storage.database import Database, transaction
from ricordo.storage.decisions import skip_undone
from ricordo.storage.history import History
from ricordo.storage.lock import state_lock
from ricordo.storage.operation import CHANGE, HistoryEntry
from ricordo.storage.purge import (
    PurgedValues,
    contains_any,
    count_contents,
    encode_forms,
    find_copies,
    list_damaged_histories,
    purge,
    purge_caches,
    purge_documents,
)
from ricordo.storage.reader import read_memory

_ACCOUNTED_FOR = "SELECT sha FROM blob UNION SELECT sha FROM dropped"
"""Contents that are stored, and those that the user dropped."""


@dataclass(frozen=True, slots=True)
class HistoryCheck:
    """Result of a check of the history."""

    contents: int
    """Number of stored contents."""
    faults: tuple[str, ...]
    """One line per fault."""


@dataclass(frozen=True, slots=True)
class HistorySize:
    """Size of the history."""

    bytes: int
    """Size of the database file."""
    contents: int
    acts: int


def check_history(notebook: Notebook) -> HistoryCheck:
    """Return the result of reading every stored content: each must exist and match its SHA-256.
    Raises StateUnusable.
    """
    if not notebook.database.exists:
        return HistoryCheck(0, ())
    faults: list[str] = []
    with notebook.database.connect() as connection:
        count = 0
        for sha, size, data in connection.execute("SELECT sha, size, data FROM blob"):
            count += 1
            try:
                content = zlib.decompress(data)
            except zlib.error:
                faults.append(f"content {sha[:12]} cannot be unpacked")
                continue
            if compute_digest(content) != sha or len(content) != size:
                faults.append(f"content {sha[:12]} does not match its checksum")
        for path, act in connection.execute(
            f"SELECT path, act FROM op WHERE pre NOT IN ({_ACCOUNTED_FOR})"
            f" OR post NOT IN ({_ACCOUNTED_FOR})"
        ):
            faults.append(f"act {act} refers to a missing text of {path}")
        for row in connection.execute("PRAGMA integrity_check"):
            if row[0] != "ok":
                faults.append(str(row[0]))
        unfinished = [act.n for act in History(connection).list_unfinished()]
        faults.extend(f"act {n} was interrupted and is pending" for n in unfinished)
    return HistoryCheck(count, tuple(faults))


def measure_history(notebook: Notebook) -> HistorySize:
    """Return the size of the history of all memories. Raises StateUnusable."""
    if not notebook.database.exists:
        return HistorySize(0, 0, 0)
    with notebook.database.connect() as connection:
        contents = connection.execute("SELECT count(*) FROM blob").fetchone()[0]
        acts = connection.execute("SELECT count(*) FROM act").fetchone()[0]
    return HistorySize(os.path.getsize(notebook.database.path), contents, acts)


UNDOABLE_ACTS = 100
"""Number of last acts of each memory that stay undoable whatever was dropped."""


@dataclass(frozen=True, slots=True)
class Trimming:
    """What a trim drops, or would drop."""

    texts: tuple[str, ...] = ()
    """SHA-256 of each dropped text."""
    bytes: int = 0
    """Their compressed size in the history."""
    kept: int = 0
    """Number of texts that stay."""


def plan_trimming(notebook: Notebook, days: int) -> Trimming:
    """Return the texts that only versions older than `days` use, in the history of all memories.

    Never among them: present contents of files, the last version of a deleted note, and what undo
    of the last acts needs. Raises StateUnusable.
    """
    if not notebook.database.exists:
        return Trimming()
    with notebook.database.connect() as connection:
        return _plan(History(connection), _horizon(notebook, days))


def trim(notebook: Notebook, days: int) -> Trimming:
    """Drop the texts that `plan_trimming` returns, shrink the file, and return what was dropped.
    Raises StateUnusable and Busy.
    """
    if not notebook.database.exists:
        return Trimming()
    database = notebook.database
    with state_lock(database.state), database.connect() as connection:
        # one transaction: the plan must still be valid when it is carried out
        with transaction(connection):
            history = History(connection)
            trimming = _plan(history, _horizon(notebook, days))
            history.delete_contents(trimming.texts)
        connection.execute("VACUUM")
    return trimming


def _horizon(notebook: Notebook, days: int) -> datetime:
    return notebook.environment.now - timedelta(days=days)


def _plan(history: History, horizon: datetime) -> Trimming:
    needed = _needed(history, horizon)
    rows = history.db.execute("SELECT sha, length(data) FROM blob").fetchall()
    dropped = [(sha, size) for sha, size in rows if sha not in needed]
    texts = tuple(sha for sha, _ in dropped)
    return Trimming(texts, sum(size for _, size in dropped), len(rows) - len(dropped))


def _needed(history: History, horizon: datetime) -> set[str | None]:
    roots = [root.id for root in history.list_roots()]
    acts: dict[int, HistoryEntry] = {}
    undoable: set[int] = set()
    for root in roots:
        of_root = history.list_entries(root)
        acts.update((act.n, act) for act in of_root)
        changes = [act.n for act in skip_undone(of_root) if act.kind == CHANGE]
        undoable.update(changes[-UNDOABLE_ACTS:])
    needed: set[str | None] = set()
    for unfinished in history.list_unfinished():
        needed.update(
            sha for op in history.list_operations(unfinished.n) for sha in (op.pre, op.post)
        )
    for root in roots:
        needed.update(history.list_stored_contents(root).values())
        last: dict[str, str] = {}
        for number, _, op in history.list_operations_after(root, 0):
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
    rebuilt: tuple[str, ...] = ()
    """Memories whose index held it and was built again without it."""
    unindexed: tuple[str, ...] = ()
    """Memories whose index held it and was removed: notes still hold it, or it cannot be built."""


def count_purged(environment: Environment, value: str) -> int:
    """Return from how many texts in the history `purge_value` would remove `value`. Raises
    StateUnusable.
    """
    return count_contents(Database(environment.state), value)


def purge_value(environment: Environment, value: str) -> PurgeResult:
    """Remove `value` from the history and the state directory. Raises StateUnusable and Busy."""
    database = Database(environment.state)
    purged = purge(database, value)
    quotes = _purge_quotes(environment, value) + purge_ledger(environment.state, value)
    quotes += purge_opinions(environment.state, value)
    derived, indexes = _purge_derived(environment.state, value)
    wanted = encode_forms(value)
    copies = find_copies(environment.state, value), list_damaged_histories(environment.state)
    recorded = []
    if database.exists:
        with database.connect() as connection:
            recorded = [root.path for root in History(connection).list_roots()]
    holding: dict[str, None] = {}
    rebuilt: list[str] = []
    unindexed = {
        root for root, it in read_catalogue(environment.state).items() if it.get("index") in indexes
    }
    for root in dict.fromkeys((*recorded, *sorted(unindexed))):
        place = place_from_directory(root)
        try:
            memory = read_memory(root, place.layout)
        except RicordoError:
            continue
        matching = [
            f"{memory.root}/{file.path}"
            for file in memory.files
            if value in file.path or contains_any(file.raw, wanted)
        ]
        if root in unindexed and not matching:
            index = open_index(place, environment)
            index.update(memory)
            index.close()
            if not index.warning:
                rebuilt.append(root)
        # a directory may be recorded with those in it
        holding.update(dict.fromkeys(matching))
    left = tuple(sorted(unindexed.difference(rebuilt)))
    return PurgeResult(purged, tuple(holding), *copies, quotes, derived, tuple(rebuilt), left)


def _purge_derived(state: str, value: str) -> tuple[int, Collection[str]]:
    """Return the number of places, and the names of the indexes that were removed."""
    try:
        usage = purge_usage(state, value, move_aside, LOCK_TIMEOUT)
        indexes = purge_indexes(state, value)
        lists = purge_caches(state, value) + purge_documents(state, value)
    except (sqlite3.Error, OSError) as error:
        message = f"Caches and indexes cannot be searched: {error}."
        raise StateUnusable(message, changed=_ONLY_HISTORY) from None
    except StateUnusable as error:
        raise StateUnusable(error.message, changed=_ONLY_HISTORY) from None
    return usage + len(indexes) + lists, indexes


def _purge_quotes(environment: Environment, value: str) -> int:
    try:
        return TranscriptStore(environment.state).purge(value)
    except (sqlite3.Error, OSError) as error:
        message = f"Stored session data cannot be searched: {error}."
        raise StateUnusable(message, changed=_ONLY_HISTORY) from None
