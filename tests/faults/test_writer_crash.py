"""A process that applies a change set is killed: the next one leaves all of the set or nothing."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import pytest

from tests.faults.writer_world import (
    NEW,
    OLD,
    Files,
    World,
    at_every_call,
    at_step,
    die,
    in_child,
    new_world,
    steps_of,
    without_exchange,
)
from tests.support.figures import figure

pytestmark = pytest.mark.faults

Record = Callable[[str, object], None]
PARTS = 4
"""Into which the steps are divided, so that several processes can try them."""
WAYS = {"exchange": nullcontext, "fallback": without_exchange}


def apply_and_die(world: World, step: int) -> bool:
    """Apply in a child that is killed at a step; say whether it was done before."""

    def work() -> None:
        with at_step(step, die):
            world.apply()

    return in_child(work)


def recover_and_die(world: World, step: int) -> bool:
    def work() -> None:
        with at_step(step, die):
            world.recover()

    return in_child(work)


def count_steps(world: World) -> int:
    """Return how many steps an apply makes, and begin anew."""
    steps = len(steps_of(world.apply))
    assert world.is_all()
    world.restore()
    return steps


def say(what: str, counts: Counter[str], record: Record) -> None:
    told = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    print(f"{what}: {told}")
    record(what, told)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("way", WAYS)
def test_killed_at_every_step_the_next_process_leaves_all_or_nothing(
    way: str, part: int, record_property: Record
) -> None:
    counts: Counter[str] = Counter()
    name, everyday = ("kill_stride", 3) if way == "exchange" else ("fallback_stride", 7)
    stride = figure(name, everyday)
    lacking: AbstractContextManager[None] = WAYS[way]()
    with lacking, new_world() as world:
        steps = count_steps(world)
        assert steps > 40
        for step in range(part, steps, PARTS * stride):
            world.restore()
            assert not apply_and_die(world, step), f"step {step} was not reached"
            found = world.recover()
            outcome = world.check_recovered()
            assert not found.reverted
            counts["kills"] += 1
            counts[outcome] += 1
            if outcome == "none":
                world.apply()
                assert world.is_all(), "what was taken back can be applied again"
    assert counts["all"]
    assert counts["none"]
    say(f"{way}, part {part}", counts, record_property)


def test_killed_at_random_instants_the_next_process_leaves_all_or_nothing(
    record_property: Record,
) -> None:
    luck = random.Random(20260101)
    counts: Counter[str] = Counter()
    with new_world() as world:
        started = time.perf_counter()
        assert in_child(world.apply)
        longest = time.perf_counter() - started
        while counts["kills"] < figure("random_kills", everyday=25):
            world.restore()
            instant = luck.uniform(0.0005, longest)

            def work(instant: float = instant) -> None:
                # the default action of this signal ends the process where it stands
                signal.setitimer(signal.ITIMER_REAL, instant)
                world.apply()

            counts["finished" if in_child(work) else "kills"] += 1
            world.recover()
            counts[world.check_recovered()] += 1
    say("random instants", counts, record_property)


def test_killed_while_applying_and_twice_while_recovering(record_property: Record) -> None:
    luck = random.Random(20260102)
    counts: Counter[str] = Counter()
    with new_world() as world:
        steps = count_steps(world)
        for _ in range(figure("random_kills", everyday=25)):
            world.restore()
            assert not apply_and_die(world, luck.randrange(steps))
            for _ in range(2):
                if not recover_and_die(world, luck.randrange(steps)):
                    counts["kills of recovery"] += 1
            world.recover()
            counts["kills"] += 1
            counts[world.check_recovered()] += 1
    assert counts["kills of recovery"]
    say("recovery killed twice", counts, record_property)


def test_what_an_agent_wrote_after_the_kill_stays_and_the_rest_is_reverted(
    record_property: Record,
) -> None:
    """An agent appends, creates and deletes in the files of the set before the next start."""
    counts: Counter[str] = Counter()
    with new_world() as world:
        steps = count_steps(world)
        for step in range(0, steps, figure("agent_stride", everyday=17)):
            world.restore()
            apply_and_die(world, step)
            theirs = {
                "a.md": b"written by an agent\n",
                "g.md": b"made by an agent\n",
                "big.md": (world.root / "big.md").read_bytes() + b"appended by an agent\n",
            }
            began = bool(world.unfinished())
            world.write(theirs)
            found = world.recover()
            now = world.on_disk()
            assert {path: now.pop(path, None) for path in theirs} == theirs
            assert len(found.reverted) == began
            expected = [OLD] if began else [OLD, NEW]
            assert now in [without(files, theirs) for files in expected], f"step {step}"
            if began:
                world.check_nothing_lost(set(theirs.values()))
            counts["kills"] += 1
            counts["taken back"] += began
    assert counts["taken back"]
    say("agent wrote after the kill", counts, record_property)


@pytest.mark.parametrize("way", WAYS)
def test_what_an_agent_wrote_in_the_last_instant_comes_back_after_a_kill(
    way: str, record_property: Record
) -> None:
    """The agent writes just before our exchange or delete, and we are killed right after it."""
    counts: Counter[str] = Counter()
    lacking: AbstractContextManager[None] = WAYS[way]()
    with lacking, new_world() as world:
        for path, call in {"big.md": "exchange", "e.md": "replace"}.items():
            for later in range(1, figure("steps_later", everyday=9)):
                world.restore()
                meddle = Meddler(world, path, "replace" if way == "fallback" else call, later)

                def work(meddle: Meddler = meddle) -> None:
                    with at_every_call(meddle):
                        world.apply()

                assert not in_child(work)
                found = world.recover()
                now = world.on_disk()
                assert now.pop(path) == b"in the last instant\n"
                assert now == without(OLD, {path: b""})
                assert len(found.reverted) == 1
                counts[f"kills at {path}"] += 1
    say(f"last instant, {way}", counts, record_property)


class Meddler:
    """An agent that writes to `path` just before it is replaced; a few steps later we die."""

    def __init__(self, world: World, path: str, call: str, later: int) -> None:
        self._file = world.root / path
        self._call = call
        self._later = later
        self._left = -1

    def __call__(self, step: str) -> None:
        if self._left > 0:
            self._left -= 1
            if not self._left:
                die()
        if step == self._call and self._left < 0 and self._is_next():
            self._file.write_bytes(b"in the last instant\n")
            self._left = self._later

    def _is_next(self) -> bool:
        """Say whether the files before ours, by name, have all been changed, and none is staged
        any more.
        """
        root = self._file.parent
        before = [path for path in OLD if path < self._file.name and path in PLACES]
        return all(
            (root / path).read_bytes() == NEW[path] if path in NEW else not (root / path).exists()
            for path in before
        ) and not list(root.rglob(".ricordo-tmp-*-part"))


PLACES = frozenset(path for path in OLD if "/" not in path and OLD[path] != NEW.get(path))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_the_process_waits_until_the_set_is_carried_out(number: int) -> None:
    with new_world() as world:
        middle = steps_of(world.apply).index("exchange") + 1
        world.restore()

        def work() -> None:
            signal.signal(number, signal.SIG_DFL)
            with at_step(middle, lambda _: os.kill(os.getpid(), number)):
                world.apply()

        assert not in_child(work)
        assert world.is_all()
        assert not world.unfinished()


def test_a_half_written_file_is_never_taken_for_another_programs_text() -> None:
    """Killed in the middle of writing, then no space at recovery: the set is taken back."""
    with new_world() as world:
        names = steps_of(world.apply)
        world.restore()
        writes = [n for n, name in enumerate(names) if name == "write"]

        def half_write(_: str) -> None:
            for left in world.root.rglob(".ricordo-tmp-*-part"):
                if left.stat().st_size == 0:
                    left.write_bytes(b"half of a te")
            die()

        def work() -> None:
            with at_step(writes[-1], half_write):
                world.apply()

        assert not in_child(work)
        assert b"half of a te" in world.on_disk().values()

        full: list[str] = []

        def fill(name: str) -> None:
            if name == "create" and not full:
                full.append(name)
                raise OSError(28, "No space left on device")

        with at_every_call(fill):
            found = world.recover()
        assert (len(found.reverted), found.pending, full) == (1, (), ["create"])
        assert world.check_recovered() == "none"
        assert b"half of a te" not in world.kept()


def without(files: Files, paths: Files) -> Files:
    return {path: content for path, content in files.items() if path not in paths}
