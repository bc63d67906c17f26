"""Where a note goes: another path or name, another memory of this machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import BindingType

from ricordo.agents.place import MemoryPlace
from ricordo.tui.actions.bindings import dialog_bindings
from ricordo.tui.actions.dialogs import Dialog
from ricordo.tui.dialogs.form import Field, FieldForm
from ricordo.tui.dialogs.memories import PlaceList
from ricordo.tui.render.line import StyledSpan
from ricordo.tui.widgets.bar import Bar

if TYPE_CHECKING:
    from ricordo.tui.color_palette import Palette


class MoveTarget(NamedTuple):
    """Where notes are to go."""

    wanted: str
    """The path or name that was typed."""
    place: MemoryPlace
    """The memory that was chosen, which may be the one in which the notes are."""


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
    """Ends with a destination, or with None."""

    def __init__(
        self, title: str, path: str, places: Sequence[MemoryPlace], palette: Palette, home: str
    ) -> None:
        """`path` is where the one note stands, "" where there are several; `places` are the
        memories, the present one first; `home` is shown as `~`.
        """
        fields = [Field("path", path)] if path else []
        super().__init__(title, fields, palette, "show what would change")
        self._places = _Places(places, palette, home)

    def compose_below(self) -> ComposeResult:
        """The memories."""
        words = StyledSpan(" into the memory", "dim")
        yield Bar(self._palette, id="where", base="").with_left(words)
        yield self._places

    def on_mount(self) -> None:
        """Have room for some memories."""
        self._places.styles.height = min(self._places.line_count, 10)
        if not self._fields:
            self._places.focus()

    def end(self, *, confirmed: bool) -> None:
        """End with the destination."""
        place = self._places.place
        if not confirmed or place is None:
            self.dismiss(None)
            return
        self.dismiss(MoveTarget(self.filled.get("path", ""), place))
