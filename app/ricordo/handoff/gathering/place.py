"""How a session calls the files of a project, and where they stand in it now."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

_MOST_ASKED = 200
"""Files that are looked for to find out where the project was."""
_HIGHEST = 4
"""Folders above the one in which a session began that may have been the project."""


class Place:
    """The project, as one session knew it."""

    def __init__(self, project: str, cwd: str, named: Collection[str]) -> None:
        """`project` is where it lies now, `cwd` where the session worked, `named` the files that it
        used. Only names are looked at.
        """
        self.project = project
        self._roots = list(dict.fromkeys((project, os.path.realpath(project))))
        if cwd and not any(_inside(cwd, root) is not None for root in self._roots):
            self._roots += _elsewhere(self._roots[-1], cwd, named)

    def path(self, named: str) -> str:
        """Return the path in the project, with `/`, of the file that the session calls `named`;
        `named` itself for one outside it.
        """
        for root in self._roots:
            inner = _inside(named, root)
            if inner:
                return inner
        return named

    def has(self, path: str) -> bool:
        """Say whether a path, as `path` returns it, is one of the project."""
        return not path.startswith(("/", "~"))


def _inside(path: str, folder: str) -> str | None:
    """The path beneath `folder`; "" for itself, None for one that does not lie in it."""
    if path == folder:
        return ""
    above = folder.rstrip("/") + "/"
    return path[len(above) :] if path.startswith(above) else None


def _elsewhere(project: str, cwd: str, named: Iterable[str]) -> list[str]:
    """Where the project lay when the session worked in a directory that is another one here, or is
    not here: the folder at or above it beneath which most of its files have the names that they
    have in the project now. None where the directory is here: it is another project.
    """
    if os.path.isdir(cwd):
        return []
    folders = [cwd]
    while len(folders) <= _HIGHEST and os.path.dirname(folders[-1]).count("/") > 1:
        folders.append(os.path.dirname(folders[-1]))
    asked = [path for path in named if path.startswith("/")][:_MOST_ASKED]

    def found(folder: str) -> int:
        inner = filter(None, (_inside(path, folder) for path in asked))
        return sum(os.path.lexists(os.path.join(project, path)) for path in inner)

    # of those with as many the lowest one, which is where it began
    return [max(folders, key=found)]
