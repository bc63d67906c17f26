"""Reverting what others did to a note, all of it or single hunks, and to its index entry."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ricordo.errors import ChangeRefused
from ricordo.memory.change import Change, ChangeSet, Edit, Rewrite, drop_empty_edits
from ricordo.memory.compose import compose, find_hard_link_warnings
from ricordo.memory.diff import revert_hunks
from ricordo.memory.entry import DroppedEntry, find_dropped_entry
from ricordo.memory.index import MemoryIndex, parse_index
from ricordo.memory.layout import Layout
from ricordo.memory.memory import Memory
from ricordo.services.inbox.inbox import REVERT_REASON_PREFIX, Inbox, InboxChange
from ricordo.text import make_visible


def build_revert(
    marked: Mapping[str, Collection[int]], shown: Inbox, memory: Memory, reason: str = ""
) -> ChangeSet:
    """Return the change set that reverts what is `marked`: numbers of hunks by the id of their
    change, none for all of it. A deleted note gets its index entry back too, if a change that was
    `shown` removed it and is not reverted itself. `reason` is the user's, for the history.

    Raises ChangeRefused where a text was purged, or has no hunks.
    """
    arrivals = [arrival for arrival in shown.changes if arrival.id in marked]
    edits = [
        edit
        for arrival in arrivals
        for edit in _build_edits(arrival, marked[arrival.id], memory.root)
    ]
    edited = {edit.path for edit in edits}
    entries = [
        entry
        for arrival in arrivals
        if arrival.kind == "deleted"
        for entry in _find_dropped_entry(arrival, shown, memory)
        if entry.insert.path not in edited
    ]
    # from below, so that no line number moves before it is used
    entries.sort(key=lambda entry: (entry.insert.after_line, entry.line), reverse=True)
    edits += compose(memory, [Change(entry.insert) for entry in entries]).edits
    why = f": {reason}" if reason else ""
    changes = [
        Change(Rewrite(item.path, ""), f"{REVERT_REASON_PREFIX} {item.by} did{why}")
        for item in arrivals
    ]
    effective_edits = drop_empty_edits(edits)
    return ChangeSet(
        effective_edits, tuple(changes), tuple(find_hard_link_warnings(memory, effective_edits))
    )


def _build_edits(arrival: InboxChange, hunks: Collection[int], root: str) -> list[Edit]:
    _refuse_purged(arrival)
    if arrival.kind == "conflict":
        raise ChangeRefused(
            f"Nothing to revert: {make_visible(arrival.path)} does not contain that text.",
            hint=f"Restore it with `ricordo restore --at {arrival.id}`.",
        )
    if hunks:
        return [_revert_hunks(arrival, hunks, root)]
    if not arrival.old_path:
        return [Edit(root, arrival.path, arrival.after, arrival.before)]
    return [
        Edit(root, arrival.path, arrival.after, None),
        Edit(root, arrival.old_path, None, arrival.before, moved_from=arrival.path),
    ]


def _revert_hunks(arrival: InboxChange, hunks: Collection[int], root: str) -> Edit:
    """Return the edit that reverts these hunks."""
    if arrival.before is None or arrival.after is None or arrival.old_path:
        raise ChangeRefused("Only a changed note has single hunks to revert.")
    reverted = revert_hunks(_decode(arrival.before), _decode(arrival.after), hunks)
    return Edit(root, arrival.path, arrival.after, reverted.encode("utf-8"))


def list_dropped_entries(arrival: InboxChange, layout: Layout) -> tuple[str, ...]:
    """Return the titles of the entries that an index lost; none where the change is not about an
    index.
    """
    before, after = _read_index(arrival, layout, old=True), _read_index(arrival, layout, old=False)
    if before is None:
        return ()
    targets = {entry.link.target for entry in after.entries} if after is not None else set()
    dropped = (entry for entry in before.entries if entry.link.target not in targets)
    return tuple(dict.fromkeys(entry.title or entry.text.strip() for entry in dropped))


def _find_dropped_entry(arrival: InboxChange, shown: Inbox, memory: Memory) -> list[DroppedEntry]:
    for other in shown.changes:
        old = _read_index(other, memory.layout, old=True)
        if old is not None and (entry := find_dropped_entry(memory, old, arrival.path)):
            return [entry]
    return []


def _read_index(arrival: InboxChange, layout: Layout, *, old: bool) -> MemoryIndex | None:
    """Return the index that a change is about, before or after it."""
    if old:
        return parse_index(arrival.old_path or arrival.path, arrival.before, layout)
    return parse_index(arrival.path, arrival.after, layout)


def _refuse_purged(arrival: InboxChange) -> None:
    if arrival.is_purged:
        raise ChangeRefused(
            f"Cannot revert {make_visible(arrival.path)}: a text was purged from the history."
        )


def _decode(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise ChangeRefused("Not UTF-8 text: revert all of it instead of single hunks.") from None
