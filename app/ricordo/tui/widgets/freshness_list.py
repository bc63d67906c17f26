"""The freshness pane: findings, worst first, and the finding under the cursor in full."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest

from textual.strip import Strip
from textual.widget import Widget

from ricordo.lint.finding import Finding
from ricordo.services.workspace.notebook import Snapshot
from ricordo.tui.color_palette import Palette
from ricordo.tui.render.freshness_rows import (
    FindingScope,
    FreshnessRow,
    build_freshness_rows,
    draw_freshness_row,
    list_scopes,
    render_finding,
)
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan
from ricordo.tui.widgets.line_view import CursorView


class FreshnessList(CursorView):
    """Lists the findings of a note or of the memory, or their number by rule."""

    lines_under_cursor = 2

    def __init__(self, palette: Palette, moved: Callable[[], None], *, id: str) -> None:
        super().__init__(palette, moved, id=id)
        self._snapshot: Snapshot | None = None
        self._path = ""
        self._rows: list[FreshnessRow] = []
        self._drawn_for = 0
        self.scope = FindingScope.NOTE
        self._rule = ""

    def show(self, snapshot: Snapshot, path: str) -> None:
        """Show the findings of a snapshot; `path` is the open note."""
        if snapshot is self._snapshot and (
            path == self._path or self.scope is not FindingScope.NOTE
        ):
            return
        finding = self.finding if path == self._path and self._is_used else None
        is_other = path != self._path
        self._snapshot, self._path = snapshot, path
        if self.scope not in list_scopes(snapshot):
            self.scope = FindingScope.NOTE
        self._draw()
        if is_other:
            self.jump_to(0)
        self._rest_on_finding(finding)

    @property
    def _is_used(self) -> bool:
        """Return whether the user is or was in the list; else the worst finding stays in sight."""
        return self.has_focus or self.cursor != self._nearest(0)

    def _rest_on_finding(self, finding: Finding | None) -> None:
        numbers = [n for n, row in enumerate(self._rows) if row.is_first and row.finding == finding]
        self.set_cursor(numbers[0] if finding and numbers else 0)

    def change_scope(self, step: int) -> None:
        """Show the next (1) or the previous (-1) kind of list."""
        if self._snapshot is None:
            return
        all_scopes = list_scopes(self._snapshot)
        self.scope = all_scopes[(all_scopes.index(self.scope) + step) % len(all_scopes)]
        self._show_from_the_top("")

    def narrow(self) -> bool:
        """Show only the findings of the rule under the cursor, or those that the finding under it
        is shown instead of; return whether there are any.
        """
        finding = self.finding
        rule = finding.rule if finding is not None and finding.members else self.rule
        if rule:
            self._show_from_the_top(rule)
        return bool(rule)

    def widen(self) -> bool:
        """Show the findings of all rules again; return whether only one was shown."""
        if not self._rule:
            return False
        self._show_from_the_top("")
        return True

    def _show_from_the_top(self, rule: str) -> None:
        self._rule = rule
        self._draw()
        self.scroll_home(animate=False)
        self.set_cursor(0)
        self._moved()

    @property
    def rule(self) -> str:
        """Return the rule under the cursor if rules are shown, else ""."""
        return self._rows[self.cursor].rule if 0 <= self.cursor < len(self._rows) else ""

    @property
    def finding(self) -> Finding | None:
        """Return the finding under the cursor; None without one."""
        return self._rows[self.cursor].finding if 0 <= self.cursor < len(self._rows) else None

    def _draw(self) -> None:
        before, width_before = self._rows, self._drawn_for
        self._drawn_for = self.content_width
        if self._snapshot is not None:
            self._rows = build_freshness_rows(
                self._snapshot, self._path, self.scope, self._rule, self._drawn_for
            )
        same = _count_same(before, self._rows) if self._drawn_for == width_before else 0
        self.lines_changed(first=same)

    def on_resize(self) -> None:
        if self.content_width != self._drawn_for:
            finding = self.finding
            self._draw()
            self._rest_on_finding(finding)
        elif self.cursor != self._nearest(0):
            self.bring_into_sight(self.cursor, margin=self.lines_under_cursor)

    @property
    def line_count(self) -> int:
        return len(self._rows)

    def line_at(self, number: int) -> tuple[StyledLine, str]:
        row = self._rows[number]
        under_cursor = number == self.cursor or (
            row.finding is not None and row.finding is self.finding
        )
        return draw_freshness_row(row, self.content_width), "cursor" if under_cursor else ""

    def can_stop(self, number: int) -> bool:
        return self._rows[number].is_first


def _count_same(before: list[FreshnessRow], now: list[FreshnessRow]) -> int:
    """Return the number of equal rows at the beginning of two lists."""
    pairs = enumerate(zip_longest(before, now))
    return next((number for number, (old, new) in pairs if old != new), len(now))


class FindingBox(Widget):
    """Shows message and evidence of one finding, as much as fits."""

    def __init__(self, palette: Palette, *, id: str) -> None:
        super().__init__(id=id)
        self._palette = palette
        self._finding: Finding | None = None
        self._keys: Sequence[StyledSpan] = ()
        self._lines: list[StyledLine] = []

    def show(self, finding: Finding | None, keys: Sequence[StyledSpan] = ()) -> None:
        """Show another finding with the `keys` that settle it, or none."""
        if (finding, keys) != (self._finding, self._keys):
            self._finding, self._keys = finding, keys
            self.display = finding is not None
            self._draw()

    def repaint(self, palette: Palette) -> None:
        self._palette = palette
        self.refresh()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        width, height = self.size.width, self.size.height
        keys = self._keys
        self._lines = render_finding(self._finding, width, height, keys) if self._finding else []
        self.refresh()

    def render_line(self, y: int) -> Strip:
        line = self._lines[y] if y < len(self._lines) else BLANK
        return self._palette.make_strip(line, self.size.width)
