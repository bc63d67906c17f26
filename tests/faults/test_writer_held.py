"""Other programs hold a note open while it is exchanged, and write to it afterwards: what they
write is in the file, or in a conflict that the inbox names.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

import ricordo
from ricordo.errors import ChangeRefused, EditRefused, WriteFailed
from ricordo.memory.change import Change, Replace
from ricordo.services.edits.change import apply_merging, build_change_set
from ricordo.services.inbox.inbox import InboxChange, read_inbox
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage import atomic_exchange as swap
from ricordo.storage import jail as held_root
from ricordo.storage import system_calls as calls
from tests.faults.writer_world import at_every_call, die, fast_folder, in_child
from tests.support.builders import note_text, recorded
from tests.support.figures import figure

pytestmark = pytest.mark.faults

BODY = "First line.\n\nThe port is Sines.\n\nMiddle line.\n\nLast line.\n"
LAST_STEP = 9
"""Steps after the exchange within which other programs write."""
SCRIPT = """
import os, random, sys, time
held = {}
for command in sys.stdin:
    what, path, line = command.rstrip("\\n").split("\\t")
    if what in ("write", "append"):
        with open(path + ".written", "a") as log:
            log.write(line + "\\n")
    if what == "open":
        held[path] = open(path, "ab", buffering=0)
    elif what == "write" and path in held:
        held[path].write(line.encode() + b"\\n")
    elif what == "close" and path in held:
        held.pop(path).close()
    elif what == "append":
        with open(path, "ab") as file:
            file.write(line.encode() + b"\\n")
    elif what == "replace":
        content = open(path, "rb").read().replace(b"Middle line.", line.encode())
        with open(path + ".new", "wb") as file:
            file.write(content)
        os.replace(path + ".new", path)
    elif what == "race":
        # holds the file open again and again, and writes to it once another one has its name
        log, number = open(path + ".log", "ab", buffering=0), 0
        print("ready", flush=True)
        while not os.path.exists(path + ".stop"):
            with open(path, "ab", buffering=0) as file:
                until = time.monotonic() + 0.01
                while time.monotonic() < until:
                    if os.stat(path).st_ino != os.fstat(file.fileno()).st_ino:
                        file.write(b"%s %d.\\n" % (line.encode(), number))
                        log.write(b"%s %d.\\n" % (line.encode(), number))
                        number += 1
                        break
            time.sleep(random.random() / 50)
    print("done", flush=True)
"""


class Program:
    """Another process, which does with files what it is asked to."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-c", SCRIPT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def do(self, what: str, path: Path, line: str = "") -> None:
        """Open, write to, close or append to the file at `path`, and wait until that is done."""
        self.begin(what, path, line)
        self.wait()

    def begin(self, what: str, path: Path, line: str = "") -> None:
        assert self._process.stdin
        self._process.stdin.write(f"{what}\t{path}\t{line}\n")
        self._process.stdin.flush()

    def wait(self, answer: str = "done") -> None:
        assert self._process.stdout
        assert self._process.stdout.readline() == f"{answer}\n"

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def program() -> Iterator[Program]:
    started = Program()
    yield started
    started.end()


