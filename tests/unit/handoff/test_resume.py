"""A handoff is checked again: exactly the statements that are no longer valid are named."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import pytest

from ricordo.agents.agent import Agent
from ricordo.agents.registry import SUPPORTED, find_agent
from ricordo.errors import HandoffUnreadable
from ricordo.handoff import check as probe
from ricordo.handoff.document import (
    FileProof,
    GitProof,
    HandoffStatement,
    MemoryProof,
    NoteProof,
    QuoteProof,
    SourceSession,
    StatementSection,
)
from ricordo.handoff.facts import GIT_ID, MessageRef
from ricordo.handoff.project_git import read_git_state
from ricordo.services.handoff.resume import ResumeReport, resume_handoff
from tests.support.builders import note_text
from tests.support.transcripts import Claude
from tests.unit.handoff.work import WISH, WRITTEN, Tidepool, committed, fallen, write
from tests.unit.machine import Machine, git

AGENTS = [it.agent for it in SUPPORTED if it.has_transcripts and it.agent is not None]

NOW = datetime(2026, 11, 20, 8, 0, tzinfo=UTC)
RESULTS = {"tests": "stale", "ruff": "stale"}


@pytest.fixture
def tidepool(tmp_path: Path) -> Tidepool:
    tidepool = Tidepool(Machine(tmp_path))
    tidepool.write_handoff()
    return tidepool


def files(resumption: ResumeReport) -> list[tuple[str, str, str]]:
    return [(use.path, use.kind.value, use.new_path) for use in resumption.rechecked.changes.files]


def why(report: ResumeReport, name: str) -> str:
    return next(
        statement.reason
        for statement in report.rechecked.statements
        if statement.statement.text.split("`")[1] == name
    )


def test_an_unchanged_project_keeps_every_statement_valid(tidepool: Tidepool) -> None:
    report = tidepool.resumed()
    assert report.rechecked.is_valid
    assert (files(report), report.rechecked.changes.commits, report.warnings) == ([], (), ())
    assert not report.rechecked.has_expired
    assert not report.rechecked.is_edited
    # the uncommitted file is the handoff, and another one would be as well
    assert "?? HANDOFF.md" in git(tidepool.project, "status", "--porcelain")
    write(tidepool.project / "HANDOFF.new.md", "")
    assert tidepool.fallen() == {}


def test_commits_that_were_pushed_since_are_reported(tidepool: Tidepool) -> None:
    origin = tidepool.machine.directory("origin.git")
    git(origin, "init", "--quiet", "--bare", "--template=")
    git(tidepool.project, "remote", "add", "origin", str(origin))
    git(tidepool.project, "push", "--quiet", "-u", "origin", "HEAD")
    committed(tidepool.project / ".", "nothing new")
    told = HandoffStatement(
        StatementSection.ACTIVE, "Branch `x`; 1 commit not pushed", None, (GIT_ID,)
    )
    state = read_git_state(str(tidepool.project))
    assert state is not None
    text = told.text.replace("x", state.branch)
    tidepool.write_handoff(
        (replace(told, text=text, proof=GitProof(state.commit, state.branch, len(state.dirty))),)
    )
    assert tidepool.resumed().rechecked.is_valid
    git(tidepool.project, "push", "--quiet")
    (checked,) = tidepool.resumed().rechecked.statements
    assert (checked.status_now.value, checked.reason) == ("stale", "no unpushed commits known")


def test_a_file_that_is_renamed(tidepool: Tidepool) -> None:
    alarm = tidepool.project / "tidepool/alarm.py"
    alarm.rename(alarm.with_name("bell.py"))
    report = tidepool.resumed()
    assert fallen(report) == RESULTS | {"main": "stale", "tidepool/alarm.py": "stale"}
    assert files(report) == [("tidepool/alarm.py", "renamed", "tidepool/bell.py")]


def test_the_file_of_a_test_that_is_edited(tidepool: Tidepool) -> None:
    write(tidepool.project / "tests/test_alarm.py", "def test_other(): ...\n", NOW)
    report = tidepool.resumed()
    assert fallen(report) == RESULTS | {"main": "stale"}
    assert files(report) == [("tests/test_alarm.py", "changed", "")]


def test_a_new_commit(tidepool: Tidepool) -> None:
    write(tidepool.project / "README.md", "new\n", NOW)
    commit = committed(tidepool.project, "a readme", NOW)
    report = tidepool.resumed()
    assert fallen(report) == RESULTS | {"main": "stale"}
    commits = report.rechecked.changes.commits
    assert [(commit.id, commit.subject) for commit in commits] == [(commit, "a readme")]
    assert files(report) == [("README.md", "created", "")]


def test_a_commit_of_only_the_handoff_makes_no_result_stale(tidepool: Tidepool) -> None:
    committed(tidepool.project, "a handoff", NOW)
    assert tidepool.fallen() == {"main": "stale"}
    git(tidepool.project, "commit", "--quiet", "--allow-empty", "-m", "nothing")
    assert tidepool.fallen() == {"main": "stale"}


def test_a_note_that_is_retired_and_one_that_is_edited(tidepool: Tidepool) -> None:
    tidepool.note.unlink()
    assert tidepool.fallen() == {"tests.md": "stale"}
    write(tidepool.note, note_text("tests", "Run make test.\n"))
    report = tidepool.resumed()
    assert fallen(report) == {"tests.md": "stale"}
    (note,) = report.rechecked.changes.notes
    assert (note.path, note.kind.value) == ("tests.md", "changed")


def test_a_file_that_was_only_read_and_is_edited(tidepool: Tidepool) -> None:
    write(tidepool.project / "tidepool/report.py", "def other(): ...\n", NOW)
    assert tidepool.fallen() == {"main": "stale", "tidepool/report.py": "stale"}


def test_a_change_that_was_undone_makes_a_statement_valid_again(tidepool: Tidepool) -> None:
    alarm = tidepool.project / "tidepool/alarm.py"
    before = alarm.read_text()
    write(alarm, "def other(): ...\n", NOW)
    assert tidepool.fallen()
    write(alarm, before, NOW)
    assert tidepool.fallen() == {}


def test_a_result_names_what_was_changed_since(tidepool: Tidepool) -> None:
    write(tidepool.project / "tidepool/alarm.py", "def other(): ...\n", NOW)
    committed(tidepool.project, "another alarm", NOW)
    assert why(tidepool.resumed(), "tests") == "tidepool/alarm.py, commit changed since"


def test_an_unverified_statement_does_not_become_invalid(tidepool: Tidepool) -> None:
    (tidepool.project / "tidepool/alarm.py").unlink()
    assert tidepool.resumed().rechecked.statements[-1].is_valid


def test_git_went_away(tidepool: Tidepool) -> None:
    shutil.rmtree(tidepool.project / ".git")
    report = tidepool.resumed()
    assert fallen(report) == RESULTS | {"main": "unverified"}
    assert "no repository" in report.warnings[0]


def test_without_git_the_files_tell(tidepool: Tidepool) -> None:
    shutil.rmtree(tidepool.project / ".git")
    tidepool.write_handoff()
    assert tidepool.fallen() == {}
    write(tidepool.project / "tidepool/alarm.py", "def other(): ...\n", NOW)
    assert tidepool.fallen() == RESULTS | {"tidepool/alarm.py": "stale"}


def test_another_branch_is_checked_out(tidepool: Tidepool) -> None:
    git(tidepool.project, "checkout", "--quiet", "--detach")
    report = tidepool.resumed()
    assert fallen(report) == {"main": "stale"}
    assert why(report, "main") == "no branch is checked out"


def test_rewritten_and_missing_commits_are_reported(tidepool: Tidepool) -> None:
    git(tidepool.project, "commit", "--quiet", "--amend", "-m", "told otherwise")
    report = tidepool.resumed()
    assert fallen(report) == RESULTS | {"main": "stale"}
    assert "is not in the history" in report.warnings[0]
    git(tidepool.project, "reflog", "expire", "--expire=all", "--all")
    git(tidepool.project, "gc", "--quiet", "--prune=all")
    report = tidepool.resumed()
    assert fallen(report) == RESULTS | {"main": "stale"}
    assert "is not in this repository" in report.warnings[0]
    assert files(report) == []


def test_a_shallow_clone_keeps_what_is_the_same_valid(tidepool: Tidepool, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{tidepool.project}", str(clone))
    shutil.copy(tidepool.handoff, clone / "HANDOFF.md")
    report = resume_handoff(tidepool.machine.environment(clone))
    # the notes are those that the handoff names, wherever the project is
    assert report.rechecked.is_valid
    assert report.project == str(clone)


def test_a_deleted_transcript_counts_neither_way(tidepool: Tidepool) -> None:
    tidepool.transcript.unlink()
    report = tidepool.resumed()
    assert report.rechecked.is_valid
    (remark,) = report.warnings
    assert remark == "No agent here keeps the transcript of session 1: 1 quote is not checked."


def test_words_that_are_in_no_message_are_not_a_quote(tidepool: Tidepool) -> None:
    path = tidepool.handoff
    path.write_text(path.read_text().replace("Do not touch the schema.", "Drop the schema."))
    report = tidepool.resumed()
    assert fallen(report) == {"wish": "unverified"}
    assert report.rechecked.is_edited


def test_a_handoff_expires(tidepool: Tidepool) -> None:
    tidepool.write_handoff(expires=NOW)
    report = tidepool.resumed().rechecked
    assert report.has_expired
    assert report.is_valid


HOSTILE = (
    HandoffStatement(StatementSection.FILES, "`etc`", FileProof("../../etc/passwd", "0" * 12)),
    HandoffStatement(StatementSection.FILES, "`root`", FileProof("/etc/passwd", "0" * 12)),
    HandoffStatement(StatementSection.FILES, "`fifo`", FileProof("fifo", "0" * 12)),
    HandoffStatement(StatementSection.FILES, "`link`", FileProof("link", "0" * 12)),
    HandoffStatement(StatementSection.FILES, "`behind`", FileProof("folder/passwd", "0" * 12)),
    HandoffStatement(StatementSection.FILES, "`large`", FileProof("large", "0" * 12)),
    HandoffStatement(StatementSection.FILES, "`not`", FileProof("../../etc/none", None)),
    HandoffStatement(StatementSection.MEMORY, "`note`", NoteProof("../../../etc/passwd", "0" * 12)),
    HandoffStatement(
        StatementSection.OBJECTIVE, "`said`", QuoteProof(MessageRef(7, 1)), quote="root"
    ),
)


def test_a_hostile_handoff_opens_no_other_files(tidepool: Tidepool) -> None:
    project = tidepool.project
    os.mkfifo(project / "fifo")
    (project / "link").symlink_to("/etc/passwd")
    (project / "folder").symlink_to("/etc")
    with (project / "large").open("wb") as file:
        file.truncate(100 * 1024 * 1024)
    tidepool.write_handoff(HOSTILE, commit="f" * 40, memory="/etc", branch="--output=x")
    report = tidepool.resumed()
    fallen = {
        statement.statement.text.strip("`"): statement.reason
        for statement in report.rechecked.statements
    }
    assert not any(statement.is_valid for statement in report.rechecked.statements)
    assert fallen == {
        "etc": "../../etc/passwd is outside the folder",
        "root": "/etc/passwd is outside the folder",
        "fifo": "fifo is not a regular file",
        "link": "link is a link, or behind one",
        "behind": "folder/passwd is a link, or behind one",
        "large": "large is larger than 64 MB",
        "not": "../../etc/none is outside the folder",
        "note": "note ../../../etc/passwd is outside the folder",
        "said": "the message does not contain these words",
    }
    assert any(remark.startswith("Unknown memory /etc") for remark in report.warnings)


_watching: list[set[str]] = []


def _watch(event: str, args: tuple[object, ...]) -> None:
    if _watching and event == "open" and isinstance(args[0], str | bytes):
        _watching[-1].add(os.fsdecode(args[0]))


@cache
def _begin_watching() -> None:
    """An audit hook stays for as long as the process lives."""
    sys.addaudithook(_watch)


@contextmanager
def opened_files() -> Iterator[set[str]]:
    """Yield the paths of all files that this process opens in the meantime, by any call."""
    _begin_watching()
    _watching.append(set())
    try:
        yield _watching[-1]
    finally:
        _watching.pop()


@pytest.mark.parametrize("agent", AGENTS)
def test_only_transcripts_that_agents_keep_here_are_opened(
    tidepool: Tidepool, agent: Agent
) -> None:
    """A stranger's handoff may name any file under `sources`."""
    home = tidepool.machine.home
    said = Claude(cwd=str(tidepool.project)).says(WISH)
    elsewhere = tidepool.machine.path / "elsewhere.jsonl"
    elsewhere.write_bytes(said.bytes)
    link = tidepool.transcript.with_name("link.jsonl")
    link.symlink_to(elsewhere)
    beside = home / ".claude" / "history.jsonl"
    beside.write_bytes(said.bytes)
    tokens = home / ".local" / "share" / "opencode" / "auth.json"
    write(tokens, "{}")
    dotted = tidepool.transcript.parent / ".." / ".." / "history.jsonl"
    named = (elsewhere, link, beside, tokens, dotted, "/etc/shadow", "/dev/zero", "x.jsonl")
    for path in map(str, named):
        tidepool.write_handoff(sources=(SourceSession(agent, "s", path),))
        with opened_files() as opened:
            report = tidepool.resumed()
        assert not {path, os.path.realpath(path)} & opened
        assert any(
            remark.startswith("No agent here keeps the transcript") for remark in report.warnings
        )
    known = tidepool.transcript if agent is find_agent("claude") else None
    if known is not None:
        tidepool.write_handoff(sources=(SourceSession(agent, "s", str(known)),))
        assert not tidepool.resumed().warnings


