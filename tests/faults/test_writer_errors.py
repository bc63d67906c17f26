"""Calls fail while a change set is applied: what is said of it is true, and nothing is lost."""

from __future__ import annotations

import errno
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from ricordo.errors import RicordoError, StateUnusable, WriteFailed
from ricordo.storage import database
from ricordo.storage import jail as held_root
from ricordo.storage.writer import Applied
from tests.faults.writer_world import (
    MARKS,
    NEW,
    OLD,
    World,
    at_every_call,
    in_child,
    new_world,
    steps_of,
    without_exchange,
)
from tests.support.figures import figure

pytestmark = pytest.mark.faults

Record = Callable[[str, object], None]
ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES, errno.EFBIG, errno.EROFS)
PARTS = 4
"""Into which the calls are divided, so that several processes can try them."""
NOTHING = "Nothing was changed."
WAYS = {"exchange": nullcontext, "fallback": without_exchange}


def fault(name: str, number: int) -> Exception:
    """Return what a step of that name raises when the machine fails there."""
    if name in MARKS:
        return sqlite3.OperationalError("disk I/O error")
    return OSError(number, os.strerror(number))


@contextmanager
def failing(steps: set[int], number: int) -> Iterator[list[str]]:
    """Let the steps of those numbers fail; give the names of those that did."""
    seen = 0
    failed: list[str] = []

    def fail(name: str) -> None:
        nonlocal seen
        seen += 1
        # after these two the journal is written: there is nothing that could fail
        if seen - 1 in steps and name not in ("journalled", "finished"):
            failed.append(name)
            raise fault(name, number)

    held_root._exchanging.clear()
    with at_every_call(fail):
        yield failed


def attempt(world: World) -> str:
    """Apply; check that what is said is true, and return it in one word."""
    told: RicordoError | None = None
    try:
        assert isinstance(world.apply(), Applied)
    except RicordoError as error:
        told = error
    if told is None:
        assert world.is_all()
        return "applied"
    if told.changed == NOTHING:
        assert world.is_none(), f"something was changed: {told}"
        return "refused"
    assert "journal" in told.changed
    return "left to the next start"


def check_that_it_works_again(world: World, outcome: str) -> None:
    """Once the fault is gone, the next start makes good what was told, and a retry works."""
    left = len(world.unfinished())
    assert left == (outcome == "left to the next start")
    if left:
        world.check_nothing_lost()
        world.recover()
    if world.check_recovered() == "none":
        assert isinstance(world.apply(), Applied)
    assert world.is_all()


def say(what: str, counts: Counter[str], record: Record) -> None:
    told = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    print(f"{what}: {told}")
    record(what, told)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("way", WAYS)
def test_whatever_call_fails_the_outcome_is_reported_correctly(
    way: str, part: int, record_property: Record
) -> None:
    """Every day some calls fail with one of the errors in turn, in a soak each with each."""
    counts: Counter[str] = Counter()
    tries = figure("errors", everyday=1)
    name, everyday = ("fault_stride", 3) if way == "exchange" else ("fallback_stride", 5)
    stride = figure(name, everyday)
    with WAYS[way](), new_world() as world:
        names = steps_of(world.apply)
        for step in range(part, len(names), PARTS * stride):
            for turn in range(tries):
                number = ERRORS[(step + turn) % len(ERRORS)]
                world.restore()
                world.tries_may_stay = names[step] == "unlink"
                with failing({step}, number) as failed:
                    outcome = attempt(world)
                if world.tries_may_stay:
                    # the next process takes away what could not be
                    held_root._exchanging.clear()
                    held_root.OpenRoot(str(world.root)).can_exchange()
                    world.tries_may_stay = False
                check_that_it_works_again(world, outcome)
                counts["faults"] += len(failed)
                counts[outcome] += 1
    assert counts["refused"] > 5
    say(f"one error, {way}, part {part}", counts, record_property)


