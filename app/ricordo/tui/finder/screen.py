"""The finder: finds notes by name and content while you type."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input

from ricordo.background import foreground_work
from ricordo.errors import RicordoError
from ricordo.services.search.conditions import needs_findings
from ricordo.services.search.recall import find_line_of_passage
from ricordo.services.search.search import NO_RESULTS, AllSearchResults, Hit, PlacedHit
from ricordo.services.workspace.notebook import get_short_name
from ricordo.text import clip, make_one_line
from ricordo.tui.actions.bindings import dialog_bindings, format_first_keys
from ricordo.tui.actions.dialogs import Dialog
from ricordo.tui.dialogs.form import Field, FormInput
from ricordo.tui.render.bars import render_keys
from ricordo.tui.render.line import StyledLine, StyledSpan, fit
from ricordo.tui.render.mask import mask_passage
from ricordo.tui.render.note_page import NotePage
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.note_view import NoteView
from ricordo.tui.widgets.row_list import RowList
from ricordo.tui.workers import start_worker

if TYPE_CHECKING:
    from ricordo.tui.color_palette import Palette

NOTHING_TYPED: Sequence[tuple[str, str]] = (
    ("Type to find notes: by name first, then by content.", ""),
    (
        "Conditions: type:feedback  tag:deploy  is:protected  has:dead-link  after:2026-05  "
        '>note links to it  <note linked from it  "exact words"  -not  this OR that',
        "dim",
    ),
)


def render_hit(hit: Hit, width: int, where: str = "") -> tuple[StyledLine, StyledLine]:
    """Return the two lines of a hit: its name, its memory `where` and why it matches; a passage."""
    note, result = hit.result.note, hit.result
    why = f"  {make_one_line('; '.join(result.why))}"
    name_text, name_marks = mask_passage(note.name, hit.name_marks, note.text)
    passage_text, marks = mask_passage(result.snippet, result.marks, note.text)
    name = [StyledSpan(" ", ""), *highlight_ranges(name_text, name_marks, "bold")]
    kind = StyledSpan(f"  {clip(note.type, 14)}" if note.type else "", "dim")
    memory = StyledSpan(f"  {clip(where, 28)}" if where else "", "accent")
    first = StyledLine(fit((*name, memory, kind, StyledSpan(why, "dim")), width))
    passage = highlight_ranges(passage_text, marks, "dim")
    return first, StyledLine(fit((StyledSpan("   "), *passage), width))


def highlight_ranges(
    text: str, marks: Sequence[tuple[int, int]], style: str
) -> Iterator[StyledSpan]:
    """Yield `text` as spans of `style`, with the ranges `marks` (start and end) highlighted."""
    at = 0
    for start, end in marks:
        if start < at:
            continue
        if start > at:
            yield StyledSpan(make_one_line(text[at:start]), style)
        yield StyledSpan(make_one_line(text[start:end]), f"{style} match")
        at = end
    if at < len(text):
        yield StyledSpan(make_one_line(text[at:]), style)


_WIDE = 100
"""Columns from which on the preview is beside the list."""
_EVERY = 0.2
"""Seconds between updates of the progress of a search and of the index."""
_SEARCHING = "Searching …"
_NEVER = 10_000
"""Cells from which on a hit takes one line: never."""


class FruitlessSearch(NamedTuple):
    """The result of a search without hits."""

    words: str
    """What was typed."""


class SearchSource(Protocol):
    """A search that the finder can use."""

    title: str
    """Its name on screen."""
    done: int
    """Number of notes in the index that is being built."""
    of: int
    """Number of all notes; 0 where no index is being built."""

    @property
    def searched(self) -> object:
        """What is searched; another object after a change."""

    @property
    def is_judged(self) -> bool:
        """Whether the findings of the notes are known."""

    async def build_index(self) -> list[str]:
        """Update the index; return warnings about what could not be read."""

    async def find(self, typed: str, *, by_name: bool = False) -> AllSearchResults:
        """Return the notes that match what was `typed`; with `by_name` what can be found without an
        index. Raises RicordoError.
        """

    async def find_relevant(self) -> AllSearchResults:
        """Return the notes that suit the environment."""


class _Search(NamedTuple):
    """What is to be answered."""

    source: SearchSource
    words: str
    searched: object
    """What the source searches."""
    indexed: bool
    """Whether the words can be looked for in what the notes say."""


class FinderScreen(Screen[PlacedHit | FruitlessSearch | None]):
    """Ends with the hit that was chosen, with a search without hits, or with None."""

    CSS_PATH = "style.tcss"
    BINDINGS: ClassVar[list[BindingType]] = dialog_bindings(
        Dialog.FINDER,
        {
            "cancel": "leave",
            "widen": "elsewhere",
            "next-hit": "move(1)",
            "previous-hit": "move(-1)",
            "next-hits": "page(1)",
            "previous-hits": "page(-1)",
        },
        priority=True,
    )

    def __init__(self, sources: Sequence[SearchSource], palette: Palette) -> None:
        """Searches in the first of the `sources`; the action `widen` goes to the next."""
        super().__init__()
        self._sources = sources
        self._source = sources[0]
        self._palette = palette
        self._found = NO_RESULTS
        self._called_for: dict[SearchSource, AllSearchResults] = {}
        """The notes that suit the environment, by source."""
        self._begun: set[SearchSource] = set()
        self._indexed: set[SearchSource] = set()
        self._wanted = ""
        self._answered = self._requested
        self._searching = False
        self._ends = False
        """Whether the first hit is to be opened when it is found."""
        self._list = RowList(palette, self._chosen, self._rows, id="hits", one_row=_NEVER)
        self._preview = NoteView(palette, id="preview")
        self._keys = Bar(palette, id="keys")

    def compose(self) -> ComposeResult:
        hint = 'words, or type:feedback  tag:deploy  after:2026-05  >note  "exact"  -not  OR'
        yield FormInput(Field("words", hint=hint))
        with Container(id="found"):
            yield self._list
            yield self._preview
        yield self._keys

    def on_mount(self) -> None:
        words = self.query_one(FormInput)
        words.focus()
        self._list.show(0, 0, NOTHING_TYPED)
        self._find_in(self._source)
        self.set_interval(_EVERY, self._update_progress)

    def on_resize(self) -> None:
        self.set_class(self.size.width >= _WIDE, "-wide")
        self.call_after_refresh(self._chosen)

    @property
    def hit(self) -> PlacedHit | None:
        """The hit under the cursor; None where there is none."""
        hits = self._found.hits
        return hits[self._list.at] if 0 <= self._list.at < len(hits) else None

    @property
    def is_settled(self) -> bool:
        """Whether all hits of the words are on the screen, and nothing is being searched."""
        return self._has_all and not self._searching

    @property
    def _has_all(self) -> bool:
        """Whether all hits of the words are on the screen."""
        requested = self._requested
        is_known = requested.indexed and not self._needs_findings
        return is_known and self._answered == requested

    @property
    def _requested(self) -> _Search:
        source = self._source
        return _Search(source, self._wanted, source.searched, source in self._indexed)

    @property
    def _needs_findings(self) -> bool:
        return not self._source.is_judged and needs_findings(self._wanted)

    @property
    def _is_answered(self) -> bool:
        """Whether the hits on the screen are of the words, perhaps by name only."""
        return self._answered[:2] == self._requested[:2]

    @property
    def _is_here(self) -> bool:
        return self._source is self._sources[0]

    # Searching

    def _run(self, work: Callable[[], Awaitable[None]]) -> None:
        start_worker(self, work)

    def _find_in(self, source: SearchSource) -> None:
        self._source = source
        self.query_one(FormInput).border_title = Content(source.title)
        if source not in self._begun:
            self._begun.add(source)
            self._run(partial(self._make_index, source))
        self._begin()
        self._update_bars()

    async def _make_index(self, source: SearchSource) -> None:
        for remark in await source.build_index():
            self.notify(remark, severity="warning", markup=False, timeout=10)
        self._indexed.add(source)
        self._begin()
        self._called_for[source] = await source.find_relevant()
        if self._source is source and not self._wanted:
            self._show(self._called_for[source])

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._wanted = event.value.strip()
        self._ends = False
        self._begin()

    def search_again(self) -> None:
        """Search again in a new snapshot."""
        if self.is_mounted:
            self._begin()
            self._update_bars()

    def _begin(self) -> None:
        if not self._searching:
            self._searching = True
            self._run(self._search)

    async def _search(self) -> None:
        """Search until the hits are of the words that are typed by then."""
        try:
            while (requested := self._requested) != self._answered:
                source, words, _, indexed = requested
                results = self._called_for.get(source, NO_RESULTS)
                if words:
                    try:
                        with foreground_work():
                            results = await source.find(words, by_name=not indexed)
                    except RicordoError as error:
                        results = NO_RESULTS._replace(warnings=(str(error),))
                is_same = requested[:2] == self._answered[:2]
                self._answered = requested
                self._show(results, keep_place=is_same)
            if self._ends:
                self._end()
        finally:
            self._searching = False

    def _show(self, results: AllSearchResults, *, keep_place: bool = False) -> None:
        at = _same_hit(self.hit, results) if keep_place else 0
        self._found = results
        nothing = NOTHING_TYPED
        if results.warnings:
            nothing = tuple((remark, "warning") for remark in results.warnings)
        elif self._answered.words:
            hints = tuple((hint, "dim") for hint in results.hints)
            nothing = (
                (("No note matches.", ""), *hints) if self._has_all else ((_SEARCHING, "dim"),)
            )
        self._list.show(len(results.hits), at, nothing)
        if not at:
            self._list.jump_to(0)
        self._chosen()
        self._update_bars()

    def _chosen(self) -> None:
        """Show the note under the cursor, at the passage that matches."""
        self._preview.highlight("")
        if self.hit is None:
            self._preview.show(None)
            self._preview.border_title = Content("")
            return
        snapshot, result = self.hit.snapshot, self.hit.hit.result
        width, today = self._preview.content_width, snapshot.at.date()
        page = NotePage(snapshot, result.note, width, False, today)
        self._preview.show(page, line=find_line_of_passage(result))
        self._preview.border_title = Content(clip(result.note.path, 60))
        if result.marks:
            start, end = result.marks[0]
            self._preview.highlight(result.snippet[start:end])

    def _rows(self, number: int, width: int, in_one: bool) -> tuple[StyledLine, ...]:
        place, _, hit = self._found.hits[number]
        return render_hit(hit, width, "" if self._is_here else get_short_name(place))

    def _update_progress(self) -> None:
        if not self._has_all:
            self._update_bars()

    def _update_bars(self) -> None:
        count, total = len(self._found.hits), self._found.total
        counted = f"{total:,}" if self._found.is_exact else f"{total:,}+"
        shown = f"{count} of {counted}" if total > count else counted
        title = f"Found · {shown}"
        if self._wanted and not self._has_all:
            title = f"{_SEARCHING} · {shown} so far" if total else _SEARCHING
        elif not self._answered.words:
            title = f"Relevant to where you work now · {shown}" if total else "Nothing typed yet"
        self._list.border_title = Content(title)
        state = " checking the notes … " if self._needs_findings else ""
        if not self._requested.indexed:
            done, of = self._source.done, self._source.of
            far = f": {done:,} of {of:,} notes" if of else ""
            state = f" building the index{far}"
            state += "; names are found already " if self._is_here else " "
        where = "in every memory" if self._is_here else "in this memory"
        keys = (
            (format_first_keys(self.app, "previous-hit", "next-hit"), "move"),
            ("Enter", "open"),
            (format_first_keys(self.app, "widen"), where),
            (format_first_keys(self.app, "cancel"), "back"),
        )
        self._keys.set_content(render_keys(keys), (StyledSpan(state, "dim"),))

    # What the keys do

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Open the hit under the cursor, once the hits are of the words."""
        event.stop()
        if self._is_answered:
            self._end()
        else:
            self._ends = True
            self._begin()

    def on_row_list_opened(self) -> None:
        self._end()

    def _end(self) -> None:
        self._ends = False
        if self.hit is not None:
            self.dismiss(self.hit)

    def action_leave(self) -> None:
        """Close without a note; where nothing matched, return the words."""
        results = self._found
        without_hits = (
            self.is_settled and self._wanted and not results.hits and not results.warnings
        )
        self.dismiss(FruitlessSearch(self._wanted) if without_hits else None)

    def action_elsewhere(self) -> None:
        """Search in the next source; after the last, in the first."""
        at = self._sources.index(self._source)
        self._find_in(self._sources[(at + 1) % len(self._sources)])

    def action_move(self, step: int) -> None:
        self._list.move(step)

    def action_page(self, direction: int) -> None:
        """Move the cursor by a page."""
        self._list.move_page(direction)


def _same_hit(hit: PlacedHit | None, results: AllSearchResults) -> int:
    """Return the number of the note of `hit` in `results`; 0 where it is not there."""
    if hit is None:
        return 0
    there = hit.place.root, hit.hit.result.note.path
    places = ((each.place.root, each.hit.result.note.path) for each in results.hits)
    return next((number for number, place in enumerate(places) if place == there), 0)
