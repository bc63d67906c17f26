"""Entries of the index that change places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.errors import ChangeRefused
from ricordo.memory.change import Rewrite
from ricordo.memory.entry_move import Moved, lift_entry, step_entry
from ricordo.memory.names import Leads
from ricordo.tui.render.index_rows import Row, RowKind

if TYPE_CHECKING:
    from ricordo.memory.index import Entry, Index
    from ricordo.notebook.open import Look
    from ricordo.tui.changing.writing import Writing
    from ricordo.tui.reading import Reading
    from ricordo.tui.widgets.index_list import IndexList


class Entries:
    """Moves the entry under the cursor, which stays on it."""

    def __init__(self, writing: Writing, reading: Reading, index: IndexList) -> None:
        """`reading` knows the last look, `index` the cursor."""
        self._writing = writing
        self._reading = reading
        self._index = index
        self.line = 0
        """The line to which the entry is being moved; 0 while none is."""

    async def step(self, step: int) -> None:
        """One place down (1) or up (-1). Raises ChangeRefused."""
        look, index, entry = self._under_cursor()
        await self._write(look, index, step_entry(index, entry, step))

    async def lift(self) -> None:
        """Above the cut. Raises ChangeRefused."""
        look, index, entry = self._under_cursor()
        if index is not look.memory.index:
            raise ChangeRefused("This index is not what agents are given, so nothing cuts it.")
        if await self._write(look, index, lift_entry(look.memory, entry)):
            self._writing.tell("Agents are given this entry now. u takes it back.")

    async def _write(self, look: Look, index: Index, moved: Moved) -> bool:
        text, self.line = moved
        try:
            change_set = await self._writing.put_together(
                look.memory, [Rewrite(index.path, text)], "entry moved by hand"
            )
            approved = await self._writing.warned("Move the entry", change_set)
            if approved is None:
                return False
            return await self._writing.write_or_show(approved) is not None
        finally:
            self.line = 0

    def _under_cursor(self) -> tuple[Look, Index, Entry]:
        # asked when its turn has come: the keys before may have moved it
        look, row = self._reading.look, self._index.row
        if look is not None and row is not None:
            for index in look.memory.indexes:
                for entry in index.entries:
                    if entry.line == row.line and _is_shown_by(look, index, entry, row):
                        return look, index, entry
        raise ChangeRefused("No entry of the index is under the cursor.")


def _is_shown_by(look: Look, index: Index, entry: Entry, row: Row) -> bool:
    target = look.memory.target(index, entry)
    if target.leads is Leads.NOTE:
        return row.kind is RowKind.NOTE and target.path == row.path
    return row.kind is RowKind.MISSING and index.path == row.path