def test_a_file_that_is_not_a_handoff(tidepool: Tidepool) -> None:
    environment = tidepool.machine.environment(tidepool.project)
    tidepool.handoff.write_text("# Handoff\n\nby hand\n")
    with pytest.raises(HandoffUnreadable, match="not a Ricordo handoff"):
        resume_handoff(environment)
    with tidepool.handoff.open("ab") as file:
        file.truncate(100 * 1024 * 1024)
    with pytest.raises(HandoffUnreadable, match="too large"):
        resume_handoff(environment)
    tidepool.handoff.unlink()
    with pytest.raises(HandoffUnreadable, match="No handoff at"):
        resume_handoff(environment)
    os.mkfifo(tidepool.handoff)
    with pytest.raises(HandoffUnreadable, match="not a readable plain file"):
        resume_handoff(environment, "HANDOFF.md")


def test_the_handoff_beside_a_foreign_file_is_resumed(tidepool: Tidepool) -> None:
    beside = tidepool.project / "HANDOFF.new.md"
    tidepool.handoff.rename(beside)
    tidepool.handoff.write_text("# Handoff\n\nby hand\n")
    assert tidepool.resumed().path == str(beside)


def test_the_latest_of_two_handoffs_is_resumed(tidepool: Tidepool) -> None:
    """An edited one is not changed, and the next one is written beside it."""
    older = tidepool.handoff.read_text()
    tidepool.write_handoff(written=WRITTEN + timedelta(hours=1))
    beside = tidepool.handoff.rename(tidepool.project / "HANDOFF.new.md")
    tidepool.handoff.write_text(f"{older}my note\n")
    assert tidepool.resumed().path == str(beside)


