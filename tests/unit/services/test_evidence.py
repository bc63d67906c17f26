"""What is known besides the text: gathered where a rule asks for it, and handed to the rules."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ricordo.agents.agent import MemoryPlace
from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.agents.transcripts.store import TranscriptStore
from ricordo.lint.evidence import CheckOutcome, ClaimKind, Evidence, Verdict
from ricordo.lint.linter import Linter
from ricordo.memory.memory import Memory
from ricordo.services.workspace import evidence as gathering
from ricordo.services.workspace import notebook as opening
from ricordo.services.workspace.environment import Environment, load_environment
from ricordo.services.workspace.evidence import ClaimSource, EvidenceGatherer, GatherStep
from ricordo.services.workspace.notebook import Notebook
from ricordo.settings.settings import Settings
from tests.support.builders import note_text, open_memory, write_memory

GONE = Verdict("src/tides.py", ClaimKind.PATH, 9, CheckOutcome.MISSING)


class Known:
    """A source that knows one thing of every note, and counts how often it was asked."""

    rules = frozenset(("orphan-note",))

    def has_news(self) -> bool:
        return False

    def __init__(self) -> None:
        self.asked = 0
        self.verdict = GONE

    def gather(self, memory: Memory, known: Evidence, step: GatherStep) -> Evidence:
        self.asked += 1
        step("knowing")
        return replace(known, verdicts={note.path: (self.verdict,) for note in memory.notes})


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> Known:
    known = Known()

    def only_source(
        place: MemoryPlace, environment: Environment, store: TranscriptStore
    ) -> tuple[gathering.EvidenceSource, ...]:
        return (known,)

    monkeypatch.setattr(opening, "create_sources", only_source)
    return known


def notebook(root: Path, *rules: str) -> Notebook:
    write_memory(root, {"MEMORY.md": "- [Tides](tides.md)\n", "tides.md": note_text()})
    environment = load_environment({"HOME": str(root.parent)}, state=str(root.parent / "state"))
    return Notebook(MemoryPlace(str(root), AUTO_MEMORY), environment, Settings(), frozenset(rules))


def test_what_no_rule_looks_at_is_not_gathered(root: Path) -> None:
    memory = open_memory(root, {"tides.md": note_text()})
    source = Known()
    other = Linter({}, frozenset({"dead-link"}))
    assert not EvidenceGatherer([source], other).gather(memory).verdicts
    assert source.asked == 0
    both = Linter({}, frozenset({"dead-link", "orphan-note"}))
    assert EvidenceGatherer([source], both).gather(memory).verdicts
    assert source.asked == 1


def test_lint_of_a_rule_on_the_text_gathers_nothing(root: Path, source: Known) -> None:
    look = notebook(root, "dead-link").read_snapshot_with_evidence()
    assert look.has_evidence
    assert source.asked == 0


def test_the_first_look_waits_for_no_evidence(root: Path, source: Known) -> None:
    opened = notebook(root)
    look = opened.read_snapshot()
    assert look.is_judged
    assert not look.has_evidence
    assert source.asked == 0
    assert opened.gather(look.memory), "more is known than before"
    later = opened.judge(look.memory)
    assert later.has_evidence
    assert later.evidence.verdicts == {"tides.md": (GONE,)}


def test_evidence_that_says_the_same_again_is_no_news(root: Path, source: Known) -> None:
    opened = notebook(root)
    memory = opened.read()
    assert opened.gather(memory)
    assert not opened.gather(memory)
    source.verdict = replace(GONE, outcome=CheckOutcome.VALID)
    assert opened.gather(memory)


def test_a_home_directory_is_no_project(root: Path) -> None:
    write_memory(root, {"MEMORY.md": ""})
    home = root.parent
    environment = load_environment({"HOME": str(home)}, state=str(home / "state"))
    for project in (home, home.parent, Path("/")):
        assert not probes(MemoryPlace(str(root), AUTO_MEMORY, str(project)), environment)
    (home / "work").mkdir()
    assert probes(MemoryPlace(str(root), AUTO_MEMORY, str(home / "work")), environment)
    asked_for = environment._replace(project=str(home))
    assert probes(MemoryPlace(str(root), AUTO_MEMORY), asked_for), "unless the person says so"


def probes(place: MemoryPlace, environment: Environment) -> list[gathering.EvidenceSource]:
    found = gathering.create_sources(place, environment, TranscriptStore(environment.state))
    return [source for source in found if isinstance(source, ClaimSource)]
