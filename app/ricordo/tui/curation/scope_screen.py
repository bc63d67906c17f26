"""Choose what to curate and by which engine. What would be sent, what that may cost and the brief
are shown before anything runs.
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
from ricordo.text import count_cells, make_one_line
from ricordo.tui.actions.bindings import dialog_bindings, format_first_keys
from ricordo.tui.actions.dialogs import NUMBERED_CHOICES, Dialog
from ricordo.tui.actions.handlers import Handlers, moving_handlers
from ricordo.tui.base.action_screen import HEIGHT_BREAKPOINTS, ActionScreen, make_bindings
from ricordo.tui.context import ActionContext, ScreenId
from ricordo.tui.dialogs.engine_forms import ask_to_run, choose_model
from ricordo.tui.jobs import Answer, Jobs
from ricordo.tui.render.bars import render_key_line, render_keys
from ricordo.tui.render.egress_lines import (
    describe_brief,
    render_egress_summary,
    render_engine,
    render_incoming,
    render_preview,
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
    from ricordo.tui.curation.runner import CurationRunner

_LABEL = 18
"""Cells of the label of a scope."""
_TICK = 0.1
"""Seconds between two updates of the progress."""
_NOT_YET = "The brief is still being made."
_BUSY = "The engine is running; Esc cancels."
_MOVING = ("cursor-down", "cursor-up", "first", "last")


class ScopeChoice(NamedTuple):
    """One scope to choose."""

    scope: CurationScope
    label: str
    """Ricordo's own text."""
    help: str
    """What the scope covers; may be text of strangers."""


