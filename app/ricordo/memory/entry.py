"""Entries of an index: what a new one looks like, where it goes, which lines belong to one."""

from __future__ import annotations

import re

from ricordo.errors import ChangeRefused
from ricordo.memory.index import Entry, EntryForm, MemoryIndex
from ricordo.memory.lines import bare, line_end, split_lines
from ricordo.memory.link_text import markdown_link, wikilink
from ricordo.memory.load import compute_load
from ricordo.memory.memory import Memory
from ricordo.memory.names import Leads
from ricordo.memory.note import Note
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


def index_for(memory: Memory, path: str) -> MemoryIndex | None:
    """Return the index that is nearest above the note at `path`; None where there is none."""
    above = [
        index for index in memory.indexes if not index.folder or path.startswith(index.folder + "/")
    ]
    return max(above, key=lambda index: len(index.folder), default=None)


def neighbour(memory: Memory, index: MemoryIndex, note: Note) -> Entry | None:
    """Return the entry of `index` behind which one for `note` belongs: the last one of its type,
    else the last one; None where it has none that stands on a line of its own.
    """
    entries = [entry for entry in index.entries if entry.form is not EntryForm.PROSE]
    alike = (it for it in reversed(entries) if _type(memory, index, it) == note.type)
    return next(alike, entries[-1] if entries else None)


def line_behind(index: MemoryIndex, entry: Entry | None) -> int:
    """Return the last line, 1-based, of `entry`; without one, of the whole index."""
    if entry is None:
        return len(split_lines(index.note.text))
    return lines_of_entry(index, entry)[-1]


def entry_text(memory: Memory, index: MemoryIndex, note: Note, model: Entry | None) -> str:
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


def lines_of_entry(index: MemoryIndex, entry: Entry) -> range:
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


def _type(memory: Memory, index: MemoryIndex, entry: Entry) -> str | None:
    target = memory.resolve(index.note, entry.link)
    return memory.by_path[target.path].type if target.leads is Leads.NOTE else None


def _link(memory: Memory, index: MemoryIndex, note: Note, model: Entry | None) -> str:
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


def _row(index: MemoryIndex, model: Entry, link: str, hook: str) -> str:
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


def _manner(index: MemoryIndex, model: Entry | None) -> tuple[str, str]:
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


def _column(index: MemoryIndex, entry: Entry) -> int:
    """Return how many characters stand before the link of `entry` on its line."""
    return entry.link.start - index.note.text.rfind("\n", 0, entry.link.start) - 1


Moved = tuple[str, int]
"""The text of the index, and the line, 1-based, at which the entry stands in it."""


def step_entry(index: MemoryIndex, entry: Entry, step: int) -> Moved:
    """Return the index with `entry` one place further down (`step` 1) or up (-1): past its
    neighbour, or, where other text stands between them, past that text alone.

    Raises ChangeRefused where there is no further place.
    """
    own, lines = _block(index, entry), _whole_lines(index)
    other = _neighbour(index, entry, step)
    if other is None:
        raise ChangeRefused(f"This is the {'last' if step > 0 else 'first'} entry already.")
    there = lines_of_entry(index, other)
    first, second = (own, there) if step > 0 else (there, own)
    gap = range(first.stop, second.start)
    # a heading between them is a place of its own: the entry goes to its other side
    crosses = any(line.strip() for line in _cut(lines, gap))
    if step > 0:
        order = (gap, own, there) if crosses else (there, gap, own)
    else:
        order = (there, own, gap) if crosses else (own, gap, there)
    middle = [line for block in order for line in _cut(lines, block)]
    text = _joined(index, [*lines[: first.start - 1], *middle, *lines[second.stop - 1 :]])
    return text, first.start + sum(len(block) for block in order[: order.index(own)])


def lift_entry(memory: Memory, entry: Entry) -> Moved:
    """Return the first index of `memory` with `entry` above the cut: as low as it can stand so
    that an agent is given all of it.

    Raises ChangeRefused where nothing is cut off, or there is no such place.
    """
    index, cut = memory.index, memory.load.cut_at_line
    assert index is not None
    own = _block(index, entry)
    if cut is None or own.stop <= cut:
        raise ChangeRefused("Agents are given this entry already: it stands above the cut.")
    lines = _whole_lines(index)
    above = [
        other
        for other in index.entries
        if other.line < min(cut, entry.line) and other.form is entry.form
    ]
    for other in reversed(above):
        start = other.line
        rest = [*lines[start - 1 : own.start - 1], *lines[own.stop - 1 :]]
        text = _joined(index, [*lines[: start - 1], *_cut(lines, own), *rest])
        now = compute_load(text, memory.layout.limits).cut_at_line
        if now is None or now >= start + len(own):
            return text, start
    raise ChangeRefused("There is no entry above the cut before which it would fit.")


def _block(index: MemoryIndex, entry: Entry) -> range:
    if entry.form is EntryForm.PROSE:
        raise ChangeRefused("This mention stands inside a sentence; e edits the index.")
    return lines_of_entry(index, entry)


def _neighbour(index: MemoryIndex, entry: Entry, step: int) -> Entry | None:
    """Return the entry of the same form that stands next below (1) or above (-1)."""
    others = [
        other
        for other in index.entries
        if other.form is entry.form and (other.line - entry.line) * step > 0
    ]
    return min(others, key=lambda other: abs(other.line - entry.line), default=None)


def _cut(lines: list[str], block: range) -> list[str]:
    return lines[block.start - 1 : block.stop - 1]


def _whole_lines(index: MemoryIndex) -> list[str]:
    """Return the lines of an index, the last one too with a line end."""
    text = index.note.text
    return [line if line.endswith("\n") else line + line_end(text) for line in split_lines(text)]


def _joined(index: MemoryIndex, lines: list[str]) -> str:
    text = "".join(lines)
    if index.note.text.endswith("\n"):
        return text
    last = lines[-1]
    return text[: len(text) - len(last)] + bare(last)
