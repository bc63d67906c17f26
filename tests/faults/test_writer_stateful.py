"""Any order of our changes, others' writes, kills, recordings and undos keeps every content."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack, suppress

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.errors import ChangeRefused
from ricordo.memory.change import (
    Change,
    ChangeOperation,
    ChangeSet,
    Create,
    Edit,
    Insert,
    Rename,
    Retire,
    Rewrite,
)
from ricordo.memory.compose import compose
from ricordo.memory.memory import Memory
from ricordo.services.history.recorder import Recorder
from ricordo.storage.database import Database
from ricordo.storage.history import History
from ricordo.storage.reader import read_memory
from ricordo.storage.writer import Applied, ApplyConflict, ChangePurpose
from tests.faults.test_writer_race import STYLES
from tests.faults.writer_world import AT, World, at_step, die, in_child, new_world
from tests.support.builders import note_text
from tests.support.figures import figure

pytestmark = pytest.mark.faults

NAMES = ["one.md", "two.md", "three.md", "four.md", "five.md", "six.md"]
PATHS = st.sampled_from(NAMES)
COUNTS: Counter[str] = Counter()


class WriterMachine(RuleBasedStateMachine):
    """One memory, an agent that writes in it, and us."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.world: World = self.stack.enter_context(new_world())
        for path in sorted(self.world.on_disk()):
            (self.world.root / path).unlink()
        self.world.write({name: note_text(name).encode() for name in NAMES[:3]})
        self.world.write({"MEMORY.md": b"- [One](one.md)\n- [Two](two.md)\n"})
        self.recorder = Recorder(Database(str(self.world.state)))
        self.known: set[bytes] = set()
        """Every content that was recorded, or that we read or wrote when we changed something."""
        self.acts: list[int] = []
        self.lines = 0

    def teardown(self) -> None:
        self.stack.close()

    # what is needed below

    def line(self) -> str:
        """Return a line that was never written before."""
        self.lines += 1
        return f"line {self.lines}\n"

    def read(self) -> Memory:
        return read_memory(str(self.world.root), AUTO_MEMORY)

    def composed(self, act: ChangeOperation) -> ChangeSet | None:
        with suppress(ChangeRefused):
            return compose(self.read(), [Change(act)])
        return None

    def act(self, kind: str, first: int, second: int) -> ChangeOperation:
        """Return an act that fits the files as they are, as far as that is possible."""
        there = [name for name in NAMES if (self.world.root / name).exists()] or NAMES
        free = [name for name in NAMES if name not in there] or NAMES
        path, other = there[first % len(there)], there[second % len(there)]
        new = free[second % len(free)]
        acts: dict[str, ChangeOperation] = {
            "create": Create(new, note_text(new, self.line())),
            "insert": Insert(path, 0, self.line()),
            "rewrite": Rewrite(path, note_text(path, self.line())),
            "rename": Rename(path, new),
            "retire": Retire(path, other if other != path else ""),
            "index": Insert("MEMORY.md", 0, self.line()),
        }
        return acts[kind]

    def know(self, change_set: ChangeSet) -> None:
        for edit in change_set.edits:
            self.known |= {it for it in (edit.before, edit.after) if it is not None}

    def holds(self, change_set: ChangeSet, *, after: bool) -> bool:
        now = self.world.on_disk()
        return all(
            now.get(edit.path) == (edit.after if after else edit.before)
            for edit in change_set.edits
        )

    numbers = st.integers(0, 5)
    steps = st.integers(0, 70)
    kinds = st.sampled_from(["create", "insert", "rewrite", "rename", "retire", "index"])

    # others

    @rule(path=PATHS, style=st.sampled_from(sorted(STYLES)))
    def an_agent_writes(self, path: str, style: str) -> None:
        target_path = self.world.root / path
        if target_path.exists():
            STYLES[style](target_path, self.line().encode())
        else:
            target_path.write_text(note_text(path, self.line()))

    @rule(path=PATHS)
    def an_agent_deletes(self, path: str) -> None:
        (self.world.root / path).unlink(missing_ok=True)

    @rule(path=PATHS, other=PATHS)
    def an_agent_renames(self, path: str, other: str) -> None:
        if (self.world.root / path).exists():
            (self.world.root / path).rename(self.world.root / other)

    # us

    @rule()
    def we_record(self) -> None:
        self.recorder.record(self.read(), AT)
        self.known |= set(self.world.on_disk().values())
        COUNTS["recordings"] += 1

    @rule()
    def we_start_anew(self) -> None:
        self.recorder = Recorder(Database(str(self.world.state)))
        assert self.world.recover().pending == ()

    @rule(kind=kinds, first=numbers, second=numbers)
    def we_change(self, kind: str, first: int, second: int) -> None:
        change_set = self.composed(self.act(kind, first, second))
        if change_set:
            outcome = self.world.apply(change_set)
            assert isinstance(outcome, Applied)
            assert self.holds(change_set, after=True)
            self.acts.append(outcome.act)
            self.know(change_set)
            COUNTS["changes"] += 1

    @rule(kind=kinds, first=numbers, second=numbers, style=st.sampled_from(sorted(STYLES)))
    def we_change_what_an_agent_wrote_meanwhile(
        self, kind: str, first: int, second: int, style: str
    ) -> None:
        change_set = self.composed(self.act(kind, first, second))
        if change_set:
            self.an_agent_writes(change_set.edits[-1].path, style)
            before = self.world.on_disk()
            assert isinstance(self.world.apply(change_set), ApplyConflict)
            assert self.world.on_disk() == before
            COUNTS["clashes"] += 1

    @rule(
        kind=kinds, first=numbers, second=numbers, step=st.integers(0, 70), again=st.integers(0, 70)
    )
    def we_are_killed_while_we_change(
        self, kind: str, first: int, second: int, step: int, again: int
    ) -> None:
        change_set = self.composed(self.act(kind, first, second))
        if not change_set:
            return

        def dying(at: int, work: object) -> bool:
            def child() -> None:
                with at_step(at, die):
                    work()  # type: ignore[operator]

            return in_child(child)

        COUNTS["kills"] += not dying(step, lambda: self.world.apply(change_set))
        COUNTS["kills of recovery"] += not dying(again, self.world.recover)
        self.world.recover()
        done = self.holds(change_set, after=True)
        assert done or self.holds(change_set, after=False)
        COUNTS["completed" if done else "not begun"] += 1
        if done:
            self.know(change_set)
            with Database(str(self.world.state)).connect() as connection:
                history = History(connection)
                root = history.find_root(str(self.world.root))
                assert root is not None
                self.acts.append(history.list_entries(root.id)[-1].n)

    @precondition(lambda self: self.acts)
    @rule(data=st.data())
    def we_undo(self, data: st.DataObject) -> None:
        act = data.draw(st.sampled_from(self.acts))
        back = self.reverse_of(act)
        if not back.edits:
            return
        before = self.world.on_disk()
        outcome = self.world.writer.apply(back, ChangePurpose(AT, undoes=act))
        if isinstance(outcome, Applied):
            assert self.holds(back, after=True), "the exact bytes are back"
            self.acts.append(outcome.act)
            COUNTS["undone"] += 1
        else:
            assert self.world.on_disk() == before
            COUNTS["not undone"] += 1

    def reverse_of(self, act: int) -> ChangeSet:
        with Database(str(self.world.state)).connect() as connection:
            history = History(connection)
            return ChangeSet(
                tuple(
                    Edit(
                        str(self.world.root),
                        op.path,
                        history.get_content(op.post),
                        history.get_content(op.pre),
                    )
                    for op in history.list_operations(act)
                    if op.post != op.pre
                )
            )

    # always

    @invariant()
    def nothing_is_lost(self) -> None:
        now = self.world.on_disk()
        lost = self.known - set(now.values()) - self.world.kept()
        assert not lost
        assert not [path for path in now if ".ricordo-" in path]
        assert not self.world.unfinished()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
class TestWriter(WriterMachine.TestCase):  # type: ignore[name-defined, misc]
    settings = settings(
        max_examples=figure("stateful", everyday=20),
        stateful_step_count=figure("stateful_steps", everyday=20),
    )

    def runTest(self) -> None:
        super().runTest()
        print(", ".join(f"{count} {name}" for name, count in sorted(COUNTS.items())))
        assert COUNTS["completed"]
        assert COUNTS["not begun"]
        assert COUNTS["undone"]
