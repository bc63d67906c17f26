"""What the index pane shows of a memory: in which order, narrowed to what."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from ricordo.services.workspace.follower import FollowedSnapshot, Lost
from ricordo.storage.view_state import ViewState
from ricordo.text import clip
from ricordo.tui.render.index_rows import IndexRow, Order, RowKind, index_rows, narrowed, rows_after

if TYPE_CHECKING:
    from ricordo.memory.memory import Memory
    from ricordo.services.workspace.notebook import Snapshot

_LONGEST_TITLE = 60
"""Cells."""


@dataclass(frozen=True, slots=True)
class Listing:
    """An order and a filter of the notes."""

    order: Order = Order.INDEX
    type_filter: str = ""
    words: str = ""

    @classmethod
    def of_desk(cls, desk: ViewState) -> Listing:
        """Return the listing as it was left."""
        order = Order(desk.order) if desk.order in list(Order) else Order.INDEX
        return cls(order, desk.type_filter, desk.words)

    def to_desk(self, note: str, as_source: bool, widths: dict[str, int]) -> ViewState:
        """Return the desk on which this listing and the open note are kept."""
        return ViewState(note, self.order.value, self.type_filter, self.words, as_source, widths)

    @property
    def narrowed(self) -> str:
        """To what it is narrowed, visible text; "" where every note is listed."""
        words = f"/{self.words}" if self.words else ""
        return clip(" · ".join(filter(None, (self.type_filter, words))), _LONGEST_TITLE)

    @property
    def title(self) -> str:
        """The title of the pane, visible text."""
        title = "Index" if self.order is Order.INDEX else f"Index by {self.order.value}"
        return clip(" · ".join(filter(None, (title, self.narrowed))), _LONGEST_TITLE)

    def rows(self, look: Snapshot) -> tuple[IndexRow, ...]:
        """Return the rows of `look`; none where their order or choice depends on notes that are not
        read yet.
        """
        if not look.read and (self.order is not Order.INDEX or self.narrowed):
            return ()
        return _shown.rows(self, look)

    async def make_rows(self, seen: FollowedSnapshot | Lost) -> None:
        """Make the rows of what was seen beside the screen: those of many notes take longer than a
        key can wait.
        """
        if isinstance(seen, FollowedSnapshot):
            await asyncio.to_thread(self.rows, seen.look)

    def first_note(self, look: Snapshot, wanted: str) -> str:
        """Return the path of the note to begin with: `wanted` where it is there, else the first
        that is listed; "" where none is.
        """
        if wanted in look.memory.by_path:
            return wanted
        return next((row.path for row in self.rows(look) if row.kind is RowKind.NOTE), "")

    def in_next_order(self) -> Listing:
        """Return the same notes in the next order."""
        return replace(self, order=self.order.next)

    def of_next_type(self, memory: Memory) -> Listing:
        """Return the notes of the next type; of all types after the last."""
        types = ["", *memory.types]
        at = types.index(self.type_filter) if self.type_filter in types else 0
        return replace(self, type_filter=types[(at + 1) % len(types)])

    def with_words(self, words: str) -> Listing:
        """Return the notes that fit `words`."""
        return replace(self, words=words)

    def of_everything(self) -> Listing:
        """Return all notes."""
        return replace(self, type_filter="", words="")


async def until_narrowable(look: Snapshot | None) -> None:
    """Wait until narrowing `look` to words takes no longer than a key can wait."""
    if look is not None and look.memory is not _shown.narrowable:
        # loaded when somebody filters: the first paint need not wait for it
        from ricordo.services.search.conditions import prepare

        await asyncio.to_thread(prepare, look.memory)
        _shown.narrowable = look.memory


class _Made(NamedTuple):
    """Rows, and what they were made of."""

    listing: Listing
    look: Snapshot
    every: tuple[IndexRow, ...]
    """The rows of all notes."""
    rows: tuple[IndexRow, ...]
    """Of these, the rows that the listing shows."""


class _ListedRows:
    """The rows that were made last: going back or along a link shows the same again, and a look
    after a change or another word to narrow by nearly the same. Among 10,000 notes making them
    would be felt.
    """

    def __init__(self) -> None:
        self._last: _Made | None = None
        self.narrowable: Memory | None = None
        """The memory of which no key that narrows it has to wait."""

    def rows(self, listing: Listing, look: Snapshot) -> tuple[IndexRow, ...]:
        # one value, read and set at once: rows are made in threads too
        last = self._last
        if last is not None and last.listing == listing and last.look is look:
            return last.rows
        every = self._every(last, listing.order, look)
        rows = narrowed(every, look.memory, listing.type_filter, listing.words)
        self._last = _Made(listing, look, every, rows)
        return rows

    def _every(self, last: _Made | None, order: Order, look: Snapshot) -> tuple[IndexRow, ...]:
        if last is None or last.listing.order is not order:
            return index_rows(look, order)
        if last.look is look:
            return last.every
        after = rows_after(last.look, last.every, look) if order is Order.INDEX else None
        return index_rows(look, order) if after is None else after


_shown = _ListedRows()
