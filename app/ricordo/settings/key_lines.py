"""On which line a TOML document sets which key: what tomllib knows and does not tell."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

Path = tuple[str, ...]
"""A key with its tables, outermost first, each part unquoted."""

_TOKEN = re.compile(
    r'''
      (?P<string> """ (?: \\. | [^\\] )*? "{3,5} | \'\'\' .*? '{3,5}
                | " (?: \\. | [^"\\\n] )* " | ' [^'\n]* ' )
    | (?P<comment> \# [^\n]* )
    | (?P<newline> \n )
    | (?P<bracket> [\[\]{}] )
    | (?P<sign> [=.,] )
    | (?P<bare> [^\s"'\#\[\]{}=.,]+ )
    ''',
    re.VERBOSE | re.DOTALL,
)
_DEPTH = {"[": 1, "{": 1, "]": -1, "}": -1}

_Token = tuple[str, str]
"""The kind of a token, and its text."""


def key_lines(source: str) -> dict[Path, int]:
    """Return the 1-based line of every table and key of `source`, which is valid TOML.

    Keys inside inline tables are not among them.
    """
    lines: dict[Path, int] = {}
    table: Path = ()
    for line, tokens in _statements(source):
        header = tokens[0][1] == "["
        path = _key(tokens)
        if header:
            table = path
        lines.setdefault(table if header else table + path, line)
    return lines


def _statements(source: str) -> Iterator[tuple[int, list[_Token]]]:
    """Yield each header and each `key = value` with the line on which it begins."""
    line, begin, depth = 1, 1, 0
    tokens: list[_Token] = []
    for match in _TOKEN.finditer(source):
        kind, text = str(match.lastgroup), match.group()
        if kind == "newline" and depth == 0 and tokens:
            yield begin, tokens
            tokens = []
        elif kind not in ("newline", "comment"):
            begin = begin if tokens else line
            depth += _DEPTH.get(text, 0)
            tokens.append((kind, text))
        line += text.count("\n")
    if tokens:
        yield begin, tokens


def _key(tokens: list[_Token]) -> Path:
    """Return the key with which a statement begins: all words before `=` or the header's end."""
    parts: list[str] = []
    for kind, text in tokens:
        if text in ("=", "]"):
            break
        if kind == "string":
            parts.append(tomllib.loads(f"key = {text}")["key"])
        elif kind == "bare":
            parts.append(text)
    return tuple(parts)