def test_a_second_error_while_reverting_leaves_it_to_the_next_start(
    record_property: Record,
) -> None:
    counts: Counter[str] = Counter()
    stride = figure("error_stride", everyday=37)
    with new_world() as world:
        world.tries_may_stay = True
        steps = len(steps_of(world.apply))
        for first in range(steps // 3, steps, stride):
            for later in range(1, steps, stride):
                world.restore()
                with failing({first, first + later}, ERRORS[later % len(ERRORS)]) as failed:
                    outcome = attempt(world)
                check_that_it_works_again(world, outcome)
                counts["two faults" if len(failed) == 2 else "one fault"] += 1
                counts[outcome] += 1
    assert counts["two faults"]
    assert counts["left to the next start"]
    say("two errors", counts, record_property)


def test_what_others_wrote_on_top_of_ricordos_text_is_reported_when_ricordo_reverts() -> None:
    """The last exchange fails, and an agent has added to a file that we had written already."""
    with new_world() as world:
        exchanges = steps_of(world.apply).count("exchange")
        world.restore()
        seen = 0

        def fail(step: str) -> None:
            nonlocal seen
            seen += step == "exchange"
            if step == "exchange" and seen == exchanges:
                with (world.root / "a.md").open("ab") as note:
                    note.write(b"on top of ours\n")
                raise OSError(errno.EIO, "Input/output error")

        held_root._exchanging.clear()
        with at_every_call(fail), pytest.raises(WriteFailed) as raised:
            world.apply()
        assert raised.value.changed == ("Nothing else was changed, but other programs wrote: a.md.")
        assert world.on_disk() == OLD | {"a.md": NEW["a.md"] + b"on top of ours\n"}
        assert not world.unfinished()
        world.check_nothing_lost()


def test_a_file_whose_fsync_failed_is_written_again_and_never_synced_again() -> None:
    """After a failed fsync the kernel may take lost pages for written ones."""
    with new_world() as world:
        synced: list[int] = []
        real = os.fsync

        def sync(handle: int) -> None:
            synced.append(os.fstat(handle).st_ino)
            if len(synced) == 3:
                raise OSError(errno.EIO, "Input/output error")
            real(handle)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "fsync", sync)
            with pytest.raises(WriteFailed, match="Input/output error"):
                world.apply()
            assert world.is_none()
            assert isinstance(world.apply(), Applied)
        assert world.is_all()
        folders = {world.root.stat().st_ino, (world.root / "sub").stat().st_ino}
        assert synced.count(synced[2]) == 1 or synced[2] in folders


def test_a_largest_file_size_is_met_before_anything_is_changed() -> None:
    """RLIMIT_FSIZE for real: neither notes nor history may grow beyond it."""
    told: Counter[str] = Counter()
    # the edge, where the journal has room and its end may have none, lies between the last two
    for limit in (1_000, 6_000, 14_000, 60_000, *range(80_000, 150_000, 4_000), 150_000):
        with new_world() as world:
            report = world.base / "report"

            def work(limit: int = limit, world: World = world, report: Path = report) -> None:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
                outcome = attempt(world)
                resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
                report.write_text(outcome)

            assert in_child(work)
            told[report.read_text()] += 1
            assert not told["left to the next start"], f"files were changed at {limit} bytes"
            check_that_it_works_again(world, report.read_text())
    print(f"RLIMIT_FSIZE: {dict(told)}")
    assert told["refused"]
    assert told["applied"]


def test_a_full_history_stops_a_change_before_any_file_is_touched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connect = sqlite3.connect
    seen: list[str] = []

    def small(*words: object, **more: object) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*words, **more)  # type: ignore[call-overload]
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    with new_world() as world:
        with database.Database(str(world.state)).connect():
            pass
        monkeypatch.setattr(sqlite3, "connect", small)
        large = random.Random(1).randbytes(100_000)
        change_set = world.edit("a.md", OLD["a.md"], large)
        with at_every_call(seen.append), pytest.raises(StateUnusable, match="full") as raised:
            world.apply(change_set)
        monkeypatch.undo()
        assert raised.value.changed == NOTHING
        assert "journal" in seen
        assert not {"exchange", "rename", "replace", "create"} & set(seen)
        check_that_it_works_again(world, "refused")


def test_a_history_that_cannot_be_written_stops_a_change() -> None:
    with new_world() as world:
        world.state.mkdir()
        (world.state / "history.db").mkdir()
        with pytest.raises(StateUnusable):
            world.apply()
        assert world.is_none()


# With root's rights and tools that are not everywhere


INJECTED = (
    ("renameat2", "EIO"),
    ("fsync", "EIO"),
    ("fdatasync", "EIO"),
    ("write", "ENOSPC"),
    ("pwrite64", "ENOSPC"),
    ("unlinkat", "EACCES"),
    ("renameat", "EROFS"),
    ("openat", "EIO"),
    ("fchmod", "EPERM"),
)
SCRIPT = """
import sys
from pathlib import Path
from tests.faults.writer_world import World
from tests.faults.test_writer_errors import OUTCOMES, attempt
world = World(Path(sys.argv[1]))
world.tries_may_stay = True
try:
    outcome = attempt(world)
except AssertionError as error:
    outcome = "untrue"
    print(error)
sys.exit(OUTCOMES.index(outcome) + 10)
"""
OUTCOMES = ("applied", "refused", "left to the next start", "untrue")


