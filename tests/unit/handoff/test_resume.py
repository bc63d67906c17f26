"""A handoff is probed again: exactly the statements that no longer hold are named."""

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

from ricordo.agents.transcripts.session import Agent
from ricordo.errors import HandoffUnreadable
from ricordo.handoff import check as probe
from ricordo.handoff.document import (
    FileIs,
    GitIs,
    HandoffStatement,
    MemoryAt,
    NoteIs,
    QuoteMark,
    SourceSession,
    StatementSection,
)
from ricordo.handoff.facts import GIT, Ref
from ricordo.handoff.project_git import git_state
from ricordo.services.handoff.resume import Resumption, resume_handoff
from tests.support.builders import note_text
from tests.support.transcripts import Claude
from tests.unit.handoff.work import WISH, WRITTEN, Tidepool, committed, fallen, write
from tests.unit.machine import Machine, git

NOW = datetime(2026, 11, 20, 8, 0, tzinfo=UTC)
RESULTS = {"tests": "stale", "ruff": "stale"}


@pytest.fixture
def tidepool(tmp_path: Path) -> Tidepool:
    tidepool = Tidepool(Machine(tmp_path))
    tidepool.write_handoff()
    return tidepool


def files(resumption: Resumption) -> list[tuple[str, str, str]]:
    return [(it.path, it.kind.value, it.to) for it in resumption.resumed.changed.files]


def why(found: Resumption, name: str) -> str:
    return next(
        it.why for it in found.resumed.statements if it.statement.text.split("`")[1] == name
    )


def test_a_project_that_nobody_touched_holds(tidepool: Tidepool) -> None:
    found = tidepool.resumed()
    assert found.resumed.holds
    assert (files(found), found.resumed.changed.commits, found.remarks) == ([], (), ())
    assert not found.resumed.has_expired
    assert not found.resumed.is_edited
    # it was the handoff that is not committed, and another one would be as well
    assert "?? HANDOFF.md" in git(tidepool.project, "status", "--porcelain")
    write(tidepool.project / "HANDOFF.new.md", "")
    assert tidepool.fallen() == {}


def test_commits_that_were_pushed_since_are_told(tidepool: Tidepool) -> None:
    origin = tidepool.machine.directory("origin.git")
    git(origin, "init", "--quiet", "--bare", "--template=")
    git(tidepool.project, "remote", "add", "origin", str(origin))
    git(tidepool.project, "push", "--quiet", "-u", "origin", "HEAD")
    committed(tidepool.project / ".", "nothing new")
    told = HandoffStatement(
        StatementSection.ACTIVE, "Branch `x`; 1 commit not pushed", None, (GIT,)
    )
    state = git_state(str(tidepool.project))
    assert state is not None
    text = told.text.replace("x", state.branch)
    tidepool.write_handoff(
        (replace(told, text=text, proof=GitIs(state.commit, state.branch, len(state.dirty))),)
    )
    assert tidepool.resumed().resumed.holds
    git(tidepool.project, "push", "--quiet")
    (checked,) = tidepool.resumed().resumed.statements
    assert (checked.now.value, checked.why) == ("stale", "no commit is known to be unpushed")


def test_a_file_that_is_renamed(tidepool: Tidepool) -> None:
    alarm = tidepool.project / "tidepool/alarm.py"
    alarm.rename(alarm.with_name("bell.py"))
    found = tidepool.resumed()
    assert fallen(found) == RESULTS | {"main": "stale", "tidepool/alarm.py": "stale"}
    assert files(found) == [("tidepool/alarm.py", "renamed", "tidepool/bell.py")]


def test_the_file_of_a_test_that_is_edited(tidepool: Tidepool) -> None:
    write(tidepool.project / "tests/test_alarm.py", "def test_other(): ...\n", NOW)
    found = tidepool.resumed()
    assert fallen(found) == RESULTS | {"main": "stale"}
    assert files(found) == [("tests/test_alarm.py", "changed", "")]


def test_a_new_commit(tidepool: Tidepool) -> None:
    write(tidepool.project / "README.md", "new\n", NOW)
    commit = committed(tidepool.project, "a readme", NOW)
    found = tidepool.resumed()
    assert fallen(found) == RESULTS | {"main": "stale"}
    commits = found.resumed.changed.commits
    assert [(it.id, it.subject) for it in commits] == [(commit, "a readme")]
    assert files(found) == [("README.md", "created", "")]


def test_a_commit_of_the_handoff_alone_leaves_results_as_they_are(tidepool: Tidepool) -> None:
    committed(tidepool.project, "a handoff", NOW)
    assert tidepool.fallen() == {"main": "stale"}
    git(tidepool.project, "commit", "--quiet", "--allow-empty", "-m", "nothing")
    assert tidepool.fallen() == {"main": "stale"}


def test_a_note_that_is_retired_and_one_that_is_edited(tidepool: Tidepool) -> None:
    tidepool.note.unlink()
    assert tidepool.fallen() == {"tests.md": "stale"}
    write(tidepool.note, note_text("tests", "Run make test.\n"))
    found = tidepool.resumed()
    assert fallen(found) == {"tests.md": "stale"}
    (note,) = found.resumed.changed.notes
    assert (note.path, note.kind.value) == ("tests.md", "changed")


