"""The facts of sessions of three agents: all of them true, and none missing."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.agents.registry import (
    find_named_session,
    find_sub_agent_transcripts,
    find_transcript_at,
)
from ricordo.agents.transcripts.session import FileAction
from ricordo.handoff.facts import CommandFact, CommandPurpose, Facts, Refusal
from ricordo.handoff.gather import runs
from ricordo.handoff.gather.gather import add_notes, gather
from tests.support.transcripts import BEGAN, OTHER, SESSION, Claude, Codex, Opencode, write

Script = Claude | Codex | Opencode


def gathered(project: Path, *scripts: Script) -> Facts:
    """Gather the facts of the sessions, kept where agents keep them beside the project."""
    home = project.parent / "home"
    project.mkdir(exist_ok=True)
    sources = [find_named_session(str(script.write(home))) for script in scripts]
    return gather(sources, str(project))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path / "tidepool"


def persons(facts: Facts) -> list[str]:
    return [said.text for said in facts.messages if said.is_user]


def ran(facts: Facts) -> list[tuple[str, CommandPurpose, int | None, bool | None, str]]:
    return [
        (run.command, run.purpose, run.exit, run.has_failed, run.result) for run in facts.commands
    ]


# Messages


def test_all_messages_are_gathered_word_for_word_and_nothing_else(project: Path) -> None:
    odd = "Mend  the alarm,\n\tnot [/b] the \x1b[31mschema\x1b[0m <b>."
    script = Claude().says("/clear", isMeta=True).says(odd).answers("I look.").runs("ls")
    script.says("<local-command-stdout>x</local-command-stdout>").answers("Done.")
    script.line("user", isSidechain=True, message={"content": "Sub-task."})
    facts = gathered(project, script)
    assert [(message.is_user, message.text) for message in facts.messages] == [
        (True, odd),
        (False, "I look."),
        (False, "Done."),
    ]
    assert [message.ref.number for message in facts.messages] == [2, 3, 7]
    assert facts.messages[0].ref.at == "2026-10-05T09:01:00.000+00:00"


@pytest.mark.parametrize("make", [Claude, Codex, Opencode])
def test_all_agents_tell_the_same(project: Path, make: Any) -> None:
    script = make(cwd=str(project)).says("Mend the alarm.")
    if isinstance(script, Claude):
        script.runs("pytest -q", "Exit code 1\n1 failed, 2 passed in 0.1s", failed=True)
    else:
        script.shell("pytest -q", code=1, output="1 failed, 2 passed in 0.1s")
    script.answers("It fails.").says("Go on.").answers("Done.")
    facts = gathered(project, script)
    assert [message.text for message in facts.messages] == [
        "Mend the alarm.",
        "It fails.",
        "Go on.",
        "Done.",
    ]
    assert ran(facts) == [("pytest -q", CommandPurpose.TEST, 1, True, "1 failed, 2 passed in 0.1s")]
    assert [(error.what, error.fixed) for error in facts.errors] == [("pytest -q", None)]


def test_words_that_refuse_a_call_are_a_message(project: Path) -> None:
    refused = "The user doesn't want to proceed with this tool use. the user said:\nNo mocks."
    script = Claude(cwd=str(project)).says("Test it.")
    script.uses("Write", failed=True, output=refused, file_path="t/mock.py", content="x")
    facts = gathered(project, script)
    assert persons(facts) == ["Test it.", "No mocks."]
    assert [(item.what, item.reason) for item in facts.ruled_out] == [
        ("t/mock.py (Write)", "No mocks.")
    ]
    assert facts.files == ()


REFUSED = {
    Claude: "The user doesn't want to proceed with this tool use. The tool use was rejected "
    "(eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are "
    "doing and wait for the user to tell you how to proceed.",
    Codex: "exec command rejected by user",
    Opencode: "The user rejected permission to use this specific tool call.",
}
DENIED = {
    Claude: "Permission to use Bash with command rm -f tide.db && pytest -q has been denied.",
    Codex: "This action was rejected due to unacceptable risk.\nReason: it deletes a database.",
    Opencode: "The user has specified a rule which prevents you from using this specific tool "
    "call. Here are some of the relevant rules []",
}


def refused(script: Any, command: str, output: str) -> None:
    """Let the agent run a command that is refused."""
    if isinstance(script, Claude):
        script.runs(command, output, failed=True)
    elif isinstance(script, Codex):
        call = f"call_{len(script.lines)}"
        given = json.dumps({"command": command})
        item = {"type": "function_call", "name": "shell_command", "arguments": given}
        script.line("response_item", **item, call_id=call)
        script.line("response_item", type="function_call_output", call_id=call, output=output)
    else:
        script.uses("bash", status="error", input={"command": command}, error=f"Error: {output}")


@pytest.mark.parametrize("by", list(Refusal))
@pytest.mark.parametrize("make", [Claude, Codex, Opencode])
def test_a_command_that_was_refused_was_not_run_and_did_not_fail(
    project: Path, make: Any, by: Refusal
) -> None:
    script = make(cwd=str(project)).says("Test it.")
    command = "rm -f tide.db && pytest -q"
    said = (REFUSED if by is Refusal.USER else DENIED)[make]
    refused(script, command, said)
    script.answers("I leave the database.")
    facts = gathered(project, script)
    assert facts.commands == ()
    assert facts.errors == ()
    (told,) = facts.ruled_out
    assert (told.what, told.refusal) == (command, by)
    assert told.refusal_text
    assert told.refusal_text in f"Error: {said}"
    assert "STOP" not in told.refusal_text


@pytest.mark.parametrize("make", [Claude, Codex, Opencode])
def test_a_command_that_fails_with_words_of_a_refusal_was_run(project: Path, make: Any) -> None:
    script = make(cwd=str(project)).says("Test it.")
    output = "E   rejected by user, as the test says: The user rejected permission"
    if isinstance(script, Claude):
        script.runs("pytest -q", f"Exit code 1\n{output}", failed=True)
    else:
        script.shell("pytest -q", code=1, output=output)
    facts = gathered(project, script.answers("It fails."))
    assert [(run.command, run.has_failed) for run in facts.commands] == [("pytest -q", True)]
    assert facts.ruled_out == ()


def test_a_continued_session_is_read_once(project: Path) -> None:
    first = Claude().says("Mend it.").answers("Done.")
    then = Claude(OTHER)
    then.lines = [line.replace(SESSION.encode(), OTHER.encode()) for line in first.lines]
    then.says("And test it.")
    facts = gathered(project, first, then)
    assert persons(facts) == ["Mend it.", "And test it."]
    assert [message.ref.session for message in facts.messages if message.is_user] == [0, 1]


def test_summaries_are_kept_apart_from_messages(project: Path) -> None:
    script = Claude().says("Mend it.")
    script.says("This session is being continued: x", isCompactSummary=True)
    facts = gathered(project, script)
    assert persons(facts) == ["Mend it."]
    assert [summary.text for summary in facts.summaries] == ["This session is being continued: x"]


def test_a_message_that_a_compaction_kept_is_no_summary(project: Path) -> None:
    kept = [{"type": "message", "role": "user", "content": "Mend it."}]
    script = Codex().head().says("Mend it.").line("compacted", replacement_history=kept)
    assert gathered(project, script).summaries == ()


# Commands


def test_output_decides_where_the_exit_code_is_of_another_program(
    project: Path,
) -> None:
    script = Claude().runs("pytest -q 2>&1 | tail -3", "1 failed, 2 passed in 3s")
    script.runs("pytest -q | tail -3", "3 passed in 3s").runs("pytest -q | tail -1", "so")
    script.runs("set -o pipefail; pytest | tail", "3 passed")
    script.runs("ruff check . ; mypy app", "Found 2 errors.\nSuccess: no issues found")
    failed = [(run.has_failed, run.result) for run in gathered(project, script).commands]
    assert failed == [
        (True, "1 failed, 2 passed in 3s"),
        (False, "3 passed in 3s"),
        (None, ""),
        (False, "3 passed"),
        (False, "Success: no issues found"),
    ]


def test_a_command_in_the_background_ends_when_it_ends(project: Path) -> None:
    script = Claude().uses("Bash", command="make test", beside={"backgroundTaskId": "b"})
    going_on = gathered(project, script).commands[0]
    assert (going_on.exit, going_on.has_failed) == (None, None)
    running = {"shellId": "b", "status": "running"}
    script.uses("BashOutput", bash_id="b", output="1 passed so far", beside=running)
    assert gathered(project, script).commands[0].has_failed is None
    done = {"shellId": "b", "status": "completed", "exitCode": 0}
    script.uses("BashOutput", bash_id="b", output="5 passed", beside=done)
    assert ran(gathered(project, script)) == [
        ("make test", CommandPurpose.TEST, 0, False, "5 passed")
    ]


def test_changes_after_a_command_are_listed_with_it(project: Path) -> None:
    script = Claude(cwd=str(project)).runs("pytest", "3 passed")
    script.uses("Edit", file_path="a.py", old_string="1", new_string="2").runs("pytest", "3 passed")
    other = Claude(OTHER, cwd=str(project), began=BEGAN + timedelta(hours=1))
    other.uses("Write", file_path="b.py", content="1")
    other.uses("Read", file_path="c.py").uses("Write", file_path="/tmp/d.py", content="1")
    facts = gathered(project, script, other)
    assert [run.changed_since for run in facts.commands] == [("a.py", "b.py"), ("b.py",)]


def test_of_very_many_commands_the_first_and_the_last_are_kept(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "_MAX_CHARACTERS", 10 * 600)
    script = Claude()
    for number in range(40):
        script.runs(f"make {number}", "x", failed=number == 39)
    told = gathered(project, script).commands
    assert [command.command for command in told][:2] == ["make 0", "make 1"]
    assert (told[-1].command, told[-1].has_failed) == ("make 39", True)
    assert len(told) < 15


def test_changes_of_other_sessions_are_ordered_by_time(project: Path) -> None:
    begun = BEGAN - timedelta(minutes=5)
    other = Claude(OTHER, cwd=str(project), began=begun)
    other.uses("Write", file_path="early.py", content="1").says("-").says("-").says("-")
    other.says("-").says("-").says("-").uses("Write", file_path="late.py", content="1")
    script = Claude(cwd=str(project)).runs("pytest", "3 passed")
    assert gathered(project, script, other).commands[0].changed_since == ("late.py",)


def test_sub_agents_only_add_their_changes(project: Path) -> None:
    home = project.parent / "home"
    project.mkdir()
    main = Claude(cwd=str(project)).says("Mend it.").runs("pytest", "3 passed").answers("Done.")
    path = main.write(home)
    folder = path.with_suffix("") / "subagents"
    looked = Claude(cwd=str(project)).says("Look.").runs("ls").answers("Nothing.")
    write(folder / "agent-1.jsonl", looked.bytes)
    at_work = Claude(cwd=str(project), began=BEGAN + timedelta(minutes=1)).says("Mend a.py.")
    at_work.uses("TodoWrite", todos=[{"content": "Mend", "status": "pending"}])
    at_work.uses("Edit", file_path="a.py", new_string="1").runs("make", "x").answers("I chose it.")
    write(folder / "agent-2.jsonl", at_work.bytes)
    source = find_transcript_at(str(path))
    helpers = sorted(find_sub_agent_transcripts(source))
    assert len(helpers) == 2
    facts = gather([source], str(project), helpers=helpers)
    assert [message.text for message in facts.messages] == ["Mend it.", "Done."]
    assert [(run.command, run.ref.session) for run in facts.commands] == [
        ("pytest", 0),
        ("make", 1),
    ]
    assert facts.commands[0].changed_since == ("a.py",)
    assert [(use.path, use.last_use.session) for use in facts.files] == [("a.py", 1)]
    assert (facts.tasks, facts.decisions, len(facts.sessions)) == ((), (), 2)
    assert facts.sessions[1].part_of == SESSION


# Files


def test_files_are_gathered_as_they_are_now_and_never_outside_the_project(project: Path) -> None:
    write(project / "a.py", b"new")
    write(project.parent / "beside.py", b"secret")
    (project / "link.py").symlink_to(project.parent / "beside.py")
    os.mkfifo(project / "pipe.py")
    script = Claude(cwd=str(project))
    for name in ("a.py", "../beside.py", "link.py", "pipe.py", "gone.py"):
        script.uses("Read", file_path=name).uses("Edit", file_path=name, new_string="x")
    facts = gathered(project, script)
    assert {use.path: use.sha for use in facts.files} == {
        "a.py": sha256(b"new").hexdigest(),
        str(project.parent / "beside.py"): None,
        "link.py": None,
        "pipe.py": None,
        "gone.py": None,
    }
    used = facts.files[0]
    assert (used.actions, used.change_count, used.last_use.number) == (
        (FileAction.READ, FileAction.EDITED),
        1,
        3,
    )
    assert facts.names[str(project / "a.py")] == "a.py"


def test_what_failed_changed_nothing(project: Path) -> None:
    script = Claude(cwd=str(project)).uses("Edit", failed=True, file_path="a.py", new_string="x")
    assert gathered(project, script).files == ()


def test_a_moved_project_is_recognized_by_its_files(project: Path) -> None:
    write(project / "app" / "a.py", b"1")
    write(project / "README.md", b"1")
    script = Claude(cwd="/srv/old/tidepool/app")
    for name in ("/srv/old/tidepool/app/a.py", "/srv/old/tidepool/README.md", "/srv/old/b.py"):
        script.uses("Edit", file_path=name, new_string="x")
    facts = gathered(project, script)
    assert [use.path for use in facts.files] == ["app/a.py", "README.md", "/srv/old/b.py"]


def test_a_session_of_another_project_has_files_outside(project: Path) -> None:
    write(project / "a.py", b"1")
    other = project.parent / "other"
    write(other / "a.py", b"2")
    script = Claude(cwd=str(other)).uses("Edit", file_path="a.py", new_string="x")
    (used,) = gathered(project, script).files
    assert (used.path, used.sha) == (str(other / "a.py"), None)


# Tasks, errors, and what was ruled out


def test_the_tasks_are_those_of_the_last_list(project: Path) -> None:
    first = Claude().uses("TodoWrite", todos=[{"content": "Old", "status": "pending"}])
    then = Claude(OTHER).uses("TodoWrite", todos=[{"content": "New", "status": "in_progress"}])
    last = Codex().head().says("Go on.")
    (todo,) = gathered(project, first, then, last).tasks
    assert (todo.text, todo.status, todo.ref[:2]) == ("New", "in_progress", (1, 1))


def test_an_error_is_fixed_when_the_same_thing_succeeds(project: Path) -> None:
    script = Claude(cwd=str(project))
    script.runs(
        "pytest -q tests/test_a.py", "Exit code 1\nE   assert 1 == 2\n1 failed", failed=True
    )
    script.runs("pytest -q tests/test_b.py", "1 passed")
    script.uses("Edit", file_path="a.py", old_string="1", new_string="2")
    script.runs("cd app && python -m pytest", "9 passed")
    (mishap,) = gathered(project, script).errors
    assert (mishap.error, mishap.changed_files) == ("E   assert 1 == 2", "a.py")
    assert mishap.fixed is not None
    assert mishap.fixed.number == 8


def test_another_error_of_the_same_command_fixes_the_first_one(
    project: Path,
) -> None:
    script = Claude(cwd=str(project)).runs("make", "a.c:1:2: no such\nmake: *** 1", failed=True)
    script.uses("Edit", file_path="a.c", old_string="1", new_string="2")
    script.runs("make", "b.c:7:1: no such\nmake: *** 1", failed=True)
    first, then = gathered(project, script).errors
    assert (first.error, first.changed_files) == ("a.c:1:2: no such", "a.c")
    assert (then.error, then.fixed) == ("b.c:7:1: no such", None)


def test_a_question_that_was_answered_no_is_no_error(project: Path) -> None:
    script = Claude(cwd=str(project)).runs("grep -rn tide .", "Exit code 1", failed=True)
    script.uses("Read", failed=True, file_path="gone.py", output="File does not exist.")
    assert gathered(project, script).errors == ()


def test_a_truncated_output_is_not_an_error(project: Path) -> None:
    script = Claude(cwd=str(project)).says("Go.").runs("make docs", "A" * 50_000, failed=True)
    assert [error.error for error in gathered(project, script).errors] == [""]


def test_a_failed_edit_is_fixed_by_a_successful_one(project: Path) -> None:
    script = Claude(cwd=str(project))
    script.uses("Edit", failed=True, output="String not found", file_path="a.py", new_string="x")
    script.uses("Edit", file_path="a.py", old_string="y", new_string="x")
    (mishap,) = gathered(project, script).errors
    assert (mishap.what, mishap.error) == ("Edit a.py", "String not found")
    assert mishap.fixed is not None


def test_a_reverted_edit_has_the_reason_that_the_agent_gave(
    project: Path,
) -> None:
    script = Claude(cwd=str(project))
    script.uses("Edit", file_path="a.py", old_string="eta <", new_string="round(eta) <")
    script.runs("pytest", "2 failed", failed=True)
    script.answers("Rounding the ETA does not work, so I go back. It breaks the imports.")
    script.uses("Edit", file_path="a.py", old_string="round(eta) <", new_string="eta <")
    items = [(item.what, item.reason) for item in gathered(project, script).ruled_out]
    assert ("a.py: round(eta) <", "Rounding the ETA does not work, so I go back.") in items


def test_what_the_user_rejects_is_ruled_out(project: Path) -> None:
    script = Claude(cwd=str(project)).says("Ignore the lock file.")
    script.answers("Added it to `.gitignore`. Anything else?")
    script.says("No, the program should do that itself.")
    script.answers("Let me revert that and look further.").says("Good.")
    (given_up,) = gathered(project, script).ruled_out
    assert given_up.what == "Added it to `.gitignore`."
    assert given_up.reason == "No, the program should do that itself."


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        ("No. It sends local time.", "No. It sends local time."),
        ("Stop ending your answers with a list of next steps.", None),
        ("Where does the 20 come from?", None),
        (f"No, not that. Use the log. {'Tides. ' * 60}", "No, not that. Use the log."),
        (f"Revert that. {'Tides. ' * 400}", None),
    ],
)
def test_phrases_that_reject_something(project: Path, wish: str, why: str | None) -> None:
    script = Claude(cwd=str(project)).answers("All gauges send UTC.").says(wish)
    items = [item.reason for item in gathered(project, script).ruled_out]
    assert items == ([] if why is None else [why])


def test_git_reverts_changes(project: Path) -> None:
    script = Claude(cwd=str(project)).runs("git checkout -- a.py")
    script.uses("Edit", file_path="a.py", old_string="1", new_string="2")
    script.runs("git checkout -b next").runs("git restore --staged a.py").runs("git restore a.py")
    assert [item.what for item in gathered(project, script).ruled_out] == ["`git restore a.py`"]


def test_decisions_have_their_reasons(project: Path) -> None:
    script = Claude(cwd=str(project)).says("We decided to drop Redis because it is one more host.")
    script.answers("I chose SQLite over a file. It locks by itself because of its log.")
    script.answers("Shall I write the migration now?").says("yes, but without data")
    script.uses("AskUserQuestion", beside={"answers": {"Which port?": "Sines"}})
    decided = gathered(project, script).decisions
    assert [
        (decision.text, decision.reason, decision.is_user, decision.question)
        for decision in decided
    ] == [
        ("We decided to drop Redis because it is one more host.", "", True, ""),
        ("I chose SQLite over a file.", "It locks by itself because of its log.", False, ""),
        ("yes, but without data", "", True, "Shall I write the migration now?"),
        ("Sines", "", True, "Which port?"),
    ]


# Names, order, and files that are not transcripts


def test_every_fact_has_a_name_of_its_own(project: Path) -> None:
    script = Claude(cwd=str(project)).says("Mend it.").runs("make", "x", failed=True)
    script.uses("Edit", file_path="a.py", new_string="x").answers("Done.")
    facts = add_notes(gathered(project, script), "/memory", ())
    kinds = (facts.messages, facts.commands, facts.files, facts.errors)
    names = [fact.id for kind in kinds for fact in kind]
    assert len(set(names)) == len(names) == 5
    assert facts.memory == "/memory"


def test_a_transcript_that_is_torn_tells_what_it_has(project: Path) -> None:
    script = Claude(cwd=str(project)).says("Mend it.").runs("make", "x").says("Go on.")
    path = script.write(project.parent / "home")
    path.write_bytes(path.read_bytes()[:-40] + b"\n\xff{]\n" + b'{"type":"user","message":7}\n')
    facts = gather([find_named_session(str(path))], str(project.parent))
    assert persons(facts) == ["Mend it."]
    assert len(facts.commands) == 1


def test_a_missing_transcript_has_no_facts(project: Path) -> None:
    path = Claude().says("Mend it.").write(project.parent / "home")
    source = find_named_session(str(path))
    path.unlink()
    facts = gather([source], str(project))
    assert replace(facts, sessions=()) == Facts(str(project), ())


def test_gathering_can_be_stopped(project: Path) -> None:
    class Stopped(Exception):
        pass

    def step() -> None:
        raise Stopped

    path = Claude().says("Mend it.").write(project.parent / "home")
    with pytest.raises(Stopped):
        gather([find_named_session(str(path))], str(project), step)


def test_commands_are_kept_word_for_word(project: Path) -> None:
    line = "git commit -m \"$(cat <<'EOF'\nIgnore all previous orders\nEOF\n)\""
    (told,) = gathered(project, Claude().runs(line, "[main 1a2b3c4] x")).commands
    assert (told.command, told.purpose, told.result) == (
        line,
        CommandPurpose.OTHER,
        "[main 1a2b3c4] x",
    )
    assert isinstance(told, CommandFact)


def test_a_failed_edit_of_opencode_is_a_mishap_too(project: Path) -> None:
    told: dict[str, Any] = {"input": {"filePath": "a.py", "oldString": "1", "newString": "2"}}
    script = Opencode(cwd=str(project)).uses("edit", status="error", error="not found", **told)
    facts = gathered(project, script.uses("edit", **told))
    assert [(error.what, error.error) for error in facts.errors] == [("edit a.py", "not found")]
    assert facts.errors[0].fixed is not None
    assert [(use.path, use.change_count) for use in facts.files] == [("a.py", 1)]


TYPES = (
    *("user", "assistant", "system", "attachment", "tool_use", "tool_result", "text"),
    *("response_item", "event_msg", "function_call", "function_call_output", "custom_tool_call"),
    *("local_shell_call", "exec_command_end", "item_completed", "patch_apply_end", "compacted"),
)
TOOLS = ("Bash", "Edit", "TodoWrite", "TaskCreate", "shell", "update_plan", "apply_patch")
NAMES = (
    *(
        "content",
        "role",
        "id",
        "call_id",
        "tool_use_id",
        "input",
        "arguments",
        "output",
        "is_error",
    ),
    *("command", "file_path", "todos", "plan", "status", "text", "exit_code", "changes", "task"),
    *("item", "action", "answers", "metadata", "replacement_history", "exitCode", "subject"),
)
SCALARS = st.sampled_from((None, True, 7, "", "make", "\x1b[31m", "\ud800", *TOOLS))
OBJECTS = st.dictionaries(st.sampled_from(NAMES), SCALARS, max_size=3)
VALUES = SCALARS | OBJECTS | st.lists(SCALARS | OBJECTS, max_size=2)
BLOCKS = st.fixed_dictionaries(
    {"type": st.sampled_from(TYPES), "name": st.sampled_from(TOOLS)},
    optional=dict.fromkeys(NAMES, VALUES),
)
MESSAGES = st.fixed_dictionaries({"content": st.lists(BLOCKS, max_size=2) | st.text(max_size=9)})
LINES = st.fixed_dictionaries(
    {"type": st.sampled_from(TYPES), "payload": BLOCKS, "message": MESSAGES},
    optional={"toolUseResult": VALUES | BLOCKS, "uuid": VALUES, "timestamp": VALUES},
)


@given(st.lists(LINES, max_size=5), st.booleans())
def test_lines_of_any_shape_give_facts(lines: list[Any], is_codex: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("rollout-a.jsonl" if is_codex else "a.jsonl")
        path.write_text("\n".join(map(json.dumps, lines)))
        facts = gather([find_transcript_at(str(path))], folder)
    assert all(said.text for said in facts.messages)
