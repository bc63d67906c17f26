"""`ricordo curate` by a model and by a program, called as a person calls it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import Any

import pytest

from tests.support import messages_replies as replies
from tests.support.asking import EMPTY, FILES, MOVED, TOKEN, proposing, saying, write_program
from tests.support.builders import note_text, write_memory
from tests.support.curating import SAID, SESSION, user_lines
from tests.support.forking import run_forked
from tests.support.messages_server import (
    Asked,
    MessagesServer,
    Wire,
    messages_server,
    without_credentials,
)
from tests.unit.cli.conftest import Ricordo, contents, settle

BY_MODEL = ("--engine", "anthropic")
BAD = "blasphemous"
WRONG_KEY = replies.error(401, "authentication_error")


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    root = write_memory(tmp_path / "memory", FILES)
    settle(root)
    return root


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_text(user_lines(SAID), "utf-8")
    return path


@pytest.fixture
def curate(ricordo: Ricordo, transcript: Path) -> Ricordo:
    """Return what curates by the session."""
    return lambda *words, **how: ricordo("curate", "--session", str(transcript), *words, **how)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[MessagesServer]:
    """Return a server that the environment names, with a key for it."""
    without_credentials(monkeypatch, tmp_path)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    with messages_server(proposing(MOVED)) as running:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", running.url)
        yield running


def put(pinned: Path, text: str) -> None:
    """Write the settings."""
    folder = pinned / ".config/ricordo"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.toml").write_text(text, "utf-8")


def runs(ricordo: Ricordo) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(ricordo("ledger", "--json"))["runs"]
    return found


def test_proposals_of_a_model_are_pending_and_the_cost_is_printed_before_and_after(
    curate: Ricordo, ricordo: Ricordo, memory: Path, server: MessagesServer
) -> None:
    before = contents(memory)
    told = curate(*BY_MODEL, "--model", "claude-haiku-4-5")
    assert contents(memory) == before
    # the server is named, though an environment variable sets it
    assert f"asking claude-haiku-4-5 at {server.url}: about " in told
    assert re.search(r" [\d,]+ tokens sent, at most 12,000 written, at most \$0\.\d\d\n", told)
    assert "claude-haiku-4-5 answered: 4,020 tokens sent, 77 written, under $0.01\n" in told
    assert server.asked[0].json["model"] == "claude-haiku-4-5"
    (waiting,) = json.loads(ricordo("pending", "--json"))["changes"]
    assert (waiting["op"], waiting["path"]) == ("replace", "tides.md")
    assert waiting["evidence"][0]["found"] is True
    ricordo("pending", "--apply", waiting["id"])
    assert "The port is Lagos." in (memory / "tides.md").read_text("utf-8")
    (run,) = runs(ricordo)
    named = (run["engine"], run["model"], run["prompt_version"])
    assert named == ("anthropic", "claude-haiku-4-5", "curate-3")
    assert (run["input_tokens"], run["output_tokens"], run["accepted"]) == (4020, 77, 1)


def refusing_the_turn(wire: Wire, asked: Asked) -> None:
    """Refuse every request with a certain message."""
    refused = replies.streamed([replies.start(), *replies.ending("refusal")])
    (refused if BAD in asked.body.decode() else proposing(MOVED))(wire, asked)


def test_what_a_model_refuses_is_skipped_and_reported_and_the_rest_is_sent_in_parts(
    curate: Ricordo, ricordo: Ricordo, server: MessagesServer, transcript: Path
) -> None:
    transcript.write_text(user_lines(SAID, f"This is {BAD}."), "utf-8")
    server.scripts[:] = [refusing_the_turn]
    told = curate(*BY_MODEL)
    # before it is asked for the first time
    first, in_parts, *_ = told[told.index("ricordo: ") :].split("\n")
    assert "asking " in first
    assert in_parts.endswith(
        "If rejected as a whole, the brief is sent in parts: at most $0.27 in all."
    )
    line = f"skipped: what you said on 12 Nov, “This is {BAD}.”, refused by the model"
    assert line in told.split("\n")
    assert f"answered: {4020 * len(server.asked):,} tokens sent" in told
    assert len(runs(ricordo)) == len(server.asked) == 3
    document = json.loads(curate(*BY_MODEL, "--json").split("\n")[0])
    (skipped,) = document["skipped"]
    assert skipped == {"source": f"{transcript}#p1", "why": line}
    assert document["usage"]["input_tokens"] == 4020 * 3


def test_a_dry_run_keeps_nothing_but_its_cost(
    curate: Ricordo, ricordo: Ricordo, server: MessagesServer, pinned: Path
) -> None:
    put(pinned, f'[engine]\nuse = "anthropic"\nmodel = "qwen3"\nserver = "{server.url}"\n')
    told = curate("--dry-run", "--json")
    assert f"asking qwen3 at {server.url}" in told
    assert "12,000 written, price unknown\n" in told
    assert "Run without --dry-run to store them" in told
    document = json.loads(told[: told.index("\n")])
    assert (document["engine"], document["model"]) == ("anthropic", "qwen3")
    assert document["usage"] == {"input_tokens": 4020, "output_tokens": 77, "usd": None}
    assert document["estimate"]["input_tokens"] > 500
    assert document["estimate"]["output_tokens"] == 12000
    assert document["estimate"]["usd"] is None
    assert [it["op"] for it in document["changes"]] == ["replace"]
    assert json.loads(ricordo("pending", "--json"))["changes"] == []
    assert [(run["input_tokens"], run["accepted"]) for run in runs(ricordo)] == [(4020, 0)]
    assert json.loads(ricordo("ledger", "--json"))["activity_tokens"] == 0


def test_the_brief_is_printed_with_its_cost_and_no_engine_is_asked(
    curate: Ricordo, server: MessagesServer
) -> None:
    told = curate(*BY_MODEL, "--brief")
    assert SAID in told
    assert re.search(r"asking claude-sonnet-5-5 at \S+: about .* at most \$0\.\d\d\n", told)
    assert json.loads(curate(*BY_MODEL, "--brief", "--json"))["estimate"]["usd"] > 0
    assert not server.asked


def test_without_a_key_nothing_is_sent(
    curate: Ricordo, ricordo: Ricordo, server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.delenv("ANTHROPIC_BASE_URL")
    told = curate(*BY_MODEL, code=5)
    assert "No API key found. Set ANTHROPIC_API_KEY" in told
    assert told.endswith("Nothing was changed.\n")
    assert runs(ricordo) == []


FAILING = {
    "wrong key": (WRONG_KEY, "Check that ANTHROPIC_API_KEY is complete"),
    "refusal": (
        replies.streamed([replies.start(), *replies.ending("refusal")]),
        "The model refused to answer this brief.",
    ),
    "own words": (
        replies.streamed(
            [replies.start(), *replies.text_block("Sure."), *replies.ending("end_turn")]
        ),
        "Choose a model or server that supports forced tool use.",
    ),
}


@pytest.mark.parametrize("name", FAILING)
def test_a_model_that_fails_changes_nothing_and_says_what_to_do(
    name: str, curate: Ricordo, ricordo: Ricordo, memory: Path, server: MessagesServer
) -> None:
    script, words = FAILING[name]
    server.scripts[:] = [script]
    before = contents(memory)
    told = curate(*BY_MODEL, code=5)
    assert words in told
    assert told.endswith("Nothing was changed.\n")
    assert contents(memory) == before
    assert json.loads(ricordo("pending", "--json"))["changes"] == []


def test_what_would_go_over_a_cap_is_not_sent(
    curate: Ricordo, server: MessagesServer, pinned: Path
) -> None:
    put(pinned, "[engine]\nday = 5_000\n")
    told = curate(*BY_MODEL, code=5)
    assert "Over the token budget: 0 of 5,000 tokens spent in 24 hours" in told
    assert not server.asked


def test_failing_automatic_runs_pause_and_a_manual_run_is_allowed(
    curate: Ricordo, server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.scripts[:] = [WRONG_KEY]
    for _ in range(3):
        curate(*BY_MODEL, code=5)
    told = curate(*BY_MODEL, code=5)
    assert "Automatic curation is paused" in told
    assert len(server.asked) == 3
    monkeypatch.setattr("ricordo.cli.engine.is_at_terminal", lambda: True)
    curate(*BY_MODEL, code=5)
    assert len(server.asked) == 4


def test_redacted_values_are_reported_and_reach_no_server(
    curate: Ricordo, transcript: Path, server: MessagesServer
) -> None:
    tokens = (f"The token is {it}." for it in (TOKEN, TOKEN.swapcase(), TOKEN))
    transcript.write_text(user_lines(SAID, *tokens), "utf-8")
    told = curate(*BY_MODEL)
    assert SAID.encode() in server.received
    assert TOKEN.encode() not in server.received
    assert TOKEN not in told
    # redactions of one session are grouped, under a short name
    lines = told.split("\n")
    at = lines.index(f"ricordo: redacted from session {SESSION}:")
    kinds = [re.sub(r"[0-9a-f]{24}", "ID", it) for it in lines[at + 1 : at + 3]]
    assert kinds == ["ricordo:   github-token, 2 times (ID)", "ricordo:   api-key, once (ID)"]
    assert str(transcript.parent) not in "\n".join(lines[at:])


def test_a_value_is_allowed_by_its_id_and_redacted_again(
    curate: Ricordo, transcript: Path, server: MessagesServer
) -> None:
    transcript.write_text(user_lines(SAID, f"The token is {TOKEN}."), "utf-8")
    told = curate("--brief")
    assert TOKEN not in told
    found = re.search(r"github-token, once \(([0-9a-f]{24})\)", told)
    assert found is not None
    name = found[1]
    told = curate("--allow", name)
    assert told.startswith(
        f"allowed to be sent from now on: github-token from session {SESSION}, once"
    )
    assert TOKEN not in told
    told = curate("--brief")
    assert f"The token is {TOKEN}." in told
    assert f"allowed: github-token ({name})" in told
    assert "value has the id" in curate("--allow", name, code=2)
    assert curate("--withhold", name) == "redacted from now on: github-token\n"
    assert "value has the id" in curate("--withhold", name, code=2)
    assert not server.asked
    curate(*BY_MODEL)
    assert TOKEN.encode() not in server.received


AT_KEYBOARD = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("ricordo", run_name="__main__", alter_sys=True)
"""
"""The command as at a keyboard: what a shell starts behind its back ignores the interrupt."""


