"""What the lines of Claude Code's transcripts become: who said what, and what is noise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ricordo.agents.registry import find_agent, open_transcript
from ricordo.agents.support import Transcript
from ricordo.agents.transcripts.session import FileAction, Message, Noise, Speaker
from ricordo.agents.transcripts.sources import TranscriptSource
from tests.support.transcripts import BEGAN, CWD, OTHER, SESSION, Claude, write

NOTE = "/home/ana/.claude/projects/-home-ana-work-tidepool/memory/tides.md"


def read(folder: Path, script: Claude, name: str = SESSION) -> Transcript:
    return open_transcript(
        TranscriptSource(find_agent("claude"), str(write(folder / f"{name}.jsonl", script.bytes)))
    )


def only(folder: Path, script: Claude) -> Message:
    (turn,) = read(folder, script).messages()
    return turn


@pytest.mark.parametrize(
    ("content", "told", "who", "noise", "text"),
    [
        ("Move it.", {}, Speaker.USER, None, "Move it."),
        (
            "<system-reminder>the date</system-reminder>\nMove it.",
            {},
            Speaker.USER,
            None,
            "Move it.",
        ),
        ("Move it. <system-reminder>never ends", {}, Speaker.USER, None, "Move it."),
        ("<system-reminder>the date</system-reminder>", {}, Speaker.SYSTEM, Noise.REMINDER, ""),
        ("<command-name>/clear</command-name>", {}, Speaker.SYSTEM, Noise.COMMAND, None),
        (
            "<local-command-stdout>ok</local-command-stdout>",
            {},
            Speaker.SYSTEM,
            Noise.COMMAND,
            None,
        ),
        ("Stop hook feedback:\n- check", {}, Speaker.SYSTEM, Noise.HOOK, None),
        ("This is for the model.", {"isMeta": True}, Speaker.SYSTEM, Noise.SYNTHETIC, None),
        ("It is over.", {"origin": {"kind": "task-notification"}}, Speaker.SYSTEM, None, None),
        ("Move it.", {"origin": {"kind": "human"}}, Speaker.USER, None, "Move it."),
        ("So far …", {"isCompactSummary": True}, Speaker.SYSTEM, Noise.SUMMARY, None),
        ("said the tool", {"toolUseResult": {}}, Speaker.TOOL, Noise.OUTPUT, None),
        ([{"type": "tool_result", "content": "x"}], {}, Speaker.TOOL, Noise.OUTPUT, "x"),
        ([{"type": "image", "source": {}}], {}, Speaker.USER, Noise.IMAGE, ""),
        (
            [{"type": "image", "source": {}}, {"type": "text", "text": "See it?"}],
            {},
            Speaker.USER,
            None,
            "See it?",
        ),
        ("List the tests.", {"isSidechain": True}, Speaker.AGENT, None, "List the tests."),
    ],
)
def test_texts_in_the_users_place_are_classified(
    tmp_path: Path, content: Any, told: dict[str, Any], who: Speaker, noise: Noise | None, text: str
) -> None:
    turn = only(tmp_path, Claude().line("user", message={"content": content}, **told))
    assert turn.who is who
    assert noise is None or turn.noise is noise
    assert text is None or turn.text == text
    assert turn.is_spoken == (who is Speaker.USER and noise is None)


def test_a_queued_prompt_is_a_message_of_the_user(tmp_path: Path) -> None:
    script = Claude()
    for mode in ("prompt", "task-notification"):
        queued = {"type": "queued_command", "prompt": "And the port?", "commandMode": mode}
        script.line("attachment", attachment=queued)
    assert [turn.is_spoken for turn in read(tmp_path, script).messages()] == [True, False]


def test_a_line_of_the_agent_is_its_words_and_the_files_that_it_touches(tmp_path: Path) -> None:
    blocks = [
        {"type": "thinking", "thinking": "Which port?"},
        {"type": "text", "text": "I write it down."},
        {"type": "tool_use", "id": "a", "name": "Read", "input": {"file_path": NOTE}},
        {
            "type": "tool_use",
            "id": "b",
            "name": "Write",
            "input": {"file_path": "notes/port.md", "content": "Sines."},
        },
        {"type": "tool_use", "id": "c", "name": "Unheard", "input": {"file_path": NOTE}},
    ]
    turn = only(tmp_path, Claude().line("assistant", message={"content": blocks}))
    assert (turn.who, turn.text, turn.noise) == (Speaker.AGENT, "I write it down.", None)
    assert [(it.action, it.path, it.call, it.text) for it in turn.touches] == [
        (FileAction.READ, NOTE, "a", ""),
        (FileAction.WROTE, f"{CWD}/notes/port.md", "b", "Sines."),
    ]


def test_thinking_calls_and_errors_are_no_messages(
    tmp_path: Path,
) -> None:
    script = Claude().line("assistant", message={"content": [{"type": "thinking"}]})
    script.uses("Bash", answered=False, command="ls")
    script.line("assistant", message={"model": "<synthetic>", "content": "No response."})
    found = [turn.noise for turn in read(tmp_path, script).messages()]
    assert found == [Noise.THINKING, Noise.CALL, Noise.SYNTHETIC]


def test_a_plan_that_is_shown_to_the_user_is_a_message(tmp_path: Path) -> None:
    script = Claude().uses("ExitPlanMode", answered=False, plan="1. Mend the alarm.")
    turn = only(tmp_path, script)
    assert (turn.text, turn.is_spoken) == ("1. Mend the alarm.", True)


def test_a_result_says_which_call_failed(tmp_path: Path) -> None:
    script = Claude().uses("Write", "good", file_path=NOTE).uses("Write", "bad", failed=True)
    turns = list(read(tmp_path, script).messages())
    assert (turns[1].succeeded, turns[1].failed) == ({"good"}, frozenset())
    assert (turns[3].succeeded, turns[3].failed) == (frozenset(), {"bad"})


@pytest.mark.parametrize(
    "given",
    [
        {"type": "nested_memory", "path": NOTE},
        {"type": "file", "filename": NOTE},
        {"type": "relevant_memories", "memories": [{"path": NOTE}]},
    ],
)
def test_a_memory_file_that_was_loaded_was_read(tmp_path: Path, given: dict[str, Any]) -> None:
    turn = only(tmp_path, Claude().line("attachment", attachment=given))
    assert [(it.action, it.path) for it in turn.touches] == [(FileAction.READ, NOTE)]
    assert turn.noise is Noise.REMINDER


def test_a_title_of_the_user_wins_over_one_of_the_program_over_the_first_words(
    tmp_path: Path,
) -> None:
    script = Claude().says("Fix\nthe cache.")
    assert finished(read(tmp_path, script)).session.title == "Fix the cache."
    script.titled("Cache of tides").bare("custom-title", customTitle="Harbour").titled("Later")
    told = finished(read(tmp_path, script)).session
    assert told.title == "Harbour"
    assert (told.id, told.cwd, told.branch) == (SESSION, CWD, "main")
    assert told.started == told.ended == BEGAN.isoformat(timespec="milliseconds")


def test_a_summary_names_the_session_that_it_is_of(tmp_path: Path) -> None:
    script = Claude().bare("summary", summary="Of another", leafUuid="elsewhere")
    script.bare("summary", summary="Of this one", leafUuid="5b1c-3").says("Go on.").says("Well.")
    assert finished(read(tmp_path, script)).session.title == "Of this one"


def test_a_title_holds_no_credential(tmp_path: Path) -> None:
    script = Claude().says("The password is Lampara-Lampara-0000, type it in.")
    assert "Lampara-0000" not in finished(read(tmp_path, script)).session.title


def test_lines_of_the_continued_session_are_skipped(tmp_path: Path) -> None:
    script = Claude(OTHER).says("Old words.")
    script.session = SESSION
    transcript = read(tmp_path, script.says("New words."))
    assert [turn.text for turn in transcript.messages()] == ["New words."]
    assert transcript.session.continues == OTHER


def test_the_transcript_of_a_sub_agent_is_part_of_a_session(tmp_path: Path) -> None:
    folder = tmp_path / SESSION / "subagents"
    script = Claude().says("List the tests.").answers("There are two.")
    transcript = read(folder, script, "agent-a7bf2fd")
    assert [(turn.who, turn.is_spoken) for turn in transcript.messages()] == [
        (Speaker.AGENT, False)
    ] * 2
    assert (transcript.session.id, transcript.session.part_of) == ("agent-a7bf2fd", SESSION)


def test_clocks_may_run_backwards_and_parents_in_a_circle(tmp_path: Path) -> None:
    script = Claude().says("First.", parentUuid="5b1c-1", timestamp="2026-10-05T10:00:00Z")
    script.says("Second.", parentUuid="5b1c-0", timestamp="2026-10-05T08:00:00Z")
    script.says("Third.", timestamp="no time").says("Fourth.", timestamp=[7])
    transcript = read(tmp_path, script)
    assert [turn.text for turn in transcript.messages()] == [
        "First.",
        "Second.",
        "Third.",
        "Fourth.",
    ]
    assert transcript.session.started < transcript.session.ended
    assert transcript.session.started.startswith("2026-10-05T08:00")


def test_what_is_not_understood_is_counted_and_what_is_torn_is_left(tmp_path: Path) -> None:
    script = (
        Claude().says("Here.").bare("mode", mode="plan").bare("of-tomorrow").bare("of-tomorrow")
    )
    script.lines += [b"[]", b"no JSON", b"", b'{"sessionId": 1}']
    content = script.bytes + b'{"type":"user","mess'
    path = write(tmp_path / f"{SESSION}.jsonl", content)
    transcript = open_transcript(TranscriptSource(find_agent("claude"), str(path)))
    assert len(list(transcript.messages())) == 1
    learnt = transcript.checkpoint
    assert learnt.unknown == {"of-tomorrow": 2, "no JSON object": 2, "without a type": 1}
    assert learnt.is_torn
    assert learnt.offset == len(script.bytes)


def finished(transcript: Transcript) -> Transcript:
    assert list(transcript.messages())
    return transcript
