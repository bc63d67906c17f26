"""Secrets of notes are masked on every screen until a key reveals them, for the one note."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from ricordo.memory.change import Replace
from ricordo.tui.conflicts.screen import ConflictsScreen
from ricordo.tui.dialogs.change_set import ProposalScreen
from ricordo.tui.dialogs.text_page import LoadScreen
from ricordo.tui.history.screen import HistoryScreen
from ricordo.tui.inbox.screen import InboxScreen
from ricordo.tui.main.screen import MainScreen
from ricordo.tui.render.mask import MASK, MAX_IMMEDIATE, mask_passage, mask_text
from ricordo.tui.widgets.line_view import LineView
from tests.support.builders import note_text
from tests.tui.stage import NO_DELAY, Stage, build, staged, text_of
from tests.tui.test_curation import review as curation_review
from tests.tui.test_finder import open_finder
from tests.tui.test_inbox import notebook_of
from tests.tui.test_review import open_review

TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
OTHER = "ghp_" + "Z9y8X7w6V5" * 3 + "u4T3s2"
KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEow" * 9 + "\n-----END RSA PRIVATE KEY-----"
STAGING, PLAIN = "staging.md", "plain.md"
BODY = (
    f"The harbour gate opens with {TOKEN} at night. The port is Sines.\n\n"
    f"```\nexport TOKEN={TOKEN}\n```\n\n"
    f"See [the gate](https://harbour:{TOKEN}@example.org/gate).\n\n{KEY}\n"
)
FILES: Mapping[str, str] = {
    "MEMORY.md": (
        f"# Gate {TOKEN}\n\nThe gate needs {TOKEN} too.\n\n"
        f"- [Staging](staging.md) — {TOKEN}\n- [Plain](plain.md) — nothing\n"
    ),
    STAGING: note_text("staging", BODY, f"How the gate opens {TOKEN}"),
    PLAIN: note_text("plain", "Nothing here is secret.\n", "Plain words"),
}
SIZES = ((80, 24), (120, 40))


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let judging count from the first moment."""
    monkeypatch.setattr("ricordo.tui.base.action_screen.KEY_DELAY", NO_DELAY)


def shown(stage: Stage) -> str:
    """Return all that the screen on top shows, also what is out of sight."""
    views = stage.app.screen.query(LineView)
    return "\n".join([stage.painted(), *(text_of(view) for view in views)])


def hides(stage: Stage) -> None:
    text = re.sub(r"[\s│]+", "", shown(stage))
    assert MASK in text
    for secret in (TOKEN[8:24], OTHER[8:24], "MIIEow"):
        assert secret not in text, stage.painted()


def reveals(stage: Stage, secret: str = TOKEN) -> None:
    assert secret[8:24] in re.sub(r"[\s│]+", "", shown(stage)), stage.painted()


@pytest.mark.parametrize("size", SIZES)
async def test_a_note_is_masked_until_it_is_revealed(tmp_path: Path, size: tuple[int, int]) -> None:
    async with staged(build(tmp_path, FILES), size) as stage:
        await stage.go_to(STAGING)
        hides(stage)
        await stage.press("2")
        assert "masked" in stage.painted()
        assert "* reveal" in stage.painted()
        await stage.press("s")
        hides(stage)
        await stage.press("*")
        reveals(stage)
        assert "secrets are shown" in stage.note_text
        await stage.press("s")
        reveals(stage)
        await stage.press("*")
        hides(stage)
        await stage.press("*")
        reveals(stage)
        await stage.go_to(PLAIN)
        await stage.press("2", "*")
        assert "No secret is masked here" in stage.toasts
        await stage.go_to(STAGING)
        hides(stage)


async def test_lines_keep_their_numbers_in_the_source(tmp_path: Path) -> None:
    async with staged(build(tmp_path, FILES)) as stage:
        await stage.go_to(STAGING)
        await stage.press("2", "s")
        masked_lines = [it[:5] for it in stage.note_text.split("\n") if it[:4].strip().isdigit()]
        await stage.press("*")
        real_lines = [it[:5] for it in stage.note_text.split("\n") if it[:4].strip().isdigit()]
        assert masked_lines == real_lines


async def test_copied_text_is_masked(tmp_path: Path) -> None:
    async with staged(build(tmp_path, FILES)) as stage:
        await stage.go_to(STAGING)
        await stage.press("2", "y")
        assert MASK in stage.app.clipboard
        assert TOKEN not in stage.app.clipboard
        assert "Secrets are masked" in stage.toasts
        await stage.press("right", "y")
        assert stage.app.clipboard.startswith("https://harbour:")
        assert TOKEN not in stage.app.clipboard
        await stage.press("*", "y")
        assert TOKEN in stage.app.clipboard


