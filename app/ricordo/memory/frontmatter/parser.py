"""Parse a note's frontmatter in three steps: fences, the line reader, strict YAML.

The fences are an opening `---` at the very start and a closing `---` on its own line. Plain
frontmatter is read line by line (`read_plain`), and so is that with the most frequent error. All
other frontmatter goes to python-frontmatter through its handler interface, with PyYAML's C parser;
anchors, aliases, tags, duplicate keys, keys that are not text, and deep nesting are refused, and
every scalar stays as written. If that refuses, the result of the lenient line reader is used,
together with the error. This module never writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ricordo.patterns import compile_lazily

if TYPE_CHECKING:
    from yaml.events import Event

Value = None | str | tuple["Value", ...] | Mapping[str, "Value"]
"""A scalar as written, null, a list, or a mapping."""


@dataclass(frozen=True, slots=True)
class FrontmatterError:
    """Why strict YAML, or Ricordo's limits, refuse the frontmatter."""

    line: int
    """1-based line of the file."""
    message: str


class Frontmatter(NamedTuple):
    """The fields between the two fences, and their end in the note's text."""

    fields: Mapping[str, Value]
    end: int
    """Offset of the first character after the closing fence; 0 without frontmatter."""
    error: FrontmatterError | None = None

    @property
    def is_present(self) -> bool:
        """Whether the note has frontmatter."""
        return self.end > 0

    def get_text(self, key: str) -> str:
        """Return the field `key`, at the top or inside `metadata`, as one text; "" if missing."""
        return self.get_first((key,))

    def get_first(self, keys: tuple[str, ...]) -> str:
        """Return the first non-empty of the fields `keys`, as `get_text` does."""
        fields = self.fields
        metadata = fields.get("metadata")
        for key in keys:
            value = fields.get(key)
            # fields are parsed into dicts; checking for a Mapping costs ten times as much
            if value is None and isinstance(metadata, dict):
                value = metadata.get(key)
            if value and (text := value if isinstance(value, str) else flatten(value)):
                return text
        return ""

    def get_list(self, key: str) -> tuple[str, ...]:
        """Return the field `key` as a list of texts, whether written as one text or as a list."""
        value = self.fields.get(key)
        if isinstance(value, tuple):
            return tuple(flatten(item) for item in value if item is not None)
        return (flatten(value),) if value else ()


def flatten(value: Value) -> str:
    """Return any value as one line of text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return ", ".join(flatten(item) for item in value)
    return ", ".join(f"{key}: {flatten(item)}" for key, item in value.items())


NO_FRONTMATTER = Frontmatter({}, 0)

_ROW = compile_lazily(r"^( *)(?:([A-Za-z_][A-Za-z0-9_.-]{0,127}):|-)(?: (.*))?$", re.MULTILINE)
_SECOND_COLON = "mapping values are not allowed in this context"
"""What YAML says of it."""
_OPENED = ("while parsing a flow ", "while scanning a quoted scalar")
"""What the parser was at when it met the end of a bracket or a quotation that is not closed."""
_KEY = compile_lazily(r"[A-Za-z_][\w-]*:(?:\s|\Z)")
_NEEDS_YAML = frozenset("-?:,[]{}#&*!|>'\"%@`\t")
_PLAIN_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_LENIENT_LINE = compile_lazily(r"([ \t]*)([^\s:#\-][^:\n]*):(?:[ \t]+(.*))?\Z")


class _NotPlain(Exception):
    """The frontmatter needs YAML."""


class _SecondColon(Exception):
    """A value without quotes contains a colon, as in `description: Note: closed`."""


class _Refused(Exception):
    """Frontmatter that is YAML but not supported, or with a second colon; `args` is the line in the
    block and why.
    """


def read_plain(block: str) -> dict[str, Value] | None:
    """Return the fields of `block`, the text between the fences, or None if it is not plain."""
    try:
        return _read_rows(block)
    except _Refused:
        return None


def _read_rows(block: str) -> dict[str, Value] | None:
    """Return the fields of `block`; None if only YAML can tell. Raises _Refused."""
    rows = _ROW.findall(block)
    if len(rows) != block.count("\n") + (not block.endswith("\n")):
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
    try:
        for indent, key, rest in rows:
            written = rest.strip(" ")
            if not indent and key:
                if key in fields or key in _PLAIN_NULLS:
                    raise _NotPlain
                fields[key] = _value(written) if written else None
                parent = "" if written else key
                children, items = {}, []
            elif not parent or not written or ((children or items) and indent != child_indent):
                raise _NotPlain
            elif not key and not children:
                items.append(_scalar(written))
                lists[parent] = items
            elif key and not items and key not in children and key not in _PLAIN_NULLS:
                children[key] = _value(written)
                fields[parent] = children
            else:
                raise _NotPlain
            child_indent = indent
    except _SecondColon:
        if not key:
            # in a list it is a mapping
            raise _NotPlain from None
        raise _Refused(rows.index((indent, key, rest)) + 1, _SECOND_COLON) from None
    fields.update((key, tuple(values)) for key, values in lists.items())
    return fields


def _value(written: str) -> Value:
    return _flow_list(written) if written[0] == "[" else _scalar(written)


def _scalar(written: str) -> Value:
    first = written[0]
    if first in _NEEDS_YAML and not (first == "-" and written[1:2].strip()):
        inner = written[1:-1]
        quoted = first in "'\"" and len(written) > 1 and written[-1] == first
        if not quoted or first in inner or "\\" in inner:
            raise _NotPlain
        return inner
    if " #" in written:
        # a comment
        written = written[: written.index(" #")].rstrip(" ")
    if ": " in written or written[-1] == ":":
        raise _SecondColon
    return None if written in _PLAIN_NULLS else written


def _flow_list(written: str) -> Value:
    if written[-1] != "]":
        raise _NotPlain
    inner = written[1:-1].strip(" ")
    if not inner:
        return ()
    items: list[Value] = []
    for part in inner.split(","):
        item = part.strip(" ")
        # such an item has no colon
        if not item or not _NEEDS_YAML.isdisjoint(item.replace("-", "")) or item[0] == "-":
            raise _NotPlain
        items.append(_scalar(item))
    return tuple(items)


def read_leniently(block: str) -> dict[str, Value]:
    """Return the `key: value` lines of `block` that can be read; of a duplicate key the last
    value, as in the agents' parsers.
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


