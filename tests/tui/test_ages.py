"""How old a note is: by its stamp, by git, by its file, and new after it was edited."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ricordo import git as asking_git
from tests.support.builders import note_text
from tests.tui.stage import NO_DELAY, Stage, build, editor, notebook_app, on_stage, staged
from tests.unit.machine import git

STAMPED = (
    "---\nname: freeze\ndescription: when\nmetadata:\n  type: project\n"
    "  modified: 2026-08-17\n---\n\nThe port is Sines.\n"
)
FILES = {
    "MEMORY.md": "# Tidepool\n\n- [Freeze](freeze.md) — when\n- [Tides](tides.md) — where\n",
    "freeze.md": STAMPED,
    "tides.md": note_text("tides", "The port is Sines.\n"),
    "buoys.md": note_text("buoys", "Red to port.\n"),
}


def committed(root: Path, day: str) -> None:
    """Put a memory under git, as of a day; the files have the time of their checkout."""
    if not (root.parent / ".git").exists():
        git(root.parent, "init", "--quiet")
    git(root.parent, "add", "-A")
    git(root.parent, "commit", "--quiet", "--date", f"{day}T12:00:00Z", "-m", "notes")


def age(stage: Stage) -> str:
    return stage.note_text.replace("\n", " ").split(" · ")[1]


async def test_a_note_is_as_old_as_its_commit(tmp_path: Path) -> None:
    root = build(tmp_path, FILES)
    committed(root, "2026-08-12")
    (root / "buoys.md").write_text(note_text("buoys", "Green to starboard.\n"))
    committed(root, "2026-11-10")
    for name, text in (("changed.md", "Not committed.\n"), ("tides.md", None)):
        path = root / name
        path.write_text(text or path.read_text())
        os.utime(path, (1_795_100_000, 1_795_100_000))
    async with staged(root) as stage:
        await stage.go_to("tides.md")
        assert age(stage) == "100 days (git)"
        await stage.go_to("buoys.md")
        assert age(stage) == "10 days (git)"
        await stage.go_to("freeze.md")
        assert age(stage) == "95 days (stamped)"
        await stage.go_to("changed.md")
        assert "file time" in stage.note_text
        (root / "tides.md").write_text(note_text("tides", "The port is Porto.\n"))
        await stage.go_to("tides.md")
        await stage.wait_for(lambda: "Porto" in stage.note_text, "what was written")
        assert "file time" in age(stage), "git does not have this text"


async def test_a_checkout_with_other_line_ends_and_a_shallow_clone(tmp_path: Path) -> None:
    root = build(tmp_path / "one", FILES)
    committed(root, "2026-08-12")
    (root / "tides.md").write_bytes((root / "tides.md").read_bytes().replace(b"\n", b"\r\n"))
    async with staged(root) as stage:
        await stage.go_to("tides.md")
        assert age(stage) == "100 days (git)"
    (root / "buoys.md").write_text("Other words.\n")
    committed(root, "2026-08-13")
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{root.parent}", "shallow")
    async with staged(tmp_path / "shallow" / "memory") as stage:
        await stage.go_to("tides.md")
        assert "file time" in age(stage), "of what was before the clone nothing is known"


async def test_git_is_asked_once_and_not_before_the_memory_is_on_the_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = build(tmp_path, FILES)
    committed(root, "2026-08-12")
    asked: list[tuple[str, bool]] = []
    ask = asking_git.run_git
    app = notebook_app(root)

    def counted(directory: str, command: str, *arguments: str, **bounds: float) -> bytes | None:
        if "--relative" in arguments and directory == str(root):
            asked.append((directory, "tides" in stage.index_text))
        return ask(directory, command, *arguments, **bounds)  # type: ignore[arg-type]

    monkeypatch.setattr("ricordo.git.run_git", counted)
    async with on_stage(app) as stage:
        await stage.wait_for(lambda: getattr(stage.app.screen, "_snapshot", None), "a look")
        await stage.know()
    assert asked == [(str(root), True)]


async def test_after_it_was_edited_a_note_is_new_and_after_undo_as_old_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ricordo.tui.base.action_screen.KEY_DELAY", NO_DELAY)
    monkeypatch.setenv("VISUAL", editor(tmp_path, 'echo "And Porto." >> "$1"'))
    root = build(tmp_path, FILES)
    async with staged(root) as stage:
        await stage.go_to("freeze.md")
        assert age(stage) == "95 days (stamped)"
        assert "written 95 days ago" in stage.freshness_text
        await stage.press("2", "e")
        await stage.wait_for(lambda: "And Porto." in stage.note_text, "what was saved")
        await stage.know()
        assert age(stage) == "today (edited)"
        assert "written today" in stage.freshness_text
    async with staged(root) as stage:
        await stage.go_to("freeze.md")
        assert age(stage) == "today (edited)", "another start knows it too"
        await stage.press("2", "u")
        await stage.wait_for(lambda: "And Porto." not in stage.note_text, "the undo")
        await stage.know()
        assert age(stage) == "95 days (stamped)"
