"""Setting one field of a note's head by splicing text: no other byte of the note changes.

The place of the old value comes from PyYAML's C parser, the new value is put there, and the
result is read again: if more or less than that one field became different, the edit is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ricordo.errors import ChangeRefused
from ricordo.memory import frontmatter
from ricordo.memory.head import Head, Value
from ricordo.memory.lines import line_end

if TYPE_CHECKING:
    from yaml.nodes import Node

_TEXT = "tag:yaml.org,2002:str"
_KEPT_PLAIN = frozenset((_TEXT, "tag:yaml.org,2002:timestamp"))


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
        raise ChangeRefused(f"“{key}” is no name for a field.")
    edited = _edited(text, head, key, value) if head.present else _with_new_head(text, key, value)
    _verify(text, head, edited, key, value)
    return edited


def _is_field_name(key: str) -> bool:
    return key.isascii() and key.replace("_", "a").replace("-", "a").isalnum() and key[0] != "-"


def _with_new_head(text: str, key: str, value: str) -> str:
    end = line_end(text)
    return f"---{end}{key}: {_scalar(value)}{end}---{end}{text}"


def _edited(text: str, head: Head, key: str, value: str) -> str:
    opening = text.index("\n") + 1
    closing = text.rindex("\n", 0, head.end - 1) + 1 if head.end > opening else opening
    block = text[opening:closing]
    place = _place_of(block, key, nested=key not in head.fields)
    if place is None:
        added = f"{key}: {_scalar(value)}{line_end(text)}"
        return text[:closing] + added + text[closing:]
    start, end, before, after, style = place
    spliced = block[:start] + before + _scalar(value, style, block[start:end]) + after + block[end:]
    return text[:opening] + spliced + text[closing:]


def _place_of(block: str, key: str, nested: bool) -> tuple[int, int, str, str, str] | None:
    """Return where in `block` the value of `key` stands, what has to stand before and after the
    new one, and the style of the old one; None where the key is not there.
    """
    import yaml

    root = yaml.compose(block, Loader=yaml.CSafeLoader)
    if root is None:
        return None
    found = _pair(root, key) or (nested and _pair(_child(root, "metadata"), key))
    if not found:
        return None
    name, node = found
    colon = block.index(":", name.end_mark.index) + 1
    start, end = node.start_mark.index, node.end_mark.index
    if isinstance(node, yaml.ScalarNode) and not node.value and not node.style:
        return colon, colon, " ", "", ""
    if isinstance(node, yaml.ScalarNode) and node.style not in ("|", ">"):
        return start, end, "", "", node.style or "plain"
    if node.start_mark.line == node.end_mark.line:
        return start, end, "", "", ""
    comment = block[colon:start].partition("#")[2].split("\n", 1)[0].strip()
    return colon, _end_of_content(block, end), " ", f"  # {comment}" if comment else "", ""


def _pair(node: Node | None, key: str) -> tuple[Node, Node] | None:
    import yaml

    if not isinstance(node, yaml.MappingNode):
        return None
    return next((pair for pair in node.value if pair[0].value == key), None)


def _child(node: Node, key: str) -> Node | None:
    pair = _pair(node, key)
    return pair[1] if pair else None


def _end_of_content(block: str, end: int) -> int:
    """Return where a value of several lines ends before `end`: what follows on it in blank lines
    and comments is not its own.
    """
    lines = block[:end].split("\n")
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    kept = "\n".join(lines)
    return len(kept) - kept.endswith("\r")


def _scalar(value: str, style: str = "", old: str = "") -> str:
    """Return `value` as YAML writes it, in the style of the old one where that can hold it."""
    import yaml

    one_line = value.isprintable() and value == value.strip()
    if style == "'" and one_line:
        return "'" + value.replace("'", "''") + "'"
    if style != '"' and one_line and value and _reads_back(value):
        tag = _tag(value)
        if tag in _KEPT_PLAIN or (style == "plain" and tag == _tag(old)):
            return value
    written = yaml.dump(value, default_style='"', allow_unicode=True, width=float("inf"))
    return str(written).rstrip("\n")


def _reads_back(value: str) -> bool:
    try:
        return frontmatter.read_yaml(f"k: {value}\n") == {"k": value}
    except ValueError:
        return False


def _tag(value: str) -> str:
    """Return the type that YAML's rules give to a plain `value`."""
    import yaml

    rules = yaml.SafeLoader.yaml_implicit_resolvers.get(value[:1], [])
    return next((tag for tag, matches in rules if matches.match(value)), _TEXT)


def _verify(text: str, head: Head, edited: str, key: str, value: str) -> None:
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
