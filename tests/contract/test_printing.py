"""What a command says where its result cannot be printed, or not in every character.

Every command that changes something is called with a stdout that is full, closed or not read: the
messages must match what was done. On a stdout that lacks characters it prints. Where each command
is tried, its process is forked; that one which Python starts does the same is shown by few.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, redirect_stderr, redirect_stdout
from io import StringIO
from itertools import cycle, product
from pathlib import Path
from typing import NamedTuple

import pytest
from _pytest.mark import ParameterSet

from ricordo.cli.main import COMMANDS, run
from tests.support.builders import note_text, write_memory
from tests.support.curating import SESSION, user_lines
from tests.support.figures import figure
from tests.support.forking import UNREAD, run_forked
from tests.unit.cli.conftest import contents, settle

SECONDS = 120
NOTHING = "Nothing was changed"
OLD, NEW = "The web view listens on port 8040.\n", "The web view listens on port 8100.\n"
RULE = "From now on write “naïve” commands with uv run → not with pip."
SECRET = "hunter2-hunter2"


def dated(name: str, body: str, day: str) -> str:
    return note_text(name, body).replace("  type:", f"  modified: {day}\n  type:")


NOTES = {
    "MEMORY.md": "# Memory\n\n- [Café → port](café.md) — “where”\n- [Web](web.md) — which port\n"
    "- [Tides](tides.md) — when\n- [Tides](tides.md) — when\n",
    "café.md": dated("café", OLD, "2026-01-02"),
    "web.md": dated("web", NEW, "2026-03-04"),
    "tides.md": note_text("tides", "See [[café]] and [the café](café.md) – naïve.\n"),
}


class World:
    """A memory, a state and a home, and `ricordo` called there in this process or another."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.home = home
        self.memory = write_memory(folder / "memory", NOTES)
        self.work = folder / "work"
        self.work.mkdir()
        self.transcript = folder / f"{SESSION}.jsonl"
        self.transcript.write_text(user_lines("Fix the test.", RULE), "utf-8")
        self.call("inbox")

    def call(self, *words: str) -> str:
        """Call `ricordo` in this process; return what it printed."""
        settle(self.memory)
        out = StringIO()
        with redirect_stdout(out), redirect_stderr(StringIO()):
            run([*words, "-m", str(self.memory)])
        return out.getvalue()

    def json(self, *words: str) -> dict[str, list[dict[str, str]]]:
        document: dict[str, list[dict[str, str]]] = json.loads(self.call(*words, "--json"))
        return document

    def snapshot(self) -> object:
        """Return all that a command of this test may change."""
        state = self.home / ".local/state/ricordo"
        kept: dict[str, object] = {**contents(state / "curation")}
        for file, table in (
            ("history.db", "act"),
            ("history.db", "blob"),
            ("recall/usage.db", "gap"),
        ):
            if (state / file).exists():
                with closing(sqlite3.connect(state / file)) as connection:
                    kept[table] = connection.execute(f"SELECT * FROM {table}").fetchall()
        return kept, *map(contents, (self.memory, self.work, self.home / ".config"))

    def write(self, name: str, text: str) -> None:
        """Write a note as an agent does."""
        (self.memory / name).write_text(text, "utf-8")
        settle(self.memory)

    def fork(
        self,
        words: list[str],
        redirected: str = "",
        environ: Mapping[str, str] | None = None,
        given: bytes = b"",
    ) -> subprocess.CompletedProcess[bytes]:
        """Run `ricordo` in a process that is forked, its streams `redirected` as by a shell."""
        settle(self.memory)
        return run_forked(
            *words,
            environ={**os.environ, **(environ or {})},
            cwd=self.work,
            given=given,
            redirected=redirected,
        )

    def start(
        self,
        words: list[str],
        redirected: str = "",
        environ: Mapping[str, str] | None = None,
        given: bytes = b"",
    ) -> subprocess.CompletedProcess[bytes]:
        """Run `ricordo` in a process of its own, its streams `redirected` by the shell."""
        settle(self.memory)
        return subprocess.run(
            ["sh", "-c", f'"$@" {redirected}', "sh", sys.executable, "-m", "ricordo", *words],
            input=given,
            capture_output=True,
            env={**os.environ, **(environ or {})},
            cwd=self.work,
            timeout=SECONDS,
            check=False,
        )


class Case(NamedTuple):
    """A call that changes something."""

    words: Callable[[World], list[str]]
    named: str
    """Stands in what is said of the change."""
    given: bytes = b""
    environ: Mapping[str, str] = {}


