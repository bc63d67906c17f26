"""Evidence on the screen: it comes after the notes, follows changes, and keeps nobody waiting."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from ricordo.memory.memory import Memory
from ricordo.services.workspace.evidence import GatheringCancelled, GatherStep
from ricordo.services.workspace.notebook import Notebook
from tests.support.builders import note_text
from tests.tui.stage import build, staged
from tests.unit.machine import git

NOTE = "project_tides.md"
FILES = {
    "MEMORY.md": "- [Tides](project_tides.md)\n- [Units](feedback_units.md)\n",
    NOTE: note_text("project-tides", "Heights are in `src/tides.py`, calls in `src/calls.py`.\n"),
    "feedback_units.md": note_text("feedback-units", "Metres, never feet.\n"),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A memory inside its project, which has one of two files."""
    memory = build(tmp_path, FILES)
    project = memory.parent
    (project / "src").mkdir()
    (project / "src" / "tides.py").write_text("x = 1\n")
    git(project, "init", "--quiet")
    return memory


async def test_claim_checks_are_shown_with_the_note(root: Path) -> None:
    async with staged(root) as stage:
        assert "missing-path" in stage.freshness_text
        assert "src/calls.py does not" in stage.freshness_text
        assert "2 claims checked in" in stage.freshness_text
        await stage.go_to("feedback_units.md")
        assert "claims checked" not in stage.freshness_text


async def test_a_contradiction_is_shown_with_both_notes(tmp_path: Path) -> None:
    feet = note_text("user-feet", "The web view listens on port 8040.\n")
    metres = note_text("feedback-units", "The web view listens on port 8100.\n")
    files = {"feedback_units.md": metres, "user_feet.md": feet}
    index = "".join(f"- [{path}]({path})\n" for path in files)
    root = build(tmp_path, {"MEMORY.md": index, **files})
    async with staged(root) as stage:
        for path in files:
            await stage.go_to(path)
            assert "contradiction" in stage.freshness_text
            assert "no findings" not in stage.freshness_text
        assert "contradiction  feed" in stage.freshness_text, "where it is told"
        assert stage.freshness_text.count("contradiction") == 1
        head = "0 findings need attention\n2/2 notes OK"
        assert head in stage.freshness_text, "what is uncertain is no warning"


async def test_evidence_is_listed_before_age(tmp_path: Path) -> None:
    old = note_text("a-lamps", "The lamps are green.\n")
    old = old.replace("  type:", "  modified: 2020-01-01\n  type:")
    moving = old.replace("a-lamps", "c-move").replace("The lamps are green", "We move next week")
    files = {
        "a-lamps.md": old,
        "b-tides.md": note_text("b-tides", "The move is next week.\n"),
        "c-move.md": moving,
    }
    index = "".join(f"- [{path}]({path})\n" for path in files)
    async with staged(build(tmp_path, {"MEMORY.md": index, **files})) as stage:
        assert "0 findings need attention\n3/3 notes OK" in stage.freshness_text
        assert "have a model" in stage.freshness_text, "rules find little of what is wrong"
        await stage.press("o", "o")
        lamps = stage.index_text.index("a-lamps")
        assert max(map(stage.index_text.index, ("b-tides", "c-move"))) < lamps


async def test_without_a_project_one_line_says_so(tmp_path: Path) -> None:
    async with staged(build(tmp_path, FILES)) as stage:
        await stage.press("3", "right")
        assert "no project found" in stage.freshness_text.replace("\n", " ")


async def test_a_changed_note_is_checked_again(root: Path) -> None:
    async with staged(root) as stage:
        (root / NOTE).write_text(note_text("project-tides", "Plans come from `src/plans.py`.\n"))
        await stage.wait_for(lambda: "src/plans.py does not" in stage.freshness_text)
        assert "src/calls.py" not in stage.freshness_text


async def test_a_changed_project_is_checked_on_request(root: Path) -> None:
    async with staged(root) as stage:
        (root.parent / "src" / "calls.py").write_text("x = 1\n")
        await stage.press("ctrl+r")
        await stage.wait_for(lambda: ", 2 OK" in stage.freshness_text.replace("\n", " "))
        assert "missing-path" not in stage.freshness_text


async def test_a_rename_in_git_is_one_key_away(root: Path) -> None:
    project = root.parent
    (project / "src" / "calls.py").write_text("def calls():\n    return [1, 2, 3]\n")
    git(project, "add", "src")
    git(project, "commit", "--quiet", "-m", "begin")
    git(project, "mv", "src/calls.py", "src/ships.py")
    git(project, "commit", "--quiet", "-m", "They are ships")
    async with staged(root) as stage:
        await stage.press("3", "F")
        await stage.paints("replace src/calls.py with src/ships.py")
        await stage.confirm()
        await stage.wait_for(lambda: "`src/ships.py`" in (root / NOTE).read_text())
        await stage.wait_for(lambda: "missing-path" not in stage.freshness_text)


class Endless:
    """Evidence that is never there: gathered until nobody waits for it."""

    def __init__(self) -> None:
        self.ended = threading.Event()

    def gather(self, notebook: Notebook, memory: Memory, step: GatherStep) -> bool:
        try:
            while True:
                step("probing 3/9")
        except GatheringCancelled:
            self.ended.set()
            raise


async def test_claim_checks_show_progress_delay_no_key_and_end_with_the_screen(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = Endless()
    monkeypatch.setattr(
        Notebook, "gather", lambda notebook, memory, step: endless.gather(notebook, memory, step)
    )
    async with staged(root, known=False) as stage:
        await stage.wait_for(lambda: "probing 3/9" in stage.top)
        await stage.press("j")
        assert stage.here == "feedback_units.md"
        assert not endless.ended.is_set()
        await stage.press("3", "right")
        assert "checking claims" in stage.freshness_text.replace("\n", " ")
    assert endless.ended.wait(10)


async def test_the_one_finding_of_a_habit_opens_into_all_and_is_dismissed_at_once(
    tmp_path: Path,
) -> None:
    entries = "".join(f"- [Gone {n}](gone-{n}.md) — an old entry\n" for n in range(9))
    files = {"MEMORY.md": entries + "- [a](a.md)\n", "a.md": note_text("a", "Text.\n")}
    async with staged(build(tmp_path, files)) as stage:
        await stage.wait_for(lambda: "1 finding needs attention" in stage.freshness_text)
        await stage.press("3", "right")
        assert "index-missing-file  9 as" in stage.freshness_text
        await stage.press("enter")
        assert stage.freshness_text.count("index-missing-file") == 9
        await stage.press("escape", "minus")
        await stage.wait_for(lambda: "0 findings need attention" in stage.freshness_text)
        assert "dismissed 1" in stage.freshness_text
        await stage.press("right", "right", "minus")
        await stage.wait_for(lambda: "1 finding needs attention" in stage.freshness_text)


async def test_what_was_learned_is_one_short_line_above_the_keys(tmp_path: Path) -> None:
    page = "---\ndescription: {}\ntype: project\n---\n\n# Pier {}\n\nOn the pier.\n"
    names = [f"pier_{number}" for number in range(6)]
    index = "".join(f"- [{name}]({name}.md) — the pier\n" for name in names)
    files: dict[str, str | bytes] = {f"{name}.md": page.format(name, name) for name in names}
    async with staged(build(tmp_path, {"MEMORY.md": index, **files}), (80, 24)) as stage:
        learned = "Learned: notes need no field name. Wrong? ctrl+p conventions"
        assert learned in stage.toasts
        await stage.paints(learned)
        assert stage.painted().splitlines()[-1].rstrip().endswith("? keys")
