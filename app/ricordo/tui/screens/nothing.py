"""No memory was found: what to do next."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from ricordo.errors import MemoryNotFound
from ricordo.text import one_line
from ricordo.tui.messages import MemoriesRequested
from ricordo.tui.palette import Palette
from ricordo.tui.render.line import BLANK, Line, Span, wrap
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.text_view import TextView


class NothingScreen(Screen[bool]):
    """Gives whether the person wants the demo instead."""

    CSS_PATH = "chooser.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "dismiss(True)", show=False),
        Binding("p", "memories", show=False),
        Binding("escape,q", "dismiss(False)", show=False),
    ]

    def __init__(self, error: MemoryNotFound, palette: Palette) -> None:
        """`error` says what was looked for, and where."""
        super().__init__()
        self._error = error
        self._palette = palette

    def compose(self) -> ComposeResult:
        """What happened, what to do, the keys."""
        yield Bar(self._palette, id="title").with_left(Span(" Ricordo", "bold"))
        yield TextView(self._palette, self._lines, id="text")
        keys = (("d", "demo"), ("p", "memories of this machine"), ("Esc", "leave"))
        spans = [
            span for key, what in keys for span in (Span(f" {key} ", "key"), Span(what, "dim"))
        ]
        yield Bar(self._palette, id="keys").with_left(*spans)

    def action_memories(self) -> None:
        """Ask for the other memories of this machine."""
        self.post_message(MemoriesRequested())

    def _lines(self, width: int) -> list[Line]:
        lines = [Line((Span("No memory was found here", "heading"),)), BLANK]
        for text, style in self._paragraphs():
            lines += [Line(row) for row in wrap([Span(one_line(text), style)], width)] + [BLANK]
        return lines

    def _paragraphs(self) -> list[tuple[str, str]]:
        return [
            (self._error.message, "dim"),
            ("d  opens a sample memory, a throwaway copy, to look around in.", ""),
            ("p  lists the memories of other projects on this machine.", ""),
            (
                "ricordo PATH  opens a folder of notes: the directory of a memory, its index file, "
                "or a project.",
                "",
            ),
            (
                "ricordo handoff  hands off the work of agents in this project: no memory needed.",
                "",
            ),
            (
                "How agents begin to write one: Claude Code keeps notes of a project by itself "
                "once auto memory is on (`/memory` in a session shows it). Codex does with "
                "`[features] memories = true` in its config.toml. An LLM wiki begins with a folder "
                "that holds raw/, wiki/ and wiki/index.md.",
                "",
            ),
        ]
