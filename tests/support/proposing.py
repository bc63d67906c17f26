"""Proposals that wait in a memory, made as an engine makes them, without one having run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ricordo.curation.pending import PendingProposal, make_pending
from ricordo.curation.proposal import EvidenceQuote, ProposedChange, make_curator
from ricordo.curation.validation import ValidationContext, validate
from ricordo.memory.change import ChangeOperation
from ricordo.services.curation.curation import save_state
from ricordo.services.curation.pending import load_curation_state
from ricordo.services.workspace.notebook import Notebook
from tests.support.builders import note_text

SOURCE = "/talks/harbour.jsonl#t1"
QUOTE = "remember that, please"


def wish(
    act: ChangeOperation, reason: str = "you said so", quote: str = QUOTE, source: str = SOURCE
) -> ProposedChange:
    """Return a wish whose words are found where it says, unless another quote is given."""
    return ProposedChange(act, reason, (EvidenceQuote(source, quote),))


def let_wait(
    notebook: Notebook,
    *wishes: ProposedChange | ChangeOperation,
    heard: Mapping[str, str] | None = None,
) -> Sequence[PendingProposal]:
    """Let what comes of checking the `wishes` wait; return it. `heard` is what was said besides,
    by its source.
    """
    memory = notebook.read()
    wanted = [it if isinstance(it, ProposedChange) else wish(it) for it in wishes]
    found = validate(
        ValidationContext(memory, {SOURCE: QUOTE, **(heard or {})}, make_curator("rules")), wanted
    )
    assert not found.rejected, found.rejected
    waits = tuple(make_pending(it, memory) for it in found.proposals)
    state = notebook.environment.state
    save_state(notebook, replace(load_curation_state(state, memory.root), proposals=waits))
    return waits


def created(name: str = "locks", body: str = "The locks close at nine.\n") -> str:
    """Return a note that a proposal makes."""
    return note_text(name, body, f"About the {name}")
