"""`ricordo handoff --engine`: a model or a program drafts, and is believed nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ricordo.services.ledger.ledger import FILE
from tests.support import messages_replies as replies
from tests.support.asking import write_program
from tests.support.messages_server import (
    MessagesServer,
    Script,
    messages_server,
    without_credentials,
)
from tests.support.transcripts import write as put
from tests.unit.cli.test_handoff import KEY, Work
from tests.unit.machine import Machine

OWN = "The alarm fires late, because its times are rounded"
QUOTE = "Left to do: mend tidepool/report.py."
REFUSED = "Read tidepool/never.py first"


def stated(section: str, fact: str, text: str = "", quote: str = "") -> dict[str, Any]:
    return {"section": section, "facts": [fact], "quote": quote, "text": text}


def answer(*statements: dict[str, Any]) -> dict[str, Any]:
    return {"statements": list(statements)}


@pytest.fixture
def work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Work:
    work = Work(Machine(tmp_path), capsys)
    monkeypatch.chdir(work.project)
    return work


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[MessagesServer]:
    """Return a server that the environment names; what it answers is set by a test."""
    without_credentials(monkeypatch, tmp_path)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    with messages_server(drafting(answer())) as running:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", running.url)
        yield running


def drafting(value: object) -> Script:
    return replies.good(value, name="draft")


def id_of(output: str, words: str) -> str:
    """The id of the fact that has these words, by what was sent."""
    return re.findall(r"^(f\d+): ", output[: output.index(words)], re.MULTILINE)[-1]


def program(work: Work, home: Path, script: str) -> Path:
    """Set a program that keeps what it is given; return that file."""
    path = write_program(work.machine.path / "model", script)
    put(home / ".config/ricordo/settings.toml", f'[engine]\ncommand = ["{path}"]\n'.encode())
    return path.with_name("given")


def saying(value: object) -> str:
    return f"cat <<'END'\n{json.dumps(value)}\nEND"


BY_PROGRAM = ("handoff", "--engine", "command", "--yes")


def test_a_program_drafts_and_rules_prove(work: Work, pinned: Path) -> None:
    given = program(work, pinned, saying(answer()))
    work(*BY_PROGRAM)
    output = given.read_text()
    assert KEY not in output
    assert "| Make the berth alarm test green." in output
    left = id_of(output, QUOTE)
    drafted = answer(
        stated("next", left, quote=QUOTE),
        stated("active", left, OWN),
        stated("files", "f1", REFUSED),
    )
    program(work, pinned, saying(drafted))
    printed = work(*BY_PROGRAM)
    assert "asking model: about" in printed
    assert re.search(r"redacted.*:\n.*  anthropic-key, ", printed)
    assert "Rejected from the draft: statement 3: Names “tidepool/never.py”" in printed
    assert "drafted by command" in printed
    text = work.text
    assert f"- {OWN} [unverified]" in text
    assert f"- The agent [quoted: turn 9]\n```quotation\n> {QUOTE}" in text
    assert REFUSED not in text
    # what rules can verify, and the words of the user, are included anyway
    assert "[verified: tidepool/alarm.py is" in text
    assert "pytest -q tests/test_alarm.py` succeeded: 1 passed in 0.1s [reported:" in text
    assert "From now on always run tests with uv run, never with pip." in text
    assert KEY not in text + printed


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("exit 3", "The program gave no answer"),
        ("echo '{\"statements\": 3}'", "is not a list"),
        (saying(answer(stated("files", "f1", REFUSED))), "No statement of the model"),
    ],
)
def test_where_an_engine_fails_the_rules_have_it(
    work: Work, pinned: Path, script: str, why: str
) -> None:
    program(work, pinned, script)
    printed = work(*BY_PROGRAM)
    assert why in printed
    assert "The rules composed this handoff instead." in printed
    assert "composed by rules from the transcript, without a model" in printed
    assert "engine: rules\n" in work.text


def test_an_unconfirmed_program_is_not_run(work: Work, pinned: Path) -> None:
    given = program(work, pinned, saying(answer()))
    assert "was not run before" in work("handoff", "--engine", "command", code=4)
    assert not given.exists()
    assert not work.handoff.exists()


def test_a_model_drafts_and_the_rules_take_over_if_it_fails(
    work: Work, server: MessagesServer
) -> None:
    refusal = replies.error(401, "authentication_error")
    server.scripts[:] = [drafting(answer(stated("active", "f1", OWN))), refusal]
    printed = work("handoff", "--engine", "anthropic")
    assert f"asking claude-sonnet-5-5 at {server.url}: about" in printed
    assert "4,020 tokens sent, 77 written" in printed
    assert f"- {OWN} [unverified]" in work.text
    assert "\nengine: '\"anthropic claude" in work.text
    (asked,) = server.asked
    assert asked.json["tools"][0]["name"] == "draft"
    assert KEY.encode() not in server.received
    (line,) = (work.machine.path / "s" / FILE).read_text().splitlines()
    assert json.loads(line)["prompt_version"] == "handoff-1"
    printed = work("handoff", "--engine", "anthropic")
    assert "The server does not accept the key (401)." in printed
    assert "The rules composed this handoff instead." in printed
    assert "Make the berth alarm test green." in work.text