def test_calls_that_the_kernel_fails_are_reported_correctly(record_property: Record) -> None:
    """`strace` lets the n-th system call of a kind fail, from each n on which it is made."""
    rounds = figure("strace_rounds", everyday=0)
    if not rounds or not shutil.which("strace"):
        pytest.skip("strace: in a soak, where it is installed")
    counts: Counter[str] = Counter()
    for call, error in INJECTED:
        for when in range(1, rounds + 1):
            with new_world() as world:
                world.tries_may_stay = True
                done = under_strace(world, f"inject={call}:error={error}:when={when}")
                if done.returncode < 10:  # what failed was the start of Python
                    continue
                outcome = OUTCOMES[done.returncode - 10]
                counts[outcome] += 1
                assert outcome != "untrue", f"{call} {error} {when}: {done.stdout}"
                check_that_it_works_again(world, outcome)
    assert counts["refused"]
    say("strace", counts, record_property)


def under_strace(world: World, inject: str) -> subprocess.CompletedProcess[str]:
    command = ["strace", "-f", "-o", "/dev/null", "-e", inject]
    return subprocess.run(
        [*command, sys.executable, "-c", SCRIPT, str(world.base)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=Path(__file__).parents[2],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )


def test_a_small_disk_that_is_full_changes_nothing(tmp_path: Path, record_property: Record) -> None:
    """A tmpfs of every size: the memory, the history or both find no space."""
    sizes = figure("disk_sizes", everyday=4)
    mount, unmount = shutil.which("mount"), shutil.which("umount")
    if os.geteuid() or not mount or not unmount:
        pytest.skip("a small disk can only be mounted by root")
    counts: Counter[str] = Counter()
    disk = tmp_path / "disk"
    disk.mkdir()
    for size in range(sizes):
        kilobytes = 80 + size * 400 // sizes
        words = [mount, "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(disk)]
        if subprocess.run(words, check=False, capture_output=True).returncode:
            pytest.skip("tmpfs cannot be mounted here")
        try:
            world = World(disk)
            outcome = attempt(world)
            counts[outcome] += 1
            more = [mount, "-o", "remount,size=4m", str(disk)]
            subprocess.run(more, check=True, capture_output=True)
            check_that_it_works_again(world, outcome)
        finally:
            subprocess.run([unmount, "-l", str(disk)], check=True)
    assert counts["refused"]
    say("small disks", counts, record_property)


# How often the disk is waited for


def test_twelve_files_need_at_most_three_waits_each_and_six_more(record_property: Record) -> None:
    with new_world() as world:
        files = len(world.change_set().edits)
        names = steps_of(world.apply)
        staged = [n for n, name in enumerate(names) if name == "create"]
        swapped = [n for n, name in enumerate(names) if name in ("exchange", "rename")]
        # two files are made to try an exchange, which is the first one
        assert names.count("fsync") == len(staged) - 2
        assert max(n for n, name in enumerate(names) if name == "fsync") < swapped[1]
        assert swapped[-1] < names.index("fsync folder") < names.index("finish")
        assert names.count("fsync folder") == 2
        synced = sum(name.startswith("fsync") for name in names)
        commits = names.count("journal") + names.count("finish")
        assert len(OLD | NEW) - 1 == files
    print(f"{files} files: {synced} fsyncs of ours, {commits} commits of the journal")
    record_property("fsyncs", synced + commits)
    assert synced + 2 * commits <= 3 * files + 6


def test_the_machine_counts_no_more_waits_than_we_do(record_property: Record) -> None:
    if not shutil.which("strace"):
        pytest.skip("strace is not installed")
    with new_world() as world:
        counted = world.base / "counted"
        strace = ["strace", "-f", "-e", "trace=fsync,fdatasync", "-o"]
        done = subprocess.run(
            [*strace, str(counted), sys.executable, "-c", SCRIPT, str(world.base)],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            cwd=Path(__file__).parents[2],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
        assert OUTCOMES[done.returncode - 10] == "applied", done.stderr
        waits = counted.read_text().count("sync(")
        files = len(world.change_set().edits)
    print(f"{files} files: {waits} fsyncs, the making of the history among them")
    record_property("fsyncs by strace", waits)
    assert waits <= 3 * files + 6
