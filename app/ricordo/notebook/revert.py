"""Taking back what others did to a note: all of it, or single hunks; and what they took out of an
index.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from ricordo.errors import ChangeRefused
from ricordo.memory.change import Change, Insert, Rewrite
from ricordo.memory.change_set import ChangeSet, Edit, effective
from ricordo.memory.compose import compose
from ricordo.memory.diff import without_hunks
from ricordo.memory.index import Entry, Index, read_index
from ricordo.memory.layout import Layout, Role
from ricordo.memory.memory import Memory
from ricordo.memory.note import FileFacts, read_note
from ricordo.notebook.inbox import Arrival, Inbox
from ricordo.text import visible


def revert_all(arrival: Arrival, seen: Inbox, memory: Memory) -> ChangeSet:
    """Return the change set that takes back what others did to a note. A deleted note gets its
    index entry back too, where one of the arrivals that were `seen` took it out.

    Raises ChangeRefused where a text was purged.
    """
    _refuse_purged(arrival)
    root = memory.root
    if arrival.origin:
        edits = [
            Edit(root, arrival.path, arrival.after, None),
            Edit(root, arrival.origin, None, arrival.before, moved_from=arrival.path),
        ]
    else:
        edits = [Edit(root, arrival.path, _found(arrival, memory), arrival.before)]
    if arrival.kind == "deleted":
        edits += _entry_back(arrival, seen, memory)
    return _change_set(arrival, edits)


def revert_hunks(arrival: Arrival, hunks: Collection[int], root: str) -> ChangeSet:
    """Return the change set that takes back the hunks of those numbers. Raises ChangeRefused
    where a text was purged, or there are no hunks.
    """
    _refuse_purged(arrival)
    if arrival.before is None or arrival.after is None or arrival.origin:
        raise ChangeRefused("Only a note that was changed has single hunks to revert.")
    text = without_hunks(_exact(arrival.before), _exact(arrival.after), hunks)
    return _change_set(arrival, [Edit(root, arrival.path, arrival.after, text.encode("utf-8"))])


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


def _found(arrival: Arrival, memory: Memory) -> bytes | None:
    """Return what the file holds that is to be reverted: what others left; or, of an index, that
    with some of the lines that they took out, which came back with their notes.
    """
    file = memory.by_path.get(arrival.path)
    if file is None or file.role is not Role.INDEX or not (arrival.before and arrival.after):
        return arrival.after
    before, after, now = (raw.splitlines() for raw in (arrival.before, arrival.after, file.raw))
    came_back = Counter(now) - Counter(after)
    if came_back - (Counter(before) - Counter(after)):
        return arrival.after
    left: list[bytes] = []
    for line in now:
        if came_back[line]:
            came_back[line] -= 1
        else:
            left.append(line)
    return file.raw if left == after else arrival.after


def _entry_back(arrival: Arrival, seen: Inbox, memory: Memory) -> list[Edit]:
    for other in seen.arrivals:
        before = _index(other, memory.layout, old=True)
        now = next((it for it in memory.indexes if it.path == other.path), None)
        if before is None or now is None:
            continue
        named = [entry for entry in before.entries if _leads_to(before, entry, arrival.path)]
        if not named or any(_leads_to(now, entry, arrival.path) for entry in now.entries):
            continue
        line = _place(before, named[0], now)
        insert = Insert(now.path, line, named[0].text)
        return list(compose(memory, [Change(insert)]).edits)
    return []


def _place(before: Index, entry: Entry, now: Index) -> int:
    """Return the line of the index after which `entry` stood, as far as it is still there; else
    that of the last entry.
    """
    above = [it for it in before.entries if it.line < entry.line]
    lines = {_target(it): it.line for it in now.entries}
    for other in reversed(above):
        if _target(other) in lines:
            return lines[_target(other)]
    return max(lines.values(), default=now.note.text.count("\n"))


def _index(arrival: Arrival, layout: Layout, *, old: bool) -> Index | None:
    """Return the index that an arrival is about, as it was or as it became."""
    path = (arrival.origin or arrival.path) if old else arrival.path
    raw = arrival.before if old else arrival.after
    if raw is None or layout.role(path) is not Role.INDEX:
        return None
    return read_index(read_note(path, raw, FileFacts(len(raw), 0.0, 0, 0), layout))


def _leads_to(index: Index, entry: Entry, path: str) -> bool:
    target = _target(entry).removeprefix("./")
    full = f"{index.folder}/{target}" if index.folder else target
    return path.removesuffix(".md") in (full.removesuffix(".md"), target.removesuffix(".md"))


def _target(entry: Entry) -> str:
    return entry.link.target


def _change_set(arrival: Arrival, edits: list[Edit]) -> ChangeSet:
    reason = f"reverted what {arrival.by} did"
    return ChangeSet(effective(edits), (Change(Rewrite(arrival.path, ""), reason),))


def _refuse_purged(arrival: Arrival) -> None:
    if arrival.is_purged:
        raise ChangeRefused(f"A text of {visible(arrival.path)} was purged from the history.")


def _exact(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise ChangeRefused("It is not UTF-8, so only all of it can be reverted.") from None