MAX_FRONTMATTER = 64 * 1024
"""Characters; longer frontmatter is not parsed as YAML."""
MAX_DEPTH = 20
"""Nesting of lists and mappings inside frontmatter."""

_OPENING = compile_lazily(r"---[ \t]*\r?\n")
_CLOSING = compile_lazily(r"\n---[ \t]*+\r?(?:\n|\Z)")
"""With the end of the line above, which makes the search fast."""
# A key, a list, a flow collection, an anchor or a tag. Prose between two rules, such as a heading,
# a link, a picture or bold text, is not frontmatter.
_FRONTMATTER_LIKE = compile_lazily(
    r"""\s*+(?:\#[^\n]*\n\s*+)*
        (?: ['"]?[^\s:'"\#*!\[][^:\n]{0,80}['"]?:(?:\s|\Z)
          | -[ ](?!\[) | \{ | \[(?!\[|[^\]\n]*\]\() | &\w | !(?!\[)\S | \?\s )""",
    re.VERBOSE,
)
_FIRST_LINE = compile_lazily(r"^[ \t]*[^\s#].*", re.MULTILINE)
_SENTENCE = compile_lazily(r"_.*_\s*\Z|[^\W\d_][^:\"']*[^\S\n][^:\"']*:")
"""Text that is emphasized, or of several words before its first colon."""
_KEY = compile_lazily(r"""^['"]?[^\W\d][\w.-]*['"]?[ \t]*:(?!.*_\s*$)(?=\s|\Z)""", re.MULTILINE)
"""A key at the margin: one word, not the beginning of a line in emphasis."""
_HEADING = compile_lazily(r"^#{2,6}[ \t]+\S", re.MULTILINE)
"""One that is no comment of YAML, as those of one mark may be."""
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_TOP_FIELD = compile_lazily(r"([a-zA-Z_-]+:\s+)(.+)")
_MISREAD = compile_lazily(r"[{}\[\]*&#!|>%@`]|: ")
"""What a value has that is put in quotes."""
_INDENT = compile_lazily(r"\t*")


def read_frontmatter(text: str) -> Frontmatter:
    """Return the frontmatter of a note's `text` (without byte order mark); `NO_FRONTMATTER` if it
    has none.
    """
    if not text.startswith("---"):
        return NO_FRONTMATTER
    opening = _OPENING.match(text)
    if opening is None:
        return NO_FRONTMATTER
    closing = _CLOSING.search(text, opening.end() - 1)
    if closing is None:
        return _unclosed(text, opening.end())
    block = text[opening.end() : closing.start() + 1]
    if not block.strip():
        return Frontmatter({}, closing.end())
    if len(block) > MAX_FRONTMATTER:
        fault = FrontmatterError(1, f"the frontmatter is longer than {MAX_FRONTMATTER // 1024} KB")
        return Frontmatter(read_leniently(block[:MAX_FRONTMATTER]), closing.end(), fault)
    if "\r" in block:
        block = block.replace("\r\n", "\n")
    try:
        fields = _read_rows(block)
    except _Refused as refused:
        if not _FRONTMATTER_LIKE.match(block):
            return NO_FRONTMATTER
        return _read_with_error(block, closing.end(), *refused.args)
    if fields is not None:
        return Frontmatter(fields, closing.end())
    if not _FRONTMATTER_LIKE.match(block):
        return NO_FRONTMATTER
    return _read_as_yaml(block, closing.end())


