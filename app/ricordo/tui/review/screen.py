"""The screen of the review: one note at a time, with the reasons to doubt it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from typing import TYPE_CHECKING, Protocol

from textual.app import ComposeResult
from textual.content import Content

from ricordo.services.review import ReviewNote, ReviewQueue, build_queue, find_last_verdict
from ricordo.settings.keymap import Keymap
from ricordo.storage.decisions import ReviewVerdict
from ricordo.text import clip, make_one_line
from ricordo.tui.actions.bindings import Handlers
from ricordo.tui.actions.registry import BY_ID, format_action_keys
from ricordo.tui.base.action_screen import NotebookActions, UndoAction, UndoScreen
from ricordo.tui.context import NO_ORIGIN, NO_SECRETS, ActionContext, ScreenId
from ricordo.tui.dialogs.choose import Choice, ChooseScreen
from ricordo.tui.dialogs.form import Field, FormScreen
from ricordo.tui.render.bars import render_key_line
from ricordo.tui.render.line import StyledLine, StyledSpan
from ricordo.tui.render.mask import mask_text
from ricordo.tui.render.note_page import NotePage
from ricordo.tui.review.rows import (
    RETIRED,
    Outcome,
    findings_still_there,
    render_findings,
    render_progress,
    render_summary,
)
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.note_view import NoteView
from ricordo.tui.widgets.text_view import AboutView, TextView

if TYPE_CHECKING:
    from ricordo.services.workspace.notebook import Snapshot
    from ricordo.tui.color_palette import Palette

_METER = 24
"""Cells of the bar that fills."""
_WRONG = (
    Choice("edit", "edit it", "correct it in your editor"),
    Choice("retire", "retire it", "remove it; the history keeps it"),
    Choice("leave", "leave it", "to the curator, who is told that it is wrong"),
)
_LATER = (
    Choice("1", "tomorrow", ""),
    Choice("7", "in a week", ""),
    Choice("30", "in a month", ""),
    Choice("date", "on a date …", "that you type"),
)
_ABOUT_A_NOTE = ("yes", "no", "later", "edit")


class StoreVerdict(Protocol):
    """Stores the user's verdict on a note; returns whether it was stored."""

    def __call__(
        self, snapshot: Snapshot, path: str, judgement: ReviewVerdict, until: str = ""
    ) -> Awaitable[bool]:
        """`until` is the day on which the note is due again, ISO 8601; "" for none."""


