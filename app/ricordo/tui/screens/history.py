"""The history of a note: its versions, what each of them changed, and the way back to one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.screen import Screen

from ricordo.errors import RicordoError
from ricordo.memory.change_set import Edit
from ricordo.notebook.restore import restore
from ricordo.notebook.versions import Version, content, gone_notes, versions
from ricordo.text import clip
from ricordo.tui.render.bars import key_spans
from ricordo.tui.render.history_rows import (
    NO_HISTORY,
    NOTHING_GONE,
    about_version,
    gone_rows,
    version_rows,
)
from ricordo.tui.render.inbox_rows import moment
from ricordo.tui.render.line import Line, Span
from ricordo.tui.screens.inbox import WIDE
from ricordo.tui.screens.proposal import ProposalScreen
from ricordo.tui.widgets.about_view import AboutView
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.marked_diff import MarkedDiff
from ricordo.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from ricordo.notebook.open import Notebook
    from ricordo.tui.palette import Palette
    from ricordo.tui.past import Write

_KEYS = (
    ("Enter", "what restoring would do"),
    ("=", "compare with now"),
    ("v", "side by side"),
    ("PgDn PgUp", "scroll"),
    ("Esc", "back"),
)
_KEYS_GONE = (("Enter", "its versions"), ("v", "side by side"), ("Esc", "back"))


class HistoryScreen(Screen[None]):
    """The versions of one note, newest first; after them the way to the notes that are gone."""

    CSS_PATH = "past.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", show=False),
        Binding("equals_sign", "compare", show=False),
        Binding("v", "turn", show=False),
        Binding("right,2", "go('diff')", show=False),
        Binding("left,1", "go('list')", show=False),
        Binding("tab,shift+tab", "go('')", show=False, priority=True),
        Binding("escape,h", "leave", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("up,k", "move(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("home,g", "end(-1)", show=False),
        Binding("end,G", "end(1)", show=False),
    ]

    def __init__(self, notebook: Notebook, path: str, palette: Palette, write: Write) -> None:
        """`path` is the note; "" begins with the notes that are gone; `write` takes what is
        restored to the disk.
        """
        super().__init__()
        self._notebook = notebook
        self._palette = palette
        self._write_seen = write
        self._path = path
        self._began_with = path
        self._going_into = path
        self._versions: Sequence[Version] = ()
        self._gone: Sequence[Version] = ()
        self._against_now = False
        self._title = Bar(palette, id="title")
        self._keys = Bar(palette, id="keys")
        self._right = Vertical(id="right", classes="pane")
        self._list = RowList(palette, self._chosen, self._rows, id="list")
        self._about = AboutView(palette, self._about_lines, id="about")
        self._diff = MarkedDiff(palette, lambda: None, id="diff")

    def compose(self) -> ComposeResult:
        """A title; versions beside what one of them changed; the keys."""
        yield self._title
        with Container(id="past"):
            yield self._list.add_class("pane")
            with self._right:
                yield self._about
                yield self._diff
        yield self._keys

    def on_mount(self) -> None:
        """Begin with the newest version."""
        self._list.focus()
        self._go_into(self._path)

    def on_resize(self) -> None:
        """Put the diff beside the list where there is room, else below it."""
        self.set_class(self.size.width >= WIDE, "-wide")

    def repaint(self, palette: Palette) -> None:
        """Take the styles of another theme; what is on the screen is drawn anew by itself."""
        self._palette = palette

    @property
    def version(self) -> Version | None:
        """The version under the cursor; None on the row of the notes that are gone."""
        shown = self._versions if self._path else self._gone
        return shown[self._list.at] if 0 <= self._list.at < len(shown) else None

    def _begin(self, work: Callable[[], Awaitable[None]]) -> None:
        self.run_worker(self._reported(work), group="history", exclusive=True)

    async def _reported(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except RicordoError as error:
            self.notify(str(error), severity="error", markup=False, timeout=10)

    async def _load(self, path: str) -> None:
        gone = await asyncio.to_thread(gone_notes, self._notebook)
        found = await asyncio.to_thread(versions, self._notebook, path) if path else []
        # all at once: what is drawn in between must find what it counts on
        self._path, self._gone, self._versions = path, gone, found
        count = len(found) + bool(gone) if path else len(gone)
        self._list.show(count, 0, NO_HISTORY if path else NOTHING_GONE)
        await self._show()

    def _chosen(self) -> None:
        """Show what the version under the cursor changed."""
        self._begin(self._show)

    async def _show(self) -> None:
        version = self.version
        edits: tuple[Edit, ...] = ()
        if version is not None:
            before, after = version.before, version.sha
            if self._against_now and self._path:
                before, after = version.sha, self._versions[0].sha
            old = await asyncio.to_thread(content, self._notebook, before)
            new = await asyncio.to_thread(content, self._notebook, after)
            edits = (Edit(self._notebook.place.root, version.path, old, new),)
        self._about.tell()
        self._diff.show_marked(edits, ())
        self._right.display = version is not None
        self._say()

    def _rows(self, number: int, width: int, in_one: bool) -> tuple[Line, ...]:
        if not self._path:
            return version_rows(self._gone[number], width, in_one=in_one, by_name=True)
        if number < len(self._versions):
            return version_rows(self._versions[number], width, in_one=in_one, by_name=False)
        return gone_rows(len(self._gone), width, in_one=in_one)

    def _about_lines(self, width: int) -> list[Line]:
        version = self.version
        if version is None:
            return []
        against_now = self._against_now and bool(self._path)
        return about_version(version, against_now=against_now, width=width)

    def _say(self) -> None:
        what = clip(self._path, 60) if self._path else "notes that are gone"
        said = (Span(" History ", "accent bold"), Span(f" {what}", "bold"))
        self._title.say(said)
        keys = _KEYS if self._path else _KEYS_GONE
        self._keys.say(key_spans(keys))
        count = len(self._versions) if self._path else len(self._gone)
        title = f"Versions · {count}" if self._path else f"Gone · {count}"
        self._list.border_title = Content(title)
        shown = clip(self.version.path, 60) if self.version else ""
        self._right.border_title = Content(shown)

    # What the keys do

    def action_open(self) -> None:
        """Show what restoring the version would do, or what lies behind the row."""
        version = self.version
        if version is None:
            if self._path and self._gone:
                self._go_into("")
        elif not self._path:
            self._go_into(version.path)
        else:
            self._begin_restoring(version)

    def _go_into(self, path: str) -> None:
        self._against_now = False
        self._going_into = path
        self._begin(lambda: self._load(path))

    def _begin_restoring(self, version: Version) -> None:
        # not exclusive: a cursor that moves must not cut off what is being written
        self.run_worker(self._reported(lambda: self._restore(version)), group="restore")

    async def _restore(self, version: Version) -> None:
        if version.sha is None:
            # where it was deleted, what comes back is the text that it had
            version = replace(version, sha=version.before)
        # under the name that it has now
        wanted = replace(version, path=self._path)
        memory = await asyncio.to_thread(self._notebook.read)
        change_set = await asyncio.to_thread(restore, self._notebook, memory, wanted)
        if not change_set:
            self.notify("It holds that text already.", markup=False, timeout=3)
            return
        title = f"Restore {clip(self._path, 60)} as it was on {moment(version.at)}"
        proposal = ProposalScreen(title, change_set, self._palette)
        approved = await self.app.push_screen_wait(proposal)
        if approved and await self._write_seen(approved):
            self.notify("Restored; u takes it back.", markup=False, timeout=5)
            self._go_into(self._path)

    def action_compare(self) -> None:
        """Compare with what is there now, or with the version before again."""
        self._against_now = not self._against_now
        self._begin(self._show)

    def action_leave(self) -> None:
        """From the diff to the list, from a note that is gone to the others, then back."""
        if self._diff.has_focus:
            self._list.focus()
        elif self._going_into != self._began_with:
            self._go_into("" if self._going_into else self._began_with)
        else:
            self.dismiss(None)

    def action_go(self, where: str) -> None:
        """To the list, to the diff, or to the other of them."""
        to_diff = where == "diff" or (not where and self._list.has_focus)
        (self._diff if to_diff and self.version is not None else self._list).focus()

    def on_row_list_opened(self) -> None:
        """A second click does what Enter does."""
        self.action_open()

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
