"""A second frontmatter right behind the first, and making one of both.

Programs that do not see a head, for a byte order mark or a blank line before it, put one of their
own on top of it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from ricordo.health.finding import Fix
from ricordo.health.mending.lines import plain_lines, without_lines
from ricordo.memory import frontmatter
from ricordo.memory.head import Head, Value
from ricordo.memory.layout import Layout
from ricordo.memory.note import Note

_GAP = re.compile(r"[\s\ufeff]*")
"""What may stand between the two: blank lines, and a mark that was at the top of the file."""
_FIELD_NAME = re.compile(r"[A-Za-z_][\w-]*")
_KEY = re.compile(r"(['\"]?)([^\s'\"#:-][^'\":]*?)\1\s*:(?:\s|\Z)")
_OF_HEADS = frozenset(("metadata", "tags", "permalink", "created", "modified", "updated", "date"))
"""Fields that programs write into heads of every kind."""


class SecondHead(NamedTuple):
    """A head that stands where the text should begin."""

    start: int
    """Offset of its opening fence in the text of the note."""
    head: Head
    """Its offsets count from `start`."""


def find_second_head(note: Note, layout: Layout) -> SecondHead | None:
    """Return the second head of `note`. Text between two rules is none, even where its lines look
    like fields: one of them has to be a field of the first head, or of heads of the `layout`.
    """
    if not note.readable or not note.head.present:
        return None
    gap = _GAP.match(note.text, note.head.end)
    start = gap.end() if gap else note.head.end
    if not note.text.startswith("---", start):
        return None
    head = frontmatter.read(note.text[start:])
    known = {*note.head.fields, *_OF_HEADS, *layout.title_keys, *layout.summary_keys}
    known.update(layout.type_keys)
    are_fields = all(_FIELD_NAME.fullmatch(key) for key in head.fields)
    if not head.present or head.fault or not are_fields or known.isdisjoint(head.fields):
        return None
    return SecondHead(start, head)


def join_heads(note: Note, second: SecondHead) -> Fix | None:
    """Return the fix that gives the first head the fields which only the `second` has; where they
    differ the first one stays, which agents have read so far. None where that cannot be done by
    taking lines away.
    """
    if note.head.fault:
        return None
    first = note.head.fields
    own = {key for key, value in first.items() if value is not None}
    empty = first.keys() - own
    lines = plain_lines(note)
    closing = note.text.count("\n", 0, note.head.end - 1) + 1
    opening = note.line_of(second.start)
    end = second.start + second.head.end
    last = note.text.count("\n", 0, end - 1)
    gone = {
        *_lines_of(lines, 2, closing - 1, empty & second.head.fields.keys()),
        *range(closing, opening + 1),
        *_lines_of(lines, opening + 1, last, own),
    }
    kept = "\n".join(line for number, line in enumerate(lines, 1) if number not in gone)
    joined = frontmatter.read(kept)
    wanted = _joined(first, second.head.fields)
    rest = "\n".join(lines[last + 1 :])
    if joined.fault or joined.fields != wanted or kept[joined.end :] != rest:
        return None
    both = [key for key in first if key in own and key in second.head.fields]
    lost = [key for key in both if second.head.fields[key] not in (None, first[key])]
    differs = f"; of {', '.join(lost)} the first stays" if lost else ""
    return Fix(f"make one head of the two{differs}", without_lines(note, gone))


def _joined(first: Mapping[str, Value], second: Mapping[str, Value]) -> Mapping[str, Value]:
    return {**first, **second, **{key: it for key, it in first.items() if it is not None}}


def _lines_of(
    lines: tuple[str, ...], start: int, stop: int, keys: Collection[str]
) -> Iterator[int]:
    """Yield the numbers of the lines from `start` to `stop` that belong to the fields `keys`."""
    key = ""
    for number in range(start, stop + 1):
        match = _KEY.match(lines[number - 1])
        key = match[2] if match else key
        if key in keys:
            yield number
