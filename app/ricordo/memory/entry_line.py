"""Entries of an index: what a new one looks like, where it goes, which lines belong to one."""

from __future__ import annotations

import posixpath
import re

from ricordo.memory.index import Entry, EntryForm, Index
from ricordo.memory.lines import bare, split_lines
from ricordo.memory.memory import Memory
from ricordo.memory.names import Leads
from ricordo.memory.note import Note
from ricordo.text import one_line

LONGEST = 200
"""Characters of an entry that we write."""
_BULLET = re.compile(r"[ \t]*[-*+][ \t]+")
_SEPARATOR = re.compile(r"[ \t]*(?:—|–|-|:|\|)[ \t]*")


def index_for(memory: Memory, path: str) -> Index | None:
    """Return the index that is nearest above the note at `path`; None where there is none."""
    above = [
        index for index in memory.indexes if not index.folder or path.startswith(index.folder + "/")
    ]
    return max(above, key=lambda index: len(index.folder), default=None)


def entry_text(memory: Memory, index: Index, note: Note) -> str:
    """Return the line of `index` for `note`, in the manner of the entries that it has."""
    model = _model(index)
    target = posixpath.relpath(note.path, index.folder or ".")
    title = one_line(note.name).replace("[", "(").replace("]", ")")
    link = f"[{title}]({target.replace(' ', '%20')})"
    if model and model.link.is_wikilink and not any(char in note.name for char in "[]|#"):
        link = f"[[{note.name}]]"
    hook = one_line(note.description)
    if model and model.form is EntryForm.ROW:
        columns = max(model.text.count("|") - 1, 2)
        return "| " + " | ".join([link, hook.replace("|", "/"), *[""] * (columns - 2)]) + " |"
    start, separator = _manner(model)
    line = f"{start}{link}{separator}{hook}" if hook else f"{start}{link}"
    return line if len(line) <= LONGEST else line[: LONGEST - 1].rstrip() + "…"


def place_for(memory: Memory, index: Index, note: Note) -> int:
    """Return the line of `index`, 1-based, after which an entry for `note` belongs: the last entry
    of its type, else the last one, else the end of the file.
    """
    lines = split_lines(index.note.text)
    entries = [entry for entry in index.entries if entry.form is not EntryForm.PROSE]
    if not entries:
        return len(lines)
    alike = [entry for entry in entries if _type(memory, index, entry) == note.type]
    last = (alike or entries)[-1]
    return lines_of_entry(index, last)[-1]


def lines_of_entry(index: Index, entry: Entry) -> range:
    """Return the lines, 1-based, that belong to `entry`: its own, and what stands below it
    further in, up to a blank line or another entry.
    """
    lines = split_lines(index.note.text)
    end = entry.line
    if entry.form is EntryForm.BULLET:
        own = _indent(lines[entry.line - 1])
        others = {other.line for other in index.entries}
        while end < len(lines) and end + 1 not in others and lines[end].strip():
            if _indent(lines[end]) <= own:
                break
            end += 1
    return range(entry.line, end + 1)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _type(memory: Memory, index: Index, entry: Entry) -> str | None:
    target = memory.target(index, entry)
    return memory.by_path[target.path].type if target.leads is Leads.NOTE else None


def _model(index: Index) -> Entry | None:
    """The last entry that stands on a line of its own."""
    own = [entry for entry in index.entries if entry.form is not EntryForm.PROSE]
    return own[-1] if own else None


def _manner(model: Entry | None) -> tuple[str, str]:
    """Return the bullet and the separator that `model` uses."""
    if model is None:
        return "- ", " — "
    bullet = _BULLET.match(model.text)
    line_start = model.link.start - _column(model)
    after = bare(model.text)[model.link.end - line_start :]
    separator = _SEPARATOR.match(after)
    start = bullet.group() if bullet else "- "
    return start, separator.group() if separator and model.hook else " — "


def _column(entry: Entry) -> int:
    """Characters that stand before the link on its line."""
    return entry.text.find("[")
