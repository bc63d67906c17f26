"""The versions of notes: content, author and reason of each, newest first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ricordo.errors import ChangeRefused, NoteNotFound, WrongUsage
from ricordo.memory.change import Change, ChangeSet, Create, Edit, Rewrite, drop_empty_edits
from ricordo.memory.compose import compose, find_hard_link_warnings
from ricordo.memory.entry import DroppedEntry, find_dropped_entry
from ricordo.memory.index import parse_index
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.services.sessions.origin import find_writer, load_origins
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.history import History, open_recorded
from ricordo.storage.operation import FIRST, SEEN, FileOperation, HistoryEntry
from ricordo.text import make_visible

_NOT_IN_FILE = ("kept", "displaced")
"""Outcomes of ops whose content is not in the file."""


@dataclass(frozen=True, slots=True)
class Version:
    """One state of one file."""

    id: str
    """Id on the command line: the numbers of its act and of the op in it."""
    path: str
    at: str
    """ISO 8601: when it was written, if known, else when it was recorded."""
    by: str
    reason: str
    kind: str
    """created, changed, deleted, renamed, or first for files of the first recording."""
    sha: str | None
    """SHA-256 of its content; None for a deleted file."""
    sha_before: str | None
    """SHA-256 of the content before it; None for a new file."""
    bytes: int | None
    """Size of its content; None if that is not stored."""
    is_foreign: bool = False
    """Whether another program wrote it."""


def list_versions(notebook: Notebook, path: str | None = None) -> list[Version]:
    """Return the versions of the file at `path`, with those under its earlier names, or of every
    file of the memory; newest first. Raises StateUnusable.
    """
    with open_recorded(notebook.database, notebook.place.root) as recorded:
        if recorded is None:
            return []
        history, root = recorded
        if path is None:
            ops = history.list_operations_after(root, 0)
        else:
            ops = _ops_through_renames(history, root, path)
        roots = dict.fromkeys(op.root for _, _, op in ops)
        acts = {act.n: act for root_id in roots for act in history.list_entries(root_id)}
        oldest_first = [
            _version(history, acts[number], n, op) for number, n, op in ops if number in acts
        ]
    return [version for version in reversed(oldest_first) if version is not None]


def list_deleted(notebook: Notebook) -> list[Version]:
    """Return the deletion of every file that the history knows and the memory no longer has, the
    last one first. Raises StateUnusable.
    """
    with open_recorded(notebook.database, notebook.place.root) as recorded:
        if recorded is None:
            return []
        history, root = recorded
        acts = {act.n: act for act in history.list_entries(root)}
        ops = [item for item in history.list_operations_after(root, 0) if item[0] in acts]
        moved = {(number, op.from_path) for number, _, op in ops if op.from_path}
        last = {op.path: (number, n, op) for number, n, op in ops if op.outcome not in _NOT_IN_FILE}
        deleted = [
            _version(history, acts[number], n, op)
            for number, n, op in sorted(last.values(), key=lambda item: item[:2], reverse=True)
            if op.post is None and (number, op.path) not in moved
        ]
    return [version for version in deleted if version is not None]


def name_writers(notebook: Notebook, versions: Iterable[Version]) -> list[Version]:
    """Return `versions` with the agent and session of those that another program wrote, where a
    transcript shows it.
    """
    origins = load_origins(notebook.activity, notebook.place.root, {})
    named: list[Version] = []
    for version in versions:
        of_note = origins.get(version.path, ()) if version.is_foreign else ()
        writer = find_writer(of_note, version.at, is_gone=version.sha is None)
        named.append(replace(version, by=writer.writer) if writer else version)
    return named


def _ops_through_renames(
    history: History, root: str, path: str
) -> list[tuple[int, int, FileOperation]]:
    """Return the ops on a file under all names that it had up to `path`, oldest first."""
    ops: list[tuple[int, int, FileOperation]] = []
    upto = 2**62
    while True:
        of_name = [item for item in history.list_operations_on(root, path) if item[0] <= upto]
        rename = next((item for item in reversed(of_name) if item[2].from_path), None)
        ops = [item for item in of_name if rename is None or item >= rename] + ops
        if rename is None:
            return ops
        upto, root, path = rename[0] - 1, rename[2].from_root, rename[2].from_path


def _version(history: History, act: HistoryEntry, n: int, op: FileOperation) -> Version | None:
    if op.outcome == "moved" or (op.post is None and op.pre is None):
        return None
    if act.kind == FIRST:
        kind = "first"
    elif op.from_path:
        kind = "renamed"
    elif op.pre is None:
        kind = "created"
    else:
        kind = "changed" if op.post is not None else "deleted"
    by = f"session {op.session}" if op.session else act.author.label
    is_foreign = act.kind in (SEEN, FIRST)
    at = op.written if is_foreign and op.written else act.at
    size = history.get_size(op.post)
    return Version(
        f"{act.n}.{n}", op.path, at, by, act.reason, kind, op.post, op.pre, size, is_foreign
    )


def read_content(notebook: Notebook, sha: str | None) -> bytes | None:
    """Return the content of a version by its SHA-256; None for a deleted file.

    Raises NoteNotFound if it was purged, and StateUnusable.
    """
    with notebook.database.connect() as connection:
        try:
            return History(connection).get_content(sha)
        except KeyError:
            raise NoteNotFound("That version was purged from the history.") from None


def read_whole_content(notebook: Notebook, sha: str | None) -> bytes | None:
    """Return what `read_content` returns. Raises ChangeRefused if a value was purged from it: then
    the stored text is not what the file held.
    """
    raw = read_content(notebook, sha)
    with notebook.database.connect() as connection:
        if not History(connection).is_unmasked(sha):
            raise ChangeRefused(
                "A value was purged from that version, so it cannot be restored.",
                hint="`ricordo history` lists the others.",
            )
    return raw


def pick_version(candidates: Iterable[Version], wanted: str) -> Version:
    """Return the version with the id `wanted`; if that is "", the newest one with a content.

    Raises WrongUsage if no version has that id, and NoteNotFound if none has a content.
    """
    if wanted:
        for version in candidates:
            if version.id == wanted:
                return version
        raise WrongUsage(
            f"No version has the id “{make_visible(wanted)}”.", hint="`ricordo history` lists them."
        )
    for version in candidates:
        if version.sha is not None:
            return version
    raise NoteNotFound(
        "The history has no other text of that note.",
        hint="`ricordo history NOTE` lists its versions.",
    )


def compose_restore(notebook: Notebook, memory: Memory, version: Version, path: str) -> ChangeSet:
    """Return the change set that restores the note at `path` to the bytes of `version`, or of the
    one before if `version` is a deletion; a note that is not in the memory gets the index entry
    back that it had last. Empty if the note has these bytes already. Raises NoteNotFound,
    ChangeRefused if a value was purged from the version, and StateUnusable.
    """
    raw = read_whole_content(notebook, version.sha or version.sha_before)
    file = memory.by_path.get(path)
    edits = drop_empty_edits([Edit(memory.root, path, file.raw if file else None, raw)])
    text = (raw or b"").decode("utf-8", "replace")
    entry, others = (None, []) if file else _find_removal(notebook, memory, path)
    act = Rewrite(path, text) if file else Create(path, text, entry.insert.text if entry else "")
    warnings: list[str] = []
    if others:
        names = ", ".join(map(make_visible, others))
        warnings.append(f"Changed when it was removed, and not restored with it: {names}.")
    if entry:
        try:
            edits = (*edits, *compose(memory, [Change(entry.insert)]).edits)
        except ChangeRefused as refused:
            warnings.append(f"Its index entry was not restored: {refused.message}")
    changes = (Change(act, f"as it was on {version.at[:16]}"),)
    return ChangeSet(edits, changes, (*warnings, *find_hard_link_warnings(memory, edits)))


def _find_removal(
    notebook: Notebook, memory: Memory, path: str
) -> tuple[DroppedEntry | None, list[str]]:
    """Return the entry that an index had for the note at `path` since that was last written, and
    the notes that were changed together with its removal.
    """
    entry: DroppedEntry | None = None
    others: list[str] = []
    with open_recorded(notebook.database, memory.root) as recorded:
        if recorded is None:
            return None, others
        history, root = recorded
        written = [n for n, _, op in history.list_operations_on(root, path) if op.post is not None]
        later = history.list_operations_after(root, max(written, default=0))
        removals = {n for n, _, op in later if op.path == path}
        for number, _, op in reversed(later):
            role = memory.layout.get_role(op.path)
            if number in removals and op.pre and op.post and role is FileRole.NOTE:
                others.append(op.path)
            if entry is None and role is FileRole.INDEX and history.is_unmasked(op.pre):
                old = parse_index(op.path, history.get_content(op.pre), memory.layout)
                entry = find_dropped_entry(memory, old, path) if old else None
    return entry, sorted(set(others))
