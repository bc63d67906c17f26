"""Sessions in which a person says something, and engines that answer what a test wants."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ricordo.curation.engine import FREE, EngineUsage, Step
from ricordo.curation.engines.external import EngineReply, ExternalEngine
from ricordo.curation.pending import PendingProposal
from ricordo.curation.proposal import make_curator
from ricordo.services.curation.curation import (
    ApplyResult,
    Curation,
    apply_proposals,
    propose,
    save_curation,
)
from ricordo.services.curation.pending import load_curation_state
from ricordo.services.curation.preparation import CurationScope, PreparedCuration
from ricordo.services.engines.engines import EngineFactory
from ricordo.services.workspace.notebook import Notebook
from tests.support.builders import recorded

SESSION = "5b1c7a52-90f4-4d0e-8a6d-2f6f1c9a0b11"
SAID = "The port is Lagos now, remember that."
PROOF = [{"source": "t1", "quote": "The port is Lagos now"}]


def user_lines(
    *texts: str, at: str = "2026-11-12T10:00:00.000Z", start: int = 0, cwd: str = ""
) -> str:
    """Return lines of a transcript in which an agent answers messages of the user."""
    lines = []
    for number, text in enumerate(texts, start):
        where = cwd or "/home/ana/work/tidepool"
        common = {"sessionId": SESSION, "cwd": where, "timestamp": at}
        lines.append({**common, "type": "user", "uuid": f"p{number}", "message": {"content": text}})
        lines.append(
            {**common, "type": "assistant", "uuid": f"a{number}", "message": {"content": "Done."}}
        )
    return "".join(json.dumps(line) + "\n" for line in lines)


class Desk:
    """A memory that is curated by a session of its own, by an engine that says what it is told."""

    def __init__(
        self, folder: Path, files: Mapping[str, str | bytes], notebook: Notebook | None = None
    ) -> None:
        """`files` become a memory in `folder`, unless there is the one of a `notebook`."""
        self.transcript = folder / f"{SESSION}.jsonl"
        self.transcript.write_text(user_lines(SAID), "utf-8")
        self.notebook = notebook or recorded(folder, files)
        self.root = Path(self.notebook.place.root)

    @property
    def scope(self) -> CurationScope:
        """The session."""
        return CurationScope(session=str(self.transcript))

    @property
    def files(self) -> dict[str, bytes]:
        """Every file of the memory."""
        return {it.name: it.read_bytes() for it in self.root.iterdir()}

    @property
    def waiting(self) -> tuple[PendingProposal, ...]:
        """What waits, as it is kept."""
        return load_curation_state(self.notebook.environment.state, str(self.root)).pending

    def id_of(self, path: str) -> str:
        """Return the name that the brief gives to a note."""
        notes = [it.path for it in self.notebook.read().notes]
        return f"n{notes.index(path) + 1}"

    def at(self, moment: str) -> Desk:
        """Open the memory anew, as another process would at that moment."""
        old = self.notebook
        environment = old.environment._replace(fixed_now=moment)
        self.notebook = Notebook(old.place, environment, old.settings)
        return self

    def propose(self, edits: object, usage: EngineUsage = FREE) -> Curation:
        """Curate by an engine that replies with `edits`, and let what it proposes wait."""
        memory = self.notebook.read()
        curation = propose(self.notebook, memory, self.scope, make=replying(edits, usage))
        save_curation(self.notebook, curation)
        return curation

    def take(self, *, by_hand: bool = True, confirmed: bool = False) -> ApplyResult:
        """Apply what waits; only what is plain where nobody does so by hand."""
        kept = load_curation_state(self.notebook.environment.state, str(self.root))
        ids = [it.id for it in kept.pending] if confirmed else []

        def wanted(it: PendingProposal) -> str:
            return "" if by_hand else "; ".join(it.all_warnings)

        memory = self.notebook.read()
        return apply_proposals(
            self.notebook, memory, kept.pending, wanted, by_hand=by_hand, confirmed=ids
        )


def replying(edits: object, usage: EngineUsage = FREE) -> EngineFactory:
    """Return an engine outside our code that replies with `edits` whatever it is asked."""

    def make(_: Notebook, prepared: PreparedCuration, step: Step) -> ExternalEngine:
        return ExternalEngine(
            make_curator("test"), lambda brief, step: EngineReply(edits, usage), prepared.redaction
        )

    return make


def edit(op: str, **fields: Any) -> dict[str, Any]:
    """Return an edit as an engine gives it, with evidence that stands."""
    return {"op": op, "reason": "because", "evidence": PROOF, **fields}
