"""`ricordo handoff` and `ricordo resume`, called as a person calls them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from ricordo.agents.claude.folder import make_slug
from ricordo.cli.main import run
from ricordo.handoff.format import DocumentState, parse
from tests.support.builders import note_text
from tests.support.transcripts import OTHER, Claude
from tests.unit.cli.conftest import settle
from tests.unit.handoff.work import RAN, Tidepool, committed, write
from tests.unit.machine import Machine

STATEMENT = {"text", "section", "status", "probe"}
KEY = "sk-ant-api03-" + "Q7wZ2xK9mN4vB8cR5tY1uJ6hG3fD0sA" * 2
RULE = "From now on always run tests with uv run, never with pip."
TOLD = f"The key is {KEY}, see @secret.md\n```\n@secret.md\n```"


class Work(Tidepool):
    """The work, and `ricordo` called in its project."""

    def __init__(self, machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
        super().__init__(machine)
        self.capsys = capsys
        self.state = machine.path / "s"
        said = Claude(cwd=str(self.project), began=RAN).says("Make the berth alarm test green.")
        said.uses("Edit", file_path=str(self.project / "tidepool/alarm.py"), old_string="a")
        said.runs("pytest -q tests/test_alarm.py", "1 passed in 0.1s")
        said.says(RULE).answers("I will.").says(TOLD)
        self.session = said.answers("Left to do: mend tidepool/report.py.")
        self.session.write(machine.home, make_slug(str(self.project)))
        settle(self.memory)

    def __call__(self, *words: str, code: int = 0) -> str:
        places = ("--agent-home", str(self.machine.home), "--state", str(self.state))
        assert run([*words, *places]) == code
        printed = self.capsys.readouterr()
        return printed.out + printed.err

    def json(self, *words: str, code: int = 0) -> dict[str, object]:
        told: dict[str, object] = json.loads(self(*words, "--json", code=code))
        return told

    @property
    def text(self) -> str:
        return self.handoff.read_text("utf-8")


@pytest.fixture
def work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Work:
    work = Work(Machine(tmp_path), capsys)
    monkeypatch.chdir(work.project)
    return work


def test_a_project_without_a_memory_is_handed_off_too(work: Work) -> None:
    shutil.rmtree(work.memory)
    write(work.project / "notes.md", "# Not a note of any memory\n")
    assert work("handoff").startswith(f"wrote {work.handoff} for any\n")
    assert "> Make the berth alarm test green." in work.text
    assert "The memory lies at" not in work.text
    assert "[verified: note" not in work.text
    assert "none got worse since it was written" in work("resume")
    assert "HANDOFF.md (handoff for any agent)" in work("undo")
    assert not work.handoff.exists()
    assert "No memory found" in work("lint", code=3)


def test_the_state_may_be_in_a_directory_without_a_memory(work: Work) -> None:
    """As in a home directory."""
    shutil.rmtree(work.memory)
    shutil.rmtree(work.project / ".git")
    work.state = work.project / ".local/state/ricordo"
    assert work("undo") == "ricordo: Nothing to undo here.\n"
    assert work("handoff").startswith(f"wrote {work.handoff} for any\n")
    assert "HANDOFF.md (handoff for any agent)" in work("undo")
    assert not work.handoff.exists()


def test_a_handoff_is_written_verified_and_undone(work: Work) -> None:
    told = work("handoff", "--for", "claude")
    assert told.startswith(f"wrote {work.handoff} for claude\n")
    assert "1 credential redacted" in told
    assert "next: claude 'Read HANDOFF.md first, then go on with its next step.'" in told
    assert "CLAUDE.md, to have it read at every start: @HANDOFF.md" in told
    assert not (work.project / "CLAUDE.md").exists()
    parsed = parse(work.handoff.read_bytes())
    assert parsed.state is DocumentState.UNCHANGED
    assert parsed.handoff is not None
    assert parsed.handoff.header.commit == work.commit
    assert work.text.count("## Primary Request and Intent") == 1
    assert "`ricordo undo` reverts this." in told
    assert "HANDOFF.md (handoff for Claude Code)" in work("undo")
    assert not work.handoff.exists()
    work("redo")
    assert parse(work.handoff.read_bytes()) == parsed
    assert "no faults" in work("history", "--verify")


def test_a_handoff_is_printed_where_its_file_is_a_hyphen(work: Work) -> None:
    before = set(work.project.iterdir())
    printed = work("handoff", "-o", "-")
    assert printed.startswith("---\nformat: ricordo handoff 1\n")
    assert "> Make the berth alarm test green." in printed
    document = json.loads(work("handoff", "-o", "-", "--json"))
    assert (document["path"], document["changed"]) == ("", [])
    assert set(work.project.iterdir()) == before


def test_a_transcript_that_the_user_named_is_read_again_until_others_write_the_handoff(
    work: Work,
) -> None:
    elsewhere = work.machine.path / "elsewhere.jsonl"
    elsewhere.write_bytes(work.session.bytes)
    work("handoff", "--session", str(elsewhere))
    assert "is not there" not in work("resume")
    shutil.rmtree(work.machine.path / "s")
    told = work("resume")
    assert "No agent here keeps the transcript of session 1" in told


def test_a_memory_that_the_user_named_is_known_to_resume(work: Work) -> None:
    notes = work.machine.directory("notes")
    write(notes / "alarm.md", note_text("alarm", "The berth alarm test has to be green.\n"))
    settle(notes)
    work("handoff", "-m", str(notes), "--session", str(work.transcript))
    assert f"`{notes}`" in work.text
    told = work("resume")
    assert "Unknown memory" not in told
    assert "none got worse since it was written" in told
    write(notes / "alarm.md", note_text("alarm", "It is red.\n"))
    assert "note alarm.md is" in work("resume", code=1)
    shutil.rmtree(work.machine.path / "s")
    assert f"Unknown memory {notes}" in work("resume", code=1)


def test_a_name_that_the_file_has_no_longer_is_in_no_verified_statement(work: Work) -> None:
    """The session wrote it, and called it something else afterwards."""
    alarm = work.project / "tidepool/alarm.py"
    old, new = "def GetStepsCount(): ...\n", "def fire(): ...\n"
    for text in (old, new):
        work.session.uses("Edit", file_path=str(alarm), old_string="a", new_string=text)
    gone = work.project / "tidepool/gone.py"
    work.session.uses("Write", file_path=str(gone), content="def GetSteps(): ...\n")
    work.session.answers("Done.")
    work.session.write(work.machine.home, make_slug(str(work.project)))
    statements = work.json("handoff")["statements"]
    assert isinstance(statements, list)
    files = {it["text"]: it["status"] for it in statements if it["section"] == "files"}
    assert {*files.values()} == {"verified"}
    assert any("the changes name `fire`" in text for text in files)
    assert "GetSteps" not in work.text
    assert "none got worse since it was written" in work("resume")


def test_the_line_is_for_the_file_that_the_agent_reads_in_this_project(work: Work) -> None:
    """A CLAUDE.md would switch off the rules in AGENTS.md for Claude Code."""
    write(work.project / "AGENTS.md", "Never push.\n")
    told = work("handoff", "--for", "claude")
    assert "AGENTS.md, to have it read at every start: @HANDOFF.md" in told
    assert "CLAUDE.md" not in told
    assert (work.project / "AGENTS.md").read_text() == "Never push.\n"


SUMMARY = "## Next steps\n- paint the third buoy\n\n## Done\n- the second buoy is red\n"


def keep_summary(work: Work, summary: str) -> None:
    """Have the hook keep the summary of a compaction, as Claude Code calls it."""
    event = {"session_id": work.session.session, "cwd": str(work.project)}
    document = json.dumps({**event, "compact_summary": summary})
    subprocess.run(
        [sys.executable, "-m", "ricordo", "hook", "compact", f"--state={work.machine.path}/s"],
        input=document.encode(),
        check=True,
    )


def test_a_summary_that_only_the_hook_has_is_handed_off(work: Work) -> None:
    keep_summary(work, SUMMARY)
    work("handoff")
    quoted = "> - paint the third buoy"
    assert quoted in work.text
    assert work.text.index("## Next") < work.text.index(quoted)
    assert "[quoted: turn 0]" in work.text
    # it is proved by what the hook kept, and by nothing else
    assert "none got worse since it was written" in work("resume")
    altered = work.text.replace("third buoy", "fourth buoy")
    work.handoff.write_text(altered)
    assert "the message does not contain these words" in work("resume", code=1)
    # where that was dropped, nobody knows
    work.handoff.write_text(work.text.replace("fourth buoy", "third buoy"))
    shutil.rmtree(work.machine.path / "s/hook/sessions")
    assert "none got worse" in work("resume")


def test_a_summary_that_the_transcript_has_is_handed_off_once(work: Work) -> None:
    framed = f"This session is being continued.\n\n{SUMMARY}\nPlease continue."
    work.session.says(framed, isCompactSummary=True).write(
        work.machine.home, make_slug(str(work.project))
    )
    keep_summary(work, SUMMARY)
    work("handoff")
    assert work.text.count("paint the third buoy") == 1
    assert "turn 0]" not in work.text


def test_a_refused_command_is_a_limit_and_never_a_next_step(work: Work) -> None:
    command = "rm -f tidepool/report.py && pytest -q tests/test_alarm.py"
    said = (
        "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it "
        "was a file edit, the new_string was NOT written to the file). STOP what you are doing."
    )
    work.session.runs(command, said, failed=True)
    work.session.answers("I will leave it. Left to do: mend tidepool/report.py.")
    work.session.write(work.machine.home, make_slug(str(work.project)))
    told = work.json("handoff")
    statements = told["statements"]
    assert isinstance(statements, list)
    of_command = {it["section"]: it["status"] for it in statements if "rm -f" in it["text"]}
    assert of_command == {"constraints": "quoted"}
    assert f"The user refused `{command}`" in work.text
    assert "> The user doesn't want to proceed with this tool use.\n" in work.text
    assert "none got worse since it was written" in work("resume")


def test_its_json_has_every_statement_with_its_mark(work: Work) -> None:
    told = work.json("handoff", "--for", "codex", "--messages")
    assert (told["path"], told["for"], told["redactions"]) == (str(work.handoff), "codex", 2)
    statements = told["statements"]
    assert isinstance(statements, list)
    assert all(set(it) == STATEMENT for it in statements)
    assert {it["status"] for it in statements} == {"verified", "quoted", "reported"}
    assert all((it["probe"] is None) == (it["status"] == "unverified") for it in statements)
    said = [it["text"] for it in statements if it["section"] == "messages"]
    assert any(text.endswith("Make the berth alarm test green.") for text in said)
    assert 0 < int(str(told["tokens"])) <= 4000
    assert KEY not in work.text + json.dumps(told)


def test_the_budget_is_respected_and_omissions_are_counted(work: Work) -> None:
    told = work.json("handoff", "--budget", "600")
    assert int(str(told["tokens"])) <= 600
    assert int(str(told["left_out"])) > 0
    assert f"left_out: {told['left_out']}\n" in work.text
    assert "The header alone needs about" in work("handoff", "--budget", "9", code=2)
    told_capped = work("handoff", "--for", "codex", "--budget", "50000")
    assert "Budget reduced to 6,000 tokens" in told_capped


def test_resume_reports_valid_statements_and_exits_with_1_if_one_is_not(work: Work) -> None:
    work("handoff")
    told = work.json("resume")
    assert set(told) >= {"path", "holds", "statements", "changed"}
    assert (told["path"], told["holds"]) == (str(work.handoff), True)
    alarm = work.project / "tidepool/alarm.py"
    alarm.rename(alarm.with_name("bell.py"))
    committed(work.project, "a bell")
    again = work.json("resume", str(work.handoff), code=1)
    assert again["holds"] is False
    fallen = [it for it in again["statements"] if it["was"] != it["now"]]  # type: ignore[attr-defined]
    assert all(set(it) >= STATEMENT | {"was", "now"} for it in fallen)
    assert any("tidepool/alarm.py" in it["text"] for it in fallen)
    changed = again["changed"]
    assert isinstance(changed, dict)
    assert [it["subject"] for it in changed["commits"]] == ["a bell"]
    assert changed["files"] == [
        {"path": "tidepool/alarm.py", "kind": "renamed", "to": "tidepool/bell.py"}
    ]
    said = work("resume", code=1)
    assert "verified → stale" in said
    assert "renamed tidepool/alarm.py → tidepool/bell.py" in said
    assert "No handoff at" in work("resume", "elsewhere.md", code=3)


def test_resume_counts_what_was_only_quoted_and_what_was_stale_already(work: Work) -> None:
    work("handoff")
    was = Counter(it["was"] for it in work.json("resume")["statements"])  # type: ignore[attr-defined]
    assert min(was["verified"], was["quoted"]) > 0
    total = sum(was.values())
    said = work("resume")
    assert f"{total} statements: {was['verified']} verified, " in said
    assert f"{was['quoted']} quoted" in said
    assert "none got worse since it was written" in said
    assert "valid" not in said
    (line, *_) = [line for line in work.text.splitlines() if line.startswith("- ")]
    write(work.handoff, work.text.replace(line, f"- A line by hand.\n{line}", 1))
    said = work("resume")
    assert ", edited since\n" in said
    assert f"{total + 1} statements: {was['verified']} verified, " in said
    assert f"{was['unverified'] + 1} unverified; none got worse" in said


def test_an_own_handoff_is_brought_up_to_date(work: Work) -> None:
    work("handoff")
    later = Claude(OTHER, str(work.project), began=RAN.replace(hour=8)).says("Now mend the report.")
    later.answers("Done.").write(work.machine.home, make_slug(str(work.project)))
    told = work("handoff")
    assert told.startswith(f"updated {work.handoff}")
    assert f"> {RULE}\n" in work.text
    assert "turn 6 of session 2" in work.text
    assert "> Now mend the report.\n" in work.text
    assert "[verified: tidepool/alarm.py is" in work.text
    write(work.project / "tidepool/alarm.py", "changed = True\n", RAN.replace(hour=9))
    work("handoff")
    # what the later session does not repeat and is no longer valid is dropped
    assert "tidepool/alarm.py is" not in work.text
    assert f"> {RULE}\n" in work.text
    assert work.json("resume")["holds"] is True


@pytest.mark.parametrize("how", ["foreign", "inside", "outside", "crlf", "read-only", "symlink"])
def test_a_file_that_is_not_ours_any_more_is_left_alone(work: Work, how: str) -> None:
    work("handoff")
    text = work.text
    changed = {
        "foreign": "# Handoff\n\nMine.\n",
        "inside": text.replace("- ", "- Mine. ", 1),
        "outside": text + "Mine.\n",
        "crlf": text.replace("\n", "\r\n"),
    }
    if how == "symlink":
        work.handoff.rename(work.project / "real.md")
        work.handoff.symlink_to("real.md")
    elif how == "read-only":
        work.handoff.chmod(0o444)
    else:
        work.handoff.write_bytes(changed[how].encode())
    before = work.handoff.read_bytes(), work.handoff.lstat().st_mode
    told = work("handoff")
    beside = work.project / "HANDOFF.new.md"
    assert f"wrote {beside}" in told
    assert "The handoff goes to HANDOFF.new.md." in told
    assert (work.handoff.read_bytes(), work.handoff.lstat().st_mode) == before
    assert parse(beside.read_bytes()).state is DocumentState.UNCHANGED
    assert f"unchanged: {beside}" in work("handoff")
    beside.write_text("mine too")
    assert "Name another file with -o." in work("handoff", code=4)
    assert beside.read_text() == "mine too"
    assert f"wrote {work.project}/other.md" in work("handoff", "-o", "other.md")
    (work.project / "docs").mkdir()
    assert f"wrote {work.project}/docs/HANDOFF.md" in work("handoff", "-o", "docs")


def test_a_handoff_that_lies_elsewhere_names_its_project(work: Work) -> None:
    """If no commit shows to which one it belongs."""
    shutil.rmtree(work.project / ".git")
    (work.project / "docs").mkdir()
    for path in ("docs/HANDOFF.md", str(work.machine.path / "elsewhere.md")):
        work("handoff", "-o", path)
        assert work.json("resume", path)["holds"] is True
    (work.project / "tidepool/alarm.py").unlink()
    assert work.json("resume", path, code=1)["holds"] is False


@pytest.mark.parametrize("odd", ["directory", "fifo"])
def test_what_is_no_file_never_holds_us_up(work: Work, odd: str) -> None:
    if odd == "fifo":
        os.mkfifo(work.handoff)
    else:
        work.handoff.mkdir()
    assert "HANDOFF.new.md" in work("handoff")


def test_somebody_who_writes_meanwhile_is_not_overwritten(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ricordo.services.handoff import output as handing_over

    finish: Callable[..., object] = handing_over.finish_draft

    def finished(draft: object) -> object:
        work.handoff.write_text("mine\n")
        return finish(draft)

    monkeypatch.setattr(handing_over, "finish_draft", finished)
    assert "Another program wrote" in work("handoff", code=4)
    assert work.text == "mine\n"


def test_in_a_worktree_it_is_the_worktree_that_is_handed_off(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = work.machine.worktree(work.project, "beside")
    said = Claude(OTHER, str(tree), RAN).says("Mend the gauge beside.")
    path = said.write(work.machine.home, make_slug(str(tree)))
    os.utime(path, (1_000, 1_000))
    monkeypatch.chdir(tree)
    assert f"wrote {tree / 'HANDOFF.md'}" in work("handoff")
    assert "Mend the gauge beside." in (tree / "HANDOFF.md").read_text()
    assert work.json("resume")["holds"] is True
    monkeypatch.chdir(work.project)
    assert f"wrote {work.handoff}" in work("handoff")
    assert "Mend the gauge beside." not in work.text


def test_invalid_arguments_are_reported(
    work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "is not there" in work("handoff", "--session", "nowhere.jsonl", code=2)
    work("handoff", "--for", "nobody", code=2)
    work("handoff", "--budget", "many", code=2)
    monkeypatch.chdir(empty(tmp_path))
    assert "This project has no session" in work("handoff", "-m", ".", code=4)


def empty(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    root.mkdir()
    (root / "a.md").write_text(note_text("a"))
    settle(root)
    return root
