"""The exit codes of docs/commands.md, each provoked in every command where it can occur.

Calls are made with `--json` and without: the code is the same, and an error is one line
on stderr, and with `--json` the document on stdout too.
"""

from __future__ import annotations

import io
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from ricordo.cli.main import COMMANDS, OPEN, load_command
from ricordo.cli.parser import Command
from ricordo.errors import MemoryUnreadable
from ricordo.memory.layout import Layout
from ricordo.memory.memory import Memory
from ricordo.storage.reader import read_memory
from tests.contract.conftest import Answer, Call
from tests.contract.test_json import NO_DOCUMENT, resume
from tests.contract.test_printing import (
    SECRET,
    World,
    after,
    after_curation,
    curate,
    hand_off,
    on,
    purge,
    restore,
)
from tests.support.builders import note_text, write_memory
from tests.support.curating import user_lines
from tests.support.documents import read_document
from tests.support.doubts import SUMMARY, doubtful_files
from tools.json_schemas import list_kinds

DOCS = Path(__file__).parents[2] / "docs"
Words = Callable[[World], list[str]]


class Attempt(NamedTuple):
    """A command line, and what it needs."""

    words: Words
    given: str = ""
    environ: Mapping[str, str] = {}
    kind: str = ""
    """The kind of the error."""
    is_repeated: bool = True
    """Whether a second call ends as the first one; else only the one with `--json` is made."""


def plain(*words: str) -> Words:
    """Return the words of a command without a memory."""
    return lambda _: list(words)


def elsewhere(*words: str) -> Words:
    """Return the words of a command on a memory that is not there."""
    return lambda world: [*words, "-m", str(world.memory / "nowhere")]


DONE: dict[str, Attempt] = {
    "open": Attempt(on()),
    "demo": Attempt(plain("demo")),
    "list": Attempt(plain("list")),
    "load": Attempt(on("load")),
    "show": Attempt(on("show", "café")),
    "search": Attempt(on("search", "café")),
    "recall": Attempt(on("recall", "where is the café of the port")),
    "usage": Attempt(on("usage")),
    "lint": Attempt(on("lint", "--fail-on", "never")),
    "rule": Attempt(plain("rule", "dead-link")),
    "conflicts": Attempt(after("retire", "web")(on("conflicts"))),
    "curate": Attempt(curate),
    "pending": Attempt(on("pending")),
    "ledger": Attempt(on("ledger")),
    "handoff": Attempt(hand_off),
    "resume": Attempt(resume),
    "new": Attempt(on("new", "Quay")),
    "rename": Attempt(on("rename", "tides", "ebb")),
    "retire": Attempt(on("retire", "web")),
    "inbox": Attempt(on("inbox")),
    "review": Attempt(on("review")),
    "history": Attempt(on("history")),
    "undo": Attempt(after("retire", "web")(on("undo"))),
    "redo": Attempt(after("retire", "web")(after("undo")(on("redo")))),
    "restore": Attempt(restore),
    "purge": Attempt(purge, f"{SECRET}\n"),
    "connect": Attempt(plain("connect", "--status")),
    "disconnect": Attempt(plain("disconnect", "--dry-run")),
    "doctor": Attempt(plain("doctor")),
    "config": Attempt(plain("config")),
}
"""A call of each command that ends with 0."""


def resume_changed(world: World) -> list[str]:
    world.write("uv.md", note_text("uv", "Write commands with uv run, not with pip.\n"))
    words = resume(world)
    world.write("uv.md", note_text("uv", "Write commands with make.\n"))
    return words


def verify_damaged(world: World) -> list[str]:
    path = world.home / ".local/state/ricordo/history.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM blob")
    return on("history", "--verify")(world)


def open_state(world: World) -> list[str]:
    state = world.home / ".local/state/ricordo"
    state.mkdir(parents=True, exist_ok=True)
    state.chmod(0o755)
    return ["doctor"]


SOMETHING: dict[str, list[Attempt]] = {
    "doctor": [Attempt(open_state)],
    "lint": [Attempt(on("lint", "--fail-on", "warning")), Attempt(on("lint", "--fail-on", "info"))],
    "conflicts": [Attempt(on("conflicts"))],
    "search": [
        Attempt(on("search", "zeppelins moored")),
        Attempt(plain("search", "zebra", "--all")),
    ],
    "recall": [Attempt(on("recall", "zeppelins moored")), Attempt(on("recall", "--ambient"))],
    "history": [Attempt(verify_damaged)],
    "resume": [Attempt(resume_changed)],
}
"""Calls that report something: exit code 1."""


