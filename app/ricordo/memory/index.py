"""The index of a memory: its lines, the entries that point to notes, and which part an agent
receives.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from ricordo.memory.frontmatter import parser
from ricordo.memory.layout import FileRole, Layout, Limits
from ricordo.memory.links import Link, is_external
from ricordo.memory.note import FileFacts, Note, read_note
from ricordo.patterns import compile_lazily


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


_SEPARATOR = compile_lazily(r"[\s*_~]*(?:—|–|-|:|\|)*\s*")
_BULLET = compile_lazily(r"\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s)?[^\w\[]*")


def read_index(note: Note) -> MemoryIndex:
    """Parse the index file `note`; what its frontmatter relates it to are no entries."""
    entries: list[Entry] = []
    last_line = 0
    for link in note.links:
        if link.start < note.frontmatter.end or not may_point_to_note(link):
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


def parse_index(path: str, raw: bytes | None, layout: Layout) -> MemoryIndex | None:
    """Parse the bytes of an earlier index at `path`; None if there was none, or it was no index."""
    if raw is None or layout.get_role(path) is not FileRole.INDEX:
        return None
    return read_index(read_note(path, raw, FileFacts(len(raw), 0.0, 0, 0), layout))


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


_FENCE = compile_lazily(r"^ {0,3}(`{3,}+(?=[^`]*$)|~{3,}+)")
_COMMENT_START = compile_lazily(r"^ {0,3}<!--")
_WHOLE_COMMENTS = compile_lazily(r"(?:\s*+<!--(?:(?!-->).)*-->)*")


@dataclass(frozen=True, slots=True)
class Load:
    """The part of an index that an agent receives, in the agent's own units."""

    lines: int
    """Lines of the stripped index, cut or not."""
    units: int
    """UTF-16 code units of the stripped index, cut or not."""
    limits: Limits | None
    cut_at_line: int | None
    """1-based first line of the file that is not loaded; None if all of it is."""
    text: str
    """The text that the agent receives."""

    @property
    def fill_ratio(self) -> float:
        """The higher of the two fill ratios, 1.0 at the limit; 0.0 without limits."""
        if self.limits is None:
            return 0.0
        return max(self.lines / self.limits.lines, self.units / self.limits.units)

    @property
    def has_room(self) -> bool:
        """Whether agents would load another line of the average length."""
        if self.limits is None or not self.lines:
            return True
        another = self.units + self.units / self.lines
        return self.lines < self.limits.lines and another <= self.limits.units


def count_units(text: str) -> int:
    """Return the length of `text` in UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def compute_load(text: str, limits: Limits | None) -> Load:
    """Return the load of the index `text` for an agent with these `limits`."""
    lines = strip_index(text)
    whole = "\n".join(line for _, line in lines)
    count, size = len(lines), count_units(whole)
    if limits is None:
        return Load(count, size, None, None, whole)
    fitting = lines[: limits.lines]
    length, room = 0, limits.units
    for position, (_, line) in enumerate(fitting):
        length += count_units(line) + (1 if position else 0)
        if length > room:
            fitting = fitting[:position]
            break
    if len(fitting) == len(lines):
        return Load(count, size, limits, None, whole)
    if not fitting:
        loaded = _cut_to_units(lines[0][1], room)
    else:
        loaded = "\n".join(line for _, line in fitting)
    return Load(count, size, limits, lines[len(fitting)][0], loaded)


def _cut_to_units(line: str, room: int) -> str:
    return line.encode("utf-16-le", "surrogatepass")[: 2 * room].decode("utf-16-le", "ignore")


def strip_index(text: str) -> list[tuple[int, str]]:
    """Return the lines of an index that count towards the load, with their numbers in the file."""
    body_start = parser.read_frontmatter(text).end
    start = text.count("\n", 0, body_start)
    lines = list(enumerate(text[body_start:].split("\n"), start + 1))
    if "<!--" in text:
        lines = _without_comments(lines)
    while lines and not lines[0][1].strip():
        lines.pop(0)
    while lines and not lines[-1][1].strip():
        lines.pop()
    if lines:
        lines[0] = (lines[0][0], lines[0][1].lstrip())
        lines[-1] = (lines[-1][0], lines[-1][1].rstrip())
    return lines


def _without_comments(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Drop block comments, except unclosed ones and those in a code fence."""
    remaining: list[tuple[int, str]] = []
    fence = ""
    position = 0
    closings = [at for at, (_, line) in enumerate(lines) if "-->" in line]
    while position < len(lines):
        number, line = lines[position]
        marks = _FENCE.match(line)
        if fence:
            if marks and marks[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif marks:
            fence = marks[1]
        elif _COMMENT_START.match(line):
            end = _comment_end(lines, closings, position)
            if end is not None:
                rest = _after_comments(lines[end][1])
                if rest.strip():
                    remaining.append((lines[end][0], rest))
                position = end + 1
                continue
        remaining.append((number, line))
        position += 1
    return remaining


def _after_comments(line: str) -> str:
    """Return the rest of `line` after the end of a comment and after further whole comments."""
    rest = line[_closing_at(line) + 3 :]
    further = _WHOLE_COMMENTS.match(rest)
    return rest[further.end() :] if further else rest


def _closing_at(line: str) -> int:
    opening = line.find("<!--") if _COMMENT_START.match(line) else -1
    return line.find("-->", opening + 4 if opening >= 0 else 0)


def _comment_end(lines: list[tuple[int, str]], closings: list[int], start: int) -> int | None:
    """Return the position of the line that closes the comment opened at `start`, or None;
    `closings` are the positions of the lines with a `-->`.
    """
    if "-->" in lines[start][1].partition("<!--")[2]:
        return start
    at = bisect_right(closings, start)
    return closings[at] if at < len(closings) else None
