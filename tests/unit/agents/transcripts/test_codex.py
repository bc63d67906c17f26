"""What the lines of Codex's rollouts become."""

from __future__ import annotations

import json
from pathlib import Path

from ricordo.agents.registry import find_agent, find_transcript_at, open_transcript
from ricordo.agents.support import Transcript
from ricordo.agents.transcripts.session import FileAction, Noise, Speaker
from ricordo.agents.transcripts.sources import TranscriptSource
from tests.support.transcripts import CWD, Codex, write


def read(folder: Path, script: Codex) -> Transcript:
    return open_transcript(
        TranscriptSource(find_agent("codex"), str(write(folder / "rollout-a.jsonl", script.bytes)))
    )


def said(transcript: Transcript) -> list[tuple[Speaker, str]]:
    return [(turn.who, turn.text) for turn in transcript.messages() if turn.is_spoken]


def test_a_message_that_is_there_twice_counts_once(tmp_path: Path) -> None:
    script = Codex().head().says("Go on.").answers("Done.").says("Go on.").answers("Done.")
    assert said(read(tmp_path, script)) == [
        (Speaker.USER, "Go on."),
        (Speaker.AGENT, "Done."),
        (Speaker.USER, "Go on."),
        (Speaker.AGENT, "Done."),
    ]


def test_the_lines_of_early_versions_are_items(tmp_path: Path) -> None:
    shell = {"type": "function_call", "name": "shell", "call_id": "a"}
    lines = (
        {"id": "early", "timestamp": "2025-08-01T10:00:00Z", "instructions": None},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go."}]},
        {**shell, "arguments": '{"command": ["bash", "-lc", "pytest"]}'},
        {
            "type": "function_call_output",
            "call_id": "a",
            "output": '{"metadata": {"exit_code": 1}}',
        },
        {"role": "assistant", "content": "It fails."},
        {},
    )
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    source = find_transcript_at(str(path))
    transcript = open_transcript(source)
    turns = list(transcript.messages())
    assert (source.agent, transcript.session.id) == (find_agent("codex"), "early")
    assert [turn.text for turn in turns if turn.is_spoken] == ["Go.", "It fails."]
    assert [call.command for turn in turns for call in turn.calls] == ["pytest"]
    assert [ending.exit for turn in turns for ending in turn.results] == [1]
    assert transcript.checkpoint.unknown == {"without a type": 1}


def test_the_same_text_after_an_answer_is_a_new_message(tmp_path: Path) -> None:
    script = Codex().head()
    for role, text in (
        ("user", "One."),
        ("assistant", "Ok"),
        ("user", "Two."),
        ("assistant", "Ok"),
    ):
        content = [{"type": "output_text", "text": text}]
        script.line("response_item", type="message", role=role, content=content)
    assert [text for _, text in said(read(tmp_path, script))] == ["One.", "Ok", "Two.", "Ok"]


def test_instructions_and_environment_are_no_messages_of_the_user(tmp_path: Path) -> None:
    script = Codex().head()
    for role, text in (
        ("developer", "Be brief."),
        ("user", "# AGENTS.md instructions for /home/ana\n\n<INSTRUCTIONS>"),
        ("user", "<environment_context>\n  <cwd>/</cwd>"),
    ):
        content = [{"type": "input_text", "text": text}]
        script.line("response_item", type="message", role=role, content=content)
    turns = list(read(tmp_path, script).messages())
    assert {(turn.who, turn.noise) for turn in turns} == {(Speaker.SYSTEM, Noise.WRAPPER)}
    assert len(turns) == 3


def test_the_first_head_counts_though_it_is_repeated(tmp_path: Path) -> None:
    script = Codex("own").head(forked_from_id="origin").says("Here.")
    script.session, script.cwd = "origin", "/elsewhere"
    transcript = read(tmp_path, script.head())
    assert said(transcript) == [(Speaker.USER, "Here.")]
    told = transcript.session
    assert (told.id, told.cwd, told.branch, told.continues) == ("own", CWD, "main", "origin")
    assert told.title == "Here."


def test_commands_and_patches_touch_files(tmp_path: Path) -> None:
    script = Codex().head().shell("cat notes/tides.md", code=0).shell("cat notes/gone.md", code=1)
    patch = "*** Begin Patch\n*** Add File: notes/new.md\n+Sines.\n*** Delete File: old.md\n"
    script.line(
        "response_item", type="custom_tool_call", name="apply_patch", input=patch, call_id="p"
    )
    changes = {f"{CWD}/notes/new.md": {"type": "add", "content": "Sines."}}
    script.line("event_msg", type="patch_apply_end", call_id="p", success=True, changes=changes)
    script.line("event_msg", type="patch_apply_end", call_id="q", success=False, changes=changes)
    turns = list(read(tmp_path, script).messages())
    found = [(it.action, it.path.removeprefix(CWD), it.text) for t in turns for it in t.touches]
    assert found == [
        (FileAction.READ, "/notes/tides.md", ""),
        (FileAction.READ, "/notes/gone.md", ""),
        (FileAction.WROTE, "/notes/new.md", "Sines."),
        (FileAction.DELETED, "/old.md", ""),
        (FileAction.WROTE, "/notes/new.md", "Sines."),
    ]
    assert [sorted(turn.failed) for turn in turns if turn.failed] == [["call_3"], ["q"]]


def test_an_exit_code_may_be_in_the_metadata(tmp_path: Path) -> None:
    output = json.dumps({"output": "Failed.", "metadata": {"exit_code": 2}})
    script = Codex().line("response_item", type="function_call_output", call_id="a", output=output)
    (turn,) = read(tmp_path, script).messages()
    assert (turn.text, turn.failed) == ("Failed.", {"a"})


def test_a_session_may_be_stored_in_pages_and_have_a_name(tmp_path: Path) -> None:
    script = Codex().head()
    item = {"type": "UserMessage", "id": "u", "content": [{"type": "text", "text": "Here."}]}
    script.line("event_msg", type="item_completed", item=item)
    script.line("event_msg", type="thread_name_updated", thread_name="Berth report")
    transcript = read(tmp_path, script)
    assert said(transcript) == [(Speaker.USER, "Here.")]
    assert transcript.session.title == "Berth report"


def test_what_is_not_understood_is_counted_by_its_kind(tmp_path: Path) -> None:
    script = Codex().line("of_tomorrow").line("event_msg", type="new").line("turn_context")
    script.line("response_item", type="newer").line("event_msg", type="token_count")
    transcript = read(tmp_path, script)
    assert list(transcript.messages()) == []
    assert transcript.checkpoint.unknown == {
        "of_tomorrow": 1,
        "event_msg new": 1,
        "response_item newer": 1,
    }