def on(*words: str) -> Callable[[World], list[str]]:
    return lambda world: [*words, "-m", str(world.memory)]


def after(*words: str) -> Callable[[Callable[[World], list[str]]], Callable[[World], list[str]]]:
    """Call `ricordo` with `words` before the words of the case are asked for."""

    def prepared(then: Callable[[World], list[str]]) -> Callable[[World], list[str]]:
        def words_of(world: World) -> list[str]:
            world.call(*words)
            return then(world)

        return words_of

    return prepared


def after_curation(then: Callable[[World], list[str]]) -> Callable[[World], list[str]]:
    def words_of(world: World) -> list[str]:
        world.call("curate", "--session", str(world.transcript))
        return then(world)

    return words_of


def curate(world: World) -> list[str]:
    return [*on("curate")(world), "--session", str(world.transcript)]


def revert(world: World) -> list[str]:
    world.write("web.md", note_text("web", "Nobody knows.\n"))
    return on("inbox", "--revert", "web")(world)


def keep_all(world: World) -> list[str]:
    world.write("web.md", note_text("web", "Nobody knows.\n"))
    world.call("inbox")
    return on("inbox", "--keep-all")(world)


def resolve(keep: str) -> Callable[[World], list[str]]:
    def words_of(world: World) -> list[str]:
        (conflict,) = world.json("conflicts")["conflicts"]
        return on("conflicts", "--resolve", conflict["id"], "--keep", keep)(world)

    return words_of


def dismiss(world: World) -> list[str]:
    finding = world.json("lint")["findings"][0]
    return on("lint", "--dismiss", finding["id"])(world)


def restore(world: World) -> list[str]:
    world.write("web.md", note_text("web", "Nobody knows.\n"))
    world.call("inbox")
    return on("restore", "web")(world)


def purge(world: World) -> list[str]:
    world.write("web.md", note_text("web", f"The key is {SECRET}.\n"))
    world.call("inbox")
    world.write("web.md", NOTES["web.md"])
    world.call("inbox")
    return ["purge", "--yes"]


def allow(world: World) -> list[str]:
    world.transcript.write_text(user_lines(f"The password is: {SECRET}-Xk9", RULE), "utf-8")
    words = [*curate(world), "--brief"]
    output = StringIO()
    with redirect_stdout(StringIO()), redirect_stderr(output):
        run(words)
    fingerprint = output.getvalue().rpartition("(")[2].partition(")")[0]
    return [*curate(world), "--allow", fingerprint]


def withhold(world: World) -> list[str]:
    words = allow(world)
    with redirect_stdout(StringIO()):
        run(words)
    return [*curate(world), "--withhold", words[-1]]


def trim(world: World) -> list[str]:
    for number in range(3):
        world.write("web.md", note_text("web", f"Port {number}.\n"))
        world.call("inbox")
    return on("history", "--older-than", "30", "--drop", "--now", "2028-01-01")(world)


def hand_off(world: World) -> list[str]:
    out = str(world.work / "HANDOFF.md")
    return [*on("handoff")(world), "--session", str(world.transcript), "-o", out]


def disconnect(world: World) -> list[str]:
    with redirect_stdout(StringIO()):
        run(["connect", "opencode", "--yes"])
    return ["disconnect", "--yes"]


def repair(world: World) -> list[str]:
    """Return the words that move the notes of a project that is gone to another one."""
    memory = world.home / ".claude/projects/-gone-quay/memory"
    write_memory(memory, {"berth.md": note_text("berth", "The berth is free.\n")})
    project = world.home / "quay"
    project.mkdir(exist_ok=True)
    out = StringIO()
    with redirect_stdout(out):
        run(["doctor", "--json"])
    problems = json.loads(out.getvalue())["problems"]
    (id,) = (it["id"] for it in problems if it["check"] == "orphan-memory")
    return ["doctor", "--fix", id, "--into", str(project), "--yes"]


