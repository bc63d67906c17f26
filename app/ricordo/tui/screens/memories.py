"""Choosing one of several memories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.events import Click

from ricordo.agents.place import Place
from ricordo.notebook.seen import short_name
from ricordo.settings.keymap import Keymap
from ricordo.text import cells, clip, one_line
from ricordo.tui.palette import Palette
from ricordo.tui.render.bars import key_line
from ricordo.tui.render.line import Line, Span
from ricordo.tui.screens.acting import ActingScreen, bindings_on
from ricordo.tui.situation import Scene
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.cursor_view import CursorView


class PlaceList(CursorView):
    """Memories by name, agent and folder."""

    def __init__(self, places: Sequence[Place], palette: Palette, home: str) -> None:
        """`home` is shown as `~`."""
        super().__init__(palette, lambda: None, id="places")
        self._places = places
        self._home = home

    def on_resize(self) -> None:
        """Show the places when there is a width."""
        self.lines_changed()
        self.rest_on(max(self.cursor, 0))

    @property
    def place(self) -> Place | None:
        """The memory under the cursor."""
        return self._places[self.cursor] if self.cursor >= 0 else None

    @property
    def line_count(self) -> int:
        """One line a memory."""
        return len(self._places)

    def line_at(self, number: int) -> tuple[Line, str]:
        """Draw one memory."""
        place = self._places[number]
        name = clip(short_name(place), 28)
        agent = clip(place.layout.agent or place.layout.kind.value, 22)
        root = one_line(place.root)
        if root.startswith(self._home + "/"):
            root = "~" + root[len(self._home) :]
        spans = (
            Span(f"  {name}{' ' * (30 - cells(name))}", "bold"),
            Span(f"{agent}{' ' * (24 - cells(agent))}"),
            Span(clip(root, max(8, self.content_width - 58)), "dim"),
        )
        return Line(spans), "cursor" if number == self.cursor else ""

    def can_rest(self, number: int) -> bool:
        """Every memory can be chosen."""
        return True


class MemoriesScreen(ActingScreen[Place | None]):
    """Gives the memory that the person chose, or None."""

    SCENE = Scene.MEMORIES

    CSS_PATH = "chooser.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings_on(SCENE)

    def __init__(
        self, places: Sequence[Place], palette: Palette, keymap: Keymap, home: str
    ) -> None:
        """`places` are offered in their order; `home` is shown as `~`."""
        super().__init__(palette, keymap)
        self._list = PlaceList(places, palette, home)

    def compose(self) -> ComposeResult:
        """A question, the memories, the keys."""
        yield Bar(self._palette, id="title").with_left(Span(" Which memory?", "bold"))
        yield self._list
        yield Bar(self._palette, id="keys")

    def on_mount(self) -> None:
        """Begin at the most likely."""
        self._list.focus()
        self.query_one("#keys", Bar).say(*key_line(self.situation, self.keymap))

    @property
    def doers(self) -> tuple[object, ...]:
        """The screen, and the list for moving."""
        return self, self._list

    def on_click(self, event: Click) -> None:
        """A second click opens."""
        if event.chain == 2:
            self.action_do("open")

    def do_open(self) -> None:
        """Give the memory under the cursor."""
        if self._list.place is not None:
            self.dismiss(self._list.place)

    def do_leave(self) -> None:
        """Give none."""
        self.dismiss(None)