def test_cancelled_from_the_keyboard_nothing_is_changed(
    ricordo: Ricordo, memory: Path, transcript: Path, server: MessagesServer
) -> None:
    is_asked = threading.Event()

    def silent(wire: Wire, asked: Asked) -> None:
        is_asked.set()
        wire.stall()

    server.scripts[:] = [silent]
    before = contents(memory)
    words = ("curate", "-m", str(memory), "--session", str(transcript), *BY_MODEL)
    process = subprocess.Popen(
        [sys.executable, "-c", AT_KEYBOARD, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    try:
        assert is_asked.wait(60)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130
    assert told.endswith("ricordo: Interrupted. Nothing was changed.\n")
    assert contents(memory) == before
    assert json.loads(ricordo("pending", "--json"))["changes"] == []


# By a program


@pytest.fixture
def program(tmp_path: Path, pinned: Path) -> Path:
    """Return a program that is set, proposes a change, and keeps what it was given. Its folder has
    a space in its name.
    """
    path = write_program(tmp_path / "my programs" / "model", saying(MOVED))
    put(pinned, f'[engine]\nuse = "command"\ncommand = ["{path}", "two words"]\n')
    return path


def test_a_new_program_is_shown_and_not_run_where_nobody_can_be_asked(
    curate: Ricordo, program: Path
) -> None:
    told = curate(code=4)
    assert f"This program was not run before: {quote(str(program))} 'two words'." in told
    assert told.endswith("Nothing was changed.\n")
    assert not (program.parent / "given").exists()


@pytest.mark.parametrize("words", [(), ("--yes",)])
def test_a_dry_run_shows_the_line_of_a_new_program_and_what_it_would_read(
    words: tuple[str, ...], curate: Ricordo, ricordo: Ricordo, program: Path, memory: Path
) -> None:
    before = contents(memory)
    told = curate("--dry-run", *words)
    assert f"This program was not run before: {quote(str(program))} 'two words'\n" in told
    assert "The program was not run; below is what it would read." in told
    assert SAID in told
    document = json.loads(curate("--dry-run", "--json", *words).partition("\n")[0])
    assert SAID in document["brief"]
    assert (document["engine"], document["model"]) == ("command", "model")
    assert (document["changes"], document["rejected"]) == ([], [])
    assert document["usage"]["input_tokens"] == 0
    assert not (program.parent / "given").exists()
    # nothing was decided by it
    assert "was not run before" in curate(code=4)
    assert (contents(memory), runs(ricordo)) == (before, [])


def test_a_program_is_confirmed_once_and_again_when_its_line_changes(
    curate: Ricordo,
    ricordo: Ricordo,
    program: Path,
    pinned: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as at_terminal:
        at_terminal.setattr("ricordo.cli.output.is_at_terminal", lambda: True)
        curate(given="no\n", code=4)
        told = curate(given="run\n")
    assert "Type “run” to allow it to run, now and later:" in told
    assert "turn off its memory, hooks and tools" in told
    assert "asking model: about" in told
    assert "not run before" not in curate()
    assert [it["path"] for it in json.loads(ricordo("pending", "--json"))["changes"]] == [
        "tides.md"
    ]
    assert [run["engine"] for run in runs(ricordo)] == ["command", "command"]
    put(pinned, f'[engine]\nuse = "command"\ncommand = ["{program}", "--other"]\n')
    curate(code=4)
    told = curate("--yes")
    assert f"not run before: {quote(str(program))} --other" in told
    assert "0 applied, 1 not applied" in told
    curate()


def test_words_that_do_not_fit_an_engine_are_refused(curate: Ricordo, pinned: Path) -> None:
    assert "The rules have no model" in curate("--model", "claude-haiku-4-5", code=2)
    assert "No program set" in curate("--engine", "command", code=2)
    put(pinned, '[engine]\ncommand = ["claude", "--resume", "x"]\n')
    assert "Remove it." in curate("--engine", "command", code=2)
    curate("--engine", "magic", code=2)


def test_a_merge_keeps_the_frontmatter_of_the_note_that_stays(
    curate: Ricordo, ricordo: Ricordo, memory: Path, server: MessagesServer
) -> None:
    head = (memory / "tides.md").read_text("utf-8").split("---\n")[1]
    merged = "The port is Lagos. All ports: Sines, Faro, Lagos and Sagres.\n"
    merge = {**EMPTY, "op": "merge", "note": "n2", "other": "n1", "text": merged}
    server.scripts[:] = [proposing(merge)]
    curate(*BY_MODEL)
    (waiting,) = json.loads(ricordo("pending", "--json"))["changes"]
    assert "removes the note ports.md" in waiting["warnings"]
    assert not any("head" in it for it in waiting["warnings"])
    ricordo("pending", "--apply", waiting["id"])
    assert (memory / "tides.md").read_text("utf-8") == f"---\n{head}---\n\n{merged}"
    assert not (memory / "ports.md").exists()


def test_a_merge_gives_frontmatter_to_a_note_that_has_none(
    curate: Ricordo, ricordo: Ricordo, memory: Path, server: MessagesServer
) -> None:
    (memory / "bare.md").write_text("# Berths\n\nBerth 12 is deep.\n", "utf-8")
    settle(memory)
    merged = "# Berths\n\nBerth 12 is deep. Ports: Sines, Faro, Lagos and Sagres.\n"
    merge = {**EMPTY, "op": "merge", "note": "n1", "other": "n2", "text": merged}
    server.scripts[:] = [proposing(merge)]
    curate(*BY_MODEL)
    (waiting,) = json.loads(ricordo("pending", "--json"))["changes"]
    assert waiting["path"] == "bare.md"
    ricordo("pending", "--apply", waiting["id"])
    written = (memory / "bare.md").read_text("utf-8")
    assert re.fullmatch(
        r"---\nname: \S+\ndescription: All ports\nmetadata:\n  type: \w+\n---\n\n"
        + re.escape(merged),
        written,
    ), written


@pytest.mark.parametrize(
    "line",
    [
        "The password of the staging database is kitten-Harbour-4711.",
        "`sshpass -p Kx9mQ2vLp7` opens the gate.",
        f"The token is {TOKEN}.",
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAE\n"
        "bm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZWQy\n-----END OPENSSH PRIVATE KEY-----",
    ],
)
def test_no_credential_of_a_note_is_printed_with_a_proposal_and_what_is_written_has_it(
    curate: Ricordo, ricordo: Ricordo, memory: Path, server: MessagesServer, line: str
) -> None:
    values = ("kitten-Harbour-4711", "Kx9mQ2vLp7", TOKEN, "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAE")
    (value,) = (it for it in values if it in line)
    ports = memory / "ports.md"
    ports.write_text(ports.read_text("utf-8") + f"\n{line}\n\nSines is deep.\n", "utf-8")
    settle(memory)
    retire, add = (
        {**EMPTY, "op": "retire", "note": "n1", "other": "n2"},
        {
            **EMPTY,
            "op": "replace",
            "note": "n1",
            "old": "deep.",
            "text": "deep, the port is Lagos.",
        },
    )
    server.scripts[:] = [proposing(retire), proposing(add), proposing(retire)]
    printed = curate(*BY_MODEL, "--dry-run")
    printed += curate(*BY_MODEL, "--json") + curate(*BY_MODEL)
    for words in ([], ["--json"], ["--apply"], ["--apply", "--json"]):
        printed += ricordo("pending", *words)
    assert "[secret: " in printed
    assert value not in printed
    assert "deep, the port is Lagos" in ports.read_text("utf-8")
    assert value in ports.read_text("utf-8")
    (waiting,) = json.loads(ricordo("pending", "--json"))["changes"]
    assert value not in ricordo("pending", "--drop", waiting["id"]) + ricordo("undo")
    assert value not in ricordo("pending", "--apply", waiting["id"], code=4)


HIDDEN = "Ask Rui\u202e, then Marta\u200b."


@pytest.mark.parametrize(
    ("edit", "warning"),
    [
        ({"op": "replace", "old": "Sines", "text": "Lagos", "evidence": []}, "no evidence"),
        (
            {"op": "replace", "old": "Sines", "text": "Lagos Sines", "quote": "drop all tables"},
            "quote not found in",
        ),
        (
            {"op": "replace", "old": "Sines", "text": "Lagos Sines", "quote": "e"},
            "quote too short",
        ),
        ({"op": "insert", "text": HIDDEN}, "adds invisible characters"),
        # as many as before, and others
        ({"op": "replace", "old": "\u200c", "text": "\u202e"}, "invisible characters"),
        ({"op": "retire", "other": "n1"}, "removes the note tides.md"),
        ({"op": "merge", "other": "n1", "text": "The port is Sines. Sines, Faro, Lagos and "
          "Sagres."}, "removes the note ports.md"),
    ],
)  # fmt: skip
def test_apply_by_itself_leaves_what_has_a_warning_and_says_why(
    curate: Ricordo,
    ricordo: Ricordo,
    memory: Path,
    server: MessagesServer,
    edit: dict[str, Any],
    warning: str,
) -> None:
    tides = memory / "tides.md"
    tides.write_text(tides.read_text("utf-8") + "The port is\u200c open.\n", "utf-8")
    settle(memory)
    fields = {**EMPTY, "note": "n2", "after_line": 9, **edit}
    if quote := fields.pop("quote", ""):
        fields["evidence"] = [{"source": "t1", "quote": quote}]
    server.scripts[:] = [proposing(fields)]
    curate(*BY_MODEL)
    before = contents(memory)
    done = run_forked("pending", "--apply", str(memory), environ=os.environ, cwd=Path.cwd())
    assert done.returncode == 0, done.stderr
    assert "0 applied, 1 not applied" in done.stdout.decode()
    assert warning in done.stdout.decode()
    assert contents(memory) == before
    (waiting,) = json.loads(ricordo("pending", "--json"))["changes"]
    (left,) = json.loads(ricordo("pending", "--apply", "--json", given=""))["left"]
    assert (left["id"], warning in left["why"]) == (waiting["id"], True)
    assert "1 applied, 0 not applied" in ricordo("pending", "--apply", waiting["id"], given="")
    assert contents(memory) != before


def test_two_hundred_new_notes_are_not_written_by_one_word(
    curate: Ricordo, ricordo: Ricordo, memory: Path, server: MessagesServer, transcript: Path
) -> None:
    turns = [f"Remember that crane {n} stands at berth {n}." for n in range(200)]
    transcript.write_text(user_lines(*turns), "utf-8")
    notes = [
        {
            **EMPTY, "op": "create", "name": f"crane {n}", "type": "project", "description": "d",
            "text": f"Crane {n} stands at berth {n}.",
            "evidence": [{"source": f"t{n + 1}", "quote": turns[n]}],
        }
        for n in range(200)
    ]  # fmt: skip
    before = contents(memory)
    # what is proposed again counts once
    server.scripts[:] = [proposing(*notes[:12])]
    for _ in range(2):
        assert "new notes within a day" not in curate(*BY_MODEL)
    server.scripts[:] = [proposing(*notes[:150]), proposing(*notes[150:]), proposing()]
    assert "150 proposed" in curate(*BY_MODEL)
    assert "50 proposed, 0 rejected, 150 pending from before\n" in curate(*BY_MODEL)
    told = ricordo("pending", "--apply", given="")
    assert "0 applied, 200 not applied" in told
    assert "150 new notes within a day, limit 12" in told
    assert contents(memory) == before
    assert "0 applied, 200 not applied" in curate(*BY_MODEL, "--yes")


def test_yes_applies_what_is_routine_and_nothing_else(
    curate: Ricordo, ricordo: Ricordo, memory: Path, transcript: Path
) -> None:
    transcript.write_text(
        user_lines("From now on write commands with uv run, not with pip."), "utf-8"
    )
    index = memory / "MEMORY.md"
    (memory / "quay.md").write_text(note_text("quay", "Long.\n", "The long quay"), "utf-8")
    index.write_text(index.read_text("utf-8") + "- [tides](tides.md) — which port\n", "utf-8")
    (memory / "lamps.md").write_text(
        note_text("lamps", "Lamps: [tides](old_tides.md).\n", "All lamps"), "utf-8"
    )
    index.write_text(index.read_text("utf-8") + "- [lamps](lamps.md) — All lamps\n", "utf-8")
    settle(memory)
    told = curate("--yes")
    assert "not applied: " in told
    assert " create " in told
    assert index.read_text("utf-8").count("(tides.md)") == 1
    assert "(quay.md)" in index.read_text("utf-8")
    assert set(contents(memory)) == {"MEMORY.md", "lamps.md", "ports.md", "quay.md", "tides.md"}
    pending = json.loads(ricordo("pending", "--json"))["changes"]
    assert "create" in [it["op"] for it in pending]
