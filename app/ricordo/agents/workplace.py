"""A workplace: the directory in which an agent works, and the repository around it."""

from __future__ import annotations

import os
from typing import NamedTuple

from ricordo import git


class Workplace(NamedTuple):
    """A directory as agents see it; all three are the same outside a repository."""

    directory: str
    """With symbolic links resolved."""
    top: str
    """The root of the worktree that holds it."""
    root: str
    """What stands for the repository in all its worktrees: the project."""

    @property
    def all(self) -> tuple[str, ...]:
        """The three, from the narrowest to the widest, each once."""
        return tuple(dict.fromkeys(self))


def workplace(directory: str) -> Workplace:
    """Return the workplace at `directory`, which need not exist."""
    real = os.path.realpath(directory)
    top = git.top_level(real)
    if top is None:
        return Workplace(real, real, real)
    return Workplace(real, top, git.main_root(top) or top)
