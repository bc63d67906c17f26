"""What the curate screen has done by the notebook: in threads, one call at a time."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from ricordo.errors import StateUnusable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ricordo.curation.engine import Step
    from ricordo.curation.engines.external import Estimate
    from ricordo.llm.prices import Price
    from ricordo.llm.program import Program
    from ricordo.llm.redaction import Redacted
    from ricordo.services.curation.curation import Curation, RetryRequest
    from ricordo.services.curation.preparation import CurationScope
    from ricordo.services.engines.preview import CurationPreview
    from ricordo.services.workspace.notebook import Notebook
    from ricordo.settings.settings import EngineSettings
    from ricordo.storage.decisions import ValidDecision


class Asker:
    """Looks at what would be asked, and asks."""

    def __init__(self, notebook: Notebook) -> None:
        """Nothing is read yet."""
        # of its own: the review may read the memory meanwhile
        self._notebook = notebook.another()
        self._remembered: EngineSettings | None = None
        self.asked: RetryRequest | None = None
        """Whom the last curation asked outside our code, and what was given to it."""

    def engines(self) -> tuple[tuple[EngineSettings, ...], EngineSettings]:
        """Return the engines to choose from, and the one that was chosen last."""
        from ricordo.services.engines.choice import engine_chosen, engines_to_choose

        self._remembered = engine_chosen(self._notebook)
        return engines_to_choose(self._notebook), self._remembered

    def models(self) -> Mapping[str, Price]:
        """Return the models whose price is known, by their names."""
        from ricordo.llm.prices import load_prices

        return load_prices(self._notebook.surroundings.config)[0].by_model

    def look(self, own: EngineSettings, scope: CurationScope, step: Step) -> CurationPreview:
        """Return what is known before the engine that is set as `own` curates in the `scope`; that
        it was chosen is remembered. Raises RicordoError.
        """
        from ricordo.services.engines.choice import remember_engine
        from ricordo.services.engines.preview import look_before

        if own != self._remembered:
            with suppress(StateUnusable):  # it can be chosen again
                remember_engine(self._notebook, own)
            self._remembered = own
        return look_before(self._notebook, own, scope, step)

    def count(self, before: CurationPreview, step: Step) -> Estimate:
        """Return what it may cost by the tokens that the server counts, who sees the brief. Raises
        CuratorFailed.
        """
        from ricordo.curation.engines.external import sent_of
        from ricordo.curation.engines.llm import AskModel

        assert before.leaving is not None
        ask, prepared = before.leaving.outside.ask, before.prepared
        assert isinstance(ask, AskModel)
        return ask.estimate_of(ask.count(sent_of(prepared.brief, prepared.redaction), step))

    def propose(self, before: CurationPreview, step: Step) -> Curation:
        """Return what would be changed; nothing of it is kept. Raises CuratorFailed and
        StateUnusable.
        """
        from ricordo.services.curation.curation import RetryRequest, propose_prepared
        from ricordo.services.engines.engines import rules

        outside = before.leaving.outside if before.leaving else None
        curation = propose_prepared(self._notebook, before.prepared, step, outside or rules)
        self.asked = RetryRequest(before.prepared, outside) if outside else None
        return curation

    def let_run(self, program: Program) -> None:
        """Keep that a program may be run by its line. Raises StateUnusable."""
        from ricordo.services.engines.choice import allow_program

        allow_program(self._notebook.surroundings, program)

    # Values that may leave

    def allowed(self) -> Mapping[str, ValidDecision]:
        """Return the values that may leave, by fingerprint. Raises StateUnusable."""
        from ricordo.services.engines.redaction import allowed_values

        return allowed_values(self._notebook)

    def allow(self, it: Redacted) -> None:
        """Let a value out from now on. Raises StateUnusable."""
        from ricordo.services.engines.redaction import allow_value

        allow_value(self._notebook, it)

    def withhold(self, fingerprint: str) -> None:
        """Let a value out no longer. Raises StateUnusable."""
        from ricordo.services.engines.redaction import withhold_value

        withhold_value(self._notebook, fingerprint)
