"""One TOML file that a user wrote: its values, their lines, and the warnings about them."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import tomli

from ricordo.patterns import compile_lazily
from ricordo.suggestions import find_nearest
from ricordo.text import make_one_line

Path = tuple[str, ...]
"""A key with its tables, outermost first, each part unquoted."""

_TOKEN = compile_lazily(
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


def find_key_lines(source: str) -> dict[Path, int]:
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
            parts.append(tomli.loads(f"key = {text}")["key"])
        elif kind == "bare":
            parts.append(text)
    return tuple(parts)


_BARE = compile_lazily(r"[A-Za-z0-9_-]+")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}


def format_toml_key(path: Iterable[str]) -> str:
    """Return `path` as a dotted key, parts quoted where needed."""
    return ".".join(part if _BARE.fullmatch(part) else _quoted(part) for part in path)


Value = str | float | tuple[str, ...]
"""The value of a setting."""


def format_toml_value(value: Value) -> str:
    """Return `value` as TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
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


class SettingsWarning(NamedTuple):
    """One value in a settings or theme file that could not be used; the others are."""

    file: str
    line: int
    """1-based; 0 for the whole file."""
    key: str
    """The key as TOML writes it, with its tables; "" for the whole file."""
    message: str
    nearest: str = ""
    """The valid word that is most like what was written; "" if none is."""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        key = f"{self.key}: " if self.key else ""
        hint = f" Did you mean “{self.nearest}”?" if self.nearest else ""
        return make_one_line(f"{place}: {key}{self.message}{hint}")


_MOST_BYTES = 64 * 1024
_MOST_WARNINGS = 100
_PLACE = compile_lazily(r" \(at (?:line (\d+), column \d+|end of document)\)$")


@dataclass(frozen=True)
class SettingsSource:
    """A file as it was read; checks add their warnings to it."""

    file: str
    values: Mapping[str, Any] = field(default_factory=dict)
    """Empty if the file is missing or broken."""
    text: str = ""
    warnings: list[SettingsWarning] = field(default_factory=list)

    @cached_property
    def lines(self) -> Mapping[Path, int]:
        """The line of each table and key."""
        return find_key_lines(self.text)

    def line(self, path: Path) -> int:
        """Return the first line of `path`, else that of the table around it."""
        within = [line for at, line in self.lines.items() if at[: len(path)] == path]
        if within or not path:
            return min(within, default=0)
        return self.line(path[:-1])

    def warn(self, path: Path, message: str, word: str = "", valid: Collection[str] = ()) -> None:
        """Add a warning about the key at `path` that names the one of `valid` most like `word`."""
        if len(self.warnings) >= _MOST_WARNINGS:
            return
        hint = find_nearest(word, valid)
        warning = SettingsWarning(self.file, self.line(path), format_toml_key(path), message, hint)
        if warning not in self.warnings:
            self.warnings.append(warning)

    def table(self, path: Path) -> Mapping[str, Any]:
        """Return the table at `path`; an empty one if there is none, or another value."""
        table = self.values
        for part in path:
            table = table.get(part, {})
            if not isinstance(table, dict):
                self.warn(path, "This has to be a table.")
                return {}
        return table

    def check_keys(self, path: Path, known: Collection[str]) -> None:
        """Add a warning about each key of the table at `path` that is not one of `known`."""
        for key in self.table(path):
            if key not in known:
                self.warn((*path, key), "There is no such key.", key, known)

    def iterate_leaves(self, path: Path) -> Iterator[tuple[Path, str, Any]]:
        """Yield path, name and value of all that the table at `path` sets.

        A dotted key is one name, so that `a.b = 1` and `"a.b" = 1` mean the same.
        """
        pending: list[tuple[Path, str, Any]] = [(path, "", self.table(path))]
        while pending:
            at, name, value = pending.pop()
            if not isinstance(value, dict):
                yield at, name, value
                continue
            dot = f"{name}." if name else ""
            pending += (((*at, key), dot + key, value[key]) for key in reversed(value))


def read_source(file: str) -> SettingsSource:
    """Read `file`; a missing one is empty, a broken one is empty and has a warning."""
    try:
        text = _read(file)
    except FileNotFoundError:
        return SettingsSource(file)
    except UnicodeDecodeError as error:
        return _broken(file, f"This is not UTF-8, from byte {error.start + 1} on.")
    except OSError as error:
        return _broken(file, f"This cannot be read: {error.strerror}.")
    try:
        return SettingsSource(file, tomli.loads(text), text)
    except RecursionError:
        return _broken(file, "This is nested too deeply.")
    except ValueError as error:
        return _invalid(file, str(error), text)


def _read(file: str) -> str:
    # opening a pipe would block until something writes to it
    if not stat.S_ISREG(os.stat(file).st_mode):
        raise OSError(0, "it is not a plain file")
    with os.fdopen(os.open(file, os.O_RDONLY), "rb") as opened:
        raw = opened.read(_MOST_BYTES + 1)
    if len(raw) > _MOST_BYTES:
        raise OSError(0, f"it is longer than {_MOST_BYTES // 1024} KB")
    return raw.decode("utf-8-sig").replace("\r\n", "\n")


def _invalid(file: str, message: str, text: str) -> SettingsSource:
    place = _PLACE.search(message)
    line = int(place[1] or text.count("\n") + 1) if place else 0
    return _broken(file, f"This is not TOML: {_PLACE.sub('', message)}.", line)


def _broken(file: str, message: str, line: int = 0) -> SettingsSource:
    return SettingsSource(file, warnings=[SettingsWarning(file, line, "", message)])
