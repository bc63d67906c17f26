"""Setting one field of a note's head by splicing text: no other byte of the note changes.

The place of the old value comes from PyYAML's C parser, the new value is put there, and the
result is read again: if more or less than that one field became different, the edit is refused.
"""

from __future__ import annotations

from collections.abc import Mapping

from ricordo.errors import ChangeRefused
from ricordo.memory.frontmatter import parser as frontmatter
from ricordo.memory.frontmatter.values import Frontmatter, Value
from ricordo.memory.lines import line_end
from ricordo.text import visible

_KEPT_PLAIN = frozenset(("str", "timestamp"))
"""Types of values that need no quotes: agents write dates without."""


def set_field(text: str, key: str, value: str) -> str:
    """Return a note's `text` (without byte order mark) with the field `key` of its head set.

    A key that stands inside `metadata`, and not at the top, is set there. Raises ChangeRefused
    where the head cannot be edited safely, with the reason.
    """
    head = frontmatter.read(text)
    if head.fault is not None:
        raise ChangeRefused(
            f"The head is left alone: line {head.fault.line}, {head.fault.message}."
        )
    if not _is_field_name(key):
        raise ChangeRefused(f"“{visible(key)}” is no name for a field.")
    if isinstance(head.fields.get(key), Mapping):
        raise ChangeRefused(f"“{key}” holds fields of its own, which one value would replace.")
    if _with_field(head.fields, key, value) == head.fields:
        return text
    edited = _edited(text, head, key, value) if head.present else _with_new_head(text, key, value)
    _verify(text, head, edited, key, value)
    return edited


def _is_field_name(key: str) -> bool:
    return key.isascii() and key.replace("_", "a").replace("-", "a").isalnum() and key[0] != "-"


def _with_new_head(text: str, key: str, value: str) -> str:
    end = line_end(text)
    return f"---{end}{key}: {written(value)}{end}---{end}{text}"


def _edited(text: str, head: Frontmatter, key: str, value: str) -> str:
    opening = text.index("\n") + 1
    closing = text.rindex("\n", 0, head.end - 1) + 1 if head.end > opening else opening
    block = text[opening:closing]
    place = frontmatter.find_value(block, key, in_metadata=key not in head.fields)
    if place is None:
        added = f"{key}: {written(value)}{line_end(text)}"
        return text[:closing] + added + text[closing:]
    return text[:opening] + _spliced(block, place, value) + text[closing:]


def _spliced(block: str, place: frontmatter.ValuePlace, value: str) -> str:
    """Return `block` with `value` at the place of the old one."""
    start, end = place.start, place.end
    if place.is_exact:
        return block[:start] + written(value, place.style, block[start:end]) + block[end:]
    colon = block.index(":", place.key_end) + 1
    if place.is_empty:
        return f"{block[:colon]} {written(value)}{block[colon:]}"
    # a block scalar may have a comment behind its mark, any other value before its first line
    line = block[start:].split("\n", 1)[0] if place.style in ("|", ">") else block[colon:start]
    comment = line.partition("#")[2].split("\n", 1)[0].strip()
    told = f"  # {comment}" if comment else ""
    return f"{block[:colon]} {written(value)}{told}{block[_end_of_content(block, end) :]}"


def _end_of_content(block: str, end: int) -> int:
    """Return where a value of several lines ends before `end`: what follows on it in blank lines
    and comments is not its own.
    """
    lines = block[:end].split("\n")
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    kept = "\n".join(lines)
    return len(kept) - kept.endswith("\r")


def written(value: str, style: str = "", old: str = "") -> str:
    """Return `value` as YAML writes it, in the style of the old one where that can hold it."""
    one_line = value.isprintable() and value == value.strip()
    if style == "'" and one_line:
        return "'" + value.replace("'", "''") + "'"
    if style != '"' and one_line and value and _reads_back(value):
        kind = frontmatter.plain_type(value)
        if kind in _KEPT_PLAIN or (style == "plain" and kind == frontmatter.plain_type(old)):
            return value
    return frontmatter.double_quoted(value)


def _reads_back(value: str) -> bool:
    try:
        return frontmatter.read_yaml(f"k: {value}\n") == {"k": value}
    except ValueError:
        return False


def _verify(text: str, head: Frontmatter, edited: str, key: str, value: str) -> None:
    now = frontmatter.read(edited)
    body_same = edited[now.end :] == text[head.end :]
    wanted = _with_field(head.fields, key, value)
    if now.fault is not None or not now.present or not body_same or now.fields != wanted:
        raise ChangeRefused(f"The head is left alone: “{key}” cannot be set without touching more.")


def _with_field(fields: Mapping[str, Value], key: str, value: str) -> Mapping[str, Value]:
    metadata = fields.get("metadata")
    if key not in fields and isinstance(metadata, Mapping) and key in metadata:
        return {**fields, "metadata": {**metadata, key: value}}
    return {**fields, key: value}
