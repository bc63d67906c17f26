"""Proposals that wait in a memory, made as an engine makes them, without one having run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ricordo.curation.pending import Waiting, waiting
from ricordo.curation.proposal import ProposedChange, Quoted, curator
from ricordo.curation.validation import ValidationContext, check
from ricordo.memory.change import Act
from ricordo.services.curation.curation import keep
from ricordo.services.curation.pending import recall_curation
from ricordo.services.workspace.notebook import Notebook
from tests.support.builders import note_text

SOURCE = "/talks/harbour.jsonl#t1"
QUOTE = "remember that, please"


def wish(
    act: Act, reason: str = "you said so", quote: str = QUOTE, source: str = SOURCE
) -> ProposedChange:
    """Return a wish whose words are found where it says, unless another quote is given."""
    return ProposedChange(act, reason, (Quoted(source, quote),))


def let_wait(
    notebook: Notebook, *wishes: ProposedChange | Act, heard: Mapping[str, str] | None = None
) -> Sequence[Waiting]:
    """Let what comes of checking the `wishes` wait; return it. `heard` is what was said besides,
    by its source.
    """
    memory = notebook.read()
    wanted = [it if isinstance(it, ProposedChange) else wish(it) for it in wishes]
    found = check(
        ValidationContext(memory, {SOURCE: QUOTE, **(heard or {})}, curator("rules")), wanted
    )
    assert not found.rejected, found.rejected
    waits = tuple(waiting(it, memory) for it in found.proposals)
    state = notebook.surroundings.state
    keep(notebook, replace(recall_curation(state, memory.root), proposals=waits))
    return waits


def created(name: str = "locks", body: str = "The locks close at nine.\n") -> str:
    """Return a note that a proposal makes."""
    return note_text(name, body, f"About the {name}")