@pytest.fixture
def other_program() -> Iterator[Program]:
    started = Program()
    yield started
    started.end()


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder in memory where that is possible."""
    with tempfile.TemporaryDirectory(prefix="ricordo-test-", dir=fast_folder()) as path:
        yield Path(path)


@pytest.fixture(autouse=True)
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(swap, "WRITERS_PATIENCE", 0.03)


Acts = dict[int, list[Callable[[], object]]]


def at_exchange(acts: Acts) -> Callable[[str], None]:
    """Do the `acts` of each step before it, counted from the next exchange on, which is step 0."""
    at = -1

    def look(step: str) -> None:
        nonlocal at
        if at >= 0 or step == "exchange":
            at += 1
            for act in acts.pop(at, ()):
                act()

    return look


def started(folder: Path) -> tuple[Notebook, Path]:
    """Return a notebook that has found out whether its file system can exchange, and its note."""
    held_root._exchanging.clear()
    notebook = recorded(folder, {"a.md": note_text("a", BODY)})
    replace(notebook, "First line.", "The first line.")
    return notebook, Path(notebook.place.root) / "a.md"


def replace(notebook: Notebook, old: str, new: str) -> tuple[str, ...]:
    """Replace a text in the note, and return which files were told to be merged."""
    change = Change(Replace("a.md", old, new))
    change_set = build_change_set(notebook, notebook.read(), [change])
    return apply_merging(notebook, change_set, by_hand=True)[1]


def conflicts(notebook: Notebook) -> list[InboxChange]:
    notebook.record(notebook.read())
    return [it for it in read_inbox(notebook).changes if it.kind == "conflict"]


def where(line: str, notebook: Notebook, merged: tuple[str, ...]) -> str:
    """Return where a line of another program is; fails where it is lost, or where a merge was told
    and the file does not have it.
    """
    if f"{line}\n" in (Path(notebook.place.root) / "a.md").read_text():
        return "in the file"
    assert not merged, f"“{line}” is not in the file, which is told to be merged"
    named = {it.path for it in conflicts(notebook) if f"{line}\n" in it.new_text}
    assert named == {"a.md"}, f"“{line}” is lost"
    return "in a conflict"


@pytest.mark.parametrize("how", ["append", "replace"])
@pytest.mark.parametrize("is_closed", [True, False])
def test_no_line_of_two_programs_is_lost_of_which_one_holds_the_note_open(
    is_closed: bool, how: str, folder: Path, program: Program
) -> None:
    """One opens the note in the last instant before the exchange and writes to what it has open,
    the other one writes by path, each at a step after the exchange that chance names.
    """
    counts: Counter[str] = Counter()
    chance = random.Random(27)
    for number in range(figure("held_open", everyday=12)):
        notebook, note = started(folder / str(number))
        held, by_path = f"held open {number}", f"by path {number}"
        first, second = sorted(chance.sample(range(1, LAST_STEP), 2))
        acts: Acts = defaultdict(list)
        acts[0].append(partial(program.do, "open", note))
        acts[first].append(partial(program.do, "write", note, held))
        acts[chance.randrange(1, LAST_STEP)].append(partial(program.do, how, note, by_path))
        if is_closed:
            acts[second].append(partial(program.do, "close", note))
        merged: tuple[str, ...] = ()
        with at_every_call(at_exchange(acts)), suppress(ChangeRefused):
            merged = replace(notebook, "Sines", "Faro")
            counts["applied"] += 1
        for left in sorted(acts):
            for act in acts[left]:
                act()
        program.do("close", note)
        counts[where(held, notebook, merged)] += 1
        counts[where(by_path, notebook, merged)] += 1
        assert not list(note.parent.glob(".ricordo-*"))
    print(dict(counts))
    assert counts["in the file"] + counts["in a conflict"] == 2 * (number + 1)
    if is_closed and how == "append":
        assert counts["in a conflict"] == 0


def test_programs_that_open_the_note_all_the_time_lose_no_line_while_it_is_exchanged(
    folder: Path, program: Program, other_program: Program
) -> None:
    """Both write to what they have open once the name leads to another file."""
    notebook, note = started(folder)
    counts: Counter[str] = Counter()
    for name, racing in (("one", program), ("other", other_program)):
        racing.begin("race", note, name)
        racing.wait("ready")
    texts = ("Sines", "Faro")
    until = time.monotonic() + figure("held_open_seconds", everyday=3)
    while time.monotonic() < until or not counts["applied"]:
        try:
            replace(notebook, *texts)
            counts["applied"] += 1
            texts = texts[::-1]
        except ChangeRefused:
            counts["refused"] += 1
        assert time.monotonic() < until + 60, f"not one of {counts['refused']} was applied"
    Path(f"{note}.stop").touch()
    program.wait()
    other_program.wait()
    written = Path(f"{note}.log").read_text().split("\n")[:-1]
    counts.update(where(line, notebook, ()) for line in written)
    print(dict(counts))


def test_a_note_that_stays_open_is_not_changed_and_that_is_reported(
    folder: Path, program: Program
) -> None:
    notebook, note = started(folder)
    before = note.read_bytes()
    identity = note.stat().st_ino
    program.do("open", note)
    with pytest.raises(EditRefused, match=r"has a\.md open for writing") as refused:
        replace(notebook, "Sines", "Faro")
    assert "Nothing was changed." in str(refused.value)
    program.do("write", note, "later")
    assert note.stat().st_ino == identity
    assert note.read_bytes() == before + b"later\n"
    program.do("close", note)
    replace(notebook, "Sines", "Faro")
    assert note.read_bytes() == before.replace(b"Sines", b"Faro") + b"later\n"


def test_two_programs_that_both_hold_the_note_open_keep_their_files_until_they_close_them(
    folder: Path, program: Program, other_program: Program
) -> None:
    """One has the text before open and the other one the text after: neither may be taken away."""
    notebook, note = started(folder)
    acts: Acts = {
        0: [partial(program.do, "open", note)],
        1: [partial(program.do, "write", note, "in the old text")],
        2: [partial(other_program.do, "open", note)],
        3: [partial(other_program.do, "write", note, "in the new text")],
    }
    with at_every_call(at_exchange(acts)), pytest.raises(WriteFailed, match="in another program"):
        replace(notebook, "Sines", "Faro")
    for number, each in enumerate((program, other_program)):
        each.do("write", note, f"later {number}")
        each.do("close", note)
    notebook.writer.recover(notebook.environment.now)
    for line in ("in the old text", "in the new text", "later 0", "later 1"):
        assert where(line, notebook, ()) == "in the file"
    assert not list(note.parent.glob(".ricordo-*"))


def test_what_cannot_be_merged_is_a_conflict_in_the_inbox(folder: Path, program: Program) -> None:
    """Both change the same line: one before the exchange, one before the file is given back."""
    notebook, note = started(folder)
    lines = ["Of another.", "Of one."]

    def look(step: str) -> None:
        if step == "exchange" and lines:
            program.do("replace", note, lines.pop())

    with at_every_call(look), pytest.raises(EditRefused, match="at the same moment") as refused:
        replace(notebook, "Sines", "Faro")
    assert "in the inbox as a conflict" in str(refused.value)
    assert "Of another." in note.read_text()
    (row,) = conflicts(notebook)
    assert row.path == "a.md"
    assert "Of one." in row.new_text
    assert "Of one." not in row.old_text


@pytest.mark.parametrize("moment", ["lease", "fsync folder"])
def test_where_nobody_can_say_who_has_it_open_the_old_text_is_looked_at_until_the_end(
    moment: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on macOS and on network drives: there are no leases."""
    notebook, note = started(folder)
    monkeypatch.setattr(calls, "has_writers", lambda _: calls.before("lease"))
    held = os.open(note, os.O_WRONLY | os.O_APPEND)
    exchanged = False

    def look(step: str) -> None:
        nonlocal exchanged, held
        exchanged = exchanged or step == "exchange"
        if exchanged and step == moment and held >= 0:
            os.write(held, b"late\n")
            os.close(held)
            held = -1

    with at_every_call(look):
        assert replace(notebook, "Sines", "Faro") == ("a.md",)
    assert held == -1
    assert where("late", notebook, ("a.md",)) == "in the file"
    assert "Faro" in note.read_text()
    assert not list(note.parent.glob(".ricordo-*"))


