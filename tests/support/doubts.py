"""A memory with doubts, and a server that says what a test wants of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ricordo.curation.engine import Step
from ricordo.llm.ask import Server
from ricordo.llm.budget import Caps
from ricordo.llm.question import RequestLimits
from ricordo.services.conflicts.conflicts import Conflict
from ricordo.services.conflicts.judgement import (
    JudgementOutcome,
    JudgementRequest,
    judge,
    prepare_judgement,
)
from ricordo.services.conflicts.opinions import load_opinions, split_by_opinion
from ricordo.services.engines.engines import make_model_target
from ricordo.services.ledger.ledger import LedgerRun, read_runs
from ricordo.services.workspace.notebook import Notebook, Snapshot
from tests.support import messages_replies as replies
from tests.support.asking import PATIENT
from tests.support.builders import note_text, recorded
from tests.support.messages_server import MessagesServer, Script

OWN = (
    "Lamps of the outer mole burn from dusk on, and whoever passes by writes them down.",
    "Pilots bring a thermos; coffee on board is nobody's business but the cook's.",
    "Who moors at the fuel quay calls the harbour master twice, and leaves within the hour.",
    "Spare keys hang behind the barometer, next to the list of the yard.",
)
"""What only one note says, so that no two are alike."""
SUMMARY = ("Ana wants the summary at the top.", "Ana wants the summary at the end.")
LOGGED = ("Errors must be logged as JSON.", "Errors must be logged as plain text.")
BODIES = (*SUMMARY, *LOGGED)
LOG = "\n\n".join(f"Line {number} of the log of the outer mole." for number in range(60))
END = "From the next month on all of this is different."
LONG = (f"{SUMMARY[0]}\n\n{LOG}\n\n{END}", f"{SUMMARY[1]}\n\n{OWN[2]}")
"""The bodies of two notes, of which one is sent as an excerpt at first."""
NAMES = ("end-of-day", "morning", "importer", "logging")


def doubtful_files(*bodies: str) -> dict[str, str | bytes]:
    """Return the files of a memory whose notes say the `bodies`, each with something of its own."""
    files: dict[str, str | bytes] = {
        f"{name}.md": note_text(name, f"{body}\n\n{own}\n", f"About {name}")
        for name, body, own in zip(NAMES, bodies or BODIES, OWN, strict=False)
    }
    index = "".join(f"- [{name.removesuffix('.md')}]({name})\n" for name in files)
    return {"MEMORY.md": index, **files}


def doubtful(folder: Path, *bodies: str) -> Notebook:
    """Return a notebook on such a memory."""
    return recorded(folder, doubtful_files(*bodies))


def verdict(
    pair: str = "p1", verdict: str = "conflict", keep: str = "left", reason: str = "it is later"
) -> dict[str, Any]:
    return {"pair": pair, "reason": reason, "verdict": verdict, "keep": keep}


def judging(*verdicts: dict[str, Any]) -> Script:
    return replies.good({"verdicts": list(verdicts)}, "judge")


def look_at(notebook: Notebook) -> Snapshot:
    return notebook.read_snapshot_with_evidence()


def split_doubts(notebook: Notebook) -> tuple[tuple[Conflict, ...], tuple[Conflict, ...]]:
    """Return the doubts that were judged, and those that were not."""
    pairs = split_by_opinion(look_at(notebook), load_opinions(notebook.environment.state))
    return pairs.judged, pairs.pending


def asked_of(
    notebook: Notebook,
    server: MessagesServer,
    bounds: RequestLimits = PATIENT,
    caps: Caps | None = None,
) -> JudgementRequest:
    model = "claude-sonnet-5-5"
    outside = make_model_target(notebook.environment, model, Server(server.url, bounds), caps)
    return prepare_judgement(notebook, split_doubts(notebook)[1], outside)


def had_judged(
    notebook: Notebook,
    server: MessagesServer,
    step: Step = lambda _: None,
    bounds: RequestLimits = PATIENT,
    caps: Caps | None = None,
) -> JudgementOutcome:
    return judge(notebook, asked_of(notebook, server, bounds, caps), step)


def ledger(notebook: Notebook) -> tuple[LedgerRun, ...]:
    return read_runs(notebook.environment.state, notebook.place.root)[0]
