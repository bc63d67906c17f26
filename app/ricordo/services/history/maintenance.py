"""Checking the history: that every content it names is there and is what its name says."""

from __future__ import annotations

import os
import sqlite3
import time
import zlib
from dataclasses import dataclass
from datetime import datetime, timedelta

from ricordo.agents.transcripts.store import TranscriptStore
from ricordo.errors import Busy, RicordoError, StateUnusable
from ricordo.memory.change import digest
from ricordo.memory.memory import Memory
from ricordo.search.store import purge_indexes, purge_usage
from ricordo.services.conflicts.opinions import purge_opinions
from ricordo.services.history.recorder import STABLE_FOR
from ricordo.services.ledger.ledger import purge_ledger
from ricordo.services.search.usage import PATIENCE
from ricordo.services.workspace.environment import Environment
from ricordo.services.workspace.notebook import Notebook
from ricordo.services.workspace.places import itself
from ricordo.storage.cache_file import put_aside
from ricordo.storage.database import Database, transaction
from ricordo.storage.decisions import effective_acts
from ricordo.storage.history import History
from ricordo.storage.lock import state_lock
from ricordo.storage.operation import CHANGE, Act
from ricordo.storage.purge import (
    Purged,
    copies_holding,
    forms,
    histories_aside,
    holds,
    purge,
    purge_caches,
    purge_documents,
)
from ricordo.storage.reader import read_memory
from ricordo.storage.writer import Recovered
from ricordo.text import visible

_ACCOUNTED_FOR = "SELECT sha FROM blob UNION SELECT sha FROM dropped"
"""Contents that are kept, and those that the person let go."""


@dataclass(frozen=True, slots=True)
class HistoryCheck:
    """What a check of the history found."""

    contents: int
    faults: tuple[str, ...]
    """What is wrong, one line each."""


@dataclass(frozen=True, slots=True)
class Size:
    """How large the history is."""

    bytes: int
    """Of the database on disk."""
    contents: int
    acts: int


def check_history(notebook: Notebook) -> HistoryCheck:
    """Read every kept content again. Raises StateUnusable."""
    if not notebook.database.exists:
        return HistoryCheck(0, ())
    faults: list[str] = []
    with notebook.database.opened() as connection:
        count = 0
        for sha, size, data in connection.execute("SELECT sha, size, data FROM blob"):
            count += 1
            try:
                content = zlib.decompress(data)
            except zlib.error:
                faults.append(f"content {sha[:12]} cannot be unpacked")
                continue
            if digest(content) != sha or len(content) != size:
                faults.append(f"content {sha[:12]} is not what it was")
        for path, act in connection.execute(
            f"SELECT path, act FROM op WHERE pre NOT IN ({_ACCOUNTED_FOR})"
            f" OR post NOT IN ({_ACCOUNTED_FOR})"
        ):
            faults.append(f"act {act} names a text of {path} that is not kept")
        for row in connection.execute("PRAGMA integrity_check"):
            if row[0] != "ok":
                faults.append(str(row[0]))
        unfinished = [act.n for act in History(connection).unfinished()]
        faults.extend(f"act {n} was cut off and waits" for n in unfinished)
    return HistoryCheck(count, tuple(faults))


def history_size(notebook: Notebook) -> Size:
    """Return how large the history of all memories is. Raises StateUnusable."""
    if not notebook.database.exists:
        return Size(0, 0, 0)
    with notebook.database.opened() as connection:
        contents = connection.execute("SELECT count(*) FROM blob").fetchone()[0]
        acts = connection.execute("SELECT count(*) FROM act").fetchone()[0]
    return Size(os.path.getsize(notebook.database.path), contents, acts)


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


_HISTORY_ALONE = "The history was purged; purge again for the rest."


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
    derived: int = 0
    """How many search misses, indexes and lists of our own it was taken out of."""


def purge_value(environment: Environment, value: str) -> PurgedFrom:
    """Remove `value` from every version. Raises StateUnusable and Busy."""
    database = Database(environment.state)
    purged = purge(database, value)
    quotes = _purge_quotes(environment, value) + purge_ledger(environment.state, value)
    quotes += purge_opinions(environment.state, value)
    derived = _purge_derived(environment.state, value)
    wanted = forms(value)
    copies = copies_holding(environment.state, value), histories_aside(environment.state)
    if not database.exists:
        return PurgedFrom(purged, (), *copies, quotes, derived)
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
    return PurgedFrom(purged, tuple(holding), *copies, quotes, derived)


def _purge_derived(state: str, value: str) -> int:
    try:
        return (
            purge_usage(state, value, put_aside, PATIENCE)
            + purge_indexes(state, value)
            + purge_caches(state, value)
            + purge_documents(state, value)
        )
    except (sqlite3.Error, OSError) as error:
        message = f"What is made from notes cannot be searched: {error}."
        raise StateUnusable(message, changed=_HISTORY_ALONE) from None
    except StateUnusable as error:
        raise StateUnusable(error.message, changed=_HISTORY_ALONE) from None


def _purge_quotes(environment: Environment, value: str) -> int:
    try:
        return TranscriptStore(environment.state).forget(value)
    except (sqlite3.Error, OSError) as error:
        message = f"What is kept of sessions cannot be searched: {error}."
        raise StateUnusable(message, changed=_HISTORY_ALONE) from None


_ATTEMPTS = 10


def begin(notebook: Notebook) -> tuple[Memory, list[str]]:
    """Return the memory, read and recorded, and what the person has to be told.

    Raises MemoryNotFound, MemoryUnreadable, StateUnusable and Busy.
    """
    recovered = notebook.door.recover(notebook.surroundings.now)
    memory = _read_when_stable(notebook)
    notebook.record(memory)
    return memory, [*told_of_recovery(recovered), *notebook.take_notices()]


def begin_to_show(notebook: Notebook) -> tuple[Memory, list[str]]:
    """Return what `begin` does; where our state cannot be written, the memory as it is, for the
    history can still be shown. Raises MemoryNotFound, MemoryUnreadable and Busy.
    """
    try:
        return begin(notebook)
    except Busy:
        raise
    except StateUnusable as error:
        said = f"{error.message} What was kept before is shown; nothing can be kept now."
        return notebook.read(), [said, *notebook.take_notices()]


def told_of_recovery(recovered: Recovered) -> list[str]:
    """Return what a recovery did, in sentences."""
    told: list[str] = []
    if recovered.completed:
        told.append("A change that was cut off earlier was completed.")
    if recovered.taken_back:
        told.append("A change that was cut off earlier was taken back: somebody else wrote since.")
    for path in recovered.waiting:
        told.append(
            f"A change that was cut off waits: {visible(path)} is not there, or is another "
            "directory than it was."
        )
    return told


def _read_when_stable(notebook: Notebook) -> Memory:
    """Return the memory once no file of it was written to for a moment: an agent may be half
    through writing one.
    """
    for _ in range(_ATTEMPTS):
        memory = notebook.read()
        newest = max((file.facts.modified for file in memory.files), default=0.0)
        left = newest + STABLE_FOR - time.time()
        # a time in the future is a wrong clock, not a writer
        if not 0 < left <= STABLE_FOR:
            break
        time.sleep(left)
    return memory
