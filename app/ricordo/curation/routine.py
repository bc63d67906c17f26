"""Routine changes: those that may be applied unseen, known by what they do to the bytes of files.

There are four: an entry for a note that has none and fits the load; a link that follows a renamed
note; quotation marks around a field of the frontmatter that is not valid YAML without them; a
second entry for a note that says nothing more than the first. What a change calls itself, and who
proposed it, does not matter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from ricordo.lint.prose import words_in
from ricordo.memory.change import Edit
from ricordo.memory.draft import with_edits
from ricordo.memory.index import EntryForm
from ricordo.memory.layout import FileRole
from ricordo.memory.lines import split_lines
from ricordo.memory.links import find_links
from ricordo.memory.load import compute_load
from ricordo.memory.memory import Memory
from ricordo.memory.names import Leads, Resolved
from ricordo.memory.note import Note

_FIELD = re.compile(r"(?P<key>\s*[\w.-]+:[ \t]+)(?P<value>\S.*?)\s*\Z")


def is_routine(memory: Memory, edits: Sequence[Edit], renamed: Mapping[str, str]) -> bool:
    """Say whether `edits` of `memory` may be applied unseen; `renamed` gives the present paths of
    notes by those that they had.
    """
    if len(edits) != 1:
        return False
    (edit,) = edits
    old = memory.by_path.get(edit.path)
    now = with_edits(memory, edits)
    new = now.by_path.get(edit.path)
    if old is None or new is None or old.raw != edit.before or not (old.readable and new.readable):
        return False
    if old.role is FileRole.INDEX and (
        _adds_entry(memory, now, old, new) or _is_second(now, old, new)
    ):
        return True
    if old.role not in (FileRole.INDEX, FileRole.NOTE):
        return False
    return _follows_renamed(memory, now, edit.path, renamed) or _quotes_fields(old, new)


def _adds_entry(memory: Memory, now: Memory, old: Note, new: Note) -> bool:
    """Whether one line more of an index is all, and it is the first entry of a note."""
    before, after = split_lines(old.text), split_lines(new.text)
    if len(after) != len(before) + 1:
        return False
    at = next((n for n, line in enumerate(before) if after[n] != line), len(before))
    if _without_ends([*after[:at], *after[at + 1 :]]) != _without_ends(before):
        return False
    added = [
        path
        for path, listed in now.entries.items()
        for index, entry in listed
        if index.path == new.path and entry.line == at + 1 and entry.form is not EntryForm.PROSE
    ]
    if len(added) != 1 or memory.entries.get(added[0]):
        return False
    note = now.by_path[added[0]]
    says = words_in(after[at]) <= words_in(f"{note.path} {note.name} {note.text}")
    return note.role is FileRole.NOTE and note.readable and says and _is_loaded_whole(now, new)


def _without_ends(lines: Sequence[str]) -> list[str]:
    """Return lines without their ends: a last line that had none gets one."""
    return [line.rstrip("\r\n") for line in lines]


def _is_loaded_whole(now: Memory, index: Note) -> bool:
    """Whether an agent is given all of the index; one of a folder is not loaded at start."""
    is_main = now.index is not None and now.index.path == index.path
    return not is_main or compute_load(index.text, now.layout.limits).cut_at_line is None


def _is_second(now: Memory, old: Note, new: Note) -> bool:
    """Whether all that leaves an index are entries of notes that have another one there, which is
    loaded and says as much.
    """
    before, after = split_lines(old.text), split_lines(new.text)
    gone: list[str] = []
    rest = iter(after)
    wanted = next(rest, None)
    for line in before:
        if wanted is not None and line == wanted:
            wanted = next(rest, None)
        else:
            gone.append(line)
    if wanted is not None or not gone:
        return False
    cut = compute_load(new.text, now.layout.limits).cut_at_line or len(after) + 1
    listed: dict[str, list[frozenset[str]]] = {}
    for path, entries in now.entries.items():
        for index, entry in entries:
            if index.path == new.path and entry.line < cut and entry.form is not EntryForm.PROSE:
                listed.setdefault(path, []).append(words_in(entry.text))
    return all(_says_again(now, new, line, listed) for line in gone)


def _says_again(
    now: Memory, index: Note, line: str, listed: Mapping[str, Sequence[frozenset[str]]]
) -> bool:
    """Whether a line that leaves `index` is about one note, of which another entry says as much."""
    links = [now.resolve(index, link) for link in find_links(line)]
    if len(links) != 1 or links[0].leads is not Leads.NOTE:
        return False
    return any(words_in(line) <= words for words in listed.get(links[0].path, ()))


def _follows_renamed(memory: Memory, now: Memory, path: str, renamed: Mapping[str, str]) -> bool:
    """Whether only targets of links change, of links to a note that has another path by now."""
    old, new = memory.by_path[path], now.by_path[path]
    before, after = memory.links.get(path, ()), now.links.get(path, ())
    if not before or len(before) != len(after) or _between(old) != _between(new):
        return False
    changed = False
    for was, became in zip(before, after, strict=True):
        if _written(old, was) == _written(new, became):
            continue
        path_of = f"{was.path}.md" if was.link.is_wikilink else was.path
        is_same = (was.link.anchor, was.link.is_wikilink) == (
            became.link.anchor,
            became.link.is_wikilink,
        )
        says_same = was.link.label == became.link.label or was.link.label == was.link.target
        leads = became.leads is Leads.NOTE and renamed.get(path_of) == became.path
        if was.leads is not Leads.NOWHERE or not (is_same and says_same and leads):
            return False
        changed = True
    return changed


def _written(note: Note, found: Resolved) -> str:
    return note.text[found.link.start : found.link.end]


def _between(note: Note) -> list[str]:
    """Return what stands before, between and behind the links of a note."""
    parts: list[str] = []
    at = 0
    for link in note.links:
        parts.append(note.text[at : link.start])
        at = link.end
    return [*parts, note.text[at:]]


def _quotes_fields(old: Note, new: Note) -> bool:
    """Whether fields of the frontmatter get quotation marks, and it is valid YAML only so."""
    if not (old.head.present and new.head.present) or old.head.fault is None or new.head.fault:
        return False
    if old.text[old.head.end :] != new.text[new.head.end :]:
        return False
    before = split_lines(old.text[: old.head.end])
    after = split_lines(new.text[: new.head.end])
    if len(before) != len(after):
        return False
    return all(was == now or _is_quoted(was, now) for was, now in zip(before, after, strict=True))


def _is_quoted(was: str, now: str) -> bool:
    """Whether a line of frontmatter says the same in quotation marks."""
    one, other = _FIELD.match(was), _FIELD.match(now)
    if one is None or other is None or one["key"] != other["key"]:
        return False
    value = other["value"]
    if value[:1] == value[-1:] == "'" and len(value) > 1:
        return value[1:-1].replace("''", "'") == one["value"]
    try:
        return bool(json.loads(value) == one["value"])
    except ValueError:
        return False
