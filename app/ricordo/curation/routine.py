"""Routine changes: those that may be applied unseen, recognized by what they do to file bytes.

There are four: an entry for a note that has none, within the load limit; a link that follows a
renamed note; quotation marks around a frontmatter field that is not valid YAML without them; the
removal of a second entry for a note that adds nothing to the first. The kind and the author of a
change do not matter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from ricordo.lint.prose import split_words
from ricordo.memory.change import Edit
from ricordo.memory.draft import apply_edits
from ricordo.memory.index import EntryForm, compute_load
from ricordo.memory.layout import FileRole
from ricordo.memory.lines import split_lines
from ricordo.memory.links import find_links
from ricordo.memory.memory import Memory
from ricordo.memory.names import ResolvedLink, TargetKind
from ricordo.memory.note import Note

_FIELD = re.compile(r"(?P<key>\s*[\w.-]+:[ \t]+)(?P<value>\S.*?)\s*\Z")


def is_routine(memory: Memory, edits: Sequence[Edit], renamed: Mapping[str, str]) -> bool:
    """Return whether `edits` of `memory` may be applied unseen; `renamed` maps the former paths of
    notes to the present ones.
    """
    if len(edits) != 1:
        return False
    (edit,) = edits
    old = memory.by_path.get(edit.path)
    now = apply_edits(memory, edits)
    new = now.by_path.get(edit.path)
    if (
        old is None
        or new is None
        or old.raw != edit.before
        or not (old.is_readable and new.is_readable)
    ):
        return False
    if old.role is FileRole.INDEX and (
        _adds_entry(memory, now, old, new) or _drops_second_entries(now, old, new)
    ):
        return True
    if old.role not in (FileRole.INDEX, FileRole.NOTE):
        return False
    return _follows_renamed(memory, now, edit.path, renamed) or _quotes_fields(old, new)


def _adds_entry(memory: Memory, now: Memory, old: Note, new: Note) -> bool:
    """Return whether the only change is a new index line, and it is the first entry of a note."""
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
    is_covered = split_words(after[at]) <= split_words(f"{note.path} {note.name} {note.text}")
    is_note = note.role is FileRole.NOTE and note.is_readable
    return is_note and is_covered and _is_loaded_whole(now, new)


def _without_ends(lines: Sequence[str]) -> list[str]:
    """Return lines without line ends: a last line without one gets one when a line is added."""
    return [line.rstrip("\r\n") for line in lines]


def _is_loaded_whole(now: Memory, index: Note) -> bool:
    """Return whether agents load all of the index; the index of a folder is not loaded at start."""
    is_main = now.index is not None and now.index.path == index.path
    return not is_main or compute_load(index.text, now.layout.limits).cut_at_line is None


def _drops_second_entries(now: Memory, old: Note, new: Note) -> bool:
    """Return whether an index only loses entries of notes that have another one there, which is
    loaded and says as much.
    """
    before, after = split_lines(old.text), split_lines(new.text)
    removed: list[str] = []
    remaining = iter(after)
    expected = next(remaining, None)
    for line in before:
        if expected is not None and line == expected:
            expected = next(remaining, None)
        else:
            removed.append(line)
    if expected is not None or not removed:
        return False
    cut = compute_load(new.text, now.layout.limits).cut_at_line or len(after) + 1
    listed: dict[str, list[frozenset[str]]] = {}
    for path, entries in now.entries.items():
        for index, entry in entries:
            if index.path == new.path and entry.line < cut and entry.form is not EntryForm.PROSE:
                listed.setdefault(path, []).append(split_words(entry.text))
    return all(_says_again(now, new, line, listed) for line in removed)


def _says_again(
    now: Memory, index: Note, line: str, listed: Mapping[str, Sequence[frozenset[str]]]
) -> bool:
    """Return whether a line removed from `index` is about one note of which another entry says as
    much.
    """
    links = [now.resolve(index, link) for link in find_links(line)]
    if len(links) != 1 or links[0].target_kind is not TargetKind.NOTE:
        return False
    return any(split_words(line) <= words for words in listed.get(links[0].path, ()))


def _follows_renamed(memory: Memory, now: Memory, path: str, renamed: Mapping[str, str]) -> bool:
    """Return whether only link targets change, of links to notes that were renamed."""
    old, new = memory.by_path[path], now.by_path[path]
    before, after = memory.links.get(path, ()), now.links.get(path, ())
    if (
        not before
        or len(before) != len(after)
        or _split_around_links(old) != _split_around_links(new)
    ):
        return False
    changed = False
    for was, became in zip(before, after, strict=True):
        if _get_link_text(old, was) == _get_link_text(new, became):
            continue
        path_of = f"{was.path}.md" if was.link.is_wikilink else was.path
        is_same = (was.link.anchor, was.link.is_wikilink) == (
            became.link.anchor,
            became.link.is_wikilink,
        )
        says_same = was.link.label == became.link.label or was.link.label == was.link.target
        is_renamed = became.target_kind is TargetKind.NOTE and renamed.get(path_of) == became.path
        if was.target_kind is not TargetKind.MISSING or not (is_same and says_same and is_renamed):
            return False
        changed = True
    return changed


def _get_link_text(note: Note, found: ResolvedLink) -> str:
    return note.text[found.link.start : found.link.end]


def _split_around_links(note: Note) -> list[str]:
    """Return the text before, between and after the links of a note."""
    parts: list[str] = []
    at = 0
    for link in note.links:
        parts.append(note.text[at : link.start])
        at = link.end
    return [*parts, note.text[at:]]


def _quotes_fields(old: Note, new: Note) -> bool:
    """Return whether frontmatter fields only get quotation marks that make it valid YAML."""
    if (
        not (old.frontmatter.is_present and new.frontmatter.is_present)
        or old.frontmatter.error is None
        or new.frontmatter.error
    ):
        return False
    if old.text[old.frontmatter.end :] != new.text[new.frontmatter.end :]:
        return False
    before = split_lines(old.text[: old.frontmatter.end])
    after = split_lines(new.text[: new.frontmatter.end])
    if len(before) != len(after):
        return False
    return all(was == now or _is_quoted(was, now) for was, now in zip(before, after, strict=True))


def _is_quoted(was: str, now: str) -> bool:
    """Return whether a frontmatter line is the same but for quotation marks."""
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