WRITING = {
    "new": [Case(on("new", "Lock “times”", "--type", "project"), "lock-times", b"na\xc3\xafve\n")],
    "rename": [Case(on("rename", "tides", "ebb"), "ebb.md")],
    "retire": [Case(on("retire", "web", "--successor", "tides"), "web.md")],
    "undo": [Case(after("retire", "web")(on("undo")), "web.md")],
    "redo": [Case(after("retire", "web")(after("undo")(on("redo"))), "web.md")],
    "restore": [Case(restore, "web.md")],
    "inbox": [Case(revert, "web.md"), Case(keep_all, "kept 1")],
    "lint": [Case(on("lint", "--fix"), "MEMORY.md"), Case(dismiss, "dismissed")],
    "conflicts": [Case(resolve("left"), "web.md"), Case(resolve("none"), "dismissed")],
    "usage": [Case(after("search", "zeppelins moored")(on("usage", "--drop", "zeppelins moored")),
                   "zeppelins")],
    "purge": [Case(purge, "history", f"{SECRET}\n".encode())],
    "curate": [Case(curate, "proposals stored"), Case(allow, "password"),
               Case(withhold, "password")],
    "pending": [Case(after_curation(on("pending", "--apply")), "create"),
                Case(after_curation(on("pending", "--drop")), "proposals dropped")],
    "history": [Case(trim, "dropped")],
    "handoff": [Case(hand_off, "HANDOFF.md")],
    "connect": [Case(lambda _: ["connect", "opencode", "--yes"], "connected opencode")],
    "disconnect": [Case(disconnect, "disconnected opencode")],
    "doctor": [Case(repair, "move the notes")],
    "config": [Case(lambda _: ["config", "edit"], "settings.toml", environ={"VISUAL": "true"})],
}  # fmt: skip
READING = {
    "demo": [], "list": ["list"], "load": ["load"], "show": ["show", "café"],
    "search": ["search", "café"], "recall": ["recall", "where is the café of the port"],
    "ledger": ["ledger"], "resume": [], "review": ["review"], "rule": ["rule"], "completions": [],
    "mcp": [],
}  # fmt: skip
"""Those without words are called without a memory, or not at all."""
STDOUT = {"full": ">/dev/full", "closed": ">&-", "unread": UNREAD}
LACKING = {
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "a plain locale": {"LC_ALL": "C", "PYTHONUTF8": "0"},
}


@pytest.fixture
def world(tmp_path: Path, pinned: Path) -> World:
    return World(tmp_path, pinned)


def start_unread(world: World, words: list[str]) -> subprocess.CompletedProcess[bytes]:
    """Run `ricordo` with a stdout whose reader has gone before anything is printed."""
    reading, writing = os.pipe()
    os.close(reading)
    settle(world.memory)
    try:
        return subprocess.run(
            [sys.executable, "-m", "ricordo", *words],
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=subprocess.PIPE,
            cwd=world.work,
            timeout=SECONDS,
            check=False,
        )
    finally:
        os.close(writing)


def test_every_command_is_tried_here() -> None:
    assert {*WRITING, *READING} == set(COMMANDS)


def each_with_some(ways: Sequence[str]) -> list[ParameterSet]:
    """Return each command that changes something with one way of printing in turn; in a soak with
    all of them.
    """
    cases = [(name, case) for name, cases in WRITING.items() for case in cases]
    every = product(cases, ways)
    chosen = every if figure("printing", everyday=0) else zip(cases, cycle(ways), strict=False)
    return [
        pytest.param(case, way, id=f"{name}-{case.named}-{way}") for (name, case), way in chosen
    ]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("case", "stdout"), each_with_some(tuple(STDOUT)))
def test_what_was_changed_is_said_where_the_result_cannot_be_printed(
    world: World, case: Case, stdout: str
) -> None:
    words = case.words(world)
    before = world.snapshot()
    done = world.fork(words, STDOUT[stdout], case.environ, case.given)
    output = done.stderr.decode()
    assert world.snapshot() != before, output
    if words[0] == "config":
        # it prints nothing
        assert done.returncode == 0
        return
    last = output.splitlines()[-1]
    assert case.named in last
    assert "could not be printed" in last
    assert NOTHING not in output
    assert "internal error" not in output
    with redirect_stderr(StringIO()):
        refused = run(on("show", "no such note")(world))
    assert done.returncode not in (0, 1, refused)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("case", "lacking"),
    [
        *each_with_some(("ascii", "latin-1")),
        *((WRITING[name][0], "a plain locale") for name in ("new", "lint")),
    ],
)
def test_where_characters_lack_it_is_printed_without_them(
    world: World, case: Case, lacking: str
) -> None:
    words = case.words(world)
    before = world.snapshot()
    environ = {**LACKING[lacking], **case.environ}
    # Python reads the locale only when it starts
    call = world.start if lacking == "a plain locale" else world.fork
    done = call(words, "", environ, case.given)
    output = done.stderr.decode(errors="replace")
    assert done.returncode in (0, 1), output
    assert (done.returncode == 1) <= (words[0] == "lint")
    assert world.snapshot() != before, output
    assert done.stdout or words[0] == "config"
    if lacking != "latin-1":
        assert done.stdout.isascii()
    assert not done.stdout.startswith(b"\xef")


