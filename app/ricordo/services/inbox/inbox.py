"""The inbox: what anybody but the user changed since the last visit, note by note.

Closing a visit sets a mark: everything before it was seen. Changes that were not seen or were
snoozed are carried over by path, and so are kept ones once that decision is undone.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ricordo.lint.evidence import NO_EVIDENCE
from ricordo.memory.memory import Memory
from ricordo.secrets import mask
from ricordo.services.sessions.activity import Activity
from ricordo.services.sessions.origin import NoteOrigin, find_writer, load_origins
from ricordo.services.workspace.evidence import do_not_wait
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.database import transaction
from ricordo.storage.decisions import Decision, find_undone
from ricordo.storage.history import History, open_recorded
from ricordo.storage.operation import FIRST, SEEN, FileOperation, HistoryEntry

VISIT_KIND = "visit"
"""The kind of the act that closes a visit."""
_WORST_FIRST = ("conflict", "deleted", "changed", "renamed", "created")


REVERT_REASON_PREFIX = "reverted what"
"""How the reason of an act begins that reverts what others did."""


@dataclass(frozen=True, slots=True)
class InboxChange:
    """What others changed in one note, until somebody else changed it."""

    id: str
    """Its id in decisions: the numbers of its last act and op."""
    path: str
    kind: str
    """created, changed, deleted or renamed; conflict for a text that was written at the same time
    as another one and could not be merged: the file does not contain it.
    """
    old_path: str
    """Its path before; "" where it was not renamed."""
    at: str
    """ISO 8601."""
    by: str
    before: bytes | None
    after: bytes | None
    reason: str = ""
    is_kept: bool = False
    is_snoozed: bool = False
    is_reverted: bool = False
    """Whether the user restored the old content."""
    is_purged: bool = False
    """Whether a text was purged, so that it cannot be shown or reverted."""
    all_paths: tuple[str, ...] = ()
    """Every path that it had in between."""
    previous_act: int = 0
    """The number of the act before its first one."""

    @property
    def old_text(self) -> str:
        """The old text for display: without credentials."""
        return mask(_decode(self.before))

    @property
    def new_text(self) -> str:
        """The new text for display: without credentials."""
        return mask(_decode(self.after))


@dataclass(frozen=True, slots=True)
class Inbox:
    """The changes between two visits."""

    since: str
    """When the visit before was closed, ISO 8601; "" where there was none."""
    changes: tuple[InboxChange, ...]
    last_act: int
    """The number of the last act that it covers."""
    is_latest: bool = True
    """Whether it covers everything until now."""

    @property
    def worst_first(self) -> tuple[InboxChange, ...]:
        """The changes by kind: conflicts, deleted, changed, renamed, created."""
        return tuple(
            sorted(
                self.changes, key=lambda arrival: (_WORST_FIRST.index(arrival.kind), arrival.path)
            )
        )

    @property
    def pending(self) -> tuple[InboxChange, ...]:
        """The changes that are neither kept nor snoozed nor reverted."""
        return tuple(
            item
            for item in self.changes
            if not (item.is_kept or item.is_snoozed or item.is_reverted)
        )


@dataclass(frozen=True, slots=True)
class _Mark:
    """How far the user has seen the changes."""

    at: str = ""
    upto: int = 0
    act: int = 0
    """The number of the act that set it."""
    unseen: Mapping[str, int] = field(default_factory=dict)
    """Paths that were not seen, with the number of the act after which they are new."""
    kept: Mapping[int, Mapping[str, int]] = field(default_factory=dict)
    """The same of the paths that were kept, by the number of the act that kept them."""

    def is_new(self, path: str, act: int) -> bool:
        return act > min(self.unseen.get(path, self.upto), self.upto)


def read_inbox(notebook: Notebook, back: int = 0) -> Inbox:
    """Return what changed since the last visit, or with `back` what an earlier visit showed.

    The memory has to be recorded before. Raises StateUnusable.
    """
    decided = notebook.decisions.find_active(Decision.KEEP, Decision.SNOOZE)
    with open_recorded(notebook.database, notebook.place.root) as recorded:
        if recorded is None:
            return Inbox("", (), 0)
        history, root = recorded
        acts = {act.n: act for act in history.list_entries(root)}
        marks = _read_marks(acts.values())
        upto = max(acts, default=0)
        start = _add_undone(marks, max(len(marks) - 1 - back, 0), find_undone([*acts.values()]))
        if back:
            upto = marks[max(len(marks) - back, 0)].upto
        ops = [
            item
            for item in history.list_operations_after(
                root, min(start.upto, *start.unseen.values(), upto)
            )
            if item[0] <= upto and item[0] in acts and start.is_new(item[2].path, item[0])
        ]
        groups = _group_changes(ops, acts)
        arrivals = [_build_arrival(history, group, acts[group.last_op[0]]) for group in groups]
        arrivals += [
            _build_conflict(history, acts[number], n, op)
            for number, n, op in ops
            if op.outcome == "displaced"
        ]
    decided_arrivals = [
        replace(
            arrival,
            is_kept=(verdict := decided.get(arrival.id)) is not None
            and verdict.decision is Decision.KEEP,
            # only until the visit ends: then it is new again
            is_snoozed=verdict is not None
            and verdict.decision is Decision.SNOOZE
            and verdict.act > start.act,
        )
        for arrival in arrivals
        if arrival is not None
    ]
    return Inbox(start.at, tuple(decided_arrivals), upto, is_latest=not back)


def count_visits(notebook: Notebook) -> int:
    """Return how many visits were closed. Raises StateUnusable."""
    with open_recorded(notebook.database, notebook.place.root) as recorded:
        if recorded is None:
            return 0
        history, root = recorded
        return len(_read_marks(history.list_entries(root))) - 1


def keep_all(notebook: Notebook, shown: Inbox) -> None:
    """Keep all that is pending of the inbox that was `shown`, as one decision, and close the visit.
    Raises StateUnusable.
    """
    pending = [arrival.id for arrival in shown.pending]
    notebook.decisions.decide(Decision.KEEP, pending, notebook.environment.now.isoformat())
    close_visit(notebook, shown)


def close_visit(notebook: Notebook, shown: Inbox, unseen: Collection[str] = ()) -> None:
    """Move the mark to the end of the inbox that was `shown`; `unseen` are the ids of changes that
    were not looked at and stay new. Raises StateUnusable.
    """
    kept_by = {id_: it.act for id_, it in notebook.decisions.find_active(Decision.KEEP).items()}
    with notebook.database.connect() as connection, transaction(connection):
        history = History(connection)
        root = history.ensure_root(notebook.place.root)
        unseen_paths: dict[str, int] = {}
        kept: dict[int, dict[str, int]] = {}
        for arrival in shown.changes:
            if arrival.is_snoozed or (arrival.id in unseen and not arrival.is_kept):
                _add_paths(unseen_paths, dict.fromkeys(arrival.all_paths, arrival.previous_act))
            elif arrival.id in kept_by:
                paths = kept.setdefault(kept_by[arrival.id], {})
                _add_paths(paths, dict.fromkeys(arrival.all_paths, arrival.previous_act))
        now = notebook.environment.now.isoformat()
        subject = json.dumps({"upto": shown.last_act, "left": unseen_paths, "kept": kept})
        history.add_entry(root.id, now, VISIT_KIND, subject=subject)


def _add_paths(paths: dict[str, int], more: Mapping[str, int]) -> None:
    """Add paths with the number of the act after which they are new, the lower one if it is known
    already.
    """
    for path, act in more.items():
        paths[path] = min(paths.get(path, act), act)


def _read_marks(acts: Collection[HistoryEntry]) -> list[_Mark]:
    """Return the marks of the visits, oldest first, after that of the first recording."""
    marks = [_Mark()]
    for act in acts:
        if act.kind == FIRST:
            marks[0] = _Mark(act.at, act.n, act.n)
        elif act.kind == VISIT_KIND:
            subject: dict[str, Any] = json.loads(act.subject)
            kept = {int(n): dict(paths) for n, paths in subject.get("kept", {}).items()}
            marks.append(_Mark(act.at, int(subject["upto"]), act.n, dict(subject["left"]), kept))
    return marks


def _add_undone(marks: Sequence[_Mark], number: int, undone: Mapping[int, int]) -> _Mark:
    """Return one of the marks of visits; not seen is also what was kept until then, if that was
    undone between this visit and the next one. `undone` has the numbers of the acts that undid
    others.
    """
    mark, later = marks[number], marks[number + 1 :]
    end = later[0].act if later else math.inf
    unseen = dict(mark.unseen)
    for earlier in marks[: number + 1]:
        for n, paths in earlier.kept.items():
            if mark.act < undone.get(n, 0) < end:
                _add_paths(unseen, paths)
    return replace(mark, unseen=unseen)


@dataclass(slots=True)
class _FileChanges:
    """What others did to one file, one change after the other."""

    path: str
    old_path: str
    before: str | None
    after: str | None = None
    last_written: str | None = None
    """The last content that others wrote."""
    last_content: str | None = None
    """The last content of the file."""
    sessions: dict[str, None] = field(default_factory=dict)
    paths: dict[str, None] = field(default_factory=dict)
    first_act: int = 0
    last_op: tuple[int, int] = (0, 0)
    written_at: str = ""
    is_reverted: bool = False

    @property
    def content_after_revert(self) -> str | None:
        """Return the content of the path after a revert."""
        if self.old_path and self.after is not None:
            return None
        return self.last_content if self.before is None and self.after is None else self.before

    def record_revert(self, op: FileOperation, *, in_part: bool) -> None:
        """Record an op of the user; `in_part` it reverted only some of what others did."""
        self.is_reverted = op.post == self.content_after_revert
        if not self.is_reverted and (in_part or op.post == self.last_written):
            # the rest is still to be judged
            self.after = op.post

    def add(self, number: int, n: int, op: FileOperation) -> None:
        """Add one op of others, which may have renamed the file."""
        if op.path != self.path:
            self.old_path = self.old_path or (self.path if self.before is not None else "")
            self.path = op.path
        self.after = self.last_written = op.post
        self.last_op, self.written_at = (number, n), op.written
        self.last_content = op.post or op.pre or self.last_content
        self.first_act = self.first_act or number
        self.paths.update(dict.fromkeys(path for path in (op.from_path, op.path) if path))
        if op.session:
            self.sessions[op.session] = None


def _group_changes(
    ops: Sequence[tuple[int, int, FileOperation]], acts: Mapping[int, HistoryEntry]
) -> list[_FileChanges]:
    """Group the changes of others by file, as long as nobody else wrote in between."""
    groups: list[_FileChanges] = []
    open_groups: dict[str, _FileChanges] = {}
    latest: dict[str, _FileChanges] = {}
    moved_content = {(number, op.path): op.pre for number, _, op in ops if op.outcome == "moved"}
    for number, n, op in ops:
        if op.outcome in ("moved", "kept", "displaced"):
            continue
        if acts[number].kind != SEEN:
            open_groups.pop(op.path, None)
            if op.path in latest:
                latest[op.path].record_revert(
                    op, in_part=acts[number].reason.startswith(REVERT_REASON_PREFIX)
                )
            continue
        group = open_groups.pop(op.from_path or op.path, None)
        if group is None:
            before = moved_content.get((number, op.from_path)) if op.from_path else op.pre
            group = _FileChanges(op.path, op.from_path, before, last_content=before)
            groups.append(group)
        group.add(number, n, op)
        open_groups[op.path] = latest[op.path] = group
    return sorted(groups, key=lambda group: group.last_op)


def _build_arrival(history: History, group: _FileChanges, act: HistoryEntry) -> InboxChange | None:
    """Return the net change of a group; None where nothing changed."""
    before, after = group.before, group.after
    if before is None and after is None:
        # created and deleted since the last visit: it can still be restored
        before = group.last_content
    if before == after and not group.old_path:
        return None
    kind = "changed"
    if after is None:
        kind = "deleted"
    elif group.old_path:
        kind = "renamed"
    elif before is None:
        kind = "created"
    sessions = ", ".join(group.sessions)
    return InboxChange(
        f"{group.last_op[0]}.{group.last_op[1]}",
        group.path,
        kind,
        group.old_path if after is not None else "",
        group.written_at or act.at,
        f"session {sessions}" if sessions else act.author.label,
        _read_content(history, before),
        _read_content(history, after),
        act.reason,
        is_reverted=group.is_reverted,
        is_purged=not all(map(history.is_unmasked, (before, after))),
        all_paths=tuple(group.paths),
        previous_act=group.first_act - 1,
    )


def _build_conflict(history: History, act: HistoryEntry, n: int, op: FileOperation) -> InboxChange:
    """Return the conflict of a text that could not be merged into its file."""
    return InboxChange(
        f"{act.n}.{n}",
        op.path,
        "conflict",
        "",
        act.at,
        act.author.label,
        _read_content(history, op.pre),
        _read_content(history, op.post),
        act.reason,
        is_purged=not all(map(history.is_unmasked, (op.pre, op.post))),
        all_paths=(op.path,),
        previous_act=act.n - 1,
    )


def _read_content(history: History, sha: str | None) -> bytes | None:
    return history.get_content(sha) if history.has_content(sha) else None


def _decode(raw: bytes | None) -> str:
    return (raw or b"").decode("utf-8", "replace")


def update_writers(notebook: Notebook, memory: Memory) -> None:
    """Read what was added to the transcripts since the last time, and nothing else."""
    activity = Activity(notebook.place, notebook.environment, notebook.activity)
    activity.gather(memory, NO_EVIDENCE, do_not_wait)


def add_writers(notebook: Notebook, shown: Inbox) -> Inbox:
    """Return the inbox with the writing session of each change, where a transcript shows it."""
    if not shown.changes:
        return shown
    origins = load_origins(notebook.activity, notebook.place.root, {})
    named = tuple(_name_writer(arrival, origins) for arrival in shown.changes)
    return replace(shown, changes=named)


def _name_writer(arrival: InboxChange, origins: dict[str, tuple[NoteOrigin, ...]]) -> InboxChange:
    writes = [
        origin for path in arrival.all_paths for origin in origins.get(path, ()) if origin.deed
    ]
    writer = find_writer(writes, arrival.at, is_gone=arrival.kind == "deleted")
    return replace(arrival, by=writer.writer) if writer else arrival
