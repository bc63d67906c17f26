"""The origin of a note: the turn of a session that caused it, with the turns around it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content

from ricordo.agents.transcripts.session import FileAction, Who
from ricordo.services.sessions.activity_text import day_in_words, local_time, nobody_in_words
from ricordo.services.sessions.origin import NoteOrigin, QuotedMessage
from ricordo.settings.keymap import Keymap
from ricordo.text import clip, clip_start
from ricordo.tui.actions.handlers import Handlers, moving_handlers
from ricordo.tui.base.acting_screen import ActingScreen, bindings_on
from ricordo.tui.context import Scene, Situation
from ricordo.tui.render.bars import key_line
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, shown, wrap
from ricordo.tui.render.mask import masked
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.text_view import ReadView

if TYPE_CHECKING:
    from ricordo.tui.color_palette import Palette

NOTHING_KNOWN = "No transcript tells any more where this note came from."
_MARGIN = "  "
_BAR = StyledSpan(" ┃ ", "accent")
_BESIDE = StyledSpan("   ")
_ACTS = {
    FileAction.WROTE: "wrote the note",
    FileAction.EDITED: "changed the note",
    FileAction.DELETED: "deleted the note",
    FileAction.READ: "read the note",
}
_DONE = {
    FileAction.WROTE: "written",
    FileAction.EDITED: "changed",
    FileAction.DELETED: "deleted",
    FileAction.READ: "read",
}


def origin_lines(cause: NoteOrigin, width: int) -> tuple[list[StyledLine], range]:
    """Return the turns around what caused a note, from the first to the last, under a line that
    says whose words the note rests on; and the rows of the turn that is the cause.
    """
    lines = [*_verdict(cause, width), BLANK]
    rows = range(0)
    for turn in cause.turns:
        if turn.skipped:
            lines += [
                StyledLine((StyledSpan(f"{_MARGIN} … {_turns(turn.skipped)} left out", "dim"),)),
                BLANK,
            ]
        drawn = _turn(turn, cause, width)
        if turn.is_cause:
            rows = range(len(lines), len(lines) + len(drawn))
        lines += [*drawn, BLANK]
    return lines, rows


def step_title(causes: Sequence[NoteOrigin], at: int) -> str:
    """Return which of the writings of a note is shown, in a few words."""
    if not causes:
        return ""
    cause = causes[at]
    done = _DONE[cause.deed] if cause.deed else "named by the note" if cause.note else "said"
    return f"{at + 1} of {len(causes)} · {done} {day_in_words(cause.at)}"


def session_title(cause: NoteOrigin, width: int) -> str:
    """Return which session it was, in one row."""
    return clip(f"{cause.agent.shown} · {cause.shown_session} · {day_in_words(cause.at)}", width)


def _verdict(cause: NoteOrigin, width: int) -> list[StyledLine]:
    if cause.quote and (cause.deed or not cause.note):
        text, style = "❝ You said it:", "heading"
    elif cause.quote:
        text, style = (
            "❝ No writing of the note is in the transcript; you said this there:",
            "heading",
        )
    else:
        said = nobody_in_words(cause)
        text, style = f"! {said[0].upper()}{said[1:]}.", "warning"
    return [StyledLine(row) for row in wrap([StyledSpan(text, style)], width, (StyledSpan(" "),))]


def _turn(turn: QuotedMessage, cause: NoteOrigin, width: int) -> list[StyledLine]:
    name = "you" if turn.who is Who.PERSON else cause.agent.shown
    style = "accent bold" if turn.is_cause else "bold"
    head = [StyledSpan("▸ " if turn.is_cause else _MARGIN, style), StyledSpan(name, style)]
    head.append(StyledSpan(f"  {_time(turn.at)}", "dim"))
    if turn.is_act and cause.deed:
        head.append(StyledSpan(f"  ✎ {_ACTS[cause.deed]} {clip(cause.note, 60)}", "changed"))
    lines = [StyledLine(row) for row in wrap(head, width, (), (_BESIDE,))]
    beside = _BAR if turn.is_cause else _BESIDE
    for text in masked(turn.text).split("\n"):
        spans = [StyledSpan(shown(text), "" if turn.is_cause else "dim")]
        lines += [StyledLine(row) for row in wrap(spans, width - 1, (beside,), (beside,))]
    return lines if turn.text else lines[:1]


def _turns(count: int) -> str:
    return "1 turn is" if count == 1 else f"{count} turns are"


def _time(at: str) -> str:
    moment = local_time(at)
    return f"{moment:%H:%M}" if moment else ""


class OriginScreen(ActingScreen[None]):
    """One writing of the note at a time, from the one that made it to the last change."""

    SCENE = Scene.ORIGIN
    CSS_PATH = "origin.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings_on(SCENE)

    def __init__(
        self,
        about: str,
        find: Callable[[], Sequence[NoteOrigin]],
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
        self._causes: Sequence[NoteOrigin] = ()
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
    def cause(self) -> NoteOrigin | None:
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
    def handlers(self) -> Handlers:
        """What the keys do, by action id."""
        return {
            **super().handlers,
            **moving_handlers(self._turns),
            "copy": self.copy_quote,
            "origin": self.close,
            "leave": self.close,
            "back": partial(self._go, -1),
            "forward": partial(self._go, 1),
        }

    def _show(self) -> None:
        cause = self.cause
        self._turns.border_title = Content(session_title(cause, 90) if cause else "")
        self._turns.tell()
        self.say()

    def _lines(self, width: int) -> list[StyledLine]:
        cause = self.cause
        if cause is not None:
            lines, self._cause_rows = origin_lines(cause, width)
            return lines
        return [StyledLine((StyledSpan(self._nothing_known, "dim"),))] if self.is_loaded else []

    def say(self) -> None:
        """Tell which note and which writing it is, where it stands, and the keys."""
        left = (
            StyledSpan(" Origin ", "accent bold"),
            StyledSpan(f" {clip(self._about, 60)}", "bold"),
        )
        self._title.say(left, (StyledSpan(f"{step_title(self._causes, self._at)} ", "dim"),))
        self._state.say(self._where())
        self._keys.say(*key_line(self.situation, self.keymap))

    def _where(self) -> tuple[StyledSpan, ...]:
        cause = self.cause
        if cause is None:
            return ()
        if not self._is_there.get(cause.transcript):
            return (StyledSpan(" ✓ kept by Ricordo; the transcript itself is gone", "dim"),)
        # its end tells which one it is
        return (StyledSpan(f" {clip_start(cause.transcript, self._state.size.width - 2)}", "dim"),)

    # What the keys do

    def _go(self, direction: int) -> None:
        self._at = min(max(self._at + direction, 0), max(len(self._causes) - 1, 0))
        self._show()

    def copy_quote(self) -> None:
        """Copy what was said."""
        cause = self.cause
        self.copy_text(masked(cause.summary.text) if cause else "")

    def close(self) -> None:
        """The key that led here leads back."""
        self.dismiss(None)


def _still_there(causes: Sequence[NoteOrigin]) -> dict[str, bool]:
    return {cause.transcript: os.path.isfile(cause.transcript) for cause in causes}
