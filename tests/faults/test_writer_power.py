"""A power cut, told from the order of the system calls.

A disk model follows every call of the module of system calls: what a file holds is on the disk once
that file was synced, what a folder names once that folder was. At a cut the disk may hold less than
a program sees; of all that it may hold, two worst cases are tried: every name and no content that
was not waited for, and every content under the names that were waited for. The history is another
file, which SQLite syncs at every commit. Leaving out one of our own waits must be caught here.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ricordo.storage import system_calls as calls
from ricordo.storage.database import Database
from ricordo.storage.writer import Applied
from tests.faults.writer_world import World, at_every_call, new_world
from tests.support.figures import figure

pytestmark = pytest.mark.faults

Files = dict[str, bytes]
CASES = ("no content that was not waited for", "the names that were waited for")


class Disk:
    """What is surely on the disk of a world, while the writer works in it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._kept: list[int] = []
        self.synced: dict[int, bytes] = {}
        """Contents that were waited for, by inode."""
        self.names: dict[str, dict[str, int]] = {}
        """Names that were waited for, by folder."""
        for folder in self._folders():
            self._remember_names(folder)
            for name in self.names[folder]:
                self._hold(os.open(world.root / folder / name, os.O_RDONLY))

    def _folders(self) -> Iterator[str]:
        root = self.world.root
        return (os.path.relpath(folder, root) for folder, _, _ in os.walk(root))

    def _hold(self, handle: int) -> None:
        """Know what a file holds, and keep its inode from being given to another one."""
        self._kept.append(handle)
        self.synced[os.fstat(handle).st_ino] = calls.read_all(handle)

    def _remember_names(self, folder: str) -> None:
        there = os.scandir(self.world.root / folder)
        self.names[folder] = {it.name: it.inode() for it in there if it.is_file()}

    # what the writer does

    def sync_file(self, handle: int) -> None:
        self._hold(os.dup(handle))

    def sync_folder(self, handle: int) -> None:
        path = os.readlink(f"/proc/self/fd/{handle}")
        self._remember_names(os.path.relpath(path, self.world.root))

    def close(self) -> None:
        for handle in self._kept:
            os.close(handle)

    # what is left after a cut

    def after_a_cut(self, case: str) -> Files:
        """Return the files that the disk may hold now."""
        left: Files = {}
        for folder in self._folders():
            if case == CASES[0]:
                there = os.scandir(self.world.root / folder)
                names = {it.name: it.inode() for it in there if it.is_file()}
            else:
                names = self.names.get(folder, {})
            for name, inode in names.items():
                left[os.path.normpath(f"{folder}/{name}")] = self.synced.get(inode, b"")
        return left


@contextmanager
def followed(world: World, without: str = "") -> Iterator[Disk]:
    """Follow the calls by a model of the disk, with one kind of wait left out."""
    kept = {name: getattr(calls, name) for name in ("sync_file", "sync_folder")}
    disk = Disk(world)

    def follow(name: str) -> Callable[[int], None]:
        def call(handle: int) -> None:
            if name == without:
                return
            kept[name](handle)
            getattr(disk, name)(handle)

        return call

    for name in kept:
        setattr(calls, name, follow(name))
    try:
        yield disk
    finally:
        for name, call in kept.items():
            setattr(calls, name, call)
        disk.close()


def cuts(world: World, stride: int, without: str = "") -> list[tuple[str, str, Files, Path]]:
    """Apply a set; return for cuts at its steps, and after it, what the disk may hold then."""
    found: list[tuple[str, str, Files, Path]] = []
    count = 0

    def cut(step: str) -> None:
        nonlocal count
        count += 1
        if not count % stride or step == "over":
            state = world.base / f"state {count}"
            if world.state.exists():
                shutil.copytree(world.state, state)
            found.extend((step, case, disk.after_a_cut(case), state) for case in CASES)

    with followed(world, without) as disk:
        with at_every_call(cut):
            assert isinstance(world.apply(), Applied)
        cut("over")
    return found


def outcome(world: World, left: Files, state: Path) -> str:
    """Start again on what a cut has left; return `all`, `none`, or `bad` where it is neither."""
    for path in world.root.rglob("*"):
        if path.is_file():
            path.unlink()
    world.write(left)
    shutil.rmtree(world.state)
    if state.exists():
        shutil.copytree(state, world.state)
    try:
        world.recover()
        return world.check_recovered()
    except AssertionError:
        return "bad"


def count_cuts(stride: int, without: str = "") -> Counter[str]:
    counts: Counter[str] = Counter()
    with new_world() as world:
        for step, case, left, state in cuts(world, stride, without):
            became = outcome(world, left, state)
            if step == "over" and became == "none":
                # it was told that the set is on the disk
                became = "bad"
            if became == "bad" and not without:
                pytest.fail(f"cut before {step}, {case}")
            counts[became] += 1
    return counts


def test_after_a_power_cut_at_any_step_all_or_nothing_is_there(
    record_property: Callable[[str, object], None],
) -> None:
    counts = count_cuts(figure("power_stride", everyday=9))
    told = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    print(f"power cuts: {told}")
    record_property("power cuts", told)
    assert counts["all"]
    assert counts["none"]


@pytest.mark.parametrize("wait", ["sync_file", "sync_folder"])
def test_a_sleep_that_is_left_out_is_caught(wait: str) -> None:
    assert count_cuts(figure("power_stride", everyday=25), without=wait)["bad"]


def test_what_the_history_commits_is_waited_for(tmp_path: Path) -> None:
    with Database(str(tmp_path)).connect() as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
