"""One TOML file that a person wrote: its values, where they stand, and what is said about them."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ricordo.settings.key_lines import Path, key_lines
from ricordo.settings.remark import Remark, nearest
from ricordo.settings.toml_text import toml_key

_MOST_BYTES = 64 * 1024
_MOST_REMARKS = 100
_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


@dataclass(frozen=True)
class Source:
    """A file as it was read; checks add their remarks to it."""

    file: str
    values: Mapping[str, Any] = field(default_factory=dict)
    """Empty where the file is missing or broken."""
    text: str = ""
    remarks: list[Remark] = field(default_factory=list)

    @cached_property
    def lines(self) -> Mapping[Path, int]:
        """On which line each table and key stands; found when first asked for."""
        return key_lines(self.text)

    def line(self, path: Path) -> int:
        """Return the first line of `path`; where it has none, that of the table around it."""
        within = [line for at, line in self.lines.items() if at[: len(path)] == path]
        if within or not path:
            return min(within, default=0)
        return self.line(path[:-1])

    def tell(self, path: Path, message: str, word: str = "", known: Collection[str] = ()) -> None:
        """Remark on the key at `path`, and name the one of `known` that looks like `word`."""
        if len(self.remarks) >= _MOST_REMARKS:
            return
        hint = nearest(word, known)
        remark = Remark(self.file, self.line(path), toml_key(path), message, hint)
        if remark not in self.remarks:
            self.remarks.append(remark)

    def table(self, path: Path) -> Mapping[str, Any]:
        """Return the table at `path`; an empty one where there is none or something else."""
        table = self.values
        for part in path:
            table = table.get(part, {})
            if not isinstance(table, dict):
                self.tell(path, "This has to be a table.")
                return {}
        return table

    def expect(self, path: Path, known: Collection[str]) -> None:
        """Remark on the keys of the table at `path` that are none of `known`."""
        for key in self.table(path):
            if key not in known:
                self.tell((*path, key), "There is no such key.", key, known)

    def leaves(self, path: Path) -> Iterator[tuple[Path, str, Any]]:
        """Yield path, name and value of all that the table at `path` sets.

        A dotted key is one name, so that `a.b = 1` and `"a.b" = 1` mean the same.
        """
        waiting: list[tuple[Path, str, Any]] = [(path, "", self.table(path))]
        while waiting:
            at, name, value = waiting.pop()
            if not isinstance(value, dict):
                yield at, name, value
                continue
            dot = f"{name}." if name else ""
            waiting += (((*at, key), dot + key, value[key]) for key in reversed(value))


def read_source(file: str) -> Source:
    """Read `file`; a missing one is an empty one, a broken one an empty one with a remark."""
    try:
        text = _read(file)
    except FileNotFoundError:
        return Source(file)
    except UnicodeDecodeError as error:
        return _broken(file, f"This is not UTF-8, from byte {error.start + 1} on.")
    except OSError as error:
        return _broken(file, f"This cannot be read: {error.strerror}.")
    try:
        return Source(file, tomllib.loads(text), text)
    except RecursionError:
        return _broken(file, "This is nested too deeply.")
    except ValueError as error:
        return _invalid(file, str(error), text)


def _read(file: str) -> str:
    # opening a pipe would wait for a writer
    if not stat.S_ISREG(os.stat(file).st_mode):
        raise OSError(0, "it is not a plain file")
    with os.fdopen(os.open(file, os.O_RDONLY), "rb") as opened:
        raw = opened.read(_MOST_BYTES + 1)
    if len(raw) > _MOST_BYTES:
        raise OSError(0, f"it is longer than {_MOST_BYTES // 1024} KB")
    return raw.decode("utf-8-sig").replace("\r\n", "\n")


def _invalid(file: str, message: str, text: str) -> Source:
    place = _PLACE.search(message)
    line = int(place[1] or text.count("\n") + 1) if place else 0
    return _broken(file, f"This is not TOML: {_PLACE.sub('', message)}.", line)


def _broken(file: str, message: str, line: int = 0) -> Source:
    return Source(file, remarks=[Remark(file, line, "", message)])
