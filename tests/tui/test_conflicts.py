"""The conflict workbench, on a copy of the sample memory."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from shutil import copytree

import pytest

from ricordo.lint.evidence import Relation
from ricordo.services.conflicts.conflicts import Keep
from ricordo.services.conflicts.opinions import Unresolved
from ricordo.storage.history import History
from ricordo.tui.base.action_screen import KEY_DELAY
from ricordo.tui.conflicts.screen import ConflictsScreen
from ricordo.tui.dialogs.change_set import ProposalScreen
from ricordo.tui.dialogs.edit_conflict import EditConflictScreen
from ricordo.tui.dialogs.form import FormScreen
from ricordo.tui.dialogs.origin import OriginScreen
from ricordo.tui.main.screen import MainScreen
from ricordo.tui.widgets.text_view import TextView
from tests.support.builders import note_text
from tests.tui.stage import Stage, build, editor, staged, text_of

GAP, BUFFER = "project_planner_gap.md", "team/berth_buffer.md"
SAMPLE = Path(__file__).resolve().parents[2] / "sample_memory"


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RICORDO_AGENT_HOME", str(tmp_path / "sample" / "home"))
    copytree(SAMPLE, tmp_path / "sample")
    return tmp_path / "sample" / "memory"


def shorten_note(sample: Path) -> None:
    """Shorten the note at `GAP` to its claim and a link."""
    note = sample / GAP
    text = note.read_text("utf-8")
    start = text.index("Read from a plan")
    note.write_text(text[:start] + text[text.index("See [[") :], "utf-8")


@asynccontextmanager
async def workbench(root: Path, *, at: str = GAP) -> AsyncIterator[Stage]:
    """Open the workbench of a memory at the conflict of the note `at`."""
    async with staged(root) as stage:
        await open_workbench(stage)
        screen = bench(stage)
        for _ in range(count(stage)):
            if at not in paths(screen):
                await stage.press("]")
        yield stage


async def open_workbench(stage: Stage) -> None:
    await stage.press("x")
    await stage.shows(ConflictsScreen)


def bench(stage: Stage) -> ConflictsScreen:
    return next(it for it in stage.app.screen_stack if isinstance(it, ConflictsScreen))


def paths(screen: ConflictsScreen) -> tuple[str, ...]:
    it = screen.conflict
    return (it.left.quote.path, it.right.quote.path) if it else ()


def count(stage: Stage) -> int:
    """Return the number of listed pairs, without duplicates."""
    return sum(it.relation is not Relation.REPEATS for it in bench(stage)._conflicts)


async def resolve(stage: Stage, key: str, told: str = "nothing is written until ctrl+s") -> None:
    """Press a key of the workbench and write its proposal, once that shows `told`."""
    left = count(stage)
    await calm(stage)
    await stage.press(key)
    await stage.shows(ProposalScreen)
    await stage.paints(told)
    await stage.confirm()
    await stage.shows(ConflictsScreen)
    await stage.wait_for(lambda: count(stage) == left - 1, "the next conflict")


async def calm(stage: Stage) -> None:
    opened = bench(stage).mounted_at
    await stage.wait_for(lambda: time.monotonic() - opened > KEY_DELAY, "the screen is calm")


async def undo_in_workbench(stage: Stage) -> None:
    await stage.wait_for(lambda: stage.main._changing.can_undo, "something to undo")
    await stage.press("u")


def index(root: Path) -> str:
    return (root / "MEMORY.md").read_text("utf-8")


async def test_the_kept_note_replaces_the_other(sample: Path) -> None:
    shorten_note(sample)
    before = snapshot(sample)
    async with workbench(sample) as stage:
        assert paths(bench(stage)) == (GAP, BUFFER)
        await resolve(stage, "2")
        assert not (sample / GAP).exists()
        assert GAP not in index(sample)
        assert any("conflict resolved for team/berth_buffer.md" in it for it in reasons(stage))
        await undo_in_workbench(stage)
        await stage.wait_for(lambda: (sample / GAP).exists(), "the undone retirement")
        assert snapshot(sample) == before
        await stage.wait_for(lambda: count(stage) == 4, "the conflict again")


def reasons(stage: Stage) -> list[str]:
    notebook = stage.main._notebook
    with notebook.database.connect() as connection:
        kept = History(connection)
        root = kept.find_root(notebook.place.root)
        assert root
        return [act.reason for act in kept.list_entries(root.id)]


def snapshot(root: Path) -> dict[str, bytes]:
    return {str(it.relative_to(root)): it.read_bytes() for it in root.rglob("*.md")}


async def test_links_are_redirected_to_the_kept_note(sample: Path) -> None:
    shorten_note(sample)
    other = sample / "user_ana.md"
    other.write_text(other.read_text("utf-8") + "\nThe gap: [[project-planner-gap]].\n", "utf-8")
    async with workbench(sample) as stage:
        await resolve(stage, "2")
    assert "[[team-berth-buffer]]" in other.read_text("utf-8")


async def test_only_the_claim_of_a_longer_note_is_replaced(tmp_path: Path) -> None:
    more = "".join(
        f"The harbour has lamp {word}.\n\n" for word in ["alpha", "beta", "gamma", "delta", "eta"]
    )
    files = {
        "MEMORY.md": "- [Web](web.md)\n- [Server](server.md)\n",
        "web.md": note_text("web", "The web view listens on port 8040.\n", "About the web view"),
        "server.md": note_text(
            "server", f"{more}The web view listens on port 8100.\n", "Lamps and servers"
        ),
    }
    root = build(tmp_path, files)
    async with staged(root) as stage:
        await open_workbench(stage)
        assert paths(bench(stage)) == ("server.md", "web.md")
        await resolve(stage, "2")
        text = (root / "server.md").read_text("utf-8")
        assert "listens on port 8040." in text
        assert "lamp alpha" in text
        assert "server.md" in index(root)
        await undo_in_workbench(stage)
        await stage.wait_for(lambda: "8100" in (root / "server.md").read_text("utf-8"))


async def test_both_are_true_with_a_scope_each(sample: Path) -> None:
    async with workbench(sample, at="reference_dev_server.md") as stage:
        before = snapshot(sample)
        await calm(stage)
        await stage.press("4")
        await stage.shows(FormScreen)
        await stage.press(*"since May", "tab", *"until April")
        await stage.confirm()
        await stage.shows(ProposalScreen)
        await stage.confirm()
        await stage.shows(ConflictsScreen)
        await stage.wait_for(lambda: count(stage) == 3, "the next conflict")
        server = (sample / "reference_dev_server.md").read_text("utf-8")
        assert "listens on port 8100 on every machine since May\n" in server
        port = (sample / "reference_web_view_port.md").read_text("utf-8")
        assert "listens on port 8040 until April." in port
        await undo_in_workbench(stage)
        await stage.wait_for(lambda: snapshot(sample) == before, "both as they were")


async def test_a_merge_is_edited_before_it_is_written(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = editor(tmp_path, 'sed -i "s/kept 30 minutes/kept thirty minutes/" "$1"')
    monkeypatch.setenv("VISUAL", program)
    async with workbench(sample) as stage:
        await resolve(stage, "3")
        merged = (sample / BUFFER).read_text("utf-8")
        assert "kept thirty minutes apart" in merged
        assert "The planner leaves 20 minutes" in merged
        assert not (sample / GAP).exists()


@pytest.mark.parametrize(
    ("edit", "warns"), [('echo >> "$1"', True), ('sed -i "/leaves 20 minutes/d" "$1"', False)]
)
async def test_a_merged_note_that_keeps_the_contradiction_is_warned_of(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edit: str, warns: bool
) -> None:
    monkeypatch.setenv("VISUAL", editor(tmp_path, edit))
    async with workbench(sample) as stage:
        await calm(stage)
        await stage.press("3")
        await stage.shows(ProposalScreen)
        words = text_of(stage.app.screen.query_one("#words", TextView))
        assert ("still says both “" in words) is warns
        assert ("20 minutes" in words) is warns


async def test_leaving_the_editor_without_saving_merges_nothing(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", editor(tmp_path, "true"))
    before = snapshot(sample)
    async with workbench(sample) as stage:
        await calm(stage)
        await stage.press("3")
        await stage.wait_for(lambda: "Not merged: the editor saved nothing." in stage.toasts)
        assert isinstance(stage.app.screen, ConflictsScreen)
        assert "The merged text is in" not in stage.toasts
    assert snapshot(sample) == before


async def test_what_an_agent_writes_during_a_merge_is_not_overwritten(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "The agent says: ask Tommaso."
    program = editor(tmp_path, f'echo "{line}" >> "{sample / BUFFER}"; echo "And I." >> "$1"')
    monkeypatch.setenv("VISUAL", program)
    async with workbench(sample) as stage:
        await calm(stage)
        await stage.press("3")
        await stage.shows(ProposalScreen)
        await stage.confirm()
        await stage.shows(EditConflictScreen)
        assert line in (sample / BUFFER).read_text("utf-8")
        assert (sample / GAP).exists()


async def test_a_pair_without_conflict_is_hidden_until_its_text_changes(sample: Path) -> None:
    async with workbench(sample) as stage:
        before = snapshot(sample)
        await resolve(stage, "0", "no files change")
        assert GAP not in paths(bench(stage))
        assert snapshot(sample) == before
    async with workbench(sample) as stage:
        assert count(stage) == 3
        note = sample / GAP
        note.write_text(note.read_text("utf-8").replace("20 minutes", "25 minutes"), "utf-8")
        await stage.wait_for(lambda: count(stage) == 4, "the conflict in other words")


async def test_a_longer_note_can_be_retired_instead(sample: Path) -> None:
    async with workbench(sample) as stage:
        await calm(stage)
        await stage.press("2")
        await stage.shows(ProposalScreen)
        await stage.paints("only its claim is replaced")
        await stage.press("d")
        await stage.paints("is retired, links to it now point to")
        await stage.press("d")
        await stage.paints("only its claim is replaced")
        await stage.press("d")
        await stage.paints("1 removed")
        await stage.confirm()
        await stage.shows(ConflictsScreen)
        await stage.wait_for(lambda: count(stage) == 3, "the next conflict")
        assert not (sample / GAP).exists()


@pytest.mark.parametrize("key", ["0", "2"])
async def test_undo_goes_to_the_conflict_that_it_restores(sample: Path, key: str) -> None:
    async with workbench(sample) as stage:
        settled = bench(stage).conflict
        await resolve(stage, key)
        for _ in range(count(stage)):
            await stage.press("]")
        assert bench(stage).conflict != settled
        await undo_in_workbench(stage)
        await stage.wait_for(lambda: paths(bench(stage)) == (GAP, BUFFER), "the same conflict")
        assert count(stage) == 4


async def test_the_origin_of_the_side_with_the_focus_is_shown(sample: Path) -> None:
    async with workbench(sample) as stage:
        await stage.press("O")
        assert "No transcript" in stage.toasts
        await stage.press("tab", "O")
        await stage.shows(OriginScreen)
        await stage.paints("linesmen need that")
        await stage.press("O")
        await stage.shows(ConflictsScreen)


async def test_esc_writes_nothing(sample: Path) -> None:
    async with workbench(sample) as stage:
        before = snapshot(sample)
        await calm(stage)
        await stage.press("1")
        await stage.shows(ProposalScreen)
        await stage.press("escape")
        await stage.shows(ConflictsScreen)
        assert count(stage) == 4
        await calm(stage)
        await stage.press("0")
        await stage.shows(ProposalScreen)
        await stage.press("escape")
        await stage.shows(ConflictsScreen)
        assert count(stage) == 4
        assert snapshot(sample) == before
        await stage.press("escape")
        await stage.shows(MainScreen)


async def test_early_and_pasted_keys_resolve_nothing(sample: Path) -> None:
    async with workbench(sample) as stage:
        await stage.press("escape")
        await stage.type_ahead("x", "0", "1")
        await stage.shows(ConflictsScreen)
        await stage.paste("1\x130")
        assert count(stage) == 4
        assert isinstance(stage.app.screen, ConflictsScreen)


async def test_the_bottom_line_counts_the_conflicts(sample: Path) -> None:
    async with workbench(sample) as stage:
        await stage.press("escape")
        await stage.shows(MainScreen)
        assert "x conflicts 4" in " ".join(stage.bottom.split())


async def test_without_conflicts_the_screen_explains_itself(tmp_path: Path) -> None:
    async with staged(build(tmp_path)) as stage:
        await open_workbench(stage)
        await stage.paints("No two notes contradict or repeat each other")
        assert "conflicts" in stage.bottom
        await calm(stage)
        await stage.press("1")
        assert "There are no conflicts" in stage.toasts


async def test_both_notes_show_their_claims_dates_and_origins(sample: Path) -> None:
    async with workbench(sample, at="feedback_real_database.md") as stage:
        screen = stage.painted()
        for text in ("feedback_real_database.md", "6 Oct 2026", "the agent's own", "linked"):
            assert text in screen
        assert "keep left: you said it" in " ".join(screen.split())
        marked = [
            span.text
            for line in bench(stage)._texts[Keep.LEFT]._lines
            for span in line.spans
            if span.style == "match"
        ]
        assert "real SQLite file" in " ".join(marked)


async def test_a_closed_workbench_can_be_updated(sample: Path) -> None:
    async with workbench(sample) as stage:
        screen = bench(stage)
        await stage.press("escape")
        await stage.shows(MainScreen)
        screen.show_unresolved(Unresolved((), 0, ()), is_compared=True)
        assert screen.conflict is None


QUAY = (
    "All heights in the tables are given in metres above chart datum. The tables of the east quay "
    "and of the west quay are rounded to one decimal place, and their times are always UTC.\n"
)


async def test_duplicates_are_listed_and_resolved_pair_by_pair(tmp_path: Path) -> None:
    names = ("heights", "datum", "tables")
    files: dict[str, str | bytes] = {f"{it}.md": note_text(it, QUAY, f"On {it}") for it in names}
    index = "".join(f"- [{it}]({it}.md) — on {it}\n" for it in names)
    root = build(tmp_path, {"MEMORY.md": index, **files})
    async with staged(root) as stage:
        await open_workbench(stage)
        await stage.paints("Duplicate: 1 of 1 · nearly the same text, and 1 more note")
        assert paths(bench(stage)) == ("datum.md", "heights.md")
        await calm(stage)
        await stage.press("1")
        await stage.shows(ProposalScreen)
        await stage.confirm()
        await stage.shows(ConflictsScreen)
        await stage.wait_for(
            lambda: paths(bench(stage)) == ("datum.md", "tables.md"), "the rest of the group"
        )
        assert not (root / "heights.md").exists()
        await calm(stage)
        await stage.press("0")
        await stage.shows(ProposalScreen)
        await stage.paints("no files change")
        await stage.confirm()
        await stage.shows(ConflictsScreen)
        await stage.paints("No two notes contradict or repeat each other")
    assert (root / "tables.md").exists()
