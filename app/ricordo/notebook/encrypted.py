"""Which files of a memory git encrypts, or does not take for text."""

from __future__ import annotations

import os
from collections.abc import Container
from functools import cached_property

from ricordo import git
from ricordo.memory.memory import Memory

_AT_ONCE = 1_000
"""Paths in one question: a command line has no room for any number of them."""
_SILENT = frozenset((b"unspecified", b"unset", b""))


class EncryptedFiles(Container[str]):
    """The paths of the files of `memory` that git leads through a filter, as programs that encrypt
    do, or takes for binary, by its attributes. Their text must not get to other files.

    Git is asked when the first path is looked up; all files count where it does not answer.
    """

    def __init__(self, memory: Memory) -> None:
        self._root = memory.root
        self._files = tuple(file.path for file in memory.files)

    def is_of(self, memory: Memory) -> bool:
        """Say whether `memory` has the same files, whatever stands in them."""
        files = tuple(file.path for file in memory.files)
        return self._root == memory.root and self._files == files

    def __contains__(self, path: object) -> bool:
        """Say whether the file at `path`, relative to the memory, is one of them."""
        return self._paths is None or path in self._paths

    @cached_property
    def _paths(self) -> frozenset[str] | None:
        if git.top_level(self._root) is None:
            return frozenset()
        found: set[str] = set()
        for start in range(0, len(self._files), _AT_ONCE):
            some = self._files[start : start + _AT_ONCE]
            answer = git.ask(self._root, "check-attr", "-z", "filter", "binary", "--", *some)
            if answer is None:
                return None
            fields = answer.split(b"\0")
            told = zip(fields[::3], fields[2::3], strict=False)
            found.update(os.fsdecode(path) for path, value in told if value not in _SILENT)
        return frozenset(found)
