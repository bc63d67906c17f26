r"""Text of others as it stands in a handoff, and back.

Whoever reads a handoff takes its lines for ours. So nothing in a text of others may look like a
line, a mark, a heading or a comment of ours, be drawn as a picture or a link, or make an agent load
a file (`@path` in its instructions). In a line such characters get a backslash, code between
backticks stands as it is; a quotation is a fenced block in which every line begins with ``> ``. It
stands in no list and in no other block: there, what reads a document does not always see the fence.
Source of the rules: CommonMark 0.31, sections 2.4, 4.5 and 6.1; the imports of Claude Code, which
leave code alone and want a space or nothing before the `@`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from ricordo.text import one_line, visible

_OPENING, _CLOSING = "```quotation", "```"
_PREFIX = "> "
_BARE_WORD = re.compile(r"[\w./+=~%-][\w./+=~%:#@-]*")
_ESCAPED_IN_WORD = re.compile("[\\[\\]<>`@]")
_ESCAPABLE = frozenset("\\<[`@#>~")
_TICKS = re.compile("`+")


# words


def word(text: str) -> str:
    """Return a path or a name as one word; an odd one as a string of JSON, in ASCII."""
    if _BARE_WORD.fullmatch(text) and text.isprintable():
        return text
    return _ESCAPED_IN_WORD.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text))


WORD = r'(?:"(?:[^"\\]|\\.)*"|[^\s",;\[\]]+)'
"""A pattern for what `word` writes, without a group."""


def read_word(text: str) -> str:
    """Return what `word` made a word of. Raises ValueError where it is none."""
    if not text.startswith('"'):
        return text
    value = json.loads(text)
    if not isinstance(value, str):
        raise ValueError(text)
    return value


# lines


def tidy(text: str) -> str:
    """Return `text` as a line can hold it: in one row, every control made visible."""
    return one_line(re.sub(r"[ \t\r]*\n\s*", " ", text).strip()).strip()


def line(text: str) -> str:
    """Return a `tidy` text as it stands in a line of ours."""
    escaped = "".join(_escape_pieces(text))
    # at the beginning of a line these would make a heading, a quotation or a fence
    return f"\\{escaped}" if escaped.startswith(("#", ">", "~~~")) else escaped


def read_line(written: str) -> str:
    """Return the text that `line` made `written` of."""
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
    """Whether a character has to be escaped for what it may begin."""
    char = text[at]
    if char == "\\":
        return text[at + 1 : at + 2] in _ESCAPABLE
    if char == "@":
        before = text[at - 1 : at]
        return not (before.isascii() and before.isalnum())
    return char in "<["


def _find_code_span(text: str, at: int) -> str:
    """Return the code between backticks that begins at `at`, with them; "" where it has no end."""
    ticks = _match_ticks(text, at)
    for end in _TICKS.finditer(text, at + len(ticks)):
        if end[0] == ticks:
            return text[at : end.end()]
    return ""


def _match_ticks(text: str, at: int) -> str:
    match = _TICKS.match(text, at)
    return match[0] if match else ""


# quotations


def tidy_quote(text: str) -> str:
    """Return `text` as a quotation can hold it: line by line, every control made visible."""
    return visible(text.replace("\r\n", "\n")).strip("\n")


def quotation(text: str) -> list[str]:
    """Return a `tidy_quote` as lines, labelled as a quotation; none of them begins as ours do."""
    inner = (f"{_PREFIX}{row}" if row else _PREFIX.rstrip() for row in text.split("\n"))
    return [_OPENING, *inner, _CLOSING]


def read_quotation(lines: Sequence[str], at: int) -> tuple[str, int] | None:
    """Return the quotation that begins in line `at`, and the line behind it; None where none does,
    or where it has no end.
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
