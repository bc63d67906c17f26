"""What a project says is not part of it: its `.gitignore` files (format: gitignore(5))."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_MOST_PATTERNS = 5_000
_LONGEST = 500
"""Characters of a pattern; what is longer was not written by a person."""


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
            self._names("/".join(parts[:count]), is_folder or count < len(parts))
            for count in range(1, len(parts) + 1)
        )

    def _names(self, path: str, is_folder: bool) -> bool:
        for pattern in reversed(self._patterns):
            inside = path.startswith(pattern.under) and (is_folder or not pattern.only_folders)
            if inside and pattern.expression.fullmatch(path[len(pattern.under) :]):
                return not pattern.keeps
        return False


def _read(under: str, line: str) -> _Pattern | None:
    text = line.rstrip("\r")
    if not text.endswith("\\ "):
        text = text.rstrip(" ")
    if not text or text.startswith("#") or len(text) > _LONGEST:
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
    goes over folders.
    """
    pattern = re.sub(r"\*{3,}", "**", pattern)
    found: list[str] = []
    at = 0
    while at < len(pattern):
        if pattern.startswith("**/", at) and (at == 0 or pattern[at - 1] == "/"):
            found.append("(?:.*/)?")
            at += 3
        elif pattern.startswith("**", at):
            found.append(".*")
            at += 2
        elif pattern[at] == "[" and (closing := pattern.find("]", at + 2)) > 0:
            inside = pattern[at + 1 : closing].replace("\\", "\\\\").replace("[", "\\[")
            found.append(f"[{'^' + inside[1:] if inside[0] in '!^' else inside}]")
            at = closing + 1
        else:
            if pattern[at] == "\\" and at + 1 < len(pattern):
                at += 1
                found.append(re.escape(pattern[at]))
            else:
                found.append({"*": "[^/]*", "?": "[^/]"}.get(pattern[at], re.escape(pattern[at])))
            at += 1
    return "".join(found)
