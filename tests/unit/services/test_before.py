"""What is known before an engine is asked, and which engines there are to choose from."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from ricordo.llm.failure import FailureCause, ModelFailed
from ricordo.llm.gate import GateRequest
from ricordo.services.engines.choice import (
    allow_program,
    list_engines,
    load_chosen_engine,
    save_chosen_engine,
)
from ricordo.services.engines.engines import make_gate
from ricordo.services.engines.preview import CurationPreview, preview_curation
from ricordo.services.workspace.notebook import Notebook
from ricordo.settings.settings import EngineSettings, Settings
from ricordo.storage.state_file import replace_state_file
from tests.support.asking import FILES, TOKEN, proposing
from tests.support.curating import SAID, Desk, user_lines
from tests.support.messages_server import messages_server, without_credentials

MODEL = EngineSettings(use="anthropic")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_credentials(monkeypatch, tmp_path)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, FILES)


def known(desk: Desk, own: EngineSettings = MODEL) -> CurationPreview:
    return preview_curation(desk.notebook, own, desk.scope)


def set_to(desk: Desk, own: EngineSettings, **environ: str) -> Notebook:
    """Return the notebook with other settings, and with an environment."""
    old = desk.notebook
    environment = old.environment._replace(environ={**os.environ, **environ})
    return Notebook(old.place, environment, replace(Settings(), engine=own))


def test_the_preview_has_the_text_to_send_and_its_cost_and_sends_nothing(desk: Desk) -> None:
    desk.transcript.write_text(user_lines(SAID, f"The token is {TOKEN}.", f"Use {TOKEN}."), "utf-8")
    with messages_server(proposing()) as server:
        before = known(desk, replace(MODEL, server=server.url))
        leaving = before.egress
        assert leaving is not None
        assert not before.disabled_reason
        (redacted,) = leaving.redacted
        assert (redacted.kind, redacted.count) == ("github-token", 2)
        assert len(redacted.places) == 2
        assert (leaving.remaining.day, leaving.remaining.paused_for) == (500_000, 0)
        assert not server.asked
    assert leaving.estimate.usd == pytest.approx(
        (leaving.estimate.input_tokens * 2.5 + 12_000 * 10) / 1e6
    )
    # only what has left is told to have left
    assert not before.prepared.redaction.list_redacted()


def test_by_the_rules_nothing_leaves(desk: Desk) -> None:
    before = known(desk, EngineSettings())
    assert (before.egress, before.disabled_reason) == (None, "")


def test_why_it_cannot_be_asked_is_known_before(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "0 of 100 tokens spent" in known(desk, replace(MODEL, day=100)).disabled_reason
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    assert "Set ANTHROPIC_API_KEY" in known(desk).disabled_reason
    program = EngineSettings(use="command")
    assert "No program set" in known(desk, program).disabled_reason
    assert "not found" in known(desk, replace(program, command=("/nowhere/model",))).disabled_reason
    assert (
        "Remove it."
        in known(desk, replace(program, command=("claude", "--chrome"))).disabled_reason
    )


def test_runs_that_rest_are_told_and_do_not_keep_a_person_from_trying(desk: Desk) -> None:
    gate = make_gate(desk.notebook.environment)
    for _ in range(3):
        with pytest.raises(ModelFailed), gate.admit(GateRequest("x", 1, 1, is_automatic=True)):
            raise ModelFailed(FailureCause.SERVER)
    before = known(desk)
    assert before.egress is not None
    assert before.egress.remaining.paused_for > 0
    assert not before.disabled_reason


def test_a_program_is_new_until_its_line_was_let_run(desk: Desk) -> None:
    own = EngineSettings(use="command", command=("/bin/cat", "-"))
    leaving = known(desk, own).egress
    assert leaving is not None
    assert leaving.program is not None
    assert leaving.program.line == "/bin/cat -"
    assert leaving.estimate.usd is None
    allow_program(desk.notebook.environment, leaving.program)
    again, other = (
        known(desk, own).egress,
        known(desk, replace(own, command=("/bin/cat",))).egress,
    )
    assert again is not None
    assert other is not None
    assert again.program is None
    assert other.program is not None


# Choosing


def test_programs_that_are_on_this_machine_are_offered(desk: Desk, tmp_path: Path) -> None:
    claude = tmp_path / "claude"
    claude.write_text("#!/bin/sh\n")
    claude.chmod(0o700)
    notebook = set_to(desk, EngineSettings(), PATH=str(tmp_path))
    offered = [(it.use, it.command) for it in list_engines(notebook)]
    assert offered == [("rules", ()), ("anthropic", ()), ("command", ("claude", "-p"))]
    own = EngineSettings(command=("mine", "x"))
    assert list_engines(set_to(desk, own, PATH=str(tmp_path)))[2].command == ("mine", "x")
    assert list_engines(set_to(desk, EngineSettings(), PATH=""))[2].command == ()


def test_the_server_that_the_environment_names_is_known_before_it_is_asked(desk: Desk) -> None:
    notebook = set_to(desk, EngineSettings(), ANTHROPIC_BASE_URL="http://tides.example")
    assert [it.server for it in list_engines(notebook)][:2] == ["http://tides.example"] * 2
    assert load_chosen_engine(notebook).server == "http://tides.example"
    own = set_to(
        desk, EngineSettings(server="http://own"), ANTHROPIC_BASE_URL="http://tides.example"
    )
    assert load_chosen_engine(own).server == "http://own"


def test_what_was_chosen_is_remembered_by_memory(desk: Desk, tmp_path: Path) -> None:
    notebook = set_to(desk, EngineSettings(), PATH="")
    assert load_chosen_engine(notebook).use == "rules"
    save_chosen_engine(notebook, replace(MODEL, model="qwen3"))
    assert (load_chosen_engine(notebook).use, load_chosen_engine(notebook).model) == (
        "anthropic",
        "qwen3",
    )
    (tmp_path / "other").mkdir()
    assert load_chosen_engine(Desk(tmp_path / "other", FILES).notebook).use == "rules"


def test_no_line_is_run_that_is_not_offered_any_more(desk: Desk) -> None:
    own = EngineSettings(use="command", command=("mine",))
    save_chosen_engine(set_to(desk, own), own)
    assert load_chosen_engine(set_to(desk, own)).command == ("mine",)
    other = load_chosen_engine(set_to(desk, EngineSettings(command=("other",))))
    assert (other.use, other.command) == ("rules", ("other",))


@pytest.mark.parametrize(
    "content", ["", "[]", '{"%s": 7}', '{"%s": {"use": [], "model": "\\n", "command": 7}}']
)
def test_what_is_damaged_is_as_nothing(desk: Desk, content: str) -> None:
    notebook = desk.notebook
    text = content.replace("%s", notebook.place.root)
    replace_state_file(notebook.environment.state, "engines.json", text.encode())
    assert load_chosen_engine(notebook) == notebook.settings.engine
