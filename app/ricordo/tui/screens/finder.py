"""The finder: notes by name and by what they say, while words are typed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input

from ricordo.errors import RicordoError
from ricordo.notebook.search import Found, Hit
from ricordo.text import clip
from ricordo.tui.render.bars import key_spans
from ricordo.tui.render.found_rows import NOTHING_TYPED, hit_rows
from ricordo.tui.render.line import Line, Span
from ricordo.tui.render.note_page import NotePage
from ricordo.tui.screens.form import Field, FormInput
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.note_view import NoteView
from ricordo.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from ricordo.notebook.open import Look
    from ricordo.tui.palette import Palette

_WIDE = 100
"""Columns from which on the note is previewed beside the list."""
_EVERY = 0.2
"""Seconds between two looks at how far the index is."""
_NEVER = 10_000
"""Cells from which on a hit takes one row."""
_KEYS = (("↑ ↓", "move"), ("Enter", "open"), ("Esc", "back"))


class Source(Protocol):
    """What finds notes."""

    @property
    def done(self) -> int:
        """How many notes the index that is being made has."""

    @property
    def of(self) -> int:
        """Of how many; 0 where none is being made."""

    async def find(self, typed: str, *, by_name: bool = False) -> Found:
        """Return what fits what was `typed`, `by_name` only what is called so."""

    async def ambient(self) -> Found:
        """Return what the surroundings call for."""

    async def make_index(self, look: Look) -> None:
        """Bring the index in line with `look`."""


class Chosen(NamedTuple):
    """How the search ended."""

    path: str
    """The note to be opened; "" where nothing was found."""
    words: str
    """What was typed."""


class FinderScreen(Screen[Chosen | None]):
    """Ends with what was chosen, with what was looked for in vain, or with None."""

    CSS_PATH = "finder.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+f", "leave", show=False, priority=True),
        Binding("down,ctrl+n", "move(1)", show=False, priority=True),
        Binding("up,ctrl+p", "move(-1)", show=False, priority=True),
        Binding("pagedown", "page(1)", show=False, priority=True),
        Binding("pageup", "page(-1)", show=False, priority=True),
    ]

    def __init__(self, look: Look, source: Source, palette: Palette) -> None:
        """`source` finds notes of `look`."""
        super().__init__()
        self._look = look
        self._source = source
        self._palette = palette
        self._found = self._called_for = Found((), 0)
        self._wanted = ""
        self._indexed = False
        self._answered = "", False
        self._searching = False
        self._list = RowList(palette, self._chosen, self._rows, id="hits", one_row=_NEVER, led=True)
        self._preview = NoteView(palette, id="preview")
        self._keys = Bar(palette, id="keys")

    def compose(self) -> ComposeResult:
        """The words, what was found beside the note, the keys."""
        hint = 'words, or type:feedback  after:2026-05  >note  <note  "exact"  -not'
        yield FormInput(Field("words", hint=hint))
        with Container(id="found"):
            yield self._list
            yield self._preview
        yield self._keys

    def on_mount(self) -> None:
        """Begin with the words; names are found before the index is there."""
        words = self.query_one(FormInput)
        words.border_title = Content("Find")
        words.focus()
        self._list.show(0, 0, NOTHING_TYPED)
        self._run(self._make_index)
        self.set_interval(_EVERY, self._say)
        self._say()

    def on_resize(self) -> None:
        """Show the note beside the list where there is room."""
        self.set_class(self.size.width >= _WIDE, "-wide")
        self.call_after_refresh(self._chosen)

    def repaint(self, palette: Palette) -> None:
        """Take the styles of another theme; what is on the screen is drawn anew by itself."""
        self._palette = palette

    @property
    def hit(self) -> Hit | None:
        """The hit under the cursor."""
        hits = self._found.hits
        return hits[self._list.at] if 0 <= self._list.at < len(hits) else None

    @property
    def is_settled(self) -> bool:
        """Whether all that was found for the words is on the screen."""
        return self._indexed and not self._searching and self._answered == self._asked

    @property
    def _asked(self) -> tuple[str, bool]:
        """What is typed, and whether it can be looked for in what the notes say."""
        return self._wanted, self._indexed

    # Searching

    def _run(self, work: Callable[[], Awaitable[None]]) -> None:
        self.run_worker(work)

    async def _make_index(self) -> None:
        await self._source.make_index(self._look)
        self._called_for = await self._source.ambient()
        self._indexed = True
        self._begin()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search while the person types."""
        event.stop()
        self._wanted = event.value.strip()
        self._begin()

    def _begin(self) -> None:
        if not self._searching:
            self._searching = True
            self._run(self._search)

    async def _search(self) -> None:
        """Search for what is typed until nothing else is: what was typed meanwhile is left out."""
        try:
            while (asked := self._asked) != self._answered:
                typed, indexed = asked
                found = await self._source.find(typed, by_name=not indexed) if typed else None
                self._answered = asked
                self._show(found or self._called_for)
        except RicordoError as error:
            self.notify(str(error), severity="error", markup=False, timeout=10)
        finally:
            self._searching = False

    def _show(self, found: Found) -> None:
        self._found = found
        nothing = (("No note fits.", ""),) if self._answered[0] else NOTHING_TYPED
        self._list.show(len(found.hits), 0, nothing)
        self._list.jump_to(0)
        self._chosen()
        self._say()

    def _chosen(self) -> None:
        """Show the note under the cursor, from where it says what was typed."""
        hit, page = self.hit, None
        if hit is not None:
            width, today = self._preview.content_width, self._look.at.date()
            page = NotePage(self._look, hit.result.note, width, False, today)
        self._preview.search("")
        self._preview.show(page)
        self._preview.border_title = Content(clip(hit.result.note.path, 60) if hit else "")
        if hit is not None and hit.result.marks:
            start, end = hit.result.marks[0]
            self._preview.search(hit.result.snippet[start:end])

    def _rows(self, number: int, width: int, in_one: bool) -> tuple[Line, ...]:
        return hit_rows(self._found.hits[number], width)

    def _say(self) -> None:
        count, total = len(self._found.hits), self._found.total
        shown = f"{count} of {total:,}" if total > count else f"{total:,}"
        title = "Found" if self._answered[0] else "What your surroundings call for"
        self._list.border_title = Content(f"{title} · {shown}")
        told = ""
        if not self._indexed:
            done, of = self._source.done, self._source.of
            far = f": {done:,} of {of:,} notes" if of else ""
            told = f" the index is being made{far}; names are found already "
        self._keys.say(key_spans(_KEYS), (Span(told, "dim"),))

    # What the keys do

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Open what is under the cursor."""
        event.stop()
        self._end()

    def on_row_list_opened(self) -> None:
        """A second click opens."""
        self._end()

    def _end(self) -> None:
        if self.hit is not None:
            self.dismiss(Chosen(self.hit.result.note.path, self._wanted))

    def action_leave(self) -> None:
        """End without a note; what was looked for in vain is told."""
        in_vain = self.is_settled and self._wanted and not self._found.hits
        self.dismiss(Chosen("", self._wanted) if in_vain else None)

    def action_move(self, step: int) -> None:
        """Move the cursor."""
        self._list.move(step)

    def action_page(self, direction: int) -> None:
        """Move the cursor by a page."""
        self._list.move_page(direction)
