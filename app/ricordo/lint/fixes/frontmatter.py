"""Fixes of the frontmatter of a note."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from ricordo.lint.finding import Fix
from ricordo.lint.fixes.entries import first_words
from ricordo.lint.fixes.lines import plain_lines, without_lines
from ricordo.memory.change import EditLine, SetField
from ricordo.memory.frontmatter import parser as frontmatter
from ricordo.memory.frontmatter.values import Frontmatter, Value
from ricordo.memory.layout import Layout
from ricordo.memory.note import Note
from ricordo.search.fuzzy import spelled_alike

_VALUE = re.compile(r"([ \t]*[^\s:#-][^:]*:[ \t]+)(\S.*?)[ \t]*")


def give_fields(note: Note, fields: Collection[str], layout: Layout) -> Fix | None:
    """Return the fix that sets `fields` (of name, description and type) in the frontmatter of
    `note`, adding it where there is none: the stem, the first sentence, and the type in its file
    name or folder. None where a value is unknown. Never safe: which fields the frontmatter has is a
    convention of each memory.
    """
    sources = {
        "name": lambda: note.stem,
        "description": lambda: first_words(note.body),
        "type": lambda: _guess_type(note, layout.types),
    }
    values = {field: sources[field]() for field in fields}
    if not all(values.values()):
        return None
    acts = (SetField(note.path, layout.keys_of(field)[0], values[field]) for field in fields)
    return Fix(f"set {' and '.join(fields)}", tuple(acts))


def quote_value(note: Note) -> Fix | None:
    """Return the fix that quotes the one value that makes the frontmatter invalid YAML; None where
    that is not enough, or a value would be read differently than by the lenient reader.
    """
    fault = note.head.fault
    lines = plain_lines(note)
    # the parser may notice a broken value only on the next line
    for number in (fault.line, fault.line - 1) if fault else ():
        match = _VALUE.fullmatch(lines[number - 1]) if 1 < number <= len(lines) else None
        if match is None:
            continue
        quoted = match[1] + frontmatter.double_quoted(_without_quotes(match[2]))
        edited = "\n".join([*lines[: number - 1], quoted, *lines[number:]])
        head = frontmatter.read(edited)
        if head.present and not head.fault and _agree(note.head.fields, head.fields):
            act = EditLine(note.path, number, lines[number - 1], quoted)
            return Fix(f"quote the value of {match[1].strip(' :')}", (act,))
    return None


def spell_type(note: Note, given: str, known: Iterable[str], keys: Iterable[str]) -> Fix | None:
    """Return the fix that sets the type of `note` to the only `known` one that differs from `given`
    by a typing error; None where there is none. `keys` are the fields for the type.
    """
    near = spelled_alike(given.strip().lower(), sorted(known), 1)
    key = next((key for key in keys if note.head.scalar(key) == given), "")
    if len(near) != 1 or not key:
        return None
    return Fix(f"set the type to {near[0]}", (SetField(note.path, key, near[0]),))


def _guess_type(note: Note, known: Collection[str]) -> str:
    """Return the only type in the first word of the file name and in the folder, or ""."""
    folder = note.path.rpartition("/")[0].rpartition("/")[2]
    words = (re.split(r"[_\-. ]", note.stem)[0].lower(), folder.lower())
    types = {name for name in known for word in words if word in (name, f"{name}s")}
    return types.pop() if len(types) == 1 else ""


def _agree(leniently: Mapping[str, Value], strictly: Mapping[str, Value]) -> bool:
    """Return whether both readings have the same keys and texts; only strict ones have lists."""
    return leniently.keys() == strictly.keys() and all(
        _is_same(leniently[key], value) for key, value in strictly.items()
    )


def _is_same(lenient: Value, strict: Value) -> bool:
    if isinstance(strict, Mapping):
        return isinstance(lenient, Mapping) and _agree(lenient, strict)
    return isinstance(strict, tuple) or lenient == strict


def _without_quotes(written: str) -> str:
    """Return a value without the quotes around it, as the lenient reader reads it."""
    if len(written) > 1 and written[0] == written[-1] and written[0] in "'\"":
        return written[1:-1]
    return written


_GAP = re.compile(r"[\s\ufeff]*")
"""The text between the two blocks: blank lines, and a byte order mark."""
_FIELD_NAME = re.compile(r"[A-Za-z_][\w-]*")
_KEY = re.compile(r"(['\"]?)([^\s'\"#:-][^'\":]*?)\1\s*:(?:\s|\Z)")
_COMMON = frozenset(("metadata", "tags", "permalink", "created", "modified", "updated", "date"))
"""Fields that programs write into frontmatter of every kind."""


class SecondHead(NamedTuple):
    """A frontmatter block where the body of the note should begin."""

    start: int
    """Offset of its opening fence in the text of the note."""
    head: Frontmatter
    """Its offsets count from `start`."""


def find_second_head(note: Note, layout: Layout) -> SecondHead | None:
    """Return the second frontmatter block of `note`. Text between two rules is none, even where its
    lines look like fields: one has to be a field of the first block, or one that the `layout` has.
    """
    if not note.readable or not note.head.present:
        return None
    gap = _GAP.match(note.text, note.head.end)
    start = gap.end() if gap else note.head.end
    if not note.text.startswith("---", start):
        return None
    head = frontmatter.read(note.text[start:])
    known = {*note.head.fields, *_COMMON, *layout.title_keys, *layout.summary_keys}
    known.update(layout.type_keys)
    are_fields = all(_FIELD_NAME.fullmatch(key) for key in head.fields)
    if not head.present or head.fault or not are_fields or known.isdisjoint(head.fields):
        return None
    return SecondHead(start, head)


def join_heads(note: Note, second: SecondHead) -> Fix | None:
    """Return the fix that merges the `second` frontmatter block into the first; where they differ,
    the first one wins, which agents have read so far. None where removing lines is not enough.
    """
    if note.head.fault:
        return None
    first = note.head.fields
    filled = {key for key, value in first.items() if value is not None}
    empty = first.keys() - filled
    lines = plain_lines(note)
    closing = note.text.count("\n", 0, note.head.end - 1) + 1
    opening = note.line_of(second.start)
    end = second.start + second.head.end
    last = note.text.count("\n", 0, end - 1)
    removed = {
        *_find_lines(lines, 2, closing - 1, empty & second.head.fields.keys()),
        *range(closing, opening + 1),
        *_find_lines(lines, opening + 1, last, filled),
    }
    text = "\n".join(line for number, line in enumerate(lines, 1) if number not in removed)
    merged = frontmatter.read(text)
    expected = {**first, **second.head.fields, **{key: first[key] for key in filled}}
    rest = "\n".join(lines[last + 1 :])
    if merged.fault or merged.fields != expected or text[merged.end :] != rest:
        return None
    both = [key for key in first if key in filled and key in second.head.fields]
    lost = [key for key in both if second.head.fields[key] not in (None, first[key])]
    differs = f", keep the first {', '.join(lost)}" if lost else ""
    return Fix(f"merge the two frontmatter blocks{differs}", without_lines(note, removed))


def _find_lines(
    lines: tuple[str, ...], start: int, stop: int, keys: Collection[str]
) -> Iterator[int]:
    """Yield the numbers of the lines from `start` to `stop` that belong to the fields `keys`."""
    key = ""
    for number in range(start, stop + 1):
        match = _KEY.match(lines[number - 1])
        key = match[2] if match else key
        if key in keys:
            yield number
