"""The sessions that can be handed off, and earlier handoffs with how much of them is valid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content

from ricordo.agents.transcripts.session import Session
from ricordo.settings.keymap import Keymap
from ricordo.text import clip
from ricordo.tui.actions.bindings import Handlers, moving_handlers
from ricordo.tui.base.action_screen import NotebookActions
from ricordo.tui.base.list_diff_screen import TwoPaneScreen
from ricordo.tui.context import ActionContext, ScreenId
from ricordo.tui.handoff.draft import EarlierHandoff, HandoffStatus
from ricordo.tui.handoff.session_rows import (
    NO_SESSION,
    render_earlier,
    render_earlier_row,
    render_session,
    render_session_row,
)
from ricordo.tui.jobs import Answer, Jobs
from ricordo.tui.render.line import StyledLine, StyledSpan, render_divider
from ricordo.tui.widgets.row_list import RowList
from ricordo.tui.widgets.text_view import ReadView
from ricordo.tui.workers import start_worker

if TYPE_CHECKING:
    from ricordo.curation.engine import Step
    from ricordo.tui.color_palette import Palette
    from ricordo.tui.handoff.drafter import Drafter

_TICK = 0.2
"""Seconds between two updates of the progress."""
_BEFORE = "earlier handoffs"

SessionItem = Session | EarlierHandoff | str
"""What a row shows; a string is the title of the rows below it."""


class SessionsScreen(TwoPaneScreen):
    """Lists sessions and earlier handoffs; a draft opens on a screen above this one."""

    SCREEN_ID = ScreenId.SESSIONS
    CSS_PATH = "style.tcss"

    def __init__(
        self,
        drafter: Drafter,
        draft: Callable[[Sequence[Session]], None],
        actions: NotebookActions,
        palette: Palette,
        keymap: Keymap,
    ) -> None:
        """`draft` is called with the sessions to hand off."""
        super().__init__(palette, keymap, actions)
        self._drafter = drafter
        self._draft = draft
        self._jobs = Jobs()
        self._rows: Sequence[SessionItem] = ()
        self._marked: Sequence[Session] = ()
        self._statuses: dict[str, HandoffStatus] = {}
        self._was_covered = False
        self.is_loaded = False
        """Whether the sessions are on the screen."""
        self._list = RowList(
            palette, self._show_chosen, self._render_row, id="sessions", rests=self._can_rest
        )
        self._pane = self._details = ReadView(palette, self._render_text, id="known")

    def compose(self) -> ComposeResult:
        yield self._title
        with Container(id="handoff"):
            yield self._list.add_class("pane")
            yield self._details.add_class("pane")
        yield self._state
        yield self._keys

    def on_mount(self) -> None:
        self._list.focus()
        self._list.show(0, 0, [("looking for sessions …", "dim")])
        self.set_interval(_TICK, self.update_bars)
        self._reload()

    def on_unmount(self) -> None:
        self._jobs.cancel()

    def on_screen_suspend(self) -> None:
        """Remember that another screen was on top."""
        self._was_covered = True

    def on_screen_resume(self) -> None:
        """Look again after another screen: it may have written a handoff."""
        if self._was_covered:
            self._was_covered = False
            self._reload()

    # Jobs in threads

    def _reload(self) -> None:
        self._statuses.clear()
        self._start_job("looking for sessions", self._find, self._show_found)

    def _find(self, step: Step) -> tuple[Sequence[Session], Sequence[EarlierHandoff]]:
        return self._drafter.find_sessions(step), self._drafter.find_earlier()

    def _show_found(self, found: tuple[Sequence[Session], Sequence[EarlierHandoff]]) -> None:
        sessions, earlier = found
        before = self.item
        below: list[SessionItem] = [_BEFORE, *earlier] if earlier else []
        self._rows = [*sessions, *below]
        self._marked = [session for session in self._marked if session in sessions]
        self.is_loaded = True
        at = self._rows.index(before) if before in self._rows else 0
        self._list.show(len(self._rows), at, NO_SESSION)
        self._show_chosen()
        self._check_next()

    def _check_next(self) -> None:
        """Check the next handoff that was not checked yet."""
        earlier = (each for each in self._rows if isinstance(each, EarlierHandoff))
        each = next((each for each in earlier if each.path not in self._statuses), None)
        if each is not None:
            check = partial(self._drafter.check_earlier, each)
            self._start_job(f"checking {each.name}", check, partial(self._store_status, each))

    def _store_status(self, handoff: EarlierHandoff, status: HandoffStatus) -> None:
        self._statuses[handoff.path] = status
        self._list.refresh()
        if handoff == self.item:
            self._details.redraw()
        self._check_next()

    def _start_job(
        self, phase: str, work: Callable[[Step], Answer], done: Callable[[Answer], None]
    ) -> None:
        job = self._jobs.begin(phase)
        self.update_bars()

        async def run() -> None:
            await self._run_reporting(partial(self._jobs.follow, job, work, done))
            self.update_bars()

        start_worker(self, run, group="sessions")

    # What is shown

    @property
    def item(self) -> SessionItem | None:
        """Return the row under the cursor; None if the list is empty."""
        return self._rows[self._list.at] if 0 <= self._list.at < len(self._rows) else None

    @property
    def sessions(self) -> Sequence[Session]:
        """Return the sessions to hand off: the marked ones, else the one under the cursor."""
        if self._marked:
            return [row for row in self._rows if isinstance(row, Session) and row in self._marked]
        return [self.item] if isinstance(self.item, Session) else []

    def _can_rest(self, number: int) -> bool:
        return not isinstance(self._rows[number], str)

    def _render_row(self, number: int, width: int, in_one: bool) -> tuple[StyledLine, ...]:
        thing = self._rows[number]
        if isinstance(thing, str):
            return render_divider(thing, width, in_one=in_one)
        if isinstance(thing, EarlierHandoff):
            return render_earlier_row(thing, self._statuses.get(thing.path), width, in_one=in_one)
        is_marked, is_latest = thing in self._marked, number == 0
        return render_session_row(
            thing, width, in_one=in_one, is_marked=is_marked, is_latest=is_latest
        )

    def _render_text(self, width: int) -> list[StyledLine]:
        thing = self.item
        if isinstance(thing, Session):
            return render_session(thing, width)
        if isinstance(thing, EarlierHandoff):
            return render_earlier(thing, self._statuses.get(thing.path), width)
        return []

    def _show_chosen(self) -> None:
        self._details.redraw()
        self.update_bars()

    def update_bars(self) -> None:
        super().update_bars()
        count = sum(isinstance(row, Session) for row in self._rows)
        subtitle = "what the next agent needs to continue, each line with its proof"
        title = StyledSpan(" Hand off ", "accent bold")
        self._title.set_content((title, StyledSpan(f" {subtitle}", "dim")))
        job = self._jobs.now
        marked = f" {len(self._marked)} marked · " if self._marked else " "
        idle = StyledSpan(f"{marked}drafting writes nothing", "dim")
        self._state.set_content((StyledSpan(f" ○ {job.label}", "accent") if job else idle,))
        self._list.border_title = Content(f"Sessions · {count:,}")
        thing = self.item
        name = thing.name if isinstance(thing, EarlierHandoff) else ""
        self._details.border_title = Content(clip(name, 60) if name else "Session")
        self._details.display = bool(self._rows)

    # Keys

    @property
    def action_context(self) -> ActionContext:
        is_session = isinstance(self.item, Session)
        not_session = "" if self.sessions else "An earlier handoff: select a session to draft."
        no_sessions = "No sessions found." if self.is_loaded else "Still looking for sessions."
        refusals = {
            "open": not_session if self._rows else no_sessions,
            "mark": "" if is_session else "Only a session can be marked.",
            **self._undo_refusals,
        }
        return replace(super().action_context, disabled_reasons=refusals)

    @property
    def handlers(self) -> Handlers:
        return {
            **super().handlers,
            **moving_handlers(self._details if self._details.has_focus else self._list),
            "open": lambda: self._draft(self.sessions),
            "mark": self.toggle_mark,
            "hand-off": self.close,
            "page-down": partial(self._details.move_page, 1),
            "page-up": partial(self._details.move_page, -1),
            "reread": self._reload,
        }

    def on_row_list_opened(self) -> None:
        self.action_do("open")

    def toggle_mark(self) -> None:
        """Mark the session to be handed off with others, or unmark it."""
        thing = self.item
        assert isinstance(thing, Session)
        self._marked = [
            it for it in (*self._marked, thing) if it != thing or thing not in self._marked
        ]
        self._list.refresh()
        self._list.move(1)

    def go_to_pane(self) -> None:
        """Focus the right pane."""
        if self._rows:
            self._details.focus()

    def _leave(self) -> None:
        """Clear the marks, else close the screen."""
        if self._marked:
            self._marked = ()
            self._list.refresh()
        else:
            self.dismiss(None)
