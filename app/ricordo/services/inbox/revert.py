"""Taking back what others did to a note: all of it, or single hunks; and what they took out of an
index.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from ricordo.errors import ChangeRefused
from ricordo.memory.change import Change, ChangeSet, Edit, Insert, Rewrite, effective
from ricordo.memory.compose import compose
from ricordo.memory.diff import without_hunks
from ricordo.memory.index import Entry, MemoryIndex, read_index
from ricordo.memory.layout import FileRole, Layout
from ricordo.memory.memory import Memory
from ricordo.memory.note import FileFacts, read_note
from ricordo.memory.protection import hard_link_remarks
from ricordo.services.inbox.inbox import REVERTED, Arrival, Inbox
from ricordo.text import visible


def revert_all(arrival: Arrival, seen: Inbox, memory: Memory) -> ChangeSet:
    """Return the change set that takes back what others did to a note: `revert_marked` of it."""
    return revert_marked({arrival.id: ()}, seen, memory)


def revert_marked(marked: Mapping[str, Collection[int]], seen: Inbox, memory: Memory) -> ChangeSet:
    """Return the change set that takes back what is `marked`: numbers of hunks by the id of their
    arrival, none for all that others did to the note. A deleted note gets its index entry back
    too, where one of the arrivals that were `seen` took it out and is not itself taken back.

    Raises ChangeRefused where a text was purged, or has no hunks.
    """
    arrivals = [it for it in seen.arrivals if it.id in marked]
    edits = [edit for it in arrivals for edit in _edits(it, marked[it.id], memory.root)]
    taken = {edit.path for edit in edits}
    entries = [
        entry
        for it in arrivals
        if it.kind == "deleted"
        for entry in _entry_back(it, seen, memory)
        if entry.insert.path not in taken
    ]
    # from below, so that no line number is moved before its turn comes
    entries.sort(key=lambda it: (it.insert.after_line, it.stood), reverse=True)
    edits += compose(memory, [Change(it.insert) for it in entries]).edits
    changes = [Change(Rewrite(it.path, ""), f"{REVERTED} {it.by} did") for it in arrivals]
    wanted = effective(edits)
    return ChangeSet(wanted, tuple(changes), tuple(hard_link_remarks(memory, wanted)))


def _edits(arrival: Arrival, hunks: Collection[int], root: str) -> list[Edit]:
    _refuse_purged(arrival)
    if arrival.kind == "conflict":
        raise ChangeRefused(
            f"{visible(arrival.path)} does not have that text: there is nothing to revert. "
            f"`ricordo restore --at {arrival.id}` brings it back."
        )
    if hunks:
        return [_without(arrival, hunks, root)]
    if not arrival.origin:
        return [Edit(root, arrival.path, arrival.after, arrival.before)]
    return [
        Edit(root, arrival.path, arrival.after, None),
        Edit(root, arrival.origin, None, arrival.before, moved_from=arrival.path),
    ]


def _without(arrival: Arrival, hunks: Collection[int], root: str) -> Edit:
    """Return what takes back the hunks of those numbers."""
    if arrival.before is None or arrival.after is None or arrival.origin:
        raise ChangeRefused("Only a note that was changed has single hunks to revert.")
    text = without_hunks(_exact(arrival.before), _exact(arrival.after), hunks)
    return Edit(root, arrival.path, arrival.after, text.encode("utf-8"))


def dropped_entries(arrival: Arrival, layout: Layout) -> tuple[str, ...]:
    """Return the titles of the entries that an index had before and has no longer; none where the
    arrival is about no index.
    """
    before, after = _index(arrival, layout, old=True), _index(arrival, layout, old=False)
    if before is None:
        return ()
    left = {_target(entry) for entry in after.entries} if after is not None else set()
    gone = (entry for entry in before.entries if _target(entry) not in left)
    return tuple(dict.fromkeys(entry.title or entry.text.strip() for entry in gone))


class _EntryBack(NamedTuple):
    """An entry that goes back into its index."""

    insert: Insert
    stood: int
    """The line on which it stood."""


def _entry_back(arrival: Arrival, seen: Inbox, memory: Memory) -> list[_EntryBack]:
    for other in seen.arrivals:
        before = _index(other, memory.layout, old=True)
        now = next((it for it in memory.indexes if it.path == other.path), None)
        if before is None or now is None:
            continue
        named = [entry for entry in before.entries if _leads_to(before, entry, arrival.path)]
        if not named or any(_leads_to(now, entry, arrival.path) for entry in now.entries):
            continue
        insert = Insert(now.path, _place(before, named[0], now), named[0].text)
        return [_EntryBack(insert, named[0].line)]
    return []


def _place(before: MemoryIndex, entry: Entry, now: MemoryIndex) -> int:
    """Return the line of the index after which `entry` stood, as far as it is still there; else
    that of the last entry.
    """
    above = [it for it in before.entries if it.line < entry.line]
    lines = {_target(it): it.line for it in now.entries}
    for other in reversed(above):
        if _target(other) in lines:
            return lines[_target(other)]
    return max(lines.values(), default=now.note.text.count("\n"))


def _index(arrival: Arrival, layout: Layout, *, old: bool) -> MemoryIndex | None:
    """Return the index that an arrival is about, as it was or as it became."""
    path = (arrival.origin or arrival.path) if old else arrival.path
    raw = arrival.before if old else arrival.after
    if raw is None or layout.role(path) is not FileRole.INDEX:
        return None
    return read_index(read_note(path, raw, FileFacts(len(raw), 0.0, 0, 0), layout))


def _leads_to(index: MemoryIndex, entry: Entry, path: str) -> bool:
    target = _target(entry).removeprefix("./")
    full = f"{index.folder}/{target}" if index.folder else target
    return path.removesuffix(".md") in (full.removesuffix(".md"), target.removesuffix(".md"))


def _target(entry: Entry) -> str:
    return entry.link.target


def _refuse_purged(arrival: Arrival) -> None:
    if arrival.is_purged:
        raise ChangeRefused(f"A text of {visible(arrival.path)} was purged from the history.")


def _exact(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise ChangeRefused("It is not UTF-8, so only all of it can be reverted.") from None