def two_quays(world: World) -> None:
    for folder in ("one", "two"):
        (world.memory / folder).mkdir()
        world.write(f"{folder}/quay.md", "Text.\n")


def ambiguous(*words: str) -> Words:
    def words_of(world: World) -> list[str]:
        two_quays(world)
        return on(*words)(world)

    return words_of


def between(*words: str) -> Words:
    """Return words with a project that has two memories."""

    def words_of(world: World) -> list[str]:
        project = world.work / "both"
        for folder in ("docs/memory", "memories"):
            (project / folder).mkdir(parents=True, exist_ok=True)
            (project / folder / "web.md").write_text("Text.\n", "utf-8")
        return [*words, "-m", str(project)]

    return words_of


USAGE: dict[str, list[Attempt]] = {
    "open": [Attempt(plain("lst")), Attempt(between(), kind="ambiguous-memory")],
    "load": [Attempt(between("load"), kind="ambiguous-memory")],
    "show": [Attempt(ambiguous("show", "quay"), kind="ambiguous-note"), Attempt(plain("show"))],
    "search": [
        Attempt(on("search", "café after:yesterday")),
        Attempt(on("search", "type:nosuch")),
        Attempt(on("search", "café", "--all")),
        Attempt(on("search", "café", "-n", "0")),
        Attempt(on("search", "café OR tag:nosuch")),
        Attempt(between("search", "café"), kind="ambiguous-memory"),
        Attempt(on("search", " ")),
    ],
    "recall": [Attempt(on("recall"))],
    "usage": [Attempt(on("usage", "--drop", "never searched"))],
    "lint": [
        Attempt(on("lint", "--rule", "no-such-rule")),
        Attempt(on("lint", "--dismiss", "no-such-id")),
        Attempt(on("lint", "--unsafe")),
        Attempt(on("lint", "--project", "/nowhere")),
        Attempt(on("lint", "--ignore", "no-such-rule")),
        Attempt(on("lint", "-C", "/nowhere")),
        Attempt(on("lint", "--color", "sometimes")),
    ],
    "rule": [Attempt(plain("rule", "no-such-rule"))],
    "conflicts": [
        Attempt(on("conflicts", "--resolve", "no-such-id", "--keep", "left")),
        Attempt(on("conflicts", "--keep", "left")),
        Attempt(on("conflicts", "--reason", "none")),
    ],
    "curate": [
        Attempt(on("curate", "--since", "soon")),
        Attempt(on("curate", "--session", "/nowhere.jsonl")),
        Attempt(lambda world: [*curate(world), "--allow", "no-such-id"]),
        Attempt(on("curate", "--engine", "command")),
    ],
    "pending": [
        Attempt(on("pending", "--apply", "0123456789ab")),
        Attempt(on("pending", "--drop", "0123456789ab")),
        Attempt(on("pending", "--apply", "--drop")),
        Attempt(on("pending", "--reason", "none")),
    ],
    "handoff": [
        Attempt(lambda world: [*hand_off(world), "--budget", "9"]),
        Attempt(on("handoff", "--session", "/nowhere.jsonl")),
    ],
    "new": [
        Attempt(on("new", "Quay", "--type", "nosuch")),
        Attempt(on("new", "../quay")),
        Attempt(on("new", "-")),
        Attempt(between("new", "Quay"), kind="ambiguous-memory"),
    ],
    "rename": [Attempt(ambiguous("rename", "quay", "ebb"), kind="ambiguous-note")],
    "retire": [Attempt(ambiguous("retire", "quay"), kind="ambiguous-note")],
    "inbox": [Attempt(on("inbox", "--revert", "web", "--keep-all"))],
    "restore": [Attempt(on("restore", "café", "--at", "99.9"))],
    "history": [
        Attempt(on("history", "--drop")),
        Attempt(on("history", "--older-than", "0")),
        Attempt(ambiguous("history", "quay"), kind="ambiguous-note"),
    ],
    "purge": [Attempt(plain("purge"), "abc\n")],
    "connect": [Attempt(plain("connect", "emacs"))],
    "disconnect": [Attempt(plain("disconnect", "emacs"))],
    "config": [
        Attempt(plain("config", "delete")),
        Attempt(plain("config", "edit"), environ={"VISUAL": "/nowhere/editor"}),
    ],
}
"""Wrong usage that only this command can have."""

