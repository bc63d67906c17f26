"""What we wrote ourselves and the screen has not shown yet: it is no news from somebody else."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ricordo.memory.change_set import ChangeSet

_PATIENCE = 3.0
"""Seconds after which it is told that something was written, although the screen does not show it
yet: to judge a hundred thousand notes takes longer.
"""


class Expected:
    """The files of one memory that will look as we wrote them."""

    def __init__(self) -> None:
        """Nothing is expected."""
        self._look: int | None = None
        """The number of the look that will show it; None while it is being written."""
        self._shown = asyncio.Event()
        self.own: frozenset[str] = frozenset()
        """Paths of what we wrote."""
        self.moved: Mapping[str, str] = {}
        """Where notes go that we rename, by their old path."""

    def expect(self, root: str, change_set: ChangeSet) -> None:
        """Know what `change_set` will change in the memory at `root`, before anybody sees it."""
        edits = [edit for edit in change_set.edits if edit.root == root]
        self.wrote(edit.path for edit in edits)
        renamed = (edit for edit in edits if edit.moved_from and not edit.moved_from_root)
        self.moved = {**self.moved, **{edit.moved_from: edit.path for edit in renamed}}

    def wrote(self, paths: Iterable[str]) -> None:
        """Know that `paths` are changed by us."""
        self._look = None
        self.own |= frozenset(paths)

    def forget(self) -> None:
        """Expect nothing: it was not written."""
        self.own, self.moved = frozenset(), {}

    def looked(self, number: int) -> None:
        """Know that the look asked for as `number` is on the screen, with all that was written
        before.
        """
        if self._look is not None and number >= self._look:
            self.forget()
            self._shown.set()

    async def shown(self, number: int) -> None:
        """Wait until the look asked for as `number` is on the screen, as long as a person likes to
        wait.
        """
        self._look = number
        self._shown.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._shown.wait(), _PATIENCE)
