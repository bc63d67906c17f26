"""What stands in the way of a change: locks, odd files, places, and a history that is broken."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import stat
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ricordo.disk import calls, consolidation, held_root, lock
from ricordo.disk.database import Database
from ricordo.disk.door import Applied, Door, Purpose
from ricordo.disk.history import History
from ricordo.disk.lock import state_lock
from ricordo.errors import Busy, ChangeRefused, RicordoError, StateUnusable, WriteFailed
from ricordo.memory.change import Change, Replace
from ricordo.memory.change_set import ChangeSet, Edit
from ricordo.memory.compose import compose
from ricordo.notebook.record import Recorder
from tests.builders import open_memory
from tests.faults.door_world import (
    AT,
    OLD,
    World,
    at_every_call,
    at_step,
    die,
    fast_folder,
    in_child,
    new_world,
    steps_of,
    without_exchange,
)

pytestmark = pytest.mark.faults


@pytest.fixture
def world(tmp_path: Path) -> World:
    held_root._exchanging.clear()
    return World(tmp_path / "world")


def replace_a(world: World) -> ChangeSet:
    return world.edit("a.md", OLD["a.md"], b"new\n")


def killed_in_the_middle(world: World) -> None:
    """Leave a set of which half is on the disk."""
    steps = steps_of(world.apply)
    world.restore()
    middle = [n for n, name in enumerate(steps) if name == "exchange"][-2]

    def work() -> None:
        with at_step(middle, die):
            world.apply()

    assert not in_child(work)
    assert not world.is_none()


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
    assert time.monotonic() - started < 1


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
    monkeypatch.setattr(consolidation, "PATIENCE", 0.1)
    marker = world.root / consolidation.LOCK
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
    marker = world.root / consolidation.LOCK
    marker.write_text(str(process))
    old = time.time() - consolidation.UNSEEN_FOR - 1
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


def test_two_edits_that_overlap_are_refused_when_they_are_put_together(root: Path) -> None:
    memory = open_memory(root, {"a.md": "one two three\n"})
    changes = [Change(Replace("a.md", "one two", "x")), Change(Replace("a.md", "two three", "y"))]
    with pytest.raises(ChangeRefused, match="does not hold the text"):
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
    assert world.recover().waiting == (str(world.root),)
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
        assert world.door.recover(AT).waiting == (str(world.root),)
        assert isinstance(other.apply(), Applied)
        with pytest.raises(WriteFailed, match="cut off has to be completed first"):
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
    assert (len(found.taken_back), found.waiting) == (1, ())
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
        "memory/state": "in the memory itself",
        "link/state": "in the memory itself",
        "memory": "in the memory itself",
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


# The history


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
def test_a_damaged_history_is_moved_aside_told_and_begun_anew(world: World, damage: str) -> None:
    assert isinstance(world.apply(), Applied)
    path = world.state / "history.db"
    DAMAGES[damage](path)
    database = Database(str(world.state))
    door = Door(database)
    back = world.edit("a.md", (world.root / "a.md").read_bytes(), b"after the damage\n")
    for _ in range(2):
        try:
            outcome = door.apply(back, Purpose(AT))
            break
        except StateUnusable as error:
            told = str(error)
            assert "damaged" in told
            assert "Nothing was changed." in told
    assert isinstance(outcome, Applied)
    assert len(database.notices) == 1
    assert "moved to" in database.notices[0]
    assert len(list(world.state.glob("history.db.corrupt-*"))) >= 1
    assert (world.root / "a.md").read_bytes() == b"after the damage\n"
    assert (world.root / "b.md").read_bytes() == b"new b\n"


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


def test_a_history_of_a_newer_ricordo_is_left_alone(world: World) -> None:
    killed_in_the_middle(world)
    path = world.state / "history.db"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 2")
    connection.close()
    before = path.read_bytes(), world.on_disk()
    for work in (world.recover, world.apply):
        with pytest.raises(StateUnusable, match="newer Ricordo"):
            work()
    assert (path.read_bytes(), world.on_disk()) == before


# Files that are not ours to change


def readable(world: World) -> object:
    try:
        return world.on_disk()
    except PermissionError:
        return sorted(world.root.iterdir())


def refused(world: World, path: str, before: bytes | None, after: bytes | None) -> str:
    """Apply an edit that must be refused; return why. Nothing may have been begun."""
    kept = readable(world)
    with pytest.raises(ChangeRefused) as raised:
        world.apply(world.edit(path, before, after))
    assert raised.value.changed == "Nothing was changed."
    assert readable(world) == kept
    assert not world.unfinished()
    return raised.value.message


@pytest.mark.parametrize("leads", ["b.md", "../outside.md", "nothing.md", "/etc/passwd"])
def test_a_symbolic_link_is_neither_followed_nor_replaced(world: World, leads: str) -> None:
    (world.base / "outside.md").write_bytes(OLD["b.md"])
    link = world.root / "link.md"
    link.symlink_to(leads)
    assert "no plain file" in refused(world, "link.md", OLD["b.md"], b"x")
    assert "no plain file" in refused(world, "link.md", None, b"x")
    assert link.readlink() == Path(leads)
    assert (world.base / "outside.md").read_bytes() == OLD["b.md"]


def test_pipes_and_sockets_are_refused_at_once(world: World) -> None:
    os.mkfifo(world.root / "pipe.md")
    assert "no plain file" in refused(world, "pipe.md", b"", b"x")


def test_of_two_hard_links_the_other_keeps_the_old_text(world: World) -> None:
    other = world.base / "outside.md"
    other.hardlink_to(world.root / "a.md")
    assert isinstance(world.apply(replace_a(world)), Applied)
    assert other.read_bytes() == OLD["a.md"]


def test_a_read_only_file_is_refused_also_by_root(world: World) -> None:
    (world.root / "a.md").chmod(0o444)
    assert "read-only" in refused(world, "a.md", OLD["a.md"], b"x")
    assert "read-only" in refused(world, "a.md", OLD["a.md"], None)


@pytest.mark.parametrize("what", ["a.md", "."])
def test_what_is_marked_immutable_is_refused_before_the_journal(world: World, what: str) -> None:
    if not shutil.which("chattr"):
        pytest.skip("chattr is not installed")
    words = ["chattr", "+i", str(world.root / what)]
    if subprocess.run(words, check=False, capture_output=True).returncode:
        pytest.skip("nothing can be marked immutable here")
    try:
        assert "immutable" in refused(world, "a.md", OLD["a.md"], b"x")
    finally:
        subprocess.run(["chattr", "-i", str(world.root / what)], check=True)


@pytest.fixture
def shared_world() -> Iterator[World]:
    """Give a world that others than its owner can reach."""
    if os.geteuid():
        pytest.skip("only root can become somebody else")
    with new_world() as world:
        world.base.chmod(0o711)
        yield world


def as_user(uid: int, world: World, work: Callable[[], object]) -> None:
    """Do `work` as somebody else, who owns the state directory."""
    world.state.mkdir()
    os.chown(world.state, uid, uid)

    def child() -> None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        work()

    assert in_child(child)


@pytest.mark.parametrize(
    ("folder_mode", "owner", "reason"),
    [
        (0o555, 4321, "folder is read-only"),
        (0o777, 0, "belongs to somebody else"),
        (0o1777, 0, "belongs to somebody else"),
    ],
)
def test_folders_and_files_of_others_are_refused(
    shared_world: World, folder_mode: int, owner: int, reason: str
) -> None:
    world = shared_world
    (world.root / "a.md").chmod(0o666)
    os.chown(world.root / "a.md", owner, owner)
    world.root.chmod(folder_mode)

    def work() -> None:
        assert reason in refused(world, "a.md", OLD["a.md"], b"x")

    as_user(4321, world, work)


def test_what_cannot_be_read_is_refused_without_a_word_of_the_history(
    shared_world: World,
) -> None:
    world = shared_world
    (world.root / "a.md").chmod(0)

    def work() -> None:
        assert "cannot be read: Permission denied" in refused(world, "a.md", OLD["a.md"], b"x")

    as_user(4321, world, work)


def test_mode_owner_attributes_and_access_list_stay(world: World) -> None:
    note = world.root / "a.md"
    note.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(note, 1234, 2345)
    os.setxattr(note, "user.colour", b"red")
    listed = access_list(0o4, 1357)
    os.setxattr(note, "system.posix_acl_access", listed)
    before = note.stat()
    assert isinstance(world.apply(replace_a(world)), Applied)
    after = note.stat()
    assert after.st_ino != before.st_ino
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        before.st_mode,
        before.st_uid,
        before.st_gid,
    )
    assert os.getxattr(note, "user.colour") == b"red"
    assert os.getxattr(note, "system.posix_acl_access") == listed


def access_list(permissions: int, user: int) -> bytes:
    """Return an access list that lets one more user in, as the kernel keeps it."""
    nobody = 0xFFFFFFFF
    entries = [(1, 6, nobody), (2, permissions, user), (4, 4, nobody)]
    entries += [(16, 4, nobody), (32, 0, nobody)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def test_a_replaced_file_gets_no_access_list_from_its_folder(world: World) -> None:
    (world.root / "a.md").chmod(0o640)
    os.setxattr(world.root, "system.posix_acl_default", access_list(0o6, 1357))
    assert isinstance(world.apply(replace_a(world)), Applied)
    assert "system.posix_acl_access" not in os.listxattr(world.root / "a.md")
    assert stat.S_IMODE((world.root / "a.md").stat().st_mode) == 0o640


def test_a_new_file_has_the_mode_of_the_mask_and_a_moved_one_its_own(world: World) -> None:
    (world.root / "i.md").chmod(0o600)
    mask = os.umask(0o027)
    try:
        assert isinstance(world.apply(), Applied)
    finally:
        os.umask(mask)
    assert stat.S_IMODE((world.root / "g.md").stat().st_mode) == 0o640
    assert stat.S_IMODE((world.root / "sub/j.md").stat().st_mode) == 0o600


def test_a_moved_file_keeps_its_mode_when_we_are_killed_between_its_two_names(
    world: World,
) -> None:
    (world.root / "i.md").chmod(0o600)

    def dying(step: str) -> None:
        if step == "rename" and not (world.root / "i.md").exists():
            die()

    def work() -> None:
        with at_every_call(dying):
            world.apply()

    assert not in_child(work)
    world.recover()
    assert world.check_recovered() == "all"
    assert stat.S_IMODE((world.root / "sub/j.md").stat().st_mode) == 0o600


def test_a_deleted_file_comes_back_with_its_mode(world: World) -> None:
    (world.root / "e.md").chmod(0o600)
    done = world.apply(world.edit("e.md", OLD["e.md"], None))
    assert isinstance(done, Applied)
    back = world.edit("e.md", None, OLD["e.md"])
    assert isinstance(world.door.apply(back, Purpose(AT, undoes=done.act)), Applied)
    assert stat.S_IMODE((world.root / "e.md").stat().st_mode) == 0o600


# What leads out


@pytest.mark.parametrize(
    "path",
    [
        "../outside.md",
        "sub/../../outside.md",
        "sub/../a.md",
        "./a.md",
        "sub//c.md",
        "/etc/passwd",
        "",
        ".",
        "..",
        "sub/..",
        "a.md\0.md",
        "linked/outside.md",
        "loop/x.md",
        "a.md/x.md",
    ],
)
@pytest.mark.parametrize("machine", ["openat2", "step by step"])
def test_a_path_that_leads_out_is_refused(
    world: World, path: str, machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if machine == "step by step":
        monkeypatch.setattr(calls, "_OPENAT2", 100_000)
    (world.base / "outside.md").write_bytes(b"outside\n")
    (world.root / "linked").symlink_to(world.base)
    (world.root / "loop").symlink_to("loop")
    for before, after in ((b"outside\n", b"x"), (None, b"x"), (b"outside\n", None)):
        refused(world, path, before, after)
    assert (world.base / "outside.md").read_bytes() == b"outside\n"


def test_a_memory_that_is_named_by_a_link_is_refused(world: World) -> None:
    link = world.base / "link"
    link.symlink_to(world.root)
    with pytest.raises(WriteFailed, match="cannot be opened"):
        world.apply(ChangeSet((Edit(str(link), "a.md", OLD["a.md"], b"x"),)))
    assert world.is_none()


def test_of_a_single_file_nothing_beside_it_may_be_touched(world: World) -> None:
    one = Edit(str(world.root), "a.md", OLD["a.md"], b"x", is_single_file=True)
    held = held_root.HeldRoot(str(world.root), "a.md")
    with pytest.raises(ChangeRefused, match=r"Only a\.md"):
        held.read("b.md")
    held.close()
    assert isinstance(world.apply(ChangeSet((one,))), Applied)
    with Database(str(world.state)).opened() as connection:
        history = History(connection)
        root = history.known_root(str(world.root))
        assert root is not None
        assert history.heads(root.id) == {}


def test_a_missing_folder_is_told(world: World) -> None:
    assert "no folder" in refused(world, "nowhere/x.md", None, b"x")
    assert "no folder" in refused(world, "x/x", None, b"x")


def test_a_memory_that_goes_while_we_journal_is_told_as_such(world: World) -> None:
    def move(step: str) -> None:
        if step == "journal" and world.root.exists():
            world.root.rename(world.base / "elsewhere")

    with at_every_call(move), pytest.raises(RicordoError) as raised:
        world.apply()
    assert isinstance(raised.value, WriteFailed)
    world.root = world.base / "elsewhere"
    assert world.is_none()


def test_others_find_what_they_wrote_told_apart_from_ours(world: World) -> None:
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


def test_a_change_before_the_first_recording_leaves_it_the_first(world: World) -> None:
    assert isinstance(world.apply(replace_a(world)), Applied)
    recorder = Recorder(Database(str(world.state)))
    assert recorder.record(open_memory(world.root), AT).is_first
