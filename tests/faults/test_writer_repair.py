"""A repair of the doctor moves notes between memories; killed anywhere, it loses none of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from ricordo.agents.registry import place_from_directory
from ricordo.services.doctor.problem import MoveRepair
from ricordo.services.doctor.repair import apply_repair, build_repair, undo_repair
from ricordo.services.history.recovery import read_and_record
from ricordo.services.workspace.notebook import Notebook
from ricordo.settings.settings import Settings
from tests.faults.writer_world import World, at_step, die, in_child, new_world, steps_of
from tests.support.builders import note_text, write_memory
from tests.support.figures import figure
from tests.unit.machine import Machine

pytestmark = pytest.mark.faults

OURS = {
    "MEMORY.md": "# Memory\n\n- [Boat](boat.md) — sails\n- [Pier](pier.md) — ours\n",
    "boat.md": note_text("boat", "Sails on Mondays. See [[pier]].\n"),
    "pier.md": note_text("pier", "Berth 12.\n"),
    "same.md": note_text("same", "The same in both.\n"),
}
THEIRS = {
    "MEMORY.md": "# Memory\n\n- [Pier](pier.md) — theirs\n",
    "pier.md": note_text("pier", "Berth 7.\n"),
    "same.md": note_text("same", "The same in both.\n"),
}


class Repaired(World):
    """Two memories of one machine, and the repair that joins them."""

    def __init__(self, base: Path) -> None:
        self.machine = Machine(base)
        self.state = base / "state"
        folder = base / "home/.claude/projects"
        self.roots = folder / "-old/memory", folder / "-new/memory"
        self.restore()

    def restore(self) -> None:
        for root, files in zip(self.roots, (OURS, THEIRS), strict=True):
            for path in root.glob("*.md"):
                path.unlink()
            write_memory(root, files)
        for path in self.state.glob("*"):
            path.unlink()

    def on_disk(self) -> dict[str, bytes]:
        paths = [path for root in self.roots for path in root.iterdir()]
        return {str(path): path.read_bytes() for path in paths}

    @property
    def repair(self) -> MoveRepair:
        source, target = map(str, self.roots)
        return MoveRepair(source, target, "/new", "From old", "the project was renamed")

    def join(self) -> None:
        environment = self.machine.environment()
        apply_repair(self.repair, build_repair(self.repair, environment), environment, Settings())

    def open(self) -> None:
        """Open the memory that gets the notes, as the next process does."""
        place = place_from_directory(str(self.roots[1]))
        read_and_record(Notebook(place, self.machine.environment(), Settings()))


def test_killed_at_every_step_all_notes_are_in_the_one_memory_or_in_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # nobody else writes here, so no command has to wait until nobody does
    monkeypatch.setattr("ricordo.services.history.recovery.STABLE_SECONDS", 0.0)
    counts: Counter[str] = Counter()
    with new_world() as world:
        machine = Repaired(world.base)
        before = machine.on_disk()
        steps = len(steps_of(machine.join))
        after = machine.on_disk()
        assert {Path(path).name for path in after} == {
            *("MEMORY.md", "boat.md", "pier.md", "pier-2.md", "same.md")
        }
        undo_repair(machine.repair, machine.machine.environment(), Settings())
        assert machine.on_disk() == before
        for step in range(0, steps, figure("repair_stride", everyday=5)):
            machine.restore()

            def work(step: int = step) -> None:
                with at_step(step, die):
                    machine.join()

            assert not in_child(work), f"step {step} was not reached"
            assert in_child(machine.open)
            assert machine.unfinished() == []
            now = machine.on_disk()
            assert now in (before, after), f"half a repair after step {step}"
            assert set(before.values()) <= set(now.values()) | machine.kept()
            counts["none" if now == before else "all"] += 1
            if now == before:
                machine.join()
                assert machine.on_disk() == after
            undo_repair(machine.repair, machine.machine.environment(), Settings())
            assert machine.on_disk() == before
    assert counts["all"]
    assert counts["none"]
