"""What is to be curated, and by which engine: what would leave, what that may cost and the brief
are there to be read before anything runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from ricordo.curation.engines.llm import ANTHROPIC
from ricordo.curation.proposal import RULES
from ricordo.settings.keymap import Keymap
from ricordo.text import cells, one_line
from ricordo.tui.actions.bindings import dialog_bindings, first_keys
from ricordo.tui.actions.dialogs import NUMBERED, Dialog
from ricordo.tui.actions.handlers import Handlers, moving_handlers
from ricordo.tui.base.acting_screen import LOW, ActingScreen, bindings_on
from ricordo.tui.context import Scene, Situation
from ricordo.tui.dialogs.engine_forms import ask_to_run, choose_model
from ricordo.tui.jobs import Answer, Jobs
from ricordo.tui.render.bars import key_line, key_spans
from ricordo.tui.render.egress_lines import (
    before_lines,
    engine_spans,
    incoming_lines,
    leaving_spans,
    told_of_brief,
)
from ricordo.tui.render.line import StyledLine, StyledSpan, fit
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.row_list import RowList
from ricordo.tui.widgets.text_view import TextView

if TYPE_CHECKING:
    from ricordo.curation.engine import Step
    from ricordo.curation.engines.external import Estimate
    from ricordo.services.curation.curation import Curation
    from ricordo.services.curation.preparation import CurationScope
    from ricordo.services.engines.preview import CurationPreview
    from ricordo.settings.settings import EngineSettings
    from ricordo.tui.color_palette import Palette
    from ricordo.tui.curation.runner import Asker

_LABEL = 18
"""Cells of the words for a scope."""
_TICK = 0.1
"""Seconds after which it is told anew how far something is."""
_NOT_YET = "The brief is not there yet."
_BUSY = "It is being asked; Esc cancels."
_MOVING = ("cursor-down", "cursor-up", "first", "last")


class ScopeWay(NamedTuple):
    """One scope to choose."""

    scope: CurationScope
    label: str
    """In words of our own."""
    help: str
    """What it comes to; may be text of strangers."""


class ScopeScreen(ModalScreen["Curation | None"], ActingScreen["Curation | None"]):
    """Ends with what was proposed, or with None: then nothing has happened."""

    SCENE = Scene.SCOPE
    CSS_PATH = "../dialogs/overlay.tcss"
    VERTICAL_BREAKPOINTS = LOW
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_on(SCENE),
        *dialog_bindings(
            Dialog.CHOICE, {f"choice-{n}": f"choose({n})" for n in range(1, NUMBERED + 1)}
        ),
    ]

    def __init__(
        self,
        ways: Sequence[ScopeWay],
        engines: Sequence[EngineSettings],
        own: EngineSettings,
        asker: Asker,
        palette: Palette,
        keymap: Keymap,
    ) -> None:
        """`own` is which of the `engines` is chosen at first, perhaps with another model."""
        ActingScreen.__init__(self, palette, keymap)
        self._ways = ways
        self._engines = engines
        self.own = own
        """The engine that is chosen."""
        self._asker = asker
        self._jobs = Jobs()
        self.before: CurationPreview | None = None
        """What is known of a curation in the chosen scope, once it is."""
        self.counted: Estimate | None = None
        """What it may cost, once the server has counted the tokens."""
        self.failure = ""
        """Why the last attempt failed."""
        self.proposed: Curation | None = None
        """What was proposed, until the screen ends with it."""
        self._is_asking = False
        """Whether the engine proposes, or counts."""
        self._is_counting = False
        """Whether that is counting, which costs nothing."""
        self._drawn: object = None
        self._at = 0
        self._list = RowList(palette, self._moved, self._rows, id="ways", one_row=0)
        self._text = TextView(palette, self._lines, id="brief")
        names = ("engine", "cost", "left", "secrets", "about")
        self._bars = {name: Bar(palette, id=name, base="") for name in names}
        self._state = Bar(palette, id="state")
        self._keys = Bar(palette, id="keys")

    def compose(self) -> ComposeResult:
        """The scopes, the engine, what leaves, the brief, what goes on, the keys."""
        with Vertical(id="overlay") as overlay:
            overlay.border_title = Content("Curate · notes from what you said to agents")
            yield self._list
            yield from self._bars.values()
            yield self._text
            yield self._state
            yield self._keys

    def on_mount(self) -> None:
        """Begin with the first scope."""
        self._list.styles.height = len(self._ways)
        self._list.show(len(self._ways), 0)
        self._list.focus()
        self.set_interval(_TICK, self._tick)
        self._prepare()

    def on_unmount(self) -> None:
        """Let nothing go on for a screen that is gone."""
        self._jobs.cancel()

    # What is shown

    def _rows(self, number: int, width: int, in_one: bool) -> tuple[StyledLine, ...]:
        way = self._ways[number]
        label = way.label + " " * max(1, _LABEL - cells(way.label))
        spans = (
            StyledSpan(f" {number + 1} ", "key"),
            StyledSpan(label),
            StyledSpan(one_line(way.help), "dim"),
        )
        return (StyledLine(fit(spans, width)),)

    @property
    def _incoming(self) -> str:
        """What is being answered."""
        job = self._jobs.now
        return job.progress.text if job is not None and self._is_asking else ""

    def _lines(self, width: int) -> list[StyledLine]:
        if self._incoming:
            return incoming_lines(self._incoming, width)
        return before_lines(self.before, self.failure, width)

    def say(self) -> None:
        """Tell what is chosen, what is known of it, what goes on, and the keys."""
        job, before = self._jobs.now, self.before
        self._say_engine()
        about = (
            told_of_brief(before.prepared, before.room)
            if before
            else (StyledSpan(" brief", "dim"),)
        )
        self._bars["about"].say(about)
        waits = " nothing was sent and nothing has run yet; nothing is written by it"
        doing = StyledSpan(f" ○ {job.told}", "accent") if job else StyledSpan(waits, "dim")
        self._state.say((doing, StyledSpan(" · nothing is changed" if job else "", "dim")))
        if self._is_asking:
            self._keys.say(key_spans([(first_keys(self.app, "leave"), "cancel")]))
        else:
            self._keys.say(*key_line(self.situation, self.keymap))
        self._draw()

    def _tick(self) -> None:
        if self._jobs.now is not None:
            self.say()

    def _say_engine(self) -> None:
        numbers = (n for n, it in enumerate(self._engines) if it == self._listed)
        left, right = engine_spans(self.own, next(numbers, 0), len(self._engines))
        self._bars["engine"].say(left, right)
        leaving = self.before.leaving if self.before else None
        # what is being looked up keeps its rows, so that nothing jumps
        leaves = leaving is not None if self.before else self.own.use != RULES
        for name, spans in leaving_spans(leaving, self.counted).items():
            self._bars[name].display = leaves
            self._bars[name].say(spans)

    def _draw(self) -> None:
        """Draw the brief, or what comes in, where it is another one."""
        shown = (self.before, self.failure, self._incoming)
        if shown == self._drawn:
            return
        was_incoming = bool(self._drawn) and bool(self._incoming)
        self._drawn = shown
        self._text.on_resize()
        self._text.jump_to(self._text.line_count if was_incoming else 0)

    # What goes on

    @property
    def _listed(self) -> EngineSettings:
        """The engine that is chosen, as it stands among those to choose from."""
        return replace(self.own, model=self._engines[0].model)

    def _moved(self) -> None:
        """Another scope is under the cursor; while it is asked about one, that one stays."""
        if self._is_asking:
            self._list.put_on(self._at)
        elif self._list.at != self._at:
            self._at = self._list.at
            self._prepare()

    def _prepare(self, failure: str = "") -> None:
        """Find out what is to be known in the scope under the cursor; `failure` is told on it."""
        self.before, self.counted, self.failure = None, None, failure
        look = partial(self._asker.look, self.own, self._ways[self._at].scope)
        self._begin("looking", look, self._prepared)

    def _prepared(self, before: CurationPreview) -> None:
        self.before = before

    def _begin(
        self, phase: str, work: Callable[[Step], Answer], done: Callable[[Answer], None]
    ) -> None:
        """Do `work` in a thread, in the place of what goes on, and `done` with what came of it."""
        job = self._jobs.begin(phase)
        self.say()

        def came(found: Answer) -> None:
            self._is_asking = False
            done(found)
            self.say()

        self.run_worker(self._jobs.follow(job, work, came, self._failed))

    def _failed(self, why: str) -> None:
        if self._is_asking:
            self._is_asking = False
            # what the caps leave is less by now
            self._prepare(why)
        else:
            self.failure = why
        self.say()

    # What the keys do

    @property
    def situation(self) -> Situation:
        """What cannot be done with the engine that is chosen."""
        leaving = self.before.leaving if self.before else None
        nothing = "" if leaving else "Nothing leaves this machine by this engine."
        why_not = self.before.why_not if self.before else _NOT_YET
        is_model = self.own.use == ANTHROPIC
        refusals = {
            "open": why_not,
            "next": "",
            "previous": "",
            "model": "" if is_model else "Only a model has a name to choose.",
            "count": why_not or ("" if is_model else "Only the server of a model counts."),
            "kept-back": nothing,
        }
        if self._is_asking:
            refusals = dict.fromkeys((*refusals, *_MOVING), _BUSY)
        return Situation(scene=self.SCENE, refusals=refusals)

    @property
    def handlers(self) -> Handlers:
        """What the keys do, by action id."""
        return {
            **super().handlers,
            **moving_handlers(self._list),
            "model": self.ask_for_model,
            "kept-back": self.show_redactions,
            "count": self.count_tokens,
            "open": self.start,
            "leave": self.cancel,
            "page-down": partial(self._page, 1),
            "page-up": partial(self._page, -1),
            "next": partial(self._turn, 1),
            "previous": partial(self._turn, -1),
        }

    def action_choose(self, number: int) -> None:
        """The scope of that number."""
        if not self._is_asking and number <= len(self._ways):
            self._list.rest_on(number - 1)

    def _page(self, direction: int) -> None:
        height = max(1, self._text.scrollable_content_region.height - 2)
        self._text.jump_to(self._text.scroll_offset.y + direction * height)

    def _turn(self, step: int) -> None:
        engines = list(self._engines)
        at = engines.index(self._listed) if self._listed in engines else 0
        self.own = replace(engines[(at + step) % len(engines)], model=self.own.model)
        self._prepare()

    def ask_for_model(self) -> None:
        """Choose the model, of those whose price is known or by its name."""
        choose_model(self.app, self.own.model, self._asker.models(), self._palette, self._use)

    def _use(self, model: str) -> None:
        self.own = replace(self.own, model=model)
        self._prepare()

    def show_redactions(self) -> None:
        """What is kept back."""
        from ricordo.tui.curation.redaction_screen import KeptBackScreen

        assert self.before is not None
        assert self.before.leaving is not None
        leaving, told = self.before.leaving, self.before.prepared.told
        screen = KeptBackScreen(leaving, told, self._asker, self._palette, self.keymap)
        self.app.push_screen(screen, self._decided)

    def _decided(self, is_other: bool | None) -> None:
        if is_other:
            self._prepare()

    def count_tokens(self) -> None:
        """Have the server count."""
        assert self.before is not None
        self._is_asking = self._is_counting = True
        self._begin("the server counts", partial(self._asker.count, self.before), self._count)

    def _count(self, counted: Estimate) -> None:
        self.counted = counted

    def on_row_list_opened(self) -> None:
        """A second click starts."""
        self.action_do("open")

    def start(self) -> None:
        """Have changes proposed; a new program has to be let run first."""
        assert self.before is not None
        program = self.before.leaving.program if self.before.leaving else None
        if program is None:
            self._propose()
        else:
            ask_to_run(self, program, self._asker.let_run, self._propose, self._failed)

    def _propose(self) -> None:
        if self.before is not None:
            self._is_asking, self._is_counting, self.failure = True, False, ""
            self._begin("proposing", partial(self._asker.propose, self.before), self._end)

    def _end(self, curation: Curation) -> None:
        self.proposed = curation
        self.on_screen_resume()

    def on_screen_resume(self) -> None:
        """End with what was proposed, once nothing lies above that would be ended instead."""
        if self.proposed is not None and self.is_active:
            found, self.proposed = self.proposed, None
            self.dismiss(found)

    def cancel(self) -> None:
        """Stop what was asked; else end."""
        if not self._is_asking:
            self.dismiss(None)
            return
        self._is_asking = False
        self._jobs.cancel()
        is_paid = self.own.use != RULES and not self._is_counting
        cost = " What it had cost by then stands in the ledger." if is_paid else ""
        self.notify(f"Cancelled. Nothing was changed.{cost}", markup=False, timeout=4)
        self._prepare()
