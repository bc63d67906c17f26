"""The freshness pane: what is wrong, worst first, and the finding under the cursor in full."""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest

from textual.strip import Strip
from textual.widget import Widget

from ricordo.lint.finding import Finding
from ricordo.services.workspace.notebook import Snapshot
from ricordo.tui.color_palette import Palette
from ricordo.tui.render.freshness_rows import (
    FindingScope,
    FreshnessRow,
    draw_freshness_row,
    finding_detail,
    freshness_rows,
    scopes,
)
from ricordo.tui.render.line import BLANK, StyledLine
from ricordo.tui.widgets.cursor_view import CursorView


class FreshnessList(CursorView):
    """Findings of the note or of the whole memory, or how many there are by rule."""

    lines_under_cursor = 2

    def __init__(self, palette: Palette, moved: Callable[[], None], *, id: str) -> None:
        """Empty until `show` gives it a look."""
        super().__init__(palette, moved, id=id)
        self._look: Snapshot | None = None
        self._path = ""
        self._rows: list[FreshnessRow] = []
        self._drawn_for = 0
        self.scope = FindingScope.NOTE
        self._rule = ""

    def show(self, look: Snapshot, path: str) -> None:
        """Show the findings of `look`; `path` is the note that is open."""
        if look is self._look and (path == self._path or self.scope is not FindingScope.NOTE):
            return
        kept = self.finding if path == self._path and self._is_used else None
        is_other = path != self._path
        self._look, self._path = look, path
        if self.scope not in scopes(look):
            self.scope = FindingScope.NOTE
        self._draw()
        if is_other:
            self.jump_to(0)
        self._rest_on_finding(kept)

    @property
    def _is_used(self) -> bool:
        """Whether the person is in the list, or went down in it: else the worst stays in sight."""
        return self.has_focus or self.cursor != self._nearest(0)

    def _rest_on_finding(self, kept: Finding | None) -> None:
        wanted = [n for n, row in enumerate(self._rows) if row.first and row.finding == kept]
        self.put_on(wanted[0] if kept and wanted else 0)

    def change_scope(self, step: int) -> None:
        """Show the next (1) or the previous (-1) kind of list."""
        if self._look is None:
            return
        all_scopes = scopes(self._look)
        self.scope = all_scopes[(all_scopes.index(self.scope) + step) % len(all_scopes)]
        self._show_from_the_top("")

    def narrow(self) -> bool:
        """Show only the findings of the rule under the cursor; say whether there was one."""
        rule = self.rule
        if rule:
            self._show_from_the_top(rule)
        return bool(rule)

    def widen(self) -> bool:
        """Leave the findings of one rule; say whether that was so."""
        if not self._rule:
            return False
        self._show_from_the_top("")
        return True

    def _show_from_the_top(self, rule: str) -> None:
        self._rule = rule
        self._draw()
        self.scroll_home(animate=False)
        self.put_on(0)
        self._moved()

    @property
    def rule(self) -> str:
        """The rule under the cursor, where rules are shown; else ""."""
        return self._rows[self.cursor].rule if 0 <= self.cursor < len(self._rows) else ""

    @property
    def finding(self) -> Finding | None:
        """The finding under the cursor."""
        return self._rows[self.cursor].finding if 0 <= self.cursor < len(self._rows) else None

    def _draw(self) -> None:
        before, width_before = self._rows, self._drawn_for
        self._drawn_for = self.content_width
        if self._look is not None:
            self._rows = freshness_rows(
                self._look, self._path, self.scope, self._rule, self._drawn_for
            )
        same = _same_beginning(before, self._rows) if self._drawn_for == width_before else 0
        self.lines_changed(first=same)

    def on_resize(self) -> None:
        """Draw for the new width."""
        if self.content_width != self._drawn_for:
            kept = self.finding
            self._draw()
            self._rest_on_finding(kept)

    @property
    def line_count(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    def line_at(self, number: int) -> tuple[StyledLine, str]:
        """Draw one row; the cursor covers all rows of its finding."""
        row = self._rows[number]
        under_cursor = number == self.cursor or (
            row.finding is not None and row.finding is self.finding
        )
        line = draw_freshness_row(row, self.content_width)
        if not under_cursor:
            return line, ""
        return line, "cursor"

    def can_rest(self, number: int) -> bool:
        """The cursor rests on the first row of a finding or a rule."""
        return self._rows[number].first


def _same_beginning(before: list[FreshnessRow], now: list[FreshnessRow]) -> int:
    """Return how many rows the two lists begin with alike."""
    pairs = enumerate(zip_longest(before, now))
    return next((number for number, (old, new) in pairs if old != new), len(now))


class FindingBox(Widget):
    """Message and evidence of one finding, as much as there is room for."""

    def __init__(self, palette: Palette, *, id: str) -> None:
        """Empty until `show` gives it a finding."""
        super().__init__(id=id)
        self._palette = palette
        self._finding: Finding | None = None
        self._lines: list[StyledLine] = []

    def show(self, finding: Finding | None) -> None:
        """Show another finding, or none."""
        if finding != self._finding:
            self._finding = finding
            self._draw()

    def repaint(self, palette: Palette) -> None:
        """Draw anew with the styles of `palette`."""
        self._palette = palette
        self.refresh()

    def on_resize(self) -> None:
        """Draw for the new width."""
        self._draw()

    def _draw(self) -> None:
        width, height = self.size.width, self.size.height
        self._lines = finding_detail(self._finding, width, height) if self._finding else []
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw one line."""
        line = self._lines[y] if y < len(self._lines) else BLANK
        return self._palette.strip(line, self.size.width)
