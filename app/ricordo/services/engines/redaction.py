"""The redaction of a run, and the values that the user allows to be sent."""

from __future__ import annotations

from ricordo.errors import StateUnusable
from ricordo.llm.redaction import RedactedValue, Redaction
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.decisions import ActiveDecision, Decision
from ricordo.storage.redaction_key import load_redaction_key


def begin_redaction(notebook: Notebook) -> Redaction:
    """Return the redaction of one run. Where the state cannot be read, no value is allowed."""
    try:
        key = load_redaction_key(notebook.environment.state)
        return Redaction(key, allowed_values(notebook).keys())
    except StateUnusable:
        return Redaction()


def allow_value(notebook: Notebook, redacted: RedactedValue) -> None:
    """Allow a value of this memory to be sent in every run from now on. Raises StateUnusable.

    Its fingerprint is stored, never the value. An undo and `withhold_value` revert this.
    """
    # the fingerprint of a run without a key is valid in that run only
    load_redaction_key(notebook.environment.state)
    _decide(notebook, Decision.ALLOW, redacted.fingerprint, redacted.kind)


def withhold_value(notebook: Notebook, fingerprint: str) -> None:
    """Redact a value again that was allowed. Raises StateUnusable."""
    _decide(notebook, Decision.DISALLOW, fingerprint)


def allowed_values(notebook: Notebook) -> dict[str, ActiveDecision]:
    """Return the allowed values by fingerprint; the reason of each is the kind of secret that it
    looks like. Raises StateUnusable.
    """
    return notebook.decisions.find_active(Decision.ALLOW)


def _decide(notebook: Notebook, decision: Decision, subject: str, kind: str = "") -> None:
    notebook.decisions.decide(decision, [subject], notebook.environment.now.isoformat(), kind)
