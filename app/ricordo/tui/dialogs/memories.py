"""Choose one of several memories."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.events import Click
from textual.screen import Screen

from ricordo.agents.agent import MemoryPlace
from ricordo.errors import MemoryNotFound
from ricordo.resources import shorten_home
from ricordo.services.workspace.notebook import get_short_name
from ricordo.settings.keymap import Keymap
from ricordo.text import clip, clip_start, count_cells, make_one_line
from ricordo.tui.actions.bindings import (
    Handlers,
    dialog_bindings,
    format_first_keys,
    moving_handlers,
)
from ricordo.tui.actions.dialogs import Dialog
from ricordo.tui.base.action_screen import ActionScreen
from ricordo.tui.color_palette import Palette
from ricordo.tui.context import ScreenId
from ricordo.tui.messages import MemoriesRequested
from ricordo.tui.render.bars import render_key_line, render_keys
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, measure, wrap
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.line_view import CursorView
from ricordo.tui.widgets.text_view import TextView


class PlaceList(CursorView):
    """Lists memories by name, agent and folder."""

    def __init__(self, places: Sequence[MemoryPlace], palette: Palette, home: str) -> None:
        """`home` is shown as `~`."""
        super().__init__(palette, lambda: None, id="places")
        self._places = places
        self._names = _list_names(places)
        self._name_cells = max(map(count_cells, self._names), default=0)
        self._kind_cells = max((count_cells(_get_kind(place)) for place in places), default=0)
        self._home = home

    def on_resize(self) -> None:
        self.lines_changed()
        self.move_to(max(self.cursor, 0))

    @property
    def place(self) -> MemoryPlace | None:
        """Return the memory under the cursor; None without one."""
        return self._places[self.cursor] if self.cursor >= 0 else None

    @property
    def line_count(self) -> int:
        return len(self._places)

    def line_at(self, number: int) -> tuple[StyledLine, str]:
        place, width = self._places[number], self.content_width
        # a name that was made of a path differs at its end, as paths do
        shorten = clip if place.project else clip_start
        name = _fill(shorten, self._names[number], min(self._name_cells, width * 2 // 5))
        agent = _fill(clip, _get_kind(place), min(self._kind_cells, width // 4))
        start = StyledSpan(f"  {name}  ", "bold"), StyledSpan(f"{agent}  ")
        root = clip_start(shorten_home(place.root, self._home), max(8, width - measure(start)))
        line = StyledLine((*start, StyledSpan(root, "dim")))
        return line, "cursor" if number == self.cursor else ""


def _get_kind(place: MemoryPlace) -> str:
    return place.layout.agent or place.layout.kind


def _fill(shorten: Callable[[str, int], str], text: str, width: int) -> str:
    """Return `text` in exactly `width` cells, shortened if it is longer."""
    shown = shorten(text, width)
    return shown + " " * (width - count_cells(shown))


def _list_names(places: Sequence[MemoryPlace]) -> list[str]:
    """Return a visible name for each of the `places`: of several memories in one project, with
    their folders.
    """
    names = [make_one_line(get_short_name(place)) for place in places]
    times = Counter(names)
    return [
        make_one_line(os.path.relpath(place.root, os.path.dirname(place.project)))
        if place.is_in_project and times[name] > 1
        else name
        for name, place in zip(names, places, strict=True)
    ]


class MemoriesScreen(ActionScreen[MemoryPlace | None]):
    """Returns the memory that the user chose, or None."""

    SCREEN_ID = ScreenId.MEMORIES

    CSS_PATH = "chooser.tcss"

    def __init__(
        self, places: Sequence[MemoryPlace], palette: Palette, keymap: Keymap, home: str
    ) -> None:
        """`places` are offered in their order; `home` is shown as `~`."""
        super().__init__(palette, keymap)
        self._list = PlaceList(places, palette, home)

    def compose(self) -> ComposeResult:
        yield Bar(self._palette, id="title").with_left(StyledSpan(" Which memory?", "bold"))
        yield self._list
        yield Bar(self._palette, id="keys")

    def on_mount(self) -> None:
        self._list.focus()
        self.query_one("#keys", Bar).set_content(*render_key_line(self.action_context, self.keymap))

    @property
    def handlers(self) -> Handlers:
        return {
            **super().handlers,
            **moving_handlers(self._list),
            "open": self.choose,
        }

    def on_click(self, event: Click) -> None:
        if event.chain == 2:
            self.action_do("open")

    def choose(self) -> None:
        """Return the memory under the cursor."""
        if self._list.place is not None:
            self.dismiss(self._list.place)


class NoMemoryScreen(Screen[bool]):
    """Shows that no memory was found; returns whether to open the demo."""

    CSS_PATH = "chooser.tcss"
    BINDINGS: ClassVar[list[BindingType]] = dialog_bindings(
        Dialog.TEXT,
        {
            "demo": "dismiss(True)",
            "memories": "memories",
            "help": "app.show_keys",
            "leave": "dismiss(False)",
            "close": "dismiss(False)",
        },
    )

    def __init__(self, error: MemoryNotFound, palette: Palette) -> None:
        """`error` says where Ricordo looked."""
        super().__init__()
        self._error = error
        self._palette = palette

    def compose(self) -> ComposeResult:
        yield Bar(self._palette, id="title").with_left(StyledSpan(" Ricordo", "bold"))
        yield TextView(self._palette, self._render_text, id="text")
        keys = (
            (format_first_keys(self.app, "demo"), "demo"),
            (format_first_keys(self.app, "memories"), "memories of this machine"),
            (format_first_keys(self.app, "leave"), "quit"),
            (format_first_keys(self.app, "help"), "keys"),
        )
        yield Bar(self._palette, id="keys").with_left(*render_keys(keys))

    def action_memories(self) -> None:
        """Show the other memories of this machine."""
        self.post_message(MemoriesRequested())

    def _render_text(self, width: int) -> list[StyledLine]:
        lines = [StyledLine((StyledSpan("No memory was found here", "heading"),)), BLANK]
        for text, style in self._paragraphs():
            lines += [
                StyledLine(row) for row in wrap([StyledSpan(make_one_line(text), style)], width)
            ] + [BLANK]
        return lines

    def _paragraphs(self) -> list[tuple[str, str]]:
        return [
            (self._error.message, "dim"),
            ("d  opens a throwaway copy of a sample memory.", ""),
            ("p  lists the memories of other projects on this machine.", ""),
            (
                "ricordo PATH  opens a folder of notes: a memory directory, its index file, or a "
                "project.",
                "",
            ),
            (
                "ricordo handoff  hands off the work of agents in this project; needs no memory.",
                "",
            ),
            (
                "How agents start a memory: Claude Code writes notes once auto memory is on "
                "(`/memory` in a session shows it). Codex writes notes with `[features] memories = "
                "true` in its config.toml. An LLM wiki is a folder with raw/, wiki/ and "
                "wiki/index.md.",
                "",
            ),
        ]
