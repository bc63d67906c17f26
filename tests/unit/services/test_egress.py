"""What leaves the machine: searched for every credential that was planted in notes and talk."""

from __future__ import annotations

import json
import re
import traceback
from dataclasses import replace
from pathlib import Path

import pytest

from ricordo.cli.main import run
from ricordo.curation import validation as checking
from ricordo.llm.failure import ModelFailed
from ricordo.secrets import find_secrets
from ricordo.services.conflicts.judgement import MAX_PAIRS, judge
from tests.support import messages_replies as replies
from tests.support.asking import EMPTY, by_script, curated, sent
from tests.support.builders import note_text, recorded
from tests.support.curating import Desk, user_lines
from tests.support.doubts import asked_of, judging
from tests.support.messages_server import (
    Asked,
    Script,
    Wire,
    messages_server,
    without_credentials,
)
from tests.support.secret_corpus import Sample, corpus

SEED = 20261121


def pieces(sample: Sample) -> list[str]:
    """Return what of a credential must not be met anywhere: each of its longer lines."""
    return [it for value in sample.values for it in value.split("\n") if len(it) >= 8]


def is_found(sample: Sample) -> bool:
    """Say whether the rules see the whole of it; how many they do is measured elsewhere."""
    spans = [(it.start, it.end) for it in find_secrets(sample.text)]
    places = [(sample.text.find(value), len(value)) for value in sample.values]
    return all(
        at >= 0 and any(start <= at and at + length <= end for start, end in spans)
        for at, length in places
    )


@pytest.fixture(scope="module")
def planted() -> list[Sample]:
    samples = [it for it in corpus(SEED, 1) if it.values]
    found = [it for it in samples if is_found(it)]
    assert len(found) > 0.9 * len(samples)
    return found


@pytest.fixture
def desk(tmp_path: Path, planted: list[Sample], monkeypatch: pytest.MonkeyPatch) -> Desk:
    """An index and a talk with all of them, half each."""
    without_credentials(monkeypatch, tmp_path)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    half = len(planted) // 2
    index = "\n\n".join(f"The port.\n{it.text}" for it in planted[:half])
    desk = Desk(tmp_path, {"MEMORY.md": index, "port.md": note_text()})
    talk = [f"Remember the port.\n\n{it.text}" for it in planted[half:]]
    desk.transcript.write_text(user_lines(*talk), "utf-8")
    return desk


def leaks(planted: list[Sample], raw: bytes) -> list[str]:
    # as they would stand in JSON, too
    text = raw.decode("utf-8", "replace")
    return [it for sample in planted for it in pieces(sample) if it in text or _quoted(it) in text]


def _quoted(value: str) -> str:
    return json.dumps(value)[1:-1]


def kept(desk: Desk) -> bytes:
    """Return all that is in our state besides the history, which has the notes themselves."""
    state = Path(desk.notebook.environment.state)
    files = (it for it in state.rglob("*") if it.is_file() and "history.db" not in it.name)
    return b"\n".join(it.read_bytes() for it in files if it.suffix in (".json", ".jsonl"))


def echoing(wire: Wire, asked: Asked) -> None:
    """Save all that was read as one note, and quote it."""
    _, stable, changing = sent(asked)
    text = f"{stable}{changing}"[:30_000]
    quote = [{"source": "t1", "quote": changing[:1000]}]
    edit = {**EMPTY, "op": "create", "name": "all", "type": "project", "text": text}
    replies.good({"edits": [{**edit, "evidence": quote}]})(wire, asked)


def test_no_credential_reaches_the_server_or_comes_back(desk: Desk, planted: list[Sample]) -> None:
    with messages_server(echoing) as server:
        curation = curated(desk, server)
    assert leaks(planted, server.received) == []
    assert server.received.count(b"[REDACTED:") >= len(planted)
    assert b"The port." in server.received
    assert b"Remember the port" in server.received
    told = json.dumps([str(it) for it in (*curation.proposals, *curation.rejected)])
    assert leaks(planted, told.encode()) == []
    assert leaks(planted, kept(desk)) == []


