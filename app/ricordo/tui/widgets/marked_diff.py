"""A diff of which hunks are marked."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ricordo.memory.change_set import Edit
from ricordo.tui.widgets.diff_view import DiffView


class MarkedDiff(DiffView):
    """A diff that can be shown with hunks that were marked before."""

    def show_marked(self, edits: Sequence[Edit], hunks: Collection[int]) -> None:
        """Show `edits` from the top, with `hunks` of the first one marked."""
        self.show(edits, {(0, hunk) for hunk in hunks})

    @property
    def marked(self) -> frozenset[int]:
        """The hunks of the first edit that are marked."""
        return frozenset(hunk for edit, hunk in self.left_out if edit == 0)

    @property
    def is_read(self) -> bool:
        """Whether the end is on the screen."""
        is_there = self.is_drawn and self.size.height > 0 and self.line_count > 0
        return is_there and self.seen_to_the_end
