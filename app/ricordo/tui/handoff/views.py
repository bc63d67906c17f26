"""The draft and the facts of a handoff as lists with a cursor."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from ricordo.tui.color_palette import Palette
from ricordo.tui.handoff.fact_rows import AnyFact, FactRow, FactTable, draw_fact
from ricordo.tui.handoff.rows import DraftRow
from ricordo.tui.render.empty import render_paragraphs
from ricordo.tui.render.line import StyledLine
from ricordo.tui.widgets.line_view import CursorView
from ricordo.tui.widgets.row_list import RowList


class DraftView(CursorView):
    """Shows the rows that `draw` returns for its width; the cursor moves by statement."""

    def __init__(
        self,
        palette: Palette,
        moved: Callable[[], None],
        draw: Callable[[int], Sequence[DraftRow]],
        *,
        id: str,
    ) -> None:
        """Start empty; `show_rows` draws."""
        super().__init__(palette, moved, id=id)
        self._draw = draw
        self._rows: Sequence[DraftRow] = ()
        self._instead: Sequence[tuple[str, str]] = ()

    def show_rows(self, number: int, instead: Sequence[tuple[str, str]] = ()) -> None:
        """Draw again with the cursor on statement `number`; without statements show `instead`,
        texts with their styles.
        """
        self._instead = instead
        self._draw_rows(number)

    def _draw_rows(self, number: int) -> None:
        width = self.prose_width
        lines = render_paragraphs(self._instead, width)
        self._rows = self._draw(width) or [DraftRow(line) for line in lines]
        self.lines_changed()
        firsts = (n for n, row in enumerate(self._rows) if row.is_first and row.number == number)
        self.set_cursor(next(firsts, 0))

    def on_resize(self) -> None:
        self._draw_rows(self.statement_number)

    @property
    def statement_number(self) -> int:
        """Return the number of the statement under the cursor; -1 without one."""
        return self._rows[self.cursor].number if 0 <= self.cursor < len(self._rows) else -1

    def go_to(self, number: int) -> None:
        """Put the cursor on a statement."""
        rows = (n for n, row in enumerate(self._rows) if row.is_first and row.number == number)
        self.move_to(next(rows, self.cursor))

    def set_cursor(self, number: int) -> None:
        """Put the cursor on row `number`, and as much of its statement in sight as fits."""
        super().set_cursor(number)
        if self.cursor >= 0:
            last = self.cursor
            while (
                last + 1 < len(self._rows)
                and self._rows[last + 1].number == self.statement_number >= 0
            ):
                last += 1
            self.bring_into_sight(last, margin=0)
            self.bring_into_sight(self.cursor, margin=0)
        self.refresh()

    @property
    def line_count(self) -> int:
        return len(self._rows)

    def line_at(self, number: int) -> tuple[StyledLine, str]:
        row = self._rows[number]
        is_chosen = 0 <= row.number == self.statement_number
        return row.line, "cursor" if is_chosen else ""

    def can_stop(self, number: int) -> bool:
        return self._rows[number].is_first


class FactList(RowList):
    """Draws the facts in sight."""

    def __init__(self, palette: Palette, moved: Callable[[], None], *, id: str) -> None:
        """Start empty; `moved` is called when another fact is under the cursor."""
        super().__init__(palette, moved, self._draw_row, id=id, one_row=0, rests=self._is_fact)
        self._listed = FactTable()
        self._marked: Collection[str] = ()

    @property
    def by_id(self) -> Mapping[str, AnyFact]:
        """Return the facts by their ids."""
        return self._listed.by_id

    def show_facts(self, listed: FactTable) -> None:
        """Show other facts."""
        self._listed = listed
        self.show(len(listed.rows), max(self.at, 0))

    def mark_facts(self, ids: Collection[str]) -> None:
        """Mark exactly these facts, and bring the first of them into sight."""
        self._marked = ids
        numbers = self._listed.numbers
        marked = [numbers[fact_id] for fact_id in ids if fact_id in numbers]
        self.set_cursor(min(marked, default=max(self.at, 0)))
        self.refresh()

    @property
    def fact(self) -> AnyFact | None:
        """Return the fact under the cursor; None without one."""
        return self._row.fact if self._row else None

    @property
    def fact_id(self) -> str:
        """Return the id of the fact under the cursor; "" without one."""
        return self._row.id if self._row else ""

    @property
    def _row(self) -> FactRow | None:
        rows = self._listed.rows
        return rows[self.at] if 0 <= self.at < len(rows) else None

    def _is_fact(self, number: int) -> bool:
        return self._listed.rows[number].fact is not None

    def _draw_row(self, number: int, width: int, in_one: bool) -> tuple[StyledLine, ...]:
        row = self._listed.rows[number]
        return (draw_fact(row, width, is_marked=bool(row.id) and row.id in self._marked),)
