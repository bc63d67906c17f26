"""Mending the entries of an index; an index is never written anew, only lines of it are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from ricordo.health.finding import Fix
from ricordo.health.mending.lines import plain_lines, without_lines
from ricordo.health.mending.links import Meant, lead_to, to_text
from ricordo.health.mending.sentences import first_words
from ricordo.health.prose import words_in
from ricordo.memory.change import Act, AddEntry, Create, EditLine, MoveLine, SetField
from ricordo.memory.entry_line import lines_of_entry
from ricordo.memory.index import Entry, EntryForm, Index
from ricordo.memory.lines import split_lines
from ricordo.memory.load import compute_load
from ricordo.memory.memory import Memory
from ricordo.memory.new_path import path_for
from ricordo.memory.note import Note
from ricordo.memory.relink import markdown_link
from ricordo.memory.text_edit import with_line_moved
from ricordo.secrets import find_secrets

_FENCE = re.compile(r" {0,3}(?:`{3}|~{3})")
_PAIRS = ("`", "**", "__", "~~")
_DEFAULT_TYPE = "reference"


def enter(index: Index, note: Note) -> Fix:
    """Return the fix that gives `note` an entry in `index`."""
    return Fix(f"add an entry to {index.path}", (AddEntry(index.path, note.path),), safe=True)


def repoint_or_drop(memory: Memory, meant: Meant, index: Index, entry: Entry) -> Fix | None:
    """Return the fix for an entry that leads nowhere: to the note that it can only mean, if that
    has no entry yet, else it leaves.
    """
    to, is_certain = meant.note(memory.target(index, entry))
    if to and to not in memory.entries:
        led = lead_to(memory, index.note, [entry.link], to, safe=is_certain)
        if led:
            return led
    if not _is_alone(index, entry):
        return to_text(index.note, entry.link)
    return Fix("drop the entry", without_lines(index.note, _lines_of(index, entry)))


def drop_second(index: Index, first: Entry, second: Entry) -> Fix | None:
    """Return the fix that takes the `second` of two entries for one note out of `index`; None
    where its line is about more.
    """
    if not _is_alone(index, second):
        return None
    lines = _lines_of(index, second)
    adds_nothing = len(lines) == 1 and _says_no_more(first, second)
    return Fix(
        f"drop the entry on line {second.line}", without_lines(index.note, lines), adds_nothing
    )


def shorten(index: Index, entry: Entry, longest: int, description: str) -> Fix | None:
    """Return the fix that cuts the hook of `entry` at the end of a word, so that the line has no
    more than `longest` characters; safe where the note's `description` holds all of the hook.
    None where the hook is not the end of the line, or a link would be lost.
    """
    line, hook = entry.text.rstrip(), entry.hook
    if entry.form is not EntryForm.BULLET or not hook or not line.endswith(hook):
        return None
    begin = line[: -len(hook)]
    words = hook[: longest - len(begin) - 1].split(" ")[:-1]
    while words and not _is_whole(" ".join(words)):
        words.pop()
    kept = " ".join(words).rstrip(" ,;:—–-.")
    if not kept or "](" in hook[len(kept) :] or "[[" in hook[len(kept) :]:
        return None
    label = f"shorten the entry to {len(begin) + len(kept) + 1} characters"
    edit = EditLine(index.path, entry.line, entry.text, f"{begin}{kept}…")
    return Fix(label, (edit,), safe=_plain(hook) in _plain(description))


def extract(memory: Memory, index: Index, lines: Sequence[int]) -> Fix | None:
    """Return the fix that moves `lines` of the index, numbers from 1, into a note of their own and
    puts an entry in their place; None where that would cut a code fence in two, or a credential
    would get to a second place.
    """
    every = plain_lines(index.note)
    first, last = lines[0], lines[-1]
    body = every[first - 1 : last]
    before = sum(bool(_FENCE.match(line)) for line in every[: first - 1])
    if before % 2 or sum(bool(_FENCE.match(line)) for line in body) % 2:
        return None
    description = first_words("\n".join(body))
    name = _heading_above(every, first) or description
    if not description or find_secrets(name):
        return None
    path = path_for(name, (*memory.by_path, *memory.others), memory.layout, index.folder)
    title = name.replace("[", "(").replace("]", ")")
    entry = f"- {markdown_link(title, index.path, path)} — {description}"
    acts: list[Act] = [Create(path, "\n".join(body) + "\n", entry="")]
    acts += [
        SetField(path, key, value) for key, value in _head(memory, index, first, name, description)
    ]
    acts += without_lines(index.note, range(first + 1, last + 1))
    acts.append(EditLine(index.path, first, every[first - 1], entry))
    return Fix(f"move these {len(body)} lines to {path}", tuple(acts))


def lifted(index: Index, memory: Memory, entry: Entry, above: Entry) -> tuple[Fix, int] | None:
    """Return the fix that moves `entry` behind the entry `above`, and the line of the index, as it
    is now, from which on nothing is loaded then; None where the entry would not be loaded either.
    """
    lines = split_lines(index.note.text)
    after = lines_of_entry(index, above)[-1]
    if len(lines_of_entry(index, entry)) > 1 or entry.form is EntryForm.PROSE:
        return None
    load = compute_load(with_line_moved(lines, entry.line, after), memory.layout.limits)
    if load.cut_at_line is None or load.cut_at_line <= after + 1:
        return None
    act = MoveLine(index.path, entry.line, entry.text, after)
    # above the place that it left, every line stands one further down than before
    return Fix(f"lift the entry to line {after + 1}", (act,)), load.cut_at_line - 1


def _head(
    memory: Memory, index: Index, line: int, name: str, description: str
) -> Iterator[tuple[str, str]]:
    """Yield the fields of a note that comes from `line` of the index; it has the type of the note
    whose entry is nearest.
    """
    layout = memory.layout
    yield layout.title_keys[0], name
    yield layout.summary_keys[0], description
    if "type" in layout.required:
        near = sorted(index.entries, key=lambda entry: abs(entry.line - line))
        targets = (memory.by_path.get(memory.target(index, entry).path) for entry in near)
        types = (note.type for note in targets if note and note.type in layout.types)
        yield layout.type_keys[0], next(types, _DEFAULT_TYPE)


def _heading_above(lines: Sequence[str], first: int) -> str:
    """Return the heading that stands right above line number `first`."""
    for line in reversed(lines[: first - 1]):
        if line.strip():
            return line.strip("# ") if line.startswith("#") else ""
    return ""


def _lines_of(index: Index, entry: Entry) -> range:
    """Return the lines that belong to `entry`; a long index is looked at only where it is."""
    below = plain_lines(index.note)[entry.line : entry.line + 1]
    if below and below[0][:1].isspace():
        return lines_of_entry(index, entry)
    return range(entry.line, entry.line + 1)


def _is_alone(index: Index, entry: Entry) -> bool:
    """Whether the line lists this entry and names no other file."""
    return entry.form is not EntryForm.PROSE and _links_by_line(index.note)[entry.line] == 1


@lru_cache(maxsize=2)
def _links_by_line(note: Note) -> Counter[int]:
    return Counter(link.line for link in note.links)


def _says_no_more(first: Entry, second: Entry) -> bool:
    known = words_in(first.text)
    same_hook = not second.hook or _plain(second.hook) == _plain(first.hook)
    return same_hook and words_in(second.title) <= known


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")


def _is_whole(text: str) -> bool:
    """Whether every mark that opens something in `text` is closed."""
    return not any(text.count(mark) % 2 for mark in _PAIRS) and text.count("[") == text.count("]")
