"""Recording what others did to a memory: every version that is seen goes into the history.

The first time, all of it is kept and nothing counts as new.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from ricordo.errors import ChangeRefused, MemoryUnreadable
from ricordo.memory.change import Author, AuthorRole, digest
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note, ReadError, read_note
from ricordo.search.fuzzy import ratio
from ricordo.storage.database import Database, transaction
from ricordo.storage.history import History
from ricordo.storage.jail import HeldRoot
from ricordo.storage.lock import state_lock
from ricordo.storage.operation import CHANGE, FIRST, SEEN, Op
from ricordo.text import visible

ENOUGH = 85.0
"""Likeness, of 100, from which on two texts are one note that got another name."""
_MOST = 40
"""Notes gone or arrived at once, up to which texts are compared and not only found equal."""
_LONGEST = 20_000


def pair_renamed(gone: Mapping[str, bytes], arrived: Mapping[str, bytes]) -> dict[str, str]:
    """Return for paths that `arrived` the paths, of those `gone`, from which their notes came:
    first by equal content, then by the likest text.
    """
    by_content: dict[bytes, list[str]] = {}
    for path, raw in gone.items():
        if raw.strip():
            by_content.setdefault(raw, []).append(path)
    origins: dict[str, str] = {}
    for path, raw in arrived.items():
        same = by_content.get(raw)
        if same:
            origins[path] = same.pop(0)
    left = {path: raw for path, raw in gone.items() if path not in origins.values()}
    new = {path: raw for path, raw in arrived.items() if path not in origins}
    if not left or not new or len(left) > _MOST or len(new) > _MOST:
        return origins
    found = sorted(
        (
            (ratio(_text(raw), _text(old)), path, origin)
            for path, raw in new.items()
            for origin, old in left.items()
        ),
        reverse=True,
    )
    for score, path, origin in found:
        if score >= ENOUGH and path not in origins and origin not in origins.values():
            origins[path] = origin
    return origins


def _text(raw: bytes) -> str:
    return raw[:_LONGEST].decode("utf-8", "replace")


STABLE_FOR = 0.3
"""Seconds for which a file has to stay the same before it goes into the history."""
_UNREAD = (
    ReadError.NO_PERMISSION,
    ReadError.DISK_ERROR,
    ReadError.TOO_LARGE,
    ReadError.NOT_A_FILE,
    ReadError.GONE,
)
"""Files of which not all bytes are at hand."""


def at_once() -> None:
    """Go on with the next file: nobody waits for anything else."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a recording found."""

    act: int | None
    """The act that was added; None where nothing was new."""
    files: int
    """How many files it is about."""
    is_first: bool = False
    """Whether the memory had never been recorded."""
    put_back: tuple[str, ...] = ()
    """Files that somebody gave the text back that they had before our own last change."""
    has_renamed: bool = False
    """Whether somebody renamed notes: what the person decided of them is now about other paths."""


class Recorder:
    """Records one memory; remembers what it recorded last, so that only what changed since is
    looked at.
    """

    def __init__(self, database: Database) -> None:
        """`database` is the history."""
        self._database = database
        self._last: Mapping[str, Note] = {}

    def record(
        self,
        memory: Memory,
        at: datetime,
        waiting: Collection[str] = frozenset(),
        step: Callable[[], None] = at_once,
    ) -> Recorded:
        """Keep every version in `memory` that the history does not have, but for files that are
        `waiting` until nobody writes to them; `step` is called after each file. Raises
        StateUnusable, and MemoryUnreadable where its directory cannot be opened.
        """
        if self._last and memory.by_path == self._last:
            return Recorded(None, 0)
        self._database.check_place(memory.root)
        # under the lock no change set of ours is half way
        with state_lock(self._database.state), self._database.opened() as connection:
            recorded = _record(History(connection), memory, at, self._last, waiting, step)
        files = memory.by_path
        self._last = (
            {path: file for path, file in files.items() if path not in waiting}
            if waiting
            else files
        )
        return recorded


