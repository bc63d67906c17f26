"""The writes of Ricordo that no snapshot has shown yet."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ricordo.memory.change import ChangeSet

_PATIENCE = 3.0
"""Seconds to wait until the screen shows what was written: with 100,000 notes it takes longer."""


class ExpectedWrites:
    """The files of one memory that Ricordo wrote and that no snapshot has shown yet."""

    def __init__(self) -> None:
        self._snapshot: int | None = None
        """The number of the snapshot that will show them; None while they are being written."""
        self._shown = asyncio.Event()
        self.paths: frozenset[str] = frozenset()
        """Paths that Ricordo wrote."""
        self.moved: Mapping[str, str] = {}
        """New paths of notes that Ricordo renames, by old path."""

    def expect(self, root: str, change_set: ChangeSet) -> None:
        """Record what `change_set` will change in the memory at `root`."""
        edits = [edit for edit in change_set.edits if edit.root == root]
        self.record_written(edit.path for edit in edits)
        renamed = (edit for edit in edits if edit.moved_from and not edit.moved_from_root)
        self.moved = {**self.moved, **{edit.moved_from: edit.path for edit in renamed}}

    def record_written(self, paths: Iterable[str]) -> None:
        """Record that Ricordo changes `paths`."""
        self._snapshot = None
        self.paths |= frozenset(paths)

    def forget(self) -> None:
        """Expect nothing."""
        self.paths, self.moved = frozenset(), {}

    def record_shown(self, number: int) -> None:
        """Record that the snapshot requested as `number` is on the screen."""
        if self._snapshot is not None and number >= self._snapshot:
            self.forget()
            self._shown.set()

    async def wait_until_shown(self, number: int) -> None:
        """Wait until the snapshot requested as `number` is on the screen, for a few seconds at
        most.
        """
        self._snapshot = number
        self._shown.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._shown.wait(), _PATIENCE)
