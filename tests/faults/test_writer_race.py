"""Others write the same files while the writer is at work: no line of theirs is lost."""

from __future__ import annotations

import itertools
import os
import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from ricordo.errors import ChangeRefused
from ricordo.storage import atomic_exchange as swap
from ricordo.storage import system_calls as calls
from ricordo.storage.writer import Applied, ApplyConflict
from tests.faults.writer_world import (
    OLD,
    World,
    at_every_call,
    in_child,
    new_world,
    without_exchange,
)
from tests.support.figures import figure

pytestmark = pytest.mark.faults

Record = Callable[[str, object], None]


# An agent that writes all the time


def append(path: Path, line: bytes) -> None:
    with path.open("ab") as file:
        file.write(line)


def rewrite(path: Path, line: bytes) -> None:
    content = path.read_bytes()
    with path.open("r+b") as file:
        file.truncate(0)
        file.write(content + line)


def replace(path: Path, line: bytes) -> None:
    new = path.with_suffix(".new")
    new.write_bytes(path.read_bytes() + line)
    new.replace(path)


STYLES = {"append": append, "rewrite": rewrite, "replace": replace}
MOST_PATIENCE = 30
"""Seconds after which a race counts as lost."""
PACE = 0.003
"""Seconds between two lines of the agent."""


def write_on_and_on(path: Path, style: Callable[[Path, bytes], None], log: Path) -> None:
    """Write numbered lines until the process is asked to end; keep in `log` which were written."""
    ended: list[int] = []
    # killed between emptying the file and writing it, the agent itself would lose its lines
    signal.signal(signal.SIGTERM, lambda number, frame: ended.append(number))
    with log.open("ab", buffering=0) as written:
        for number in itertools.takewhile(lambda _: not ended, itertools.count()):
            style(path, b"agent %d\n" % number)
            written.write(b"%d\n" % number)
            time.sleep(PACE)


@contextmanager
def at_work(work: Callable[[], object]) -> Iterator[None]:
    """Do `work` in a process of its own for as long as the context lasts."""
    process = os.fork()
    if not process:
        with suppress(BaseException):
            work()
        os._exit(70)
    try:
        yield
        assert os.waitpid(process, os.WNOHANG) == (0, 0), "the agent gave up"
    finally:
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(process, signal.SIGTERM)
            os.waitpid(process, 0)


def race(world: World, style: str, seconds: float) -> Counter[str]:
    """Apply edits to a file in which an agent writes; count how that went, and lost lines."""
    note, log = world.root / "a.md", world.base / "log"
    counts: Counter[str] = Counter()
    started = time.monotonic()
    with at_work(lambda: write_on_and_on(note, STYLES[style], log)):
        # on a machine that has much else to do, for as long as one takes
        while (passed := time.monotonic() - started) < seconds or not counts["applies"]:
            assert passed < seconds + MOST_PATIENCE, f"not one of {counts['clashes']} was applied"
            before = note.read_bytes()
            kept = re.sub(rb"(?m)^ours \d+\n", b"", before)
            after = b"ours %d\n" % counts["applies"] + kept
            outcome = world.apply(world.edit("a.md", before, after))
            counts["applies"] += isinstance(outcome, Applied)
            counts["clashes"] += isinstance(outcome, ApplyConflict)
    there = b"\n".join({note.read_bytes(), *world.kept()})
    found = {int(number) for number in re.findall(rb"agent (\d+)\n", there)}
    on_disk = {int(number) for number in re.findall(rb"agent (\d+)\n", note.read_bytes())}
    written = {int(number) for number in log.read_bytes().split()}
    counts["lines"] = len(written)
    counts["lost"] = len(written - found)
    counts["only in the history"] = len(written & found - on_disk)
    assert not list(world.root.rglob(".ricordo-*"))
    return counts


def say(what: str, counts: Counter[str], record: Record) -> None:
    told = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    print(f"{what}: {told}")
    record(what, told)


@pytest.mark.parametrize("style", STYLES)
def test_an_agent_that_writes_all_the_time_loses_no_line(
    style: str, record_property: Record
) -> None:
    with new_world() as world:
        counts = race(world, style, figure("race_seconds", everyday=2))
    say(f"exchange, {style}", counts, record_property)
    assert counts["applies"]
    assert counts["lines"]
    assert counts["lost"] == 0