@pytest.mark.parametrize("is_closed", [True, False])
def test_killed_while_lines_of_two_programs_are_put_together_no_line_is_lost(
    is_closed: bool, folder: Path, program: Program
) -> None:
    """At every step from the exchange on; the next process goes on."""
    counts: Counter[str] = Counter()
    finished, number = False, 0
    while not finished:
        notebook, note = started(folder / str(number))
        acts: Acts = defaultdict(list)
        acts[0] = [partial(program.do, "open", note)]
        acts[1] = [partial(program.do, "write", note, "held open")]
        acts[2] = [partial(program.do, "append", note, "by path")]
        if is_closed:
            acts[4] = [partial(program.do, "close", note)]
        acts[number + 1].append(die)

        def work(notebook: Notebook = notebook, acts: Acts = acts) -> None:
            with at_every_call(at_exchange(acts)), suppress(ChangeRefused):
                replace(notebook, "Sines", "Faro")

        finished = in_child(work)
        program.do("close", note)
        notebook.writer.recover(notebook.environment.now)
        log = Path(f"{note}.written")
        written = log.read_text().split("\n")[:-1] if log.exists() else []
        counts.update(where(line, notebook, ()) for line in written)
        assert not list(note.parent.glob(".ricordo-*"))
        number += figure("held_stride", everyday=4)
    print(number, dict(counts))
    assert number > 10


def test_the_command_line_says_that_a_note_is_open_and_names_conflicts(
    folder: Path, program: Program
) -> None:
    notebook, note = started(folder)
    state = {"HOME": str(folder), "RICORDO_STATE": str(folder / "state")}

    def run(*words: str) -> tuple[int, str]:
        own = state | {"PYTHONPATH": str(Path(ricordo.__file__).parents[1])}
        command = [sys.executable, "-m", "ricordo", *words, "-m", str(note.parent)]
        environment = {**os.environ, **own}
        done = subprocess.run(command, env=environment, capture_output=True, timeout=60)
        return done.returncode, (done.stdout + done.stderr).decode()

    before = note.read_bytes()
    program.do("open", note)
    code, printed = run("undo")
    assert code
    assert "open for writing" in printed
    assert "merged" not in printed
    assert note.read_bytes() == before
    program.do("close", note)
    assert run("undo")[0] == 0
    lines = ["Of another.", "Of one."]

    def look(step: str) -> None:
        if step == "exchange" and lines:
            program.do("replace", note, lines.pop())

    with at_every_call(look), pytest.raises(EditRefused):
        replace(notebook, "Sines", "Faro")
    code, printed = run("inbox")
    assert code == 0
    assert "conflict a.md" in printed
    assert "+ Of one." in printed
    kinds = [it["kind"] for it in json.loads(run("inbox", "--json")[1])["changes"]]
    assert kinds[-1] == "conflict"
    code, printed = run("inbox", "--revert", "a.md")
    assert code
    assert "Nothing to revert" in printed
