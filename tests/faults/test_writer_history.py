"""The database of the history: damaged, moved aside, of another time, and what it first holds."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from ricordo.errors import MemoryUnreadable, StateUnusable
from ricordo.services.history.recorder import Recorder
from ricordo.storage import database as database_module
from ricordo.storage import lock
from ricordo.storage.database import Database
from ricordo.storage.decisions import Decision, Decisions
from ricordo.storage.lock import history_lock
from ricordo.storage.writer import Applied, ChangePurpose, Writer
from tests.conftest import NOW
from tests.faults.writer_world import AT, OLD, World, killed_in_the_middle, replace_a
from tests.support.builders import open_memory
from tests.support.figures import figure

pytestmark = pytest.mark.faults


def put_bytes(path: Path, at: int, count: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(b"\xa5" * count)


DAMAGES: dict[str, Callable[[Path], None]] = {
    "header": lambda path: put_bytes(path, 0, 16),
    "first page": lambda path: put_bytes(path, 100, 2000),
    "middle": lambda path: put_bytes(path, 4096, path.stat().st_size - 8192),
    "cut in half": lambda path: os.truncate(path, path.stat().st_size // 2),
    "a few bytes left": lambda path: os.truncate(path, 50),
    "text": lambda path: path.write_bytes(b"no database\n" * 1000),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_history_is_moved_aside_reported_and_recreated(world: World, damage: str) -> None:
    assert isinstance(world.apply(), Applied)
    path = world.state / "history.db"
    DAMAGES[damage](path)
    database = Database(str(world.state))
    writer = Writer(database)
    back = world.edit("a.md", (world.root / "a.md").read_bytes(), b"after the damage\n")
    for _ in range(2):
        try:
            outcome = writer.apply(back, ChangePurpose(AT))
            break
        except StateUnusable as error:
            told = str(error)
            assert "damaged" in told
            assert "Nothing was changed." in told
    assert isinstance(outcome, Applied)
    (notice,) = database.take_notices()
    assert "moved to" in notice
    assert len(list(world.state.glob("history.db.corrupt-*"))) >= 1
    assert (world.root / "a.md").read_bytes() == b"after the damage\n"
    assert (world.root / "b.md").read_bytes() == b"new b\n"


def test_of_processes_that_find_the_damage_at_once_one_moves_the_history_aside(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.apply()
    path = world.state / "history.db"
    path.write_bytes(b"no database\n" * 1000)
    count = 4
    processes = multiprocessing.get_context("fork")
    together = processes.Barrier(count)
    is_damage = database_module._is_damage

    def found(error: Exception) -> bool:
        together.wait(10)
        return is_damage(error)

    def write(number: int) -> None:
        decisions = Decisions(Database(str(world.state)), str(world.root))
        decisions.decide(Decision.DISMISS, [f"finding {number}"], NOW)

    children = [processes.Process(target=write, args=(number,)) for number in range(count)]
    with monkeypatch.context() as patch:
        patch.setattr(database_module, "_is_damage", found)
        for child in children:
            child.start()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0] * count
    aside = [it for it in world.state.glob("history.db.corrupt-*") if "-wal" not in it.name]
    assert [it.read_bytes()[:12] for it in aside] == [b"no database\n"]
    decisions = Decisions(Database(str(world.state)), str(world.root))
    assert len(decisions.find_active(Decision.DISMISS)) == count


def test_a_history_that_another_process_uses_is_not_moved_aside(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.apply()
    path = world.state / "history.db"
    path.write_bytes(b"no database\n" * 1000)
    monkeypatch.setattr(lock, "_PAUSE", 0.001)
    monkeypatch.setattr(database_module, "history_lock", partial(history_lock, patience=0.01))
    with history_lock(str(world.state), alone=False), pytest.raises(StateUnusable, match="using"):
        Decisions(Database(str(world.state)), str(world.root)).find_protected()
    assert path.read_bytes().startswith(b"no database")


def test_a_history_without_its_write_ahead_log_works(world: World) -> None:
    killed_in_the_middle(world)
    wal = world.state / "history.db-wal"
    assert wal.exists()
    wal.unlink()
    before = world.on_disk()
    world.recover()
    world.apply(world.edit("untouched.md", OLD["untouched.md"], b"x"))
    assert {p for p, c in world.on_disk().items() if before.get(p) != c} <= {
        "untouched.md",
        *(edit.path for edit in world.change_set().edits),
    }


def test_a_history_of_a_newer_ricordo_is_not_changed(world: World) -> None:
    killed_in_the_middle(world)
    path = world.state / "history.db"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()
    before = path.read_bytes(), world.on_disk()
    for work in (world.recover, world.apply):
        with pytest.raises(StateUnusable, match="newer Ricordo"):
            work()
    assert (path.read_bytes(), world.on_disk()) == before


def test_others_find_what_they_wrote_distinguished_from_ricordos(world: World) -> None:
    """A reading from before our change, recorded after it, does not take ours back."""
    recorder = Recorder(Database(str(world.state)))
    memory = open_memory(world.root)
    assert recorder.record(memory, AT).is_first
    old = open_memory(world.root)
    done = world.apply(replace_a(world))
    assert isinstance(done, Applied)
    assert Recorder(Database(str(world.state))).record(old, AT).act is None
    assert recorder.record(open_memory(world.root), AT).act is None
    (world.root / "a.md").write_bytes(b"theirs\n")
    recorded = recorder.record(open_memory(world.root), AT)
    assert (recorded.files, recorded.is_first) == (1, False)


def test_a_memory_that_went_before_it_was_recorded_is_reported_as_such(world: World) -> None:
    recorder = Recorder(Database(str(world.state)))
    recorder.record(open_memory(world.root), AT)
    (world.root / "a.md").write_bytes(b"by an agent")
    memory = open_memory(world.root)
    world.root.rename(world.base / "elsewhere")
    with pytest.raises(MemoryUnreadable, match="memory cannot be opened: No such file"):
        recorder.record(memory, AT)
    decisions = Decisions(Database(str(world.state)), str(world.base / "never there"))
    with pytest.raises(MemoryUnreadable, match="cannot be opened: No such file"):
        decisions.decide(Decision.PROTECT, ["a.md"], NOW)


def test_what_ricordo_wrote_is_never_taken_for_another_programs(world: World) -> None:
    recorder = Recorder(Database(str(world.state)))
    recorder.record(open_memory(world.root), AT)
    before = OLD["a.md"]
    for number in range(figure("own_edits", everyday=10)):
        after = b"our text number %d\n" % number
        assert isinstance(world.apply(world.edit("a.md", before, after)), Applied)
        assert recorder.record(open_memory(world.root), AT).act is None
        before = after


def test_a_change_before_the_first_recording_leaves_it_the_first(world: World) -> None:
    assert isinstance(world.apply(replace_a(world)), Applied)
    recorder = Recorder(Database(str(world.state)))
    assert recorder.record(open_memory(world.root), AT).is_first