class ScopeScreen(ModalScreen["Curation | None"], ActionScreen["Curation | None"]):
    """Chooses scope and engine, and curates; returns the curation, None if nothing was done."""

    SCREEN_ID = ScreenId.SCOPE
    CSS_PATH = "../dialogs/overlay.tcss"
    VERTICAL_BREAKPOINTS = HEIGHT_BREAKPOINTS
    BINDINGS: ClassVar[list[BindingType]] = [
        *make_bindings(SCREEN_ID),
        *dialog_bindings(
            Dialog.CHOICE, {f"choice-{n}": f"choose({n})" for n in range(1, NUMBERED_CHOICES + 1)}
        ),
    ]

    def __init__(
        self,
        ways: Sequence[ScopeChoice],
        engines: Sequence[EngineSettings],
        engine: EngineSettings,
        asker: CurationRunner,
        palette: Palette,
        keymap: Keymap,
    ) -> None:
        """`engine` is the engine that is chosen at first: one of `engines`, perhaps with another
        model.
        """
        ActionScreen.__init__(self, palette, keymap)
        self._ways = ways
        self._engines = engines
        self.engine = engine
        """The chosen engine."""
        self._asker = asker
        self._jobs = Jobs()
        self.preview: CurationPreview | None = None
        """The preview of a curation in the chosen scope; None while it is being made."""
        self.counted: Estimate | None = None
        """The cost estimate by the server's token count; None until it was counted."""
        self.failure = ""
        """Why the last attempt failed; "" if it did not."""
        self.finished: Curation | None = None
        """The finished curation, until the screen closes with it."""
        self._is_asking = False
        """Whether the engine is proposing or counting."""
        self._is_counting = False
        """Whether it is counting, which costs nothing."""
        self._drawn: object = None
        self._position = 0
        self._list = RowList(palette, self._move_to_scope, self._render_row, id="ways", one_row=0)
        self._text = TextView(palette, self._render_text, id="brief")
        names = ("engine", "cost", "left", "secrets", "about")
        self._bars = {name: Bar(palette, id=name, base="") for name in names}
        self._state = Bar(palette, id="state")
        self._keys = Bar(palette, id="keys")

    def compose(self) -> ComposeResult:
        """Lay out the scopes, the engine, what is sent, the brief, the progress and the keys."""
        with Vertical(id="overlay") as overlay:
            overlay.border_title = Content("Curate · notes from your messages to agents")
            yield self._list
            yield from self._bars.values()
            yield self._text
            yield self._state
            yield self._keys

    def on_mount(self) -> None:
        """Select the first scope."""
        self._list.styles.height = len(self._ways)
        self._list.show(len(self._ways), 0)
        self._list.focus()
        self.set_interval(_TICK, self._tick)
        self._load_preview()

    def on_unmount(self) -> None:
        """Cancel the job of a closed screen."""
        self._jobs.cancel()

    # What is shown

    def _render_row(self, number: int, width: int, in_one: bool) -> tuple[StyledLine, ...]:
        way = self._ways[number]
        label = way.label + " " * max(1, _LABEL - count_cells(way.label))
        spans = (
            StyledSpan(f" {number + 1} ", "key"),
            StyledSpan(label),
            StyledSpan(make_one_line(way.help), "dim"),
        )
        return (StyledLine(fit(spans, width)),)

    @property
    def _incoming(self) -> str:
        """Return the answer as far as it has arrived."""
        job = self._jobs.now
        return job.progress.text if job is not None and self._is_asking else ""

    def _render_text(self, width: int) -> list[StyledLine]:
        if self._incoming:
            return render_incoming(self._incoming, width)
        return render_preview(self.preview, self.failure, width)

    def update_bars(self) -> None:
        """Update the engine, the brief, the progress and the keys."""
        job, before = self._jobs.now, self.preview
        self._show_engine()
        brief = (
            describe_brief(before.prepared, before.max_brief_tokens)
            if before
            else (StyledSpan(" brief", "dim"),)
        )
        self._bars["about"].set_content(brief)
        idle = " nothing is sent before Enter; proposals alone write nothing"
        progress = StyledSpan(f" ○ {job.label}", "accent") if job else StyledSpan(idle, "dim")
        self._state.set_content(
            (progress, StyledSpan(" · nothing is written" if job else "", "dim"))
        )
        if self._is_asking:
            self._keys.set_content(render_keys([(format_first_keys(self.app, "leave"), "cancel")]))
        else:
            self._keys.set_content(*render_key_line(self.action_context, self.keymap))
        self._draw_text()

    def _tick(self) -> None:
        if self._jobs.now is not None:
            self.update_bars()

    def _show_engine(self) -> None:
        numbers = (n for n, engine in enumerate(self._engines) if engine == self._listed)
        left, right = render_engine(self.engine, next(numbers, 0), len(self._engines))
        self._bars["engine"].set_content(left, right)
        egress = self.preview.egress if self.preview else None
        # rows that are being looked up stay, so that nothing jumps
        is_sent = egress is not None if self.preview else self.engine.use != RULES
        for name, spans in render_egress_summary(egress, self.counted).items():
            self._bars[name].display = is_sent
            self._bars[name].set_content(spans)

    def _draw_text(self) -> None:
        """Draw the brief or the incoming answer, if it changed."""
        shown = (self.preview, self.failure, self._incoming)
        if shown == self._drawn:
            return
        was_incoming = bool(self._drawn) and bool(self._incoming)
        self._drawn = shown
        self._text.on_resize()
        self._text.jump_to(self._text.line_count if was_incoming else 0)

    # Jobs

    @property
    def _listed(self) -> EngineSettings:
        """Return the chosen engine as it is listed among `engines`: with their model."""
        return replace(self.engine, model=self._engines[0].model)

    def _move_to_scope(self) -> None:
        """Preview the scope under the cursor; while an engine runs, stay on its scope."""
        if self._is_asking:
            self._list.set_cursor(self._position)
        elif self._list.at != self._position:
            self._position = self._list.at
            self._load_preview()

    def _load_preview(self, failure: str = "") -> None:
        """Make the preview of the scope under the cursor, and show `failure` above it."""
        self.preview, self.counted, self.failure = None, None, failure
        make_preview = partial(
            self._asker.load_preview, self.engine, self._ways[self._position].scope
        )
        self._begin("preparing the brief", make_preview, self._show_preview)

    def _show_preview(self, before: CurationPreview) -> None:
        self.preview = before

    def _begin(
        self, phase: str, work: Callable[[Step], Answer], done: Callable[[Answer], None]
    ) -> None:
        """Run `work` in a thread instead of the current job, then `done` with its result."""
        job = self._jobs.begin(phase)
        self.update_bars()

        def finish(result: Answer) -> None:
            self._is_asking = False
            done(result)
            self.update_bars()

        self.run_worker(self._jobs.follow(job, work, finish, self._show_failure))

    def _show_failure(self, reason: str) -> None:
        if self._is_asking:
            self._is_asking = False
            # the attempt has used up some of the budget
            self._load_preview(reason)
        else:
            self.failure = reason
        self.update_bars()

    # Keys

    @property
    def action_context(self) -> ActionContext:
        """Return the state of the keys for the chosen engine."""
        egress = self.preview.egress if self.preview else None
        nothing_sent = "" if egress else "This engine sends nothing."
        disabled_reason = self.preview.blocked_reason if self.preview else _NOT_YET
        is_model = self.engine.use == ANTHROPIC
        refusals = {
            "open": disabled_reason,
            "next": "",
            "previous": "",
            "model": "" if is_model else "Choose a model with → first.",
            "count": disabled_reason
            or ("" if is_model else "Only a model's server can count tokens."),
            "kept-back": nothing_sent,
        }
        if self._is_asking:
            refusals = dict.fromkeys((*refusals, *_MOVING), _BUSY)
        return ActionContext(screen_id=self.SCREEN_ID, disabled_reasons=refusals)

    @property
    def handlers(self) -> Handlers:
        """Return the handlers of the keys by action id."""
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
            "next": partial(self._switch_engine, 1),
            "previous": partial(self._switch_engine, -1),
        }

    def action_choose(self, number: int) -> None:
        """Select the scope of that number."""
        if not self._is_asking and number <= len(self._ways):
            self._list.move_to(number - 1)

    def _page(self, direction: int) -> None:
        height = max(1, self._text.scrollable_content_region.height - 2)
        self._text.jump_to(self._text.scroll_offset.y + direction * height)

    def _switch_engine(self, step: int) -> None:
        engines = list(self._engines)
        at = engines.index(self._listed) if self._listed in engines else 0
        self.engine = replace(engines[(at + step) % len(engines)], model=self.engine.model)
        self._load_preview()

    def ask_for_model(self) -> None:
        """Choose the model: one with a known price, or any by its name."""
        choose_model(
            self.app, self.engine.model, self._asker.list_models(), self._palette, self._use_model
        )

    def _use_model(self, model: str) -> None:
        self.engine = replace(self.engine, model=model)
        self._load_preview()

    def show_redactions(self) -> None:
        """Show the redacted values."""
        from ricordo.tui.curation.redaction_screen import RedactionScreen

        assert self.preview is not None
        assert self.preview.egress is not None
        egress, activity = self.preview.egress, self.preview.prepared.activity
        screen = RedactionScreen(egress, activity, self._asker, self._palette, self.keymap)
        self.app.push_screen(screen, self._apply_decisions)

    def _apply_decisions(self, is_other: bool | None) -> None:
        if is_other:
            self._load_preview()

    def count_tokens(self) -> None:
        """Have the server count the tokens."""
        assert self.preview is not None
        self._is_asking = self._is_counting = True
        self._begin(
            "the server counts", partial(self._asker.count_tokens, self.preview), self._show_count
        )

    def _show_count(self, counted: Estimate) -> None:
        self.counted = counted

    def on_row_list_opened(self) -> None:
        """Start on a double click."""
        self.action_do("open")

    def start(self) -> None:
        """Start the curation; a new program has to be allowed first."""
        assert self.preview is not None
        program = self.preview.egress.program if self.preview.egress else None
        if program is None:
            self._propose()
        else:
            ask_to_run(self, program, self._asker.allow_program, self._propose, self._show_failure)

    def _propose(self) -> None:
        if self.preview is not None:
            self._is_asking, self._is_counting, self.failure = True, False, ""
            self._begin("proposing", partial(self._asker.propose, self.preview), self._finish)

    def _finish(self, curation: Curation) -> None:
        self.finished = curation
        self.on_screen_resume()

    def on_screen_resume(self) -> None:
        """Close with the finished curation, once no other screen is on top."""
        if self.finished is not None and self.is_active:
            curation, self.finished = self.finished, None
            self.dismiss(curation)

    def cancel(self) -> None:
        """Cancel the running job, else close the screen."""
        if not self._is_asking:
            self.dismiss(None)
            return
        self._is_asking = False
        self._jobs.cancel()
        is_paid = self.engine.use != RULES and not self._is_counting
        cost = " The cost so far is in the ledger ($)." if is_paid else ""
        self.notify(f"Cancelled. Nothing was changed.{cost}", markup=False, timeout=4)
        self._load_preview()