def read_yaml(block: str) -> Mapping[str, Value]:
    """Return the fields of `block`, the text between the fences, as strict YAML.

    Raises ValueError(line, message), the line counted from 1 inside the block, if YAML or
    Ricordo's limits refuse it.
    """
    import frontmatter
    from frontmatter.default_handlers import BaseHandler

    fields: dict[str, Value] = {}

    class RawScalarHandler(BaseHandler):
        """Ricordo's fences and loader behind python-frontmatter's interface."""

        FM_BOUNDARY = _CLOSING

        def split(self, text: str) -> tuple[str, str]:
            # `text` is stripped, which would move lines and indentation
            return block, ""

        def load(self, fm: str) -> dict[str, Value]:
            fields.update(_load(fm))
            return fields

    frontmatter.parse(block, handler=RawScalarHandler())
    return fields


@dataclass(frozen=True, slots=True)
class ValuePlace:
    """The place of a key's value in the text between the fences; offsets in characters."""

    key_end: int
    start: int
    end: int
    """The end in YAML's count: for multi-line values with blank lines and comments after them."""
    style: str
    """Its quotation mark, ``plain`` without one, "" if it is not a scalar."""
    is_exact: bool
    """Whether replacing the text from `start` to `end` is safe."""
    is_empty: bool


def find_value(block: str, key: str, *, in_metadata: bool) -> ValuePlace | None:
    """Return the place of the value of `key` in `block`, which `read_yaml` accepts; None if the
    key is missing. With `in_metadata`, search inside `metadata`.
    """
    import yaml

    def pair(node: yaml.Node | None, name: str) -> tuple[yaml.Node, yaml.Node] | None:
        pairs = node.value if isinstance(node, yaml.MappingNode) else ()
        return next((pair for pair in pairs if pair[0].value == name), None)

    node = yaml.compose(block, Loader=yaml.CSafeLoader)
    if in_metadata:
        metadata = pair(node, "metadata")
        node = metadata[1] if metadata else None
    key_and_value = pair(node, key)
    if key_and_value is None:
        return None
    name, value = key_and_value
    style = (value.style or "plain") if isinstance(value, yaml.ScalarNode) else ""
    is_empty = style == "plain" and not value.value
    one_line = value.start_mark.line == value.end_mark.line or style in ("plain", "'", '"')
    return ValuePlace(
        name.end_mark.index,
        value.start_mark.index,
        value.end_mark.index,
        style,
        one_line and not is_empty,
        is_empty,
    )


def detect_plain_type(value: str) -> str:
    """Return the type that YAML gives to an unquoted `value`: `str`, `bool`, `timestamp`, …"""
    import yaml

    rules = yaml.SafeLoader.yaml_implicit_resolvers.get(value[:1], [])
    tag = next((tag for tag, matches in rules if matches.match(value)), "str")
    return str(tag.rpartition(":")[2])


def quote_double(value: str) -> str:
    """Return `value` as a YAML scalar in double quotes, on one line."""
    if value.isascii() and value.isprintable():
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    import yaml

    written = yaml.dump(value, default_style='"', allow_unicode=True, width=float("inf"))
    return str(written).rstrip("\n")


def read_with_quotes(text: str) -> Frontmatter:
    """Return the frontmatter of a note as an agent reads what is no valid YAML: once more, with
    those values in quotes that YAML may read as something else.
    """
    return read_frontmatter("\n".join(map(_quote_misread, text.split("\n"))))


def _quote_misread(line: str) -> str:
    """Return a line of frontmatter with its value in quotes, if YAML may misread it, and indented
    by blanks.
    """
    line = _INDENT.sub(lambda tabs: "  " * len(tabs[0]), line.rstrip("\r"), count=1)
    match = _TOP_FIELD.fullmatch(line)
    if match is None or not _MISREAD.search(match[2]):
        return line
    is_quoted = any(match[2].startswith(mark) and match[2].endswith(mark) for mark in "\"'")
    return line if is_quoted else match[1] + quote_double(match[2])


def _read_as_yaml(block: str, end: int) -> Frontmatter:
    try:
        return Frontmatter(read_yaml(block), end)
    except ValueError as refused:
        return _read_with_error(block, end, *refused.args)


