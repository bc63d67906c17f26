"""Sessions in which a person says something, and engines that answer what a test wants."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ricordo.curation.engine import FREE, EngineUsage, Step
from ricordo.curation.engines.external import Asking, Reply
from ricordo.curation.pending import Waiting
from ricordo.curation.proposal import curator
from ricordo.services.curation.curation import Curation, Taken, begin, propose, take
from ricordo.services.curation.pending import recall_curation
from ricordo.services.curation.preparation import CurationScope, Prepared
from ricordo.services.engines.engines import MakeEngine
from ricordo.services.workspace.notebook import Notebook
from tests.support.builders import recorded

SESSION = "5b1c7a52-90f4-4d0e-8a6d-2f6f1c9a0b11"
SAID = "The port is Lagos now, remember that."
PROOF = [{"source": "t1", "quote": "The port is Lagos now"}]


def said(*texts: str, at: str = "2026-11-12T10:00:00.000Z", start: int = 0, cwd: str = "") -> str:
    """Return lines of a transcript in which an agent answers what a person says."""
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
        self.transcript.write_text(said(SAID), "utf-8")
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
    def waiting(self) -> tuple[Waiting, ...]:
        """What waits, as it is kept."""
        return recall_curation(self.notebook.surroundings.state, str(self.root)).waiting

    def id_of(self, path: str) -> str:
        """Return the name that the brief gives to a note."""
        notes = [it.path for it in self.notebook.read().notes]
        return f"n{notes.index(path) + 1}"

    def at(self, moment: str) -> Desk:
        """Open the memory anew, as another process would at that moment."""
        old = self.notebook
        surroundings = old.surroundings._replace(fixed_now=moment)
        self.notebook = Notebook(old.place, surroundings, old.settings)
        return self

    def propose(self, edits: object, usage: EngineUsage = FREE) -> Curation:
        """Curate by an engine that replies with `edits`, and let what it proposes wait."""
        memory = self.notebook.read()
        curation = propose(self.notebook, memory, self.scope, make=replying(edits, usage))
        begin(self.notebook, curation)
        return curation

    def take(self, *, by_hand: bool = True, confirmed: bool = False) -> Taken:
        """Apply what waits; only what is plain where nobody does so by hand."""
        kept = recall_curation(self.notebook.surroundings.state, str(self.root))
        ids = [it.id for it in kept.waiting] if confirmed else []

        def wanted(it: Waiting) -> str:
            return "" if by_hand else "; ".join(it.told)

        memory = self.notebook.read()
        return take(self.notebook, memory, kept.waiting, wanted, by_hand=by_hand, confirmed=ids)


def replying(edits: object, usage: EngineUsage = FREE) -> MakeEngine:
    """Return an engine outside our code that replies with `edits` whatever it is asked."""

    def make(_: Notebook, prepared: Prepared, step: Step) -> Asking:
        return Asking(curator("test"), lambda brief, step: Reply(edits, usage), prepared.redaction)

    return make


def edit(op: str, **fields: Any) -> dict[str, Any]:
    """Return an edit as an engine gives it, with evidence that stands."""
    return {"op": op, "reason": "because", "evidence": PROOF, **fields}