def test_a_file_that_is_only_staged_is_a_new_one(tidepool: Tidepool) -> None:
    write(tidepool.project / "tidepool/bill.py", "def bill(): ...\n")
    git(tidepool.project, "add", "tidepool/bill.py")
    assert files(tidepool.resumed()) == [("tidepool/bill.py", "created", "")]


def test_whoever_waits_can_leave(tidepool: Tidepool) -> None:
    class Left(Exception):
        pass

    def leave() -> None:
        raise Left

    with pytest.raises(Left):
        resume_handoff(tidepool.machine.environment(tidepool.project), step=leave)


def test_files_that_did_not_fit_into_the_header_are_reported(tidepool: Tidepool) -> None:
    tidepool.write_handoff(unlisted=2)
    (told,) = tidepool.resumed().warnings
    assert told.startswith("2 files did not fit into the header")


def test_an_unlisted_file_that_was_dirty_is_not_a_change(
    tidepool: Tidepool,
) -> None:
    write(tidepool.project / "notes.txt", "old\n")
    tidepool.write_handoff(dirty=(), unlisted=1)
    assert files(tidepool.resumed()) == []
    write(tidepool.project / "new.txt", "new\n", NOW)
    assert files(tidepool.resumed()) == [("new.txt", "created", "")]


def test_a_credential_in_a_name_is_redacted(tidepool: Tidepool) -> None:
    key = "ghp" + "_" + "a1B2" * 9
    git(tidepool.project, "checkout", "--quiet", "-b", f"feat/{key}")
    write(tidepool.project / f"keys/{key}.txt", "x\n", NOW)
    committed(tidepool.project, f"use {key}", NOW)
    report = tidepool.resumed()
    assert fallen(report)["main"] == "stale"
    assert [use.path for use in report.rechecked.changes.files] == [
        "keys/[secret: github-token].txt"
    ]
    assert key not in repr(report)


def test_a_moved_memory_is_stale(tidepool: Tidepool) -> None:
    place = HandoffStatement(
        StatementSection.MEMORY, "it lies at `memory`", MemoryProof(str(tidepool.memory))
    )
    tidepool.write_handoff((place,))
    assert tidepool.fallen() == {}
    tidepool.memory.rename(tidepool.memory.with_name("moved"))
    assert tidepool.fallen() == {"memory": "stale"}


def test_very_many_new_files_hide_no_statement(
    tidepool: Tidepool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(8):
        write(tidepool.project / f"new{number}.txt", f"{number}\n", NOW)
    committed(tidepool.project, "many", NOW)
    monkeypatch.setattr(probe, "MAX_CHECKED_FILES", 6)
    assert tidepool.fallen() == RESULTS | {"main": "stale"}