@pytest.mark.parametrize("style", STYLES)
def test_without_exchange_lost_lines_are_counted_and_nobody_but_a_user_may_write(
    style: str, record_property: Record
) -> None:
    with without_exchange(), new_world() as world:
        counts = race(world, style, figure("race_seconds", everyday=1))
        say(f"fallback, {style}", counts, record_property)
        assert counts["applies"]
        assert counts["lost"] <= counts["lines"] // 10
        now = (world.root / "a.md").read_bytes()
        with pytest.raises(ChangeRefused, match="cannot exchange") as refused:
            world.apply(world.edit("a.md", now, b"by a hook\n"), by_hand=False)
        assert "Nothing was changed." in str(refused.value)
        assert (world.root / "a.md").read_bytes() == now
        assert not world.unfinished()


# Two of us


def add_lines(world: World, who: str, until: float, log: Path) -> None:
    """Add lines to a file that both write and to one of our own, again where we clash."""
    shared, own = world.root / "a.md", f"{who}.md"
    (world.root / own).write_bytes(b"")
    done: list[bytes] = []
    while time.monotonic() < until:
        line = b"%s %d\n" % (who.encode(), len(done))
        before, mine = shared.read_bytes(), b"".join(done)
        edits = (
            *world.edit("a.md", before, before + line).edits,
            *world.edit(own, mine, mine + line).edits,
        )
        if isinstance(world.apply(type(world.change_set())(edits)), Applied):
            done.append(line)
    log.write_bytes(b"".join(done))


def test_two_processes_at_once_lose_nothing_and_do_not_hang(record_property: Record) -> None:
    seconds = figure("two_seconds", everyday=3)
    with new_world() as world:
        log = world.base / "log"
        until = time.monotonic() + seconds
        with at_work(lambda: (add_lines(world, "second", until, log), signal.pause())):
            assert in_child(lambda: add_lines(world, "first", until, world.base / "first"))
            deadline = time.monotonic() + 30
            while not (log.exists() and log.stat().st_size) and time.monotonic() < deadline:
                os.sched_yield()
        first, second = (world.base / "first").read_bytes(), log.read_bytes()
        shared = (world.root / "a.md").read_bytes()
        assert (world.root / "first.md").read_bytes() == first
        assert (world.root / "second.md").read_bytes() == second
        assert sorted(shared.removeprefix(OLD["a.md"]).splitlines()) == sorted(
            (first + second).splitlines()
        )
        assert not world.unfinished()
        assert not list(world.root.rglob(".ricordo-*"))
    counts = Counter(first=first.count(b"\n"), second=second.count(b"\n"), lost=0)
    assert counts["first"]
    assert counts["second"]
    say("two processes", counts, record_property)


# Once, at the worst moment


def once(name: str, act: Callable[[], object]) -> Callable[[str], None]:
    """Call `act` before the first step of that name."""
    left = [act]

    def look(step: str) -> None:
        if step == name and left:
            left.pop()()

    return look


def writes(path: Path) -> None:
    path.write_bytes(b"theirs\n")


def renames_over(path: Path) -> None:
    new = path.with_suffix(".new")
    new.write_bytes(b"theirs\n")
    new.replace(path)


def deletes(path: Path) -> None:
    path.unlink()


def renames(path: Path) -> None:
    path.rename(path.with_name("elsewhere.md"))


def links(path: Path) -> None:
    path.unlink()
    path.symlink_to("untouched.md")


def makes_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "theirs.md").write_bytes(b"theirs\n")


