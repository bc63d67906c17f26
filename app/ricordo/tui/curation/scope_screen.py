"""Choose what to curate and by which engine, and curate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual.binding import BindingType

from ricordo.curation.engines.llm import ANTHROPIC, ModelClient
from ricordo.curation.proposal import RULES
from ricordo.errors import StateUnusable
from ricordo.services.engines.choice import save_chosen_engine
from ricordo.services.engines.preview import CurationPreview, preview_curation
from ricordo.settings.keymap import Keymap
from ricordo.text import count_cells, make_one_line
from ricordo.tui.actions.bindings import Handlers, dialog_bindings
from ricordo.tui.actions.dialogs import NUMBERED_CHOICES, Dialog
from ricordo.tui.context import ScreenId
from ricordo.tui.dialogs.ask_screen import AskScreen
from ricordo.tui.render.egress_lines import (
    Spans,
    describe_brief,
    render_curation,
    render_engine,
)
from ricordo.tui.render.line import StyledLine, StyledSpan, fit

if TYPE_CHECKING:
    from ricordo.curation.engine import Step
    from ricordo.curation.engines.external import Estimate
    from ricordo.services.curation.curation import Curation, RetryRequest
    from ricordo.services.curation.preparation import CurationScope
    from ricordo.services.workspace.notebook import Notebook
    from ricordo.settings.settings import EngineSettings
    from ricordo.tui.color_palette import Palette

_LABEL = 18
"""Cells of the label of a scope."""


class ScopeChoice(NamedTuple):
    """One scope to choose."""

    scope: CurationScope
    label: str
    """Ricordo's own text."""
    help: str
    """What the scope covers; may be text of strangers."""


