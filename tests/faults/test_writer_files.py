"""Files that the writer may not change, what stays of those it changes, and what leads out."""

from __future__ import annotations

import os
import shutil
import stat
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ricordo.errors import ChangeRefused, RicordoError, WriteFailed
from ricordo.memory.change import ChangeSet, Edit
from ricordo.storage import jail as held_root
from ricordo.storage import system_calls as calls
from ricordo.storage.database import Database
from ricordo.storage.history import History
from ricordo.storage.writer import Applied, ChangePurpose
from tests.faults.writer_world import (
    AT,
    OLD,
    World,
    at_every_call,
    die,
    in_child,
    new_world,
    replace_a,
)

pytestmark = pytest.mark.faults


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
    assert "not a regular file" in refused(world, "link.md", OLD["b.md"], b"x")
    assert "not a regular file" in refused(world, "link.md", None, b"x")
    assert link.readlink() == Path(leads)
    assert (world.base / "outside.md").read_bytes() == OLD["b.md"]


def test_pipes_and_sockets_are_refused_at_once(world: World) -> None:
    os.mkfifo(world.root / "pipe.md")
    assert "not a regular file" in refused(world, "pipe.md", b"", b"x")


def test_a_note_with_the_longest_name_is_changed_and_goes(world: World) -> None:
    name = "x" * 252 + ".md"
    (world.root / name).write_bytes(b"old")
    assert isinstance(world.apply(world.edit(name, b"old", b"new")), Applied)
    assert (world.root / name).read_bytes() == b"new"
    assert isinstance(world.apply(world.edit(name, b"new", None)), Applied)
    assert not (world.root / name).exists()


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
        (0o777, 0, "belongs to another user"),
        (0o1777, 0, "belongs to another user"),
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
        if step == "replace" and (world.root / "sub/j.md").exists():
            assert (world.root / "i.md").exists(), "a file that moves is never nowhere"
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
    assert isinstance(world.writer.apply(back, ChangePurpose(AT, undoes=done.act)), Applied)
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
def test_a_path_that_is_outside_is_refused(
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
    held = held_root.OpenRoot(str(world.root), "a.md")
    with pytest.raises(ChangeRefused, match=r"Only a\.md"):
        held.read("b.md")
    held.close()
    assert isinstance(world.apply(ChangeSet((one,))), Applied)
    with Database(str(world.state)).connect() as connection:
        history = History(connection)
        root = history.find_root(str(world.root))
        assert root is not None
        assert history.list_known_contents(root.id) == {}


def test_a_missing_folder_is_reported(world: World) -> None:
    assert "No folder" in refused(world, "nowhere/x.md", None, b"x")
    assert "No folder" in refused(world, "x/x", None, b"x")


def test_a_memory_that_goes_during_journalling_is_reported_as_such(world: World) -> None:
    def move(step: str) -> None:
        if step == "journal" and world.root.exists():
            world.root.rename(world.base / "elsewhere")

    with at_every_call(move), pytest.raises(RicordoError) as raised:
        world.apply()
    assert isinstance(raised.value, WriteFailed)
    world.root = world.base / "elsewhere"
    assert world.is_none()
