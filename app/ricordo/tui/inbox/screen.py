"""The inbox: what anybody but the person changed since the last visit, each to keep or revert."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.content import Content

from ricordo.memory.change import ChangeSet, Edit
from ricordo.services.inbox.inbox import (
    Arrival,
    Inbox,
    close_visit,
    count_visits,
    inbox,
    with_writers,
)
from ricordo.services.inbox.revert import dropped_entries, revert_marked
from ricordo.settings.keymap import Keymap
from ricordo.storage.decisions import Decision
from ricordo.text import clip
from ricordo.tui.actions.handlers import Handlers
from ricordo.tui.base.acting_screen import bindings_on
from ricordo.tui.base.list_diff_screen import PastScreen, RevertActions
from ricordo.tui.context import Scene
from ricordo.tui.render.inbox_rows import about, arrival_rows, empty_inbox, moment, state_of
from ricordo.tui.render.line import StyledLine, StyledSpan

if TYPE_CHECKING:
    from ricordo.services.workspace.notebook import Notebook
    from ricordo.tui.color_palette import Palette


class Judging:
    """What a person has done with one inbox so far; nothing of it is written."""

    def __init__(self) -> None:
        """Nothing was seen or marked yet."""
        self.seen: set[str] = set()
        """Ids of arrivals whose diff was on the screen to its end."""
        self._marks: dict[str, frozenset[int]] = {}

    @property
    def marks(self) -> Mapping[str, frozenset[int]]:
        """The hunks to be reverted by the id of their arrival; none means all of it."""
        return self._marks

    def hunks(self, arrival: Arrival) -> int | None:
        """Return how many hunks are marked, 0 for all; None where the arrival is not marked."""
        marked = self._marks.get(arrival.id)
        return None if marked is None else len(marked)

    def turn(self, arrival: Arrival) -> bool:
        """Mark all of an arrival, or take its mark away; say whether it is marked now."""
        if self._marks.pop(arrival.id, None) is not None:
            return False
        self._marks[arrival.id] = frozenset()
        return True

    def mark_hunks(self, arrival: Arrival, hunks: frozenset[int]) -> None:
        """Mark these hunks of an arrival and no others."""
        self._marks.pop(arrival.id, None)
        if hunks:
            self._marks[arrival.id] = hunks

    def forget(self, *ids: str) -> None:
        """Take the marks of arrivals away."""
        for id_ in ids:
            self._marks.pop(id_, None)

    def keep_to(self, earlier: Inbox, inbox: Inbox) -> None:
        """Forget the marks of what is no longer as it was: its hunks are others now."""
        same = {arrival.id for arrival in inbox.waiting if arrival in earlier.arrivals}
        self._marks = {id_: hunks for id_, hunks in self._marks.items() if id_ in same}

    def unseen(self, inbox: Inbox) -> frozenset[str]:
        """Return the ids of what stays new when the visit ends."""
        waiting = (arrival.id for arrival in inbox.waiting)
        return frozenset(id_ for id_ in waiting if id_ not in self.seen or id_ in self._marks)

    def is_a_visit(self, inbox: Inbox) -> bool:
        """Say whether anything was seen or decided, so that the visit counts."""
        return any(arrival.id not in self.unseen(inbox) for arrival in inbox.arrivals)


_JUDGING = ("yes", "no", "later", "hunk", "all", "write")


class InboxScreen(PastScreen):
    """One visit. Keep and later count at once; reverts are collected and written by ctrl+s."""

    SCENE = Scene.INBOX
    BINDINGS: ClassVar[list[BindingType]] = bindings_on(SCENE)

    def __init__(
        self,
        notebook: Notebook,
        palette: Palette,
        keymap: Keymap,
        actions: RevertActions,
        changed: Callable[[], None],
    ) -> None:
        """`changed` is called after every decision."""
        super().__init__(notebook, palette, keymap, actions)
        self._changed = changed
        self._judging = Judging()
        self._now = Inbox("", (), 0)
        self._shown = self._now
        self._arrivals: tuple[Arrival, ...] = ()
        self._back = 0
        self._visits = 0
        self.is_loaded = False
        """Whether the arrivals are on the screen."""

    def on_mount(self) -> None:
        """Begin the visit."""
        self.watch(self._diff, "scroll_y", self._scrolled, init=False)
        self.refresh_arrivals()

    def on_resize(self) -> None:
        """More of the diff may be in sight."""
        self.call_after_refresh(self._scrolled)

    # What is shown

    @property
    def arrival(self) -> Arrival | None:
        """The arrival under the cursor."""
        return self._arrivals[self._list.at] if 0 <= self._list.at < len(self._arrivals) else None

    @property
    def _has_diff(self) -> bool:
        return self.arrival is not None

    def refresh_arrivals(self) -> None:
        """Read the inbox again: something was decided, or somebody went on writing."""
        self._begin(self._load)

    _reload = refresh_arrivals

    async def _load(self) -> None:
        now = await asyncio.to_thread(_arrived, self._notebook)
        self._judging.keep_to(self._now, now)
        self._now = now
        self._visits = await asyncio.to_thread(count_visits, self._notebook)
        shown = self._now
        if self._back:
            shown = await asyncio.to_thread(_arrived, self._notebook, self._back)
        self._show(shown)

    def _show(self, shown: Inbox) -> None:
        before, at = self.arrival, max(self._list.at, 0)
        self.is_loaded = True
        self._shown, self._arrivals = shown, shown.worst_first
        same = (n for n, it in enumerate(self._arrivals) if before and it.path == before.path)
        at = min(next(same, at), len(self._arrivals) - 1)
        self._list.show(len(self._arrivals), at, empty_inbox(shown, self._back))
        if self.arrival is None or self.arrival != before:
            self._chosen()
        self.say()

    def _chosen(self) -> None:
        arrival = self.arrival
        edits: tuple[Edit, ...] = ()
        if arrival is not None and not arrival.is_purged:
            root, moved = self._notebook.place.root, arrival.origin
            edits = (Edit(root, arrival.path, arrival.before, arrival.after, moved_from=moved),)
        self._about.tell()
        self._diff.show_marked(edits, self._judging.marks.get(arrival.id, ()) if arrival else ())
        self._right.display = arrival is not None
        self.call_after_refresh(self._scrolled)
        self.say()

    def _scrolled(self) -> None:
        """Remember what was on the screen to its end."""
        arrival = self.arrival
        if arrival is not None and self._diff.is_read and arrival.id not in self._judging.seen:
            self._judging.seen.add(arrival.id)
            self._list.refresh()
        self.say()

    def _rows(self, number: int, width: int, in_one: bool) -> tuple[StyledLine, ...]:
        arrival, judging = self._arrivals[number], self._judging
        seen = bool(self._back) or arrival.id in judging.seen
        return arrival_rows(
            arrival, state_of(arrival, judging.hunks(arrival), seen=seen), width, in_one=in_one
        )

    def _about_lines(self, width: int) -> list[StyledLine]:
        arrival = self.arrival
        if arrival is None:
            return []
        return about(arrival, dropped_entries(arrival, self._notebook.place.layout), width)

    def say(self) -> None:
        """Tell how many wait, what is marked, and the keys."""
        super().say()
        waiting = len(self._judging.unseen(self._now))
        since = f" since {moment(self._shown.since)}" if self._shown.since else ""
        what = f" what came{since}, read-only" if self._back else f" {waiting} unseen{since}"
        said = (StyledSpan(" Inbox ", "accent bold"), StyledSpan(what, "dim"))
        nth = f"{self._back} of {self._visits} visits back " if self._back else ""
        self._title.say(said, (StyledSpan(nth, "dim"),))
        told, marked = StyledSpan(""), len(self._judging.marks)
        if marked:
            what = "1 note is" if marked == 1 else f"{marked} notes are"
            told = StyledSpan(
                f" ↶ {what} marked to be reverted · nothing is written until ctrl+s", "warning"
            )
        elif self._arrivals and not self._back:
            told = StyledSpan(" what was not on the screen to its end stays new", "dim")
        self._state.say((told,))
        self._list.border_title = Content(f"Arrivals · {len(self._arrivals)}")
        self._right.border_title = Content(clip(self.arrival.path, 60) if self.arrival else "")

    # Deciding

    @property
    def _refusals(self) -> Mapping[str, str]:
        refusals = {
            "back": "" if self._back < self._visits else "This is the first visit.",
            "forward": "" if self._back else "This is what is new now.",
            "edit": self._why_not_edited,
        }
        if self._back:
            return refusals | dict.fromkeys(
                _JUDGING, "An earlier visit can only be looked at; ] leads back to now."
            )
        refusals |= dict.fromkeys(("yes", "later", "no", "hunk"), self._why_not_judged)
        refusals["no"] = refusals["no"] or self._why_not_reverted
        refusals["hunk"] = refusals["hunk"] or self._why_no_hunk
        refusals["all"] = "" if self._now.waiting else "Nothing waits to be kept."
        marked = bool(self._judging.marks)
        refusals["write"] = "" if marked else "Nothing is marked to be reverted; d marks."
        return refusals

    @property
    def _why_not_judged(self) -> str:
        if self.arrival is None:
            return "Nothing came that could be judged."
        return "That was reverted already." if self.arrival.reverted else ""

    @property
    def _why_not_reverted(self) -> str:
        if self.arrival is not None and self.arrival.kind == "conflict":
            return "The note does not have that text: there is nothing to revert."
        is_purged = self.arrival is not None and self.arrival.is_purged
        return "Its text was purged, so it cannot be reverted." if is_purged else ""

    @property
    def _why_no_hunk(self) -> str:
        whole = self.arrival is not None and self.arrival.kind != "changed"
        only = "Only what was changed has hunks; d reverts all of it."
        return only if whole else self._why_not_reverted

    @property
    def _why_not_edited(self) -> str:
        if self.arrival is None:
            return "No note is under the cursor."
        if self.arrival.kind == "deleted":
            return "It is gone, so it cannot be edited; d brings it back."
        return self._notebook.place.layout.read_only

    @property
    def handlers(self) -> Handlers:
        """What the keys do, by action id."""
        return {
            **super().handlers,
            "all": self.keep_all,
            "no": self.toggle_revert,
            "hunk": self.toggle_hunk,
            "write": self.write_reverts,
            "edit": self.edit_note,
            "inbox": self.close,
            "yes": partial(self._decide, Decision.KEEP),
            "later": partial(self._decide, Decision.SNOOZE),
            "back": partial(self._look_at_visit, 1),
            "forward": partial(self._look_at_visit, -1),
            "open": self.go_to_diff,
        }

    def _decide(self, decision: Decision) -> None:
        if arrival := self.arrival:
            self._judging.forget(arrival.id)
            self._list.move(1)
            self._begin(partial(self._keep_decision, decision, [arrival.id]))

    def keep_all(self) -> None:
        """All that is not marked to be reverted is fine."""
        marks = self._judging.marks
        ids = [arrival.id for arrival in self._now.waiting if arrival.id not in marks]
        if ids:
            self._begin(partial(self._keep_decision, Decision.KEEP, ids))

    async def _keep_decision(self, decision: Decision, ids: list[str]) -> None:
        now = self._notebook.surroundings.now.isoformat()
        await asyncio.to_thread(self._notebook.decisions.decide, decision, ids, now)
        await self._load()
        self._changed()

    def toggle_revert(self) -> None:
        """Mark it to be reverted, or take the mark away."""
        if arrival := self.arrival:
            is_marked = self._judging.turn(arrival)
            if self._diff.left_out:
                self._chosen()
            if is_marked:
                self._list.move(1)
            self._list.refresh()

    def toggle_hunk(self) -> None:
        """Mark the hunk under the cursor to be reverted, or take its mark away."""
        if self._diff.hunk is None:
            self.go_to_diff()
            self._diff.go_to_hunk()
        elif (arrival := self.arrival) and self._diff.leave_out():
            self._judging.mark_hunks(arrival, self._diff.marked)
            self._list.refresh()

    # Writing

    def write_reverts(self) -> None:
        """Write all reverts that are marked."""
        self._begin(self._write)

    async def _write(self) -> None:
        marks = dict(self._judging.marks)
        change_set = await asyncio.to_thread(self._change_set, marks)
        approved: ChangeSet | None = change_set
        if change_set.remarks:
            approved = await self._actions.propose("Revert what is marked", change_set)
        if approved and await self._actions.write_seen(approved):
            what = "1 note" if len(marks) == 1 else f"{len(marks)} notes"
            self.notify(f"Reverted {what}; u takes it back.", markup=False, timeout=5)
            self._judging.forget(*marks)
        await self._load()
        self._changed()

    def _change_set(self, marks: Mapping[str, Collection[int]]) -> ChangeSet:
        return revert_marked(marks, self._now, self._notebook.read())

    def edit_note(self) -> None:
        """The note in the person's editor."""
        if arrival := self.arrival:
            self._begin(partial(self._edit, arrival.path))

    async def _edit(self, path: str) -> None:
        await self._actions.edit_note(path)
        self._reload()

    # Leaving

    def close(self) -> None:
        """The key that led here leads back."""
        self._leave()

    def _leave(self) -> None:
        """Close the visit."""
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

    def _look_at_visit(self, step: int) -> None:
        self._back += step
        self.refresh_arrivals()

    def on_row_list_opened(self) -> None:
        """A second click goes to the diff."""
        self.go_to_diff()


def _arrived(notebook: Notebook, back: int = 0) -> Inbox:
    """Return what came, by whom."""
    return with_writers(notebook, inbox(notebook, back))
