"""A name that changes its case alone, also where the file system does not tell the two apart."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.memory.change import Change, ChangeSet, Rename
from ricordo.memory.compose import compose
from ricordo.services.edits.change import EditConflicts, apply_or_merge
from ricordo.services.history.undo import undo
from ricordo.storage.reader import read_memory
from ricordo.storage.writer import Applied, ApplyConflict
from tests.faults.writer_world import (
    World,
    at_every_call,
    at_step,
    die,
    in_child,
    new_world,
    steps_of,
    without_case,
)
from tests.support.builders import recorded

pytestmark = pytest.mark.faults

NOTE = b"---\nname: Tides\n---\nSee [[Tides]] and [them](Tides.md).\n"
BEFORE = {"MEMORY.md": b"- [Tides](Tides.md)\n", "Tides.md": NOTE}
AFTER = {"MEMORY.md": b"- [Tides](tides.md)\n", "tides.md": NOTE.replace(b"Tides.md", b"tides.md")}


CHANGING = ("journalled", "exchange", "replace", "rename", "finish")
"""Steps at which a name on the disk changes, and those around them."""


def only_these(world: World) -> None:
    """Leave in the memory what is renamed here, and an index that leads there."""
    for path in world.on_disk():
        (world.root / path).unlink()
    world.write(BEFORE)


def to_lower_case(world: World) -> ChangeSet:
    memory = read_memory(str(world.root), AUTO_MEMORY)
    return compose(memory, [Change(Rename("Tides.md", "tides.md"))])


@pytest.mark.parametrize("machine", [without_case, nullcontext])
def test_a_name_that_changes_its_case_alone_comes_whole_and_goes_back(
    tmp_path: Path, machine: type[nullcontext[None]]
) -> None:
    notebook = recorded(tmp_path, BEFORE)
    root = Path(notebook.place.root)
    with machine():
        memory = notebook.read()
        change_set = compose(memory, [Change(Rename("Tides.md", "tides.md"))])
        assert isinstance(apply_or_merge(notebook, change_set), Applied)
        assert {path.name: path.read_bytes() for path in root.iterdir()} == AFTER
        assert notebook.record(notebook.read()).act is None
        undo(notebook)
        assert {path.name: path.read_bytes() for path in root.iterdir()} == BEFORE


def test_killed_at_every_step_of_it_the_note_is_there_in_one_case() -> None:
    with new_world() as world, without_case():
        only_these(world)
        change_set = to_lower_case(world)
        steps = steps_of(lambda: world.apply(change_set))
        for number in [n for n, step in enumerate(steps) if step in CHANGING]:
            world.restore()
            only_these(world)

            def work(number: int = number) -> None:
                with at_step(number, die):
                    world.apply(change_set)

            assert not in_child(work)
            world.recover()
            assert world.on_disk() == AFTER, steps[number]
            assert not world.unfinished()


@pytest.mark.parametrize("moment", ["journal", "create", "rename"])
def test_what_another_program_writes_to_it_meanwhile_stays(moment: str) -> None:
    left = [moment]
    with new_world() as world, without_case():
        only_these(world)

        def write(step: str) -> None:
            if step in left:
                left.clear()
                note = next(world.root.glob("?ides.md"), world.root / "tides.md")
                note.write_bytes(b"theirs\n")

        change_set = to_lower_case(world)
        with at_every_call(write):
            assert isinstance(world.apply(change_set), ApplyConflict)
        stays = "tides.md" if moment == "rename" else "Tides.md"
        assert world.on_disk() == {"MEMORY.md": BEFORE["MEMORY.md"], stays: b"theirs\n"}
        assert NOTE in world.kept()
        assert not world.unfinished()


def test_a_note_that_exists_in_another_case_is_not_taken_for_a_file_of_ricordo(
    tmp_path: Path,
) -> None:
    notebook = recorded(tmp_path, BEFORE)
    root = Path(notebook.place.root)
    change_set = compose(notebook.read(), [Change(Rename("Tides.md", "tides.md"))])
    (root / "Tides.md").rename(root / "TIDES.md")
    with without_case():
        outcome = apply_or_merge(notebook, change_set)
    assert isinstance(outcome, EditConflicts)
    assert outcome.moved == {"Tides.md": "TIDES.md"}
    assert (root / "TIDES.md").read_bytes() == NOTE
