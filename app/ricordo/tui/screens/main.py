"""The main screen: index, note and freshness side by side, live."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from ricordo.disk.desk import Desk, recall_desk, remember_desk
from ricordo.errors import StateUnusable
from ricordo.memory.memory import Leads
from ricordo.notebook.follow import Follower, Lost, Seen
from ricordo.notebook.report import finding_line
from ricordo.text import clip, encodable, one_line
from ricordo.tui.actions import ACTIONS, BY_ID, Pane, Situation
from ricordo.tui.messages import Looked, MemoriesRequested
from ricordo.tui.render.bars import hint_line, key_line, status_line
from ricordo.tui.render.index_rows import Order, RowKind, index_rows
from ricordo.tui.render.note_page import NotePage, Target, line_of_heading
from ricordo.tui.screens.help import HelpScreen
from ricordo.tui.screens.load import LoadScreen
from ricordo.tui.trail import Trail
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.find_bar import FindBar
from ricordo.tui.widgets.note_view import NoteView
from ricordo.tui.widgets.panes import Panes

if TYPE_CHECKING:
    from ricordo.memory.note import Note
    from ricordo.notebook.open import Look, Notebook
    from ricordo.tui.palette import Palette


class MainScreen(Screen[None]):
    """One memory."""

    CSS_PATH = "main.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(action.keys, f"do('{action.id}')", action.label, show=False, id=action.id)
        for action in ACTIONS
    ]

    def __init__(self, notebook: Notebook, palette: Palette) -> None:
        """`notebook` is this screen's own from now on."""
        super().__init__()
        self._notebook = notebook
        self._palette = palette
        self._follower = Follower(notebook)
        self._desk = recall_desk(notebook.surroundings.state, notebook.place.root)
        self._order = Order(self._desk.order) if self._desk.order in list(Order) else Order.INDEX
        self._type_filter = self._desk.type_filter
        self._words = self._desk.words
        self._as_source = self._desk.as_source
        self._panes = Panes(palette, self._desk.widths, id="panes")
        self._find = FindBar(id="find")
        self._look: Look | None = None
        self._seen: Seen | Lost | None = None
        self._changed: frozenset[str] = frozenset()
        self._trail = Trail()
        self._page_width = 0

    def compose(self) -> ComposeResult:
        """The bars, the three panes, the line in which is searched."""
        yield Bar(self._palette, id="status")
        yield self._panes
        yield self._find
        yield Bar(self._palette, id="hint")
        yield Bar(self._palette, id="keys")

    def on_unmount(self) -> None:
        """Keep how the notebook is left."""
        self.remember()

    def on_mount(self) -> None:
        """Begin to follow the memory."""
        self._panes.set_title(Pane.INDEX, "Index")
        self._panes.set_title(Pane.FRESHNESS, "Freshness")
        self._say()
        self.run_worker(self._follow(), group="disk")

    async def _follow(self) -> None:
        async for seen in self._follower.looks():
            self.post_message(Looked(seen))

    # What is on the screen

    @property
    def note(self) -> Note | None:
        """The note that is open."""
        return self._look.memory.by_path.get(self._trail.here) if self._look else None

    @property
    def settled(self) -> bool:
        """Whether the memory was read and judged."""
        return self._look is not None and self._look.judged

    @property
    def situation(self) -> Situation:
        """What the registry of actions has to know."""
        panes = self._panes
        return Situation(
            pane=panes.active,
            note=self.note is not None,
            finding=panes.active is Pane.FRESHNESS and panes.freshness.finding is not None,
            link=panes.note.chosen is not None,
            searching=panes.note.searching,
            back=self._trail.can_go_back,
            forward=self._trail.can_go_forward,
            several_panes=len(panes.shown) > 1,
        )

    def repaint(self, palette: Palette) -> None:
        """Draw everything with the styles of another theme."""
        self._palette = palette
        self._panes.repaint(palette)
        for bar in self.query(Bar):
            bar.repaint(palette)

    def remember(self) -> None:
        """Keep how the notebook is left."""
        desk = Desk(
            note=self._trail.here,
            order=self._order.value,
            type_filter=self._type_filter,
            words=self._words,
            as_source=self._as_source,
            widths=self._panes.shares,
        )
        # a screen that cannot be restored is no reason to trouble a person who is leaving
        with suppress(OSError):
            remember_desk(self._notebook.surroundings.state, self._notebook.place.root, desk)

    # A new look

    def on_looked(self, message: Looked) -> None:
        """Show what was seen, with the cursor where it was."""
        before, seen = self._seen, message.seen
        self._seen = seen
        if isinstance(seen, Lost):
            self.notify(str(seen.error), severity="error", markup=False, timeout=10)
            self._say()
            return
        first = self._look is None
        self._look = seen.look
        if seen.polling and not (isinstance(before, Seen) and before.polling):
            self.notify("The system has no watches left: the folder is polled.", markup=False)
        if seen.look.remark:
            self.notify(seen.look.remark, severity="warning", markup=False)
        if first:
            self._trail = Trail().opened(self._first_note(seen.look))
        self._changed |= seen.changed - {self._trail.here}
        self._show_index()
        if first or self._trail.here in seen.changed:
            self._show_note(keep_place=not first)
        self._show_freshness()
        self._say()

    def _first_note(self, look: Look) -> str:
        if self._desk.note in look.memory.by_path:
            return self._desk.note
        rows = index_rows(look, self._order, self._type_filter, self._words)
        return next((row.path for row in rows if row.kind is RowKind.NOTE), "")

    def _show_index(self) -> None:
        if self._look is None:
            return
        index = self._panes.index
        line = index.row.line if index.row else 0
        rows = index_rows(self._look, self._order, self._type_filter, self._words)
        index.show(rows, self._changed, self._trail.here, line)
        title = "Index" if self._order is Order.INDEX else f"Index by {self._order.value}"
        title += f" · {self._type_filter}" if self._type_filter else ""
        title += f" · /{self._words}" if self._words else ""
        self._panes.set_title(Pane.INDEX, clip(title, 60))

    def _show_note(self, *, keep_place: bool = False, line: int = 0) -> None:
        note, view = self.note, self._panes.note
        self._panes.set_title(Pane.NOTE, clip(note.name, 80) if note else "Note")
        self._page_width = view.content_width
        page = None
        if note is not None and self._look is not None:
            today = self._look.at.date()
            page = NotePage(self._look, note, self._page_width, self._as_source, today)
        view.show(page, keep_place=keep_place, line=line)

    def _show_freshness(self) -> None:
        if self._look is not None:
            self._panes.freshness.show(self._look, self._trail.here)
        self._panes.finding.show(self._panes.freshness.finding)

    def _say(self) -> None:
        """Tell state, hint and keys."""
        panes = self._panes
        status = status_line(self._notebook.place, self._look, self._seen)
        self.query_one("#status", Bar).say(*status)
        finding = panes.freshness.finding if panes.active is Pane.FRESHNESS else None
        self.query_one("#hint", Bar).say(hint_line(self._look, self._trail.here, finding))
        keymap = self._notebook.settings.keymap
        self.query_one("#keys", Bar).say(key_line(self.situation, keymap))

    # What the parts of the screen tell

    def on_index_list_moved(self) -> None:
        """Show the note under the cursor."""
        row = self._panes.index.row
        if row is not None and row.path != self._trail.here:
            self._trail = self._trail.walked(row.path)
            self._opened()

    def on_index_list_opened(self) -> None:
        """A second click goes to the note."""
        self._panes.go(Pane.NOTE)

    def on_freshness_list_moved(self) -> None:
        """Show the finding under the cursor in full."""
        self._panes.finding.show(self._panes.freshness.finding)
        self._say()

    def on_note_view_followed(self, message: NoteView.Followed) -> None:
        """A link was clicked."""
        self._follow_link(message.target)

    def on_panes_focus_moved(self) -> None:
        """Other keys work in another pane."""
        self._say()

    def on_panes_rearranged(self) -> None:
        """Give the note the width that its pane has now."""
        self.set_class(len(self._panes.shown) < 3, "-tight")
        self.call_after_refresh(self._refit)

    def _refit(self) -> None:
        if self._look is not None and self._panes.note.content_width != self._page_width:
            self._show_note(keep_place=True)

    def _opened(self, line: int = 0) -> None:
        """Show the note at which the trail has arrived."""
        self._changed -= {self._trail.here}
        self._panes.index.mark(self._changed)
        self._show_note(line=line)
        self._show_freshness()
        self._say()

    def _go_to(self, path: str, line: int = 0) -> None:
        """Open a note from elsewhere, and put the cursor of the index on it."""
        self._trail = self._trail.opened(path)
        self._opened(line)
        self._show_index()

    def _follow_link(self, target: Target) -> None:
        if target.leads is Leads.NOTE and self._look is not None:
            note = self._look.memory.by_path[target.path]
            self._go_to(target.path, line_of_heading(note, target.anchor))
            return
        said = {
            Leads.AWAY: "Addresses are not opened from here; y copies it",
            Leads.OUTSIDE: "This leads out of the memory",
            Leads.FILE: "This is a file and no note",
        }.get(target.leads, "Nothing is there")
        self.notify(f"{said}: {one_line(target.path)}", markup=False)

    # What the keys do

    def action_do(self, action_id: str) -> None:
        """Do what the registry names, or say why it cannot be done."""
        reason = BY_ID[action_id].why_not(self.situation)
        if reason:
            self.notify(reason, markup=False, timeout=3)
            return
        name = f"do_{action_id.replace('-', '_')}"
        doer = self._panes if hasattr(self._panes, name) else self
        getattr(doer, name)()
        self._say()

    def do_open(self) -> None:
        """Go to the note, follow the chosen link, or go where the finding is."""
        panes = self._panes
        if panes.active is Pane.INDEX:
            panes.go(Pane.NOTE)
        elif panes.active is Pane.NOTE:
            if panes.note.chosen is not None:
                self._follow_link(panes.note.chosen)
            else:
                self.notify("← → choose a link, Enter follows it.", markup=False, timeout=3)
        elif not panes.freshness.narrow() and (finding := panes.freshness.finding) is not None:
            self._go_to(finding.path or self._trail.here, finding.line)
            panes.go(Pane.NOTE)

    def do_leave(self) -> None:
        """Leave what is on, the innermost first: find, filter, rule, pane."""
        panes = self._panes
        if panes.note.searching:
            panes.note.search("")
        elif panes.active is Pane.FRESHNESS and panes.freshness.widen():
            pass
        elif panes.active is not Pane.INDEX:
            panes.go(Pane.INDEX)
        elif self._words or self._type_filter:
            self._words = self._type_filter = ""
            self._show_index()

    def do_back(self) -> None:
        """Back to the note before."""
        self._trail = self._trail.gone(-1)
        self._opened()
        self._show_index()

    def do_forward(self) -> None:
        """Forward again."""
        self._trail = self._trail.gone(1)
        self._opened()
        self._show_index()

    def do_source(self) -> None:
        """The text as it stands on disk, or rendered."""
        self._as_source = not self._as_source
        self._show_note()

    def do_type(self) -> None:
        """The notes of the next type only."""
        if self._look is None:
            return
        types = ["", *sorted({note.type for note in self._look.memory.notes if note.type})]
        at = types.index(self._type_filter) if self._type_filter in types else 0
        self._type_filter = types[(at + 1) % len(types)]
        self._show_index()

    def do_order(self) -> None:
        """The next order."""
        self._order = self._order.next
        self._show_index()

    def do_load(self) -> None:
        """What the agent gets."""
        if self._look is not None:
            self.app.push_screen(LoadScreen(self._look, self._palette))

    def do_help(self) -> None:
        """All keys."""
        self.app.push_screen(HelpScreen(self._palette, self._notebook.settings.keymap))

    def do_palette(self) -> None:
        """The palette."""
        self.app.action_command_palette()

    def do_memories(self) -> None:
        """Another memory."""
        self.post_message(MemoriesRequested())

    def do_reread(self) -> None:
        """Everything anew."""
        self._follower.reread()

    def do_quit(self) -> None:
        """Leave."""
        self.app.exit()

    def do_copy(self) -> None:
        """Copy what is selected, else what is under the cursor."""
        text = self.get_selected_text() or self._under_cursor()
        if text:
            self.app.copy_to_clipboard(encodable(text))
            self.notify(f"Copied {len(text):,} characters.", markup=False, timeout=2)

    def _under_cursor(self) -> str:
        panes = self._panes
        if panes.active is Pane.FRESHNESS and panes.freshness.finding is not None:
            return finding_line(panes.freshness.finding)
        if panes.active is Pane.NOTE:
            chosen = panes.note.chosen
            return chosen.path if chosen else self.note.body.strip() if self.note else ""
        return self.note.path if self.note else ""

    def do_dismiss(self) -> None:
        """This is fine; or it is not, after all."""
        finding = self._panes.freshness.finding
        if finding is None or self._look is None:
            return
        gone = finding in self._look.dismissed
        self.run_worker(self._decide(finding.id, take_back=gone), group="state")

    async def _decide(self, finding_id: str, *, take_back: bool) -> None:
        decide = self._notebook.take_back if take_back else self._notebook.dismiss
        try:
            await asyncio.to_thread(decide, finding_id)
        except StateUnusable as error:
            self.notify(str(error), severity="error", markup=False)
            return
        said = "It stands again." if take_back else "Dismissed until its cause changes."
        self.notify(said, markup=False, timeout=3)
        self._follower.judge()

    # Filter and find

    def do_find(self) -> None:
        """Ask for words: in the index to filter it, in the note to find them."""
        if self._panes.active is Pane.FRESHNESS:
            self._panes.go(Pane.INDEX)
        if self._panes.active is Pane.NOTE:
            self._find.ask("find in the note", "")
        else:
            self._find.ask("filter the index", self._words)

    def on_find_bar_typed(self, message: FindBar.Typed) -> None:
        """Filter or find as the person types."""
        if self._panes.active is Pane.NOTE:
            self._panes.note.search(message.words)
        else:
            self._words = message.words
            self._show_index()

    def on_find_bar_left(self) -> None:
        """Go on where the person was."""
        self._panes.go(self._panes.active)
        self._say()
