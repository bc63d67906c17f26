"""The doctor screen: problems of the machine, and the repair that ctrl+s makes."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from ricordo.services.doctor.doctor import Diagnosis, diagnose
from ricordo.services.doctor.project_map import Step
from ricordo.services.workspace.environment import Environment
from ricordo.tui.connect.screen import ConnectScreen
from ricordo.tui.doctor.screen import DoctorScreen
from ricordo.tui.main.screen import MainScreen
from tests.support.builders import note_text, write_memory
from tests.tui.stage import PATIENCE, Stage, build, notebook_app, on_stage
from tests.unit.machine import Machine

BODY = "Sails on Mondays. [/b]\n"


@pytest.fixture
def machine(pinned: Path, tmp_path: Path) -> Machine:
    """Return a machine whose home is the one of the test, with a memory of a worktree."""
    machine = Machine(tmp_path)
    machine.home.rmdir()
    machine.home.symlink_to(pinned)
    machine.config = pinned / ".claude"
    return machine


@pytest.fixture
def memories(machine: Machine) -> tuple[Path, Path]:
    """Return the memory of a worktree, which no session loads, and that of its project."""
    project = machine.repository("tides")
    worktree = machine.worktree(project, "tides-fix")
    roots = []
    for number, (path, note) in enumerate(((worktree, "boat"), (project, "pier"))):
        folder = machine.project_folder(path)
        machine.transcript(folder, path, f"s{number}")
        files = {"MEMORY.md": f"- [{note}]({note}.md)\n", f"{note}.md": note_text(note, BODY)}
        roots.append(write_memory(folder / "memory", files))
    return roots[0], roots[1]


async def opened(stage: Stage) -> DoctorScreen:
    await stage.press("ctrl+p", *"doctor")
    await stage.paints("doctor ·")
    await stage.press("enter")
    await stage.shows(DoctorScreen)
    screen = stage.app.screen
    assert isinstance(screen, DoctorScreen)
    await stage.wait_for(lambda: screen.is_loaded, "the diagnosis")
    await stage.settle()
    return screen


async def test_a_problem_is_shown_with_its_repair_which_ctrl_s_makes(
    tmp_path: Path, memories: tuple[Path, Path]
) -> None:
    source, target = memories
    async with on_stage(notebook_app(build(tmp_path / "open")), (120, 40)) as stage:
        screen = await opened(stage)
        problem = screen.problem
        assert problem is not None
        assert problem.check == "worktree-memory"
        await stage.paints("ctrl+s repair")
        await stage.paints("boat.md")
        assert source.joinpath("boat.md").exists()
        await stage.confirm()
        await stage.wait_for(lambda: not (source / "boat.md").exists(), "the repair")
        assert (target / "boat.md").read_text().endswith(BODY)
        await stage.wait_for(
            lambda: screen.problem is not None and screen.problem.check != "worktree-memory",
            "the problem gone",
        )
        await stage.wait_for(lambda: "Done: move the notes" in stage.toasts)
        await stage.press("u")
        await stage.wait_for(lambda: not (target / "boat.md").exists(), "the repair undone")
        assert (source / "boat.md").exists()
        await stage.paints("1 with a repair")
        await stage.press("escape")
        await stage.shows(MainScreen)


async def test_what_has_no_repair_says_so(tmp_path: Path, memories: tuple[Path, Path]) -> None:
    async with on_stage(notebook_app(build(tmp_path / "open")), (80, 24)) as stage:
        screen = await opened(stage)
        await stage.press("j")
        await stage.wait_for(lambda: screen.problem and screen.problem.repair is None, "the next")
        await stage.confirm()
        assert "no repair" in stage.toasts
        await stage.press("u")
        assert "Nothing was repaired here yet" in stage.toasts


async def test_the_progress_is_shown_and_esc_cancels(
    tmp_path: Path, memories: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, ended, reached = threading.Event(), threading.Event(), list[str]()

    def slowly(environment: Environment, step: Step) -> Diagnosis:
        def report(phase: str) -> None:
            step(phase)
            reached.append(phase)
            if len(reached) == 2:
                go_on.wait(PATIENCE)

        try:
            return diagnose(environment, report)
        finally:
            ended.set()

    monkeypatch.setattr("ricordo.tui.doctor.screen.diagnose", slowly)
    async with on_stage(notebook_app(build(tmp_path / "open")), (120, 40)) as stage:
        await stage.press("ctrl+p", *"doctor")
        await stage.paints("doctor ·")
        await stage.press("enter")
        await stage.shows(DoctorScreen)
        await stage.wait_for(lambda: len(reached) == 2, "the second phase")
        await stage.paints(f"○ {reached[1]} …")
        await stage.paints("nothing is changed")
        await stage.confirm()
        assert "still being checked" in stage.toasts
        await stage.press("escape")
        await stage.shows(MainScreen)
        go_on.set()
        await stage.wait_for(ended.is_set, "the end of the thread")
        assert len(reached) == 2


async def test_enter_connects_an_agent_where_that_is_the_problem(
    tmp_path: Path, machine: Machine
) -> None:
    (machine.home / ".gemini").mkdir()
    async with on_stage(notebook_app(build(tmp_path / "open")), (120, 40)) as stage:
        screen = await opened(stage)
        await stage.wait_for(lambda: screen.problem and screen.problem.paths == ("gemini",))
        await stage.paints("Enter opens that")
        await stage.press("enter")
        await stage.shows(ConnectScreen)
        await stage.paints("Gemini CLI is not connected")
        await stage.confirm()
        await stage.wait_for(lambda: "files written" in stage.toasts)
        await stage.wait_for(lambda: stage.app.screen.is_idle)  # type: ignore[attr-defined]
        await stage.press("escape")
        await stage.paints("No problems")


async def test_an_agent_whose_commands_did_not_run_is_not_called_connected(
    tmp_path: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine.home / ".codex").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path))
    async with on_stage(notebook_app(build(tmp_path / "open")), (120, 40)) as stage:
        screen = await opened(stage)
        await stage.wait_for(lambda: screen.problem and screen.problem.paths == ("codex",))
        await stage.press("enter")
        await stage.shows(ConnectScreen)
        await stage.paints("Codex is not connected.")
        await stage.confirm()
        await stage.wait_for(lambda: "Codex is not connected yet" in stage.toasts)
        await stage.paints("0 of 4 agents connected")
        await stage.paints("not run yet: codex plugin marketplace add ~/.codex/ricordo")
        await stage.paints("Connecting runs the commands below")


async def test_a_machine_without_problems_says_so(tmp_path: Path, machine: Machine) -> None:
    async with on_stage(notebook_app(build(tmp_path / "open")), (120, 40)) as stage:
        await opened(stage)
        await stage.paints("No problems")
