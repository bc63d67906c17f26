"""What the index pane lists: order, filter and rows."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from ricordo.services.workspace.follower import FollowedSnapshot, MemoryLost
from ricordo.storage.view_state import ViewState
from ricordo.text import clip
from ricordo.tui.render.index_rows import (
    IndexOrder,
    IndexRow,
    RowKind,
    build_index_rows,
    filter_rows,
    update_rows,
)

if TYPE_CHECKING:
    from ricordo.memory.memory import Memory
    from ricordo.services.workspace.notebook import Snapshot

_LONGEST_TITLE = 60
"""Cells."""


@dataclass(frozen=True, slots=True)
class Listing:
    """An order and a filter of the notes."""

    order: IndexOrder = IndexOrder.INDEX
    type_filter: str = ""
    words: str = ""

    @classmethod
    def from_view_state(cls, view_state: ViewState) -> Listing:
        """Return the listing that was saved."""
        known = view_state.order in list(IndexOrder)
        order = IndexOrder(view_state.order) if known else IndexOrder.INDEX
        return cls(order, view_state.type_filter, view_state.words)

    def to_view_state(self, note: str, as_source: bool, widths: dict[str, int]) -> ViewState:
        """Return the view state to save: this listing and the open note."""
        return ViewState(note, self.order.value, self.type_filter, self.words, as_source, widths)

    @property
    def filter_label(self) -> str:
        """The filter, visible text; "" where every note is listed."""
        words = f"/{self.words}" if self.words else ""
        return clip(" · ".join(filter(None, (self.type_filter, words))), _LONGEST_TITLE)

    @property
    def title(self) -> str:
        """The title of the pane, visible text."""
        title = "Index" if self.order is IndexOrder.INDEX else f"Index by {self.order.value}"
        return clip(" · ".join(filter(None, (title, self.filter_label))), _LONGEST_TITLE)

    def make_rows(self, snapshot: Snapshot) -> tuple[IndexRow, ...]:
        """Return the rows of `snapshot`; none where order or filter need notes that are not read
        yet.
        """
        if not snapshot.is_read and (self.order is not IndexOrder.INDEX or self.filter_label):
            return ()
        return _shown.rows(self, snapshot)

    async def prepare_rows(self, seen: FollowedSnapshot | MemoryLost) -> None:
        """Make the rows of `seen` in a thread: of many notes that takes longer than a key may
        wait.
        """
        if isinstance(seen, FollowedSnapshot):
            await asyncio.to_thread(self.make_rows, seen.snapshot)

    def find_first_note(self, snapshot: Snapshot, wanted: str) -> str:
        """Return the path of the note to open first: `wanted` where it exists, else the first in
        the list; "" where the list is empty.
        """
        if wanted in snapshot.memory.by_path:
            return wanted
        return next((row.path for row in self.make_rows(snapshot) if row.kind is RowKind.NOTE), "")

    def with_next_order(self) -> Listing:
        """Return this listing in the next order."""
        return replace(self, order=self.order.next)

    def with_next_type(self, memory: Memory) -> Listing:
        """Return this listing for the next type; after the last, for all types."""
        types = ["", *memory.types]
        at = types.index(self.type_filter) if self.type_filter in types else 0
        return replace(self, type_filter=types[(at + 1) % len(types)])

    def with_words(self, words: str) -> Listing:
        """Return this listing for notes that match `words`."""
        return replace(self, words=words)

    def without_filter(self) -> Listing:
        """Return this listing without a filter."""
        return replace(self, type_filter="", words="")


async def prepare_filter(snapshot: Snapshot | None) -> None:
    """Prepare `snapshot` for filters by words, so that no key has to wait."""
    if snapshot is not None and snapshot.memory is not _shown.narrowable:
        # imported late: the first paint need not wait for it
        from ricordo.services.search.conditions import prepare_matching

        await asyncio.to_thread(prepare_matching, snapshot.memory)
        _shown.narrowable = snapshot.memory


class _RowsMade(NamedTuple):
    """Rows, with what they were made from."""

    listing: Listing
    snapshot: Snapshot
    every: tuple[IndexRow, ...]
    """The rows of all notes."""
    rows: tuple[IndexRow, ...]
    """The rows that the listing shows."""


class _ListedRows:
    """The rows that were made last. Following a link shows the same rows again, and a change or
    another word nearly the same; making them takes noticeably long with 10,000 notes.
    """

    def __init__(self) -> None:
        self._last: _RowsMade | None = None
        self.narrowable: Memory | None = None
        """The memory that is prepared for filters by words."""

    def rows(self, listing: Listing, snapshot: Snapshot) -> tuple[IndexRow, ...]:
        # one value, read and set in one step: rows are made in threads too
        last = self._last
        if last is not None and last.listing == listing and last.snapshot is snapshot:
            return last.rows
        every = self._every(last, listing.order, snapshot)
        rows = filter_rows(every, snapshot.memory, listing.type_filter, listing.words)
        self._last = _RowsMade(listing, snapshot, every, rows)
        return rows

    def _every(
        self, last: _RowsMade | None, order: IndexOrder, snapshot: Snapshot
    ) -> tuple[IndexRow, ...]:
        if last is None or last.listing.order is not order:
            return build_index_rows(snapshot, order)
        if last.snapshot is snapshot:
            return last.every
        after = (
            update_rows(last.snapshot, last.every, snapshot) if order is IndexOrder.INDEX else None
        )
        return build_index_rows(snapshot, order) if after is None else after


_shown = _ListedRows()
