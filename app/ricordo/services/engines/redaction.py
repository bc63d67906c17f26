"""What leaves of a memory: the redaction of a run, and the values that the person lets out."""

from __future__ import annotations

from ricordo.errors import StateUnusable
from ricordo.llm.redaction import Redacted, Redaction
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.decisions import Decision, ValidDecision
from ricordo.storage.redaction_key import redaction_key


def begin_redaction(notebook: Notebook) -> Redaction:
    """Return the redaction of one run. Where our state cannot be read, nothing is allowed."""
    try:
        key = redaction_key(notebook.surroundings.state)
        return Redaction(key, allowed_values(notebook).keys())
    except StateUnusable:
        return Redaction()


def allow_value(notebook: Notebook, redacted: Redacted) -> None:
    """Let a value of this memory out from now on, in every run. Raises StateUnusable.

    Its fingerprint is kept and never the value; `undo` takes this back, as does
    `withhold_value`.
    """
    # a fingerprint of a run without a key would never be met again
    redaction_key(notebook.surroundings.state)
    _decide(notebook, Decision.ALLOW, redacted.fingerprint, redacted.kind)


def withhold_value(notebook: Notebook, fingerprint: str) -> None:
    """Let a value out no longer. Raises StateUnusable."""
    _decide(notebook, Decision.WITHHOLD, fingerprint)


def allowed_values(notebook: Notebook) -> dict[str, ValidDecision]:
    """Return what may leave, by fingerprint; the reason is the kind that it looked like. Raises
    StateUnusable.
    """
    return notebook.decisions.standing(Decision.ALLOW)


def _decide(notebook: Notebook, decision: Decision, subject: str, kind: str = "") -> None:
    notebook.decisions.decide(decision, [subject], notebook.surroundings.now.isoformat(), kind)
