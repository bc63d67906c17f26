"""The index of a memory: its lines, and the entries among them that point to notes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from ricordo.memory.links import Link, is_external
from ricordo.memory.note import Note


class EntryForm(StrEnum):
    """The form of an entry."""

    BULLET = "bullet"
    ROW = "row"
    """A row of a table."""
    PROSE = "prose"
    """A mention inside a sentence or a quotation."""


class Entry(NamedTuple):
    """One link in an index to a file of the memory."""

    line: int
    """1-based line of the index file."""
    link: Link
    form: EntryForm
    text: str
    """The whole line, without its line end."""

    hook: str
    """The text of the line after the link, without the separator."""

    @property
    def title(self) -> str:
        """The text of the link."""
        return self.link.label


@dataclass(frozen=True, slots=True, eq=False)
class MemoryIndex:
    """An index file and its entries."""

    note: Note
    entries: tuple[Entry, ...]

    @property
    def path(self) -> str:
        """Relative to the memory."""
        return self.note.path

    @property
    def folder(self) -> str:
        """The indexed folder, relative to the memory; "" for the memory itself."""
        return self.note.path.rpartition("/")[0]


_SEPARATOR = re.compile(r"[\s*_~]*(?:—|–|-|:|\|)*\s*")
_BULLET = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s)?[^\w\[]*")


def read_index(note: Note) -> MemoryIndex:
    """Parse the index file `note`."""
    entries: list[Entry] = []
    last_line = 0
    for link in note.links:
        if not may_point_to_note(link):
            continue
        start = note.text.rfind("\n", 0, link.start) + 1
        end = note.text.find("\n", link.end)
        line = note.text[start : end if end >= 0 else len(note.text)].rstrip("\r")
        form = _form(line, link.start - start) if link.line != last_line else EntryForm.PROSE
        after = line[link.end - start :]
        hook = after[separator.end() :] if (separator := _SEPARATOR.match(after)) else after
        entries.append(Entry(link.line, link, form, line, hook.strip(" |")))
        last_line = link.line
    return MemoryIndex(note, tuple(entries))


def may_point_to_note(link: Link) -> bool:
    """Return whether a link can point to a note: a wikilink, or a path that ends in `.md`."""
    if link.is_wikilink:
        return bool(link.target)
    return link.target.lower().endswith(".md") and not is_external(link.target)


def _form(line: str, column: int) -> EntryForm:
    if line.lstrip().startswith("|"):
        return EntryForm.ROW
    bullet = _BULLET.match(line)
    return EntryForm.BULLET if bullet and bullet.end() >= column else EntryForm.PROSE
