"""A statement gets no better mark than a check can prove."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from ricordo.handoff.compose.compose import compose
from ricordo.handoff.document import (
    FileProof,
    GitProof,
    HandoffStatement,
    MemoryProof,
    NoteProof,
    QuoteProof,
    ResultProof,
    StatementSection,
)
from ricordo.handoff.facts import GIT_ID, MEMORY_ID, Facts, MessageRef, TaskFact
from ricordo.handoff.project_git import read_git_state
from ricordo.handoff.prove import prove
from tests.unit.handoff.work import (
    EDITED,
    RAN,
    STATEMENTS,
    Tidepool,
    committed,
    sha,
    statuses,
    write,
)
from tests.unit.machine import Machine

LATER = RAN + timedelta(minutes=1)
AS_FOUND = [
    *("quoted", "reported", "reported", "verified", "verified", "verified", "verified"),
    "unverified",
]


@pytest.fixture
def tidepool(tmp_path: Path) -> Tidepool:
    return Tidepool(Machine(tmp_path))


def result_of(tidepool: Tidepool) -> ResultProof:
    proof = tidepool.proved()[1].proof
    assert isinstance(proof, ResultProof)
    return proof


def proof_of(tidepool: Tidepool, statement: HandoffStatement, facts: Facts | None = None) -> object:
    return prove([statement], facts or tidepool.facts(), tidepool.world())[0].proof


def test_the_directory_of_the_memory_is_verified(tidepool: Tidepool) -> None:
    place = HandoffStatement(StatementSection.MEMORY, "It lies there", None, (MEMORY_ID,))
    assert proof_of(tidepool, place) == MemoryProof(str(tidepool.memory))
    elsewhere = replace(tidepool.facts(), memory="/elsewhere")
    assert proof_of(tidepool, place, elsewhere) is None
    tidepool.memory.rename(tidepool.memory.with_name("moved"))
    assert proof_of(tidepool, place) is None


def test_each_statement_gets_the_mark_that_its_proof_has(tidepool: Tidepool) -> None:
    proved = tidepool.proved()
    assert statuses(proved) == AS_FOUND
    assert (
        [statement.proof for statement in proved][3:7]
        == [
            GitProof(tidepool.commit, tidepool.facts().git.branch, 0),  # type: ignore[union-attr]
            FileProof(
                "tidepool/alarm.py", (sha(tidepool.project / "tidepool/alarm.py") or "")[:12]
            ),
            FileProof(
                "tidepool/report.py", (sha(tidepool.project / "tidepool/report.py") or "")[:12]
            ),
            NoteProof("tests.md", (sha(tidepool.note) or "")[:12]),
        ]
    )


CLAIMS = (
    HandoffStatement(StatementSection.DONE, "`tidepool/alarm.py` is mended", None, ("f4",)),
    HandoffStatement(StatementSection.FILES, "`tidepool/alarm.py` and more", None, ("f4", "f1")),
    HandoffStatement(
        StatementSection.FILES, "`tidepool/alarm.py` like `tidepool/report.py`", None, ("f4",)
    ),
    HandoffStatement(StatementSection.FILES, "the file of the alarm", None, ("f4",)),
    HandoffStatement(StatementSection.FILES, "`tidepool/alarm.py`", None, ("f99",)),
    HandoffStatement(
        StatementSection.ACTIVE, "all is committed, and the alarm works", None, (GIT_ID, "f1")
    ),
    HandoffStatement(
        StatementSection.FILES, "`tidepool/alarm.py`; the changes name `GetSteps`", None, ("f4",)
    ),
    HandoffStatement(
        StatementSection.FILES, "`tidepool/alarm.py` (transcript: edited 9 times)", None, ("f4",)
    ),
    HandoffStatement(StatementSection.FILES, "`tidepool/alarm.py`, last at turn 5", None, ("f4",)),
    HandoffStatement(StatementSection.ACTIVE, "Branch `other`, as committed", None, (GIT_ID,)),
    HandoffStatement(
        StatementSection.ACTIVE, "Branch `main`; 3 commits not pushed", None, (GIT_ID,)
    ),
    HandoffStatement(
        StatementSection.ACTIVE, "Branch `main`; not committed: `bell.py`", None, (GIT_ID,)
    ),
    HandoffStatement(StatementSection.MEMORY, "`tests.md`: how `ruff` is run", None, ("f6",)),
    HandoffStatement(StatementSection.MEMORY, "`tests.md`: how, for 3 of them", None, ("f6",)),
    HandoffStatement(StatementSection.MEMORY, "The memory is at `/elsewhere`", None, (MEMORY_ID,)),
    HandoffStatement(
        StatementSection.OBJECTIVE,
        "said",
        QuoteProof(MessageRef(0, 1)),
        ("f1",),
        "Touch the schema.",
    ),
    HandoffStatement(
        StatementSection.OBJECTIVE,
        "said",
        QuoteProof(MessageRef(0, 2)),
        ("f1",),
        "Do not touch the schema.",
    ),
    HandoffStatement(StatementSection.OBJECTIVE, "said", QuoteProof(MessageRef(0, 1)), ("f1",), ""),
    HandoffStatement(
        StatementSection.DONE, "the tests pass", ResultProof(0, False, MessageRef(0, 6)), ("f2",)
    ),
    HandoffStatement(
        StatementSection.DONE, "the check passes", ResultProof(0, False, MessageRef(0, 6)), ("f3",)
    ),
    HandoffStatement(
        StatementSection.DONE,
        "the tests pass",
        ResultProof(0, False, MessageRef(0, 5)),
        ("f2", "f1"),
    ),
    HandoffStatement(
        StatementSection.DONE, "the tests pass", ResultProof(0, False, MessageRef(0, 5)), ()
    ),
    HandoffStatement(
        StatementSection.DONE, "all is well", FileProof("tidepool/alarm.py", "3f2a91c0b7d4"), ()
    ),
)
"""Statements that say more than the facts they are based on."""


def test_what_is_more_than_its_proof_is_unverified(tidepool: Tidepool) -> None:
    proved = prove(CLAIMS, tidepool.facts(), tidepool.world())
    assert [statement.text for statement in proved if statement.proof is not None] == []


def test_known_names_and_numbers_are_verified(tidepool: Tidepool) -> None:
    facts = tidepool.facts()
    alarm = replace(facts.files[0], parts=("fire", "Alarm `now`"), change_count=2)
    note = replace(facts.notes[0], description="how 3 of `pytest -q` run")
    facts = replace(facts, files=(alarm, facts.files[1]), notes=(note,))
    deeds = "edited 2 times, last at turn 4; the changes name `fire`, `` Alarm `now` ``"
    texts = {
        StatementSection.FILES: (f"`tidepool/alarm.py` (transcript: {deeds})", ("f4",)),
        StatementSection.MEMORY: ("`tests.md`: how 3 of `pytest -q` run (bears)", ("f6",)),
    }
    for section, (text, ids) in texts.items():
        assert proof_of(tidepool, HandoffStatement(section, text, None, ids), facts) is not None


def test_all_statements_of_rules_about_a_project_are_verified(tidepool: Tidepool) -> None:
    """Names with digits and ticks, a shortened subject, many uncommitted files."""
    write(tidepool.project / "README.md", "new\n")
    committed(tidepool.project, "part 1 of `7`: " + "the alarm " * 20)
    for number in range(12):
        write(tidepool.project / f"n{number} `x`.py", "")
    facts = replace(tidepool.facts(), git=read_git_state(str(tidepool.project)))
    proved = prove(compose(facts), facts, tidepool.world())
    of_git = [statement for statement in proved if statement.fact_ids == (GIT_ID,)]
    assert "and 4 more" in of_git[0].text
    assert statuses(of_git) == ["verified"]
    pointers = [
        statement
        for statement in proved
        if statement.section in (StatementSection.FILES, StatementSection.MEMORY)
    ]
    assert len(pointers) == 4
    assert {*statuses(pointers)} == {"verified"}


def test_a_part_of_a_message_is_a_quote_if_it_is_exact(
    tidepool: Tidepool,
) -> None:
    for quote, is_there in (("the berth alarm test", True), ("the Berth alarm test", False)):
        statement = HandoffStatement(
            StatementSection.OBJECTIVE, "said", QuoteProof(MessageRef(0, 1)), ("f1",), quote
        )
        assert (proof_of(tidepool, statement) is not None) is is_there


def test_the_tasks_of_one_message_are_quoted_as_a_list(tidepool: Tidepool) -> None:
    todos = tuple(
        TaskFact(f"t{n}", MessageRef(0, 9), text, "pending") for n, text in enumerate(("a", "b"))
    )
    facts = replace(tidepool.facts(), tasks=todos)
    full_list = HandoffStatement(
        StatementSection.NEXT, "to do", QuoteProof(MessageRef(0, 9)), ("t0", "t1"), "a\nb"
    )
    assert proof_of(tidepool, full_list, facts) == QuoteProof(MessageRef(0, 9))
    for quote, ids in (("b\na", ("t0", "t1")), ("a\nb", ("t0",)), ("a\nb", ("t0", "t1", "f1"))):
        assert proof_of(tidepool, replace(full_list, quote=quote, fact_ids=ids), facts) is None


def test_a_file_that_was_changed_after_the_run_makes_its_result_stale(tidepool: Tidepool) -> None:
    touched, named = "tidepool/alarm.py", "tests/test_alarm.py"
    write(tidepool.project / named, "def other(): ...\n", LATER)
    assert result_of(tidepool).changed == (named,)
    write(tidepool.project / touched, "def other(): ...\n", LATER)
    assert result_of(tidepool).changed == (touched, named)


def test_what_a_command_itself_changes_makes_its_result_no_older(tidepool: Tidepool) -> None:
    write(tidepool.project / "tidepool/alarm.py", "def other(): ...\n", LATER)
    facts = tidepool.facts()
    ran = replace(facts.commands[0], ended=(LATER + timedelta(seconds=1)).isoformat())
    proof = proof_of(tidepool, STATEMENTS[1], replace(facts, commands=(ran, *facts.commands[1:])))
    assert isinstance(proof, ResultProof)
    assert proof.changed == ()


def test_a_file_that_the_session_only_read_and_no_command_names_makes_nothing_stale(
    tidepool: Tidepool,
) -> None:
    write(tidepool.project / "tidepool/report.py", "def other(): ...\n", LATER)
    assert result_of(tidepool).changed == ()


def test_a_file_that_went_makes_a_result_stale_unless_the_session_deleted_it(
    tidepool: Tidepool,
) -> None:
    (tidepool.project / "tidepool/alarm.py").unlink()
    assert result_of(tidepool).changed == ("tidepool/alarm.py",)


def test_what_the_transcript_tells_as_changed_later_makes_a_result_stale(
    tidepool: Tidepool,
) -> None:
    facts = tidepool.facts()
    ran = replace(facts.commands[0], changed_since=("tidepool/alarm.py",))
    facts = replace(facts, commands=(ran, *facts.commands[1:]))
    proof = proof_of(tidepool, STATEMENTS[1], facts)
    assert isinstance(proof, ResultProof)
    assert proof.changed == ("tidepool/alarm.py",)


def test_a_commit_without_new_changes_does_not_make_a_result_stale(tidepool: Tidepool) -> None:
    write(tidepool.project / "tidepool/new.py", "", EDITED)
    (tidepool.project / "tidepool/report.py").unlink()
    os.utime(tidepool.project / "tidepool", (EDITED.timestamp(), EDITED.timestamp()))
    committed(tidepool.project, "as it was", LATER)
    assert result_of(tidepool).changed == ()


def test_a_commit_that_brings_something_else_makes_a_result_stale(tidepool: Tidepool) -> None:
    write(tidepool.project / "README.md", "new\n", LATER)
    committed(tidepool.project, "from elsewhere", LATER)
    assert result_of(tidepool).changed == ("commit",)


@pytest.mark.parametrize(
    "at", ["", "yesterday", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"]
)
def test_without_a_time_nothing_shows_that_files_are_unchanged(tidepool: Tidepool, at: str) -> None:
    facts = tidepool.facts()
    ran = tuple(replace(run, ref=run.ref._replace(at=at)) for run in facts.commands)
    proof = proof_of(tidepool, STATEMENTS[1], replace(facts, commands=ran))
    assert isinstance(proof, ResultProof)
    assert "tidepool/alarm.py" in proof.changed


def test_a_file_that_cannot_be_checked_proves_nothing(tidepool: Tidepool, tmp_path: Path) -> None:
    alarm = tidepool.project / "tidepool/alarm.py"
    elsewhere = write(tmp_path / "elsewhere.py", alarm.read_text())
    alarm.unlink()
    alarm.symlink_to(elsewhere)
    facts = tidepool.facts()
    assert facts.files[0].sha is not None
    proved = prove(STATEMENTS, facts, tidepool.world())
    assert statuses(proved)[1] == "stale"
    assert statuses(proved)[4] == "unverified"


def test_a_file_that_changed_after_gathering_is_not_verified(tidepool: Tidepool) -> None:
    facts = tidepool.facts()
    write(tidepool.project / "tidepool/alarm.py", "def other(): ...\n")
    assert statuses(prove(STATEMENTS, facts, tidepool.world()))[3:5] == ["unverified"] * 2


def test_an_existing_handoff_is_not_a_dirty_file(tidepool: Tidepool) -> None:
    tidepool.handoff.write_text("ours\n")
    proof = tidepool.proved()[3].proof
    assert isinstance(proof, GitProof)
    assert proof.dirty == 0


def test_a_file_outside_the_project_is_never_opened(tidepool: Tidepool) -> None:
    for path in ("../memory.md", "/etc/hostname"):
        facts = tidepool.facts()
        use = replace(facts.files[0], path=path, sha="0" * 64)
        statement = HandoffStatement(
            StatementSection.FILES, path, FileProof(path, "0" * 12), ("f4",)
        )
        assert proof_of(tidepool, statement, replace(facts, files=(use,))) is None
