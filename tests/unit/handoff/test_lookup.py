"""Quotes are looked up in the transcript: in their message, exactly."""

from __future__ import annotations

from pathlib import Path

import pytest

from ricordo.agents.agent import Agent
from ricordo.agents.registry import SUPPORTED
from ricordo.handoff.document import (
    Handoff,
    HandoffStatement,
    QuoteProof,
    SourceSession,
    StatementSection,
)
from ricordo.handoff.facts import MessageRef
from ricordo.handoff.lookup import QuoteLookup, is_quote_of
from tests.support.transcripts import Claude
from tests.unit.handoff.test_document import handoff_of

AGENTS = [it.agent for it in SUPPORTED if it.has_transcripts and it.agent is not None]


def quoting(path: Path | str, turn: int, agent: Agent = AGENTS[0]) -> Handoff:
    statement = HandoffStatement(
        StatementSection.OBJECTIVE, "said", QuoteProof(MessageRef(0, turn)), quote="x"
    )
    return handoff_of(statement, sources=(SourceSession(agent, "s", str(path)),))


@pytest.mark.parametrize(
    ("quote", "text", "is_there"),
    [
        ("go on", "please go on now", True),
        ("Go on", "please go on now", False),
        ("one\n\ntwo", "one\r\n\r\ntwo\n", True),
        ("one\ntwo", "one\nor\ntwo", False),
        ("␛[31mred", "\x1b[31mred", True),
        ("the key is [REDACTED:github-token:1] here", "the key is ghp_abc here", True),
        ("the key is [REDACTED:github-token:1] there", "the key is ghp_abc here", False),
        ("is [secret: github-token] now", "is ghp_abc now", True),
        ("[REDACTED:github-token:1]", "ghp_abc", True),
        ("", "anything", False),
    ],
)
def test_quotes_are_compared_exactly_except_for_redactions(
    quote: str, text: str, is_there: bool
) -> None:
    assert is_quote_of(quote, ["something else", text]) is is_there


def test_a_list_of_tasks_is_quoted_if_each_of_them_is() -> None:
    assert is_quote_of("one\ntwo", ["one", "two", "three"])
    assert not is_quote_of("one\nfour", ["one", "two", "three"])


def test_a_task_of_a_list_may_have_lines_and_redactions() -> None:
    tasks = ["rotate ghp_abc now", "write:\n- docs\n- tests", "push"]
    assert is_quote_of("rotate [REDACTED:github-token:1] now\nwrite:\n- docs\n- tests", tasks)
    assert not is_quote_of("rotate [REDACTED:github-token:1] never\npush", tasks)
    assert not is_quote_of("and rotate [REDACTED:github-token:1] now\npush", tasks)
    assert not is_quote_of("write:\n- docs\npush", tasks)


def test_the_result_of_a_call_belongs_to_its_message(tmp_path: Path) -> None:
    session = Claude().says("mend it").uses("Bash", "c1", answered=False, command="pytest")
    output = "E  assert \x1b[1m1 == 2\x1b[0m"
    result = {"type": "tool_result", "tool_use_id": "c1", "content": output, "is_error": True}
    path = session.answers("wait").line("user", message={"content": [result]}).write(tmp_path)
    says = QuoteLookup(quoting(path, 2), lambda _: True)
    assert says(MessageRef(0, 2), "E  assert 1 == 2")
    assert not says(MessageRef(0, 1), "E  assert 1 == 2")


def test_a_file_that_is_not_a_transcript_is_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "id_rsa"
    secret.write_text("words\n")
    link = tmp_path / "link.jsonl"
    link.symlink_to(Claude().says("words").write(tmp_path))
    for path in (secret, link, tmp_path, tmp_path / "none", "/dev/zero", "../x.jsonl", ""):
        for agent in AGENTS:
            says = QuoteLookup(quoting(path, 1, agent), lambda _: True)
            assert says(MessageRef(0, 1), "words") is None


def test_an_unknown_transcript_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Claude().says("words").write(tmp_path)
    assert QuoteLookup(quoting(path, 1), lambda source: source.path == str(path))(
        MessageRef(0, 1), "words"
    )
    opened: list[object] = []
    monkeypatch.setattr("ricordo.handoff.lookup.open_transcript", lambda *_, **__: opened.append(1))
    assert QuoteLookup(quoting(path, 1), lambda _: False)(MessageRef(0, 1), "words") is None
    assert not opened