async def test_a_long_note_is_scanned_in_a_thread(tmp_path: Path) -> None:
    text = note_text(
        "long", "Words about the gate.\n\n" * (MAX_IMMEDIATE // 10) + f"Use {TOKEN}.\n"
    )
    async with staged(build(tmp_path, {**FILES, "long.md": text})) as stage:
        await stage.go_to("long.md")
        await stage.wait_for(lambda: "1 secret is masked" in stage.note_text, "the mask")
        await stage.panes.note.wait_until_drawn()
        hides(stage)
        await stage.press("2")
        await stage.wait_for(lambda: "* reveal" in stage.bottom, "the key")
        await stage.press("*")
        await stage.panes.note.wait_until_drawn()
        reveals(stage)


@pytest.mark.parametrize("size", SIZES)
async def test_the_finder_masks_its_rows_and_its_preview(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with staged(build(tmp_path, FILES), size) as stage:
        screen = await open_finder(stage, "gate opens")
        hides(stage)
        assert any("match" in it.style for it in screen._list.line_at(1)[0].spans)


async def test_the_load_is_masked(tmp_path: Path) -> None:
    async with staged(build(tmp_path, FILES)) as stage:
        await stage.press("L")
        await stage.shows(LoadScreen)
        hides(stage)


@pytest.mark.parametrize("size", SIZES)
async def test_the_inbox_and_the_history_mask_their_diffs(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    root = build(tmp_path, FILES)
    notebook = notebook_of(root)
    notebook.record(notebook.read())

    (root / STAGING).write_text(FILES[STAGING].replace(TOKEN, OTHER).replace("Sines", "Porto"))
    notebook.record(notebook.read())
    async with staged(root, size) as stage:
        await stage.press("i")
        await stage.shows(InboxScreen)
        await stage.paints("How the gate opens")
        hides(stage)
        await stage.press("v")
        hides(stage)
        await stage.press("*")
        reveals(stage, OTHER)
        await stage.press("escape")
        await stage.shows(MainScreen)
        await stage.go_to(STAGING)
        await stage.press("h")
        await stage.shows(HistoryScreen)
        await stage.paints("How the gate opens")
        hides(stage)
        await stage.press("*")
        reveals(stage)


async def test_a_proposed_change_is_masked(tmp_path: Path) -> None:
    async with staged(build(tmp_path, FILES)) as stage:
        await stage.go_to(STAGING)
        await stage.press("d")
        await stage.shows(ProposalScreen)
        hides(stage)
        await stage.press("*")
        reveals(stage)


async def test_the_review_masks_the_note(tmp_path: Path) -> None:
    head = "---\nname: staging\ndescription: x\nmetadata:\n  modified: 2026-05-01\n---\n\n"
    files = {**FILES, STAGING: head + BODY}
    async with staged(build(tmp_path, files), (80, 24)) as stage:
        screen = await open_review(stage)
        await stage.wait_for(lambda: screen.item, "a note")
        while screen.item and screen.item.note.path != STAGING:
            await stage.press("down")
        hides(stage)
        await stage.press("*")
        reveals(stage)
        await stage.press("up", "down")
        if screen.item and screen.item.note.path == STAGING:
            hides(stage)


async def test_the_workbench_masks_both_notes(tmp_path: Path) -> None:
    said = "The web view listens on port {} of the office. The gate needs {}.\n"
    files = {
        "MEMORY.md": "# Harbour\n\n- [A](a.md) — a\n- [B](b.md) — b\n",
        "a.md": note_text("a", said.format(8040, TOKEN)),
        "b.md": note_text("b", said.format(8100, OTHER)),
    }
    async with staged(build(tmp_path, files)) as stage:
        await stage.press("x")
        await stage.shows(ConflictsScreen)
        await stage.paints("8040")
        hides(stage)
        await stage.press("*")
        reveals(stage)
        reveals(stage, OTHER)


async def test_the_review_of_a_curation_masks_its_diffs(tmp_path: Path) -> None:
    root = build(tmp_path, FILES)
    async with curation_review(root, Replace(STAGING, "The port is Sines.", "It is Porto.")) as at:
        stage, _ = at
        await stage.paints("Porto")
        hides(stage)
        await stage.press("*")
        reveals(stage)


def test_a_passage_is_masked_wherever_it_was_cut() -> None:
    text = f"Before the gate\nuse {TOKEN} and then\nwait for the bell at the gate.\n"
    flat = " ".join(text.split())
    for start in range(len(flat) - 20):
        passage = f"…{flat[start : start + 30]}…"
        at = passage.find("gate")
        marks = [(at, at + 4)] if at >= 0 else []
        said, left = mask_passage(passage, marks, text)
        assert not any(TOKEN[n : n + 3] in said for n in range(4, len(TOKEN) - 3)), said
        assert [said[a:b] for a, b in left] == ["gate"] * len(marks)


def test_masking_keeps_lines_and_other_text() -> None:
    assert mask_text(KEY + "\nend").count("\n") == KEY.count("\n") + 1
    assert mask_text(BODY).endswith(f"{MASK}\n")
    assert mask_text("Nothing here.\r\n") == "Nothing here.\r\n"
    text = f"a {TOKEN} b"
    assert mask_text(text, 1, 6) == f" {MASK}"
