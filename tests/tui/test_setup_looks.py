"""How the doctor and the connect screens look; `pytest --snapshot-update` accepts what is drawn."""

from __future__ import annotations

import shutil
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from ricordo.agents.connection import Launcher
from ricordo.lint.finding import Severity
from ricordo.services.doctor.doctor import Diagnosis
from ricordo.services.doctor.hooks import HookCost
from ricordo.services.doctor.problem import MoveRepair, Problem
from ricordo.services.doctor.project_map import Step
from ricordo.services.workspace.environment import Environment
from ricordo.tui.app import RicordoApp
from ricordo.tui.connect.screen import ConnectScreen
from ricordo.tui.doctor.screen import DoctorScreen
from tests.support.builders import note_text, write_memory
from tests.tui import hostile
from tests.tui.stage import Stage, build, notebook_app
from tests.tui.test_looks import Compare

SIZES = [(80, 24), (120, 40), (200, 60)]
sizes = pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
themes = pytest.mark.parametrize("theme", ["ricordo-dark", "ricordo-light"])
HOSTILE = f"{hostile.WIDE} {' '.join(hostile.MARKUP)} \x1b[31mred\u202e {'x' * 300}"


@pytest.fixture(autouse=True)
def same_everywhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Have no agent installed, and Ricordo in a place that is not the machine's."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "git").symlink_to(shutil.which("git") or "/usr/bin/git")
    monkeypatch.setenv("PATH", str(programs))
    launcher = Launcher("/usr/bin/python3", "/usr/lib/ricordo", has_mcp=True)
    monkeypatch.setattr("ricordo.services.connect.connection.find_launcher", lambda _: launcher)


def opened(name: str, *keys: str) -> Callable[[Pilot[int]], Awaitable[None]]:
    """Return what opens a screen from the palette and presses keys there."""

    async def ready(pilot: Pilot[int]) -> None:
        app = pilot.app
        assert isinstance(app, RicordoApp)
        stage = Stage(app, pilot)
        await stage.wait_for(lambda: stage.looked, "the first snapshot")
        await stage.wait_for(lambda: stage.main._navigation.is_counted, "the first recording")
        stage.main.action_do(name)
        await stage.shows(DoctorScreen if name == "doctor" else ConnectScreen)
        await still(stage)
        for key in keys:
            await stage.calm()
            await stage.press(key)
            await still(stage)
        await stage.hush()

    return ready


async def still(stage: Stage) -> None:
    """Wait until the screen does nothing any more."""
    screen = stage.app.screen
    await stage.wait_for(
        lambda: not any(it.node is screen and it.is_running for it in stage.app.workers),
        "the end of what the screen does",
    )
    await stage.settle()


@pytest.fixture
def diagnosis(pinned: Path, monkeypatch: pytest.MonkeyPatch) -> list[Problem]:
    """Return the problems that a diagnosis finds; those of the test are added."""
    source, target = pinned / "code/harbour/memory", pinned / "code/harbour-tables/memory"
    crane = note_text("crane", "Lifts 12 tons. See [[pier]].\n")
    index = "# Memory\n\n- [Crane](crane.md) — what it lifts\n"
    write_memory(source, {"MEMORY.md": index, "crane.md": crane})
    pier = note_text("pier", "Berth 12.\n")
    write_memory(target, {"MEMORY.md": "- [Pier](pier.md) — where it is\n", "pier.md": pier})
    repair = MoveRepair(
        str(source), str(target), "harbour-tables", "From harbour", "it was renamed"
    )
    problems = [
        Problem(
            "renamed-project",
            Severity.WARNING,
            f"1 note of {pinned}/code/harbour-tables is not loaded: the project was renamed.",
            (f"{pinned}/code/harbour is gone", "3 of 3 files that its sessions named are there"),
            "The repair joins them with the notes there; `ricordo undo` reverts it.",
            (str(source), str(target)),
            (f"{pinned}/.claude/history.jsonl (history of prompts)",),
            repair,
        ),
        Problem(
            "state-unhealthy",
            Severity.ERROR,
            f"{pinned}/.local/state/ricordo cannot be written.",
            advice="Change its permissions.",
        ),
        Problem(
            "hooks-missing",
            Severity.INFO,
            "Codex is not given notes: it is not connected.",
            advice="`ricordo connect codex` connects it.",
            paths=("codex",),
        ),
    ]
    costs = (HookCost("Claude Code", "UserPromptSubmit", "notify --all", 12, 925, 925),)
    monkeypatch.setattr(
        "ricordo.tui.doctor.screen.diagnose", lambda *_: Diagnosis(tuple(problems), costs)
    )
    return problems


