"""What stands in the way of a change: locks, odd files, places, and a history that is broken."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from ricordo.errors import Busy, ChangeRefused, StateUnusable, WriteFailed
from ricordo.memory.change import Change, ChangeSet, Replace
from ricordo.memory.compose import compose
from ricordo.services.history.recorder import Recorder
from ricordo.storage import database, lock
from ricordo.storage import jail as held_root
from ricordo.storage import lock as consolidation
from ricordo.storage import system_calls as calls
from ricordo.storage.database import Database
from ricordo.storage.lock import state_lock
from ricordo.storage.writer import Applied
from tests.faults.writer_world import (
    AT,
    OLD,
    World,
    fast_folder,
    killed_in_the_middle,
    new_world,
    replace_a,
    without_exchange,
)
from tests.support.builders import open_memory

pytestmark = pytest.mark.faults


# The lock


def test_a_lock_that_is_held_is_waited_for_and_then_its_holder_is_named(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lock.PATIENCE == 5.0
    ready, done = os.pipe(), os.pipe()
    process = os.fork()
    if not process:
        with state_lock(str(world.state)):
            os.write(ready[1], b"x")
            os.read(done[0], 1)
        os._exit(0)
    os.read(ready[0], 1)
    started = time.monotonic()
    with pytest.raises(Busy, match=f"Process {process} "), state_lock(str(world.state), 0.2):
        pass
    assert time.monotonic() - started >= 0.2
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    started = time.monotonic()
    assert isinstance(world.apply(), Applied)
    assert time.monotonic() - started < lock.PATIENCE


@pytest.mark.parametrize("held_lock", [state_lock, lock.cost_lock])
def test_who_waits_for_the_lock_goes_before_who_has_just_held_it(
    held_lock: Callable[..., AbstractContextManager[None]], world: World
) -> None:
    """The other process lets the lock go for no longer than it takes to ask for it again."""
    held = world.base / "held"

    def hold_again_and_again() -> None:
        for _ in range(200):
            with held_lock(str(world.state)):
                held.touch()
                time.sleep(0.05)

    other = multiprocessing.get_context("fork").Process(target=hold_again_and_again)
    other.start()
    try:
        while not held.exists():
            time.sleep(0.001)
        for _ in range(5):
            with held_lock(str(world.state), patience=2.0):
                pass
    finally:
        other.kill()
        other.join()


def test_the_next_process_recovers_before_it_changes_anything(world: World) -> None:
    killed_in_the_middle(world)
    outcome = world.apply(world.edit("untouched.md", OLD["untouched.md"], b"by the next\n"))
    assert isinstance(outcome, Applied)
    assert not world.unfinished()
    assert (world.root / "untouched.md").read_bytes() == b"by the next\n"
    (world.root / "untouched.md").write_bytes(OLD["untouched.md"])
    assert world.is_all()


def test_a_full_disk_does_not_keep_the_lock_from_being_taken(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with state_lock(str(world.state)):
        assert (world.state / "lock").exists()


def test_nothing_is_changed_while_an_agent_consolidates(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consolidation, "CONSOLIDATION_PATIENCE", 0.1)
    marker = world.root / consolidation.CONSOLIDATION_LOCK
    marker.write_text(str(os.getpid()))
    with pytest.raises(Busy, match="consolidating"):
        world.apply()
    # meanwhile others may change other memories
    with state_lock(str(world.state), 0.0):
        pass
    old = time.time() - consolidation.STALE_AFTER - 1
    os.utime(marker, (old, old))
    assert isinstance(world.apply(), Applied)


def test_the_mark_of_a_process_that_has_ended_holds_nothing(world: World) -> None:
    process = os.fork()
    if not process:
        os._exit(0)
    os.waitpid(process, 0)
    marker = world.root / consolidation.CONSOLIDATION_LOCK
    marker.write_text(str(process))
    old = time.time() - consolidation.INVISIBLE_STALE_AFTER - 1
    os.utime(marker, (old, old))
    assert isinstance(world.apply(), Applied)


# The machine


@pytest.mark.parametrize("lacking", ["exchange", "lease", "openat2"])
def test_what_the_machine_lacks_is_done_in_another_way(
    world: World, lacking: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if lacking == "lease":
        monkeypatch.delattr("fcntl.F_SETLEASE")
    if lacking == "openat2":
        monkeypatch.setattr(calls, "_OPENAT2", 100_000)
    if lacking == "exchange":
        with without_exchange():
            assert isinstance(world.apply(), Applied)
    else:
        assert isinstance(world.apply(), Applied)
    assert world.is_all()


@pytest.mark.skipif(shutil.which("bindfs") is None, reason="bindfs is not installed")
def test_on_fuse_only_the_user_can_write(world: World) -> None:
    beneath = world.root.rename(world.base / "beneath")
    world.root.mkdir()
    done = subprocess.run(["bindfs", beneath, world.root], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"bindfs cannot mount here: {done.stderr.strip()}")
    try:
        assert database.is_remote(str(world.root))
        with pytest.raises(ChangeRefused, match="cannot exchange"):
            world.apply(by_hand=False)
        assert world.is_none()
        killed_in_the_middle(world, at="link")
        world.recover()
        assert world.check_recovered() == "all"
    finally:
        subprocess.run(["umount", world.root], check=True)


def test_two_edits_that_overlap_are_refused_when_they_are_put_together(root: Path) -> None:
    memory = open_memory(root, {"a.md": "one two three\n"})
    changes = [Change(Replace("a.md", "one two", "x")), Change(Replace("a.md", "two three", "y"))]
    with pytest.raises(ChangeRefused, match="does not contain the text"):
        compose(memory, changes)


def test_two_edits_of_one_file_in_a_set_change_nothing(world: World) -> None:
    twice = ChangeSet((*replace_a(world).edits, *world.edit("a.md", OLD["a.md"], b"x").edits))
    with pytest.raises(ChangeRefused):
        world.apply(twice)
    assert world.is_none()


# Where things stand


@pytest.mark.skipif(fast_folder() is None, reason="needs a second file system: /dev/shm")
@pytest.mark.parametrize("journal_in_memory", [True, False])
def test_journal_and_memory_may_lie_on_different_file_systems(
    tmp_path: Path, journal_in_memory: bool
) -> None:
    with new_world() as fast:
        slow = World(tmp_path / "slow")
        world, other = (slow, fast) if journal_in_memory else (fast, slow)
        world.state = other.base / "other state"
        assert os.stat(world.root).st_dev != os.stat(other.base).st_dev
        killed_in_the_middle(world)
        world.recover()
        assert world.check_recovered() == "all"


@pytest.mark.parametrize("what", ["gone", "another", "a file"])
def test_a_memory_that_is_not_there_at_recovery_is_left_and_named(world: World, what: str) -> None:
    killed_in_the_middle(world)
    elsewhere = world.base / "elsewhere"
    world.root.rename(elsewhere)
    if what == "another":
        world.root.mkdir()
        (world.root / "a.md").write_bytes(OLD["a.md"])
    if what == "a file":
        world.root.write_bytes(b"x")
    assert world.recover().pending == (str(world.root),)
    assert len(world.unfinished()) == 1
    if what == "another":
        assert world.on_disk() == {"a.md": OLD["a.md"]}
        shutil.rmtree(world.root)
    if what == "a file":
        world.root.unlink()
    elsewhere.rename(world.root)
    assert len(world.recover().completed) == 1
    assert world.check_recovered() == "all"


def test_a_memory_that_waits_keeps_nobody_from_changing_another(
    world: World, tmp_path: Path
) -> None:
    killed_in_the_middle(world)
    world.root.rename(world.base / "elsewhere")
    other = World(tmp_path / "other")
    other.state = world.state
    assert isinstance(other.apply(), Applied)
    assert other.is_all()


def test_a_set_that_cannot_be_recovered_stops_its_memory_alone(
    world: World, tmp_path: Path
) -> None:
    """A disk that fails at every start: named, left, and no reason to stop all work."""
    killed_in_the_middle(world)
    other = World(tmp_path / "other")
    other.state = world.state
    real = calls.exchange

    def broken(folder: int, one: str, name: str) -> None:
        if os.readlink(f"/proc/self/fd/{folder}").startswith(str(world.root)):
            raise OSError(5, "Input/output error")
        real(folder, one, name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(calls, "exchange", broken)
        held_root._exchanging[os.stat(world.root).st_dev] = True
        assert world.writer.recover(AT).pending == (str(world.root),)
        assert isinstance(other.apply(), Applied)
        with pytest.raises(WriteFailed, match="must be completed first"):
            world.apply(world.edit("new.md", None, b"x"))
    world.recover()
    assert world.check_recovered() == "none"


def test_odd_things_in_the_place_of_notes_do_not_stop_recovery(world: World) -> None:
    killed_in_the_middle(world)
    shutil.rmtree(world.root / "sub")
    (world.root / "sub").symlink_to(world.base)
    (world.root / "a.md").unlink()
    (world.root / "a.md").mkdir()
    (world.root / "i.md").unlink(missing_ok=True)
    (world.root / "i.md").symlink_to("/etc/passwd")
    found = world.recover()
    assert (len(found.reverted), found.pending) == (1, ())
    assert not world.unfinished()
    assert (world.root / "MEMORY.md").read_bytes() == OLD["MEMORY.md"]
    assert sorted(os.listdir(world.base)) == ["memory", "state"]
    assert isinstance(world.apply(world.edit("new.md", None, b"x")), Applied)


def test_a_state_directory_where_it_does_not_belong_is_refused_untouched(world: World) -> None:
    (world.base / "repo/.git").mkdir(parents=True)
    (world.base / "Dropbox").mkdir()
    (world.base / "sync/.stfolder").mkdir(parents=True)
    (world.base / "link").symlink_to(world.root)
    places = {
        "memory/state": "inside the memory",
        "link/state": "inside the memory",
        "memory": "inside the memory",
        "repo/state": "git work tree",
        "Dropbox/state": "synced folder",
        "sync/deep/state": "synced folder",
    }
    for place, reason in places.items():
        world.state = world.base / place
        before = sorted(world.base.rglob("*"))
        with pytest.raises(StateUnusable, match=reason):
            world.apply()
        with pytest.raises(StateUnusable, match=reason):
            Recorder(Database(str(world.state))).record(open_memory(world.root), AT)
        assert sorted(world.base.rglob("*")) == before, place


def test_a_hidden_folder_of_a_home_with_notes_takes_the_state(world: World) -> None:
    world.state = world.root / ".local/state/ricordo"
    Recorder(Database(str(world.state))).record(open_memory(world.root), AT)
    assert isinstance(world.apply(world.edit("new.md", None, b"x")), Applied)
    assert (world.state / "history.db").exists()