MOMENTS = ("journal", "create", "exchange")
"""After our check, after the journal, and in the last instant."""


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("agent", [writes, renames_over, deletes, renames, links, makes_a_folder])
def test_what_others_do_in_the_middle_stays_and_nothing_of_the_set_does(
    agent: Callable[[Path], None], moment: str
) -> None:
    with new_world() as world:
        note = world.root / "a.md"
        with at_every_call(once(moment, lambda: agent(note))):
            try:
                outcome: object = world.apply()
            except ChangeRefused:
                # what stands there now cannot be told as a text
                outcome = None
        assert outcome is None or isinstance(outcome, ApplyConflict)
        assert (outcome is None) == (agent in (links, makes_a_folder))
        assert not world.unfinished()
        assert not list(world.root.rglob(".ricordo-*"))
        world.check_nothing_lost()
        if agent in (writes, renames_over):
            assert note.read_bytes() == b"theirs\n"
        if agent in (deletes, renames):
            assert not note.exists()
        if agent is renames:
            assert (world.root / "elsewhere.md").read_bytes() == OLD["a.md"]
        if agent is links:
            assert note.readlink() == Path("untouched.md")
        if agent is makes_a_folder:
            assert (note / "theirs.md").read_bytes() == b"theirs\n"
        others = {path: text for path, text in OLD.items() if path != "a.md"}
        now = world.on_disk()
        assert {path: now.get(path) for path in others} == others
        assert "g.md" not in now


@pytest.mark.parametrize("moment", ["journal", "create", "rename"])
def test_a_file_that_others_make_where_we_create_one_is_theirs(moment: str) -> None:
    with new_world() as world:
        with at_every_call(once(moment, lambda: writes(world.root / "g.md"))):
            outcome = world.apply()
        assert isinstance(outcome, ApplyConflict)
        assert world.on_disk() == OLD | {"g.md": b"theirs\n"}
        assert not world.unfinished()


@pytest.mark.parametrize("moment", ["journal", "create", "exchange"])
def test_a_file_that_others_changed_is_not_deleted(moment: str) -> None:
    with new_world() as world:
        with at_every_call(once(moment, lambda: writes(world.root / "e.md"))):
            outcome = world.apply()
        assert isinstance(outcome, ApplyConflict)
        assert world.on_disk() == OLD | {"e.md": b"theirs\n"}


def test_a_file_that_is_changed_before_the_writer_starts_is_reported_with_what_it_holds() -> None:
    with new_world() as world:
        writes(world.root / "a.md")
        (world.root / "b.md").rename(world.root / "elsewhere.md")
        outcome = world.apply()
        assert isinstance(outcome, ApplyConflict)
        assert {clash.edit.path: clash.current for clash in outcome.edit_conflicts} == {
            "a.md": b"theirs\n",
            "b.md": None,
        }
        assert not world.unfinished()


def test_a_writer_who_has_the_file_open_is_waited_for() -> None:
    with new_world() as world:
        theirs = (world.root / "a.md").open("ab")
        asked = 0

        def finish(step: str) -> None:
            nonlocal asked
            asked += step == "lease"
            if asked == 3 and not theirs.closed:
                theirs.write(b"their last line\n")
                theirs.close()

        with at_every_call(finish):
            outcome = world.apply(world.edit("a.md", OLD["a.md"], b"ours\n"))
        assert isinstance(outcome, ApplyConflict)
        assert (world.root / "a.md").read_bytes() == OLD["a.md"] + b"their last line\n"


def test_a_writer_who_never_closes_the_file_goes_on_writing_to_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(swap, "WRITERS_PATIENCE", 0.05)
    with new_world() as world, (world.root / "a.md").open("ab") as theirs:
        outcome = world.apply(world.edit("a.md", OLD["a.md"], b"ours\n"))
        theirs.write(b"written later\n")
        theirs.flush()
        assert isinstance(outcome, ApplyConflict)
        assert (world.root / "a.md").read_bytes() == OLD["a.md"] + b"written later\n"
        assert not list(world.root.rglob(".ricordo-*"))


def test_a_writer_who_opened_our_text_keeps_it_when_we_give_the_place_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They write, we give their text back, and meanwhile they have opened ours."""
    monkeypatch.setattr(swap, "WRITERS_PATIENCE", 0.05)
    with new_world() as world:
        note = world.root / "a.md"
        seen = 0

        def meddle(step: str) -> None:
            nonlocal seen
            seen += step == "exchange"
            if step == "exchange" and seen == 2:  # the first one is the try
                writes(note)
            if step == "exchange" and seen == 3:
                append(note, b"on top of ours\n")

        with at_every_call(meddle):
            outcome = world.apply(world.edit("a.md", OLD["a.md"], b"ours\n"))
        assert isinstance(outcome, ApplyConflict)
        assert note.read_bytes() == b"ours\non top of ours\n"
        assert b"theirs\n" in world.kept()
        assert calls.exchange is not None
