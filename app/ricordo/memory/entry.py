"""Entries of an index: the format and place of a new one, and the lines that belong to one."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import unquote

from ricordo.errors import ChangeRefused
from ricordo.lexicon import list_word_ends
from ricordo.memory.change import Insert
from ricordo.memory.index import Entry, EntryForm, MemoryIndex, compute_load
from ricordo.memory.lines import detect_line_end, split_lines, strip_line_end
from ricordo.memory.link_text import format_markdown_link, format_wikilink
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note, get_stem
from ricordo.patterns import compile_lazily
from ricordo.text import make_one_line

MAX_ENTRY_LENGTH = 200
"""Characters of a new entry, unless its link alone is longer."""
MAX_TITLE_LENGTH = 80
"""Characters of its title."""
_BULLET = compile_lazily(r"[ \t]*(?:[-*+]|(?P<number>\d{1,9})[.)])[ \t]+")
_SEPARATOR = compile_lazily(r"[ \t]*(?:—|–|-{1,3}|:|\|)[ \t]*")
_HEADING = compile_lazily(r" {0,3}#{1,6}(?:\s|$)")
_FIRST_WORD = compile_lazily(r"[_\-. ]")
_FEWEST_SORTED = 3
"""Entries that are in alphabetical order not by chance."""
_BORDER = compile_lazily(r"(?<!\\)\|")
_NUMBER = compile_lazily(r"[0-9]{1,18}")
_CODE = compile_lazily(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_IN_TITLE = str.maketrans({"[": "(", "]": ")", "\\": "/"})


def find_index(memory: Memory, path: str) -> MemoryIndex | None:
    """Return the index of the nearest folder above the note at `path`; None if there is none."""
    above = [
        index for index in memory.indexes if not index.folder or path.startswith(index.folder + "/")
    ]
    return max(above, key=lambda index: len(index.folder), default=None)


class _EntryPlace(NamedTuple):
    """An entry for a note, and the heading that it is below."""

    heading: int
    """Its 1-based line; 0 for none."""
    entry: Entry
    note: Note


_GROUPINGS: Sequence[Callable[[Note], str]] = (
    lambda note: note.path.rpartition("/")[0],
    lambda note: note.type,
    lambda note: _FIRST_WORD.split(note.stem, maxsplit=1)[0].lower(),
)
"""What an index may group its notes by: folder, type, and first word of the file name."""


def find_section_entry(memory: Memory, index: MemoryIndex, note: Note) -> Entry | None:
    """Return the last entry of the kind of `note` in the section of `index` that lists most notes
    of its folder, type or name, and hardly others; the last entry of an index with one section;
    None where no section is for such notes.
    """
    places = _list_places(memory, index)
    if len({place.heading for place in places}) < 2:
        return _find_last_alike(places, note)
    for group in _GROUPINGS:
        alike = [place for place in places if group(place.note) == group(note)]
        notes = {place.note.path for place in alike}
        if not group(note) or len(alike) == len(places):
            continue
        sections: dict[int, set[str]] = {}
        for place in alike:
            sections.setdefault(place.heading, set()).add(place.note.path)
        # a full list before the short one of what matters most
        heading = max(sections, key=lambda at: (len(sections[at]), at), default=None)
        if heading is None or 2 * len(sections[heading]) <= len(notes):
            continue
        every = {place.note.path for place in places if place.heading == heading}
        if 2 * len(sections[heading]) > len(every):
            return [place.entry for place in alike if place.heading == heading][-1]
    return None


def find_model_entry(memory: Memory, index: MemoryIndex, note: Note) -> Entry | None:
    """Return the entry of `index` whose place and style one for `note` takes: that of its section,
    else the last one of its type and name, else the last one; None if no entry is on its own line.
    """
    section = find_section_entry(memory, index, note)
    return section or _find_last_alike(_list_places(memory, index), note)


def _find_last_alike(places: Sequence[_EntryPlace], note: Note) -> Entry | None:
    """Return the last entry of those that share most of type and first word with `note`."""

    def share(place: _EntryPlace) -> int:
        return sum(group(place.note) == group(note) for group in _GROUPINGS[1:])

    return max(reversed(places), key=share).entry if places else None


@lru_cache(maxsize=2)
def _list_places(memory: Memory, index: MemoryIndex) -> Sequence[_EntryPlace]:
    """Return the entries of `index` in bullets and rows; one without a note has the index as it."""
    headings = _list_headings(index)
    return [
        _EntryPlace(
            headings[at - 1] if (at := bisect_right(headings, entry.line)) else 0,
            entry,
            memory.by_path.get(memory.resolve_entry(index, entry).path, index.note),
        )
        for entry in index.entries
        if entry.form is not EntryForm.PROSE
    ]


@lru_cache(maxsize=2)
def _list_headings(index: MemoryIndex) -> Sequence[int]:
    """Return the 1-based lines of the headings of an index."""
    lines = enumerate(index.note.text.split("\n"), 1)
    return [number for number, line in lines if _HEADING.match(line)]


def find_line_before(index: MemoryIndex, note: Note, model: Entry | None) -> int:
    """Return the line of `index`, 1-based, after which the entry for `note` belongs: among those of
    notes with the same name but other numbers, such as dates, in their order; in a section in the
    order of its names; else after `model`, or at the end if that is None.
    """
    name, numbers = _split_numbers(note.stem)
    series = _list_series(index).get(name, ()) if numbers else ()
    if len(series) > 1:
        grows = sum(one < next_one for (one, _), (next_one, _) in pairwise(series))
        is_ascending = 2 * grows > len(series) - 1
        before = [entry for other, entry in series if (other < numbers) is is_ascending]
        if not before:
            return series[0][1].line - 1
        model = before[-1]
    elif model is not None:
        section = _list_section(index, model)
        for names, own in (
            ([get_stem(unquote(entry.link.target)) for entry in section], note.stem),
            ([entry.title for entry in section], note.name),
        ):
            folded = [name.casefold() for name in names]
            if len(set(folded)) >= _FEWEST_SORTED and folded == sorted(folded):
                at = bisect_right(folded, own.casefold())
                if not at:
                    return section[0].line - 1
                model = section[at - 1]
                break
    if model is None:
        return len(split_lines(index.note.text))
    return find_entry_lines(index, model)[-1]


def _list_section(index: MemoryIndex, model: Entry) -> Sequence[Entry]:
    """Return the entries of the form of `model` below the same heading."""
    headings = _list_headings(index)
    own = bisect_right(headings, model.line)
    return [
        entry
        for entry in index.entries
        if entry.form is model.form and bisect_right(headings, entry.line) == own
    ]


@lru_cache(maxsize=2)
def _list_series(index: MemoryIndex) -> Mapping[str, Sequence[tuple[tuple[int, ...], Entry]]]:
    """Return the entries of `index` in bullets and rows with their numbers, by the name of their
    target without these.
    """
    series: dict[str, list[tuple[tuple[int, ...], Entry]]] = {}
    for entry in index.entries:
        if entry.form is not EntryForm.PROSE:
            name, numbers = _split_numbers(get_stem(unquote(entry.link.target)))
            if numbers:
                series.setdefault(name, []).append((numbers, entry))
    return series


def _split_numbers(stem: str) -> tuple[str, tuple[int, ...]]:
    return _NUMBER.sub("0", stem), tuple(map(int, _NUMBER.findall(stem)))


def format_entry(memory: Memory, index: MemoryIndex, note: Note, model: Entry | None) -> str:
    """Return the line of `index` for `note`, in the style of the entry `model`."""
    hook = _escape_marks(make_one_line(note.description))
    if model and model.form is EntryForm.ROW:
        return _row(index, model, _link(memory, index, note, model).replace("|", r"\|"), hook)
    start, separator = _read_style(index, model)
    line = start + _link(memory, index, note, model)
    if not hook or len(line) + len(separator) >= MAX_ENTRY_LENGTH:
        return line
    room = MAX_ENTRY_LENGTH - len(line) - len(separator)
    if len(hook) > room:
        ends = list_word_ends(hook, room - 1)
        hook = hook[: ends[-1]].rstrip(" ,;:—–-.，、；：。") + "…" if ends else ""
    return line + separator + hook if hook else line


def find_entry_lines(index: MemoryIndex, entry: Entry) -> range:
    """Return the lines, 1-based, that belong to `entry`: its own, and the more indented lines
    below it, up to a blank line or another entry.
    """
    lines = split_lines(index.note.text)
    end = entry.line
    if entry.form is EntryForm.BULLET:
        indent = _indent(lines[entry.line - 1])
        others = {other.line for other in index.entries}
        while end < len(lines) and end + 1 not in others and lines[end].strip():
            if _indent(lines[end]) <= indent:
                break
            end += 1
    return range(entry.line, end + 1)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _link(memory: Memory, index: MemoryIndex, note: Note, model: Entry | None) -> str:
    """Return a link to `note` of the same kind as the link of `model`."""
    title = _find_title(memory, index, note).translate(_IN_TITLE)
    if len(title) > MAX_TITLE_LENGTH:
        title = title[: MAX_TITLE_LENGTH - 1].rstrip() + "…"
    named = ""
    if model and model.link.is_wikilink:
        own = model.link
        alias = f"|{title.replace('|', '/')}" if own.label != own.target else ""
        target = memory.resolve_entry(index, model).path
        by_file = get_stem(own.target) == get_stem(target)
        named = format_wikilink(
            memory, index.path, note.path, alias, by_path="/" in own.target, by_file=by_file
        )
    return named or format_markdown_link(title, index.path, note.path)


def _find_title(memory: Memory, index: MemoryIndex, note: Note) -> str:
    """Return the title for the entry of `note`: its name, heading, stem or file name, what most
    entries of the index have as their title.
    """
    usual = Counter(
        source
        for place in _list_places(memory, index)
        for source, read in _TITLES.items()
        if place.entry.title == read(place.note)
    )
    for source, _ in usual.most_common(1):
        if title := make_one_line(_TITLES[source](note)):
            return title
    return make_one_line(note.name)


_TITLES: Mapping[str, Callable[[Note], str]] = {
    "name": lambda note: note.name,
    "heading": lambda note: note.heading,
    "stem": lambda note: note.stem,
    "file": lambda note: note.path.rpartition("/")[2],
}


def _escape_marks(hook: str) -> str:
    """Return `hook` without marks that would hide the lines after it from link parsers."""
    if "`" in _CODE.sub("", hook):
        hook = hook.replace("`", "'")
    return hook.replace("<!--", "<! --").rstrip("\\")


def _row(index: MemoryIndex, model: Entry, link: str, hook: str) -> str:
    """Return a table row with `link` in the same column as in `model`, and the hook in the next."""
    before = model.text[: _column(index, model)]
    column = max(len(_BORDER.findall(before)) - 1, 0)
    cells = [""] * max(len(_BORDER.findall(model.text)) - 1, column + 1)
    cells[column] = link
    if column + 1 < len(cells):
        cells[column + 1] = hook.replace("|", "/")
    return "| " + " | ".join(cells) + " |"


def _read_style(index: MemoryIndex, model: Entry | None) -> tuple[str, str]:
    """Return the bullet and the separator of `model`; the number of a list is incremented."""
    if model is None:
        return "- ", " — "
    bullet = _BULLET.match(model.text)
    start = bullet.group() if bullet else "- "
    if bullet and bullet["number"]:
        start = start.replace(bullet["number"], str(int(bullet["number"]) + 1), 1)
    after_link = _column(index, model) + model.link.end - model.link.start
    separator = _SEPARATOR.match(model.text, after_link)
    return start, separator.group() if separator and model.hook else " — "


def _column(index: MemoryIndex, entry: Entry) -> int:
    """Return the 0-based column of the link of `entry` on its line."""
    return entry.link.start - index.note.text.rfind("\n", 0, entry.link.start) - 1


MovedEntry = tuple[str, int]
"""The new text of the index, and the 1-based line of the entry in it."""


def move_entry(index: MemoryIndex, entry: Entry, step: int) -> MovedEntry:
    """Return the index with `entry` one place further down (`step` 1) or up (-1): past its
    neighbour, or past the text between them if there is any.

    Raises ChangeRefused if there is no further place.
    """
    block, lines = _block(index, entry), _whole_lines(index)
    other = _neighbour(index, entry, step)
    if other is None:
        raise ChangeRefused(f"This is already the {'last' if step > 0 else 'first'} entry.")
    other_block = find_entry_lines(index, other)
    first, second = (block, other_block) if step > 0 else (other_block, block)
    gap = range(first.stop, second.start)
    # a heading between them counts as a place: the entry moves to its other side
    crosses = any(line.strip() for line in _slice_lines(lines, gap))
    if step > 0:
        order = (gap, block, other_block) if crosses else (other_block, gap, block)
    else:
        order = (other_block, block, gap) if crosses else (block, gap, other_block)
    middle = [line for part in order for line in _slice_lines(lines, part)]
    text = _join_lines(index, [*lines[: first.start - 1], *middle, *lines[second.stop - 1 :]])
    return text, first.start + sum(len(part) for part in order[: order.index(block)])


def lift_above_cut(memory: Memory, entry: Entry) -> MovedEntry:
    """Return the first index of `memory` with `entry` moved above the cut: to the lowest place
    at which an agent loads all of it.

    Raises ChangeRefused if nothing is cut off, or there is no such place.
    """
    index, cut = memory.index, memory.load.cut_at_line
    assert index is not None
    block = _block(index, entry)
    if cut is None or block.stop <= cut:
        raise ChangeRefused("Agents already load this entry: it is above the cut.")
    lines = _whole_lines(index)
    above = [
        other
        for other in index.entries
        if other.line < min(cut, entry.line) and other.form is entry.form
    ]
    for other in reversed(above):
        start = other.line
        rest = [*lines[start - 1 : block.start - 1], *lines[block.stop - 1 :]]
        text = _join_lines(index, [*lines[: start - 1], *_slice_lines(lines, block), *rest])
        new_cut = compute_load(text, memory.layout.limits).cut_at_line
        if new_cut is None or new_cut >= start + len(block):
            return text, start
    raise ChangeRefused("No place above the cut has room for this entry.")


def _block(index: MemoryIndex, entry: Entry) -> range:
    if entry.form is EntryForm.PROSE:
        raise ChangeRefused("This mention is inside a sentence: edit the index (e).")
    return find_entry_lines(index, entry)


def _neighbour(index: MemoryIndex, entry: Entry, step: int) -> Entry | None:
    """Return the next entry of the same form below (`step` 1) or above (-1)."""
    others = [
        other
        for other in index.entries
        if other.form is entry.form and (other.line - entry.line) * step > 0
    ]
    return min(others, key=lambda other: abs(other.line - entry.line), default=None)


def _slice_lines(lines: list[str], block: range) -> list[str]:
    return lines[block.start - 1 : block.stop - 1]


def _whole_lines(index: MemoryIndex) -> list[str]:
    """Return the lines of an index, each with a line end, the last one too."""
    text = index.note.text
    return [
        line if line.endswith("\n") else line + detect_line_end(text) for line in split_lines(text)
    ]


def _join_lines(index: MemoryIndex, lines: list[str]) -> str:
    """Return the joined lines, without a last line end if the index has none."""
    text = "".join(lines)
    if index.note.text.endswith("\n"):
        return text
    last = lines[-1]
    return text[: len(text) - len(last)] + strip_line_end(last)


class DroppedEntry(NamedTuple):
    """An entry that an index had and has no more."""

    insert: Insert
    """Puts it back among the entries around it."""
    line: int
    """The line on which it was."""


def find_dropped_entry(memory: Memory, old: MemoryIndex, path: str) -> DroppedEntry | None:
    """Return the entry for the note at `path` that `old`, an earlier index of `memory`, had and
    that the present one lacks; None if there is none.
    """
    current = next((index for index in memory.indexes if index.path == old.path), None)
    matching = [entry for entry in old.entries if _points_to(old, entry, path)]
    if current is None or not matching:
        return None
    if any(_points_to(current, entry, path) for entry in current.entries):
        return None
    after = _find_old_place(old, matching[0], current)
    return DroppedEntry(Insert(current.path, after, matching[0].text), matching[0].line)


def _find_old_place(old: MemoryIndex, entry: Entry, current: MemoryIndex) -> int:
    """Return the line after which to insert `entry`: below the nearest entry that was above it,
    else above the first that was below it, else at the end.
    """
    lines = {other.link.target: other.line for other in current.entries}
    present = [other for other in old.entries if other.link.target in lines]
    above = [lines[other.link.target] for other in present if other.line < entry.line]
    below = [lines[other.link.target] - 1 for other in present if other.line > entry.line]
    return (above[-1:] or below[:1] or [len(split_lines(current.note.text))])[0]


def _points_to(index: MemoryIndex, entry: Entry, path: str) -> bool:
    target = entry.link.target.removeprefix("./")
    full = f"{index.folder}/{target}" if index.folder else target
    return path.removesuffix(".md") in (full.removesuffix(".md"), target.removesuffix(".md"))