def _record(
    history: History,
    memory: Memory,
    at: datetime,
    last: Mapping[str, Note],
    waiting: Collection[str],
    step: Callable[[], None],
) -> Recorded:
    with transaction(history.db):
        root = history.root(memory.root)
        is_first = not history.was_recorded(root.id)
        heads = history.heads(root.id)
        found = _differences(memory, heads, last, step)
        changes = {path: file for path, file in found.items() if path not in waiting}
        changes = _still_so(memory, changes, heads if is_first else changes, step)
        if not changes and not is_first:
            return Recorded(None, 0)
        if len(changes) == len(heads) and not memory.files:
            # everything gone at once looks like a disk that is not mounted
            return Recorded(None, 0)
        kept = history.kept_heads(root.id)
        return _write(history, root.id, memory, changes, kept, at, step, is_first=is_first)


def _still_so(
    memory: Memory,
    changes: Mapping[str, Note | None],
    doubtful: Collection[str],
    step: Callable[[], None],
) -> dict[str, Note | None]:
    """Return the `changes` without those of `doubtful` paths that the disk no longer bears out:
    since the memory was read, we may have written ourselves.
    """
    try:
        root = HeldRoot(memory.root)
    except OSError as error:
        said = f"{visible(memory.root)} cannot be opened: {error.strerror}."
        raise MemoryUnreadable(said) from None
    still: dict[str, Note | None] = {}
    try:
        for path, file in changes.items():
            step()
            expected = file.raw if file is not None else None
            if path not in doubtful or _now(root, path) == expected:
                still[path] = file
        return still
    finally:
        root.close()


def _now(root: HeldRoot, path: str) -> bytes | None:
    try:
        return root.read(path)
    except (OSError, ChangeRefused):
        return None


def _differences(
    memory: Memory, heads: Mapping[str, str], last: Mapping[str, Note], step: Callable[[], None]
) -> dict[str, Note | None]:
    """Return the files that are other than the history knows; None for those that are gone. What
    is still the very value that was recorded `last` need not be looked at.
    """
    changed: dict[str, Note | None] = {}
    for file in memory.files:
        if last.get(file.path) is file:
            continue
        step()
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
    step: Callable[[], None],
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
        step()
        sha = history.keep(file.raw) if file is not None else None
        origin = origins.get(path, "")
        session = "" if is_first or file is None else _writer(history, memory, file, heads, origin)
        ops.append(
            Op(
                root,
                path,
                heads.get(path),
                sha,
                session=session,
                from_root=root if origin else "",
                from_path=origin,
                outcome="moved" if path in moved else "",
                written=_time_of(file, at) if file is not None else "",
            )
        )
        history.set_head(root, path, sha)
    kind, reason = (FIRST, "as first seen") if is_first else (SEEN, "")
    put_back: list[str] = []
    for op in ops:
        step()
        if _puts_back(history, op):
            put_back.append(op.path)
    act = history.begin(
        root, at.isoformat(), kind, author=Author(AuthorRole.OUTSIDE), reason=reason
    )
    history.add_ops(act, ops)
    return Recorded(act, len(ops), is_first, tuple(put_back), bool(origins))


def _writer(
    history: History, memory: Memory, file: Note, heads: Mapping[str, str], origin: str
) -> str:
    """Return the session that wrote `file`; "" where that is not known.

    The session that made a note stays in its head for ever: it says who wrote now only where it
    was not there before.
    """
    session = file.head.scalar("originSessionId")
    before = heads.get(origin or file.path)
    if not session or before is None:
        return session
    if not history.has(before):
        return ""
    old = read_note(file.path, history.content(before) or b"", file.facts, memory.layout)
    return session if old.head.scalar("originSessionId") != session else ""


def _puts_back(history: History, op: Op) -> bool:
    """Say whether `op`, of somebody else, leads to the text before our own last change."""
    if op.post is None:
        return False
    for number, _, earlier in reversed(history.ops_on(op.root, op.path)):
        act = history.act(number)
        if act is not None and act.kind == CHANGE and act.state == "done":
            return earlier.pre == op.post
    return False
