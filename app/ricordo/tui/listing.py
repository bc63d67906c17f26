"""What the index pane shows of a memory: in which order, narrowed to what."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ricordo.disk.desk import Desk
from ricordo.text import clip
from ricordo.tui.render.index_rows import Order, Row, RowKind, index_rows, rows_after

if TYPE_CHECKING:
    from ricordo.memory.memory import Memory
    from ricordo.notebook.open import Look

_LONGEST_TITLE = 60
"""Cells."""


@dataclass(frozen=True, slots=True)
class Listing:
    """An order and a filter of the notes."""

    order: Order = Order.INDEX
    type_filter: str = ""
    words: str = ""

    @classmethod
    def of_desk(cls, desk: Desk) -> Listing:
        """Return the listing as it was left."""
        order = Order(desk.order) if desk.order in list(Order) else Order.INDEX
        return cls(order, desk.type_filter, desk.words)

    def to_desk(self, note: str, as_source: bool, widths: dict[str, int]) -> Desk:
        """Return the desk on which this listing and the open note are kept."""
        return Desk(note, self.order.value, self.type_filter, self.words, as_source, widths)

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

    def rows(self, look: Look) -> tuple[Row, ...]:
        """Return the rows of `look`; none where their order or choice depends on notes that are not
        read yet.
        """
        if not look.read and (self.order is not Order.INDEX or self.narrowed):
            return ()
        return _shown.rows(self, look)

    def first_note(self, look: Look, wanted: str) -> str:
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


class _Shown:
    """The rows that were asked for last: going back or along a link shows the same again, and a
    look after a change nearly the same; among 10,000 notes making them would be felt.
    """

    def __init__(self) -> None:
        self._last: tuple[Listing, Look, tuple[Row, ...]] | None = None

    def rows(self, listing: Listing, look: Look) -> tuple[Row, ...]:
        rows = None
        if self._last is not None and self._last[0] == listing:
            _, before, rows = self._last
            if before is not look:
                in_order = listing.order is Order.INDEX and not listing.narrowed
                rows = rows_after(before, rows, look) if in_order else None
        if rows is None:
            rows = index_rows(look, listing.order, listing.type_filter, listing.words)
        self._last = listing, look, rows
        return rows


_shown = _Shown()
