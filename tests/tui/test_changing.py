"""Edits from the screen: concurrent changes of agents, what is shown before it is written,
and that nothing typed is lost.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from ricordo.tui.base.action_screen import KEY_DELAY
from ricordo.tui.dialogs.change_set import ProposalScreen
from ricordo.tui.dialogs.edit_conflict import EditConflictScreen
from ricordo.tui.dialogs.form import FormScreen
from ricordo.tui.dialogs.pick_note import PickNoteScreen
from ricordo.tui.edits.writer import MERGED
from ricordo.tui.main.note_moves import MoveScreen
from ricordo.tui.main.screen import MainScreen
from tests.support.builders import note_text
from tests.support.figures import figure
from tests.support.transcripts import Claude
from tests.tui import hostile
from tests.tui.stage import SMALL, build, editor, staged
from tests.tui.test_keys import ANA, CACHE, INDEX, TIDES, UNITS

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return build(tmp_path)


def quoted(path: Path) -> str:
    return shlex.quote(str(path))


def edits_with(script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the editor be a shell `script`."""
    monkeypatch.setenv("VISUAL", editor(tmp_path, script))


def copies(pinned: Path) -> list[Path]:
    """Return the private copies that are kept."""
    folder = pinned / ".local/state/ricordo/editing"
    return [path for path in folder.rglob("*") if path.is_file()] if folder.exists() else []


def read(root: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in root.glob("*.md")}


# The editor


async def test_the_edited_copy_is_private_and_has_the_name_of_the_note(
    root: Path, tmp_path: Path, pinned: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    script = f'stat -c "%a %n" "$(dirname "$1")" "$1" > {quoted(log)}; echo more >> "$1"'
    edits_with(script, tmp_path, monkeypatch)
    async with staged(root) as stage:
        await stage.press("e")
        await stage.wait_for(lambda: "Saved" in stage.toasts)
    folder, file = log.read_text().splitlines()
    assert folder.startswith("700 ")
    assert file.startswith("600 ")
    assert file.endswith(f"/{ANA}")
    assert str(pinned / ".local/state/ricordo/editing") in file
    assert copies(pinned) == []


async def test_links_changed_by_a_rename_are_shown_before_they_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "MEMORY.md": "- [A](a.md)\n",
        "a.md": note_text("old-name"),
        "b.md": "See [[old-name]].\n",
    }
    root = build(tmp_path, files)
    edits_with('sed -i "s/old-name/new-name/" "$1"', tmp_path, monkeypatch)
    async with staged(root) as stage:
        await stage.go_to("a.md")
        await stage.press("e")
        await stage.shows(ProposalScreen)
        await stage.paints("links to it follow")
        assert read(root) == files
        await stage.confirm()
        await stage.wait_for(lambda: "Saved" in stage.toasts)
    assert read(root)["b.md"] == "See [[new-name]].\n"
    assert read(root)["a.md"] == note_text("new-name")


