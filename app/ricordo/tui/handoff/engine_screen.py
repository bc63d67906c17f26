"""Choose who drafts a handoff: the rules, a model, or a program of the user's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ricordo.curation.engines.llm import ANTHROPIC
from ricordo.settings.keymap import Keymap
from ricordo.tui.actions.bindings import Handlers
from ricordo.tui.context import ScreenId
from ricordo.tui.dialogs.ask_screen import AskScreen
from ricordo.tui.render.egress_lines import Spans, render_about, render_engine, render_sent
from ricordo.tui.render.line import StyledLine, StyledSpan

if TYPE_CHECKING:
    from ricordo.curation.engine import Step
    from ricordo.handoff.facts import Facts
    from ricordo.services.handoff.engine_draft import DraftPreview
    from ricordo.settings.settings import EngineSettings
    from ricordo.tui.color_palette import Palette
    from ricordo.tui.handoff.drafter import Drafter

_BY_RULES = (
    "The rules quote and list what is in the session. They reword nothing, and nothing leaves "
    "this machine."
)


class EngineScreen(AskScreen["DraftPreview", "EngineSettings"]):
    """Chooses who drafts; returns the engine, or None."""

    SCREEN_ID = ScreenId.ENGINE
    engine: EngineSettings

    def __init__(
        self,
        facts: Facts,
        engines: Sequence[EngineSettings],
        engine: EngineSettings,
        drafter: Drafter,
        palette: Palette,
        keymap: Keymap,
    ) -> None:
        """`engine` is the one that was chosen last: one of `engines`, perhaps with another
        model.
        """
        engines = [replace(each, model=engine.model) for each in engines]
        row = engines.index(engine) if engine in engines else 0
        environment, heading = drafter.environment, "Who drafts the handoff"
        super().__init__(heading, environment, palette, keymap, engines[row], len(engines), row)
        self._facts = facts
        self._engines = engines
        self._drafter = drafter

    def render_row(self, number: int, width: int) -> Spans:
        engine = replace(self._engines[number], model=self.engine.model)
        left, _ = render_engine(engine, number, len(self._engines))
        return (StyledSpan(" "), *left[1:])

    def choose_row(self, number: int) -> None:
        self.engine = replace(self._engines[number], model=self.engine.model)

    def load_preview(self, step: Step) -> DraftPreview:
        return self._drafter.load_preview(self._facts, self.engine, step)

    def render_preview(self, before: DraftPreview, width: int) -> list[StyledLine]:
        if before.egress:
            return render_sent(before.egress.text, width)
        return [] if before.disabled_reason else render_about(_BY_RULES, width)

    def describe_idle(self) -> str:
        left_out = self.preview.left_out if self.preview else 0
        left_out_words = f" · {left_out:,} facts do not fit" if left_out else ""
        return f" nothing is sent before Enter{left_out_words}"

    def find_refusals(self, disabled_reason: str) -> Mapping[str, str]:
        return {"model": "" if self.engine.use == ANTHROPIC else "Select a model first."}

    @property
    def handlers(self) -> Handlers:
        return {**super().handlers, "model": self.ask_for_model}

    def send(self, before: DraftPreview) -> None:
        """Choose the engine: the draft is made by the screen below."""
        self.finish(self.engine)
