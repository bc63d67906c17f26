"""What the curator's rules find: `python -m tests.benchmarks.curate`.

On real sessions beside the repository, by labels that were made by hand before any pattern was
written (`tests/data/session_labels.tsv`: turns by uuid and digest, no text): a turn is found where
something worth remembering is found in it. On the sample memory, by the lists of `docs/sample.md`:
a proposal is right where it rests on a quote that the list names and changes what the list says.
Ends with 1 where a target is missed.
"""

from __future__ import annotations

import hashlib
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from shutil import copytree
from typing import NamedTuple

from ricordo.agents.registry import find_transcript_at, open_transcript
from ricordo.curation.pending import PendingProposal
from ricordo.curation.user_messages import UserMessage, read_user_messages
from ricordo.extraction.statement import find_statements
from ricordo.services.curation.curation import propose
from ricordo.services.curation.preparation import CurationScope
from ricordo.services.workspace.environment import load_environment
from ricordo.services.workspace.notebook import Notebook
from ricordo.services.workspace.places import find_memory
from ricordo.services.workspace.settings import load_settings
from tests.benchmarks.planted import NOW, PAGE, REPOSITORY, SAMPLE
from tests.support.builders import SHARED

LABELS = REPOSITORY / "tests" / "data" / "session_labels.tsv"
SESSIONS = SHARED / "data" / "transcripts" / "claude-code" / "sessions"
PROJECT = "-home-ana-work-tidepool"
BRINGS = "## What the sessions should bring"
_TARGETS = {"real sessions": (0.8, 0.6), "sample memory": (0.9, 0.7)}
_NO_CHANGE = "confirm"
_NAMED = re.compile(r"`([^`]+\.md)`")


class Score(NamedTuple):
    """How something did."""

    right: int
    proposed: int
    wanted: int

    @property
    def precision(self) -> float:
        """Which share of what was proposed is right; 1 where nothing was."""
        return self.right / self.proposed if self.proposed else 1.0

    @property
    def recall(self) -> float:
        """Which share of what is wanted was proposed; 1 where nothing is."""
        return self.right / self.wanted if self.wanted else 1.0


class Label(NamedTuple):
    """What a person said of one turn."""

    session: str
    key: str
    digest: str
    kind: str
    type: str


class Wanted(NamedTuple):
    """One row of the lists of `docs/sample.md`."""

    source: str
    key: str
    quote: str
    change: str
    note: str

    @property
    def path(self) -> str:
        """The first note that the row names; "" where it names none."""
        found = _NAMED.search(self.note)
        return found[1] if found else ""


def labels() -> list[Label]:
    """Return the labels of the real sessions."""
    lines = LABELS.read_text("utf-8").split("\n")
    return [Label(*line.split("\t")) for line in lines if line and not line.startswith("#")]


def score_sessions(sessions: Path = SESSIONS) -> tuple[Score, list[str]]:
    """Return how the rules do on the real sessions, and what was missed or found in vain."""
    known = {(it.session, it.key): it for it in labels()}
    right = proposed = 0
    told: list[str] = []
    for name in sorted({it.session for it in known.values()}):
        for it in _said(sessions / name / "full.jsonl"):
            label = known[name, it.key]
            assert hashlib.sha256(it.text.encode()).hexdigest()[:16] == label.digest, label
            found = next(find_statements(it.text, it.day, is_answer=it.is_answer), None)
            wanted = label.kind != "none"
            right += bool(found) and wanted
            proposed += bool(found)
            if bool(found) != wanted:
                told.append(f"{'missed' if wanted else 'in vain'}: {name} {it.key}")
    return Score(right, proposed, sum(it.kind != "none" for it in known.values())), told


def _said(path: Path) -> Iterator[UserMessage]:
    source = find_transcript_at(str(path))
    return read_user_messages(str(path), open_transcript(source).messages(), date(2026, 1, 1))


def score_sample() -> tuple[Score, list[str]]:
    """Return how the rules do on the sample memory, what they missed and what is wrong."""
    wanted = [it for it in _rows() if it.change != _NO_CHANGE]
    proposals = sample_proposals()
    of_talk = [it for it in proposals if any("#" in quoted.source for quoted in it.evidence)]
    found: set[Wanted] = set()
    told: list[str] = []
    for it in of_talk:
        met = next((row for row in wanted if row not in found and _fits(it, row)), None)
        if met is None:
            told.append(f"wrong: {it.op} {it.path}")
        else:
            found.add(met)
    told += [f"missed: {it.quote}" for it in wanted if it not in found]
    return Score(len(found), len(of_talk), len(wanted)), told


def sample_proposals() -> Sequence[PendingProposal]:
    """Return what is proposed for the sample memory, as it lies on a machine of its own."""
    with tempfile.TemporaryDirectory() as folder:
        home = copytree(SAMPLE / "home", Path(folder) / "home")
        root = copytree(SAMPLE / "memory", home / ".claude/projects" / PROJECT / "memory")
        project = copytree(SAMPLE / "project", Path(folder) / "project")
        environment = load_environment(
            {"HOME": str(home)}, state=f"{folder}/state", now=NOW, agent_home=str(home)
        )._replace(project=str(project))
        settings, _ = load_settings(environment, frozenset())
        notebook = Notebook(find_memory(str(root), environment), environment, settings)
        return propose(notebook, notebook.read(), CurationScope()).proposals


def _rows() -> list[Wanted]:
    page = PAGE.read_text("utf-8")
    table = page[page.index(BRINGS) :].split("\n## ", 1)[0]
    lines = [line for line in table.split("\n") if line.startswith("| home")]
    cells = ([cell.strip() for cell in line.strip("|").split(" | ")] for line in lines)
    return [Wanted(*row[:5]) for row in cells if len(row) >= 5]


def _fits(it: PendingProposal, row: Wanted) -> bool:
    """Whether a proposal rests on the words of a row and changes what it says."""
    said = " ".join(quoted.quote for quoted in it.evidence if "#" in quoted.source)
    if row.quote not in said and row.quote.rstrip(".") not in said:
        return False
    if row.change in ("retire", "replace"):
        return it.op == row.change and it.path == row.path
    return it.op in ("create", "insert") and (it.op == "create" or it.path in row.note)


def main() -> int:
    """Print the figures; return 1 where a target is missed."""
    scores = {"sample memory": score_sample()}
    if SESSIONS.is_dir():
        scores = {"real sessions": score_sessions(), **scores}
    missed = False
    for name, (score, told) in scores.items():
        precision, recall = _TARGETS[name]
        missed |= score.precision < precision or score.recall < recall
        print(
            f"{name}: precision {score.precision:.2f} (target {precision}), "
            f"recall {score.recall:.2f} (target {recall}): "
            f"{score.right} right of {score.proposed} proposed, {score.wanted} wanted"
        )
        for line in told:
            print(f"  {line}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
