"""The screen of the inbox: what others changed since the last visit, to keep or revert."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content

from ricordo.memory.change import ChangeSet, Edit
from ricordo.services.inbox.inbox import (
    Inbox,
    InboxChange,
    add_writers,
    close_visit,
    count_visits,
    read_inbox,
)
from ricordo.services.inbox.revert import build_revert, list_dropped_entries
from ricordo.settings.keymap import Keymap
from ricordo.storage.decisions import Decision
from ricordo.text import clip
from ricordo.tui.actions.bindings import Handlers
from ricordo.tui.base.action_screen import NotebookActions
from ricordo.tui.base.list_diff_screen import ListDiffScreen
from ricordo.tui.context import ScreenId
from ricordo.tui.render.inbox_rows import (
    describe_empty_inbox,
    describe_state,
    format_moment,
    render_arrival,
    render_arrival_row,
)
from ricordo.tui.render.line import StyledLine, StyledSpan

if TYPE_CHECKING:
    from ricordo.services.workspace.notebook import Notebook
    from ricordo.tui.color_palette import Palette


class InboxDecisions:
    """The user's decisions in one visit that are not written yet."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        """Ids of arrivals whose diff was shown to its end."""
        self._marks: dict[str, frozenset[int]] = {}

    @property
    def marks(self) -> Mapping[str, frozenset[int]]:
        """The hunks to revert by arrival id; an empty set is the whole arrival."""
        return self._marks

    def count_marked_hunks(self, arrival: InboxChange) -> int | None:
        """Return the number of marked hunks, 0 for the whole arrival; None without a mark."""
        marked = self._marks.get(arrival.id)
        return None if marked is None else len(marked)

    def toggle_mark(self, arrival: InboxChange) -> bool:
        """Mark the whole arrival, or clear its mark; return whether it is marked now."""
        if self._marks.pop(arrival.id, None) is not None:
            return False
        self._marks[arrival.id] = frozenset()
        return True

    def mark_hunks(self, arrival: InboxChange, hunks: frozenset[int]) -> None:
        """Mark only these hunks of an arrival; an empty set clears its mark."""
        self._marks.pop(arrival.id, None)
        if hunks:
            self._marks[arrival.id] = hunks

    def clear_marks(self, *ids: str) -> None:
        """Clear the marks of arrivals."""
        for id_ in ids:
            self._marks.pop(id_, None)

    def drop_changed_marks(self, earlier: Inbox, inbox: Inbox) -> None:
        """Clear the marks of arrivals that changed: their hunks are different now."""
        same = {arrival.id for arrival in inbox.pending if arrival in earlier.changes}
        self._marks = {id_: hunks for id_, hunks in self._marks.items() if id_ in same}

    def find_unseen(self, inbox: Inbox) -> frozenset[str]:
        """Return the ids of arrivals that stay new when the visit ends."""
        waiting = (arrival.id for arrival in inbox.pending)
        return frozenset(id_ for id_ in waiting if id_ not in self.seen or id_ in self._marks)

    def has_decisions(self, inbox: Inbox) -> bool:
        """Return whether anything was seen or decided, so that the visit counts."""
        return any(arrival.id not in self.find_unseen(inbox) for arrival in inbox.changes)


_DECISIONS = ("yes", "no", "later", "hunk", "all", "write")


