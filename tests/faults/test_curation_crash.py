"""A process is killed while it keeps proposals or applies them: what waits is then either what it
was or what it was to be, the memory is whole, and nothing is applied twice.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pytest

from ricordo.curation.pending import PendingProposal
from ricordo.services.history.undo import undo
from ricordo.services.ledger.ledger import FILE, read_runs
from tests.faults.writer_world import die, in_child
from tests.support.builders import note_text
from tests.support.curating import Desk, edit
from tests.support.figures import figure

pytestmark = pytest.mark.faults

FILES = {
    "MEMORY.md": "- [Tides](tides.md) — which port\n- [Ports](ports.md) — where\n",
    "tides.md": note_text("tides", "The port is Sines.\n"),
    "ports.md": note_text("ports", "Sines.\n"),
}
LINE = b"The port is Lagos now."
CALLS = ("fsync", "replace", "write", "open")
"""System calls by which our own state is written."""


@contextmanager
def killed_at(number: int) -> Iterator[None]:
    """Kill this process before the call of that number, counted from 0."""
    left = number

    def counted(real: Callable[..., object]) -> Callable[..., object]:
        def call(*words: object, **named: object) -> object:
            nonlocal left
            left -= 1
            if left == -1:
                die()
            return real(*words, **named)

        return call

    with mock.patch.multiple(os, **{name: counted(getattr(os, name)) for name in CALLS}):
        yield


def edits(desk: Desk) -> list[dict[str, object]]:
    return [
        edit("insert", note=desk.id_of("tides.md"), after_line=8, text=LINE.decode()),
        edit("create", name="crane", type="project", description="d", text="The crane is old."),
    ]


def kill_everywhere(work: Callable[[], object], check: Callable[[bool], None]) -> int:
    """Do `work` again and again, killed some calls later each time, until it comes to its end;
    return how often it was killed.
    """
    for number in range(0, 500, figure("curation_stride", everyday=7)):

        def dying(number: int = number) -> None:
            with killed_at(number):
                work()

        is_done = in_child(dying)
        check(is_done)
        if is_done:
            return number
    raise AssertionError("it never came to its end")


def recover(desk: Desk) -> None:
    """Do what the next process does before anything else."""
    desk.notebook.writer.recover(desk.notebook.environment.now)
    desk.notebook.record(desk.notebook.read())


def test_killed_while_proposals_are_kept_they_wait_or_do_not(tmp_path: Path) -> None:
    desk = Desk(tmp_path, FILES)
    before, wished = desk.files, edits(desk)
    seen: set[tuple[str, ...]] = set()

    def check(_: bool) -> None:
        seen.add(tuple(it.op for it in desk.waiting))
        assert desk.files == before

    assert kill_everywhere(lambda: desk.propose(wished), check) > 5
    assert seen == {(), ("insert", "create")}
    runs, damaged = read_runs(desk.notebook.environment.state, str(desk.root))
    assert damaged <= 1
    assert runs


def test_killed_while_proposals_are_applied_all_are_or_none_and_none_twice(tmp_path: Path) -> None:
    desk = Desk(tmp_path, FILES)
    before = desk.files
    desk.propose(edits(desk))
    old = desk.waiting
    outcomes: set[tuple[bool, bool]] = set()

    def check(is_done: bool) -> None:
        desk.at("2026-11-20T10:00:00+00:00")
        recover(desk)
        waiting: tuple[PendingProposal, ...] = desk.waiting
        assert waiting in (old, ())
        applied = (desk.files["tides.md"].count(LINE), len(desk.files))
        assert applied in ((0, len(before)), (1, len(before) + 1))
        outcomes.add((bool(waiting), bool(applied[0])))
        assert not is_done or (not waiting and applied[0])
        # whatever there was, to apply what waits ends in the same memory
        desk.take()
        assert desk.files["tides.md"].count(LINE) == 1
        assert len(desk.files) == len(before) + 1
        assert desk.files["MEMORY.md"].count(b"crane") == 2
        assert desk.waiting == ()
        if not is_done:
            undo(desk.notebook)
            assert (desk.files, desk.waiting) == (before, old)

    assert kill_everywhere(desk.take, check) > 10
    assert outcomes == {(True, False), (False, True)}
    assert FILE in os.listdir(desk.notebook.environment.state)


def test_killed_right_after_the_memory_was_written_nothing_is_pending_or_applied_again(
    tmp_path: Path,
) -> None:
    desk = Desk(tmp_path, FILES)
    entry = edit("create", name="crane", type="project", description="d", text="The crane is old.")
    desk.propose([entry, *edits(desk)[:1]])

    def work() -> None:
        with mock.patch(
            "ricordo.services.curation.curation.record_applied", side_effect=lambda *_: die()
        ):
            desk.take()

    assert not in_child(work)
    recover(desk)
    assert desk.files["tides.md"].count(LINE) == 1
    assert desk.waiting == ()
    # the act names its proposals: undone by another process they are pending again
    undo(desk.at("2026-11-20T10:00:00+00:00").notebook)
    assert [it.op for it in desk.waiting] == ["create", "insert"]
    assert desk.files["tides.md"].count(LINE) == 0
