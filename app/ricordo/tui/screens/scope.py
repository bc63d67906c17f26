"""What is to be curated: the scope is chosen, and the brief read, before anything runs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from ricordo.courtesy import GivingWay
from ricordo.curator.brief import BUDGET
from ricordo.curator.engine import Progress
from ricordo.errors import RicordoError
from ricordo.text import cells, one_line
from ricordo.tui.render.bars import key_spans
from ricordo.tui.render.brief_lines import prepared_lines, told_of_brief
from ricordo.tui.render.line import Line, Span, fit
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.row_list import RowList
from ricordo.tui.widgets.text_view import TextView

if TYPE_CHECKING:
    from ricordo.curator.engine import Step
    from ricordo.notebook.curate import Curation
    from ricordo.notebook.preparing import Prepared
    from ricordo.notebook.spoken import Scope
    from ricordo.tui.palette import Palette

Answer = TypeVar("Answer")

_LABEL = 18
"""Cells of the words for a scope."""
_PATIENCE = 5.0
"""Seconds for which a curation gives way in all to keys."""
_TICK = 0.5
"""Seconds after which it is told anew how long something takes."""
_KEYS = (("↑ ↓", "scope"), ("PgUp PgDn", "brief"), ("Enter", "start"))


class ScopeWay(NamedTuple):
    """One scope to choose."""

    scope: Scope
    label: str
    """In words of our own."""
    help: str
    """What it comes to; may be text of strangers."""


class Curator(Protocol):
    """What proposes; called in threads, one call at a time."""

    def prepare(self, scope: Scope, step: Step) -> Prepared:
        """Return what a curation in the `scope` is given. Raises RicordoError."""

    def propose(self, prepared: Prepared, step: Step) -> Curation:
        """Return what it would change; nothing is kept or done. Raises RicordoError."""


class _Cancelled(Exception):
    """The person does not want it any more."""


class _Job:
    """Something that goes on in a thread."""

    def __init__(self, phase: str) -> None:
        self.phase = phase
        self.began = time.monotonic()
        self.is_cancelled = False
        self._giving = GivingWay(_PATIENCE)

    def step(self, progress: Progress) -> None:
        """Be told how far it is; ends it where it was cancelled."""
        if self.is_cancelled:
            raise _Cancelled
        self.phase = progress.phase
        self._giving.step()

    @property
    def told(self) -> str:
        """What is being done, and for how long."""
        return f"{one_line(self.phase)} … {time.monotonic() - self.began:.0f} s"


class ScopeScreen(ModalScreen["Curation | None"]):
    """Ends with what was proposed, or with None: then nothing has happened."""

    CSS_PATH = "overlay.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("up,k", "move(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("enter", "start", show=False),
        *(Binding(str(n), f"choose({n})", show=False) for n in range(1, 10)),
    ]

    def __init__(
        self, ways: Sequence[ScopeWay], engine: str, curator: Curator, palette: Palette
    ) -> None:
        """`engine` says in words of our own what proposes, and what that costs."""
        super().__init__()
        self._ways = ways
        self._engine = engine
        self._curator = curator
        self._palette = palette
        self._job: _Job | None = None
        self.prepared: Prepared | None = None
        """What a curation in the chosen scope is given, once it is known."""
        self._is_running = False
        self._one_at_a_time = asyncio.Lock()
        self._list = RowList(palette, self._prepare, self._rows, id="ways", one_row=0)
        self._brief = TextView(palette, self._brief_lines, id="brief")
        self._about = Bar(palette, id="about")
        self._state = Bar(palette, id="state", base="")
        self._keys = Bar(palette, id="keys")

    def compose(self) -> ComposeResult:
        """The scopes, the engine, the brief, what goes on, the keys."""
        with Vertical(id="overlay") as overlay:
            overlay.border_title = Content("Curate · notes from what you said to agents")
            yield self._list
            yield Bar(self._palette, id="engine", base="").with_left(
                Span(" engine ", "dim"), Span(self._engine)
            )
            yield self._about
            yield self._brief
            yield self._state
            yield self._keys

    def on_mount(self) -> None:
        """Begin with the first scope."""
        self._list.styles.height = len(self._ways)
        self._list.show(len(self._ways), 0)
        self._list.focus()
        self.set_interval(_TICK, self._say)
        self._prepare()

    def on_unmount(self) -> None:
        """Let nothing go on for a screen that is gone."""
        self._cancel()

    def repaint(self, palette: Palette) -> None:
        """Take the styles of another theme; what is on the screen is drawn anew by itself."""
        self._palette = palette

    # What is shown

    def _rows(self, number: int, width: int, in_one: bool) -> tuple[Line, ...]:
        way = self._ways[number]
        label = way.label + " " * max(1, _LABEL - cells(way.label))
        spans = (Span(f" {number + 1} ", "key"), Span(label), Span(one_line(way.help), "dim"))
        return (Line(fit(spans, width)),)

    def _brief_lines(self, width: int) -> list[Line]:
        return prepared_lines(self.prepared, width) if self.prepared else []

    def _say(self) -> None:
        job, prepared = self._job, self.prepared
        self._about.say(told_of_brief(prepared, BUDGET) if prepared else (Span(" brief", "dim"),))
        waits = " nothing has run yet; what is proposed is looked through first"
        doing = Span(f" ○ {job.told}", "accent") if job else Span(waits, "dim")
        self._state.say((doing, Span(" · nothing is changed" if job else "", "dim")))
        back = ("Esc", "cancel" if self._is_running else "back")
        keys = [back] if self._is_running else [*_KEYS, back]
        self._keys.say(key_spans(keys))

    # What goes on

    def _cancel(self) -> None:
        if self._job is not None:
            self._job.is_cancelled = True
        self._job = None

    def _begin(self, phase: str) -> _Job:
        self._cancel()
        self._job = job = _Job(phase)
        self._say()
        return job

    def _prepare(self) -> None:
        """Put the brief together for the scope under the cursor."""
        self.prepared = None
        self._brief.on_resize()
        self.run_worker(self._preparing(self._begin("looking"), self._ways[self._list.at].scope))

    async def _preparing(self, job: _Job, scope: Scope) -> None:
        found = await self._done(job, partial(self._curator.prepare, scope))
        if found is not None:
            self._job, self.prepared = None, found
            self._brief.on_resize()
            self._brief.jump_to(0)
            self._say()

    def _failed(self, job: _Job, error: RicordoError) -> None:
        if job is self._job:
            self._job, self._is_running = None, False
            self.notify(str(error), severity="error", markup=False, timeout=10)
            self._say()

    async def _proposing(self, job: _Job, prepared: Prepared) -> None:
        found = await self._done(job, partial(self._curator.propose, prepared))
        if found is not None:
            self.dismiss(found)

    async def _done(self, job: _Job, work: Callable[[Step], Answer]) -> Answer | None:
        """Do `work` in a thread; None where it failed, which is told, or is not wanted any more."""
        # one after the other: a thread that was told to end may not have ended yet
        async with self._one_at_a_time:
            try:
                found = await asyncio.to_thread(work, job.step)
            except _Cancelled:
                return None
            except RicordoError as error:
                self._failed(job, error)
                return None
        return found if job is self._job else None

    # What the keys do

    def action_move(self, step: int) -> None:
        """Another scope."""
        if not self._is_running:
            self._list.move(step)

    def action_choose(self, number: int) -> None:
        """The scope of that number."""
        if not self._is_running and number <= len(self._ways):
            self._list.rest_on(number - 1)

    def action_page(self, direction: int) -> None:
        """On or back in the brief."""
        height = max(1, self._brief.scrollable_content_region.height - 2)
        self._brief.jump_to(self._brief.scroll_offset.y + direction * height)

    def on_row_list_opened(self) -> None:
        """A second click starts."""
        self.action_start()

    def action_start(self) -> None:
        """Have changes proposed, once the brief is there to be read."""
        if self._is_running:
            return
        if self.prepared is None:
            self.notify("The brief is not there yet.", markup=False, timeout=3)
            return
        self._is_running = True
        self.run_worker(self._proposing(self._begin("proposing"), self.prepared))

    def action_leave(self) -> None:
        """Stop what runs; else end."""
        if not self._is_running:
            self.dismiss(None)
            return
        self._is_running = False
        self._cancel()
        self.notify("Cancelled. Nothing was changed.", markup=False, timeout=4)
        self._say()
