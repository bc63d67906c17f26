"""The review of the day: one note at a time, with what speaks against it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Protocol

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content

from ricordo.errors import RicordoError
from ricordo.services.review import Item, Queue, last_said, queue
from ricordo.settings.keymap import Keymap
from ricordo.storage.decisions import ReviewVerdict
from ricordo.text import clip, one_line
from ricordo.tui.actions.handlers import Handlers
from ricordo.tui.actions.registry import BY_ID, label_of
from ricordo.tui.base.acting_screen import ActingScreen, bindings_on
from ricordo.tui.base.list_diff_screen import RevertActions
from ricordo.tui.context import NO_ORIGIN, NO_SECRETS, Scene, Situation, needs_redo
from ricordo.tui.dialogs.choose import ChooseScreen, Way
from ricordo.tui.dialogs.form import Field, FormScreen
from ricordo.tui.render.bars import key_line
from ricordo.tui.render.line import StyledLine, StyledSpan
from ricordo.tui.render.mask import masked
from ricordo.tui.render.note_page import NotePage
from ricordo.tui.review.rows import RETIRED, Outcome, doubt_lines, doubts_in, end_lines, meter
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.note_view import NoteView
from ricordo.tui.widgets.text_view import AboutView, TextView

if TYPE_CHECKING:
    from ricordo.services.workspace.notebook import Snapshot
    from ricordo.tui.color_palette import Palette

_METER = 24
"""Cells of the bar that fills."""
_WRONG = (
    Way("edit", "edit it", "put it right in your editor"),
    Way("retire", "retire it", "it leaves the memory; the history keeps it"),
    Way("leave", "leave it", "to the curator, who is told that it is wrong"),
)
_LATER = (
    Way("1", "tomorrow", ""),
    Way("7", "in a week", ""),
    Way("30", "in a month", ""),
    Way("date", "on a day …", "that you name"),
)
_ABOUT_A_NOTE = ("yes", "no", "later", "edit")


class Judge(Protocol):
    """Keeps what the person says of a note; says whether it is kept."""

    def __call__(
        self, look: Snapshot, path: str, judgement: ReviewVerdict, until: str = ""
    ) -> Awaitable[bool]:
        """`until` is the day from which on it is asked again, ISO 8601."""


class ReviewScreen(ActingScreen[None]):
    """Leads through a queue. Everything that is said counts at once."""

    SCENE = Scene.REVIEW
    CSS_PATH = "style.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings_on(SCENE)

    def __init__(
        self,
        look: Snapshot,
        queue: Queue,
        palette: Palette,
        keymap: Keymap,
        actions: RevertActions,
        judge: Judge,
        show_origin: Callable[[Snapshot, str], None],
    ) -> None:
        """`queue` is what is due in `look`; `show_origin` shows what caused a note of a look."""
        super().__init__(palette, keymap)
        self._look = look
        self._before = look.said
        self._items = queue.items
        self._more = queue.more
        self._actions = actions
        self._judge = judge
        self._show_origin = show_origin
        self._at = 0
        self._revealed = ""
        """Path of the note whose secrets are shown."""
        self._outcomes: dict[str, Outcome] = {}
        self._one_at_a_time = asyncio.Lock()
        self._title = Bar(palette, id="title")
        self._note = NoteView(palette, id="note")
        self._doubts = AboutView(palette, self._doubt_lines, id="doubts")
        self._done = TextView(palette, self._end_lines, id="done")
        self._state = Bar(palette, id="state")
        self._keys = Bar(palette, id="keys")

    def compose(self) -> ComposeResult:
        """How far it is; the note and its doubts, or what was done; the keys."""
        yield self._title
        yield self._note
        yield self._doubts
        yield self._done
        yield self._state
        yield self._keys

    def on_mount(self) -> None:
        """Begin with the first note."""
        self.call_after_refresh(self._show)

    def on_resize(self) -> None:
        """Draw the note for the new width."""
        self.call_after_refresh(self._show, keep_place=True)

    # What is shown

    @property
    def item(self) -> Item | None:
        """What is looked at; None at the end."""
        return self._items[self._at] if self._at < len(self._items) else None

    @property
    def outcomes(self) -> Mapping[str, Outcome]:
        """What was done with the notes so far, by path."""
        return self._outcomes

    def looked(self, look: Snapshot) -> None:
        """Take another look at the memory: something was said or written, or taken back."""
        self._look = look
        self._outcomes = {
            item.note.path: outcome
            for item in self._items
            if (outcome := self._outcome(item.note.path)) is not None
        }
        self._show(keep_place=True)

    def _outcome(self, path: str) -> Outcome | None:
        """Return what was done with a note since this review began; None where nothing was, or
        where its text has changed since.
        """
        note = self._look.memory.by_path.get(path)
        if note is None:
            return RETIRED
        said, before = self._look.said.get(path, ()), self._before.get(path, ())
        last = last_said(self._look, note)
        return last.judgement if last is not None and said != before else None

    def _show(self, *, keep_place: bool = False) -> None:
        item, was_away = self.item, not self._note.display
        note = self._look.memory.by_path.get(item.note.path) if item else None
        self._note.display = self._doubts.display = item is not None
        self._done.display = item is None
        if item is None:
            self._done.on_resize()
            self._done.focus()
        else:
            self._note.focus()
            self._note.border_title = Content(clip(masked(item.note.name), 80))
            width = self._note.content_width
            today = self._look.at.date()
            if self._revealed != item.note.path:
                self._revealed = ""
            page = NotePage(
                self._look,
                note or item.note,
                width,
                False,
                today,
                revealed=bool(self._revealed),
                reveal_key=label_of(BY_ID["reveal"], self.keymap),
            )
            self._note.show(page, keep_place=keep_place, line=0 if keep_place else self._line)
            self._doubts.tell()
            if was_away:
                # it has no width before it is laid out again
                self.call_after_refresh(self._show, keep_place=keep_place)
        self.say()

    @property
    def _line(self) -> int:
        """The line of the first doubt that has one; 0 where none has."""
        item = self.item
        doubts = doubts_in(item, self._look) if item else []
        return next((it.line for it in doubts if it.line), 0)

    def _doubt_lines(self, width: int) -> list[StyledLine]:
        return doubt_lines(self.item, self._look, width) if self.item else []

    def _end_lines(self, width: int) -> list[StyledLine]:
        if self.item is not None:
            return []
        # what is new waits in the inbox too, which is where it is told of
        after = queue(self._look, (), len(self._items) or 1)
        left = len(self._items) - len(self._outcomes)
        return end_lines(self._look, after, self._outcomes, left, width)

    def say(self) -> None:
        """Tell how far it is, and the keys."""
        done, of = len(self._outcomes), len(self._items)
        at = f" {self._at + 1} of {of}" if self.item else " done" if of else ""
        more = f"  {self._more:,} more are due" if self._more else ""
        bar = (meter(done, of, _METER), StyledSpan(f" {done}/{of} ", "dim")) if of else ()
        self._title.say(
            (
                StyledSpan(" Review ", "accent bold"),
                StyledSpan(at, "bold"),
                StyledSpan(more, "dim"),
            ),
            bar,
        )
        self._state.say(self._told_of_item())
        self._keys.say(*key_line(self.situation, self.keymap))

    def _told_of_item(self) -> tuple[StyledSpan, ...]:
        item = self.item
        outcome = self._outcomes.get(item.note.path) if item else None
        if outcome is not None:
            return (StyledSpan(f" ✓ {outcome}", "accent"), StyledSpan("; u takes it back", "dim"))
        said = "what you say counts at once, and Esc loses nothing"
        if item is None:
            return (StyledSpan(f" {said}", "dim"),)
        return (StyledSpan(f" ↓ skips · {said} · {one_line(item.note.path)}", "dim"),)

    @property
    def situation(self) -> Situation:
        """What can be taken back, and that at the end there is no note."""
        undo = "" if self._actions.can_undo or self._outcomes else "There is nothing to take back."
        refusals = {"undo": undo, "redo": needs_redo(Situation(redo=self._actions.can_redo))}
        refusals |= dict.fromkeys(_ABOUT_A_NOTE, self._why_not_judged)
        refusals["origin"] = self._why_no_origin
        page = self._note.page if self.item else None
        refusals["reveal"] = "" if page and page.secrets else NO_SECRETS
        if not refusals["edit"]:
            refusals["edit"] = self._look.memory.layout.read_only
        return replace(super().situation, refusals=refusals, revealed=bool(self._revealed))

    @property
    def _why_not_judged(self) -> str:
        if self.item is None:
            return "All notes were looked at; ↑ goes back to them."
        is_there = self.item.note.path in self._look.memory.by_path
        return "" if is_there else "It was retired; u brings it back."

    @property
    def _why_no_origin(self) -> str:
        if self.item is None:
            return self._why_not_judged
        return "" if self.item.note.path in self._look.evidence.origins else NO_ORIGIN

    # Saying

    @property
    def handlers(self) -> Handlers:
        """What the keys do, by action id."""
        return {
            **super().handlers,
            "no": self.reject_note,
            "later": self.postpone_note,
            "edit": self.edit_note,
            "undo": self.undo,
            "redo": self.redo,
            "cursor-down": self.move_down,
            "cursor-up": self.move_up,
            "first": self.go_to_start,
            "last": self.go_to_end,
            "reveal": self.toggle_secrets,
            "origin": self.show_origin,
            "leave": self.close,
            "yes": self.confirm_note,
            "page-down": partial(self._scroll_page, 1),
            "page-up": partial(self._scroll_page, -1),
            "review": self.close,
        }

    def confirm_note(self) -> None:
        """Record that the note is still true."""
        self._begin(partial(self._say_of, ReviewVerdict.TRUE))

    def reject_note(self) -> None:
        """It is wrong: what now?"""
        if self.item is not None:
            self._begin(partial(self._wrong, self.item.note.path))

    def postpone_note(self) -> None:
        """Not now: when?"""
        if self.item is not None:
            self._begin(self._later)

    def edit_note(self) -> None:
        """The note in the person's editor; it stays, to be judged as it is then."""
        if self.item is not None:
            self._begin(partial(self._actions.edit_note, self.item.note.path))

    def _begin(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do `work` once what was begun before is done."""
        self._run(partial(self._in_turn, work))

    def _run(self, work: Callable[[], Awaitable[None]]) -> None:
        self.run_worker(work, group="review")

    async def _in_turn(self, work: Callable[[], Awaitable[None]]) -> None:
        async with self._one_at_a_time:
            try:
                await work()
            except RicordoError as error:
                self.notify(str(error), severity="error", markup=False, timeout=10)

    async def _say_of(self, judgement: ReviewVerdict, until: str = "") -> None:
        item = self.item
        if item is None or item.note.path not in self._look.memory.by_path:
            return
        if await self._judge(self._look, item.note.path, judgement, until):
            self._outcomes[item.note.path] = judgement
            self._go_on()

    async def _wrong(self, path: str) -> None:
        name = clip(path, 60)
        ways = _WRONG[2:] if self._look.memory.layout.read_only else _WRONG
        way = await self._ask(ChooseScreen(f"{name} is wrong", ways, self._palette))
        if way == "edit":
            await self._actions.edit_note(path)
        elif way == "retire":
            if await self._actions.retire_note(path):
                self._go_on()
        elif way == "leave":
            await self._say_of(ReviewVerdict.WRONG)

    async def _later(self) -> None:
        way = await self._ask(ChooseScreen("Ask again", _LATER, self._palette))
        today = self._look.at.date()
        if way == "date":
            day = await self._ask_for_day(today)
        else:
            day = today + timedelta(days=int(way)) if way else None
        if day is not None:
            await self._say_of(ReviewVerdict.LATER, day.isoformat())

    async def _ask_for_day(self, today: date) -> date | None:
        fields = [Field("day", "", f"such as {today + timedelta(days=90)}")]
        filled = await self.app.push_screen_wait(
            FormScreen("Ask again on", fields, self._palette, "put it off")
        )
        if not filled.confirmed:
            return None
        day, why_not = day_to_come(filled.values["day"].strip(), today)
        if why_not:
            self.notify(why_not, severity="warning", markup=False)
        return day

    async def _ask(self, screen: ChooseScreen) -> str | None:
        return await self.app.push_screen_wait(screen)

    # Taking back

    def undo(self) -> None:
        """Take the last act back, and go to the note that it was about."""
        self._begin(partial(self._turn, self._actions.undo_last))

    def redo(self) -> None:
        """Do again what was undone last."""
        self._begin(partial(self._turn, self._actions.redo_last))

    async def _turn(self, turn: Callable[[], Awaitable[frozenset[str]]]) -> None:
        about = await turn()
        numbers = (n for n, item in enumerate(self._items) if item.note.path in about)
        self._go_to(next(numbers, self._at))

    # Moving

    def _go_on(self) -> None:
        """Go to the next note of which nothing was said; there where all were, to the end."""
        after = range(self._at + 1, len(self._items))
        open_ones = (n for n in after if self._items[n].note.path not in self._outcomes)
        self._go_to(next(open_ones, len(self._items)))

    def _go_to(self, number: int) -> None:
        self._at = min(max(number, 0), len(self._items))
        self._show()

    def move_down(self) -> None:
        """Skip the note; at the end, down in what was done."""
        if self.item is None:
            self._done.scroll_relative(y=1, animate=False)
        else:
            self._go_to(self._at + 1)

    def move_up(self) -> None:
        """Back to the note before."""
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
        """The beginning of the note."""
        view = self._note if self.item else self._done
        view.release()
        view.jump_to(0)

    def go_to_end(self) -> None:
        """The end of the note."""
        view = self._note if self.item else self._done
        view.release()
        view.jump_to(view.line_count)

    def toggle_secrets(self) -> None:
        """The secrets of the note, until another one is shown; or masked again."""
        if self.item is not None:
            self._revealed = "" if self._revealed else self.item.note.path
            self._show(keep_place=True)

    def on_note_view_looked_through(self) -> None:
        """Secrets may be there to be revealed."""
        self.say()

    def show_origin(self) -> None:
        """What caused the note."""
        if self.item is not None:
            self._show_origin(self._look, self.item.note.path)

    def close(self) -> None:
        """Back to the notebook; what was said is kept."""
        self.dismiss(None)


_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def day_to_come(text: str, today: date) -> tuple[date | None, str]:
    """Return the day that was written as ISO 8601, else None and why it will not do."""
    said = clip(text, 40)
    if not _DAY.fullmatch(text):
        return None, f"“{said}” is no day: write it as {today + timedelta(days=90)}."
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None, f"{said} is not in the calendar: there is no such day."
    if day <= today:
        return None, f"{said} is not to come: name a day after {today}."
    return day, ""
