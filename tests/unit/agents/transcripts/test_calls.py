"""Which tools were called, and how each call ended: the same for all agents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ricordo.agents.opencode.transcript import OpencodeTranscript, read_sessions_at
from ricordo.agents.registry import find_agent, open_transcript
from ricordo.agents.transcripts.session import (
    CallResult,
    Message,
    Noise,
    Speaker,
    TaskList,
    ToolCall,
)
from ricordo.agents.transcripts.sources import TranscriptSource
from tests.support.transcripts import CWD, Claude, Codex, Opencode, write


def claude(folder: Path, script: Claude) -> list[Message]:
    path = write(folder / f"{script.session}.jsonl", script.bytes)
    return list(open_transcript(TranscriptSource(find_agent("claude"), str(path))).messages())


def codex(folder: Path, script: Codex) -> list[Message]:
    return list(
        open_transcript(
            TranscriptSource(
                find_agent("codex"), str(write(folder / "rollout-a.jsonl", script.bytes))
            )
        ).messages()
    )


def endings(turns: list[Message]) -> list[CallResult]:
    return [ending for turn in turns for ending in turn.results]


def calls(turns: list[Message]) -> list[ToolCall]:
    return [call for turn in turns for call in turn.calls]


def listed(turns: list[Message]) -> list[tuple[str, str]]:
    """The tasks as they stand at the end."""
    tasks = TaskList()
    for turn in turns:
        for call in turn.calls:
            tasks.apply_call(call, turn.place.line)
        for ending in turn.results:
            tasks.apply_result(ending)
    return [(task.text, task.status) for task in tasks.tasks]


# Claude Code


@pytest.mark.parametrize(
    ("told", "has_failed", "code"),
    [
        ({"output": "3 passed"}, False, None),
        ({"output": "Exit code 1\n1 failed", "failed": True}, True, 1),
        ({"output": "Error: Exit code 127\nno such", "failed": True}, True, 127),
        ({"output": "Exit code 1 is what it says"}, False, None),
        ({"output": "<tool_use_error>no</tool_use_error>", "failed": True}, True, None),
        ({"beside": {"stdout": "", "interrupted": True}}, None, None),
        ({"beside": {"backgroundTaskId": "b1"}}, None, None),
        ({"beside": {"task": {"status": "completed", "exitCode": 3}}}, True, 3),
        ({"beside": {"exitCode": False}}, False, None),
        ({"output": "Exit code -1073741510\n", "failed": True}, True, -1073741510),
        ({"beside": {"shellId": "b1", "status": "running", "exitCode": None}}, None, None),
        ({"beside": {"shellId": "b1", "status": "killed"}}, None, None),
        ({"beside": {"shellId": "b1", "status": "completed", "exitCode": 0}}, False, 0),
    ],
)
def test_how_a_command_of_claude_ended(
    tmp_path: Path, told: dict[str, Any], has_failed: bool | None, code: int | None
) -> None:
    turns = claude(tmp_path, Claude().uses("Bash", "a", command="pytest -q", **told))
    (call,), (ending,) = calls(turns), endings(turns)
    assert (call.id, call.tool, call.command) == ("a", "Bash", "pytest -q")
    assert (ending.call, ending.has_failed, ending.exit) == ("a", has_failed, code)


def test_the_output_of_a_background_command_comes_later(tmp_path: Path) -> None:
    script = Claude().uses("Bash", "a", command="make", beside={"backgroundTaskId": "b1"})
    script.uses("BashOutput", "b", bash_id="b1", beside={"exitCode": 2})
    turns = claude(tmp_path, script)
    assert [it.process for it in calls(turns)] == ["", "b1"]
    assert [(it.process, it.exit) for it in endings(turns)] == [("b1", None), ("", 2)]


@pytest.mark.parametrize(
    ("status", "summary", "has_failed", "code"),
    [
        ("completed", 'Background command "make" completed (exit code 0)', False, 0),
        ("failed", 'Background command "make" failed with exit code 143', True, 143),
        ("completed", "done", False, None),
        ("killed", "stopped", None, None),
    ],
)
def test_a_notice_has_the_result_of_a_background_command(
    tmp_path: Path, status: str, summary: str, has_failed: bool | None, code: int | None
) -> None:
    script = Claude().uses("Bash", "a", command="make", beside={"backgroundTaskId": "b1"})
    script.says(
        "<task-notification>\n<task-id>b1</task-id>\n<tool-use-id>a</tool-use-id>\n"
        f"<status>{status}</status>\n<summary>{summary}</summary>\n</task-notification>"
    )
    turns = claude(tmp_path, script)
    assert calls(turns)[-1].process == "b1"
    ending = endings(turns)[-1]
    assert ending.call == calls(turns)[-1].id
    assert (ending.has_failed, ending.exit) == (has_failed, code)


def test_a_notice_that_the_user_quotes_is_no_result(tmp_path: Path) -> None:
    text = "I saw <task-notification><task-id>b1</task-id></task-notification>, what is it?"
    assert calls(claude(tmp_path, Claude().says(text))) == []


def test_the_words_with_which_the_user_rejected_a_call_are_read(tmp_path: Path) -> None:
    said = (
        "The user doesn't want to proceed with this tool use. The tool use was rejected. "
        "To tell you how to proceed, the user said:\nUse the helper instead."
        "\n\nNote: The user's next message may contain a correction or preference."
    )
    asked = f"{said.partition('.')[0]}. the user said:\nThe user wants to clarify these questions."
    script = Claude().uses("Write", failed=True, output=said, file_path="a.py", content="")
    script.uses("AskUserQuestion", failed=True, output=asked)
    script.runs("ls", "The user said no.", failed=True)
    told = [(it.is_rejected, it.user_words) for it in endings(claude(tmp_path, script))]
    assert told == [(True, "Use the helper instead."), (True, ""), (False, "")]


@pytest.mark.parametrize(
    ("words", "said"),
    [("", []), ("  ", []), (" add the\nalarm ", ["/feature add the\nalarm"])],
)
def test_words_behind_a_slash_command_are_of_the_user(
    tmp_path: Path, words: str, said: list[str]
) -> None:
    text = (
        "<command-message>feature is running</command-message>\n"
        f"<command-name>/feature</command-name>\n<command-args>{words}</command-args>"
    )
    turns = claude(tmp_path, Claude().says(text))
    assert [turn.text for turn in turns if turn.is_spoken and turn.who is Speaker.USER] == said


def test_answers_to_questions_of_a_tool_are_read(tmp_path: Path) -> None:
    answers = {"Which port?": "Sines", "Why?": 7}
    script = Claude().uses("AskUserQuestion", beside={"answers": answers})
    assert endings(claude(tmp_path, script))[0].answers == (("Which port?", "Sines"),)


def test_of_a_long_output_both_ends_are_kept(tmp_path: Path) -> None:
    output = "begin " + "x" * 100_000 + " end"
    (ending,) = endings(claude(tmp_path, Claude().runs("make", output)))
    assert ending.output.startswith("begin ")
    assert ending.output.endswith(" end")
    assert len(ending.output) < 20_000


def test_a_list_of_tasks_is_the_one_that_was_written_last(tmp_path: Path) -> None:
    def todo(status: str) -> dict[str, str]:
        return {"content": "Fix the alarm", "status": status}

    script = Claude().uses("TodoWrite", todos=[todo("pending"), {"content": "Ship it"}])
    script.uses("TodoWrite", todos=[todo("completed"), "no task", {"content": " \n"}])
    assert listed(claude(tmp_path, script)) == [("Fix the alarm", "completed")]


def test_tasks_that_are_made_one_by_one_get_their_names_from_the_results(tmp_path: Path) -> None:
    script = Claude()
    script.uses("TaskCreate", subject="Fix the alarm", beside={"task": {"id": "1"}})
    script.uses("TaskCreate", subject="Ship it", beside={"task": {"id": "2"}})
    script.uses("TaskCreate", subject="Refused", failed=True)
    script.uses("TaskUpdate", taskId="1", status="in_progress")
    script.uses("TaskUpdate", taskId="2", status="deleted", subject="Ship it soon")
    script.uses("TaskUpdate", taskId="9", status="completed")
    assert listed(claude(tmp_path, script)) == [
        ("Fix the alarm", "in_progress"),
        ("Ship it soon", "cancelled"),
    ]


def test_the_list_of_a_hostile_transcript_stays_small(tmp_path: Path) -> None:
    script = Claude().uses("TodoWrite", todos=[{"content": str(n)} for n in range(2_000)])
    for number in range(700):
        script.uses("TaskCreate", subject=f"{number}", answered=False)
    assert len(listed(claude(tmp_path, script))) == 500


# Codex


def output(call: str, told: object) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call, "output": told}


@pytest.mark.parametrize(
    ("told", "has_failed", "code"),
    [
        ("Exit code: 0\nWall time: 0.1 seconds\nOutput:\nok", False, 0),
        ("Chunk ID: f0\nWall time: 1.2 seconds\nProcess exited with code 2\nOutput:\n", True, 2),
        (json.dumps({"output": "no", "metadata": {"exit_code": 1}}), True, 1),
        ("Exit code: -1073741510\nOutput:\n", True, -1073741510),
        ("Exit code: 3221225786\nOutput:\n", True, 3221225786),
        ({"type": "input_text", "text": "a.txt"}, False, None),
        ([{"type": "input_text", "text": "a.txt"}], False, None),
        ("Wall time: 9 seconds\nProcess running with session ID 7\nOutput:\n", None, None),
        ("it said: Exit code: 1", False, None),
        ("Wall time: 3.2 seconds\naborted by user", None, None),
        ("aborted by user after 5.0s", None, None),
        ("exec command rejected by user", True, None),
        ("apply_patch verification failed: no such line", True, None),
        ("failed to parse function arguments: missing field", True, None),
    ],
)
def test_how_a_command_of_codex_ended(
    tmp_path: Path, told: object, has_failed: bool | None, code: int | None
) -> None:
    turns = codex(tmp_path, Codex().line("response_item", **output("a", told)))
    (ending,) = endings(turns)
    assert (ending.call, ending.has_failed, ending.exit) == ("a", has_failed, code)


@pytest.mark.parametrize(
    ("item", "command"),
    [
        ({"name": "shell", "arguments": '{"command": ["bash", "-lc", "pytest -q"]}'}, "pytest -q"),
        ({"name": "shell", "arguments": '{"command": ["ls", "a b"]}'}, "ls 'a b'"),
        ({"name": "exec_command", "arguments": '{"cmd": "pytest -q"}'}, "pytest -q"),
        ({"type": "custom_tool_call", "name": "shell", "input": '{"command": ["ls"]}'}, "ls"),
        ({"type": "local_shell_call", "action": {"command": ["ls", "-l"]}}, "ls -l"),
        ({"name": "of_tomorrow", "arguments": '{"command": "ls"}'}, ""),
        ({"name": "shell", "arguments": None}, ""),
    ],
)
def test_the_command_that_codex_runs(tmp_path: Path, item: dict[str, Any], command: str) -> None:
    told = {"type": "function_call", "call_id": "a", **item}
    (call,) = calls(codex(tmp_path, Codex().line("response_item", **told)))
    assert (call.id, call.command) == ("a", command)


def test_the_output_of_a_command_that_codex_waits_for_comes_later(tmp_path: Path) -> None:
    arguments = '{"session_id": 7, "chars": ""}'
    script = Codex().line("response_item", **output("a", "Process running with session ID 7\n"))
    item = {"type": "function_call", "name": "write_stdin", "arguments": arguments}
    turns = codex(tmp_path, script.line("response_item", **item, call_id="b"))
    assert (endings(turns)[0].process, calls(turns)[0].process) == ("7", "7")


def test_commands_in_events_are_read_like_items(tmp_path: Path) -> None:
    words = ["bash", "-lc", "make > log.txt"]
    told = {"command": words, "exit_code": 2, "aggregated_output": "no rule", "cwd": "/srv"}
    script = Codex().line("event_msg", type="exec_command_end", call_id="a", **told)
    item = {"type": "CommandExecution", "id": "b", **told}
    script.line("event_msg", type="item_completed", item=item)
    turns = codex(tmp_path, script)
    assert [(it.id, it.command) for it in calls(turns)] == [("a", words[2]), ("b", words[2])]
    assert [it.path for turn in turns for it in turn.touches] == ["/srv/log.txt"] * 2
    assert [(it.exit, it.output) for it in endings(turns)] == [(2, "no rule")] * 2


def test_a_change_of_files_may_be_an_item(tmp_path: Path) -> None:
    changes = {"/srv/a.py": {"type": "add", "content": "1"}}
    script = Codex()
    for number, status in enumerate(("completed", "failed")):
        item = {"type": "FileChange", "id": f"{number}", "changes": changes, "status": status}
        script.line("event_msg", type="item_completed", item=item)
    done, failed = codex(tmp_path, script)
    assert [(it.call, it.path) for it in done.touches] == [("0", "/srv/a.py")]
    assert (done.succeeded, failed.failed, failed.touches) == ({"0"}, {"1"}, ())


def test_a_plan_is_a_list_of_tasks(tmp_path: Path) -> None:
    plan = [{"step": "Look", "status": "completed"}, {"step": "Mend", "status": "in_progress"}]
    arguments = json.dumps({"explanation": "so", "plan": plan})
    item = {"type": "function_call", "name": "update_plan", "arguments": arguments}
    turns = codex(tmp_path, Codex().line("response_item", **item, call_id="a"))
    assert listed(turns) == [("Look", "completed"), ("Mend", "in_progress")]


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        ({"message": "Done: the alarm."}, "Done: the alarm."),
        ({"message": "", "replacement_history": []}, ""),
        (
            {
                "message": "",
                "replacement_history": [
                    {"type": "message", "role": "user", "content": "Mend it."},
                    {
                        "type": "message",
                        "role": "user",
                        "content": [{"type": "input_text", "text": "Done: the alarm."}],
                    },
                    {"type": "compaction", "encrypted_content": "gAAA"},
                    {"type": "message", "role": "developer", "content": "Be brief."},
                ],
            },
            "Done: the alarm.",
        ),
    ],
)
def test_the_summary_of_a_compaction_of_codex(
    tmp_path: Path, payload: dict[str, Any], text: str
) -> None:
    (turn,) = codex(tmp_path, Codex().line("compacted", **payload))
    assert (turn.who, turn.noise, turn.text) == (Speaker.SYSTEM, Noise.SUMMARY, text)


def test_messages_of_the_user_are_whole_up_to_a_limit(tmp_path: Path) -> None:
    long = f"{CWD} " * 5_000
    (said,) = claude(tmp_path, Claude().says(long))
    assert said.text == long.strip()
    (said,) = claude(tmp_path, Claude().says("x" * 1_000_000))
    assert len(said.text) < 300_000


# opencode


def opencode(folder: Path, script: Opencode) -> list[Message]:
    (kept,) = read_sessions_at(str(script.write(folder)))
    return list(OpencodeTranscript(kept).messages())


REFUSED = (
    "The user rejected permission to use this specific tool call "
    "with the following feedback: use make"
)


@pytest.mark.parametrize(
    ("state", "has_failed", "code", "words"),
    [
        ({"output": "ok", "metadata": {"exit": 0}}, False, 0, ""),
        ({"output": "no", "metadata": {"exit": 2}}, True, 2, ""),
        ({"status": "error", "error": "oldString not found"}, True, None, ""),
        ({"output": "ok", "metadata": {"exit": True}}, False, None, ""),
        ({"output": "ok", "metadata": {"exit": 10**12}}, False, None, ""),
        ({"status": "running"}, None, None, ""),
        ({"status": "error", "error": "Tool execution aborted"}, None, None, ""),
        ({"status": "error", "error": REFUSED}, True, None, "use make"),
    ],
)
def test_how_a_command_of_opencode_ended(
    tmp_path: Path, state: dict[str, Any], has_failed: bool | None, code: int | None, words: str
) -> None:
    script = Opencode().uses("bash", "a", input={"command": "pytest -q"}, **state)
    turns = opencode(tmp_path, script)
    (call,), (ending,) = calls(turns), endings(turns)
    assert (call.id, call.command) == ("a", "pytest -q")
    assert (ending.has_failed, ending.exit, ending.user_words) == (has_failed, code, words)


def test_answers_to_questions_of_opencode_are_read(tmp_path: Path) -> None:
    questions = [{"question": "Which port?"}, {"question": "Which days?"}, {"question": "Why?"}]
    answers = {"answers": [["Sines"], ["Monday", "Friday"], []]}
    script = Opencode().uses("question", input={"questions": questions}, metadata=answers)
    (ending,) = endings(opencode(tmp_path, script))
    assert ending.answers == (("Which port?", "Sines"), ("Which days?", "Monday, Friday"))


def test_a_task_list_of_opencode_is_read(tmp_path: Path) -> None:
    todos = [{"content": "Mend it", "status": "cancelled", "priority": "high", "id": "1"}]
    turns = opencode(tmp_path, Opencode().uses("todowrite", input={"todos": todos}))
    assert listed(turns) == [("Mend it", "cancelled")]