def _read_with_error(block: str, end: int, line: int, message: str) -> Frontmatter:
    """Return what can be read of a block with an error in that line of it; prose between two rules
    that has a colon in its first line is none.
    """
    first = _FIRST_LINE.search(block)
    is_prose = first is not None and _SENTENCE.match(first[0]) is not None
    if is_prose and (_HEADING.search(block) or not _KEY.search(block)):
        return NO_FRONTMATTER
    return Frontmatter(read_leniently(block), end, FrontmatterError(line + 1, message))


def _unclosed(text: str, start: int) -> Frontmatter:
    """Return the frontmatter of a note whose fence is never closed: all of it is body, with an
    error if the first line looks like a field.
    """
    first = text[start:].split("\n", 1)[0]
    if re.match(r"[A-Za-z_][\w-]*:(\s|\Z)", first):
        fault = FrontmatterError(1, "the frontmatter is opened here and never closed")
        return Frontmatter({}, 0, fault)
    return NO_FRONTMATTER


def _load(block: str) -> dict[str, Value]:
    import yaml

    try:
        events = iter(yaml.parse(block, Loader=yaml.CSafeLoader))
        return _document(events)
    except _Refused as refused:
        raise ValueError(*refused.args) from None
    except yaml.MarkedYAMLError as error:
        # what is not closed is wrong where it was opened, not at the next key or the end
        mark = error.problem_mark
        if str(error.context).startswith(_OPENED):
            rest = block.split("\n")[mark.line :] if mark else []
            is_open = not "".join(rest).strip() or _KEY.match(rest[0])
            mark = error.context_mark if is_open else mark
        line = mark.line + 1 if mark else 1
        raise ValueError(line, str(error.problem or "not valid YAML")) from None
    except yaml.reader.ReaderError as error:
        at = error.position if isinstance(error.position, int) else 0
        line = block.encode("utf-8", "replace")[:at].count(b"\n") + 1
        raise ValueError(line, "a character that YAML does not allow") from None
    except (yaml.YAMLError, UnicodeError, RecursionError) as error:
        raise ValueError(1, f"not valid YAML ({type(error).__name__})") from None


def _document(events: Iterator[Event]) -> dict[str, Value]:
    from yaml import events as kinds

    for event in events:
        if isinstance(event, (kinds.StreamStartEvent, kinds.DocumentStartEvent)):
            continue
        if isinstance(event, kinds.StreamEndEvent):
            return {}
        value = _node(event, events, 0)
        if isinstance(value, dict):
            _refuse_second_document(events)
            return value
        if value is None:
            return {}
        raise _Refused(_line(event), "the frontmatter is not a mapping of keys to values")
    return {}


def _refuse_second_document(events: Iterator[Event]) -> None:
    from yaml import events as kinds

    for event in events:
        if isinstance(event, kinds.DocumentStartEvent):
            raise _Refused(_line(event), "a second document inside the frontmatter")


def _node(event: Event, events: Iterator[Event], depth: int) -> Value:
    from yaml import events as kinds

    if isinstance(event, kinds.AliasEvent):
        raise _Refused(_line(event), "an alias; only plain values are read")
    assert isinstance(event, (kinds.ScalarEvent, kinds.SequenceStartEvent, kinds.MappingStartEvent))
    if event.anchor is not None:
        raise _Refused(_line(event), "an anchor; only plain values are read")
    if event.tag is not None:
        raise _Refused(_line(event), "a tag; only plain values are read")
    if isinstance(event, kinds.ScalarEvent):
        return None if not event.style and event.value in _NULLS else str(event.value)
    if depth >= MAX_DEPTH:
        raise _Refused(_line(event), f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(event, kinds.SequenceStartEvent):
        return _sequence(events, depth + 1)
    return _mapping(events, depth + 1)


def _sequence(events: Iterator[Event], depth: int) -> tuple[Value, ...]:
    from yaml import events as kinds

    items: list[Value] = []
    for event in events:
        if isinstance(event, kinds.SequenceEndEvent):
            break
        items.append(_node(event, events, depth))
    return tuple(items)


def _mapping(events: Iterator[Event], depth: int) -> dict[str, Value]:
    from yaml import events as kinds

    fields: dict[str, Value] = {}
    for event in events:
        if isinstance(event, kinds.MappingEndEvent):
            break
        key = _node(event, events, depth)
        if not isinstance(key, str):
            raise _Refused(_line(event), "a key that is not text")
        if key == "<<":
            raise _Refused(_line(event), "a merge key; only plain values are read")
        if key in fields:
            raise _Refused(_line(event), f"duplicate key “{key[:80]}”")
        fields[key] = _node(next(events), events, depth)
    return fields


def _line(event: Event) -> int:
    return int(event.start_mark.line) + 1 if event.start_mark else 1
