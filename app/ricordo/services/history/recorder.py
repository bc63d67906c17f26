"""Recording what others change in a memory: every new version goes into the history.

The first recording keeps all files, and none counts as new.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from ricordo.errors import ChangeRefused, MemoryUnreadable
from ricordo.memory.change import Author, AuthorRole, compute_digest
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note, ReadError, read_note
from ricordo.search.fuzzy import similarity_ratio
from ricordo.storage.database import Database, transaction
from ricordo.storage.history import History
from ricordo.storage.jail import OpenRoot
from ricordo.storage.lock import state_lock
from ricordo.storage.operation import CHANGE, FIRST, SEEN, FileOperation
from ricordo.text import make_visible

MIN_SIMILARITY = 85.0
"""Similarity, of 100, from which on two texts count as one renamed note."""
_MOST = 40
"""Deleted or new notes at once, up to which similar texts are compared, not only equal ones."""
_LONGEST = 20_000
"""Bytes of a note that are compared."""


def match_renames(missing: Mapping[str, bytes], arrived: Mapping[str, bytes]) -> dict[str, str]:
    """Return the old path, one of `missing`, for each path that `arrived` by a rename: first by
    equal content, then by the most similar text.
    """
    by_content: dict[bytes, list[str]] = {}
    for path, raw in missing.items():
        if raw.strip():
            by_content.setdefault(raw, []).append(path)
    origins: dict[str, str] = {}
    for path, raw in arrived.items():
        same = by_content.get(raw)
        if same:
            origins[path] = same.pop(0)
    deleted = {path: raw for path, raw in missing.items() if path not in origins.values()}
    new = {path: raw for path, raw in arrived.items() if path not in origins}
    if not deleted or not new or len(deleted) > _MOST or len(new) > _MOST:
        return origins
    scores = sorted(
        (
            (similarity_ratio(_text(raw), _text(old)), path, origin)
            for path, raw in new.items()
            for origin, old in deleted.items()
        ),
        reverse=True,
    )
    for score, path, origin in scores:
        if score >= MIN_SIMILARITY and path not in origins and origin not in origins.values():
            origins[path] = origin
    return origins


def _text(raw: bytes) -> str:
    return raw[:_LONGEST].decode("utf-8", "replace")


STABLE_SECONDS = 0.3
"""Seconds for which a file must be unchanged before it goes into the history."""
_UNREAD = (
    ReadError.NO_PERMISSION,
    ReadError.DISK_ERROR,
    ReadError.TOO_LARGE,
    ReadError.NOT_REGULAR,
    ReadError.VANISHED,
)
"""Errors of files whose bytes are not all known."""


def do_not_throttle() -> None:
    """Do nothing: the step of callers that need no throttling."""


@dataclass(frozen=True, slots=True)
class RecordResult:
    """Result of a recording."""

    act: int | None
    """Number of the act that was added; None if nothing was new."""
    files: int
    """Number of files that it covers."""
    is_first: bool = False
    """Whether the memory was recorded for the first time."""
    reverted: tuple[str, ...] = ()
    """Files in which somebody reverted Ricordo's last change."""
    has_renamed: bool = False
    """Whether notes were renamed, so that decisions on them now apply to other paths."""


class Recorder:
    """Records one memory; caches the last recording, so that only changed files are read."""

    def __init__(self, database: Database) -> None:
        """`database` is the history."""
        self._database = database
        self._last: Mapping[str, Note] = {}
        self._is_current = False
        """Whether nothing had to wait in the last recording: a deletion leaves no note behind that
        would tell it from one that was recorded.
        """

    def record(
        self,
        memory: Memory,
        at: datetime,
        waiting: Collection[str] = frozenset(),
        step: Callable[[], None] = do_not_throttle,
        sessions: Mapping[str, str] = MappingProxyType({}),
    ) -> RecordResult:
        """Record every version in `memory` that the history lacks, except files `waiting` until
        nobody writes to them; `step` is called after each file. `sessions` are those that are known
        to have written files, by path; of others the note itself may name one. Raises
        StateUnusable, and MemoryUnreadable if the directory cannot be opened.
        """
        if self._is_current and memory.by_path == self._last:
            return RecordResult(None, 0)
        self._database.check_location(memory.root if memory.layout.has_notes else None)
        # under the lock none of Ricordo's own change sets is half applied
        with state_lock(self._database.state), self._database.connect() as connection:
            recorded = _record(History(connection), memory, at, self._last, waiting, step, sessions)
        files = memory.by_path
        self._is_current = not waiting
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
    sessions: Mapping[str, str],
) -> RecordResult:
    with transaction(history.db):
        root = history.ensure_root(memory.root)
        is_first = not history.was_recorded(root.id)
        heads = history.list_known_contents(root.id)
        changed = _differences(memory, heads, last, step)
        changes = {path: file for path, file in changed.items() if path not in waiting}
        changes = _still_on_disk(memory, changes, heads if is_first else changes, step)
        if not changes and not is_first:
            return RecordResult(None, 0)
        if len(changes) == len(heads) and not memory.files:
            # all files missing at once looks like a disk that is not mounted
            return RecordResult(None, 0)
        kept_heads = history.list_stored_contents(root.id)
        return _write(
            history, root.id, memory, changes, kept_heads, at, step, sessions, is_first=is_first
        )


