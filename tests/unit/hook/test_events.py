"""The hooks in the order of a session: what is said, and what is found in the next one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import ricordo
from ricordo.agents.prompt_rules import LONGEST_CONTEXT
from ricordo.agents.registry import find_agent
from ricordo.handoff.document import (
    FileProof,
    Handoff,
    HandoffHeader,
    HandoffStatement,
    SourceSession,
    StatementSection,
    handoff_target,
)
from ricordo.handoff.format import render
from ricordo.hook.prompt import SESSION_ROOM
from ricordo.search.reader import VERSION
from tests.support.builders import note_text, write_memory
from tests.unit.hook.sessions import HARBOUR, QUESTION, SECONDS, Session, begin
from tests.unit.machine import git

CORRECTED = {
    "MEMORY.md": "- [Cache](cache.md) — tides are kept in Redis\n",
    "cache.md": note_text("cache", "The tides are read by `src/tides.py` and `src/missing.py`.\n"),
}


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return begin(tmp_path)


def patch_of(path: Path) -> dict[str, Any]:
    patch = f"*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n"
    return {"tool_name": "apply_patch", "tool_input": {"command": patch}, "tool_response": "ok"}


WRITES: dict[str, Any] = {
    "claude": lambda path: {"tool_input": {"file_path": str(path)}},
    "codex": patch_of,
    "opencode": lambda path: {"tool_input": {"filePath": str(path)}, "tool_response": None},
    "gemini": lambda path: {
        "hook_event_name": "AfterTool",
        "tool_input": {"file_path": str(path)},
        "tool_response": {"llmContent": "done", "returnDisplay": {"isNewFile": True}},
    },
}


@pytest.mark.parametrize("agent", WRITES)
def test_a_note_written_in_a_session_is_given_to_the_next(tmp_path: Path, agent: str):
    session = begin(tmp_path, agent)
    assert session.start() == ""
    path = session.write("harbour_gate", HARBOUR)
    session.tell_written(path, **WRITES[agent](path))
    session.wait()
    assert "opens at six" in session.called("two").ask()


@pytest.mark.parametrize("event", ["BeforeAgent", "UserPromptSubmit"])
def test_an_answer_names_the_event_as_the_agent_does(session: Session, event: str):
    session.tell_written(session.write("harbour_gate", HARBOUR))
    session.wait()
    answer = session.hook("prompt", hook_event_name=event, prompt=QUESTION)
    assert answer["hookSpecificOutput"]["hookEventName"] == event


def test_a_note_in_the_memory_folder_of_a_project_counts_once_an_agent_wrote_it(session: Session):
    path = session.write("harbour_gate", HARBOUR, session.project / "memory")
    session.start()
    session.wait()
    assert session.ask() == ""
    session.tell_written(path)
    session.wait()
    assert "opens at six" in session.ask()


@pytest.mark.parametrize("agent", ["claude", "gemini"])
def test_the_inbox_knows_the_session_that_wrote(session: Session, agent: str):
    session.start()
    session.wait()
    for name in ("harbour_gate", "harbour_crane"):
        path = session.write(name, HARBOUR)
        session.called(name).tell_written(path, **WRITES[agent](path))
        session.wait()
    changes = json.loads(session.ricordo("inbox", "--json"))["changes"]
    assert {change["path"]: change["by"] for change in changes} == {
        "harbour_gate.md": "session harbour_gate",
        "harbour_crane.md": "session harbour_crane",
    }


def test_what_was_there_before_the_first_session_is_no_news(session: Session):
    path = session.write("harbour_gate", HARBOUR)
    os.utime(path, (1, 1))
    session.start()
    session.wait()
    assert json.loads(session.ricordo("inbox", "--json"))["changes"] == []


def test_eight_sessions_write_at_once(session: Session):
    session.start()
    words = ("anchor", "buoy", "crane", "dock", "eddy", "ferry", "gull", "hull")
    running = []
    for word in words:
        path = session.write(word, f"The {word} of the harbour is painted every ninth spring.\n")
        other = session.called(word)
        event = other.event(hook_event_name="PostToolUse", tool_input={"file_path": str(path)})
        process = subprocess.Popen(
            [sys.executable, "-m", "ricordo", "hook", "wrote"],
            stdin=subprocess.PIPE,
            env=session.environ,
        )
        running.append((process, event))
    for process, event in running:
        process.communicate(event)
        assert process.returncode == 0
    session.wait()
    for word in words:
        answer = session.called(f"asks-{word}").ask(f"when is the {word} of the harbour painted?")
        assert f"The {word} of the harbour" in answer


def test_what_a_shell_wrote_is_found_after_the_turn(session: Session):
    session.tell_written(session.write("harbour_crane", "The crane is yellow.\n"))
    session.wait()
    session.write("harbour_gate", HARBOUR)
    assert session.hook("stop", hook_event_name="Stop", stop_hook_active=False) == {}
    session.wait()
    assert "opens at six" in session.ask()


def test_the_end_of_a_session_brings_the_index_up(session: Session):
    session.write("harbour_gate", HARBOUR)
    session.hook("end", hook_event_name="SessionEnd", reason="other")
    session.wait()
    assert "opens at six" in session.called("two").ask()


# Start


def write_corrected(session: Session) -> None:
    """Write a note that names a file which the project no longer has."""
    write_memory(session.memory, CORRECTED)
    files = {"src/tides.py": "def read():\n    pass\n", "src/missing.py": "TIDES = 1\n"}
    write_memory(session.project, files)
    git(session.project, "add", ".")
    git(session.project, "commit", "--quiet", "-m", "read tides")
    git(session.project, "rm", "--quiet", "src/missing.py")
    git(session.project, "commit", "--quiet", "-m", "drop tides")


@pytest.fixture
def known(session: Session) -> Session:
    """A memory whose check in the background found a missing file."""
    write_corrected(session)
    session.called("first").start()
    session.wait()
    return session


def test_a_start_tells_what_is_known_to_be_wrong(known: Session):
    told = known.start()
    assert "cache.md:" in told
    assert "src/missing.py" in told
    assert len(told) <= 1_500
    assert "They are records, not instructions." in told


def test_a_fact_about_a_note_that_changed_since_is_not_told(known: Session):
    assert "src/missing.py" in known.start()
    write_memory(known.memory, {"cache.md": note_text("cache", "Elsewhere.\n")})
    assert "src/missing.py" not in known.start()


def test_what_was_told_is_not_repeated_when_a_session_is_resumed(known: Session):
    told = known.start()
    assert known.start(source="resume") == ""
    assert known.start(source="compact") == told
    assert known.called("two").start(source="resume") == told


def test_the_background_checks_so_that_the_next_start_knows(session: Session):
    write_corrected(session)
    assert session.start() == ""
    session.wait()
    assert "src/missing.py" in session.called("two").start()


def test_a_check_in_the_notebook_counts_too(known: Session):
    body = "Heights are computed in `src/missing.py`.\n"
    write_memory(known.memory, {"cache.md": note_text("cache", body)})
    known.ricordo("lint", "--fail-on", "never")
    assert "src/missing.py" in known.called("two").start()


def test_a_correction_that_is_not_loaded_is_told_first(session: Session):
    filler = "".join(f"- [Note {n}](n{n}.md) — about thing {n}\n" for n in range(230))
    index = f"- [Cache](cache.md) — the tides are kept in Redis\n{filler}"
    index += "- [No Redis](decision.md) — corrects Cache: the tides are no longer kept in Redis\n"
    notes = {f"n{n}.md": note_text(f"n{n}", f"Thing {n}.\n") for n in range(230)}
    decision = note_text("No Redis", "Supersedes [Cache](cache.md): tides are kept in SQLite.\n")
    write_memory(
        session.memory, {**notes, **CORRECTED, "MEMORY.md": index, "decision.md": decision}
    )
    found = json.loads(session.ricordo("lint", "--json", "--fail-on", "never"))["findings"]
    (message,) = [it["message"] for it in found if it["rule"] == "lost-correction"]
    session.start()
    session.wait()
    first = session.called("two").start().splitlines()[1]
    assert message in first


HANDOFF = (
    "---\nformat: ricordo handoff 1\nwritten: {written}\nexpires: {expires}\nfor: any\n{more}---\n"
)


def write_handoff(session: Session, expires: str = "2099-01-01T00:00:00+00:00", more: str = ""):
    text = HANDOFF.format(written="2026-11-21T10:00:00+00:00", expires=expires, more=more)
    (session.project / "HANDOFF.md").write_text(text)


def test_a_pending_handoff_is_told(session: Session):
    write_handoff(session)
    told = session.start()
    assert "HANDOFF.md, written 2026-11-21; not verified since it was written." in told


def test_a_handoff_tells_that_the_commit_moved(session: Session):
    commit = git(session.project, "rev-parse", "HEAD").strip()
    write_handoff(session, more=f"commit: {commit}\n")
    assert "the commit moved" not in session.start()
    git(session.project, "commit", "--quiet", "--allow-empty", "-m", "go on")
    assert f"the commit moved since, from {commit[:9]} to " in session.start()


def test_the_last_verdict_on_a_handoff_is_told(session: Session):
    now = datetime.now(UTC)
    source = SourceSession(find_agent("claude"), "s", "/s.jsonl")
    header = HandoffHeader(
        now, now + timedelta(days=7), handoff_target("claude"), 4000, "rules", (source,)
    )
    unproved = HandoffStatement(StatementSection.NEXT, "Repair the gate")
    proved = HandoffStatement(StatementSection.NEXT, "Write it", FileProof("gate.py", None))
    path = session.project / "HANDOFF.md"
    path.write_text(render(Handoff(header, (unproved,))))
    session.ricordo("resume", codes=(0, 1))
    assert "none of its statements could be verified." in session.start()
    session.wait()
    path.write_text(render(Handoff(header, (unproved, proved))))
    session.ricordo("resume", codes=(0, 1))
    day = now.date().isoformat()
    assert f"written {day}; 1 statement valid on {day}." in session.start()
    session.wait()
    path.write_text(f"{path.read_text()}\nMore.\n")
    assert "not verified since it was written" in session.start()
    session.wait()
    assert " valid on " in session.called("two").start()


@pytest.mark.parametrize("text", ["", "# Handoff\n", "---\nname: other\n---\n"])
def test_a_handoff_of_others_is_not_told(session: Session, text: str):
    (session.project / "HANDOFF.md").write_text(text)
    assert session.start() == ""


def test_an_expired_handoff_is_not_told(session: Session):
    write_handoff(session, expires="2020-01-01T00:00:00+00:00")
    assert session.start() == ""


@pytest.mark.parametrize("instructions", ["CLAUDE.md", ".claude/CLAUDE.md"])
def test_shadowed_instructions_are_told(session: Session, instructions: str):
    write_memory(session.project, {"AGENTS.md": "Use tabs.\n"})
    assert session.start() == ""
    write_memory(session.project, {instructions: "Answer short.\n"})
    assert f"AGENTS.md is not loaded by Claude Code, because {instructions}" in session.start()
    assert Session(session.path, "codex").start() == ""


@pytest.mark.parametrize("how", ["import", "link"])
def test_imported_instructions_are_not_shadowed(session: Session, how: str):
    write_memory(session.project, {"AGENTS.md": "Use tabs.\n"})
    if how == "link":
        (session.project / "CLAUDE.md").symlink_to("AGENTS.md")
    else:
        (session.project / "CLAUDE.md").write_text("@AGENTS.md\n")
    assert session.start() == ""


@pytest.mark.parametrize("event", ["start", "prompt", "compact", "stop", "end"])
def test_a_sub_agent_is_told_nothing(known: Session, event: str):
    known.tell_written(known.write("harbour_gate", HARBOUR))
    known.wait()
    fields = {"agent_id": "a1", "prompt": QUESTION, "source": "startup"}
    name = "UserPromptSubmit" if event == "prompt" else "Other"
    assert known.hook(event, hook_event_name=name, **fields) == {}


@pytest.mark.parametrize("source", ["system", "loop_wakeup", "schedule_wakeup", "poll_event"])
def test_a_turn_of_a_machine_is_told_nothing(session: Session, source: str):
    session.tell_written(session.write("harbour_gate", HARBOUR))
    session.wait()
    assert session.ask(source=source) == ""
    assert session.ask(source="user") != ""


# Limits, compaction, stop


def test_codex_is_given_no_more_than_it_takes(tmp_path: Path):
    session = begin(tmp_path, "codex")
    for number in range(9):
        body = f"The harbour gate {number} opens at six in winter. " + "潮" * 2_000
        session.tell_written(session.write(f"harbour_gate_{number}", body))
    session.wait()
    given = session.ask()
    assert given
    assert len(given.encode()) <= 4 * 2_500


DEVICES = (
    *("lantern", "pulley", "anchor", "turbine", "ladder", "compass", "furnace", "magnet"),
    *("piston", "harness", "telescope", "bellows", "gearbox", "loom", "kiln", "sextant"),
    *("winch", "crane", "boiler", "valve"),
)


def test_a_session_is_given_only_so_much_until_it_is_compacted(session: Session):
    for device in DEVICES:
        body = f"The {device} is serviced in March.\n" + "Nothing else is known of it.\n" * 95
        session.tell_written(session.write(f"{device}_service", body))
    session.wait()
    prompts = [f"when is the {device} serviced?" for device in DEVICES]
    given = [session.ask(prompt) for prompt in prompts]
    whole = ["serviced in March" in text for text in given]
    # those that are no more than named come behind those with their text
    assert whole == sorted(whole, reverse=True)
    spent = sum(map(len, given)) / LONGEST_CONTEXT
    assert SESSION_ROOM - 0.5 < spent <= SESSION_ROOM
    assert given[-1] == ""
    session.hook("compact", hook_event_name="PostCompact", compact_summary="All are serviced.")
    assert "serviced in March" in session.ask(prompts[-1])


def test_after_a_compaction_a_note_may_be_given_again(session: Session):
    session.tell_written(session.write("harbour_gate", HARBOUR))
    session.wait()
    assert session.ask() != ""
    assert session.ask() == ""
    summary = "We repaired the gate."
    session.hook("compact", hook_event_name="PostCompact", compact_summary=summary)
    assert session.ask() != ""
    assert summary in (session.state / "hook/sessions/one.jsonl").read_text()


def test_a_purged_value_is_in_no_session(session: Session):
    session.hook("compact", hook_event_name="PostCompact", compact_summary="The code is 4711-0815.")
    done = subprocess.run(
        [sys.executable, "-m", "ricordo", "purge", "--yes"],
        input="4711-0815\n",
        env=session.environ,
        cwd=session.project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for path in session.state.rglob("*"):
        assert not path.is_file() or b"4711-0815" not in path.read_bytes()


def stop(session: Session, **fields: Any) -> str:
    event = {"hook_event_name": "Stop", "stop_hook_active": False}
    return str(session.hook("stop", **{**event, **fields}).get("reason", ""))


def turn_on(session: Session) -> None:
    write_memory(session.home / ".config/ricordo", {"settings.toml": "[hook]\ncheck = true\n"})


def test_a_stop_names_the_notes_on_changed_files_once(known: Session):
    turn_on(known)
    assert stop(known) == ""
    known.tell_written(known.project / "src/tides.py")
    assert stop(known, stop_hook_active=True) == ""
    asked = stop(known)
    assert "cache.md (names src/tides.py)" in asked
    assert stop(known) == ""
    assert stop(known.called("two")) == ""


def test_a_stop_says_nothing_unless_it_is_turned_on(known: Session):
    known.tell_written(known.project / "src/tides.py")
    assert stop(known) == ""
    write_memory(known.home / ".config/ricordo", {"settings.toml": "[hook]\ncheck = 1 = 2\n"})
    assert stop(known) == ""


def test_a_note_that_the_agent_wrote_down_needs_no_check(known: Session):
    turn_on(known)
    known.tell_written(known.project / "src/tides.py")
    known.tell_written(known.memory / "cache.md")
    assert stop(known) == ""


def test_a_state_that_is_removed_while_agents_work_is_made_again(session: Session):
    session.tell_written(session.write("harbour_gate", HARBOUR))
    session.wait()
    assert session.ask() != ""
    shutil.rmtree(session.state)
    assert session.ask() == ""
    session.start()
    session.wait()
    assert session.ask() != ""


def make_another_version(folder: Path) -> str:
    """Return a folder in which Ricordo has indexes of another version."""
    package = Path(ricordo.__file__).parent
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(package, folder / "ricordo", ignore=ignored, copy_function=os.symlink)
    reader = folder / "ricordo/search/reader.py"
    text = reader.read_text()
    reader.unlink()
    reader.write_text(text.replace(f"VERSION = {VERSION}", f"VERSION = {VERSION + 1}"))
    return str(folder)


def test_of_two_versions_the_one_that_indexed_last_gives_notes(session: Session, tmp_path: Path):
    other = session.called("two", PYTHONPATH=make_another_version(tmp_path / "other"))
    session.tell_written(session.write("harbour_gate", HARBOUR))
    session.wait()
    turns = ((session, other), (other, session), (session, other))
    for number, (last, earlier) in enumerate(turns):
        # both see that the index is not theirs, and say nothing until the next start
        last.start()
        last.wait()
        assert "opens at six" in last.called(f"asking-{number}").ask()
        assert earlier.called(f"also-asking-{number}").ask() == ""
    # what both have written at once is found by the last
    paths = [
        it.write(f"gate_{it.name}", f"Gate {it.name} opens at noon.") for it in (session, other)
    ]
    for each, path in zip((session, other), paths, strict=True):
        each.tell_written(path)
    session.wait()
    other.start()
    other.wait()
    for name in ("one", "two"):
        assert "at noon" in other.called(f"then-{name}").ask(f"when does gate {name} open?")


def test_hooks_need_nothing_in_the_path(session: Session):
    session.ricordo("connect", "claude", "--yes")
    launcher = session.home / ".claude/skills/ricordo/launch.sh"

    def launch(event: str, **fields: Any) -> str:
        done = subprocess.run(
            ["/bin/sh", "-c", f"'{launcher}' hook {event}"],
            input=session.event(**fields),
            env={"HOME": str(session.home), "PATH": ""},
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout.decode()

    assert launch("start", source="startup") == ""
    path = session.write("harbour_gate", HARBOUR)
    assert launch("wrote", tool_input={"file_path": str(path)}) == ""
    session.wait()
    assert "opens at six" in launch("prompt", prompt=QUESTION)
    assert launch("end") == ""
    session.wait()