@pytest.mark.one_in(3)
@themes
@sizes
def test_doctor(
    snap_compare: Compare,
    tmp_path: Path,
    diagnosis: list[Problem],
    size: tuple[int, int],
    theme: str,
) -> None:
    app = notebook_app(build(tmp_path))
    app.theme = theme
    assert snap_compare(app, terminal_size=size, run_before=opened("doctor"))


@pytest.mark.parametrize("keys", ["j", "G", "ctrl+s"])
def test_problems(
    snap_compare: Compare, tmp_path: Path, diagnosis: list[Problem], keys: str
) -> None:
    app = notebook_app(build(tmp_path))
    assert snap_compare(app, terminal_size=(120, 40), run_before=opened("doctor", keys))


def test_hostile_problems(snap_compare: Compare, tmp_path: Path, diagnosis: list[Problem]) -> None:
    texts = [HOSTILE] * 2
    diagnosis.insert(0, Problem("hook-slow", Severity.WARNING, HOSTILE, (*texts,), HOSTILE))
    app = notebook_app(build(tmp_path))
    assert snap_compare(app, terminal_size=(120, 40), run_before=opened("doctor"))


def test_no_problems(
    snap_compare: Compare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ricordo.tui.doctor.screen.diagnose", lambda *_: Diagnosis((), ()))
    app = notebook_app(build(tmp_path))
    assert snap_compare(app, terminal_size=(80, 24), run_before=opened("doctor"))


def test_checking(snap_compare: Compare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def endlessly(environment: Environment, step: Step) -> Diagnosis:
        while True:
            # raises once the screen is closed
            step("reading memories, 120 of 400")
            time.sleep(0.05)

    monkeypatch.setattr("ricordo.tui.doctor.screen.diagnose", endlessly)
    label = property(lambda job: f"{job.progress.phase} … 1 s")
    monkeypatch.setattr("ricordo.tui.jobs.Job.label", label)

    async def ready(pilot: Pilot[int]) -> None:
        app = pilot.app
        assert isinstance(app, RicordoApp)
        stage = Stage(app, pilot)
        await stage.wait_for(lambda: stage.looked, "the first snapshot")
        await stage.wait_for(lambda: stage.main._navigation.is_counted, "the first recording")
        stage.main.action_do("doctor")
        await stage.shows(DoctorScreen)
        await stage.paints("120 of 400")
        await stage.hush()

    app = notebook_app(build(tmp_path))
    assert snap_compare(app, terminal_size=(80, 24), run_before=ready)


@pytest.mark.one_in(3)
@themes
@sizes
def test_connect(
    snap_compare: Compare,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    size: tuple[int, int],
    theme: str,
) -> None:
    # the files name the home
    monkeypatch.setenv("RICORDO_AGENT_HOME", "/nowhere/ana")
    app = notebook_app(build(tmp_path))
    app.theme = theme
    assert snap_compare(app, terminal_size=size, run_before=opened("connect"))


@pytest.mark.parametrize("keys", ["", "d"], ids=["connected", "to be removed"])
def test_connected(snap_compare: Compare, tmp_path: Path, pinned: Path, keys: str) -> None:
    (pinned / ".claude").mkdir()
    app = notebook_app(build(tmp_path))
    ready = opened("connect", "ctrl+s", *keys)
    assert snap_compare(app, terminal_size=(80, 24), run_before=ready)


def test_something_in_the_way(snap_compare: Compare, tmp_path: Path, pinned: Path) -> None:
    write_memory(pinned / ".claude/skills/ricordo", {"launch.sh": "#!/bin/sh\n"})
    app = notebook_app(build(tmp_path))
    assert snap_compare(app, terminal_size=(80, 24), run_before=opened("connect"))


def test_hostile_folders(
    snap_compare: Compare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"{hostile.WIDE} [/b] [red] \x1b[31m\u202e{'x' * 120}"
    monkeypatch.setenv("RICORDO_AGENT_HOME", f"/nowhere/{name}")
    app = notebook_app(build(tmp_path))
    assert snap_compare(app, terminal_size=(80, 24), run_before=opened("connect"))
