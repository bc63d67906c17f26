"""The line reader for heads: fast and exact for plain ones, lenient for broken ones.

Nearly every head that an agent writes is `key: value` lines, one level of `metadata`, simple
quotes and simple lists. Those need no YAML library, which would cost most of the time that a
memory takes to open. `read_plain` answers only where YAML would say the same; `read_leniently`
always answers.
"""

from __future__ import annotations

import re

from ricordo.memory.head import Value

_ROW = re.compile(r"^( *)(?:([A-Za-z_][A-Za-z0-9_.-]{0,127}):|-)(?: (.*))?$", re.MULTILINE)
_NEEDS_YAML = frozenset("-?:,[]{}#&*!|>'\"%@`\t")
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_LENIENT_LINE = re.compile(r"([ \t]*)([^\s:#\-][^:\n]*):(?:[ \t]+(.*))?\Z")


class _NotPlain(Exception):
    """The head needs YAML."""


def read_plain(block: str) -> dict[str, Value] | None:
    """Return the fields of `block`, the text between the fences, or None where it is not plain."""
    rows = _ROW.findall(block)
    if len(rows) != block.count("\n") + (not block.endswith("\n")) or " #" in block:
        return None
    if not block.replace("\n", "").isprintable():
        return None
    try:
        return _fields(rows)
    except _NotPlain:
        return None


def _fields(rows: list[tuple[str, str, str]]) -> dict[str, Value]:
    fields: dict[str, Value] = {}
    lists: dict[str, list[Value]] = {}
    parent = ""
    children: dict[str, Value] = {}
    items: list[Value] = []
    child_indent = ""
    for indent, key, rest in rows:
        written = rest.strip(" ")
        if not indent and key:
            if key in fields or key in _NULLS:
                raise _NotPlain
            fields[key] = _value(written) if written else None
            parent = "" if written else key
            children, items = {}, []
        elif not parent or not written or ((children or items) and indent != child_indent):
            raise _NotPlain
        elif not key and not children:
            items.append(_scalar(written))
            lists[parent] = items
        elif key and not items and key not in children and key not in _NULLS:
            children[key] = _value(written)
            fields[parent] = children
        else:
            raise _NotPlain
        child_indent = indent
    fields.update((key, tuple(values)) for key, values in lists.items())
    return fields


def _value(written: str) -> Value:
    return _flow_list(written) if written[0] == "[" else _scalar(written)


def _scalar(written: str) -> Value:
    first = written[0]
    if first in _NEEDS_YAML:
        inner = written[1:-1]
        quoted = first in "'\"" and len(written) > 1 and written[-1] == first
        if not quoted or first in inner or "\\" in inner:
            raise _NotPlain
        return inner
    if ": " in written or written[-1] == ":":
        raise _NotPlain
    return None if written in _NULLS else written


def _flow_list(written: str) -> Value:
    if written[-1] != "]":
        raise _NotPlain
    inner = written[1:-1].strip(" ")
    if not inner:
        return ()
    items: list[Value] = []
    for part in inner.split(","):
        item = part.strip(" ")
        if not item or not _NEEDS_YAML.isdisjoint(item.replace("-", "")) or item[0] == "-":
            raise _NotPlain
        items.append(_scalar(item))
    return tuple(items)


def read_leniently(block: str) -> dict[str, Value]:
    """Return what can be read of `block`, `key: value` by `key: value`; of a key that stands
    twice the last value, as the agents' own parsers take it.
    """
    fields: dict[str, Value] = {}
    parent = ""
    children: dict[str, Value] = {}
    for line in block.split("\n"):
        match = _LENIENT_LINE.match(line.rstrip(" \t\r"))
        if match is None:
            continue
        key, value = match[2].rstrip().strip("'\""), _unquoted(match[3] or "")
        if match[1] and parent:
            children[key] = value
            fields[parent] = children
        elif not match[1]:
            fields[key] = value
            parent, children = "" if value else key, {}
    return fields


def _unquoted(written: str) -> Value:
    if len(written) >= 2 and written[0] == written[-1] and written[0] in "'\"":
        return written[1:-1]
    return written or None
