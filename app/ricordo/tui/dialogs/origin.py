"""The origin of a note: the message of a session that caused it, with the messages around it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.content import Content

from ricordo.agents.transcripts.session import FileAction, Speaker
from ricordo.services.sessions.activity_text import (
    describe_missing_quote,
    format_day,
    parse_local_time,
)
from ricordo.services.sessions.origin import NoteOrigin, QuotedMessage
from ricordo.settings.keymap import Keymap
from ricordo.text import clip, clip_start
from ricordo.tui.actions.bindings import Handlers, moving_handlers
from ricordo.tui.base.action_screen import ActionScreen
from ricordo.tui.context import ActionContext, ScreenId
from ricordo.tui.render.bars import render_key_line
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, span_text, wrap
from ricordo.tui.render.mask import mask_text
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.text_view import ReadView
from ricordo.tui.workers import start_worker

if TYPE_CHECKING:
    from ricordo.tui.color_palette import Palette

NO_ORIGIN = "No transcript shows where this note came from."
_MARGIN = "  "
_BAR = StyledSpan(" ┃ ", "accent")
_BESIDE = StyledSpan("   ")
_ACTS = {
    FileAction.WROTE: "wrote the note",
    FileAction.EDITED: "changed the note",
    FileAction.DELETED: "deleted the note",
    FileAction.READ: "read the note",
}
_CHANGES = {
    FileAction.WROTE: "written",
    FileAction.EDITED: "changed",
    FileAction.DELETED: "deleted",
    FileAction.READ: "read",
}


def render_origin(cause: NoteOrigin, width: int) -> tuple[list[StyledLine], range]:
    """Return the messages around the cause of a note in their order, under a line that says whose
    words the note is based on; and the rows of the message that is the cause.
    """
    lines = [*_render_verdict(cause, width), BLANK]
    rows = range(0)
    for message in cause.turns:
        if message.skipped:
            lines += [
                StyledLine(
                    (StyledSpan(f"{_MARGIN} … {_count_messages(message.skipped)} left out", "dim"),)
                ),
                BLANK,
            ]
        drawn = _render_message(message, cause, width)
        if message.is_cause:
            rows = range(len(lines), len(lines) + len(drawn))
        lines += [*drawn, BLANK]
    return lines, rows


def format_change_title(causes: Sequence[NoteOrigin], at: int) -> str:
    """Return the number, the kind and the day of the shown change of a note, in words."""
    if not causes:
        return ""
    cause = causes[at]
    done = _CHANGES[cause.deed] if cause.deed else "named by the note" if cause.note else "quoted"
    return f"{at + 1} of {len(causes)} · {done} {format_day(cause.at)}"


def format_session_title(cause: NoteOrigin, width: int) -> str:
    """Return the agent, the title and the day of the session, in one row."""
    return clip(f"{cause.agent.shown} · {cause.shown_session} · {format_day(cause.at)}", width)


def _render_verdict(cause: NoteOrigin, width: int) -> list[StyledLine]:
    if cause.quote and (cause.deed or not cause.note):
        text, style = "❝ You said it:", "heading"
    elif cause.quote:
        text, style = (
            "❝ The transcript does not show the note being written. You said there:",
            "heading",
        )
    else:
        reason = describe_missing_quote(cause)
        text, style = f"! {reason[0].upper()}{reason[1:]}.", "warning"
    return [StyledLine(row) for row in wrap([StyledSpan(text, style)], width, (StyledSpan(" "),))]


def _render_message(message: QuotedMessage, cause: NoteOrigin, width: int) -> list[StyledLine]:
    name = "you" if message.who is Speaker.USER else cause.agent.shown
    style = "accent bold" if message.is_cause else "bold"
    head = [StyledSpan("▸ " if message.is_cause else _MARGIN, style), StyledSpan(name, style)]
    head.append(StyledSpan(f"  {_format_time(message.at)}", "dim"))
    if message.is_act and cause.deed:
        head.append(StyledSpan(f"  ✎ {_ACTS[cause.deed]} {clip(cause.note, 60)}", "changed"))
    lines = [StyledLine(row) for row in wrap(head, width, (), (_BESIDE,))]
    beside = _BAR if message.is_cause else _BESIDE
    for text in mask_text(message.text).split("\n"):
        spans = [StyledSpan(span_text(text), "" if message.is_cause else "dim")]
        lines += [StyledLine(row) for row in wrap(spans, width - 1, (beside,), (beside,))]
    return lines if message.text else lines[:1]


def _count_messages(count: int) -> str:
    return "1 message" if count == 1 else f"{count} messages"


def _format_time(at: str) -> str:
    moment = parse_local_time(at)
    return f"{moment:%H:%M}" if moment else ""


class OriginScreen(ActionScreen[None]):
    """Shows one change of a note at a time, from its creation to the last change."""

    SCREEN_ID = ScreenId.ORIGIN
    CSS_PATH = "origin.tcss"

    def __init__(
        self,
        about: str,
        find: Callable[[], Sequence[NoteOrigin]],
        palette: Palette,
        keymap: Keymap,
        empty_text: str = NO_ORIGIN,
    ) -> None:
        """`about` is the path of a note; `find` returns its origins and is called in a thread;
        `empty_text` is shown if there are none.
        """
        super().__init__(palette, keymap)
        self._find = find
        self._about = about
        self._empty_text = empty_text
        self._causes: Sequence[NoteOrigin] = ()
        self._exists: Mapping[str, bool] = {}
        self._position = 0
        self.is_loaded = False
        """Whether the origins are on the screen."""
        self._title = Bar(palette, id="title")
        self._cause_rows = range(0)
        self._messages_view = ReadView(
            palette, self._render_text, id="turns", main_rows=lambda: self._cause_rows
        )
        self._state = Bar(palette, id="state")
        self._keys = Bar(palette, id="keys")

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._messages_view
        yield self._state
        yield self._keys

    def on_mount(self) -> None:
        self._messages_view.focus()
        self.update_bars()
        start_worker(self, self._load, group="origin")

    def on_resize(self) -> None:
        self.call_after_refresh(self.update_bars)

    async def _load(self) -> None:
        causes = await asyncio.to_thread(self._find)
        self._exists = await asyncio.to_thread(_find_existing, causes)
        self._causes, self.is_loaded = causes, True
        self._show()

    @property
    def cause(self) -> NoteOrigin | None:
        """Return the shown origin; None without one."""
        return self._causes[self._position] if self._causes else None

    @property
    def action_context(self) -> ActionContext:
        refusals = {
            "back": "" if self._position else "This is the first change of the note.",
            "forward": ""
            if self._position + 1 < len(self._causes)
            else "This is the last known change.",
        }
        return replace(super().action_context, disabled_reasons=refusals)

    @property
    def handlers(self) -> Handlers:
        return {
            **super().handlers,
            **moving_handlers(self._messages_view),
            "copy": self.copy_quote,
            "origin": self.close,
            "back": partial(self._go, -1),
            "forward": partial(self._go, 1),
        }

    def _show(self) -> None:
        cause = self.cause
        self._messages_view.border_title = Content(format_session_title(cause, 90) if cause else "")
        self._messages_view.redraw()
        self.update_bars()

    def _render_text(self, width: int) -> list[StyledLine]:
        cause = self.cause
        if cause is not None:
            lines, self._cause_rows = render_origin(cause, width)
            return lines
        return [StyledLine((StyledSpan(self._empty_text, "dim"),))] if self.is_loaded else []

    def update_bars(self) -> None:
        left = (
            StyledSpan(" Origin ", "accent bold"),
            StyledSpan(f" {clip(self._about, 60)}", "bold"),
        )
        self._title.set_content(
            left, (StyledSpan(f"{format_change_title(self._causes, self._position)} ", "dim"),)
        )
        self._state.set_content(self._describe_transcript())
        self._keys.set_content(*render_key_line(self.action_context, self.keymap))

    def _describe_transcript(self) -> tuple[StyledSpan, ...]:
        cause = self.cause
        if cause is None:
            return ()
        if not self._exists.get(cause.transcript):
            return (StyledSpan(" ✓ stored by Ricordo; the transcript was deleted", "dim"),)
        # cut at the beginning: the end identifies it
        return (StyledSpan(f" {clip_start(cause.transcript, self._state.size.width - 2)}", "dim"),)

    # Keys

    def _go(self, direction: int) -> None:
        self._position = min(max(self._position + direction, 0), max(len(self._causes) - 1, 0))
        self._show()

    def copy_quote(self) -> None:
        """Copy the message that is the cause."""
        cause = self.cause
        self.copy_text(mask_text(cause.summary.text) if cause else "")


def _find_existing(causes: Sequence[NoteOrigin]) -> dict[str, bool]:
    return {cause.transcript: os.path.isfile(cause.transcript) for cause in causes}
