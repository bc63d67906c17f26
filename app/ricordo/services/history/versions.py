"""The versions of notes: what each of them was, by whom and why, newest first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ricordo.errors import ChangeRefused, NoteNotFound, WrongUsage
from ricordo.memory.change import Change, ChangeSet, Create, Edit, Rewrite, effective
from ricordo.memory.memory import Memory
from ricordo.memory.protection import hard_link_remarks
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.history import History
from ricordo.storage.operation import FIRST, SEEN, Act, Op
from ricordo.text import visible

_ELSEWHERE = ("kept", "displaced")
"""Outcomes of contents that the file does not have."""


@dataclass(frozen=True, slots=True)
class Version:
    """One state of one file."""

    id: str
    """Names it on the command line: the number of its act and of the op in it."""
    path: str
    at: str
    """ISO 8601: when it was written, as far as that is known."""
    by: str
    reason: str
    kind: str
    """created, changed, deleted, renamed, or first for what was there when Ricordo came."""
    sha: str | None
    """Of its content; None for a file that is gone."""
    before: str | None
    """Of the content before it."""
    bytes: int | None


def versions(notebook: Notebook, path: str | None = None) -> list[Version]:
    """Return the versions of the file at `path`, also under the names that it had before, or of
    every file of the memory; newest first. Raises StateUnusable.
    """
    if not notebook.database.exists:
        return []
    with notebook.database.opened() as connection:
        history = History(connection)
        root = history.known_root(notebook.place.root)
        if root is None:
            return []
        if path is None:
            ops = history.ops_of_acts(root.id, 0)
        else:
            ops = _through_names(history, root.id, path)
        roots = dict.fromkeys(op.root for _, _, op in ops)
        acts = {act.n: act for of in roots for act in history.acts(of)}
        found = [_version(history, acts[number], n, op) for number, n, op in ops if number in acts]
    return [version for version in reversed(found) if version is not None]


def gone_notes(notebook: Notebook) -> list[Version]:
    """Return how every file left that the history knows and the memory has no longer, the last one
    first. Raises StateUnusable.
    """
    if not notebook.database.exists:
        return []
    with notebook.database.opened() as connection:
        history = History(connection)
        root = history.known_root(notebook.place.root)
        if root is None:
            return []
        acts = {act.n: act for act in history.acts(root.id)}
        ops = [item for item in history.ops_of_acts(root.id, 0) if item[0] in acts]
        moved = {(number, op.from_path) for number, _, op in ops if op.from_path}
        last = {op.path: (number, n, op) for number, n, op in ops if op.outcome not in _ELSEWHERE}
        left = [
            _version(history, acts[number], n, op)
            for number, n, op in sorted(last.values(), key=lambda item: item[:2], reverse=True)
            if op.post is None and (number, op.path) not in moved
        ]
    return [version for version in left if version is not None]


def _through_names(history: History, root: str, path: str) -> list[tuple[int, int, Op]]:
    """Return the ops on a file under all the names that led to `path`, oldest first."""
    ops: list[tuple[int, int, Op]] = []
    upto = 2**62
    while True:
        own = [item for item in history.ops_on(root, path) if item[0] <= upto]
        came = next((item for item in reversed(own) if item[2].from_path), None)
        ops = [item for item in own if came is None or item >= came] + ops
        if came is None:
            return ops
        upto, root, path = came[0] - 1, came[2].from_root, came[2].from_path


def _version(history: History, act: Act, n: int, op: Op) -> Version | None:
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
    by = f"session {op.session}" if op.session else act.author.shown
    at = op.written if act.kind in (SEEN, FIRST) and op.written else act.at
    size = history.size_of(op.post)
    return Version(f"{act.n}.{n}", op.path, at, by, act.reason, kind, op.post, op.pre, size)


def content(notebook: Notebook, sha: str | None) -> bytes | None:
    """Return a content that a version names; None for a file that is gone.

    Raises NoteNotFound where it was purged, and StateUnusable.
    """
    with notebook.database.opened() as connection:
        try:
            return History(connection).content(sha)
        except KeyError:
            raise NoteNotFound("That version was purged from the history.") from None


def whole_content(notebook: Notebook, sha: str | None) -> bytes | None:
    """Return what `content` does. Raises ChangeRefused where a value was purged from it: what is
    kept is not what the file held.
    """
    raw = content(notebook, sha)
    with notebook.database.opened() as connection:
        if not History(connection).is_whole(sha):
            raise ChangeRefused(
                "A value was purged from that version, so it cannot come back as it was; "
                "`ricordo history` lists the others."
            )
    return raw


def pick_version(found: Iterable[Version], wanted: str) -> Version:
    """Return the version that is called `wanted`, else the newest one that has a content.

    Raises WrongUsage where none is called so, and NoteNotFound where none has a content.
    """
    if wanted:
        for version in found:
            if version.id == wanted:
                return version
        raise WrongUsage(f"No version is called “{visible(wanted)}”; `ricordo history` lists them.")
    for version in found:
        if version.sha is not None:
            return version
    raise NoteNotFound("The history knows no text of that note.")


def restore(notebook: Notebook, memory: Memory, version: Version, path: str) -> ChangeSet:
    """Return the change set that gives the note at `path` the bytes of `version` back, which may
    have had another name; of a deleted version the bytes before. Empty where it holds them
    already. Raises NoteNotFound, ChangeRefused where a value was purged from it, and StateUnusable.
    """
    raw = whole_content(notebook, version.sha or version.before)
    file = memory.by_path.get(path)
    before = file.raw if file else None
    edit = Edit(memory.root, path, before, raw)
    text = (raw or b"").decode("utf-8", "replace")
    act = Rewrite(path, text) if file else Create(path, text, entry="")
    edits = effective([edit])
    changes = (Change(act, f"as it was on {version.at[:16]}"),)
    return ChangeSet(edits, changes, tuple(hard_link_remarks(memory, edits)))