class InboxScreen(ListDiffScreen):
    """One visit. Keep and later are stored at once; reverts are marked, and written by ctrl+s."""

    SCREEN_ID = ScreenId.INBOX

    def __init__(
        self,
        notebook: Notebook,
        palette: Palette,
        keymap: Keymap,
        actions: NotebookActions,
        changed: Callable[[], None],
    ) -> None:
        """`changed` is called after every decision."""
        super().__init__(notebook, palette, keymap, actions)
        self._changed = changed
        self._judging = InboxDecisions()
        self._now = Inbox("", (), 0)
        self._shown = self._now
        self._arrivals: tuple[InboxChange, ...] = ()
        self._back = 0
        self._visits = 0
        self.is_loaded = False
        """Whether the arrivals are on the screen."""

    def on_mount(self) -> None:
        self.watch(self._diff, "scroll_y", self._scrolled, init=False)
        self.refresh_arrivals()

    def on_resize(self) -> None:
        self.call_after_refresh(self._scrolled)

    # What is shown

    @property
    def arrival(self) -> InboxChange | None:
        """The arrival under the cursor; None where there is none."""
        return self._arrivals[self._list.at] if 0 <= self._list.at < len(self._arrivals) else None

    @property
    def _has_diff(self) -> bool:
        return self.arrival is not None

    def refresh_arrivals(self) -> None:
        """Read the inbox again, after a decision or a change on disk."""
        self._begin(self._load)

    _reload = refresh_arrivals

    async def _load(self) -> None:
        now = await asyncio.to_thread(_read_inbox, self._notebook)
        self._judging.drop_changed_marks(self._now, now)
        self._now = now
        self._visits = await asyncio.to_thread(count_visits, self._notebook)
        shown = self._now
        if self._back:
            shown = await asyncio.to_thread(_read_inbox, self._notebook, self._back)
        self._show(shown)

    def _show(self, shown: Inbox) -> None:
        before, at = self.arrival, max(self._list.at, 0)
        self.is_loaded = True
        self._shown, self._arrivals = shown, shown.worst_first
        same = (n for n, it in enumerate(self._arrivals) if before and it.path == before.path)
        at = min(next(same, at), len(self._arrivals) - 1)
        self._list.show(len(self._arrivals), at, describe_empty_inbox(shown, self._back))
        if self.arrival is None or self.arrival != before:
            self._chosen()
        self.update_bars()

    def _chosen(self) -> None:
        arrival = self.arrival
        edits: tuple[Edit, ...] = ()
        if arrival is not None and not arrival.is_purged:
            root, moved = self._notebook.place.root, arrival.old_path
            edits = (Edit(root, arrival.path, arrival.before, arrival.after, moved_from=moved),)
        self._about.redraw()
        self._diff.show_marked(edits, self._judging.marks.get(arrival.id, ()) if arrival else ())
        self._right.display = arrival is not None
        self.call_after_refresh(self._scrolled)
        self.update_bars()

    def _scrolled(self) -> None:
        """Record that the diff was shown to its end."""
        arrival = self.arrival
        if (
            arrival is not None
            and self._diff.is_read_to_end
            and arrival.id not in self._judging.seen
        ):
            self._judging.seen.add(arrival.id)
            self._list.refresh()
        self.update_bars()

    def _rows(self, number: int, width: int, in_one: bool) -> tuple[StyledLine, ...]:
        arrival, judging = self._arrivals[number], self._judging
        seen = bool(self._back) or arrival.id in judging.seen
        return render_arrival_row(
            arrival,
            describe_state(arrival, judging.count_marked_hunks(arrival), is_seen=seen),
            width,
            in_one=in_one,
        )

    def _about_lines(self, width: int) -> list[StyledLine]:
        arrival = self.arrival
        if arrival is None:
            return []
        return render_arrival(
            arrival, list_dropped_entries(arrival, self._notebook.place.layout), width
        )

    def update_bars(self) -> None:
        super().update_bars()
        waiting = len(self._judging.find_unseen(self._now))
        since = f" since {format_moment(self._shown.since)}" if self._shown.since else ""
        what = f" arrivals{since}, read-only" if self._back else f" {waiting} unseen{since}"
        title = (StyledSpan(" Inbox ", "accent bold"), StyledSpan(what, "dim"))
        nth = f"{self._back} of {self._visits} visits back " if self._back else ""
        self._title.set_content(title, (StyledSpan(nth, "dim"),))
        state, marked = StyledSpan(""), len(self._judging.marks)
        if marked:
            what = "1 note is" if marked == 1 else f"{marked} notes are"
            state = StyledSpan(f" ↶ {what} marked to revert · ctrl+s writes", "warning")
        elif self._arrivals and not self._back:
            state = StyledSpan(" arrivals that you did not scroll to the end stay new", "dim")
        self._state.set_content((state,))
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
                _DECISIONS, "Earlier visits are read-only; ] goes back to now."
            )
        refusals |= dict.fromkeys(("yes", "later", "no", "hunk"), self._why_no_decision)
        refusals["no"] = refusals["no"] or self._why_not_reverted
        refusals["hunk"] = refusals["hunk"] or self._why_no_hunk
        refusals["all"] = "" if self._now.pending else "Nothing to keep."
        marked = bool(self._judging.marks)
        refusals["write"] = "" if marked else "Nothing is marked to revert; d marks."
        return refusals

    @property
    def _why_no_decision(self) -> str:
        if self.arrival is None:
            return "No arrival is under the cursor."
        return "Already reverted." if self.arrival.is_reverted else ""

    @property
    def _why_not_reverted(self) -> str:
        if self.arrival is not None and self.arrival.kind == "conflict":
            return "The note does not have that text; nothing to revert."
        is_purged = self.arrival is not None and self.arrival.is_purged
        return "Its text was purged; it cannot be reverted." if is_purged else ""

    @property
    def _why_no_hunk(self) -> str:
        whole = self.arrival is not None and self.arrival.kind != "changed"
        only = "Only changed notes have hunks; d reverts the whole arrival."
        return only if whole else self._why_not_reverted

    @property
    def _why_not_edited(self) -> str:
        if self.arrival is None:
            return "No note is under the cursor."
        if self.arrival.kind == "deleted":
            return "The note was deleted; d restores it."
        return self._notebook.place.layout.read_only

    @property
    def handlers(self) -> Handlers:
        return {
            **super().handlers,
            "all": self.keep_all,
            "no": self.toggle_revert,
            "hunk": self.toggle_hunk,
            "write": partial(self._begin, self._write),
            "edit": self.edit_note,
            "inbox": self._leave,
            "yes": partial(self._decide, Decision.KEEP),
            "later": partial(self._decide, Decision.SNOOZE),
            "back": partial(self._show_visit, 1),
            "forward": partial(self._show_visit, -1),
            "open": self.go_to_pane,
        }

    def _decide(self, decision: Decision) -> None:
        if arrival := self.arrival:
            self._judging.clear_marks(arrival.id)
            self._list.move(1)
            self._begin(partial(self._keep_decision, decision, [arrival.id]))

    def keep_all(self) -> None:
        """Keep all arrivals that are not marked."""
        marks = self._judging.marks
        ids = [arrival.id for arrival in self._now.pending if arrival.id not in marks]
        if ids:
            self._begin(partial(self._keep_decision, Decision.KEEP, ids))

    async def _keep_decision(self, decision: Decision, ids: list[str]) -> None:
        now = self._notebook.environment.now.isoformat()
        await asyncio.to_thread(self._notebook.decisions.decide, decision, ids, now)
        await self._load()
        self._changed()

    def toggle_revert(self) -> None:
        """Mark the arrival to be reverted, or clear its mark."""
        if arrival := self.arrival:
            is_marked = self._judging.toggle_mark(arrival)
            if self._diff.left_out:
                self._chosen()
            if is_marked:
                self._list.move(1)
            self._list.refresh()

    def toggle_hunk(self) -> None:
        """Mark the hunk under the cursor to be reverted, or clear its mark."""
        if self._diff.hunk is None:
            self.go_to_pane()
            self._diff.go_to_hunk()
        elif (arrival := self.arrival) and self._diff.toggle_hunk():
            self._judging.mark_hunks(arrival, self._diff.marked)
            self._list.refresh()

    # Writing

    async def _write(self) -> None:
        marks = dict(self._judging.marks)
        change_set = await asyncio.to_thread(self._change_set, marks)
        approved: ChangeSet | None = change_set
        if change_set.warnings:
            approved = await self._actions.propose("Revert what is marked", change_set)
        if approved and await self._actions.write_approved(approved):
            what = "1 note" if len(marks) == 1 else f"{len(marks)} notes"
            self.notify(f"Reverted {what}; u undoes it.", markup=False, timeout=5)
            self._judging.clear_marks(*marks)
        await self._load()
        self._changed()

    def _change_set(self, marks: Mapping[str, Collection[int]]) -> ChangeSet:
        return build_revert(marks, self._now, self._notebook.read())

    def edit_note(self) -> None:
        """Edit the note in the editor."""
        if arrival := self.arrival:
            self._begin(partial(self._edit, arrival.path))

    async def _edit(self, path: str) -> None:
        await self._actions.edit_note(path)
        self._reload()

    # Closing

    def _leave(self) -> None:
        """End the visit and close the screen."""
        self._begin(self._close)

    async def _close(self) -> None:
        unseen = self._judging.find_unseen(self._now)
        try:
            if self._judging.has_decisions(self._now):
                await asyncio.to_thread(close_visit, self._notebook, self._now, unseen)
        finally:
            if self._judging.marks:
                message = "Marked reverts were not written; ctrl+s writes them."
                self.app.notify(message, severity="warning", markup=False)
            self._changed()
            self.dismiss(None)

    def _show_visit(self, step: int) -> None:
        self._back += step
        self.refresh_arrivals()


def _read_inbox(notebook: Notebook, back: int = 0) -> Inbox:
    """Return the arrivals since a visit, with their writers."""
    return add_writers(notebook, read_inbox(notebook, back))
