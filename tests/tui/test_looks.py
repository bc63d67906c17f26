"""How the screens look. `pytest --snapshot-update` accepts what is drawn now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import pytest
from textual.pilot import Pilot

from ricordo.errors import MemoryNotFound
from ricordo.memory.change import Edit
from ricordo.services.workspace.settings import load_settings, load_themes
from ricordo.storage.writer import EditConflict
from ricordo.tui.actions.registry import list_known_actions
from ricordo.tui.app import RicordoApp
from ricordo.tui.dialogs.edit_conflict import EditConflictScreen
from ricordo.tui.main.screen import MainScreen
from tests.support.builders import note_text
from tests.tui import hostile
from tests.tui.stage import SMALL, Stage, build, notebook_app, surroundings_at

Compare = Callable[..., bool]

MEMORY: Mapping[str, str] = {
    **SMALL,
    "project_freeze.md": note_text(
        "project-freeze",
        "The merge freeze lasts until 5 March 2026. See `src/tides/gone.py`.\n\n"
        "- **Why:** the release was cut\n- **How to apply:** ask *Ana* first\n\n"
        "> quoted words\n\n```python\nprint('Sines')\n```\n\n| port | metres |\n|---|---|\n"
        "| Sines | 3.2 |\n| Genova | 0.3 |\n",
        "When merging stops",
    ),
}


def drawn(*keys: str) -> Callable[[Pilot[int]], Awaitable[None]]:
    """Return a function that waits for the findings and then presses keys."""

    async def ready(pilot: Pilot[int]) -> None:
        app = pilot.app
        assert isinstance(app, RicordoApp)
        stage = Stage(app, pilot)
        if isinstance(app.screen, MainScreen):
            await stage.wait_for(lambda: stage.looked, "the first snapshot")
            await stage.wait_for(lambda: stage.main._navigation.is_counted, "the first recording")
            await stage.know()
        await stage.press(*keys)
        await stage.think()
        # toasts so far are on the screen, and can be removed
        await stage.settle()
        await stage.hush()

    return ready


def opened(*keys: str) -> Callable[[Pilot[int]], Awaitable[None]]:
    """Return what presses keys, of which one opens a screen that takes its time to come."""

    async def ready(pilot: Pilot[int]) -> None:
        stage = Stage(pilot.app, pilot)  # type: ignore[arg-type]
        await drawn()(pilot)
        for key in keys:
            await stage.press(key)
            if key in "dEnm":
                await stage.wait_for(lambda: not isinstance(pilot.app.screen, MainScreen))
        await stage.think()
        await stage.hush()

    return ready


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return build(tmp_path, MEMORY)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("theme", ["ricordo-dark", "ricordo-light"])
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=lambda s: f"{s[0]}x{s[1]}")
def test_main(snap_compare: Compare, small: Path, size: tuple[int, int], theme: str) -> None:
    app = notebook_app(small)
    app.theme = theme
    assert snap_compare(app, terminal_size=size, run_before=drawn())


@pytest.mark.parametrize("theme", ["manuscript", "high-contrast"])
def test_themes(snap_compare: Compare, small: Path, theme: str) -> None:
    app = notebook_app(small)
    app.theme = theme
    assert snap_compare(app, terminal_size=(120, 30), run_before=drawn("G", "k", "k"))


STATES: Mapping[str, tuple[tuple[int, int], str]] = {
    "one pane": ((60, 20), ""),
    "one pane, note": ((60, 20), "G k k 2"),
    "freshness over the note": ((80, 24), "3"),
    "source": ((120, 30), "G k k 2 s"),
    "link chosen": ((120, 30), "2 right"),
    "by rule": ((120, 30), "3 right right"),
    "load": ((120, 30), "L"),
    "help": ((120, 40), "question_mark"),
    "nothing fits": ((80, 24), "slash z z z enter"),
    "found in the note": ((120, 30), "2 slash t h e enter n"),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", STATES)
def test_states(snap_compare: Compare, small: Path, name: str) -> None:
    size, keys = STATES[name]
    assert snap_compare(notebook_app(small), terminal_size=size, run_before=drawn(*keys.split()))


CHANGING: Mapping[str, str] = {
    "proposal": "j j d",
    "proposal, side by side": "j j d v j space",
    "head": "E",
    "new note": "n",
    "move": "m",
}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("theme", ["ricordo-dark", "ricordo-light"])
@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=lambda s: f"{s[0]}x{s[1]}")
@pytest.mark.parametrize("name", CHANGING)
def test_changing(
    snap_compare: Compare,
    pinned: Path,
    name: str,
    size: tuple[int, int],
    theme: str,
) -> None:
    # at home, so that its path is the same in every run
    app = notebook_app(build(pinned, MEMORY))
    app.theme = theme
    assert snap_compare(app, terminal_size=size, run_before=opened(*CHANGING[name].split()))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("theme", ["ricordo-dark", "ricordo-light"])
@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=lambda s: f"{s[0]}x{s[1]}")
def test_three_versions(
    snap_compare: Compare, small: Path, size: tuple[int, int], theme: str
) -> None:
    text = MEMORY["project_tides.md"].encode()
    theirs, yours = text.replace(b"Sines", b"Faro"), text.replace(b"Sines", b"Lagos")
    edit = Edit("/srv", "project_tides.md", text, yours)
    app = notebook_app(small)
    app.theme = theme

    async def ready(pilot: Pilot[int]) -> None:
        await drawn()(pilot)
        words = "Somebody else changed the same lines meanwhile: project_tides.md."
        screen = EditConflictScreen([EditConflict(edit, theirs)], app.palette, words, can_edit=True)
        await app.push_screen(screen)
        await Stage(app, pilot).settle()

    assert snap_compare(app, terminal_size=size, run_before=ready)


def test_marked_and_protected(snap_compare: Compare, small: Path) -> None:
    app = notebook_app(small)

    async def ready(pilot: Pilot[int]) -> None:
        await drawn("space", "j", "P")(pilot)
        stage = Stage(app, pilot)
        await stage.wait_for(lambda: "§" in stage.index_text and "u undo" in stage.bottom)
        await stage.wait_for(lambda: "reminds of" in stage.note_text)
        await stage.think()
        await stage.hush()

    assert snap_compare(app, terminal_size=(120, 30), run_before=ready)


def test_no_color(snap_compare: Compare, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(notebook_app(small), terminal_size=(120, 30), run_before=drawn("j"))


def test_empty_memory(
    snap_compare: Compare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def one_line(text: str) -> str:
        return text.replace(str(tmp_path), "/srv")

    monkeypatch.setattr("ricordo.tui.render.empty.make_one_line", one_line)
    app = notebook_app(build(tmp_path, {}))
    assert snap_compare(app, terminal_size=(120, 24), run_before=drawn())


def test_nothing_found(snap_compare: Compare, tmp_path: Path) -> None:
    environment = surroundings_at(tmp_path)
    settings, remarks = load_settings(environment, list_known_actions())
    error = MemoryNotFound("No memory was found for /srv/harbour. Looked in /home/ana/.claude.")
    app = RicordoApp(error, environment, settings, remarks, load_themes(environment)[0])
    assert snap_compare(app, terminal_size=(100, 24), run_before=drawn())


def test_chooser(snap_compare: Compare, pinned: Path) -> None:
    for name in ("-srv-harbour", "-srv-tidepool", "-srv-[@click=app.quit]x"):
        folder = pinned / ".claude/projects" / name / "memory"
        folder.mkdir(parents=True)
        (folder / "MEMORY.md").write_text("- nothing yet\n")
    app = notebook_app(build(pinned, MEMORY))

    async def ready(pilot: Pilot[int]) -> None:
        await drawn("p")(pilot)
        await Stage(app, pilot).wait_for(lambda: not isinstance(app.screen, MainScreen))

    assert snap_compare(app, terminal_size=(100, 20), run_before=ready)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("name", "keys"),
    [
        pytest.param("osc52", "", id="clipboard"),
        pytest.param("osc52", "2 s", id="clipboard, source"),
        pytest.param("osc52", "3 right", id="clipboard, findings"),
        pytest.param("osc52", "L", id="clipboard, load"),
        pytest.param("bidi", "", id="direction"),
        pytest.param("1b", "2 s", id="escape"),
    ],
)
def test_hostile_notes(snap_compare: Compare, tmp_path: Path, name: str, keys: str) -> None:
    text = hostile.notes()
    files = {"MEMORY.md": f"# {hostile.marked(name)} [/]\n- [{hostile.marked(name)}](n.md)\n"}
    app = notebook_app(build(tmp_path, {**files, "n.md": text[f"note_{name}.md"]}))
    assert snap_compare(app, terminal_size=(120, 30), run_before=drawn(*keys.split()))


def test_hostile_names_and_markup(snap_compare: Compare, tmp_path: Path) -> None:
    files = {path: text for path, text in hostile.notes().items() if path.startswith("markup")}
    app = notebook_app(build(tmp_path, {**files, **hostile.odd_names()}))
    assert snap_compare(app, terminal_size=(120, 40), run_before=drawn("j", "j"))