class ScopeScreen(AskScreen["CurationPreview", "Curation"]):
    """Chooses scope and engine, and curates; returns the curation, None if nothing was done."""

    SCREEN_ID = ScreenId.SCOPE
    BINDINGS: ClassVar[list[BindingType]] = [
        *dialog_bindings(
            Dialog.CHOICE, {f"choice-{n}": f"choose({n})" for n in range(1, NUMBERED_CHOICES + 1)}
        ),
    ]
    PREPARING = "preparing the brief"
    NOT_READY = "The brief is still being made."
    engine: EngineSettings
    finished: Curation | None

    def __init__(
        self,
        ways: Sequence[ScopeChoice],
        engines: Sequence[EngineSettings],
        engine: EngineSettings,
        notebook: Notebook,
        palette: Palette,
        keymap: Keymap,
    ) -> None:
        """`engine` is the one that is chosen at first: one of `engines`, perhaps with another
        model. `notebook` is used in this screen's threads only.
        """
        heading = "Curate · from your messages to agents, or against the project"
        super().__init__(heading, notebook.environment, palette, keymap, engine, len(ways))
        self._ways = ways
        self._engines = engines
        self._notebook = notebook
        self._stored_engine = engine
        self.last_request: RetryRequest | None = None
        """The last request to a model or program, and its brief; None for the rules."""

    # What is shown

    def render_row(self, number: int, width: int) -> Spans:
        way = self._ways[number]
        label = way.label + " " * max(1, _LABEL - count_cells(way.label))
        spans = (
            StyledSpan(f" {number + 1} ", "key"),
            StyledSpan(label),
            StyledSpan(make_one_line(way.help), "dim"),
        )
        return fit(spans, width)

    def render_bars(self) -> Mapping[str, tuple[Spans, ...]]:
        before = self.preview
        brief = (
            describe_brief(before.prepared, before.max_brief_tokens)
            if before
            else (StyledSpan(" brief", "dim"),)
        )
        engine = render_engine(self.engine, self._engine_number, len(self._engines))
        return {"engine": engine, "about": (brief,)}

    def render_preview(self, before: CurationPreview, width: int) -> list[StyledLine]:
        return render_curation(before, width)

    def describe_idle(self) -> str:
        when = "" if self.engine.use == RULES else " before Enter"
        return f" nothing is sent{when}; proposals alone write nothing"

    # Jobs

    def load_preview(self, step: Step) -> CurationPreview:
        if self.engine != self._stored_engine:
            with suppress(StateUnusable):  # it can be chosen again
                save_chosen_engine(self._notebook, self.engine)
            self._stored_engine = self.engine
        return preview_curation(self._notebook, self.engine, self._ways[self.row].scope, step)

    def send(self, before: CurationPreview) -> None:
        work = partial(self._propose, before)
        self.begin_asking("proposing", work, self.finish, is_paid=before.egress is not None)

    def _propose(self, before: CurationPreview, step: Step) -> Curation:
        """Return the proposals; nothing is stored. Raises CuratorFailed and StateUnusable."""
        from ricordo.services.curation.curation import RetryRequest, propose_prepared
        from ricordo.services.engines.engines import make_rules_engine

        target = before.egress.target if before.egress else None
        make = target or make_rules_engine
        curation = propose_prepared(self._notebook, before.prepared, step, make)
        self.last_request = RetryRequest(before.prepared, target) if target else None
        return curation

    def _count_tokens(self, before: CurationPreview, step: Step) -> Estimate:
        """Return the cost estimate by the server's own token count; the server sees the brief.
        Raises CuratorFailed.
        """
        from ricordo.curation.engines.external import seal_brief

        assert before.egress is not None
        model, prepared = before.egress.target.ask, before.prepared
        assert isinstance(model, ModelClient)
        return model.estimate_of(model.count(seal_brief(prepared.brief, prepared.redaction), step))

    # Keys

    def find_refusals(self, disabled_reason: str) -> Mapping[str, str]:
        is_model = self.engine.use == ANTHROPIC
        is_check = self._ways[self.row].scope.is_check
        why_not_counted = (
            ""
            if is_model and not is_check
            else "The second question of a check cannot be counted before the first is answered."
            if is_model
            else "Only a model's server can count tokens."
        )
        return {
            "next": "",
            "previous": "",
            "model": "" if is_model else "Choose a model with → first.",
            "count": disabled_reason or why_not_counted,
            "kept-back": "" if self.egress else "This engine sends nothing.",
        }

    @property
    def handlers(self) -> Handlers:
        return {
            **super().handlers,
            "model": self.ask_for_model,
            "kept-back": self.show_redactions,
            "count": self.count_tokens,
            "next": partial(self._switch_engine, 1),
            "previous": partial(self._switch_engine, -1),
        }

    def action_choose(self, number: int) -> None:
        """Select the scope of that number."""
        if not self.is_asking and number <= len(self._ways):
            self._list.move_to(number - 1)

    @property
    def _engine_number(self) -> int:
        """Return the number of the chosen engine, whatever its model; 0 if it is not listed."""
        listed = replace(self.engine, model=self._engines[0].model)
        return self._engines.index(listed) if listed in self._engines else 0

    def _switch_engine(self, step: int) -> None:
        number = (self._engine_number + step) % len(self._engines)
        self.engine = replace(self._engines[number], model=self.engine.model)
        self.reload_preview()

    def show_redactions(self) -> None:
        """Show the redacted values."""
        from ricordo.tui.curation.redaction_screen import RedactionScreen

        assert self.preview is not None
        assert self.preview.egress is not None
        egress, activity = self.preview.egress, self.preview.prepared.activity
        screen = RedactionScreen(egress, activity, self._notebook, self._palette, self.keymap)
        self.app.push_screen(screen, self._apply_decisions)

    def _apply_decisions(self, is_other: bool | None) -> None:
        if is_other:
            self.reload_preview()

    def count_tokens(self) -> None:
        """Have the server count the tokens."""
        assert self.preview is not None
        work = partial(self._count_tokens, self.preview)
        self.begin_asking("the server counts", work, self._show_count, is_paid=False)

    def _show_count(self, counted: Estimate) -> None:
        self.counted = counted
