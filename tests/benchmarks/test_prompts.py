"""The recorded briefs and answers that tell what a version of a prompt changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ricordo.curation.prompts import NAMES, load_prompt
from tests.benchmarks import prompts
from tests.benchmarks.prompts import cases, given, main, reply
from tests.support import messages_replies as replies
from tests.support.messages_server import messages_server, without_credentials

CASES = {case.name: case for case in cases()}


@pytest.mark.parametrize("name", CASES)
def test_the_brief_of_a_case_is_the_recorded_one(name: str, tmp_path: Path) -> None:
    it = given(CASES[name], tmp_path)
    assert it.brief == CASES[name].brief_file.read_text("utf-8"), "--briefs writes it anew"


@pytest.mark.parametrize("name", CASES)
def test_what_is_recorded_of_the_version_in_use_comes_out_as_wanted(
    name: str, tmp_path: Path
) -> None:
    prompt = load_prompt(CASES[name].prompt)
    kept = reply(CASES[name], prompt.version)
    assert kept is not None, f"nothing is recorded of {prompt.version}: --record asks a model"
    found = given(CASES[name], tmp_path).outcome(prompt, kept["answer"])
    assert not found.rejected
    assert found.proposed == tuple(sorted(CASES[name].wanted))


def test_every_version_is_told_with_what_it_comes_to(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(()) == 0
    told = capsys.readouterr().out
    for name in NAMES:
        assert f"{load_prompt(name).version}: " in told
    assert "proposed" in told
    assert "no answers are recorded" in told


def test_a_model_is_asked_and_its_answer_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without_credentials(monkeypatch, tmp_path)
    for name in ("takes_back", "in_doubt"):
        path = prompts.FOLDER / f"{name}.toml"
        (tmp_path / path.name).write_text(path.read_text("utf-8"), "utf-8")
    monkeypatch.setattr(prompts, "FOLDER", tmp_path)
    answers = replies.good({"verdicts": []}, "judge"), replies.good({"edits": []})
    with messages_server(*answers) as server:
        main(["--record", "--server", server.url, "--model", "claude-test"])
    assert len(server.asked) == 2
    kept = tmp_path / f"takes_back.{load_prompt('curate').version}.json"
    assert json.loads(kept.read_text("utf-8")) == {"by": "claude-test", "answer": []}
    told = capsys.readouterr().out
    assert "not as wanted" in told
    assert "by claude-test" in told
