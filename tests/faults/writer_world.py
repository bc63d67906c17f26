"""A small memory, a change set over twelve of its files, and ways to interrupt the writer."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import sys
import tempfile
import traceback
import zlib
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from ricordo.memory.change import ChangeSet, Edit
from ricordo.storage import jail as held_root
from ricordo.storage import system_calls as calls
from ricordo.storage.database import Database
from ricordo.storage.history import History
from ricordo.storage.operation import HistoryEntry
from ricordo.storage.writer import Applied, ApplyConflict, ChangePurpose, RecoveryResult, Writer
from tests.conftest import NOW

AT = datetime.fromisoformat(NOW)
MARKS = frozenset(("journal", "journalled", "finish", "finished"))
"""Steps at which the protocol makes no system call of its own."""
CHILD_SECONDS = 120
"""After which a child that hangs is ended."""

OLD = {
    "MEMORY.md": b"- [A](a.md)\n- [E](e.md)\n",
    "a.md": b"---\nname: a\n---\nold a\n",
    "b.md": b"caf\xe9 \0 old b without line end",
    "big.md": b"one old line of a large note\r\n" * 500,
    "sub/c.md": b"old c\n",
    "sub/d.md": b"",
    "e.md": b"old e, which goes\n",
    "sub/f.md": b"old f, which goes\n",
    "i.md": b"old i, which moves\n",
    "untouched.md": b"nobody may change this\n",
}
NEW = {
    "MEMORY.md": b"- [A](a.md)\n- [G](g.md)\n",
    "a.md": b"---\nname: a\n---\nnew a\n",
    "b.md": b"new b\n",
    "big.md": b"one new line of a large note\r\n" * 600,
    "sub/c.md": b"",
    "sub/d.md": b"new d\n",
    "g.md": b"new g\n",
    "sub/h.md": b"new h\n",
    "sub/j.md": OLD["i.md"],
    "untouched.md": OLD["untouched.md"],
}
_MOVED = {"sub/j.md": "i.md"}

Files = dict[str, bytes]


def fast_folder() -> str | None:
    """Return a folder in memory: a killed process needs no disk to be told from a finished one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class World:
    """A memory and a state directory of its own."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.root = base / "memory"
        self.state = base / "state"
        self.tries_may_stay = False
        if not self.root.exists():
            (self.root / "sub").mkdir(parents=True)
            self.write(OLD)

    # the files

    def write(self, files: Files) -> None:
        for path, content in files.items():
            (self.root / path).write_bytes(content)

    def on_disk(self) -> Files:
        """Return every file, whatever it is called; tries of an exchange only where none may
        stay.
        """
        found = (path for path in self.root.rglob("*") if path.is_file())
        if self.tries_may_stay:
            found = (path for path in found if not path.name.startswith(".ricordo-try-"))
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in found}

    def is_all(self) -> bool:
        return self.on_disk() == NEW

    def is_none(self) -> bool:
        return self.on_disk() == OLD

    def how_much(self) -> str:
        """Return `all` or `none` of the set; fails where it is neither."""
        now = self.on_disk()
        if now == OLD:
            return "none"
        wrong = sorted(path for path in now | NEW if now.get(path) != NEW.get(path))
        assert not wrong, f"half a set is on the disk: {wrong}"
        return "all"

    def restore(self) -> None:
        """Start anew, without history."""
        for folder in (self.root, self.state):
            shutil.rmtree(folder, ignore_errors=True)
        (self.root / "sub").mkdir(parents=True)
        self.write(OLD)

    # the writer

    def change_set(self) -> ChangeSet:
        paths = sorted(path for path in OLD | NEW if OLD.get(path) != NEW.get(path))
        return ChangeSet(
            tuple(
                Edit(
                    str(self.root),
                    path,
                    OLD.get(path),
                    NEW.get(path),
                    moved_from=_MOVED.get(path, ""),
                )
                for path in paths
            )
        )

    def edit(self, path: str, before: bytes | None, after: bytes | None) -> ChangeSet:
        return ChangeSet((Edit(str(self.root), path, before, after),))

    @property
    def writer(self) -> Writer:
        return Writer(Database(str(self.state)))

    def apply(
        self, change_set: ChangeSet | None = None, *, by_hand: bool = True
    ) -> Applied | ApplyConflict:
        return self.writer.apply(
            change_set or self.change_set(), ChangePurpose(AT), by_hand=by_hand
        )

    def recover(self) -> RecoveryResult:
        """Recover as a process does that has just started."""
        held_root._exchanging.clear()
        return self.writer.recover(AT)

    # the history

    def unfinished(self) -> list[HistoryEntry]:
        database = Database(str(self.state))
        if not database.exists:
            return []
        with database.connect() as connection:
            return History(connection).list_unfinished()

    def kept(self) -> set[bytes]:
        """Return every content in the history."""
        if not (self.state / "history.db").exists():
            return set()
        connection = sqlite3.connect(self.state / "history.db")
        try:
            rows = connection.execute("SELECT data FROM blob").fetchall()
        except sqlite3.OperationalError:
            return set()
        finally:
            connection.close()
        return {zlib.decompress(row[0]) for row in rows}

    def check_nothing_lost(self, also: Set[bytes] = frozenset()) -> None:
        """Fail where a content, of those before or `also`, is neither on disk nor in history."""
        there = set(self.on_disk().values()) | self.kept()
        lost = sorted(content[:40] for content in (set(OLD.values()) | also) - there)
        assert not lost, f"lost: {lost}"

    def check_recovered(self) -> str:
        """Check what must hold once the next process has recovered; return `all` or `none`."""
        assert self.unfinished() == []
        self.check_nothing_lost()
        return self.how_much()


def replace_a(world: World) -> ChangeSet:
    return world.edit("a.md", OLD["a.md"], b"new\n")


@contextmanager
def new_world() -> Iterator[World]:
    """Give a world in memory where that is possible."""
    held_root._exchanging.clear()
    with tempfile.TemporaryDirectory(prefix="ricordo-test-", dir=fast_folder()) as folder:
        yield World(Path(folder))


@contextmanager
def at_every_call(act: Callable[[str], None]) -> Iterator[None]:
    """Let `act` see every step of the protocol before it is made."""
    before = calls.before
    calls.before = act
    try:
        yield
    finally:
        calls.before = before


@contextmanager
def at_step(number: int, act: Callable[[str], None]) -> Iterator[None]:
    """Call `act` once, before the step of that number, counted from 0."""
    left = number

    def count(name: str) -> None:
        nonlocal left
        left -= 1
        if left == -1:
            act(name)

    with at_every_call(count):
        yield


def die(_: str = "") -> None:
    """End this process at once, as a power cut or `kill -9` does."""
    os.kill(os.getpid(), signal.SIGKILL)


def steps_of(work: Callable[[], object]) -> list[str]:
    """Return the names of the steps that `work` makes."""
    names: list[str] = []
    held_root._exchanging.clear()
    with at_every_call(names.append):
        work()
    return names


def in_child(work: Callable[[], object]) -> bool:
    """Do `work` in a child process; say whether it came to its end before it was killed.

    What it raises fails the test.
    """
    sys.stdout.flush()
    process = os.fork()
    if not process:
        code = 70
        with suppress(BaseException):
            try:
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.alarm(CHILD_SECONDS)
                held_root._exchanging.clear()
                work()
                code = 0
            except BaseException:
                traceback.print_exc()
        os._exit(code)
    status = os.waitpid(process, 0)[1]
    if os.WIFSIGNALED(status):
        return False
    assert os.WEXITSTATUS(status) == 0, "the child failed"
    return True


def killed_in_the_middle(world: World, at: str = "exchange") -> None:
    """Leave a set of which half is on the disk, by a kill before one of the calls `at`."""
    steps = steps_of(world.apply)
    world.restore()
    middle = [n for n, name in enumerate(steps) if name == at][-2]

    def work() -> None:
        with at_step(middle, die):
            world.apply()

    assert not in_child(work)
    assert not world.is_none()


@contextmanager
def without_case() -> Iterator[None]:
    """Let the machine not tell upper from lower case in names, as macOS and Windows do."""
    names = ("open_file", "create_file", "exchange", "rename_new", "rename_over", "link", "unlink")
    kept = {name: getattr(calls, name) for name in (*names, "find_file_id")}

    def actual(folder: int, name: str) -> str:
        there = os.listdir(folder)
        return next((it for it in there if it.casefold() == name.casefold()), name)

    def folded(call: Callable[..., Any]) -> Callable[..., Any]:
        return lambda folder, *names: call(folder, *(actual(folder, name) for name in names))

    for name, call in kept.items():
        setattr(calls, name, folded(call))
    try:
        yield
    finally:
        for name, call in kept.items():
            setattr(calls, name, call)


@contextmanager
def without_exchange() -> Iterator[None]:
    """Take the exchange of names from the machine, as FUSE and network drives do."""

    def refuse(*_: object) -> None:
        raise calls.UnsupportedError(22, "not here")

    kept = calls.exchange, calls.rename_new
    calls.exchange = calls.rename_new = refuse
    held_root._exchanging.clear()
    try:
        yield
    finally:
        calls.exchange, calls.rename_new = kept
        held_root._exchanging.clear()
