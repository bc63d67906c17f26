"""The main screen: index, note and freshness side by side, live."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.css.query import NoMatches
from textual.events import Key
from textual.screen import Screen

from ricordo.memory.names import TargetKind
from ricordo.services.workspace.follower import FollowedSnapshot, Follower, MemoryLost
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.view_state import load_view_state, save_view_state
from ricordo.text import clip
from ricordo.tui.actions.bindings import Handlers
from ricordo.tui.actions.registry import BY_ID, format_action_keys
from ricordo.tui.base.action_screen import HEIGHT_BREAKPOINTS, ActionScreen, NotebookParts
from ricordo.tui.base.open_note import OpenNote, Trail
from ricordo.tui.context import ActionContext, Pane, ScreenId
from ricordo.tui.curation.controller import CurationController
from ricordo.tui.finder.controller import FinderController
from ricordo.tui.handoff.controller import HandoffController
from ricordo.tui.main.controller import NoteActions
from ricordo.tui.main.listing import Listing, prepare_filter
from ricordo.tui.main.navigation import NavigationActions
from ricordo.tui.messages import SnapshotTaken
from ricordo.tui.render.bars import (
    render_hint,
    render_key_line,
    render_settling_key,
    render_status_line,
)
from ricordo.tui.render.empty import describe_empty_index
from ricordo.tui.render.index_rows import IndexOrder, RowKind
from ricordo.tui.render.note_page import LinkTarget, explain_unfollowed, find_heading_line
from ricordo.tui.review.controller import ReviewController
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.find_bar import FindBar
from ricordo.tui.widgets.note_view import NoteView
from ricordo.tui.widgets.panes import Panes
from ricordo.tui.workers import start_worker

if TYPE_CHECKING:
    from ricordo.memory.note import Note
    from ricordo.services.workspace.notebook import Snapshot
    from ricordo.tui.color_palette import Palette


class EvidenceWatcher:
    """The progress of gathering evidence on the memory of a screen."""

    def __init__(
        self,
        screen: Screen[Any],
        follower: Follower,
        changed: Callable[[], None],
        gathered: Callable[[], None],
    ) -> None:
        """`changed` is called when the step changes, `gathered` when all evidence is there."""
        self._screen = screen
        self._follower = follower
        self._on_changed = changed
        self._on_gathered = gathered
        self.step = ""
        """What is being gathered, in a few words; "" for nothing."""

    async def follow(self) -> None:
        """Follow the progress, as long as the screen is open."""
        async for progress in self._follower.watch_evidence():
            if progress.phase != self.step:
                self.step = progress.phase
                # called by the screen, so not after it is closed
                self._screen.call_later(self._on_changed)
            for notice in progress.messages:
                self._screen.app.notify(notice, severity="warning", markup=False, timeout=10)
            if not progress.phase:
                self._screen.call_later(self._on_gathered)


class MainScreen(ActionScreen[None]):
    """The notebook: one memory."""

    CSS_PATH = "style.tcss"
    VERTICAL_BREAKPOINTS = HEIGHT_BREAKPOINTS
    SCREEN_ID = ScreenId.NOTEBOOK

    def __init__(
        self,
        notebook: Notebook,
        palette: Palette,
        note: str = "",
        line: int = 0,
        *,
        opens_review: bool = False,
    ) -> None:
        """`notebook` belongs to this screen from now on. It opens at `line` of the note at the path
        `note`, or where the user left it; with `opens_review`, on the review of the day.
        """
        super().__init__(palette, notebook.settings.keymap)
        self._notebook = notebook
        self._follower = Follower(notebook)
        view_state = load_view_state(notebook.environment.state, notebook.place.root)
        self._shown_conventions = view_state.conventions
        self._first_note, self._first_line = note or view_state.note, line
        self._listing = Listing.from_view_state(view_state)
        self._panes = Panes(palette, view_state.widths, self._cursor_moved, id="panes")
        reveal_key = format_action_keys(BY_ID["reveal"], self.keymap)
        self._reading = OpenNote(
            self._panes.note, as_source=view_state.as_source, reveal_key=reveal_key
        )
        self._find = FindBar(id="find")
        followed, styles = self._follower, self.current_palette
        self._changing = NoteActions(
            notebook, followed, self._panes, self._reading, styles, self.update_bars, self._go_to
        )
        parts = NotebookParts(self, notebook, followed, self._reading, self._changing)
        self._navigation = NavigationActions(parts, self._arrivals_changed, self._panes.freshness)
        self._reviewing = ReviewController(parts, self.update_bars, opens=opens_review)
        self._curating = CurationController(parts, self.update_bars)
        self._handoff = HandoffController(self, notebook, self._changing)
        self._finder = FinderController(self, notebook, self._reading, self._go_to)
        self._evidence = EvidenceWatcher(
            self, followed, self.update_bars, self._navigation.update_inbox
        )
        self._painted = asyncio.Event()
        self._snapshot: Snapshot | None = None
        self._seen: FollowedSnapshot | MemoryLost | None = None
        self._changed: frozenset[str] = frozenset()

    def compose(self) -> ComposeResult:
        yield Bar(self._palette, id="status")
        yield self._panes
        yield self._find
        yield Bar(self._palette, id="hint")
        yield Bar(self._palette, id="keys")

    def on_unmount(self) -> None:
        gc.unfreeze()
        self._finder.stop_indexing()
        reading = self._reading
        view_state = replace(
            self._listing.to_view_state(reading.path, reading.as_source, self._panes.shares),
            conventions=self._shown_conventions,
        )
        # not worth an error message to a user who quits
        with suppress(OSError):
            save_view_state(self._notebook.environment.state, self.root, view_state)

    def on_mount(self) -> None:
        self._show_index()
        self.update_bars()
        start_worker(self, self._follow, group="disk")
        start_worker(self, self._navigation.follow_history, group="history")
        start_worker(self, self._evidence.follow, group="evidence")
        start_worker(self, self._curating.follow_pending, group="waiting")

    async def _follow(self) -> None:
        async for seen in self._follower.watch_snapshots():
            self._painted.clear()
            await self._listing.prepare_rows(seen)
            self.post_message(SnapshotTaken(seen))
            # the rules run after the first paint of the memory: they need the processor
            await self._painted.wait()

    # State

    @property
    def is_complete(self) -> bool:
        """Whether the memory was read and judged with all evidence."""
        return self._snapshot is not None and self._snapshot.has_evidence

    @property
    def action_context(self) -> ActionContext:
        here = replace(
            self._reading.extend_context(self._panes.context),
            in_order=self._listing.order is IndexOrder.INDEX and not self._listing.filter_label,
            new=self._navigation.new_count,
            due=self._reviewing.due_count,
            pending=self._curating.pending_count,
        )
        return self._changing.extend_context(here)

    @property
    def root(self) -> str:
        """The directory of the memory."""
        return self._notebook.place.root

    # A new snapshot

    def on_snapshot_taken(self, message: SnapshotTaken) -> None:
        """Show the new snapshot, with the cursor where it was."""
        self.call_after_refresh(self._painted.set)
        before = self._seen
        self._seen = seen = message.seen
        if isinstance(seen, MemoryLost):
            self.notify(str(seen.error), severity="error", markup=False, timeout=10)
            self._show_index()
            self.update_bars()
            return
        own = self._changing.written_paths
        self._changing.follow_moved_notes(seen.snapshot)
        first, gone = self._snapshot is None, self._reading.update_snapshot(seen.snapshot)
        is_deeper = self._snapshot is None or seen.snapshot.depth > self._snapshot.depth
        self._snapshot = seen.snapshot
        if seen.polling and not (isinstance(before, FollowedSnapshot) and before.polling):
            self.notify("The folder cannot be watched; Ricordo polls it.", markup=False)
        if seen.snapshot.warning and not (
            isinstance(before, FollowedSnapshot) and before.snapshot.warning
        ):
            self.notify(seen.snapshot.warning, severity="warning", markup=False)
        if first:
            self._reading.begin(
                seen.snapshot, self._listing.find_first_note(seen.snapshot, self._first_note)
            )
        self._changed |= seen.changed - {self._reading.path} - own
        self._show_index()
        if gone is not None:
            self._close_deleted(gone, by_us=gone.path in own)
        elif first or self._reading.is_stale:
            self._reading.show(keep_place=not first, line=self._first_line if first else 0)
        self._show_freshness()
        self._reviewing.update_snapshot(seen.snapshot)
        self._curating.update_snapshot(seen.snapshot)
        self._changing.update_snapshot(seen.snapshot, seen.number)
        self._finder.update_snapshot(seen.snapshot)
        self.update_bars()
        if is_deeper and seen.snapshot.is_judged:
            self._report_conventions(seen.snapshot)
        if is_deeper:
            # what is loaded stays: collecting garbage among it at every key takes long
            gc.freeze()

    def _report_conventions(self, snapshot: Snapshot) -> None:
        """Report once how the notes of this memory are written, where that is not the usual way."""
        from ricordo.services.workspace.conventions import summarize_conventions

        summary = summarize_conventions(snapshot.memory, snapshot.conventions)
        if summary and summary != self._shown_conventions:
            keys = format_action_keys(BY_ID["palette"], self.keymap)
            message = f"Learned: {summary}. Wrong? {keys} conventions"
            self.notify(message, markup=False, timeout=6)
        self._shown_conventions = summary or self._shown_conventions

    def _close_deleted(self, note: Note, *, by_us: bool) -> None:
        """Open the note under the cursor of the index instead of the one that is gone."""
        if not by_us:
            message = f"{clip(note.name, 60)} was deleted by somebody else."
            self.notify(message, severity="warning", markup=False)
        reading, row = self._reading, self._panes.index.row
        reading.drop_deleted()
        reading.trail = reading.trail.open(row.path) if row else Trail()
        self._show_open_note()

    def _show_index(self, wanted: int = 0) -> None:
        """Show the rows of the index. Of several rows of the open note, the cursor prefers the one
        at line `wanted`.
        """
        index, place, narrowed = self._panes.index, self._notebook.place, self._listing.filter_label
        keys = [format_action_keys(BY_ID[name], self.keymap) for name in ("memories", "reread")]
        index.set_empty_text(describe_empty_index(place, self._seen, narrowed, *keys))
        if self._snapshot is None:
            return
        line = wanted or self._changing.entry_line or (index.row.line if index.row else 0)
        index.show(self._listing.make_rows(self._snapshot), self._changed, self._reading.path, line)
        self._panes.set_title(Pane.INDEX, self._listing.title)

    def _show_freshness(self) -> None:
        if self._snapshot is not None:
            self._panes.freshness.show(self._snapshot, self._reading.path)
        finding = self._panes.freshness.finding
        self._panes.finding.show(finding, render_settling_key(finding, self.keymap))

    def update_bars(self) -> None:
        # a worker may end while the screen is closing and its widgets are gone
        with suppress(NoMatches):
            self._update_bars()

    def _update_bars(self) -> None:
        panes = self._panes
        panes.set_title(Pane.NOTE, self._reading.title)
        new, doing = self._navigation.new_count, self._evidence.step
        waiting, place = self._curating.pending_count, self._notebook.place
        status = render_status_line(place, self._snapshot, self._seen, new, doing, waiting)
        self.query_one("#status", Bar).set_content(*status)
        finding = panes.freshness.finding if panes.active is Pane.FRESHNESS else None
        hint = render_hint(self._snapshot, self._reading.path, finding, self.keymap)
        self.query_one("#hint", Bar).set_content(*hint)
        self.query_one("#keys", Bar).set_content(*render_key_line(self.action_context, self.keymap))

    # What the parts of the screen report

    def _arrivals_changed(self) -> None:
        """Handle that the number of arrivals changed: new notes are to be reviewed, and what was
        decided on them can be undone.
        """
        self._reviewing.count()
        self._changing.update_history()
        self.update_bars()

    def _cursor_moved(self, pane: Pane) -> None:
        """Show the note under the cursor, or the finding in full."""
        if pane is Pane.FRESHNESS:
            self._show_freshness()
            self.update_bars()
        elif (row := self._panes.index.row) is not None:
            line = 0 if row.kind is RowKind.NOTE else row.line
            if row.path != self._reading.path:
                self._reading.trail = self._reading.trail.walk(row.path)
                self._show_open_note(line)
            elif line:
                self._panes.note.go_to(line)

    def on_index_list_opened(self) -> None:
        """Go to the note on a second click."""
        self._panes.focus_pane(Pane.NOTE)

    def on_note_view_followed(self, message: NoteView.Followed) -> None:
        """Follow a link that was clicked."""
        self._follow_link(message.target)

    def on_note_view_secrets_scanned(self) -> None:
        self.update_bars()

    def on_panes_focus_moved(self) -> None:
        self.update_bars()

    def on_panes_rearranged(self) -> None:
        """Draw the note for the new width of its pane."""
        self.set_class(len(self._panes.visible_panes) < 3, "-tight")
        self.call_after_refresh(self._reading.refit)

    def _show_open_note(self, line: int = 0) -> None:
        """Show the note that is open now."""
        self.clear_selection()
        self._changed -= {self._reading.path}
        self._panes.index.mark_changed(self._changed)
        self._reading.show(line=line)
        self._show_freshness()
        self.update_bars()
        self._finder.show_associations()

    def _go_to(self, path: str, line: int = 0) -> None:
        """Open a note and put the cursor of the index on it."""
        if self._snapshot is None or path not in self._snapshot.memory.by_path:
            self.notify(f"{clip(path, 400)} is not a note of this memory.", markup=False)
            return
        self._reading.trail = self._reading.trail.open(path)
        self._show_open_note(line)
        self._finder.show_associations(on_purpose=True)
        self._show_index(line)

    def _follow_link(self, target: LinkTarget) -> None:
        if target.kind is not TargetKind.NOTE or self._snapshot is None:
            self.notify(explain_unfollowed(target), markup=False)
            return
        note = self._snapshot.memory.by_path.get(target.path)
        self._go_to(target.path, find_heading_line(note, target.anchor) if note else 0)

    # What the keys do

    @property
    def handlers(self) -> Handlers:
        return {
            **super().handlers,
            **self._panes.handlers,
            **self._changing.handlers,
            **self._navigation.handlers,
            **self._reviewing.handlers,
            **self._curating.handlers,
            **self._handoff.handlers,
            **self._finder.handlers,
            **self._reading.handlers,
            "open": self.open_row,
            "leave": self.go_back,
            "type": self.show_next_type,
            "order": self.show_next_order,
            "reread": self._follower.request_reread,
            "copy": self.copy,
            "find": self.ask_for_words,
            "back": partial(self._go_along, -1),
            "forward": partial(self._go_along, 1),
        }

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether a key calls an action now: some actions share a key."""
        if action != "do":
            return True
        return BY_ID[str(parameters[0])].is_live(self._panes.context)

    def open_row(self) -> None:
        """Go to the note, follow the chosen link, or go to the place of the finding."""
        panes = self._panes
        if panes.active is Pane.INDEX:
            panes.focus_pane(Pane.NOTE)
            self._finder.show_associations(on_purpose=True)
        elif panes.active is Pane.NOTE:
            if panes.note.chosen_link is not None:
                self._follow_link(panes.note.chosen_link)
        elif not panes.freshness.narrow() and (finding := panes.freshness.finding) is not None:
            self._go_to(finding.path or self._reading.path, finding.line)
            panes.focus_pane(Pane.NOTE)

    def go_back(self) -> None:
        """Close the innermost of search, rule, pane and filter; else clear the marks."""
        panes = self._panes
        if panes.note.is_searching:
            panes.note.search("")
        elif panes.active is Pane.FRESHNESS and panes.freshness.widen():
            pass
        elif panes.active is not Pane.INDEX:
            panes.focus_pane(Pane.INDEX)
        elif self._listing.filter_label:
            self._list(self._listing.without_filter())
        else:
            self._changing.clear_marks()

    def _go_along(self, step: int) -> None:
        self._reading.trail = self._reading.trail.go(step)
        self._show_open_note()
        self._show_index()

    def show_next_type(self) -> None:
        """List the notes of the next type only."""
        if self._snapshot is not None:
            self._list(self._listing.with_next_type(self._snapshot.memory))

    def show_next_order(self) -> None:
        """List the notes in the next order."""
        self._list(self._listing.with_next_order())
        if self._listing.order.begins_with_most_urgent:
            self._panes.index.move_to_end(-1)

    def _list(self, listing: Listing) -> None:
        self._listing = listing
        self._show_index()

    def copy(self) -> None:
        """Copy what is selected, else what is under the cursor."""
        self.copy_text(self.get_selected_text() or self._panes.get_copy_text(self._reading.note))

    # Filter and find

    def ask_for_words(self) -> None:
        """Open the find bar: to filter the index, or to search the note."""
        if self._panes.active is Pane.FRESHNESS:
            self._panes.focus_pane(Pane.INDEX)
        in_note = self._panes.active is Pane.NOTE
        snapshot = None if in_note else self._snapshot
        start_worker(self, partial(prepare_filter, snapshot), group="filter")
        self._find.open_for("" if in_note else self._listing.words, in_note=in_note)

    def take_typed_ahead(self, event: Key) -> bool:
        """Return whether the find bar took a key that nothing else handled."""
        return self._find.take_key(event)

    async def on_find_bar_typed(self, message: FindBar.Typed) -> None:
        """Filter or search as the user types."""
        if self._find.is_in_note:
            self._panes.note.search(message.words)
        else:
            await prepare_filter(self._snapshot)
            self._list(self._listing.with_words(message.words))

    def on_find_bar_closed(self) -> None:
        """Return to the pane that was active."""
        self._panes.focus_pane(self._panes.active)
        self.update_bars()
