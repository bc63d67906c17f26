"""Keys and values as TOML writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}


def toml_key(path: Iterable[str]) -> str:
    """Return `path` as a dotted key, parts quoted where they have to be."""
    return ".".join(part if _BARE.fullmatch(part) else _quoted(part) for part in path)


Value = str | float | tuple[str, ...]
"""What a setting can hold."""


def toml_value(value: Value) -> str:
    """Return `value` as TOML writes it."""
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, tuple):
        return f"[{', '.join(map(_quoted, value))}]"
    return repr(int(value) if value == int(value) else value)


def _quoted(text: str) -> str:
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    return char if char.isprintable() else f"\\U{ord(char):08X}"
