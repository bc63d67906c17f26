"""What was gathered for a handoff, a row each; those are marked on which a statement stands."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from ricordo.tui.palette import Palette
from ricordo.tui.render.fact_rows import FactRow, Known, Listed, draw_fact
from ricordo.tui.render.line import Line
from ricordo.tui.widgets.row_list import RowList


class FactList(RowList):
    """Draws the facts in sight."""

    def __init__(self, palette: Palette, moved: Callable[[], None], *, id: str) -> None:
        """Empty until it is given facts; `moved` is called when another one is under the cursor."""
        super().__init__(palette, moved, self._drawn, id=id, one_row=0, rests=self._is_fact)
        self._listed = Listed()
        self._marked: Collection[str] = ()

    @property
    def by_id(self) -> Mapping[str, Known]:
        """The facts, by what names them."""
        return self._listed.by_id

    def show_facts(self, listed: Listed) -> None:
        """Show other facts."""
        self._listed = listed
        self.show(len(listed.rows), max(self.at, 0))

    def mark(self, ids: Collection[str]) -> None:
        """Mark these facts and no others, the first of them in sight."""
        self._marked = ids
        numbers = self._listed.numbers
        found = [numbers[it] for it in ids if it in numbers]
        self.put_on(min(found, default=max(self.at, 0)))
        self.refresh()

    @property
    def fact(self) -> Known | None:
        """The fact under the cursor."""
        return self._row.fact if self._row else None

    @property
    def fact_id(self) -> str:
        """What names it; "" where none is."""
        return self._row.id if self._row else ""

    @property
    def _row(self) -> FactRow | None:
        rows = self._listed.rows
        return rows[self.at] if 0 <= self.at < len(rows) else None

    def _is_fact(self, number: int) -> bool:
        return self._listed.rows[number].fact is not None

    def _drawn(self, number: int, width: int, in_one: bool) -> tuple[Line, ...]:
        row = self._listed.rows[number]
        return (draw_fact(row, width, is_marked=bool(row.id) and row.id in self._marked),)
