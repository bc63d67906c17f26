"""What an engine was asked for, in words: what it cost, and what it answered."""

from __future__ import annotations

from ricordo.curator.proposal import RULES
from ricordo.model.prices import told
from ricordo.notebook.ledger import Run


def who(run: Run) -> str:
    """Return who was asked, as a sentence names it."""
    return "the rules" if run.engine == RULES else run.model


def cost_of(*usd: float | None) -> str:
    """Return what costs are in all, in a few words; not known where one of them is not."""
    known = [it for it in usd if it is not None]
    return f"cost {told(sum(known))}" if len(known) == len(usd) else told(None)


def tokens_of(run: Run) -> str:
    """Return what was sent and written; "" for what costs no tokens."""
    if not run.input_tokens and not run.output_tokens:
        return ""
    return f"{run.input_tokens:,} tokens sent, {run.output_tokens:,} written"


def answered(run: Run) -> str:
    """Return what an answer cost."""
    return ", ".join(filter(None, (f"{who(run)} answered: {tokens_of(run)}", told(run.usd))))