NOT_FOUND: dict[str, list[Attempt]] = {
    **{
        name: [Attempt(elsewhere(*words), kind="memory-not-found")]
        for name, words in {
            "open": (),
            "load": ("load",),
            "search": ("search", "café"),
            "recall": ("recall", "the café"),
            "usage": ("usage",),
            "lint": ("lint",),
            "conflicts": ("conflicts",),
            "curate": ("curate",),
            "pending": ("pending",),
            "ledger": ("ledger",),
            "handoff": ("handoff",),
            "new": ("new", "Quay"),
            "review": ("review",),
            "undo": ("undo",),
            "redo": ("redo",),
        }.items()
    },
    **{
        name: [
            Attempt(elsewhere(name, *words), kind="memory-not-found"),
            Attempt(on(name, *words), kind="note-not-found"),
        ]
        for name, words in {
            "show": ("reef",),
            "rename": ("reef", "ebb"),
            "retire": ("reef",),
            "restore": ("reef",),
            "history": ("reef",),
            "inbox": ("--revert", "reef"),
        }.items()
    },
    "resume": [Attempt(plain("resume", "nowhere.md"), kind="handoff-unreadable")],
}
"""What is not there, or cannot be read."""


def undo_purged(world: World) -> list[str]:
    world.write("web.md", note_text("web", f"The key is {SECRET}.\n"))
    world.call("retire", "web")
    world.purge()
    return on("undo")(world)


def redo_purged(world: World) -> list[str]:
    world.write("web.md", note_text("web", f"The key is {SECRET}.\n"))
    world.call("retire", "web")
    world.call("undo")
    world.purge()
    return on("redo")(world)


def revert_purged(world: World) -> list[str]:
    world.write("web.md", note_text("web", f"The key is {SECRET}.\n"))
    world.call("inbox", "--keep-all")
    world.write("web.md", note_text("web", "There is no key.\n"))
    world.call("inbox")
    world.purge()
    return on("inbox", "--revert", "web")(world)


def hand_off_over_a_file(world: World) -> list[str]:
    words = hand_off(world)
    for name in ("HANDOFF.md", "HANDOFF.new.md"):
        (world.work / name).write_text("Mine.\n", "utf-8")
    return words


def judge(world: World) -> list[str]:
    write_memory(world.memory, doubtful_files(*SUMMARY))
    return on("conflicts", "--judge")(world)


def by_program(words: Words) -> Words:
    """Return words with a program that nobody has allowed."""

    def words_of(world: World) -> list[str]:
        world.configure('engine.command = ["cat"]')
        return [*words(world), "--engine", "command"]

    return words_of


REFUSED: dict[str, list[Attempt]] = {
    "new": [Attempt(on("new", "web"), kind="refused")],
    "rename": [Attempt(on("rename", "tides", "web"), kind="refused")],
    "retire": [Attempt(on("retire", "web", "--successor", "web"), kind="refused")],
    "undo": [Attempt(undo_purged, kind="refused", is_repeated=False)],
    "redo": [Attempt(redo_purged, kind="refused", is_repeated=False)],
    "inbox": [Attempt(revert_purged, kind="refused")],
    "curate": [Attempt(by_program(curate), kind="unconfirmed")],
    "conflicts": [Attempt(by_program(judge), kind="unconfirmed")],
    "handoff": [
        Attempt(hand_off_over_a_file, kind="refused"),
        Attempt(by_program(hand_off), kind="unconfirmed"),
    ],
    "connect": [Attempt(plain("connect", "opencode"), kind="unconfirmed")],
    "config": [Attempt(plain("config", "edit"), environ={"VISUAL": "false"}, kind="refused")],
}
"""What only this command refuses; all refuse an unusable state."""


def by_model(words: Words) -> Words:
    return lambda world: [*words(world), "--engine", "anthropic", "--model", "some-model"]


def too_often(world: World) -> list[str]:
    world.configure("curate.hour = 1")
    after_curation(on())(world)
    world.call("pending", "--apply")
    world.transcript.write_text(user_lines("I prefer small commits."), "utf-8")
    return curate(world)


def over_budget(world: World) -> list[str]:
    world.configure("engine.day = 1")
    return by_model(curate)(world)


