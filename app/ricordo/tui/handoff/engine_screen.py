"""Who drafts a handoff: the rules, a model, or a program of the person's. What would leave and what
that may cost is there to be read before anything is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from ricordo.curation.engines.llm import ANTHROPIC
from ricordo.settings.keymap import Keymap
from ricordo.tui.actions.handlers import Handlers, moving_handlers
from ricordo.tui.base.acting_screen import LOW, ActingScreen, bindings_on
from ricordo.tui.context import Scene, Situation
from ricordo.tui.dialogs.engine_forms import ask_to_run, choose_model
from ricordo.tui.jobs import Jobs
from ricordo.tui.render.bars import key_line
from ricordo.tui.render.egress_lines import engine_spans, leaving_lines, leaving_spans
from ricordo.tui.render.line import StyledLine, StyledSpan, wrap
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.row_list import RowList
from ricordo.tui.widgets.text_view import TextView

if TYPE_CHECKING:
    from ricordo.handoff.facts import Facts
    from ricordo.services.handoff.engine_draft import BeforeDraft
    from ricordo.settings.settings import EngineSettings
    from ricordo.tui.color_palette import Palette
    from ricordo.tui.handoff.drafter import Drafter

_BY_RULES = (
    "The rules quote and list what the session tells. They put nothing into other words, and "
    "nothing leaves this machine."
)
_TICK = 0.2
"""Seconds after which it is told anew how far something is."""
_NOT_YET = "It is still being looked at what would leave."


class EngineScreen(ModalScreen["EngineSettings | None"], ActingScreen["EngineSettings | None"]):
    """Ends with who is to draft, or with None."""

    SCENE = Scene.ENGINE
    CSS_PATH = "../dialogs/overlay.tcss"
    VERTICAL_BREAKPOINTS = LOW
    BINDINGS: ClassVar[list[BindingType]] = bindings_on(SCENE)

    def __init__(
        self,
        facts: Facts,
        engines: Sequence[EngineSettings],
        own: EngineSettings,
        drafter: Drafter,
        palette: Palette,
        keymap: Keymap,
    ) -> None:
        """`own` is which of the `engines` was chosen last, perhaps with another model."""
        ActingScreen.__init__(self, palette, keymap)
        self._facts = facts
        self._engines = [replace(it, model=own.model) for it in engines]
        self._first = self._engines.index(own) if own in self._engines else 0
        self._drafter = drafter
        self._jobs = Jobs()
        self.before: BeforeDraft | None = None
        """What is known of the engine under the cursor, once it is."""
        self._failure = ""
        self._list = RowList(palette, self._look, self._rows, id="ways", one_row=0)
        self._text = TextView(palette, self._lines, id="text")
        self._bars = {name: Bar(palette, id=name, base="") for name in ("cost", "left", "secrets")}
        self._state = Bar(palette, id="state")
        self._keys = Bar(palette, id="keys")

    def compose(self) -> ComposeResult:
        """The engines, what leaves and what that costs, what goes on, the keys."""
        with Vertical(id="overlay") as overlay:
            overlay.border_title = Content("Who drafts the handoff")
            yield self._list
            yield from self._bars.values()
            yield self._text
            yield self._state
            yield self._keys

    def on_mount(self) -> None:
        """Begin with the engine that was chosen last."""
        self._list.styles.height = len(self._engines)
        self._list.show(len(self._engines), self._first)
        self._list.focus()
        self.set_interval(_TICK, self.say)
        self._look()

    def on_unmount(self) -> None:
        """Let nothing go on for a screen that is gone."""
        self._jobs.cancel()

    # What is shown

    @property
    def own(self) -> EngineSettings:
        """The engine under the cursor."""
        return self._engines[max(self._list.at, 0)]

    def _rows(self, number: int, width: int, in_one: bool) -> tuple[StyledLine, ...]:
        left, _ = engine_spans(self._engines[number], number, len(self._engines))
        return (StyledLine((StyledSpan(" "), *left[1:])),)

    def _lines(self, width: int) -> list[StyledLine]:
        if self.before is None:
            return leaving_lines(None, [self._failure], width)
        wrong, leaving = [self._failure, self.before.why_not], self.before.leaving
        told = [] if leaving or self.before.why_not else [StyledSpan(_BY_RULES, "dim")]
        lines = [StyledLine(row) for span in told for row in wrap([span], width - 1)]
        return [*leaving_lines(leaving, wrong, width), *lines]

    def say(self) -> None:
        """Tell what is known of the engine, and the keys."""
        leaving = self.before.leaving if self.before else None
        for bar in self._bars.values():
            bar.display = leaving is not None
        if leaving is not None:
            for name, spans in leaving_spans(leaving).items():
                self._bars[name].say(spans)
        left_out = self.before.left_out if self.before else 0
        gone = f" · {left_out:,} facts have no room in it" if left_out else ""
        job = self._jobs.now
        waits = StyledSpan(f" nothing was sent yet, and nothing has run{gone}", "dim")
        self._state.say((StyledSpan(f" ○ {job.told}", "accent") if job else waits,))
        self._keys.say(*key_line(self.situation, self.keymap))

    # What goes on

    def _look(self) -> None:
        """Find out what would leave."""
        self.before = None
        job = self._jobs.begin("looking")
        look = partial(self._drafter.look, self._facts, self.own)
        self.run_worker(self._jobs.follow(job, look, self._looked, self._failed))
        self._draw()

    def _looked(self, before: BeforeDraft) -> None:
        self.before = before
        self._draw()

    def _failed(self, why: str) -> None:
        self._failure = why
        self._draw()

    def _draw(self) -> None:
        self._text.on_resize()
        self._text.jump_to(0)
        self.say()

    # What the keys do

    @property
    def situation(self) -> Situation:
        """What cannot be done with the engine under the cursor."""
        is_model = self.own.use == ANTHROPIC
        refusals = {
            "open": self.before.why_not if self.before else _NOT_YET,
            "model": "" if is_model else "Only a model has a name to choose.",
        }
        return Situation(scene=self.SCENE, refusals=refusals)

    @property
    def handlers(self) -> Handlers:
        """What the keys do, by action id."""
        return {
            **super().handlers,
            **moving_handlers(self._list),
            "open": self.choose,
            "model": self.ask_for_model,
            "leave": self.cancel,
            "page-down": partial(self._page, 1),
            "page-up": partial(self._page, -1),
        }

    def _page(self, direction: int) -> None:
        height = max(1, self._text.scrollable_content_region.height - 2)
        self._text.jump_to(self._text.scroll_offset.y + direction * height)

    def on_row_list_opened(self) -> None:
        """A second click chooses."""
        self.action_do("open")

    def choose(self) -> None:
        """Have it draft; a new program has to be let run first."""
        leaving = self.before.leaving if self.before else None
        program = leaving.program if leaving else None
        if program is None:
            self._choose()
        else:
            ask_to_run(self, program, self._drafter.let_run, self._choose, self._failed)

    def _choose(self) -> None:
        self.dismiss(self.own)

    def ask_for_model(self) -> None:
        """Choose the model."""
        prices = self._drafter.models()
        choose_model(self.app, self.own.model, prices, self._palette, self._use)

    def _use(self, model: str) -> None:
        self._engines = [replace(it, model=model) for it in self._engines]
        self._list.refresh()
        self._look()

    def cancel(self) -> None:
        """End without a choice."""
        self.dismiss(None)