class ReviewScreen(UndoScreen):
    """Goes through a queue of notes. Every verdict is stored at once."""

    SCREEN_ID = ScreenId.REVIEW
    CSS_PATH = "style.tcss"

    def __init__(
        self,
        snapshot: Snapshot,
        queue: ReviewQueue,
        palette: Palette,
        keymap: Keymap,
        actions: NotebookActions,
        judge: StoreVerdict,
        show_origin: Callable[[Snapshot, str], None],
    ) -> None:
        """`queue` is what is due in `snapshot`; `show_origin` shows the messages that caused a
        note.
        """
        super().__init__(palette, keymap, actions)
        self._snapshot = snapshot
        self._before = snapshot.verdicts
        self._items = queue.items
        self._more = queue.more
        self._judge = judge
        self._show_origin = show_origin
        self._at = 0
        self._revealed = ""
        """Path of the note whose secrets are shown."""
        self._outcomes: dict[str, Outcome] = {}
        self._title = Bar(palette, id="title")
        self._note = NoteView(palette, id="note")
        self._doubts = AboutView(palette, self._doubt_lines, id="doubts")
        self._done = TextView(palette, self._end_lines, id="done")
        self._state = Bar(palette, id="state")
        self._keys = Bar(palette, id="keys")

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._note
        yield self._doubts
        yield self._done
        yield self._state
        yield self._keys

    def on_mount(self) -> None:
        self.call_after_refresh(self._show)

    def on_resize(self) -> None:
        self.call_after_refresh(self._show, keep_place=True)

    # What is shown

    @property
    def item(self) -> ReviewNote | None:
        """The note under review; None at the end."""
        return self._items[self._at] if self._at < len(self._items) else None

    @property
    def outcomes(self) -> Mapping[str, Outcome]:
        """What was done with the notes so far, by path."""
        return self._outcomes

    def update_snapshot(self, snapshot: Snapshot) -> None:
        """Use a new snapshot: a verdict was stored, a note was written, or that was undone."""
        self._snapshot = snapshot
        self._outcomes = {
            item.note.path: outcome
            for item in self._items
            if (outcome := self._outcome(item.note.path)) is not None
        }
        self._show(keep_place=True)

    def _outcome(self, path: str) -> Outcome | None:
        """Return what was done with a note since this review began; None for nothing, and where its
        text has changed since.
        """
        note = self._snapshot.memory.by_path.get(path)
        if note is None:
            return RETIRED
        verdicts, before = self._snapshot.verdicts.get(path, ()), self._before.get(path, ())
        last = find_last_verdict(self._snapshot, note)
        return last.verdict if last is not None and verdicts != before else None

    def _show(self, *, keep_place: bool = False) -> None:
        item, was_away = self.item, not self._note.display
        note = self._snapshot.memory.by_path.get(item.note.path) if item else None
        self._note.display = self._doubts.display = item is not None
        self._done.display = item is None
        if item is None:
            self._done.on_resize()
            self._done.focus()
        else:
            self._note.focus()
            self._note.border_title = Content(clip(mask_text(item.note.name), 80))
            width = self._note.content_width
            today = self._snapshot.at.date()
            if self._revealed != item.note.path:
                self._revealed = ""
            page = NotePage(
                self._snapshot,
                note or item.note,
                width,
                False,
                today,
                revealed=bool(self._revealed),
                reveal_key=format_action_keys(BY_ID["reveal"], self.keymap),
            )
            self._note.show(page, keep_place=keep_place, line=0 if keep_place else self._line)
            self._doubts.redraw()
            if was_away:
                # it has no width before the next layout
                self.call_after_refresh(self._show, keep_place=keep_place)
        self.update_bars()

    @property
    def _line(self) -> int:
        """The line of the first finding that has one; 0 where none has."""
        item = self.item
        findings = findings_still_there(item, self._snapshot) if item else []
        return next((finding.line for finding in findings if finding.line), 0)

    def _doubt_lines(self, width: int) -> list[StyledLine]:
        return render_findings(self.item, self._snapshot, width) if self.item else []

    def _end_lines(self, width: int) -> list[StyledLine]:
        if self.item is not None:
            return []
        # arrivals are left out: the inbox shows them
        after = build_queue(self._snapshot, (), len(self._items) or 1)
        left = len(self._items) - len(self._outcomes)
        return render_summary(self._snapshot, after, self._outcomes, left, width)

    def update_bars(self) -> None:
        done, of = len(self._outcomes), len(self._items)
        at = f" {self._at + 1} of {of}" if self.item else " done" if of else ""
        more = f"  {self._more:,} more due" if self._more else ""
        bar = (render_progress(done, of, _METER), StyledSpan(f" {done}/{of} ", "dim")) if of else ()
        self._title.set_content(
            (
                StyledSpan(" Review ", "accent bold"),
                StyledSpan(at, "bold"),
                StyledSpan(more, "dim"),
            ),
            bar,
        )
        self._state.set_content(self._describe_state())
        self._keys.set_content(*render_key_line(self.action_context, self.keymap))

    def _describe_state(self) -> tuple[StyledSpan, ...]:
        item = self.item
        outcome = self._outcomes.get(item.note.path) if item else None
        if outcome is not None:
            return (StyledSpan(f" ✓ {outcome}", "accent"), StyledSpan("; u undoes it", "dim"))
        hint = "every answer is saved at once; Esc loses nothing"
        if item is None:
            return (StyledSpan(f" {hint}", "dim"),)
        return (StyledSpan(f" ↓ skips · {hint} · {make_one_line(item.note.path)}", "dim"),)

    @property
    def action_context(self) -> ActionContext:
        refusals = self._undo_refusals
        undo = "" if self._actions.can_undo or self._outcomes else "There is nothing to undo."
        refusals["undo"] = undo
        refusals |= dict.fromkeys(_ABOUT_A_NOTE, self._why_no_verdict)
        refusals["origin"] = self._why_no_origin
        page = self._note.page if self.item else None
        refusals["reveal"] = "" if page and page.secret_count else NO_SECRETS
        if not refusals["edit"]:
            refusals["edit"] = self._snapshot.memory.layout.read_only
        return replace(
            super().action_context, disabled_reasons=refusals, revealed=bool(self._revealed)
        )

    @property
    def _why_no_verdict(self) -> str:
        if self.item is None:
            return "All notes were reviewed; ↑ goes back to them."
        is_there = self.item.note.path in self._snapshot.memory.by_path
        return "" if is_there else "This note was retired; u undoes that."

    @property
    def _why_no_origin(self) -> str:
        if self.item is None:
            return self._why_no_verdict
        return "" if self.item.note.path in self._snapshot.evidence.origins else NO_ORIGIN

    # Verdicts

    @property
    def handlers(self) -> Handlers:
        return {
            **super().handlers,
            "no": self.reject_note,
            "later": self.postpone_note,
            "edit": self.edit_note,
            "cursor-down": self.move_down,
            "cursor-up": self.move_up,
            "first": self.go_to_start,
            "last": self.go_to_end,
            "reveal": self.toggle_secrets,
            "origin": self.show_origin,
            "yes": partial(self._begin, partial(self._store_verdict, ReviewVerdict.TRUE)),
            "page-down": partial(self._scroll_page, 1),
            "page-up": partial(self._scroll_page, -1),
            "review": self.close,
        }

    def reject_note(self) -> None:
        """Ask what to do with a note that is wrong."""
        if self.item is not None:
            self._begin(partial(self._ask_what_next, self.item.note.path))

    def postpone_note(self) -> None:
        """Ask until when the note is postponed."""
        if self.item is not None:
            self._begin(self._postpone)

    def edit_note(self) -> None:
        """Edit the note in the editor; it stays under review."""
        if self.item is not None:
            self._begin(partial(self._actions.edit_note, self.item.note.path))

    async def _store_verdict(self, judgement: ReviewVerdict, until: str = "") -> None:
        item = self.item
        if item is None or item.note.path not in self._snapshot.memory.by_path:
            return
        if await self._judge(self._snapshot, item.note.path, judgement, until):
            self._outcomes[item.note.path] = judgement
            self._go_on()

    async def _ask_what_next(self, path: str) -> None:
        name = clip(path, 60)
        ways = _WRONG[2:] if self._snapshot.memory.layout.read_only else _WRONG
        way = await self._ask(ChooseScreen(f"{name} is wrong", ways, self._palette))
        if way == "edit":
            await self._actions.edit_note(path)
        elif way == "retire":
            if await self._actions.retire_note(path):
                self._go_on()
        elif way == "leave":
            await self._store_verdict(ReviewVerdict.WRONG)

    async def _postpone(self) -> None:
        way = await self._ask(ChooseScreen("Ask again", _LATER, self._palette))
        today = self._snapshot.at.date()
        if way == "date":
            day = await self._ask_for_day(today)
        else:
            day = today + timedelta(days=int(way)) if way else None
        if day is not None:
            await self._store_verdict(ReviewVerdict.LATER, day.isoformat())

    async def _ask_for_day(self, today: date) -> date | None:
        fields = [Field("day", "", f"such as {today + timedelta(days=90)}")]
        filled = await self.app.push_screen_wait(
            FormScreen("Ask again on", fields, self._palette, "postpone")
        )
        if not filled.confirmed:
            return None
        day, why_not = parse_future_day(filled.values["day"].strip(), today)
        if why_not:
            self.notify(why_not, severity="warning", markup=False)
        return day

    async def _ask(self, screen: ChooseScreen) -> str | None:
        return await self.app.push_screen_wait(screen)

    # Undo

    async def _turn(self, turn: UndoAction) -> None:
        """Undo or redo, and go to the note that it was about."""
        about = await turn()
        numbers = (n for n, item in enumerate(self._items) if item.note.path in about)
        self._go_to(next(numbers, self._at))

    # Moving

    def _go_on(self) -> None:
        """Go to the next note without a verdict; to the end where there is none."""
        after = range(self._at + 1, len(self._items))
        open_ones = (n for n in after if self._items[n].note.path not in self._outcomes)
        self._go_to(next(open_ones, len(self._items)))

    def _go_to(self, number: int) -> None:
        self._at = min(max(number, 0), len(self._items))
        self._show()

    def move_down(self) -> None:
        """Skip the note; at the end, scroll the summary down."""
        if self.item is None:
            self._done.scroll_relative(y=1, animate=False)
        else:
            self._go_to(self._at + 1)

    def move_up(self) -> None:
        """Go to the previous note; at the end, scroll the summary up first."""
        if self.item is None and self._done.scroll_offset.y:
            self._done.scroll_relative(y=-1, animate=False)
        else:
            self._go_to(self._at - 1)

    def _scroll_page(self, direction: int) -> None:
        view = self._note if self.item else self._done
        height = max(1, view.scrollable_content_region.height - 2)
        view.release()
        view.scroll_relative(y=direction * height, animate=False)

    def go_to_start(self) -> None:
        """Go to the beginning of the note."""
        view = self._note if self.item else self._done
        view.release()
        view.jump_to(0)

    def go_to_end(self) -> None:
        """Go to the end of the note."""
        view = self._note if self.item else self._done
        view.release()
        view.jump_to(view.line_count)

    def toggle_secrets(self) -> None:
        """Show the secrets of the note until another one is shown, or mask them again."""
        if self.item is not None:
            self._revealed = "" if self._revealed else self.item.note.path
            self._show(keep_place=True)

    def on_note_view_secrets_scanned(self) -> None:
        self.update_bars()

    def show_origin(self) -> None:
        """Show the messages that caused the note."""
        if self.item is not None:
            self._show_origin(self._snapshot, self.item.note.path)


_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def parse_future_day(text: str, today: date) -> tuple[date | None, str]:
    """Return the day written as ISO 8601; None and the reason where it is not after `today`."""
    written = clip(text, 40)
    if not _DAY.fullmatch(text):
        return None, f"“{written}” is not a date: write it as {today + timedelta(days=90)}."
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None, f"{written} is not in the calendar."
    if day <= today:
        return None, f"{written} is not in the future: type a day after {today}."
    return day, ""
