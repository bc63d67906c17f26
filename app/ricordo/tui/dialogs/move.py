"""Move or rename notes: another path or name, or another memory of this machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import BindingType

from ricordo.agents.agent import MemoryPlace
from ricordo.tui.actions.bindings import dialog_bindings
from ricordo.tui.actions.dialogs import Dialog
from ricordo.tui.dialogs.form import Field, FieldForm
from ricordo.tui.dialogs.memories import PlaceList
from ricordo.tui.render.line import StyledSpan
from ricordo.tui.widgets.bar import Bar

if TYPE_CHECKING:
    from ricordo.tui.color_palette import Palette


class MoveTarget(NamedTuple):
    """The destination of notes."""

    path: str
    """The typed path or name; "" for several notes."""
    place: MemoryPlace
    """The chosen memory; may be the present one."""


class _Places(PlaceList):
    BINDINGS: ClassVar[list[BindingType]] = dialog_bindings(
        Dialog.CHOICE,
        {
            "cursor-down": "step(1)",
            "cursor-up": "step(-1)",
            "open": "screen.confirm",
        },
    )

    def action_step(self, step: int) -> None:
        """Move the cursor."""
        self.move(step)


class MoveScreen(FieldForm[MoveTarget | None]):
    """Returns a destination, or None."""

    def __init__(
        self, title: str, path: str, places: Sequence[MemoryPlace], palette: Palette, home: str
    ) -> None:
        """`path` is the path of the note, "" for several notes; `places` are the memories, the
        present one first; `home` is shown as `~`.
        """
        fields = [Field("path", path)] if path else []
        super().__init__(title, fields, palette, "show what would change")
        self._places = _Places(places, palette, home)

    def compose_below(self) -> ComposeResult:
        """Show the memories."""
        words = StyledSpan(" into the memory", "dim")
        yield Bar(self._palette, id="where", base="").with_left(words)
        yield self._places

    def on_mount(self) -> None:
        """Give the list the rows that it needs."""
        self._places.styles.height = min(self._places.line_count, 10)
        if not self._fields:
            self._places.focus()

    def close_form(self, *, confirmed: bool) -> None:
        """Close with the destination."""
        place = self._places.place
        if not confirmed or place is None:
            self.dismiss(None)
            return
        self.dismiss(MoveTarget(self.values.get("path", ""), place))
