"""The origin of a note: the turn of a session that caused it, with the turns around it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content

from ricordo.notebook.origin import Cause
from ricordo.settings.keymap import Keymap
from ricordo.text import clip, clip_start
from ricordo.tui.render.bars import key_line
from ricordo.tui.render.line import Line, Span
from ricordo.tui.render.mask import masked
from ricordo.tui.render.origin_lines import (
    NOTHING_KNOWN,
    origin_lines,
    session_title,
    step_title,
)
from ricordo.tui.screens.acting import ActingScreen, bindings_on
from ricordo.tui.situation import Scene, Situation
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.read_view import ReadView

if TYPE_CHECKING:
    from ricordo.tui.palette import Palette


class OriginScreen(ActingScreen[None]):
    """One writing of the note at a time, from the one that made it to the last change."""

    SCENE = Scene.ORIGIN
    CSS_PATH = "origin.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings_on(SCENE)

    def __init__(
        self,
        about: str,
        find: Callable[[], Sequence[Cause]],
        palette: Palette,
        keymap: Keymap,
        nothing: str = NOTHING_KNOWN,
    ) -> None:
        """`about` is the path of a note; `find` gives what is known of where it came from, and is
        called in a thread; `nothing` is said where nothing is known.
        """
        super().__init__(palette, keymap)
        self._find = find
        self._about = about
        self._nothing_known = nothing
        self._causes: Sequence[Cause] = ()
        self._is_there: Mapping[str, bool] = {}
        self._at = 0
        self.is_loaded = False
        """Whether what is known is on the screen."""
        self._title = Bar(palette, id="title")
        self._cause_rows = range(0)
        self._turns = ReadView(palette, self._lines, id="turns", main_rows=lambda: self._cause_rows)
        self._state = Bar(palette, id="state")
        self._keys = Bar(palette, id="keys")

    def compose(self) -> ComposeResult:
        """A title, the turns, where they stand, the keys."""
        yield self._title
        yield self._turns
        yield self._state
        yield self._keys

    def on_mount(self) -> None:
        """Look up what is known."""
        self._turns.focus()
        self.say()
        self.run_worker(self._load(), group="origin")

    def on_resize(self) -> None:
        """Tell as much as there is room for."""
        self.call_after_refresh(self.say)

    async def _load(self) -> None:
        found = await asyncio.to_thread(self._find)
        self._is_there = await asyncio.to_thread(_still_there, found)
        self._causes, self.is_loaded = found, True
        self._show()

    @property
    def cause(self) -> Cause | None:
        """The writing that is shown."""
        return self._causes[self._at] if self._causes else None

    @property
    def situation(self) -> Situation:
        """What the screen refuses."""
        refusals = {
            "back": "" if self._at else "This is what made the note.",
            "forward": "" if self._at + 1 < len(self._causes) else "No later change is known.",
        }
        return replace(super().situation, refusals=refusals)

    @property
    def doers(self) -> tuple[object, ...]:
        """The screen, and the turns for moving."""
        return self, self._turns

    def _show(self) -> None:
        cause = self.cause
        self._turns.border_title = Content(session_title(cause, 90) if cause else "")
        self._turns.tell()
        self.say()

    def _lines(self, width: int) -> list[Line]:
        cause = self.cause
        if cause is not None:
            lines, self._cause_rows = origin_lines(cause, width)
            return lines
        return [Line((Span(self._nothing_known, "dim"),))] if self.is_loaded else []

    def say(self) -> None:
        """Tell which note and which writing it is, where it stands, and the keys."""
        left = (Span(" Origin ", "accent bold"), Span(f" {clip(self._about, 60)}", "bold"))
        self._title.say(left, (Span(f"{step_title(self._causes, self._at)} ", "dim"),))
        self._state.say(self._where())
        self._keys.say(*key_line(self.situation, self.keymap))

    def _where(self) -> tuple[Span, ...]:
        cause = self.cause
        if cause is None:
            return ()
        if not self._is_there.get(cause.transcript):
            return (Span(" ✓ kept by Ricordo; the transcript itself is gone", "dim"),)
        # its end tells which one it is
        return (Span(f" {clip_start(cause.transcript, self._state.size.width - 2)}", "dim"),)

    # What the keys do

    def do_back(self) -> None:
        """The writing before."""
        self._go(-1)

    def do_forward(self) -> None:
        """The next change."""
        self._go(1)

    def _go(self, direction: int) -> None:
        self._at = min(max(self._at + direction, 0), max(len(self._causes) - 1, 0))
        self._show()

    def do_copy(self) -> None:
        """Copy what was said."""
        cause = self.cause
        self.copy_text(masked(cause.summary.text) if cause else "")

    def do_origin(self) -> None:
        """The key that led here leads back."""
        self.dismiss(None)

    do_leave = do_origin


def _still_there(causes: Sequence[Cause]) -> dict[str, bool]:
    return {cause.transcript: os.path.isfile(cause.transcript) for cause in causes}
