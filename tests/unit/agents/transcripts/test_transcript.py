"""Reading transcripts: from any place on, of any size, whatever they hold."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.agents.agent import Agent
from ricordo.agents.opencode.transcript import OpencodeTranscript, find_sessions
from ricordo.agents.registry import find_agent, open_transcript, read_messages_from
from ricordo.agents.transcripts.checkpoint import dump_checkpoint, load_checkpoint
from ricordo.agents.transcripts.lines import LONGEST_LINE
from ricordo.agents.transcripts.session import Message, Speaker
from ricordo.agents.transcripts.sources import TranscriptSource
from tests.benchmarks.transcripts import MOST_MEMORY, exchange, make, measured
from tests.support.builders import SHARED
from tests.support.figures import figure
from tests.support.transcripts import SESSION, Claude, Codex, write

KEYS = (
    "type message content payload sessionId uuid name input role text timestamp cwd id attachment "
    "changes item file_path arguments output leafUuid summary prompt path tool_use_id is_error"
)
KINDS = (
    "user assistant system summary attachment queued_command text tool_use tool_result Read Bash "
    "event_msg response_item message session_meta item_completed patch_apply_end UserMessage "
    "function_call function_call_output relevant_memories nested_memory compacted"
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS.split()), inner | st.sampled_from(KINDS.split()), max_size=6
        )
    ),
    max_leaves=12,
)
LINES = st.binary(max_size=40) | VALUES.map(lambda value: json.dumps(value).encode())


@pytest.mark.parametrize("agent", [find_agent("claude"), find_agent("codex")])
@given(lines=st.lists(LINES, max_size=8), ending=st.sampled_from([b"", b"\n", b"\r\n", b"\0"]))
def test_any_bytes_can_be_read_and_read_on(
    agent: Agent, tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], ending: bytes
) -> None:
    content = b"\n".join(lines) + ending
    path = str(write(tmp_path_factory.mktemp("any") / f"{SESSION}.jsonl", content))
    whole = open_transcript(TranscriptSource(agent, path))
    turns = list(whole.messages())
    assert whole.checkpoint.offset <= len(content)
    again = open_transcript(
        TranscriptSource(agent, path), load_checkpoint(dump_checkpoint(whole.checkpoint))
    )
    assert list(again.messages()) == []
    assert again.session == whole.session
    assert (
        list(read_messages_from(TranscriptSource(agent, path), turns[0].place))[:1] == turns[:1]
        if turns
        else True
    )


@pytest.mark.parametrize("agent", [find_agent("claude"), find_agent("codex")])
def test_reading_on_tells_what_reading_at_once_tells(tmp_path: Path, agent: Agent) -> None:
    content = (
        (Claude() if agent is find_agent("claude") else Codex().head()).says("One.").answers("Two.")
    )
    content.says("Three.").answers("Four.")
    path = tmp_path / f"{SESSION}.jsonl"
    write(path, content.bytes)
    at_once = open_transcript(TranscriptSource(agent, str(path)))
    expected = list(at_once.messages())
    for cut in range(0, len(content.bytes), 97):
        write(path, content.bytes[:cut])
        first = open_transcript(TranscriptSource(agent, str(path)))
        turns: list[Message] = list(first.messages())
        write(path, content.bytes)
        second = open_transcript(
            TranscriptSource(agent, str(path)), load_checkpoint(dump_checkpoint(first.checkpoint))
        )
        assert turns + list(second.messages()) == expected
        assert second.session == at_once.session
        assert second.is_restarted == (first.checkpoint.offset == 0)


def test_another_file_in_its_place_is_read_from_its_start(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    write(path, Claude().says("One.").says("Two.").bytes)
    first = open_transcript(TranscriptSource(find_agent("claude"), str(path)))
    list(first.messages())
    for script in (Claude().says("Six.").says("Two.").says("More."), Claude().says("Six.")):
        write(path, script.bytes)
        again = open_transcript(
            TranscriptSource(find_agent("claude"), str(path)),
            load_checkpoint(dump_checkpoint(first.checkpoint)),
        )
        assert next(again.messages()).text == "Six."
        assert again.is_restarted


def test_a_line_that_is_too_long_is_counted_and_passed_over(tmp_path: Path) -> None:
    long = b'{"type":"user","message":{"content":"' + b"x" * LONGEST_LINE + b'"}}\n'
    content = Claude().says("Before.").bytes + long + Claude().says("After.").bytes + long[:-1]
    path = write(tmp_path / f"{SESSION}.jsonl", content)
    transcript = open_transcript(TranscriptSource(find_agent("claude"), str(path)))
    assert [turn.text for turn in transcript.messages()] == ["Before.", "After."]
    assert transcript.checkpoint.too_long == 1
    assert transcript.checkpoint.line == 4


def test_what_is_no_plain_file_has_no_turns(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    os.symlink(write(tmp_path / "real", Claude().says("Here.").bytes), tmp_path / "link.jsonl")
    for name in ("pipe.jsonl", "link.jsonl", "gone.jsonl", "."):
        assert (
            list(
                open_transcript(
                    TranscriptSource(find_agent("claude"), str(tmp_path / name))
                ).messages()
            )
            == []
        )


def test_a_large_transcript_takes_little_memory_and_reading_on_little_of_it(tmp_path: Path) -> None:
    count = make(tmp_path, figure("transcript_megabytes", everyday=100))
    first = measured(tmp_path)
    assert (first.reads, first.memory <= MOST_MEMORY) == (count, True)
    with (tmp_path / f"{SESSION}.jsonl").open("ab") as file:
        file.write(exchange(0))
    again = measured(tmp_path)
    assert (again.reads, again.memory <= MOST_MEMORY) == (count + 1, True)
    assert again.read < first.read / 100


TRANSCRIPTS = sorted(
    path
    for folder in ("data/transcripts", "formats/samples")
    for path in (SHARED / folder).rglob("*.jsonl")
)


@pytest.mark.skipif(not TRANSCRIPTS, reason="no transcripts stand beside the repository")
def test_every_transcript_beside_the_repository_is_read_line_by_line() -> None:
    for path in TRANSCRIPTS:
        for agent in (find_agent("claude"), find_agent("codex")):
            transcript = open_transcript(TranscriptSource(agent, str(path)))
            turns = list(transcript.messages())
            learnt = transcript.checkpoint
            assert learnt.is_torn or learnt.offset == path.stat().st_size
            assert [turn.place.offset for turn in turns] == sorted({t.place.offset for t in turns})


@pytest.mark.skipif(not TRANSCRIPTS, reason="no transcripts stand beside the repository")
def test_of_real_sessions_every_line_is_understood() -> None:
    for path in (SHARED / "data/transcripts/claude-code").rglob("*.jsonl"):
        transcript = open_transcript(TranscriptSource(find_agent("claude"), str(path)))
        said = [turn for turn in transcript.messages() if turn.is_spoken]
        assert {turn.who for turn in said} == {Speaker.USER, Speaker.AGENT}
        assert not transcript.checkpoint.unknown


@pytest.mark.skipif(not TRANSCRIPTS, reason="no transcripts stand beside the repository")
def test_every_session_of_opencode_beside_the_repository_is_read() -> None:
    folders = [SHARED / "formats/samples/opencode" / era for era in ("sqlite-era", "json-era")]
    for folder in folders:
        (kept,) = find_sessions(str(folder))
        transcript = OpencodeTranscript(kept)
        said = [turn.text for turn in transcript.messages() if turn.is_spoken]
        assert said[:1] == ["Add a berth report command."]
        assert not transcript.checkpoint.unknown