def test_no_credential_leaves_with_doubts(
    tmp_path: Path, planted: list[Sample], monkeypatch: pytest.MonkeyPatch
) -> None:
    without_credentials(monkeypatch, tmp_path)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    here = planted[:: max(1, len(planted) // (2 * MAX_PAIRS))][: 2 * MAX_PAIRS]
    files: dict[str, str | bytes] = {}
    for number, it in enumerate(here):
        claim = f"Ship w{number // 2:03} wants its summary at the {('top', 'end')[number % 2]}."
        files[f"{number:03}.md"] = note_text(f"n{number}", f"{claim}\n\n{it.text}\n", claim)
    notebook = recorded(tmp_path, files)
    with messages_server(judging()) as server:
        asked = asked_of(notebook, server)
        judge(notebook, asked)
    # a memory offers a handful of pairs, however many there are
    assert 5 < len(asked.pairs) <= MAX_PAIRS
    assert b"wants its summary" in server.received
    assert server.received.count(b"[REDACTED:") >= len(asked.pairs)
    assert leaks(here, server.received) == []
    # nor in small letters, as notes are compared
    small = [replace(it, values=tuple(map(str.lower, it.values))) for it in here]
    assert leaks(small, server.received.lower()) == []


FAILURES = [
    replies.plain(200, b"<html>"),
    replies.good({"edits": [{"op": "x"}]}),
    replies.error(400, "invalid_request_error"),
]


@pytest.mark.parametrize("script", FAILURES)
def test_no_credential_is_in_a_failure(script: Script, desk: Desk, planted: list[Sample]) -> None:
    with messages_server(script) as server, pytest.raises(ModelFailed) as caught:
        curated(desk, server)
    told = "".join(traceback.format_exception(caught.value))
    assert leaks(planted, told.encode()) == []
    assert leaks(planted, kept(desk)) == []
    assert "sk-test" not in told


def test_no_credential_reaches_a_program(desk: Desk, planted: list[Sample]) -> None:
    with pytest.raises(ModelFailed) as caught:
        by_script(
            desk, 'env > "$0.env"; echo "$0 $*" >> "$0.env"; tail -n 40 "${0%model}given"; exit 1'
        )
    given = (desk.transcript.parent / "given").read_bytes()
    assert b"[REDACTED:" in given
    around = (desk.transcript.parent / "model.env").read_bytes()
    assert b"RICORDO_CURATING=1" in around
    assert leaks(planted, given + around + str(caught.value).encode() + kept(desk)) == []


def test_no_credential_is_in_the_report_of_an_internal_error(
    desk: Desk,
    planted: list[Sample],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(its: checking.ValidationContext, _: object) -> None:
        raise RuntimeError(its.memory.by_path["MEMORY.md"].text)

    monkeypatch.setattr("ricordo.services.curation.curation.validate", broken)
    place, state = desk.notebook.place.root, desk.notebook.environment.state
    words = ["--session", str(desk.transcript), "--engine", "anthropic", "--state", state]
    with messages_server(replies.good({"edits": []})) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        assert run(["curate", "-m", place, *words]) == 70
    printed = capsys.readouterr()
    assert "internal error (RuntimeError)" in printed.err
    assert leaks(planted, f"{printed.out}{printed.err}".encode() + kept(desk)) == []


def test_a_passage_with_a_credential_is_changed_without_being_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_credentials(monkeypatch, tmp_path)
    token = "ghp_" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3d"
    line = f"The port of Lagos is reached with {token} since May.\n"
    desk = Desk(tmp_path, {"MEMORY.md": "", "lagos.md": note_text("port", line, "port of Lagos")})
    desk.transcript.write_text(user_lines("The port of Lagos is reached since June."), "utf-8")

    def answer(wire: Wire, asked: Asked) -> None:
        shown = re.search(r"\d+\| (The port of Lagos .*)", "".join(sent(asked)))
        assert shown is not None
        text = shown[1].replace("May", "June")
        edit = {**EMPTY, "op": "replace", "note": "n1", "old": shown[1], "text": text}
        quote = {"source": "t1", "quote": "since June"}
        replies.good({"edits": [{**edit, "evidence": [quote]}]})(wire, asked)

    with messages_server(answer) as server:
        (waits,) = curated(desk, server).proposals
    assert token.encode() not in server.received
    assert [it.found for it in waits.evidence] == [True]
    assert desk.take().applied
    assert f"with {token} since June" in (desk.root / "lagos.md").read_text()