@pytest.mark.parametrize("stderr", ["2>&-", "2>/dev/full"])
@pytest.mark.parametrize("case", [WRITING["lint"][0], WRITING["retire"][0], WRITING["handoff"][0]])
def test_what_cannot_be_said_on_stderr_keeps_nothing_from_being_done(
    world: World, case: Case, stderr: str
) -> None:
    words = case.words(world)
    before = world.snapshot()
    done = world.fork(words, stderr, case.environ)
    assert done.returncode in (0, 1)
    assert done.stdout
    assert world.snapshot() != before
    refused = world.fork(on("show", "no such note")(world), stderr)
    assert refused.returncode > 1
    assert refused.stdout == b""


@pytest.mark.one_in(2)
@pytest.mark.parametrize("words", filter(None, READING.values()), ids=" ".join)
def test_a_command_that_reads_says_that_it_could_not_print(world: World, words: list[str]) -> None:
    words = words if words[0] in ("list", "rule") else on(*words)(world)
    expected = world.fork(words)
    assert expected.returncode == 0
    for redirected in (">/dev/full", ">&-"):
        done = world.fork(words, redirected)
        assert done.returncode > 1
        assert b"could not be printed" in done.stderr
        assert NOTHING not in done.stderr.decode()
    for name, environ in LACKING.items():
        call = world.start if name == "a plain locale" else world.fork
        done = call(words, "", environ)
        assert done.returncode == 0
        assert done.stdout.count(b"\n") == expected.stdout.count(b"\n")
    gone = start_unread(world, words)
    assert b"Traceback" not in gone.stderr
    assert b"could not be printed" not in gone.stderr


@pytest.mark.parametrize("words", ["--version", "--help", "lint --help", "list --short", "config"])
@pytest.mark.parametrize("redirected", [">/dev/full", ">&-"])
def test_an_answer_without_a_memory_says_that_it_could_not_be_printed(
    world: World, words: str, redirected: str
) -> None:
    done = world.start(words.split(), redirected)
    assert done.returncode > 1
    assert done.stderr.count(b"\n") == 1
    assert b"could not be printed" in done.stderr


@pytest.mark.parametrize("environ", LACKING.values(), ids=LACKING)
def test_json_is_json_in_every_encoding(world: World, environ: Mapping[str, str]) -> None:
    words = [*on("show", "café")(world), "--json"]
    expected: dict[str, object] = json.loads(world.call("show", "café", "--json"))
    assert json.loads(world.start(words, "", environ).stdout) == expected
    assert expected["path"] == "café.md"


@pytest.mark.parametrize("form", ["--json", "--sarif"])
def test_json_contains_no_control_and_no_hidden_character(world: World, form: str) -> None:
    hidden = "\x7f\x80\x9b\xad\u061c\u200b\u202e\u2066\ufeff\U000e0041"
    (world.memory / f"q{hidden}q.md").write_text("No head.\n", "utf-8")
    done = world.start([*on("lint")(world), form])
    text = done.stdout.decode("utf-8")
    assert not set(hidden) & set(text)
    assert "\\u202e" in text
    assert all(it.isprintable() or it == "\n" for it in text)
    assert json.loads(text)


@pytest.mark.parametrize("redirected", ["<&-", "</dev/null"])
def test_a_closed_stdin_is_an_empty_one(world: World, redirected: str) -> None:
    assert world.start(on("lint", "--fail-on", "never")(world), redirected).returncode == 0
    assert world.start(on("new", "Quay")(world), redirected).returncode == 0
    assert (world.memory / "quay.md").exists()
    assert b"at least 4 characters" in world.start(["purge"], redirected).stderr


def test_a_body_that_is_no_utf8_is_refused(world: World) -> None:
    done = world.start(
        on("new", "Quay")(world), environ={"PYTHONIOENCODING": "utf-8:strict"}, given=b"\xff\n"
    )
    assert b"internal error" not in done.stderr
    assert NOTHING in done.stderr.decode()
    assert not (world.memory / "quay.md").exists()
