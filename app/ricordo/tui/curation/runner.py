"""Runs what the curate screen requests on a notebook: in threads, one call at a time."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from ricordo.errors import StateUnusable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ricordo.curation.engine import Step
    from ricordo.curation.engines.external import Estimate
    from ricordo.llm.redaction import RedactedValue
    from ricordo.services.curation.curation import Curation, RetryRequest
    from ricordo.services.curation.preparation import CurationScope
    from ricordo.services.engines.preview import CurationPreview
    from ricordo.services.workspace.notebook import Notebook
    from ricordo.settings.settings import EngineSettings
    from ricordo.storage.decisions import ActiveDecision


class CurationRunner:
    """Previews a curation, and runs it."""

    def __init__(self, notebook: Notebook) -> None:
        # its own notebook: the review may read the memory meanwhile
        self._notebook = notebook.copy()
        self.environment = notebook.environment
        """Where programs are allowed and prices are read."""
        self._stored_engine: EngineSettings | None = None
        self.last_request: RetryRequest | None = None
        """The last request to a model or program, and its brief; None for the rules."""

    def list_engines(self) -> tuple[tuple[EngineSettings, ...], EngineSettings]:
        """Return the engines to choose from, and the last chosen one."""
        from ricordo.services.engines.choice import list_engines, load_chosen_engine

        self._stored_engine = load_chosen_engine(self._notebook)
        return list_engines(self._notebook), self._stored_engine

    def load_preview(
        self, engine: EngineSettings, scope: CurationScope, step: Step
    ) -> CurationPreview:
        """Return what the `engine` would be sent for `scope` and what that may cost; remember
        the engine as the last chosen one. Raises RicordoError.
        """
        from ricordo.services.engines.choice import save_chosen_engine
        from ricordo.services.engines.preview import preview_curation

        if engine != self._stored_engine:
            with suppress(StateUnusable):  # it can be chosen again
                save_chosen_engine(self._notebook, engine)
            self._stored_engine = engine
        return preview_curation(self._notebook, engine, scope, step)

    def count_tokens(self, before: CurationPreview, step: Step) -> Estimate:
        """Return the cost estimate by the server's own token count; the server sees the brief.
        Raises CuratorFailed.
        """
        from ricordo.curation.engines.external import seal_brief
        from ricordo.curation.engines.llm import ModelClient

        assert before.egress is not None
        request, prepared = before.egress.target.ask, before.prepared
        assert isinstance(request, ModelClient)
        return request.estimate_of(
            request.count(seal_brief(prepared.brief, prepared.redaction), step)
        )

    def propose(self, before: CurationPreview, step: Step) -> Curation:
        """Return the proposals; nothing is stored. Raises CuratorFailed and StateUnusable."""
        from ricordo.services.curation.curation import RetryRequest, propose_prepared
        from ricordo.services.engines.engines import make_rules_engine

        outside = before.egress.target if before.egress else None
        curation = propose_prepared(
            self._notebook, before.prepared, step, outside or make_rules_engine
        )
        self.last_request = RetryRequest(before.prepared, outside) if outside else None
        return curation

    # Values that may be sent

    def list_allowed(self) -> Mapping[str, ActiveDecision]:
        """Return the values that may be sent, by fingerprint. Raises StateUnusable."""
        from ricordo.services.engines.redaction import allowed_values

        return allowed_values(self._notebook)

    def allow_value(self, value: RedactedValue) -> None:
        """Allow a value to be sent from now on. Raises StateUnusable."""
        from ricordo.services.engines.redaction import allow_value

        allow_value(self._notebook, value)

    def redact_value(self, fingerprint: str) -> None:
        """Redact a value again. Raises StateUnusable."""
        from ricordo.services.engines.redaction import withhold_value

        withhold_value(self._notebook, fingerprint)
