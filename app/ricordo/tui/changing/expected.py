"""What we wrote ourselves and the screen has not shown yet: it is no news from somebody else."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ricordo.memory.change_set import ChangeSet
    from ricordo.notebook.open import Look

_PATIENCE = 3.0
"""Seconds after which nobody waits any longer for the screen to show what was written."""


class Expected:
    """The files of one memory that will look as we wrote them."""

    def __init__(self) -> None:
        """Nothing is expected."""
        self._contents: Mapping[str, bytes | None] = {}
        self._shown = asyncio.Event()
        self.own: frozenset[str] = frozenset()
        """Paths of what we wrote."""
        self.moved: Mapping[str, str] = {}
        """Where notes go that we rename, by their old path."""

    def expect(self, root: str, change_set: ChangeSet) -> None:
        """Know what `change_set` will bring to the memory at `root`, before anybody sees it."""
        edits = [edit for edit in change_set.edits if edit.root == root]
        self._contents = {edit.path: edit.after for edit in edits}
        self.own = frozenset(self._contents)
        self.moved = {
            edit.moved_from: edit.path
            for edit in edits
            if edit.moved_from and not edit.moved_from_root
        }

    def wrote(self, paths: Iterable[str]) -> None:
        """Know that `paths` were changed by us, in a way that nobody knew beforehand."""
        self.forget()
        self.own = frozenset(paths)

    def forget(self) -> None:
        """Expect nothing: it was not written."""
        self._contents, self.own, self.moved = {}, frozenset(), {}

    def looked(self, look: Look) -> None:
        """Take note of a look that is on the screen."""
        by_path = look.memory.by_path
        for path, content in self._contents.items():
            file = by_path.get(path)
            if (file.raw if file else None) != content:
                return
        self.forget()
        self._shown.set()

    async def shown(self) -> None:
        """Wait until a look has shown what was written; not for ever, as somebody may write over
        it.
        """
        self._shown.clear()
        try:
            await asyncio.wait_for(self._shown.wait(), _PATIENCE)
        except TimeoutError:
            self.forget()
