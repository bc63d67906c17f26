"""What a project says is not part of it: its `.gitignore` files (format: gitignore(5))."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

_MOST_PATTERNS = 1_000
_MOST_WILD = 2
"""How often a pattern may go over folders: each takes as long as all of the path."""
_LONGEST = 500
"""Characters of a pattern; what is longer was not written by a person."""


_ANY = "[^/]*"
_OVER = ".*"


class _Pattern(NamedTuple):
    under: str
    """The folder whose file has it, with `/` at its end; "" for the root."""
    expression: re.Pattern[str]
    only_folders: bool
    keeps: bool
    """Whether it takes back what an earlier one said."""


class Ignored:
    """The patterns of the `.gitignore` files of a project."""

    def __init__(self, files: Iterable[tuple[str, str]] = ()) -> None:
        """`files` are the folder ("" for the root) and the text of each file, outer ones first."""
        self._patterns: list[_Pattern] = []
        for folder, text in files:
            self.add(folder, text)

    def add(self, folder: str, text: str) -> None:
        """Take in the file that stands in `folder`."""
        for line in text.split("\n"):
            pattern = _read(f"{folder}/" if folder else "", line)
            if pattern is not None and len(self._patterns) < _MOST_PATTERNS:
                self._patterns.append(pattern)

    def covers(self, path: str, *, is_folder: bool = False) -> bool:
        """Say whether `path`, or a folder that it lies in, is left out."""
        parts = path.split("/")
        return any(
            self.names("/".join(parts[:count]), is_folder=is_folder or count < len(parts))
            for count in range(1, len(parts) + 1)
        )

    def names(self, path: str, *, is_folder: bool) -> bool:
        """Say whether `path` itself is left out, whatever holds for the folders that it lies in."""
        for pattern in reversed(self._patterns):
            inside = path.startswith(pattern.under) and (is_folder or not pattern.only_folders)
            if inside and pattern.expression.fullmatch(path[len(pattern.under) :]):
                return not pattern.keeps
        return False


def _read(under: str, line: str) -> _Pattern | None:
    text = line.rstrip("\r")
    if not text.endswith("\\ "):
        text = text.rstrip(" ")
    if not text or text.startswith("#") or len(text) > _LONGEST or text.count("**") > _MOST_WILD:
        return None
    keeps = text.startswith("!")
    text = text[1:] if keeps else text
    only_folders = text.endswith("/")
    text = text.rstrip("/")
    anchored = "/" in text
    body = glob_expression(text.lstrip("/"))
    try:
        expression = re.compile(body if anchored else rf"(?:.*/)?{body}")
    except re.error:
        return None
    return _Pattern(under, expression, only_folders, keeps) if text else None


def glob_expression(pattern: str) -> str:
    """Return the expression for a glob as git understands it: `*` and `?` stay within a name, `**`
    goes over folders. What stands between two `*` of a name is looked for once, where it comes
    first, so that no pattern takes long.
    """
    pieces = list(_pieces(re.sub(r"\*{3,}", "**", pattern)))
    stars = [at for at, piece in enumerate(pieces) if piece == _ANY]
    found = pieces[: stars[0]] if stars else pieces
    for at, following in pairwise([*stars, len(pieces)]):
        behind = "".join(pieces[at + 1 : following])
        is_last = following == len(pieces) or _OVER in behind
        found.append(f"{_ANY}{behind}" if is_last else f"(?>{_ANY}?{behind})")
    return "".join(found)


def _pieces(pattern: str) -> Iterator[str]:
    """The parts of the expression for a glob, in their order."""
    at = 0
    while at < len(pattern):
        if pattern.startswith("**/", at) and (at == 0 or pattern[at - 1] == "/"):
            yield from ("(?:", _OVER, "/)?")
            at += 3
        elif pattern.startswith("**", at):
            yield _OVER
            at += 2
        elif pattern[at] == "[" and (closing := pattern.find("]", at + 2)) > 0:
            inside = pattern[at + 1 : closing].replace("\\", "\\\\").replace("[", "\\[")
            yield f"[{'^' + inside[1:] if inside[0] in '!^' else inside}]"
            at = closing + 1
        elif pattern[at] == "\\" and at + 1 < len(pattern):
            yield re.escape(pattern[at + 1])
            at += 2
        else:
            yield {"*": _ANY, "?": "[^/]"}.get(pattern[at], re.escape(pattern[at]))
            at += 1
