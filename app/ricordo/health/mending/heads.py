"""Mending the head of a note."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from ricordo.health.finding import Fix
from ricordo.health.mending.lines import plain_lines
from ricordo.health.mending.sentences import first_words
from ricordo.memory import frontmatter
from ricordo.memory.change import EditLine, SetField
from ricordo.memory.head import Value
from ricordo.memory.layout import Layout
from ricordo.memory.note import Note
from ricordo.recall.likeness import spelled_alike

_VALUE = re.compile(r"([ \t]*[^\s:#-][^:]*:[ \t]+)(\S.*?)[ \t]*")


def give_fields(note: Note, fields: Collection[str], layout: Layout) -> Fix | None:
    """Return the fix that sets the `fields`, of name, description and type, in the head of `note`,
    which is made where there is none: the stem, the first sentence, and the type that its file
    name or folder names. None where one of them cannot be told. What fields heads have is a
    convention of each memory, so that a person has to see it.
    """
    told = {
        "name": lambda: note.stem,
        "description": lambda: first_words(note.body),
        "type": lambda: _type_told(note, layout.types),
    }
    values = {field: told[field]() for field in fields}
    if not all(values.values()):
        return None
    acts = (SetField(note.path, layout.keys_of(field)[0], values[field]) for field in fields)
    return Fix(f"set {_listed(fields)}", tuple(acts))


def quote_value(note: Note) -> Fix | None:
    """Return the fix that puts the one value in quotes for which strict YAML refuses the head;
    None where then it still does, or reads anything otherwise than the lenient reader did.
    """
    fault = note.head.fault
    lines = plain_lines(note)
    # the parser may see only on the next line that the value before was none
    for number in (fault.line, fault.line - 1) if fault else ():
        match = _VALUE.fullmatch(lines[number - 1]) if 1 < number <= len(lines) else None
        if match is None:
            continue
        quoted = match[1] + frontmatter.double_quoted(_without_quotes(match[2]))
        edited = "\n".join([*lines[: number - 1], quoted, *lines[number:]])
        head = frontmatter.read(edited)
        if head.present and not head.fault and _agree(note.head.fields, head.fields):
            act = EditLine(note.path, number, lines[number - 1], quoted)
            return Fix(f"put the value of {match[1].strip(' :')} in quotes", (act,))
    return None


def spell_type(note: Note, given: str, known: Iterable[str], keys: Iterable[str]) -> Fix | None:
    """Return the fix that gives `note` the one type of those `known` that is `given` but for a
    typing error; None where there is none. `keys` are the fields that may hold it.
    """
    near = spelled_alike(given.strip().lower(), sorted(known), 1)
    key = next((key for key in keys if note.head.scalar(key) == given), "")
    if len(near) != 1 or not key:
        return None
    return Fix(f"set the type to {near[0]}", (SetField(note.path, key, near[0]),))


def _type_told(note: Note, known: Collection[str]) -> str:
    """Return the one type that the first word of the file name, or the folder, names."""
    folder = note.path.rpartition("/")[0].rpartition("/")[2]
    words = (re.split(r"[_\-. ]", note.stem)[0].lower(), folder.lower())
    told = {name for name in known for word in words if word in (name, f"{name}s")}
    return told.pop() if len(told) == 1 else ""


def _agree(leniently: Mapping[str, Value], strictly: Mapping[str, Value]) -> bool:
    """Whether both readings have the same keys and texts; lists are only read strictly."""
    return leniently.keys() == strictly.keys() and all(
        _same(leniently[key], value) for key, value in strictly.items()
    )


def _same(lenient: Value, strict: Value) -> bool:
    if isinstance(strict, Mapping):
        return isinstance(lenient, Mapping) and _agree(lenient, strict)
    return isinstance(strict, tuple) or lenient == strict


def _without_quotes(written: str) -> str:
    """Return a value without the quotes around it, as the lenient reader takes it."""
    if len(written) > 1 and written[0] == written[-1] and written[0] in "'\"":
        return written[1:-1]
    return written


def _listed(fields: Collection[str]) -> str:
    return " and ".join(fields)
