"""Recording what others did to a memory: every version that is seen goes into the history.

The first time, all of it is kept and nothing counts as new.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from ricordo.disk.database import Database, transaction
from ricordo.disk.held_root import HeldRoot
from ricordo.disk.history import FIRST, SEEN, History, Op
from ricordo.disk.lock import state_lock
from ricordo.errors import ChangeRefused
from ricordo.memory.change import Author, Role
from ricordo.memory.change_set import digest
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note, Trouble
from ricordo.notebook.renamed import pair_renamed

_UNREAD = (
    Trouble.NO_PERMISSION,
    Trouble.DISK_ERROR,
    Trouble.TOO_LARGE,
    Trouble.NOT_A_FILE,
    Trouble.GONE,
)
"""Files of which not all bytes are at hand."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a recording found."""

    act: int | None
    """The act that was added; None where nothing was new."""
    files: int
    """How many files it is about."""
    is_first: bool = False
    """Whether the memory had never been recorded."""


class Recorder:
    """Records one memory; remembers what it recorded last, so that only what changed since is
    looked at.
    """

    def __init__(self, database: Database) -> None:
        """`database` is the history."""
        self._database = database
        self._last: Mapping[str, Note] = {}

    def record(self, memory: Memory, at: datetime) -> Recorded:
        """Keep every version in `memory` that the history does not have. Raises StateUnusable."""
        if self._last and memory.by_path == self._last:
            return Recorded(None, 0)
        self._database.check_place(memory.root)
        # under the lock no change set of ours is half way
        with state_lock(self._database.state), self._database.opened() as connection:
            recorded = _record(History(connection), memory, at, self._last)
        self._last = memory.by_path
        return recorded


def _record(history: History, memory: Memory, at: datetime, last: Mapping[str, Note]) -> Recorded:
    with transaction(history.db):
        root = history.root(memory.root)
        is_first = not history.was_recorded(root.id)
        heads = history.heads(root.id)
        changes = _differences(memory, heads, last)
        changes = _still_so(memory, changes, heads if is_first else changes)
        if not changes and not is_first:
            return Recorded(None, 0)
        if len(changes) == len(heads) and not memory.files:
            # everything gone at once looks like a disk that is not mounted
            return Recorded(None, 0)
        return _write(history, root.id, memory, changes, heads, at, is_first=is_first)


def _still_so(
    memory: Memory, changes: Mapping[str, Note | None], doubtful: Collection[str]
) -> dict[str, Note | None]:
    """Return the `changes` without those of `doubtful` paths that the disk no longer bears out:
    since the memory was read, we may have written ourselves.
    """
    root = HeldRoot(memory.root)
    try:
        return {
            path: file
            for path, file in changes.items()
            if path not in doubtful or _now(root, path) == (file.raw if file is not None else None)
        }
    finally:
        root.close()


def _now(root: HeldRoot, path: str) -> bytes | None:
    try:
        return root.read(path)
    except (OSError, ChangeRefused):
        return None


def _differences(
    memory: Memory, heads: Mapping[str, str], last: Mapping[str, Note]
) -> dict[str, Note | None]:
    """Return the files that are other than the history knows; None for those that are gone. What
    is still the very value that was recorded `last` need not be looked at.
    """
    changed: dict[str, Note | None] = {}
    for file in memory.files:
        if last.get(file.path) is file:
            continue
        if file.trouble not in _UNREAD and heads.get(file.path) != digest(file.raw):
            changed[file.path] = file
    unread = {skipped.path for skipped in memory.skipped}
    for path in heads:
        if path not in memory.by_path and not _lies_in(path, unread):
            changed[path] = None
    return changed


def _lies_in(path: str, unread: set[str]) -> bool:
    return any(path == it or path.startswith(f"{it}/") for it in unread)


def _time_of(file: Note, at: datetime) -> str:
    """Return when the file says that it was written; never later than it was seen, `at`."""
    try:
        return min(datetime.fromtimestamp(file.facts.modified, at.tzinfo), at).isoformat()
    except (OverflowError, OSError, ValueError):
        return ""


def _write(
    history: History,
    root: str,
    memory: Memory,
    changes: Mapping[str, Note | None],
    heads: Mapping[str, str],
    at: datetime,
    *,
    is_first: bool,
) -> Recorded:
    gone = {
        path: (history.content(heads[path]) if history.has(heads[path]) else b"") or b""
        for path, file in changes.items()
        if file is None
    }
    arrived = {
        path: file.raw for path, file in changes.items() if file is not None and path not in heads
    }
    origins = pair_renamed(gone, arrived)
    moved = set(origins.values())
    ops: list[Op] = []
    for path, file in sorted(changes.items(), key=lambda item: item[0]):
        sha = history.keep(file.raw) if file is not None else None
        origin = origins.get(path, "")
        session = file.head.scalar("originSessionId") if file is not None else ""
        ops.append(
            Op(
                root,
                path,
                heads.get(path),
                sha,
                session=session if not is_first else "",
                from_root=root if origin else "",
                from_path=origin,
                outcome="moved" if path in moved else "",
                written=_time_of(file, at) if file is not None else "",
            )
        )
        history.set_head(root, path, sha)
    kind, reason = (FIRST, "as first seen") if is_first else (SEEN, "")
    act = history.begin(root, at.isoformat(), kind, author=Author(Role.OUTSIDE), reason=reason)
    history.add_ops(act, ops)
    return Recorded(act, len(ops), is_first)
