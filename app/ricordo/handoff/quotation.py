r"""Escaping text of others for a handoff, and reading it back.

The reader of a handoff takes its lines for Ricordo's. So no text of others may look like a line, a
mark, a heading or a comment of the document, be rendered as an image or a link, or make an agent
load a file (`@path` in its instructions). In a line such characters get a backslash, code between
backticks stays as it is; a quotation is a fenced block in which every line begins with ``> ``. It
is never inside a list or another block, where a parser does not always see the fence.

Source of the rules: CommonMark 0.31, sections 2.4, 4.5 and 6.1; the imports of Claude Code, which
leave code alone and require a space or nothing before the `@`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from ricordo.text import make_one_line, make_visible

_OPENING, _CLOSING = "```quotation", "```"
_PREFIX = "> "
_BARE_WORD = re.compile(r"[\w./+=~%-][\w./+=~%:#@-]*")
_ESCAPED_IN_WORD = re.compile("[\\[\\]<>`@]")
_ESCAPABLE = frozenset("\\<[`@#>~")
_TICKS = re.compile("`+")


# words


def write_word(text: str) -> str:
    """Return a path or a name as one word; unusual characters make it a JSON string in ASCII."""
    if _BARE_WORD.fullmatch(text) and text.isprintable():
        return text
    return _ESCAPED_IN_WORD.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text))


WORD_PATTERN = r'(?:"(?:[^"\\]|\\.)*"|[^\s",;\[\]]+)'
"""A pattern for a written word, without a group."""


def read_word(text: str) -> str:
    """Return the path or name of a written word. Raises ValueError where it is none."""
    if not text.startswith('"'):
        return text
    value = json.loads(text)
    if not isinstance(value, str):
        raise ValueError(text)
    return value


# lines


def normalize_line(text: str) -> str:
    """Return `text` on one line, with control characters made visible."""
    return make_one_line(re.sub(r"[ \t\r]*\n\s*", " ", text).strip()).strip()


def escape_line(text: str) -> str:
    """Return a normalized text escaped for a line of the document."""
    escaped = "".join(_escape_pieces(text))
    # at the beginning of a line these would start a heading, a quotation or a fence
    return f"\\{escaped}" if escaped.startswith(("#", ">", "~~~")) else escaped


def unescape_line(written: str) -> str:
    """Return the text of an escaped line."""
    parts: list[str] = []
    at = 0
    while at < len(written):
        char = written[at]
        if char == "`" and (span := _find_code_span(written, at)):
            parts.append(span)
            at += len(span)
        elif char == "\\" and written[at + 1 : at + 2] in _ESCAPABLE:
            parts.append(written[at + 1])
            at += 2
        else:
            parts.append(char)
            at += 1
    return "".join(parts)


def _escape_pieces(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        if text[at] == "`":
            ticks = _match_ticks(text, at)
            span = _find_code_span(text, at)
            yield span or "\\`" * len(ticks)
            at += len(span or ticks)
        else:
            yield f"\\{text[at]}" if _needs_escape(text, at) else text[at]
            at += 1


def _needs_escape(text: str, at: int) -> bool:
    """Return whether a character needs a backslash because of what it may begin."""
    char = text[at]
    if char == "\\":
        return text[at + 1 : at + 2] in _ESCAPABLE
    if char == "@":
        before = text[at - 1 : at]
        return not (before.isascii() and before.isalnum())
    return char in "<["


def _find_code_span(text: str, at: int) -> str:
    """Return the code span that begins at `at`, with its backticks; "" where it is not closed."""
    ticks = _match_ticks(text, at)
    for end in _TICKS.finditer(text, at + len(ticks)):
        if end[0] == ticks:
            return text[at : end.end()]
    return ""


def _match_ticks(text: str, at: int) -> str:
    match = _TICKS.match(text, at)
    return match[0] if match else ""


# quotations


def normalize_quote(text: str) -> str:
    """Return `text` with its lines kept and control characters made visible."""
    return make_visible(text.replace("\r\n", "\n")).strip("\n")


def render_quotation(text: str) -> list[str]:
    """Return a normalized quote as lines of a labelled block; none can pass for a line of the
    document.
    """
    inner = (f"{_PREFIX}{row}" if row else _PREFIX.rstrip() for row in text.split("\n"))
    return [_OPENING, *inner, _CLOSING]


def read_quotation(lines: Sequence[str], at: int) -> tuple[str, int] | None:
    """Return the quotation that begins in line `at`, and the index of the next line; None where
    none begins there, or where it has no end.
    """
    if lines[at : at + 1] != [_OPENING]:
        return None
    rows: list[str] = []
    for number, written in enumerate(lines[at + 1 :], at + 1):
        if written == _CLOSING:
            return "\n".join(rows), number + 1
        if not written.startswith(_PREFIX.rstrip()):
            return None
        rows.append(written[len(_PREFIX) :])
    return None
