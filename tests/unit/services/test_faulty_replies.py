"""Whatever a server answers: a curation ends, says why, leaves the memory alone, counts right."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from zlib import crc32

import pytest

from ricordo.curation.validation import MAX_NOTES_PER_QUOTE
from ricordo.llm.failure import ModelFailed
from ricordo.services.curation.curation import Curation
from ricordo.services.engines.engines import make_gate
from tests.support.asking import FILES, MOVED, PATIENT, curated, ledger
from tests.support.curating import Desk
from tests.support.faulty_replies import FAULTS
from tests.support.figures import figure
from tests.support.messages_server import messages_server, without_credentials

SEEDS = figure("fault_seeds", everyday=1)
HASTY = replace(PATIENT, read=0.3, total=1.0, max_bytes=500_000)
"""For what never ends; a slow machine has all the time that it needs for the rest."""
ENDLESS = ("stall", "silence", "drip")
DAY = 500_000


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Desk]:
    without_credentials(monkeypatch, tmp_path)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    # a name of one's own in every run would be another random choice
    folder = Path(mkdtemp(dir=tmp_path))
    yield Desk(folder, FILES)
    shutil.rmtree(folder)


def asked(desk: Desk, name: str, seed: int) -> Curation | ModelFailed:
    """Return what comes of a curation to which a fault is the answer."""
    script = FAULTS[name].make(Random(seed + crc32(name.encode())), MOVED)
    bounds = HASTY if name in ENDLESS else replace(PATIENT, max_bytes=500_000)
    with messages_server(script) as server:
        try:
            return curated(desk, server, bounds=bounds)
        except ModelFailed as failed:
            return failed


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_told_and_changes_nothing(name: str, seed: int, desk: Desk) -> None:
    before = desk.files
    came = asked(desk, name, seed)
    assert desk.files == before
    runs = ledger(desk)
    used = sum(run.input_tokens + run.output_tokens for run in runs)
    counted = DAY - make_gate(desk.notebook.environment).read_remaining().day
    if isinstance(came, ModelFailed):
        assert came.cause in FAULTS[name].causes
        assert came.remedy in came.message
        assert "\n" not in came.message
        assert not desk.waiting
        assert not any(run.proposed for run in runs)
        # what the server counted is in both; where it did not, a run may have cost what was sent
        assert counted == used if used else counted < 5_000
        return
    assert counted == used
    if FAULTS[name].causes:
        assert FAULTS[name].may_heal
        assert [it.path for it in came.proposals] == ["tides.md"]
        return
    # what takes all that is plain changes no note, and brings few
    desk.take(by_hand=False)
    notes = [it for it in before if it != "MEMORY.md"]
    assert [desk.files[it] for it in notes] == [before[it] for it in notes]
    assert len(desk.files) <= len(before) + MAX_NOTES_PER_QUOTE


def test_there_are_as_many_kinds_as_it_takes() -> None:
    assert len(FAULTS) >= 40
