"""The inbox: what anybody but the person changed since the last visit, each to keep or revert."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.screen import Screen

from ricordo.disk.decisions import Decision
from ricordo.errors import RicordoError
from ricordo.memory.change_set import ChangeSet, Edit
from ricordo.memory.layout import Role
from ricordo.notebook.inbox import Arrival, Inbox, close_visit, count_visits, inbox
from ricordo.notebook.revert import dropped_entries, revert_all, revert_hunks
from ricordo.text import clip
from ricordo.tui.judging import Judging
from ricordo.tui.render.bars import key_spans
from ricordo.tui.render.inbox_rows import about, arrival_rows, empty_inbox, moment, state_of
from ricordo.tui.render.line import Line, Span
from ricordo.tui.screens.proposal import CALM
from ricordo.tui.widgets.about_view import AboutView
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.marked_diff import MarkedDiff
from ricordo.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from ricordo.notebook.open import Notebook
    from ricordo.tui.palette import Palette
    from ricordo.tui.past import Write

WIDE = 110
"""Columns from which on the diff stands beside the list."""
_READ_ONLY = "An earlier visit can only be looked at; ] leads back to now."
_KEYS = (
    ("a", "keep"),
    ("d", "revert"),
    ("Space", "hunk"),
    ("l", "later"),
    ("A", "keep all"),
    ("ctrl+s", "write reverts"),
)
_MORE_KEYS = (("v", "side by side"), ("[ ]", "visits"), ("Esc", "back"))


class InboxScreen(Screen[None]):
    """One visit. Keep and later count at once; reverts are collected and written by ctrl+s."""

    CSS_PATH = "past.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "keep", show=False),
        Binding("A", "keep_all", show=False),
        Binding("l", "later", show=False),
        Binding("d", "revert", show=False),
        Binding("space", "hunk", show=False),
        Binding("ctrl+s", "write", show=False, priority=True),
        Binding("v", "turn", show=False),
        Binding("left_square_bracket", "visit(1)", show=False),
        Binding("right_square_bracket", "visit(-1)", show=False),
        Binding("enter,right,2", "go('diff')", show=False),
        Binding("left,1", "go('list')", show=False),
        Binding("tab,shift+tab", "go('')", show=False, priority=True),
        Binding("escape,i", "leave", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("up,k", "move(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("home,g", "end(-1)", show=False),
        Binding("end,G", "end(1)", show=False),
    ]

    def __init__(
        self, notebook: Notebook, palette: Palette, write: Write, changed: Callable[[], None]
    ) -> None:
        """`notebook` is for this screen's threads; `write` takes reverts to the disk; `changed` is
        called after every decision.
        """
        super().__init__()
        self._notebook = notebook
        self._palette = palette
        self._write_seen = write
        self._changed = changed
        self._judging = Judging()
        self._now = Inbox("", (), 0)
        self._shown = self._now
        self._arrivals: tuple[Arrival, ...] = ()
        self._back = 0
        self._visits = 0
        self.is_loaded = False
        """Whether the arrivals are on the screen."""
        self._opened = 0.0
        self._one_at_a_time = asyncio.Lock()
        self._title = Bar(palette, id="title")
        self._state = Bar(palette, id="state")
        self._keys = Bar(palette, id="keys")
        self._right = Vertical(id="right", classes="pane")
        self._list = RowList(palette, self._chosen, self._rows, id="list")
        self._about = AboutView(palette, self._about_lines, id="about")
        self._diff = MarkedDiff(palette, self._scrolled, id="diff")

    def compose(self) -> ComposeResult:
        """A title; arrivals beside what is known of one; state and keys."""
        yield self._title
        with Container(id="past"):
            yield self._list.add_class("pane")
            with self._right:
                yield self._about
                yield self._diff
        yield self._state
        yield self._keys

    def on_mount(self) -> None:
        """Begin the visit."""
        self._opened = time.monotonic()
        self._list.focus()
        self.watch(self._diff, "scroll_y", self._scrolled, init=False)
        self.refresh_arrivals()

    def on_resize(self) -> None:
        """Put the diff beside the list where there is room, else below it."""
        self.set_class(self.size.width >= WIDE, "-wide")
        self.call_after_refresh(self._scrolled)

    def repaint(self, palette: Palette) -> None:
        """Take the styles of another theme; what is on the screen is drawn anew by itself."""
        self._palette = palette

    # What is shown

    @property
    def arrival(self) -> Arrival | None:
        """The arrival under the cursor."""
        return self._arrivals[self._list.at] if 0 <= self._list.at < len(self._arrivals) else None

    def refresh_arrivals(self) -> None:
        """Read the inbox again: something was decided, or somebody went on writing."""
        self._begin(self._load)

    def _begin(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do `work` once what was begun before is done."""
        self.run_worker(self._in_turn(work), group="inbox")

    async def _in_turn(self, work: Callable[[], Awaitable[None]]) -> None:
        async with self._one_at_a_time:
            try:
                await work()
            except RicordoError as error:
                self.notify(str(error), severity="error", markup=False, timeout=10)

    async def _load(self) -> None:
        self._now = await asyncio.to_thread(inbox, self._notebook)
        self._judging.keep_to(self._now)
        self._visits = await asyncio.to_thread(count_visits, self._notebook)
        shown = self._now
        if self._back:
            shown = await asyncio.to_thread(inbox, self._notebook, self._back)
        self._show(shown)

    def _show(self, shown: Inbox) -> None:
        before, at = self.arrival, max(self._list.at, 0)
        self.is_loaded = True
        self._shown, self._arrivals = shown, shown.worst_first
        same = (n for n, it in enumerate(self._arrivals) if before and it.path == before.path)
        at = min(next(same, at), len(self._arrivals) - 1)
        self._list.show(len(self._arrivals), at, empty_inbox(shown, self._back))
        if self.arrival is None or before is None or self.arrival.id != before.id:
            self._chosen()
        self._say()

    def _chosen(self) -> None:
        """Show what became of the arrival under the cursor."""
        arrival = self.arrival
        edits: tuple[Edit, ...] = ()
        if arrival is not None and not arrival.is_purged:
            root, moved = self._notebook.place.root, arrival.origin
            edits = (Edit(root, arrival.path, arrival.before, arrival.after, moved_from=moved),)
        self._about.tell()
        self._diff.show_marked(edits, self._judging.marks.get(arrival.id, ()) if arrival else ())
        self._right.display = arrival is not None
        self.call_after_refresh(self._scrolled)
        self._say()

    def _scrolled(self) -> None:
        """Remember what was on the screen to its end."""
        arrival = self.arrival
        if arrival is not None and self._diff.is_read and arrival.id not in self._judging.seen:
            self._judging.seen.add(arrival.id)
            self._list.refresh()
        self._say()

    def _rows(self, number: int, width: int, in_one: bool) -> tuple[Line, ...]:
        arrival, judging = self._arrivals[number], self._judging
        seen = bool(self._back) or arrival.id in judging.seen
        return arrival_rows(
            arrival, state_of(arrival, judging.hunks(arrival), seen=seen), width, in_one=in_one
        )

    def _about_lines(self, width: int) -> list[Line]:
        arrival = self.arrival
        if arrival is None:
            return []
        return about(arrival, dropped_entries(arrival, self._notebook.place.layout), width)

    def _say(self) -> None:
        waiting = len(self._judging.unseen(self._now))
        since = f" since {moment(self._shown.since)}" if self._shown.since else ""
        what = f" what came{since}, read-only" if self._back else f" {waiting} unseen{since}"
        said = (Span(" Inbox ", "accent bold"), Span(what, "dim"))
        nth = f"{self._back} of {self._visits} visits back " if self._back else ""
        self._title.say(said, (Span(nth, "dim"),))
        told, marked = Span(""), len(self._judging.marks)
        if marked:
            what = "1 note is" if marked == 1 else f"{marked} notes are"
            told = Span(
                f" ↶ {what} marked to be reverted · nothing is written until ctrl+s", "warning"
            )
        elif self._arrivals and not self._back:
            told = Span(" what was not on the screen to its end stays new", "dim")
        self._state.say((told,))
        keys = () if self._back or not self._arrivals else _KEYS
        rights = (key_spans(_MORE_KEYS), key_spans(_MORE_KEYS[1:]), key_spans(_MORE_KEYS[2:]))
        self._keys.say(key_spans(keys), *rights)
        self._list.border_title = Content(f"Arrivals · {len(self._arrivals)}")
        self._right.border_title = Content(clip(self.arrival.path, 60) if self.arrival else "")

    # Deciding

    def _decidable(self) -> Arrival | None:
        """Return the arrival that can be decided on; say why not where there is none."""
        if self._back:
            self.notify(_READ_ONLY, markup=False, timeout=3)
            return None
        if self.arrival is not None and self.arrival.reverted:
            self.notify("That was reverted already.", markup=False, timeout=3)
            return None
        return self.arrival

    def action_keep(self) -> None:
        """It is fine."""
        self._decide(Decision.KEEP)

    def action_later(self) -> None:
        """It is new again at the next visit."""
        self._decide(Decision.SNOOZE)

    def _decide(self, decision: Decision) -> None:
        if arrival := self._decidable():
            self._judging.forget(arrival)
            self._list.move(1)
            self._begin(lambda: self._keep_decision(decision, [arrival.id]))

    def action_keep_all(self) -> None:
        """All that is not marked to be reverted is fine."""
        if self._back:
            self.notify(_READ_ONLY, markup=False, timeout=3)
            return
        marks = self._judging.marks
        ids = [arrival.id for arrival in self._now.waiting if arrival.id not in marks]
        if ids:
            self._begin(lambda: self._keep_decision(Decision.KEEP, ids))

    async def _keep_decision(self, decision: Decision, ids: list[str]) -> None:
        now = self._notebook.surroundings.now.isoformat()
        await asyncio.to_thread(self._notebook.decisions.decide, decision, ids, now)
        await self._load()
        self._changed()

    def action_revert(self) -> None:
        """Mark it to be reverted, or take the mark away."""
        arrival = self._decidable()
        if arrival is None:
            return
        if arrival.is_purged:
            self.notify("Its text was purged, so it cannot be reverted.", markup=False, timeout=3)
            return
        is_marked = self._judging.turn(arrival)
        if self._diff.left_out:
            self._chosen()
        if is_marked:
            self._list.move(1)
        self._list.refresh()
        self._say()

    def action_hunk(self) -> None:
        """Mark the hunk under the cursor to be reverted, or take its mark away."""
        arrival = self._decidable()
        if arrival is None:
            return
        if arrival.kind != "changed" or arrival.is_purged:
            self.notify("Only what was changed has hunks; d reverts all of it.", markup=False)
        elif self._diff.hunk is None:
            self.action_go("diff")
            self._diff.move(1)
        elif self._diff.leave_out():
            self._judging.mark_hunks(arrival, self._diff.marked)
            self._list.refresh()
        self._say()

    # Writing

    def action_write(self) -> None:
        """Write all reverts that are marked."""
        if time.monotonic() - self._opened < CALM or self._back:
            return
        if not self._judging.marks:
            self.notify("Nothing is marked to be reverted; d marks.", markup=False, timeout=3)
            return
        self._begin(self._write)

    async def _write(self) -> None:
        marked = [it for it in self._arrivals if it.id in self._judging.marks]
        role = self._notebook.place.layout.role
        # indexes first: an entry that comes back with its index need not be put in once more
        marked.sort(key=lambda it: role(it.path) is not Role.INDEX)
        written = 0
        for arrival in marked:
            change_set = await asyncio.to_thread(self._change_set, arrival)
            if await self._write_seen(change_set):
                written += 1
                self._judging.forget(arrival)
        if written:
            what = "1 note" if written == 1 else f"{written} notes"
            self.notify(f"Reverted {what}; u takes it back.", markup=False, timeout=5)
        await self._load()
        self._changed()

    def _change_set(self, arrival: Arrival) -> ChangeSet:
        hunks = self._judging.marks[arrival.id]
        if hunks:
            return revert_hunks(arrival, hunks, self._notebook.place.root)
        return revert_all(arrival, self._now, self._notebook.read())

    # Moving

    def action_leave(self) -> None:
        """From the diff to the list; from the list out of the visit, which closes it."""
        if self._diff.has_focus:
            self._list.focus()
            return
        self._begin(self._close)

    async def _close(self) -> None:
        unseen = self._judging.unseen(self._now)
        try:
            if self._judging.is_a_visit(self._now):
                await asyncio.to_thread(close_visit, self._notebook, self._now, unseen)
        finally:
            if self._judging.marks:
                said = "Marked reverts were not written (ctrl+s does): they stay new."
                self.app.notify(said, severity="warning", markup=False)
            self._changed()
            self.dismiss(None)

    def action_visit(self, step: int) -> None:
        """Look at what came before an earlier visit, or a later one."""
        back = min(max(self._back + step, 0), self._visits)
        if back == self._back:
            said = "This is the first visit." if step > 0 else "This is what is new now."
            self.notify(said, markup=False, timeout=3)
            return
        self._back = back
        self.refresh_arrivals()

    def action_go(self, where: str) -> None:
        """To the list, to the diff, or to the other of them."""
        to_diff = where == "diff" or (not where and self._list.has_focus)
        (self._diff if to_diff and self.arrival is not None else self._list).focus()

    def on_row_list_opened(self) -> None:
        """A second click goes to the diff."""
        self._diff.focus()

    def action_turn(self) -> None:
        """Side by side, or in one column."""
        self._diff.turn()

    def action_move(self, step: int) -> None:
        """Move in the list or, from hunk to hunk, in the diff."""
        (self._diff if self._diff.has_focus else self._list).move(step)

    def action_page(self, direction: int) -> None:
        """Move by a page in the diff, wherever the focus is."""
        height = max(1, self._diff.scrollable_content_region.height - 2)
        self._diff.jump_to(self._diff.scroll_offset.y + direction * height)

    def action_end(self, direction: int) -> None:
        """Move to the beginning or the end."""
        if not self._diff.has_focus:
            self._list.move_to_end(direction)
            return
        self._diff.move_to_end(direction)
        # a long hunk begins far above its end
        self._diff.jump_to(0 if direction < 0 else self._diff.line_count)
