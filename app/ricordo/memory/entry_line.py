"""Entries of an index: what a new one looks like, where it goes, which lines belong to one."""

from __future__ import annotations

import re

from ricordo.memory.index import Entry, EntryForm, Index
from ricordo.memory.lines import split_lines
from ricordo.memory.memory import Memory
from ricordo.memory.names import Leads
from ricordo.memory.note import Note
from ricordo.memory.relink import markdown_link, wikilink
from ricordo.text import one_line

LONGEST = 200
"""Characters of an entry that we write, unless its link alone is longer."""
LONGEST_TITLE = 80
"""Characters of its title."""
_BULLET = re.compile(r"[ \t]*(?:[-*+]|(?P<number>\d{1,9})[.)])[ \t]+")
_SEPARATOR = re.compile(r"[ \t]*(?:—|–|-{1,3}|:|\|)[ \t]*")
_BORDER = re.compile(r"(?<!\\)\|")
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_IN_TITLE = str.maketrans({"[": "(", "]": ")", "\\": "/"})


def index_for(memory: Memory, path: str) -> Index | None:
    """Return the index that is nearest above the note at `path`; None where there is none."""
    above = [
        index for index in memory.indexes if not index.folder or path.startswith(index.folder + "/")
    ]
    return max(above, key=lambda index: len(index.folder), default=None)


def neighbour(memory: Memory, index: Index, note: Note) -> Entry | None:
    """Return the entry of `index` behind which one for `note` belongs: the last one of its type,
    else the last one; None where it has none that stands on a line of its own.
    """
    entries = [entry for entry in index.entries if entry.form is not EntryForm.PROSE]
    alike = (it for it in reversed(entries) if _type(memory, index, it) == note.type)
    return next(alike, entries[-1] if entries else None)


def line_behind(index: Index, entry: Entry | None) -> int:
    """Return the last line, 1-based, of `entry`; without one, of the whole index."""
    if entry is None:
        return len(split_lines(index.note.text))
    return lines_of_entry(index, entry)[-1]


def entry_text(memory: Memory, index: Index, note: Note, model: Entry | None) -> str:
    """Return the line of `index` for `note`, in the manner of the entry `model`."""
    hook = _tame(one_line(note.description))
    if model and model.form is EntryForm.ROW:
        return _row(index, model, _link(memory, index, note, model).replace("|", "/"), hook)
    start, separator = _manner(index, model)
    line = start + _link(memory, index, note, model)
    if not hook or len(line) + len(separator) >= LONGEST:
        return line
    line += separator + hook
    return line if len(line) <= LONGEST else line[: LONGEST - 1].rstrip() + "…"


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
    target = memory.resolve(index.note, entry.link)
    return memory.by_path[target.path].type if target.leads is Leads.NOTE else None


def _link(memory: Memory, index: Index, note: Note, model: Entry | None) -> str:
    """Return a link to `note` of the kind that `model` has."""
    title = one_line(note.name).translate(_IN_TITLE)
    if len(title) > LONGEST_TITLE:
        title = title[: LONGEST_TITLE - 1].rstrip() + "…"
    named = wikilink(memory, index.path, note.path) if model and model.link.is_wikilink else ""
    return named or markdown_link(title, index.path, note.path)


def _tame(hook: str) -> str:
    """Return `hook` without marks that would hide the lines after it from those who read links."""
    if "`" in _CODE.sub("", hook):
        hook = hook.replace("`", "'")
    return hook.replace("<!--", "<! --").rstrip("\\")


def _row(index: Index, model: Entry, link: str, hook: str) -> str:
    """Return a row of a table with `link` in the column in which `model` has it, and the hook in
    the next one.
    """
    before = model.text[: _column(index, model)]
    column = max(len(_BORDER.findall(before)) - 1, 0)
    cells = [""] * max(len(_BORDER.findall(model.text)) - 1, column + 1)
    cells[column] = link
    if column + 1 < len(cells):
        cells[column + 1] = hook.replace("|", "/")
    return "| " + " | ".join(cells) + " |"


def _manner(index: Index, model: Entry | None) -> tuple[str, str]:
    """Return the bullet and the separator that `model` uses; a number is counted on."""
    if model is None:
        return "- ", " — "
    bullet = _BULLET.match(model.text)
    start = bullet.group() if bullet else "- "
    if bullet and bullet["number"]:
        start = start.replace(bullet["number"], str(int(bullet["number"]) + 1), 1)
    behind = _column(index, model) + model.link.end - model.link.start
    separator = _SEPARATOR.match(model.text, behind)
    return start, separator.group() if separator and model.hook else " — "


def _column(index: Index, entry: Entry) -> int:
    """Return how many characters stand before the link of `entry` on its line."""
    return entry.link.start - index.note.text.rfind("\n", 0, entry.link.start) - 1
