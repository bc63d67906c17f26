"""Set one field of a note's frontmatter by splicing text: no other byte of the note changes.

PyYAML's C parser gives the place of the old value, the new value is inserted there, and the
result is parsed again: if anything but that one field changed, the edit is refused.
"""

from __future__ import annotations

from collections.abc import Mapping

from ricordo.errors import ChangeRefused
from ricordo.memory.frontmatter import parser
from ricordo.memory.frontmatter.parser import Frontmatter, Value
from ricordo.memory.lines import detect_line_end
from ricordo.text import make_visible

_INSIDE = "metadata."
"""The beginning of a key that is to be inside `metadata`."""
_UNQUOTED_TYPES = frozenset(("str", "timestamp"))
"""Types of values that need no quotes: agents write dates without them."""


def set_field(text: str, key: str, value: str) -> str:
    """Return a note's `text` (without byte order mark) with the frontmatter field `key` set.

    A key inside `metadata`, and not at the top, is set there; `metadata.KEY` is added there, too.
    Raises ChangeRefused with the reason if the frontmatter cannot be edited safely.
    """
    frontmatter = parser.read_frontmatter(text)
    if frontmatter.error is not None:
        raise ChangeRefused(
            f"Invalid frontmatter: line {frontmatter.error.line}, {frontmatter.error.message}."
        )
    if not _is_field_name(key.removeprefix(_INSIDE)):
        raise ChangeRefused(f"“{make_visible(key)}” is not a valid field name.")
    if isinstance(frontmatter.fields.get(key), Mapping):
        raise ChangeRefused(f"“{key}” has nested fields, which one value would replace.")
    if _with_field(frontmatter.fields, key, value) == frontmatter.fields:
        return text
    edited = (
        _replace_or_add(text, frontmatter, key, value)
        if frontmatter.is_present
        else _add_frontmatter(text, key, value)
    )
    _verify(text, frontmatter, edited, key, value)
    return edited


def _is_field_name(key: str) -> bool:
    return key.isascii() and key.replace("_", "a").replace("-", "a").isalnum() and key[0] != "-"


def _add_frontmatter(text: str, key: str, value: str) -> str:
    end = detect_line_end(text)
    return f"---{end}{_format_field(key, value, end)}---{end}{text}"


def _format_field(key: str, value: str, end: str) -> str:
    nested = key.removeprefix(_INSIDE)
    above = f"metadata:{end}  " if nested != key else ""
    return f"{above}{nested}: {format_scalar(value)}{end}"


def _replace_or_add(text: str, frontmatter: Frontmatter, key: str, value: str) -> str:
    opening = text.index("\n") + 1
    end = frontmatter.end
    closing = text.rindex("\n", 0, end - 1) + 1 if end > opening else opening
    block = text[opening:closing]
    nested, line_end = key.removeprefix(_INSIDE), detect_line_end(text)
    place = parser.find_value(block, nested, in_metadata=key not in frontmatter.fields)
    if place is not None:
        return text[:opening] + _replace_value(block, place, value) + text[closing:]
    metadata = frontmatter.fields.get("metadata")
    if nested == key or not isinstance(metadata, Mapping):
        return text[:closing] + _format_field(key, value, line_end) + text[closing:]
    whole = parser.find_value(block, "metadata", in_metadata=False)
    assert whole is not None
    column = whole.start - (block.rfind("\n", 0, whole.start) + 1)
    added = f"{line_end}{' ' * column}{nested}: {format_scalar(value)}"
    stop = _end_of_content(block, whole.end)
    return text[:opening] + block[:stop] + added + block[stop:] + text[closing:]


def _replace_value(block: str, place: parser.ValuePlace, value: str) -> str:
    """Return `block` with `value` at the place of the old one."""
    start, end = place.start, place.end
    if place.is_exact:
        return block[:start] + format_scalar(value, place.style, block[start:end]) + block[end:]
    colon = block.index(":", place.key_end) + 1
    if place.is_empty:
        return f"{block[:colon]} {format_scalar(value)}{block[colon:]}"
    # a block scalar may have a comment after its mark, any other value before its first line
    line = block[start:].split("\n", 1)[0] if place.style in ("|", ">") else block[colon:start]
    comment = line.partition("#")[2].split("\n", 1)[0].strip()
    suffix = f"  # {comment}" if comment else ""
    return f"{block[:colon]} {format_scalar(value)}{suffix}{block[_end_of_content(block, end) :]}"


def _end_of_content(block: str, end: int) -> int:
    """Return the end of a multi-line value before `end`, without trailing blank lines and
    comments.
    """
    lines = block[:end].split("\n")
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    content = "\n".join(lines)
    return len(content) - content.endswith("\r")


def format_scalar(value: str, style: str = "", old: str = "") -> str:
    """Return `value` as a YAML scalar, in the quoting style of the `old` one if possible."""
    one_line = value.isprintable() and value == value.strip()
    if style == "'" and one_line:
        return "'" + value.replace("'", "''") + "'"
    if style != '"' and one_line and value and _reads_back(value):
        kind = parser.detect_plain_type(value)
        if kind in _UNQUOTED_TYPES or (style == "plain" and kind == parser.detect_plain_type(old)):
            return value
    return parser.quote_double(value)


def _reads_back(value: str) -> bool:
    try:
        return parser.read_yaml(f"k: {value}\n") == {"k": value}
    except ValueError:
        return False


def _verify(text: str, before: Frontmatter, edited: str, key: str, value: str) -> None:
    after = parser.read_frontmatter(edited)
    body_same = edited[after.end :] == text[before.end :]
    expected = _with_field(before.fields, key, value)
    if after.error is not None or not after.is_present or not body_same or after.fields != expected:
        raise ChangeRefused(f"Cannot set “{key}” without changing other parts of the frontmatter.")


def _with_field(fields: Mapping[str, Value], key: str, value: str) -> Mapping[str, Value]:
    metadata, nested = fields.get("metadata"), key.removeprefix(_INSIDE)
    inside = metadata if isinstance(metadata, Mapping) else {}
    if nested != key or (key not in fields and key in inside):
        return {**fields, "metadata": {**inside, nested: value}}
    return {**fields, key: value}