def test_a_file_that_was_only_read_and_is_edited(tidepool: Tidepool) -> None:
    write(tidepool.project / "tidepool/report.py", "def other(): ...\n", NOW)
    assert tidepool.fallen() == {"main": "stale", "tidepool/report.py": "stale"}


def test_what_was_changed_back_holds_again(tidepool: Tidepool) -> None:
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


def test_a_guess_never_held_and_so_does_not_fall(tidepool: Tidepool) -> None:
    (tidepool.project / "tidepool/alarm.py").unlink()
    assert tidepool.resumed().resumed.statements[-1].holds


def test_git_went_away(tidepool: Tidepool) -> None:
    shutil.rmtree(tidepool.project / ".git")
    found = tidepool.resumed()
    assert fallen(found) == RESULTS | {"main": "unverified"}
    assert "no repository" in found.remarks[0]


def test_without_git_the_files_tell(tidepool: Tidepool) -> None:
    shutil.rmtree(tidepool.project / ".git")
    tidepool.write_handoff()
    assert tidepool.fallen() == {}
    write(tidepool.project / "tidepool/alarm.py", "def other(): ...\n", NOW)
    assert tidepool.fallen() == RESULTS | {"tidepool/alarm.py": "stale"}


def test_a_branch_is_left(tidepool: Tidepool) -> None:
    git(tidepool.project, "checkout", "--quiet", "--detach")
    found = tidepool.resumed()
    assert fallen(found) == {"main": "stale"}
    assert why(found, "main") == "no branch is checked out"


def test_a_commit_that_was_rewritten_and_one_that_nobody_has_any_more(tidepool: Tidepool) -> None:
    git(tidepool.project, "commit", "--quiet", "--amend", "-m", "told otherwise")
    found = tidepool.resumed()
    assert fallen(found) == RESULTS | {"main": "stale"}
    assert "does not follow from commit" in found.remarks[0]
    git(tidepool.project, "reflog", "expire", "--expire=all", "--all")
    git(tidepool.project, "gc", "--quiet", "--prune=all")
    found = tidepool.resumed()
    assert fallen(found) == RESULTS | {"main": "stale"}
    assert "is not in this repository" in found.remarks[0]
    assert files(found) == []


def test_a_shallow_clone_elsewhere_holds_as_far_as_it_has_the_same(
    tidepool: Tidepool, tmp_path: Path
) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{tidepool.project}", str(clone))
    shutil.copy(tidepool.handoff, clone / "HANDOFF.md")
    found = resume_handoff(tidepool.machine.surroundings(clone))
    # the notes are those that the handoff names, wherever the project lies
    assert found.resumed.holds
    assert found.project == str(clone)


def test_a_transcript_that_was_swept_speaks_neither_for_nor_against(tidepool: Tidepool) -> None:
    tidepool.transcript.unlink()
    found = tidepool.resumed()
    assert found.resumed.holds
    (remark,) = found.remarks
    assert remark == (
        "The transcript of session 1 is not there, or is none that an agent keeps here: 1 quote is "
        "not looked up."
    )


def test_words_that_nobody_said_are_no_quote(tidepool: Tidepool) -> None:
    path = tidepool.handoff
    path.write_text(path.read_text().replace("Do not touch the schema.", "Drop the schema."))
    found = tidepool.resumed()
    assert fallen(found) == {"wish": "unverified"}
    assert found.resumed.is_edited


def test_a_handoff_expires(tidepool: Tidepool) -> None:
    tidepool.write_handoff(expires=NOW)
    found = tidepool.resumed().resumed
    assert found.has_expired
    assert found.holds


HOSTILE = (
    HandoffStatement(StatementSection.FILES, "`etc`", FileIs("../../etc/passwd", "0" * 12)),
    HandoffStatement(StatementSection.FILES, "`root`", FileIs("/etc/passwd", "0" * 12)),
    HandoffStatement(StatementSection.FILES, "`fifo`", FileIs("fifo", "0" * 12)),
    HandoffStatement(StatementSection.FILES, "`link`", FileIs("link", "0" * 12)),
    HandoffStatement(StatementSection.FILES, "`behind`", FileIs("folder/passwd", "0" * 12)),
    HandoffStatement(StatementSection.FILES, "`large`", FileIs("large", "0" * 12)),
    HandoffStatement(StatementSection.FILES, "`not`", FileIs("../../etc/none", None)),
    HandoffStatement(StatementSection.MEMORY, "`note`", NoteIs("../../../etc/passwd", "0" * 12)),
    HandoffStatement(StatementSection.OBJECTIVE, "`said`", QuoteMark(Ref(7, 1)), quote="root"),
)


