"""Curating by a program of the person's, on the whole way."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from ricordo.curation.form import PROPOSE
from ricordo.llm.failure import FailureCause, ModelFailed
from ricordo.llm.program import resolve_program
from ricordo.memory.change import Author, AuthorRole
from ricordo.services.curation.curation import propose
from ricordo.services.engines.engines import make_gate, make_program_target
from tests.support.asking import FILES, MOVED, TOKEN, by_script, ledger, poisoned_desk, saying
from tests.support.curating import SAID, Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, FILES)


def test_a_program_proposes_as_a_model_does(desk: Desk) -> None:
    curation = by_script(desk, saying(MOVED))
    (waits,) = curation.proposals
    assert waits.change.author == Author(AuthorRole.CURATOR, "command", "model", "curate-3")
    (run,) = ledger(desk)
    assert run.input_tokens > run.output_tokens > 0
    assert run.usd is None
    assert desk.take().applied
    assert b"The port is Lagos." in (desk.root / "tides.md").read_bytes()


def test_a_program_is_given_the_brief_and_the_form_and_no_secret(tmp_path: Path) -> None:
    poisoned = poisoned_desk(tmp_path)
    by_script(poisoned, saying())
    given = (poisoned.transcript.parent / "given").read_text()
    assert SAID in given
    assert TOKEN not in given
    assert json.loads(given.rstrip().rpartition("\n")[2]) == PROPOSE.schema


def test_what_a_program_writes_into_the_memory_is_not_written_over(desk: Desk) -> None:
    tides = shlex.quote(str(desk.root / "tides.md"))
    by_script(desk, f"echo The port is Faro. >> {tides}\n{saying(MOVED)}")
    (left,) = desk.take().skipped
    assert "has changed since" in left[1]
    assert b"Sines" in (desk.root / "tides.md").read_bytes()
    assert b"Faro" in (desk.root / "tides.md").read_bytes()


FAILING = {
    "nothing": ("", FailureCause.MALFORMED),
    "words": ("echo Sure, here are the edits:", FailureCause.MALFORMED),
    "another shape": ('echo \'{"edits": [{"op": "retire"}]}\'', FailureCause.MALFORMED),
    "an end with 1": ("echo log in first >&2; exit 1", FailureCause.PROGRAM),
}


@pytest.mark.parametrize("name", FAILING)
def test_a_program_that_fails_leaves_the_memory(name: str, desk: Desk) -> None:
    script, cause = FAILING[name]
    before = desk.files
    with pytest.raises(ModelFailed) as caught:
        by_script(desk, script)
    assert caught.value.cause is cause
    assert desk.files == before
    assert not desk.waiting
    assert [run.proposed for run in ledger(desk)] == [0]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/no/such/model", "/no/such/model not found"),
        ("./model", "./model is a relative path, but the program runs in an empty folder. Set an"),
    ],
)
def test_a_program_that_is_not_there_costs_nothing(
    line: str, told: str, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_script(desk, saying())
    monkeypatch.chdir(desk.transcript.parent)
    left, runs = make_gate(desk.notebook.environment).read_remaining(), ledger(desk)
    with pytest.raises(ModelFailed, match=told) as caught:
        propose(
            desk.notebook,
            desk.notebook.read(),
            desk.scope,
            make=make_program_target(desk.notebook.environment, resolve_program([line])),
        )
    assert caught.value.cause is FailureCause.PROGRAM
    assert make_gate(desk.notebook.environment).read_remaining() == left
    assert ledger(desk) == runs
