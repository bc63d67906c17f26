"""The main screen: index, note and freshness side by side, live."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.css.query import NoMatches
from textual.events import Key
from textual.screen import Screen

from ricordo.memory.names import Leads
from ricordo.services.workspace.follower import FollowedSnapshot, Follower, Lost
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.view_state import recall_desk, remember_desk
from ricordo.text import clip
from ricordo.tui.actions.handlers import Handlers
from ricordo.tui.actions.registry import BY_ID, label_of
from ricordo.tui.base.acting_screen import ActingScreen, bindings_on
from ricordo.tui.base.reading import OpenNote, Trail
from ricordo.tui.context import Pane, Scene, Situation
from ricordo.tui.curation.controller import Curating
from ricordo.tui.dialogs.load import LoadScreen
from ricordo.tui.finder.controller import Recalling
from ricordo.tui.handoff.controller import Handing
from ricordo.tui.main.controller import Changing
from ricordo.tui.main.history import Past
from ricordo.tui.main.listing import Listing, until_narrowable
from ricordo.tui.messages import Looked, MemoriesRequested
from ricordo.tui.render.bars import hint_line, key_line, status_line
from ricordo.tui.render.empty import empty_index
from ricordo.tui.render.index_rows import Order, RowKind
from ricordo.tui.render.note_page import LinkTarget, line_of_heading, why_not_followed
from ricordo.tui.review.controller import Reviewing
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.find_bar import FindBar
from ricordo.tui.widgets.note_view import NoteView
from ricordo.tui.widgets.panes import Panes

if TYPE_CHECKING:
    from ricordo.memory.note import Note
    from ricordo.services.workspace.notebook import Snapshot
    from ricordo.tui.color_palette import Palette


class Knowing:
    """How far the evidence on the memory of a screen is gathered."""

    def __init__(
        self,
        screen: Screen[Any],
        follower: Follower,
        changed: Callable[[], None],
        gathered: Callable[[], None],
    ) -> None:
        """`changed` is called whenever something else is being gathered, `gathered` when all is."""
        self._screen = screen
        self._follower = follower
        self._tell_changed = changed
        self._tell_gathered = gathered
        self.doing = ""
        """What is being gathered, in a few words; "" where nothing is."""

    async def follow(self) -> None:
        """Tell it for as long as the screen is there."""
        async for come in self._follower.gathered():
            if come.doing != self.doing:
                self.doing = come.doing
                # by the screen itself, which no longer listens once it is being closed
                self._screen.call_later(self._tell_changed)
            for notice in come.notices:
                self._screen.app.notify(notice, severity="warning", markup=False, timeout=10)
            if not come.doing:
                self._screen.call_later(self._tell_gathered)


class Elsewhere:
    """The keys that open another screen."""

    def __init__(
        self,
        screen: Screen[Any],
        notebook: Notebook,
        reading: OpenNote,
        palette: Callable[[], Palette],
    ) -> None:
        """`reading` tells what is looked at in the memory of `notebook`."""
        self._screen = screen
        self._notebook = notebook
        self._reading = reading
        self._palette = palette

    @property
    def handlers(self) -> Handlers:
        """What the keys do, by action id."""
        return {
            "load": self.show_load,
            "ledger": self.show_ledger,
            "settings": self.edit_settings,
            "memories": self.choose_memory,
        }

    def show_load(self) -> None:
        """What the agent gets."""
        if self._reading.look is not None:
            self._screen.app.push_screen(LoadScreen(self._reading.look, self._palette()))

    def show_ledger(self) -> None:
        """What curation cost and bought."""
        from ricordo.tui.dialogs.ledger import LedgerScreen

        if self._reading.look is not None:
            # of its own for the thread: the other one is used in the follower's
            own = self._notebook.another()
            ledger = LedgerScreen(own, self._reading.look.memory, self._palette())
            self._screen.app.push_screen(ledger)

    def edit_settings(self) -> None:
        """The settings, in the editor."""
        from ricordo.errors import RicordoError
        from ricordo.services.workspace.settings import known_names, load_settings
        from ricordo.settings.editor import create_file, editor_command
        from ricordo.settings.page import template
        from ricordo.settings.settings import settings_file
        from ricordo.tui.actions.registry import known_actions
        from ricordo.tui.edits.editor import edit_in_terminal

        app, around, actions = self._screen.app, self._notebook.surroundings, known_actions()
        file = settings_file(around.config)
        try:
            create_file(file, template(known_names(around, actions)))
            command = editor_command(self._notebook.settings.editor, around.environ)
            edit_in_terminal(app, file, command)
            _, remarks = load_settings(around, actions)
        except RicordoError as error:
            app.notify(str(error), severity="error", markup=False, timeout=10)
            return
        for remark in remarks:
            app.notify(str(remark), severity="warning", markup=False, timeout=15)
        app.notify("The settings count from the next start on.", markup=False, timeout=5)

    def choose_memory(self) -> None:
        """Another memory."""
        self._screen.post_message(MemoriesRequested())


class MainScreen(ActingScreen[None]):
    """One memory."""

    CSS_PATH = "style.tcss"
    SCENE = Scene.NOTEBOOK
    BINDINGS: ClassVar[list[BindingType]] = bindings_on(SCENE)

    def __init__(
        self,
        notebook: Notebook,
        palette: Palette,
        note: str = "",
        line: int = 0,
        *,
        opens_review: bool = False,
    ) -> None:
        """`notebook` is this screen's own from now on; it opens at the note with the path `note`,
        at a `line` of it, or where the person left it; with `opens_review` on the review of the
        day.
        """
        super().__init__(palette, notebook.settings.keymap)
        self._notebook = notebook
        self._follower = Follower(notebook)
        self._desk = recall_desk(notebook.surroundings.state, notebook.place.root)
        self._first_note, self._first_line = note or self._desk.note, line
        self._listing = Listing.of_desk(self._desk)
        self._panes = Panes(palette, self._desk.widths, self._cursor_moved, id="panes")
        reveal_key = label_of(BY_ID["reveal"], self.keymap)
        self._reading = OpenNote(
            self._panes.note, as_source=self._desk.as_source, reveal_key=reveal_key
        )
        self._find = FindBar(id="find")
        followed, styles = self._follower, self.styles_now
        self._changing = Changing(
            notebook, followed, self._panes, self._reading, styles, self.say, self._go_to
        )
        self._past = Past(
            self, notebook, followed, self._reading, styles, self._arrived, self._changing
        )
        self._reviewing = Reviewing(
            self, notebook, followed, self._reading, self.say, self._changing, opens=opens_review
        )
        self._curating = Curating(self, notebook, self._reading, self.say, self._changing)
        self._handing = Handing(self, notebook, self._changing)
        self._recalling = Recalling(self, notebook, self._reading, styles, self._go_to)
        self._knowing = Knowing(self, followed, self.say, self._past.known)
        self._elsewhere = Elsewhere(self, notebook, self._reading, styles)
        self._painted = asyncio.Event()
        self._look: Snapshot | None = None
        self._seen: FollowedSnapshot | Lost | None = None
        self._changed: frozenset[str] = frozenset()

    def compose(self) -> ComposeResult:
        """The bars, the three panes, the line in which is searched."""
        yield Bar(self._palette, id="status")
        yield self._panes
        yield self._find
        yield Bar(self._palette, id="hint")
        yield Bar(self._palette, id="keys")

    def on_unmount(self) -> None:
        """Keep how the notebook is left, and leave its memory to the garbage collector."""
        gc.unfreeze()
        self._recalling.leave()
        reading = self._reading
        desk = self._listing.to_desk(reading.path, reading.as_source, self._panes.shares)
        # a screen that cannot be restored is no reason to trouble a person who is leaving
        with suppress(OSError):
            remember_desk(self._notebook.surroundings.state, self.root, desk)

    def on_mount(self) -> None:
        """Begin to follow the memory."""
        self._show_index()
        self.say()
        self.run_worker(self._follow(), group="disk")
        self.run_worker(self._past.follow(), group="history")
        self.run_worker(self._knowing.follow(), group="evidence")
        self.run_worker(self._curating.follow(), group="waiting")

    async def _follow(self) -> None:
        async for seen in self._follower.looks():
            self._painted.clear()
            await self._listing.make_rows(seen)
            self.post_message(Looked(seen))
            # judging takes the processor from the first sight of the memory
            await self._painted.wait()

    # What is on the screen

    @property
    def known(self) -> bool:
        """Whether the memory was read and judged by all that can be known of it."""
        return self._look is not None and self._look.known

    @property
    def situation(self) -> Situation:
        """What the registry of actions has to know."""
        here = replace(
            self._reading.situation(self._panes.situation),
            in_order=self._listing.order is Order.INDEX and not self._listing.narrowed,
            new=self._past.new,
            due=self._reviewing.due,
            waiting=self._curating.waiting,
        )
        return self._changing.situation(here)

    @property
    def root(self) -> str:
        """The directory of the memory."""
        return self._notebook.place.root

    # A new look

    def on_looked(self, message: Looked) -> None:
        """Show what was seen, with the cursor where it was."""
        self.call_after_refresh(self._painted.set)
        before = self._seen
        self._seen = seen = message.seen
        if isinstance(seen, Lost):
            self.notify(str(seen.error), severity="error", markup=False, timeout=10)
            self._show_index()
            self.say()
            return
        own = self._changing.own
        self._changing.follow_moved(seen.look)
        first, gone = self._look is None, self._reading.look_again(seen.look)
        is_deeper = self._look is None or seen.look.depth > self._look.depth
        self._look = seen.look
        if seen.polling and not (isinstance(before, FollowedSnapshot) and before.polling):
            self.notify("The folder cannot be watched, so it is polled.", markup=False)
        if seen.look.remark and not (isinstance(before, FollowedSnapshot) and before.look.remark):
            self.notify(seen.look.remark, severity="warning", markup=False)
        if first:
            self._reading.begin(seen.look, self._listing.first_note(seen.look, self._first_note))
        self._changed |= seen.changed - {self._reading.path} - own
        self._show_index()
        if gone is not None:
            self._leave_gone(gone, by_us=gone.path in own)
        elif first or self._reading.stale:
            self._reading.show(keep_place=not first, line=self._first_line if first else 0)
        self._show_freshness()
        self._reviewing.looked(seen.look)
        self._curating.looked(seen.look)
        self._changing.looked(seen.look, seen.number)
        self._recalling.looked(seen.look)
        self.say()
        if is_deeper:
            # what is loaded stays: looking for garbage among it at every key takes long
            gc.freeze()

    def _leave_gone(self, note: Note, *, by_us: bool) -> None:
        """Go where the cursor of the index came to rest."""
        if not by_us:
            said = f"{clip(note.name, 60)} is gone: somebody else deleted it."
            self.notify(said, severity="warning", markup=False)
        reading, row = self._reading, self._panes.index.row
        reading.forget_gone()
        reading.trail = reading.trail.opened(row.path) if row else Trail()
        self._opened()

    def _show_index(self, wanted: int = 0) -> None:
        """Show the rows of the index as they are now; of several that lead to the open note, the
        cursor prefers the one that shows line `wanted`.
        """
        index, place, narrowed = self._panes.index, self._notebook.place, self._listing.narrowed
        keys = [label_of(BY_ID[name], self.keymap) for name in ("memories", "reread")]
        index.say_instead(empty_index(place, self._seen, narrowed, *keys))
        if self._look is None:
            return
        line = wanted or self._changing.entry_line or (index.row.line if index.row else 0)
        index.show(self._listing.rows(self._look), self._changed, self._reading.path, line)
        self._panes.set_title(Pane.INDEX, self._listing.title)

    def _show_freshness(self) -> None:
        if self._look is not None:
            self._panes.freshness.show(self._look, self._reading.path)
        self._panes.finding.show(self._panes.freshness.finding)

    def say(self) -> None:
        """Tell titles, state, hint and keys."""
        # a worker may answer while the screen is left and its parts are gone already
        with suppress(NoMatches):
            self._tell_bars()

    def _tell_bars(self) -> None:
        panes = self._panes
        panes.set_title(Pane.NOTE, self._reading.title)
        new, doing = self._past.new, self._knowing.doing
        waiting, place = self._curating.waiting, self._notebook.place
        status = status_line(place, self._look, self._seen, new, doing, waiting)
        self.query_one("#status", Bar).say(*status)
        finding = panes.freshness.finding if panes.active is Pane.FRESHNESS else None
        self.query_one("#hint", Bar).say(hint_line(self._look, self._reading.path, finding))
        self.query_one("#keys", Bar).say(*key_line(self.situation, self.keymap))

    # What the parts of the screen tell

    def _arrived(self) -> None:
        """Another number of arrivals waits, and what is new is to be reviewed."""
        self._reviewing.count()
        self.say()

    def _cursor_moved(self, pane: Pane) -> None:
        """Show the note or, in full, the finding that is under the cursor now."""
        if pane is Pane.FRESHNESS:
            self._show_freshness()
            self.say()
        elif (row := self._panes.index.row) is not None:
            line = 0 if row.kind is RowKind.NOTE else row.line
            if row.path != self._reading.path:
                self._reading.trail = self._reading.trail.walked(row.path)
                self._opened(line)
            elif line:
                self._panes.note.go_to(line)

    def on_index_list_opened(self) -> None:
        """A second click goes to the note."""
        self._panes.go(Pane.NOTE)

    def on_note_view_followed(self, message: NoteView.Followed) -> None:
        """A link was clicked."""
        self._follow_link(message.target)

    def on_note_view_looked_through(self) -> None:
        """Secrets may be there to be revealed."""
        self.say()

    def on_panes_focus_moved(self) -> None:
        """Other keys work in another pane."""
        self.say()

    def on_panes_rearranged(self) -> None:
        """Give the note the width that its pane has now."""
        self.set_class(len(self._panes.shown) < 3, "-tight")
        self.call_after_refresh(self._reading.refit)

    def _opened(self, line: int = 0) -> None:
        """Show the note at which the trail has arrived."""
        self.clear_selection()
        self._changed -= {self._reading.path}
        self._panes.index.mark(self._changed)
        self._reading.show(line=line)
        self._show_freshness()
        self.say()
        self._recalling.note_opened()

    def _go_to(self, path: str, line: int = 0) -> None:
        """Open a note from elsewhere, and put the cursor of the index on it."""
        if self._look is None or path not in self._look.memory.by_path:
            self.notify(f"{clip(path, 400)} is no note that can be opened.", markup=False)
            return
        self._reading.trail = self._reading.trail.opened(path)
        self._opened(line)
        self._recalling.note_opened(on_purpose=True)
        self._show_index(line)

    def _follow_link(self, target: LinkTarget) -> None:
        if target.leads is not Leads.NOTE or self._look is None:
            self.notify(why_not_followed(target), markup=False)
            return
        note = self._look.memory.by_path.get(target.path)
        self._go_to(target.path, line_of_heading(note, target.anchor) if note else 0)

    # What the keys do

    @property
    def handlers(self) -> Handlers:
        """What the keys do, by action id."""
        return {
            **super().handlers,
            **self._panes.handlers,
            **self._changing.handlers,
            **self._past.handlers,
            **self._reviewing.handlers,
            **self._curating.handlers,
            **self._handing.handlers,
            **self._recalling.handlers,
            **self._elsewhere.handlers,
            **self._reading.handlers,
            "open": self.open_row,
            "leave": self.go_back,
            "type": self.show_next_type,
            "order": self.show_next_order,
            "reread": self.reread,
            "copy": self.copy,
            "find": self.ask_for_words,
            "back": partial(self._go_along, -1),
            "forward": partial(self._go_along, 1),
        }

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Say whether a key means an action here: some share one, each where the other is not."""
        if action != "do":
            return True
        return BY_ID[str(parameters[0])].is_live(self._panes.situation)

    def open_row(self) -> None:
        """Go to the note, follow the chosen link, or go where the finding is."""
        panes = self._panes
        if panes.active is Pane.INDEX:
            panes.go(Pane.NOTE)
            self._recalling.note_opened(on_purpose=True)
        elif panes.active is Pane.NOTE:
            if panes.note.chosen is not None:
                self._follow_link(panes.note.chosen)
        elif not panes.freshness.narrow() and (finding := panes.freshness.finding) is not None:
            self._go_to(finding.path or self._reading.path, finding.line)
            panes.go(Pane.NOTE)

    def go_back(self) -> None:
        """Leave what is on, the innermost first: find, filter, rule, pane."""
        panes = self._panes
        if panes.note.searching:
            panes.note.search("")
        elif panes.active is Pane.FRESHNESS and panes.freshness.widen():
            pass
        elif panes.active is not Pane.INDEX:
            panes.go(Pane.INDEX)
        elif self._listing.narrowed:
            self._list(self._listing.of_everything())
        else:
            self._changing.leave_marks()

    def _go_along(self, step: int) -> None:
        self._reading.trail = self._reading.trail.gone(step)
        self._opened()
        self._show_index()

    def show_next_type(self) -> None:
        """The notes of the next type only."""
        if self._look is not None:
            self._list(self._listing.of_next_type(self._look.memory))

    def show_next_order(self) -> None:
        """The next order."""
        self._list(self._listing.in_next_order())

    def _list(self, listing: Listing) -> None:
        self._listing = listing
        self._show_index()

    def reread(self) -> None:
        """Everything anew."""
        self._follower.reread()

    def copy(self) -> None:
        """Copy what is selected, else what is under the cursor."""
        self.copy_text(self.get_selected_text() or self._panes.copied(self._reading.note))

    # Filter and find

    def ask_for_words(self) -> None:
        """Ask for words: in the index to filter it, in the note to find them."""
        if self._panes.active is Pane.FRESHNESS:
            self._panes.go(Pane.INDEX)
        in_note = self._panes.active is Pane.NOTE
        self.run_worker(until_narrowable(None if in_note else self._look), group="filter")
        self._find.ask("" if in_note else self._listing.words, in_note=in_note)

    def typed_ahead(self, event: Key) -> bool:
        """Say whether the line of words took a key that no part of the screen wanted."""
        return self._find.take(event)

    async def on_find_bar_typed(self, message: FindBar.Typed) -> None:
        """Filter or find as the person types."""
        if self._find.in_note:
            self._panes.note.search(message.words)
        else:
            await until_narrowable(self._look)
            self._list(self._listing.with_words(message.words))

    def on_find_bar_left(self) -> None:
        """Go on where the person was."""
        self._panes.go(self._panes.active)
        self.say()
