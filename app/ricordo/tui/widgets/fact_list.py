"""What was gathered for a handoff, a row each; those are marked on which a statement stands."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from ricordo.handoff.facts import Facts
from ricordo.tui.palette import Palette
from ricordo.tui.render.fact_rows import FactRow, Known, by_id, draw_fact, fact_rows
from ricordo.tui.render.line import Line
from ricordo.tui.widgets.row_list import RowList


class FactList(RowList):
    """Draws the facts in sight."""

    def __init__(self, palette: Palette, moved: Callable[[], None], *, id: str) -> None:
        """Empty until it is given facts; `moved` is called when another one is under the cursor."""
        super().__init__(palette, moved, self._drawn, id=id, one_row=0, rests=self._is_fact)
        self._facts: Sequence[FactRow] = ()
        self._marked: Collection[str] = ()
        self.by_id: Mapping[str, Known] = {}
        """The facts, by what names them."""

    def show_facts(self, facts: Facts) -> None:
        """Show other facts."""
        self.by_id, self._facts = by_id(facts), fact_rows(facts)
        self.show(len(self._facts), max(self.at, 0))

    def mark(self, ids: Collection[str]) -> None:
        """Mark these facts and no others, the first of them in sight."""
        self._marked = ids
        found = (number for number, row in enumerate(self._facts) if row.id and row.id in ids)
        self.put_on(next(found, max(self.at, 0)))
        self.refresh()

    @property
    def fact(self) -> Known | None:
        """The fact under the cursor."""
        return self._facts[self.at].fact if 0 <= self.at < len(self._facts) else None

    @property
    def fact_id(self) -> str:
        """What names it; "" where none is."""
        return self._facts[self.at].id if 0 <= self.at < len(self._facts) else ""

    def _is_fact(self, number: int) -> bool:
        return self._facts[number].fact is not None

    def _drawn(self, number: int, width: int, in_one: bool) -> tuple[Line, ...]:
        row = self._facts[number]
        return (draw_fact(row, width, is_marked=bool(row.id) and row.id in self._marked),)