@pytest.mark.parametrize("key", ["J", "e", "E"])
async def test_editing_a_hard_link_asks_before_its_names_part(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    edits_with('echo more >> "$1"', tmp_path, monkeypatch)
    for name in ("MEMORY.md", ANA):
        (tmp_path / name).hardlink_to(root / name)
    before = read(root)
    async with staged(root) as stage:

        async def wish() -> None:
            await stage.press(key)
            if key == "E":
                await stage.shows(FormScreen)
                await stage.press("end", "x")
                await stage.confirm()

        await stage.go_to(ANA)
        await wish()
        await stage.shows(ProposalScreen)
        await stage.paints("hard-linked (outside the memory)")
        await stage.press("escape")
        assert read(root) == before
        await stage.wait_for(lambda: not stage.main._changing._writing._one_at_a_time.locked())
        await wish()
        await stage.shows(ProposalScreen)
        await stage.confirm()
        await stage.wait_for(lambda: read(root) != before)
    assert {name: (tmp_path / name).read_text() for name in ("MEMORY.md", ANA)} == {
        name: before[name] for name in ("MEMORY.md", ANA)
    }


async def test_text_that_was_not_changed_does_nothing(
    root: Path, tmp_path: Path, pinned: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edits_with("true", tmp_path, monkeypatch)
    before = read(root)
    async with staged(root) as stage:
        await stage.press("e")
        await stage.wait_for(lambda: not stage.main._changing._writing._one_at_a_time.locked())
        assert "Saved" not in stage.toasts
        assert not stage.main.action_context.undo
    assert read(root) == before
    assert copies(pinned) == []


@pytest.mark.parametrize(
    ("script", "said", "kept"),
    [
        ("exit 3", "ended with an error (3)", False),
        ('echo mine >> "$1"; exit 1', "Your text is kept in", True),
        (r'printf "\377\376" > "$1"', "is not UTF-8. Your text is kept in", True),
    ],
)
async def test_an_editor_that_fails_loses_nothing(
    root: Path,
    tmp_path: Path,
    pinned: Path,
    monkeypatch: pytest.MonkeyPatch,
    script: str,
    said: str,
    kept: bool,
) -> None:
    edits_with(script, tmp_path, monkeypatch)
    before = read(root)
    async with staged(root) as stage:
        await stage.press("e")
        await stage.wait_for(lambda: said in stage.toasts)
    assert read(root) == before
    assert bool(copies(pinned)) is kept


async def test_a_missing_editor_is_reported(
    root: Path, pinned: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", "/nowhere/vim")
    async with staged(root) as stage:
        await stage.press("e")
        await stage.wait_for(lambda: "Cannot start the editor “/nowhere/vim”" in stage.toasts)
        assert "Nothing was changed" in stage.toasts
    assert copies(pinned) == []


async def test_a_concurrent_change_of_an_agent_is_merged_and_shown_first(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = f'sed -i "s/Line 3 /Line three /" "$1"; echo "By an agent." >> {quoted(root / CACHE)}'
    edits_with(script, tmp_path, monkeypatch)
    async with staged(root) as stage:
        await stage.go_to(CACHE)
        await stage.press("e")
        await stage.shows(ProposalScreen)
        await stage.paints(MERGED)
        assert "Line three" not in (root / CACHE).read_text()
        await stage.confirm()
        await stage.wait_for(lambda: "Saved" in stage.toasts)
    text = (root / CACHE).read_text()
    assert "Line three" in text
    assert text.endswith("By an agent.\n")


async def test_a_cancelled_merge_keeps_the_edited_text(
    root: Path, tmp_path: Path, pinned: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = f'sed -i "s/Line 3 /Line three /" "$1"; echo "By an agent." >> {quoted(root / CACHE)}'
    edits_with(script, tmp_path, monkeypatch)
    async with staged(root) as stage:
        await stage.go_to(CACHE)
        await stage.press("e")
        await stage.shows(ProposalScreen)
        await stage.press("escape")
        await stage.wait_for(lambda: "Your text is kept in" in stage.toasts)
    assert "Line three" not in (root / CACHE).read_text()
    assert "Line three" in copies(pinned)[0].read_text()


async def test_the_same_lines_show_three_versions_and_can_be_edited_again(
    root: Path, tmp_path: Path, pinned: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, theirs = "s/Sines/Lagos/", "s/Sines/Faro/"
    script = f'sed -i "{mine}" "$1"; sed -i "{theirs}" {quoted(root / TIDES)}'
    edits_with(script, tmp_path, monkeypatch)
    async with staged(root) as stage:
        await stage.go_to(TIDES)
        await stage.press("e")
        await stage.shows(EditConflictScreen)
        for text in ("The port is Sines", "The port is Faro", "The port is Lagos", "Your text"):
            await stage.paints(text)
        assert "Lagos" in copies(pinned)[0].read_text()
        await stage.press("e")
        await stage.shows(ProposalScreen)
        await stage.paints("replaces what somebody else wrote")
        await stage.confirm()
        await stage.wait_for(lambda: "Saved" in stage.toasts)
        assert "The port is Lagos" in (root / TIDES).read_text()
        assert copies(pinned) == []
        await stage.press("u")
        await stage.wait_for(lambda: "Undone" in stage.toasts)
        assert "The port is Faro" in (root / TIDES).read_text()


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (160, 40)], ids=str)
async def test_lines_that_both_versions_append_are_in_sight(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    edits_with(
        f'echo "Mine." >> "$1"; echo "Theirs." >> {quoted(root / CACHE)}', tmp_path, monkeypatch
    )
    async with staged(root, size) as stage:
        await stage.go_to(CACHE)
        await stage.press("e")
        await stage.shows(EditConflictScreen)
        await stage.paints("Another program changed the same lines")
        for text in ("Mine.", "Theirs."):
            await stage.paints(text)
        # before is shown where they were added
        last = (root / CACHE).read_text().splitlines().index("Theirs.")
        await stage.wait_for(lambda: stage.painted().count(f" {last} ") == 3)


async def test_closing_the_three_versions_keeps_the_edited_text(
    root: Path, tmp_path: Path, pinned: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edits_with(
        f'sed -i s/Sines/Lagos/ "$1"; sed -i s/Sines/Faro/ {quoted(root / TIDES)}',
        tmp_path,
        monkeypatch,
    )
    async with staged(root) as stage:
        await stage.go_to(TIDES)
        await stage.press("e")
        await stage.shows(EditConflictScreen)
        await stage.press("escape")
        await stage.shows(MainScreen)
    assert "Faro" in (root / TIDES).read_text()
    assert "Lagos" in copies(pinned)[0].read_text()


async def test_the_text_of_a_note_deleted_meanwhile_is_not_lost(
    root: Path, tmp_path: Path, pinned: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edits_with(f'echo mine >> "$1"; rm {quoted(root / TIDES)}', tmp_path, monkeypatch)
    async with staged(root) as stage:
        await stage.go_to(TIDES)
        await stage.press("e")
        await stage.shows(EditConflictScreen)
        await stage.paints("the file does not exist")
        await stage.paints("Another program deleted the file")
    assert "mine" in copies(pinned)[0].read_text()


# Forms


async def test_a_closed_form_restores_its_text_the_next_time(root: Path) -> None:
    before = read(root)
    async with staged(root) as stage:
        await stage.press("E")
        await stage.shows(FormScreen)
        await stage.press(*" of Genova", "escape")
        await stage.shows(MainScreen)
        assert "E continues with what you typed" in stage.toasts
        stage.app.clear_notifications()
        await stage.press("j", "E")
        await stage.shows(FormScreen)
        assert "Genova" not in stage.painted()
        await stage.press("escape")
        await stage.shows(MainScreen)
        assert "Saved" not in stage.toasts
        await stage.press("k", "E")
        await stage.shows(FormScreen)
        await stage.paints("user-ana of Genova")
        await stage.confirm()
        await stage.wait_for(lambda: "Frontmatter written" in stage.toasts)
    assert read(root) == {**before, ANA: before[ANA].replace("user-ana", "user-ana of Genova")}


async def test_the_type_is_chosen_with_arrows(root: Path) -> None:
    async with staged(root) as stage:
        await stage.press("E")
        await stage.shows(FormScreen)
        await stage.press("tab", "left")
        await stage.confirm()
        await stage.wait_for(lambda: "Frontmatter written" in stage.toasts)
    assert "  type: reference\n" in (root / ANA).read_text()


async def test_a_type_that_a_rule_calls_unknown_is_not_offered(root: Path) -> None:
    ana = (root / ANA).read_text("utf-8")
    (root / ANA).write_text(ana.replace("  type: user", "  type: handoff"), "utf-8")
    async with staged(root) as stage:
        assert "unknown-type" in stage.freshness_text
        await stage.press("E")
        await stage.shows(FormScreen)
        await stage.paints("feedback · project · reference · user ")


async def test_a_note_without_a_name_is_not_made(root: Path) -> None:
    before = read(root)
    async with staged(root) as stage:
        await stage.press("n")
        await stage.shows(FormScreen)
        await stage.press("enter", "enter", *"only this", "enter")
        await stage.wait_for(lambda: isinstance(stage.app.screen, FormScreen))
        await stage.confirm()
        await stage.wait_for(lambda: "A note needs a name" in stage.toasts)
        await stage.press("n")
        await stage.shows(FormScreen)
        await stage.paints("only this")
    assert read(root) == before


async def test_frontmatter_that_cannot_be_edited_is_reported_before_the_form_opens(
    tmp_path: Path,
) -> None:
    root = build(tmp_path, {**SMALL, TIDES: "---\nname: [\n---\n\nBroken.\n"})
    async with staged(root) as stage:
        await stage.go_to(TIDES)
        await stage.press("E")
        await stage.wait_for(lambda: "Invalid frontmatter" in stage.toasts)


async def test_a_change_that_the_screen_shows_late_is_not_taken_for_another_programs(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large memory takes longer to be judged than anybody waits for it."""
    monkeypatch.setattr("ricordo.tui.edits.expected_writes._PATIENCE", 0.0)
    async with staged(root) as stage:
        await stage.go_to(TIDES)
        await stage.press("m")
        await stage.shows(MoveScreen)
        await stage.press("ctrl+u", *"ports")
        await stage.confirm()
        await stage.shows(ProposalScreen)
        await stage.confirm()
        await stage.wait_for(lambda: stage.here == "ports.md", "the note under its new name")
        await stage.press("d")
        await stage.shows(ProposalScreen)
        await stage.confirm()
        await stage.wait_for(lambda: stage.here not in ("ports.md", ""), "another note open")
        assert "was deleted by somebody else" not in stage.toasts


# Marked notes


async def test_marked_notes_are_retired_in_one_act(root: Path) -> None:
    before = read(root)
    async with staged(root) as stage:
        await stage.press("space", "j", "space", "d")
        await stage.shows(ProposalScreen)
        await stage.paints("Retire 2 notes")
        await stage.paints("The index links to user_ana.md.")
        await stage.confirm()
        await stage.wait_for(lambda: "Retired" in stage.toasts)
        assert not (root / ANA).exists()
        assert not (root / TIDES).exists()
        await stage.wait_for(lambda: "marked" not in stage.bottom, "no marks")
        await stage.press("u")
        await stage.wait_for(lambda: "Undone" in stage.toasts)
    assert read(root) == before


async def test_a_key_for_one_note_says_so_once_if_others_are_marked(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edits_with('echo more >> "$1"', tmp_path, monkeypatch)
    before = read(root)
    async with staged(root) as stage:
        await stage.go_to(CACHE)
        await stage.press("space")
        await stage.go_to(TIDES)
        await stage.press("space", "J")
        await stage.wait_for(lambda: read(root)[INDEX] != before[INDEX])
        assert "on the note under the cursor only" in stage.toasts
        stage.app.clear_notifications()
        await stage.press("e")
        await stage.wait_for(lambda: "Saved" in stage.toasts)
        assert "alone" not in stage.toasts
        assert "2 marked: d m P F E" in stage.bottom
    assert read(root)[CACHE] == before[CACHE]
    assert read(root)[TIDES] == before[TIDES] + "more\n"


async def test_marked_notes_get_one_type(root: Path) -> None:
    async with staged(root) as stage:
        await stage.press("space", "j", "space", "E")
        await stage.shows(FormScreen)
        await stage.press(*"decision")
        await stage.confirm()
        await stage.wait_for(lambda: "Set the type of 2 notes to decision" in stage.toasts)
    for path in (ANA, TIDES):
        assert "  type: decision\n" in (root / path).read_text()


async def test_marked_notes_are_protected_and_freed_together(root: Path) -> None:
    async with staged(root) as stage:
        await stage.press("space", "j", "space", "P")
        await stage.wait_for(lambda: "2 notes protected from" in stage.toasts)
        await stage.wait_for(lambda: stage.index_text.count("§") == 2, "both marked")
        await stage.press("P")
        await stage.wait_for(lambda: "2 notes no longer protected" in stage.toasts)
        await stage.wait_for(lambda: "§" not in stage.index_text, "none marked")


async def test_a_note_protected_by_its_frontmatter_says_so(tmp_path: Path) -> None:
    pinned_note = SMALL[TIDES].replace("name:", "pinned: true\nname:")
    root = build(tmp_path, {**SMALL, TIDES: pinned_note})
    async with staged(root) as stage:
        assert "§ Tide tables" in stage.index_text
        await stage.go_to(TIDES)
        await stage.press("P")
        await stage.wait_for(lambda: "by its frontmatter (pinned or read_only)" in stage.toasts)


async def test_marked_notes_move_to_another_memory(root: Path, pinned: Path) -> None:
    other = pinned / ".claude/projects/-srv-harbour/memory"
    other.mkdir(parents=True)
    (other / INDEX).write_text("- [Buoys](buoys.md)\n")
    (other / "buoys.md").write_text("Red to port.\n")
    async with staged(root) as stage:
        await stage.go_to(TIDES)
        await stage.press("space", "j", "space", "m")
        await stage.shows(MoveScreen)
        await stage.press("down")
        await stage.confirm()
        await stage.shows(ProposalScreen)
        await stage.confirm()
        await stage.wait_for(lambda: "Moved" in stage.toasts)
        assert {path.name for path in other.glob("*.md")} == {INDEX, "buoys.md", TIDES, CACHE}
        assert "(project_tides.md)" in (other / INDEX).read_text()
        assert "project_tides" not in (root / INDEX).read_text()
        await stage.press("u")
        await stage.wait_for(lambda: "Undone" in stage.toasts)
    assert (root / TIDES).exists()
    assert not (other / TIDES).exists()


# Proposals


async def test_links_go_to_a_successor(root: Path) -> None:
    async with staged(root) as stage:
        await stage.go_to(TIDES)
        await stage.press("d")
        await stage.shows(ProposalScreen)
        await stage.press("s")
        await stage.shows(PickNoteScreen)
        await stage.press(*"units", "enter")
        await stage.shows(ProposalScreen)
        await stage.wait_for(lambda: f"links go to {UNITS}" in stage.painted())
        await stage.confirm()
        await stage.wait_for(lambda: "Retired" in stage.toasts)
    assert "[[feedback-units]]" in (root / ANA).read_text()


async def test_a_hunk_can_be_left_out(root: Path) -> None:
    async with staged(root) as stage:
        await stage.go_to(TIDES)
        await stage.press("m")
        await stage.shows(MoveScreen)
        await stage.press("ctrl+u", *"ports")
        await stage.confirm()
        await stage.shows(ProposalScreen)
        await stage.paints("1 created, 2 changed, 1 removed")
        await stage.press("space")
        await stage.paints("1 created, 2 changed, 1 removed")
        await stage.press("space", "v")
        await stage.paints("1 created, 1 changed, 1 removed")
        await stage.paints("│")
        await stage.confirm()
        await stage.wait_for(lambda: "Renamed" in stage.toasts)
    assert "(project_tides.md)" in (root / INDEX).read_text()
    assert "[[ports]]" in (root / ANA).read_text()


async def test_nothing_is_written_too_early_or_by_a_paste(root: Path) -> None:
    before = read(root)
    async with staged(root) as stage:
        await stage.press("d")
        await stage.shows(ProposalScreen)
        screen = stage.app.screen
        screen.mounted_at = time.monotonic() + 60  # type: ignore[attr-defined]
        await stage.press("ctrl+s")
        assert stage.app.screen is screen
        screen.mounted_at = time.monotonic() - KEY_DELAY  # type: ignore[attr-defined]
        await stage.paste("\x13y\n")
        assert stage.app.screen is screen
        await stage.press("escape")
        await stage.shows(MainScreen)
        await stage.paste("d\x13\x13")
        assert isinstance(stage.app.screen, MainScreen)
        await stage.press("n")
        await stage.shows(FormScreen)
        stage.app.screen.mounted_at = time.monotonic() + 60  # type: ignore[attr-defined]
        await stage.press(*"x", "ctrl+s", "enter", "enter", "enter")
        assert isinstance(stage.app.screen, FormScreen)
    assert read(root) == before


async def test_a_taken_name_is_reported_and_changes_nothing(root: Path) -> None:
    before = read(root)
    async with staged(root) as stage:
        await stage.press("m")
        await stage.shows(MoveScreen)
        await stage.press("ctrl+u", *"project_tides")
        await stage.confirm()
        await stage.wait_for(lambda: "already used by" in stage.toasts)
    assert read(root) == before


async def test_a_new_note_with_a_taken_name_is_refused_and_its_text_stays(
    root: Path,
) -> None:
    before = read(root)
    async with staged(root) as stage:
        for taken in ("project_tides", "../away"):
            await stage.press("n")
            await stage.shows(FormScreen)
            await stage.press("ctrl+u", *taken)
            await stage.confirm()
            await stage.wait_for(lambda: "Nothing was changed." in stage.toasts)
            await stage.shows(MainScreen)
    assert read(root) == before


async def test_a_diff_opens_at_its_first_changed_line(tmp_path: Path) -> None:
    entries = [f"- [{name}]({name}.md) — {'a long line of it ' * 40}" for name in ("a", "b", "c")]
    files = {f"{name}.md": note_text(name) for name in ("a", "b", "c", "quays")}
    files["quays.md"] = note_text("quays", description="where ships lie")
    root = build(tmp_path, {"MEMORY.md": "\n".join((*entries, "")), **files})
    async with staged(root, (80, 24)) as stage:
        await stage.go_to("quays.md")
        await stage.wait_for(lambda: "F fix" in stage.bottom)
        await stage.press("F")
        await stage.shows(ProposalScreen)
        await stage.paints("+ - [quays](quays.md)")
        # the lines above it are still there
        await stage.press("up")
        await stage.paints("~ MEMORY.md")


# A credential


async def test_masking_a_secret_offers_to_purge_the_history(tmp_path: Path, pinned: Path) -> None:
    text = note_text("project-tides", f"The token is {TOKEN}\n")
    root = build(tmp_path, {**SMALL, TIDES: text})
    async with staged(root) as stage:
        await stage.go_to(TIDES)
        await stage.press("ctrl+r")
        await stage.wait_for(lambda: "F fix" in stage.bottom)
        await stage.press("F")
        await stage.shows(ProposalScreen)
        await stage.paints("mask the value (github-token)")
        await stage.paints("keeps the value")
        await stage.press("p", "p", "p")
        await stage.paints("purges the value from the history too")
        await stage.confirm()
        await stage.wait_for(lambda: "Purged the value from" in stage.toasts)
        await stage.press("u")
        await stage.wait_for(lambda: "was purged or dropped from the history. So" in stage.toasts)
        assert "(The note contained a secret (github-token) that every agent" in stage.toasts
        await stage.wait_for(lambda: not stage.main.action_context.undo)
        assert "u undo" not in stage.bottom
    assert TOKEN not in (root / TIDES).read_text()
    state = pinned / ".local/state/ricordo"
    assert all(
        TOKEN.encode() not in path.read_bytes() for path in state.iterdir() if path.is_file()
    )


async def test_all_values_of_a_line_are_masked_and_purged_and_said_to_be(tmp_path: Path) -> None:
    text = note_text("project-tides", f"The token is {TOKEN}, the password: tugBoat99xQ\n")
    root = build(tmp_path, {**SMALL, TIDES: text})
    async with staged(root) as stage:
        await stage.go_to(TIDES)
        await stage.press("ctrl+r")
        await stage.wait_for(lambda: "F fix" in stage.bottom)
        await stage.press("F")
        await stage.shows(ProposalScreen)
        await stage.paints("mask 2 values (github-token, password)")
        await stage.press("p")
        await stage.paints("purges the value from the history too")
        await stage.confirm()
        await stage.wait_for(lambda: "Purged 2 values from the history, for good." in stage.toasts)
    assert "tugBoat99xQ" not in (root / TIDES).read_text()


# Undo


async def test_an_editor_that_deletes_its_file_empties_no_note(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = read(root)
    edits_with('rm "$1"', tmp_path, monkeypatch)
    async with staged(root) as stage:
        await stage.press("e")
        await stage.wait_for(lambda: "no readable file" in stage.toasts)
    assert read(root) == before


async def test_undo_and_redo_work_after_a_restart(root: Path) -> None:
    before = read(root)
    async with staged(root) as stage:
        await stage.press("d")
        await stage.shows(ProposalScreen)
        await stage.confirm()
        await stage.wait_for(lambda: "Retired" in stage.toasts)
    after = read(root)
    async with staged(root) as stage:
        await stage.wait_for(lambda: "u undo" in stage.bottom)
        await stage.press("u")
        await stage.wait_for(lambda: "Undone" in stage.toasts)
        assert read(root) == before
    async with staged(root) as stage:
        await stage.wait_for(lambda: stage.main.action_context.redo)
        await stage.press("U")
        await stage.wait_for(lambda: "Redone" in stage.toasts)
    assert read(root) == after


def run_command(*words: str) -> None:
    """Run `ricordo` in a process of its own."""
    subprocess.run(
        [sys.executable, "-m", "ricordo", *words], check=True, capture_output=True, timeout=60
    )


async def test_undo_asks_before_it_undoes_what_a_command_did(root: Path) -> None:
    before = read(root)
    async with staged(root) as stage:
        await stage.press("d")
        await stage.shows(ProposalScreen)
        await stage.confirm()
        await stage.wait_for(lambda: "Retired" in stage.toasts)
        retired = read(root)
        run_command("new", "Reefs", "-m", str(root))
        made = read(root)
        await stage.wait_for(lambda: "Reefs" in stage.index_text)
        await stage.press("u")
        await stage.shows(ProposalScreen)
        await stage.paints("what was not done in this notebook?")
        await stage.paints("(created by hand)")
        await stage.press("escape")
        await stage.shows(MainScreen)
        assert read(root) == made
        await stage.press("u")
        await stage.shows(ProposalScreen)
        await stage.confirm()
        await stage.wait_for(lambda: "Undone" in stage.toasts)
        assert read(root) == retired
        await stage.press("u")
        await stage.wait_for(lambda: read(root) == before)


async def test_undo_names_a_file_outside_the_memory_that_a_command_wrote(
    root: Path, tmp_path: Path, pinned: Path
) -> None:
    handoff = tmp_path / "elsewhere" / "next.md"
    handoff.parent.mkdir()
    session = Claude(cwd=str(tmp_path)).says("Paint the buoy red.").answers("It is red now.")
    transcript = session.write(pinned, "-buoys")
    run_command("handoff", "-m", str(root), "--session", str(transcript), "-o", str(handoff))
    async with staged(root) as stage:
        await stage.wait_for(lambda: "u undo" in stage.bottom)
        await stage.press("u")
        await stage.shows(ProposalScreen)
        await stage.paints("outside the memory:")
        assert handoff.exists()
        await stage.confirm()
        await stage.wait_for(lambda: "Undone" in stage.toasts)
    assert not handoff.exists()


async def test_undo_shows_a_merge_if_another_program_wrote_since(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edits_with('sed -i "s/Line 3 /Line three /" "$1"', tmp_path, monkeypatch)
    async with staged(root) as stage:
        await stage.go_to(CACHE)
        await stage.press("e")
        await stage.wait_for(lambda: "Saved" in stage.toasts)
        with (root / CACHE).open("a") as file:
            file.write("By an agent.\n")
        await stage.press("u")
        await stage.shows(ProposalScreen)
        await stage.paints(MERGED)
        await stage.confirm()
        await stage.wait_for(lambda: "Undone" in stage.toasts)
        await stage.wait_for(lambda: stage.main.action_context.redo)
    text = (root / CACHE).read_text()
    assert "Line 3 " in text
    assert text.endswith("By an agent.\n")


async def test_undo_shows_three_versions_if_the_same_lines_changed(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edits_with('sed -i s/Sines/Lagos/ "$1"', tmp_path, monkeypatch)
    async with staged(root) as stage:
        await stage.go_to(TIDES)
        await stage.press("e")
        await stage.wait_for(lambda: "Saved" in stage.toasts)
        (root / TIDES).write_text((root / TIDES).read_text().replace("Lagos", "Faro"))
        await stage.press("u")
        await stage.shows(EditConflictScreen)
        await stage.press("e", "escape")
        await stage.shows(MainScreen)
    assert "Faro" in (root / TIDES).read_text()


async def test_a_dismissal_is_undone_like_a_change(root: Path) -> None:
    async with staged(root) as stage:
        await stage.press("3", "right", "minus")
        await stage.wait_for(lambda: stage.looked.snapshot.dismissed)
        await stage.wait_for(lambda: "u undo" in stage.bottom)
        await stage.press("u")
        await stage.wait_for(lambda: not stage.looked.snapshot.dismissed)


# What may not be changed


@pytest.mark.parametrize("key", ["e", "E", "n", "m", "d", "P", "J", "circumflex_accent"])
async def test_a_memory_that_is_read_only_says_why(pinned: Path, key: str) -> None:
    root = pinned / ".codex/memories"
    root.mkdir(parents=True)
    (root / "memory_summary.md").write_text("v1\n# Summary\n\nTides.\n")
    (root / "tides.md").write_text("The port is Sines.\n")
    async with staged(root) as stage:
        reason = stage.looked.snapshot.memory.layout.read_only
        assert reason
        await stage.press(key)
        assert reason in stage.toasts
        assert isinstance(stage.app.screen, MainScreen)


async def test_a_file_that_is_read_only_is_left_alone(root: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everything")
    (root / ANA).chmod(0o444)
    async with staged(root) as stage:
        await stage.press("e")
        await stage.wait_for(lambda: "the file is read-only" in stage.toasts)


# Text that strangers wrote


HOSTILE: Mapping[str, tuple[str, type]] = {
    "d": ("d", ProposalScreen),
    "d s": ("d", PickNoteScreen),
    "E": ("E", FormScreen),
    "m": ("m", MoveScreen),
    "n": ("n", FormScreen),
}


TAKEN = figure("hostile_step", everyday=25)
"""Of so many hostile names one is tried."""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("keys", HOSTILE)
async def test_hostile_titles_stay_text_in_every_modal(tmp_path: Path, keys: str) -> None:
    notes = hostile.notes()
    index = "".join(f"- [{name}]({name}) [/] [@click=app.quit]x[/]\n" for name in notes)
    root = build(tmp_path, {INDEX: f"# Index\n{index}", **notes})
    async with staged(root) as stage:
        for name in list(notes)[::TAKEN]:
            await stage.go_to(name)
            stage.app.clear_notifications()
            for key in keys.split():
                await stage.press(key)
                await stage.wait_for(
                    lambda: not isinstance(stage.app.screen, MainScreen) or stage.toasts
                )
            painted = stage.painted()
            assert not any(char < " " and char != "\n" for char in painted)
            for _ in keys.split():
                await stage.press("escape")
            await stage.wait_for(lambda: isinstance(stage.app.screen, MainScreen))
