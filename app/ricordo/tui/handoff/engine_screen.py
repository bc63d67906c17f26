"""Choose who drafts a handoff: the rules, a model, or a program of the user's. What would be sent
and what that may cost is shown before anything is sent.
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
from ricordo.tui.base.action_screen import HEIGHT_BREAKPOINTS, ActionScreen, make_bindings
from ricordo.tui.context import ActionContext, ScreenId
from ricordo.tui.dialogs.engine_forms import ask_to_run, choose_model
from ricordo.tui.jobs import Jobs
from ricordo.tui.render.bars import render_key_line
from ricordo.tui.render.egress_lines import render_egress, render_egress_summary, render_engine
from ricordo.tui.render.line import StyledLine, StyledSpan, wrap
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.row_list import RowList
from ricordo.tui.widgets.text_view import TextView

if TYPE_CHECKING:
    from ricordo.handoff.facts import Facts
    from ricordo.services.handoff.engine_draft import DraftPreview
    from ricordo.settings.settings import EngineSettings
    from ricordo.tui.color_palette import Palette
    from ricordo.tui.handoff.drafter import Drafter

_BY_RULES = (
    "The rules quote and list what is in the session. They reword nothing, and nothing leaves "
    "this machine."
)
_TICK = 0.2
"""Seconds between two updates of the progress."""
_NOT_YET = "The request is still being prepared."


class EngineScreen(ModalScreen["EngineSettings | None"], ActionScreen["EngineSettings | None"]):
    """Chooses who drafts; returns the engine, or None."""

    SCREEN_ID = ScreenId.ENGINE
    CSS_PATH = "../dialogs/overlay.tcss"
    VERTICAL_BREAKPOINTS = HEIGHT_BREAKPOINTS
    BINDINGS: ClassVar[list[BindingType]] = make_bindings(SCREEN_ID)

    def __init__(
        self,
        facts: Facts,
        engines: Sequence[EngineSettings],
        engine: EngineSettings,
        drafter: Drafter,
        palette: Palette,
        keymap: Keymap,
    ) -> None:
        """`engine` is the last chosen engine: one of `engines`, perhaps with another model."""
        ActionScreen.__init__(self, palette, keymap)
        self._facts = facts
        self._engines = [replace(each, model=engine.model) for each in engines]
        self._first = self._engines.index(engine) if engine in self._engines else 0
        self._drafter = drafter
        self._jobs = Jobs()
        self.preview: DraftPreview | None = None
        """The preview for the engine under the cursor; None while it is being made."""
        self._failure = ""
        self._list = RowList(palette, self._load_preview, self._render_row, id="ways", one_row=0)
        self._text = TextView(palette, self._render_text, id="text")
        self._bars = {name: Bar(palette, id=name, base="") for name in ("cost", "left", "secrets")}
        self._state = Bar(palette, id="state")
        self._keys = Bar(palette, id="keys")

    def compose(self) -> ComposeResult:
        """Lay out the engines, what is sent and its cost, the progress and the keys."""
        with Vertical(id="overlay") as overlay:
            overlay.border_title = Content("Who drafts the handoff")
            yield self._list
            yield from self._bars.values()
            yield self._text
            yield self._state
            yield self._keys

    def on_mount(self) -> None:
        """Select the last chosen engine."""
        self._list.styles.height = len(self._engines)
        self._list.show(len(self._engines), self._first)
        self._list.focus()
        self.set_interval(_TICK, self.update_bars)
        self._load_preview()

    def on_unmount(self) -> None:
        """Cancel the job of a closed screen."""
        self._jobs.cancel()

    # What is shown

    @property
    def engine(self) -> EngineSettings:
        """Return the engine under the cursor."""
        return self._engines[max(self._list.at, 0)]

    def _render_row(self, number: int, width: int, in_one: bool) -> tuple[StyledLine, ...]:
        left, _ = render_engine(self._engines[number], number, len(self._engines))
        return (StyledLine((StyledSpan(" "), *left[1:])),)

    def _render_text(self, width: int) -> list[StyledLine]:
        if self.preview is None:
            return render_egress(None, [self._failure], width)
        problems, egress = [self._failure, self.preview.disabled_reason], self.preview.egress
        about = [] if egress or self.preview.disabled_reason else [StyledSpan(_BY_RULES, "dim")]
        lines = [StyledLine(row) for span in about for row in wrap([span], width - 1)]
        return [*render_egress(egress, problems, width), *lines]

    def update_bars(self) -> None:
        """Update the cost, the progress and the keys."""
        egress = self.preview.egress if self.preview else None
        for bar in self._bars.values():
            bar.display = egress is not None
        if egress is not None:
            for name, spans in render_egress_summary(egress).items():
                self._bars[name].set_content(spans)
        left_out = self.preview.left_out if self.preview else 0
        left_out_words = f" · {left_out:,} facts do not fit" if left_out else ""
        job = self._jobs.now
        idle = StyledSpan(f" nothing is sent before Enter{left_out_words}", "dim")
        self._state.set_content((StyledSpan(f" ○ {job.label}", "accent") if job else idle,))
        self._keys.set_content(*render_key_line(self.action_context, self.keymap))

    # Jobs

    def _load_preview(self) -> None:
        """Make the preview for the engine under the cursor."""
        self.preview = None
        job = self._jobs.begin("preparing the request")
        make_preview = partial(self._drafter.load_preview, self._facts, self.engine)
        self.run_worker(
            self._jobs.follow(job, make_preview, self._show_preview, self._show_failure)
        )
        self._draw_text()

    def _show_preview(self, before: DraftPreview) -> None:
        self.preview = before
        self._draw_text()

    def _show_failure(self, reason: str) -> None:
        self._failure = reason
        self._draw_text()

    def _draw_text(self) -> None:
        self._text.on_resize()
        self._text.jump_to(0)
        self.update_bars()

    # Keys

    @property
    def action_context(self) -> ActionContext:
        """Return the state of the keys for the engine under the cursor."""
        is_model = self.engine.use == ANTHROPIC
        refusals = {
            "open": self.preview.disabled_reason if self.preview else _NOT_YET,
            "model": "" if is_model else "Select a model first.",
        }
        return ActionContext(screen_id=self.SCREEN_ID, disabled_reasons=refusals)

    @property
    def handlers(self) -> Handlers:
        """Return the handlers of the keys by action id."""
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
        """Choose on a double click."""
        self.action_do("open")

    def choose(self) -> None:
        """Choose the engine; a new program has to be allowed first."""
        leaving = self.preview.egress if self.preview else None
        program = leaving.program if leaving else None
        if program is None:
            self._choose()
        else:
            ask_to_run(self, program, self._drafter.allow_program, self._choose, self._show_failure)

    def _choose(self) -> None:
        self.dismiss(self.engine)

    def ask_for_model(self) -> None:
        """Choose the model."""
        prices = self._drafter.list_models()
        choose_model(self.app, self.engine.model, prices, self._palette, self._use_model)

    def _use_model(self, model: str) -> None:
        self._engines = [replace(engine, model=model) for engine in self._engines]
        self._list.refresh()
        self._load_preview()

    def cancel(self) -> None:
        """Close without a choice."""
        self.dismiss(None)