def _still_on_disk(
    memory: Memory,
    changes: Mapping[str, Note | None],
    uncertain: Collection[str],
    step: Callable[[], None],
) -> dict[str, Note | None]:
    """Return `changes` without those at `uncertain` paths that no longer match the disk: Ricordo
    may have written since the memory was read.
    """
    try:
        root = OpenRoot(memory.root)
    except OSError as error:
        message = f"{make_visible(memory.root)} cannot be opened: {error.strerror}."
        raise MemoryUnreadable(message) from None
    still: dict[str, Note | None] = {}
    try:
        for path, file in changes.items():
            step()
            expected = file.raw if file is not None else None
            if path not in uncertain or _read_now(root, path) == expected:
                still[path] = file
        return still
    finally:
        root.close()


def _read_now(root: OpenRoot, path: str) -> bytes | None:
    try:
        return root.read(path)
    except (OSError, ChangeRefused):
        return None


def _differences(
    memory: Memory, heads: Mapping[str, str], last: Mapping[str, Note], step: Callable[[], None]
) -> dict[str, Note | None]:
    """Return the files that differ from the history; None for deleted ones. Notes that are the same
    objects as in the `last` recording are skipped.
    """
    changed: dict[str, Note | None] = {}
    for file in memory.files:
        if last.get(file.path) is file:
            continue
        step()
        if file.read_error not in _UNREAD and heads.get(file.path) != compute_digest(file.raw):
            changed[file.path] = file
    unread = {skipped.path for skipped in memory.skipped}
    for path in heads:
        if path not in memory.by_path and not _lies_in(path, unread):
            changed[path] = None
    return changed


def _lies_in(path: str, unread: set[str]) -> bool:
    return any(path == it or path.startswith(f"{it}/") for it in unread)


def _time_of(file: Note, at: datetime) -> str:
    """Return the modification time of a file, ISO 8601, never later than `at`; "" if it has none
    that can be represented.
    """
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
    sessions: Mapping[str, str],
    *,
    is_first: bool,
) -> RecordResult:
    missing = {
        path: (history.get_content(heads[path]) if history.has_content(heads[path]) else b"") or b""
        for path, file in changes.items()
        if file is None
    }
    arrived = {
        path: file.raw for path, file in changes.items() if file is not None and path not in heads
    }
    origins = match_renames(missing, arrived)
    moved = set(origins.values())
    ops: list[FileOperation] = []
    for path, file in sorted(changes.items(), key=lambda item: item[0]):
        step()
        sha = history.store_content(file.raw) if file is not None else None
        origin = origins.get(path, "")
        session = "" if is_first else sessions.get(path, "")
        if not session and not is_first and file is not None:
            session = _writer(history, memory, file, heads, origin)
        ops.append(
            FileOperation(
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
        history.set_known_content(root, path, sha)
    kind, reason = (FIRST, "as first seen") if is_first else (SEEN, "")
    put_back: list[str] = []
    for op in ops:
        step()
        if _puts_back(history, op):
            put_back.append(op.path)
    act = history.add_entry(
        root, at.isoformat(), kind, author=Author(AuthorRole.OUTSIDE), reason=reason
    )
    history.add_operations(act, ops)
    return RecordResult(act, len(ops), is_first, tuple(put_back), bool(origins))


def _writer(
    history: History, memory: Memory, file: Note, heads: Mapping[str, str], origin: str
) -> str:
    """Return the session that wrote `file`; "" if unknown.

    The frontmatter names the session that created the note: it is the present writer only if it
    was not there before.
    """
    session = file.frontmatter.get_text("originSessionId")
    before = heads.get(origin or file.path)
    if not session or before is None:
        return session
    if not history.has_content(before):
        return ""
    old = read_note(file.path, history.get_content(before) or b"", file.facts, memory.layout)
    return session if old.frontmatter.get_text("originSessionId") != session else ""


def _puts_back(history: History, op: FileOperation) -> bool:
    """Return whether `op`, by somebody else, reverts Ricordo's last change of the file."""
    if op.post is None:
        return False
    for number, _, earlier in reversed(history.list_operations_on(op.root, op.path)):
        act = history.get_entry(number)
        if act is not None and act.kind == CHANGE and act.state == "done":
            return earlier.pre == op.post
    return False
