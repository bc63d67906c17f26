"""The questions that recall is measured by: whatever their file leaves out, they are read."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.locomo import Conversation, read_conversations
from tests.benchmarks.recall import main


def talk(name: str = "conv-1", thing: str = "barge") -> dict[str, Any]:
    """Return a conversation as LoCoMo writes it."""
    said = (f"The {thing} left the harbour.", "Who steers it?")
    turns = [
        {"speaker": "Ana", "dia_id": f"D1:{n}", "text": text} for n, text in enumerate(said, 1)
    ]
    return {
        "sample_id": name,
        "conversation": {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns},
        "observation": {"session_1_observation": {"Ana": [[f"A {thing} left.", "D1:1"]]}},
        "qa": [{"question": f"When did the {thing} leave?", "evidence": ["D1:1"], "category": 2}],
    }


def read(folder: Path, text: str) -> list[Conversation]:
    (folder / "data.json").write_text(text)
    return read_conversations(folder / "data.json")


@pytest.mark.parametrize("written", [json.dumps, lambda it: f"{json.dumps(it[0])}\n"])
def test_a_list_or_one_a_line(tmp_path: Path, written: Callable[[Any], str]):
    (found,) = read(tmp_path, written([talk()]))
    assert (found.id, found.last_day) == ("conv-1", date(2023, 5, 8))
    assert [len(found.pieces[kind]) for kind in ("turns", "facts", "sessions")] == [2, 1, 1]
    assert found.questions[0].evidence == {"D1:1"}


def test_one_conversation_by_itself(tmp_path: Path):
    assert [it.id for it in read(tmp_path, json.dumps(talk(), indent=1))] == ["conv-1"]


@pytest.mark.parametrize("evidence", ["D1:1; D30:05", ["D:1:1", "D30:5"], [["D01:1"], "D30:5"]])
def test_evidence_however_it_is_written(tmp_path: Path, evidence: object):
    data = talk()
    data["qa"][0]["evidence"] = evidence
    assert read(tmp_path, json.dumps(data))[0].questions[0].evidence == {"D1:1", "D30:5"}


@pytest.mark.parametrize("day", ["2023-05-08T13:56", "May 8, 2023", "8 May 2023"])
def test_days_however_they_are_written(tmp_path: Path, day: str):
    data = talk()
    data["conversation"]["session_1_date_time"] = day
    assert read(tmp_path, json.dumps(data))[0].pieces["turns"][0].day == date(2023, 5, 8)


def test_what_is_not_told_is_done_without(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    one, other = talk("same", "barge"), talk("same", "lugger")
    for key in ("observation", "sample_id"):
        del one[key]
    del one["qa"][0]["category"], one["conversation"]["session_1_date_time"]
    del one["conversation"]["session_1"][1]["text"]
    other["conversation"]["session_1"][0]["speaker"] = 'Ana: "of the" #1'
    other["conversation"]["session_2"] = []
    (tmp_path / "data.json").write_text(json.dumps([one, other, other]))
    assert main(["--data", str(tmp_path / "data.json")]) == 0
    said = capsys.readouterr().out
    assert "turns as notes" in said
    assert "category 0, not tuned" in said
    assert "same (3)" in said