KEY = {"ANTHROPIC_API_KEY": "no-key", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
UNANSWERED: dict[str, list[Attempt]] = {
    "curate": [
        Attempt(by_model(curate), kind="needs-key"),
        Attempt(by_model(curate), environ=KEY, kind="needs-network"),
        Attempt(over_budget, environ=KEY, kind="over-budget"),
        Attempt(too_often, kind="rate-limited"),
    ],
    "conflicts": [Attempt(by_model(judge), kind="needs-key")],
}
"""Engines that cannot answer; a handoff is then composed by the rules."""

BY_CODE: dict[int, dict[str, list[Attempt]]] = {
    1: SOMETHING,
    2: USAGE,
    3: NOT_FOUND,
    4: REFUSED,
    5: UNANSWERED,
}
EVERY = [name for name in (OPEN, *COMMANDS) if name not in NO_DOCUMENT]


class Machine(World):
    """A world with settings and purges."""

    def configure(self, line: str) -> None:
        config = self.home / ".config/ricordo"
        config.mkdir(parents=True, exist_ok=True)
        (config / "settings.toml").write_text(f"{line}\n", "utf-8")

    def purge(self) -> None:
        subprocess.run(
            [sys.executable, "-m", "ricordo", "purge", "--yes"],
            input=SECRET.encode(),
            capture_output=True,
            check=True,
            timeout=60,
        )


@pytest.fixture
def world(tmp_path: Path, pinned: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    made = Machine(tmp_path, pinned)
    monkeypatch.chdir(made.work)
    return made


def check(answer: Answer, code: int, name: str, *, as_json: bool, kind: str = "") -> None:
    """Assert that a call ended with `code` and printed what belongs to it."""
    assert answer.code == code, answer
    assert "Traceback" not in answer.err
    if code < 2:
        if as_json:
            read_document(answer.out, name)
        return
    last = answer.err.splitlines()[-1]
    assert last.startswith("ricordo: ")
    assert last.endswith(".")
    if not as_json:
        assert answer.out == ""
        return
    error = read_document(answer.out, "error")["error"]
    assert error["exit_code"] == code
    assert list_kinds()[error["kind"]][0] == code
    assert error["message"] in last
    assert not kind or error["kind"] == kind


def check_both(
    call: Call, words: Sequence[str], code: int, name: str, *, given: str = "", kind: str = ""
) -> None:
    """Assert it of a call that changes nothing, without `--json` and with it."""
    check(call(*words, given=given), code, name, as_json=False)
    check(call(*words, "--json", given=given), code, name, as_json=True, kind=kind)


@pytest.mark.parametrize("name", EVERY)
def test_what_is_done_ends_with_0(world: World, call: Call, name: str) -> None:
    case = DONE[name]
    check(call(*case.words(world), given=case.given), 0, name, as_json=False)


@pytest.mark.parametrize("name", EVERY)
def test_every_command_takes_the_common_options(world: World, call: Call, name: str) -> None:
    case = DONE[name]
    common = ["--debug", "--quiet", "--color", "never", "-C", ".", "--agent-home", str(world.home)]
    common += ["--state", os.environ["RICORDO_STATE"], "--now", os.environ["RICORDO_NOW"]]
    check(call(*case.words(world), *common, given=case.given), 0, name, as_json=False)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("code", "name", "case"),
    [
        pytest.param(code, name, case, id=f"{code}-{name}-{number}")
        for code, of_code in BY_CODE.items()
        for name, cases in of_code.items()
        for number, case in enumerate(cases)
    ],
)
def test_each_code_in_each_command_where_it_can_occur(
    world: World,
    call: Call,
    monkeypatch: pytest.MonkeyPatch,
    code: int,
    name: str,
    case: Attempt,
) -> None:
    for key in KEY:
        monkeypatch.delenv(key, raising=False)
    words = case.words(world)
    for key, value in case.environ.items():
        monkeypatch.setenv(key, value)
    if case.is_repeated:
        check(call(*words, given=case.given), code, name, as_json=False)
    answer = call(*words, "--json", given=case.given)
    check(answer, code, name, as_json=True, kind=case.kind)


@pytest.mark.parametrize("name", EVERY)
def test_codes_that_every_command_can_have(
    world: World, call: Call, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    words = DONE[name].words(world)
    check_both(call, [*words, "--no-such"], 2, name, kind="usage")
    for error, code, kind in (
        (RuntimeError, 70, "internal"),
        (KeyboardInterrupt, 130, "interrupted"),
    ):

        def fail(*_: object, raised: type[BaseException] = error) -> int:
            raise raised

        def load(name: str, run: Callable[..., int] = fail) -> Command:
            return load_command(name)._replace(run=run)

        monkeypatch.setattr("ricordo.cli.main.load_command", load)
        check_both(call, words, code, name, kind=kind)


@pytest.mark.parametrize("name", EVERY)
def test_an_unusable_state_is_refused(world: World, call: Call, name: str) -> None:
    case = DONE[name]
    words = case.words(world)
    os.mkfifo(world.home / ".local/state/ricordo/pipe")
    if name == "doctor":
        # it reports what the others are refused for
        check(call(*words), 1, name, as_json=False)
        return
    check_both(call, words, 4, name, given=case.given, kind="state-unusable")


class FullDevice(io.StringIO):
    """A standard output that takes nothing."""

    def write(self, _: str) -> int:
        raise OSError(28, "No space left on device")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("as_json", [(), ("--json",)], ids=["plain", "json"])
def test_a_result_that_cannot_be_printed_has_its_code(
    world: World, call: Call, name: str, as_json: Sequence[str]
) -> None:
    case = DONE[name]
    answer = call(*case.words(world), *as_json, given=case.given, stdout=FullDevice())
    assert answer.code == 74, answer
    assert "could not be printed: No space left on device." in answer.err.splitlines()[-1]


def test_a_named_proposal_that_is_not_applied_is_refused_and_listed(
    world: World, call: Call
) -> None:
    after_curation(on())(world)
    proposal = world.json("pending")["changes"][0]
    (world.memory / proposal["path"]).write_text("Somebody else wrote this.\n", "utf-8")
    answer = call(*on("pending", "--apply", proposal["id"], "--json")(world))
    assert answer.code == 4
    document = read_document(answer.out, "pending")
    assert [left["id"] for left in document["left"]] == [proposal["id"]]
    assert answer.err.splitlines()[-1].startswith(f"ricordo: Not applied: {proposal['id']} ")
    assert answer.err.endswith(" Nothing was changed.\n")


def test_a_memory_that_cannot_be_read_is_listed_beside_the_others(
    world: World, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = write_memory(world.work / "other", {"MEMORY.md": "# Memory\n", "a.md": "Text.\n"})

    def read_some(root: str, layout: Layout, before: Memory | None = None) -> Memory:
        if root == str(other):
            raise MemoryUnreadable(f"{root} cannot be read: Permission denied.")
        return read_memory(root, layout, before)

    monkeypatch.setattr("ricordo.services.workspace.notebook.read_memory", read_some)
    answer = call("lint", str(world.memory), str(other), "--json", "--fail-on", "never")
    assert answer.code == 3
    document = read_document(answer.out, "lint")
    assert [each["memory"]["path"] for each in document["memories"]] == [str(world.memory)]
    (error,) = document["errors"]
    assert (error["kind"], error["exit_code"]) == ("memory-unreadable", 3)
    assert "Permission denied" in answer.err


def test_an_interrupted_process_says_so_in_one_line(world: World, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "body")
    with subprocess.Popen(
        [sys.executable, "-m", "ricordo", *on("new", "Quay", "--json")(world)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # a shell lets what it starts in the background ignore the signal
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        # it waits for the body
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(2)
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.wait(60) == 130
        error = read_document(process.stdout.read(), "error")["error"]
        assert process.stderr.read() == "ricordo: Interrupted. Nothing was changed.\n"
    assert error["kind"] == "interrupted"
    assert not (world.memory / "quay.md").exists()


def test_the_page_names_every_code() -> None:
    table = re.findall(r"^\| (\d+) \|", (DOCS / "commands.md").read_text("utf-8"), re.MULTILINE)
    codes = {code for code, _ in list_kinds().values()}
    assert set(map(int, table)) == {0, 1, 74, *codes}


def test_every_command_is_tried_here() -> None:
    assert set(DONE) == set(EVERY)


def test_the_rules_compose_a_handoff_if_the_model_cannot_answer(world: World, call: Call) -> None:
    check(call(*by_model(hand_off)(world)), 0, "handoff", as_json=False)