def test_a_hostile_handoff_leads_nowhere(tidepool: Tidepool) -> None:
    project = tidepool.project
    os.mkfifo(project / "fifo")
    (project / "link").symlink_to("/etc/passwd")
    (project / "folder").symlink_to("/etc")
    with (project / "large").open("wb") as file:
        file.truncate(100 * 1024 * 1024)
    tidepool.write_handoff(HOSTILE, commit="f" * 40, memory="/etc", branch="--output=x")
    found = tidepool.resumed()
    fallen = {it.statement.text.strip("`"): it.why for it in found.resumed.statements}
    assert not any(it.holds for it in found.resumed.statements)
    assert fallen == {
        "etc": "../../etc/passwd is outside the folder",
        "root": "/etc/passwd is outside the folder",
        "fifo": "fifo is not a regular file",
        "link": "link is a link, or behind one",
        "behind": "folder/passwd is a link, or behind one",
        "large": "large is larger than 64 MB",
        "not": "../../etc/none is outside the folder",
        "note": "note ../../../etc/passwd is outside the folder",
        "said": "the words do not stand in that turn",
    }
    assert any(it.startswith("The memory /etc is not known here") for it in found.remarks)


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
    """Give the paths of all files that this process opens meanwhile, by whatever call."""
    _begin_watching()
    _watching.append(set())
    try:
        yield _watching[-1]
    finally:
        _watching.pop()


@pytest.mark.parametrize("agent", list(Agent))
def test_only_transcripts_that_agents_keep_here_are_opened(
    tidepool: Tidepool, agent: Agent
) -> None:
    """A handoff of a stranger may name any file under `sources`."""
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
            found = tidepool.resumed()
        assert not {path, os.path.realpath(path)} & opened
        assert any(it.startswith("The transcript of session 1 is not") for it in found.remarks)
    known = tidepool.transcript if agent is Agent.CLAUDE else None
    if known is not None:
        tidepool.write_handoff(sources=(SourceSession(agent, "s", str(known)),))
        assert not tidepool.resumed().remarks


def test_a_file_that_is_no_handoff_of_ours(tidepool: Tidepool) -> None:
    surroundings = tidepool.machine.surroundings(tidepool.project)
    tidepool.handoff.write_text("# Handoff\n\nby hand\n")
    with pytest.raises(HandoffUnreadable, match="no handoff of ours"):
        resume_handoff(surroundings)
    with tidepool.handoff.open("ab") as file:
        file.truncate(100 * 1024 * 1024)
    with pytest.raises(HandoffUnreadable, match="too large"):
        resume_handoff(surroundings)
    tidepool.handoff.unlink()
    with pytest.raises(HandoffUnreadable, match="There is no handoff"):
        resume_handoff(surroundings)
    os.mkfifo(tidepool.handoff)
    with pytest.raises(HandoffUnreadable, match="no plain file"):
        resume_handoff(surroundings, "HANDOFF.md")


def test_beside_a_file_that_is_not_ours_stands_the_one_that_is(tidepool: Tidepool) -> None:
    beside = tidepool.project / "HANDOFF.new.md"
    tidepool.handoff.rename(beside)
    tidepool.handoff.write_text("# Handoff\n\nby hand\n")
    assert tidepool.resumed().path == str(beside)


def test_of_two_that_are_ours_the_one_written_last_is_resumed(tidepool: Tidepool) -> None:
    """One that somebody edited is left alone, and ours goes on beside it."""
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
        resume_handoff(tidepool.machine.surroundings(tidepool.project), step=leave)


def test_files_that_the_head_had_no_room_for_are_told(tidepool: Tidepool) -> None:
    tidepool.write_handoff(unlisted=2)
    (told,) = tidepool.resumed().remarks
    assert told.startswith("2 files had no room in the head")


def test_what_was_dirty_then_is_no_change_though_the_head_had_no_room_for_it(
    tidepool: Tidepool,
) -> None:
    write(tidepool.project / "notes.txt", "old\n")
    tidepool.write_handoff(dirty=(), unlisted=1)
    assert files(tidepool.resumed()) == []
    write(tidepool.project / "new.txt", "new\n", NOW)
    assert files(tidepool.resumed()) == [("new.txt", "created", "")]


def test_a_credential_in_a_name_is_not_told(tidepool: Tidepool) -> None:
    key = "ghp" + "_" + "a1B2" * 9
    git(tidepool.project, "checkout", "--quiet", "-b", f"feat/{key}")
    write(tidepool.project / f"keys/{key}.txt", "x\n", NOW)
    committed(tidepool.project, f"use {key}", NOW)
    found = tidepool.resumed()
    assert fallen(found)["main"] == "stale"
    assert [it.path for it in found.resumed.changed.files] == ["keys/[secret: github-token].txt"]
    assert key not in repr(found)


def test_a_memory_that_was_moved_away_lies_there_no_longer(tidepool: Tidepool) -> None:
    place = HandoffStatement(
        StatementSection.MEMORY, "it lies at `memory`", MemoryAt(str(tidepool.memory))
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
    monkeypatch.setattr(probe, "MOST_LOOKS", 6)
    assert tidepool.fallen() == RESULTS | {"main": "stale"}
