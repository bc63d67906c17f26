"""Curation on the screen: from the key c to written and undone proposals, and cancelling."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from shutil import copytree

import pytest

from ricordo.curation.engine import CurationProgress, Step
from ricordo.curation.proposal import ProposedChange
from ricordo.errors import RateLimited
from ricordo.memory.change import Create, Replace, Retire, Rewrite
from ricordo.services.curation import curation as curate
from ricordo.services.curation.pending import load_curation_state
from ricordo.services.curation.preparation import CurationScope
from ricordo.services.workspace.notebook import Notebook
from ricordo.tui.curation import scope_screen
from ricordo.tui.curation import screen as curation
from ricordo.tui.curation.scope_screen import ScopeScreen
from ricordo.tui.curation.screen import CurationScreen
from ricordo.tui.dialogs.change_set import ProposalScreen
from ricordo.tui.dialogs.edit_conflict import EditConflictScreen
from ricordo.tui.dialogs.form import ConfirmScreen
from ricordo.tui.dialogs.origin import OriginScreen
from ricordo.tui.main.screen import MainScreen
from ricordo.tui.review.screen import ReviewScreen
from tests.support.builders import note_text
from tests.support.curating import user_lines
from tests.support.proposing import created, let_wait, wish
from tests.tui.stage import SMALL, Stage, build, editor, staged, text_of
from tests.tui.test_conflicts import SAMPLE
from tests.tui.test_inbox import notebook_of

RULE = "From now on write commands with uv run, not with pip."
TIDES, CACHE, UNITS = "project_tides.md", "project_cache.md", "feedback_units.md"
LOCKS = "project_locks.md"
CREATE = Create(LOCKS, created())
MOVED = Replace(TIDES, "from the institute", "from the institute of the navy")
LOST = Replace(TIDES, "The port is Sines.", "The port is where it is.")
ROWED = Replace(CACHE, "Line 2 ", "Line, Row 2 ")
EMPTY = Rewrite(UNITS, note_text("feedback-units", "", "Which units to use", "feedback"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return build(tmp_path)


@asynccontextmanager
async def review(root: Path, *wishes: object) -> AsyncIterator[tuple[Stage, CurationScreen]]:
    """Open the review once `wishes` are pending."""
    heard = {f"{root.parent}/talk.jsonl#p1": RULE}
    let_wait(notebook_of(root), *wishes, heard=heard)  # type: ignore[arg-type]
    async with staged(root, known=False) as stage:
        await stage.wait_for(lambda: stage.main.action_context.pending == len(wishes), "the number")
        assert f"c curate {len(wishes)}" in stage.bottom
        assert f"{len(wishes)} proposed" in stage.top
        await stage.press("c")
        yield stage, await reviewing(stage)


async def reviewing(stage: Stage) -> CurationScreen:
    await stage.shows(CurationScreen)
    screen = stage.app.screen
    assert isinstance(screen, CurationScreen)
    await stage.wait_for(lambda: screen.is_loaded, "pending proposals")
    await stage.calm()
    return screen


def rows(screen: CurationScreen) -> list[str]:
    return [" ".join(row.split()) for row in text_of(screen._list).split("\n")]


def states(screen: CurationScreen) -> dict[str, str]:
    """Return the glyphs before the proposals, by what they are about."""
    found = (row.split() for row in rows(screen)[::2])
    return {f"{op} {path}": glyph for glyph, op, path, *_ in found}


def files(root: Path) -> Mapping[str, str]:
    return {str(it.relative_to(root)): it.read_text() for it in sorted(root.rglob("*.md"))}


def waiting(root: Path) -> list[str]:
    notebook: Notebook = notebook_of(root)
    return [it.op for it in load_curation_state(notebook.environment.state, str(root)).pending]


def change(root: Path, path: str, old: str, new: str) -> None:
    """Write as somebody else does."""
    (root / path).write_text((root / path).read_text().replace(old, new))


def quoted(root: Path) -> ProposedChange:
    """Return a wish whose words stand in a transcript."""
    talk = root.parent / "talk.jsonl"
    talk.write_text(user_lines("Fix the test.", RULE))
    return wish(Create("feedback_uv.md", created("uv")), quote=RULE, source=f"{talk}#p1")


async def written(stage: Stage, screen: CurationScreen) -> None:
    await stage.press("ctrl+s")
    await stage.wait_for(lambda: screen._decisions.written, "it written")
    await stage.wait_for(lambda: not screen._one_at_a_time.locked(), "it shown")
    await stage.settle()


# From pending to written


async def test_each_proposal_is_decided_with_a_key_and_only_accepted_ones_are_written(
    root: Path,
) -> None:
    before = files(root)
    text = SMALL[CACHE].replace("Line 1 ", "Line, Row 1 ").replace("Line 9 ", "Line, Row 9 ")
    wishes = (CREATE, LOST, Retire(UNITS, TIDES), Rewrite(CACHE, text))
    async with review(root, *wishes) as (stage, screen):
        assert list(states(screen).values()) == ["·", "!", "!", "·"]
        await stage.press("d", "a", "l", "d")
        assert list(states(screen).values()) == ["✗", "✓", "!", "✗"]
        await stage.press("a", "k", "a")
        assert list(states(screen).values()) == ["✗", "✓", "✓", "✓"]
        # hunks: of a note they can be left out, of what follows from a change they cannot
        await stage.press("space", "down", "space")
        assert "yes, in part" in rows(screen)[6]
        assert text_of(screen._diff).count("⋯ left out") == 1
        await stage.press("escape", "k", "space", "space")
        assert "belongs to the whole change" in stage.toasts
        assert files(root) == before
        await written(stage, screen)
        after = files(root)
        assert "where it is" in after[TIDES]
        assert UNITS not in after
        assert ("Row 1 " in after[CACHE]) + ("Row 9 " in after[CACHE]) == 1
        assert LOCKS not in after
        await stage.press("escape")
        await stage.shows(MainScreen)
        await stage.wait_for(lambda: waiting(root) == [], "what was refused kept away")
        await stage.wait_for(lambda: not stage.main.action_context.pending, "the number")
        # on the main screen too, undo brings back what was refused, and then what was written
        await stage.wait_for(lambda: stage.main._changing.can_undo, "something to undo")
        for pending in (["create"], ["create", "replace", "retire", "rewrite"]):
            await stage.press("u")
            await stage.wait_for(lambda now=pending: waiting(root) == now, "them pending again")
            number = len(pending)
            await stage.wait_for(
                lambda now=number: stage.main.action_context.pending == now, "the number"
            )
        assert files(root) == before
        for pending in (["create"], []):
            await stage.wait_for(lambda: stage.main._changing.can_redo, "something to redo")
            await stage.press("U")
            await stage.wait_for(lambda now=pending: waiting(root) == now, "them decided again")
        assert files(root) == after


async def test_without_accepted_proposals_nothing_is_written(root: Path) -> None:
    before = files(root)
    async with review(root, CREATE, MOVED, Retire(UNITS, TIDES)) as (stage, screen):
        assert not screen._accepted
        await stage.press("ctrl+s")
        await stage.calm()
        assert isinstance(stage.app.screen, CurationScreen)
        assert "No proposal is accepted; press a to accept one." in stage.toasts
        assert files(root) == before
        await stage.press("escape")
        await stage.shows(MainScreen)
    assert waiting(root) == ["create", "replace", "retire"]


async def test_all_accepts_proposals_without_warning_that_were_read_to_their_end(
    root: Path,
) -> None:
    long = Create(LOCKS, created(body="The locks are old.\n" * 200))
    async with review(root, MOVED, long, ROWED, Retire(UNITS, TIDES)) as (stage, screen):
        # only the first one was on the screen
        await stage.press("A")
        assert list(states(screen).values()) == ["✓", "·", "·", "!"]
        await stage.press("A")
        assert "without a warning was scrolled to its end" in stage.toasts
        await stage.press("j", "j", "j")
        await stage.calm()
        await stage.press("A")
        assert list(states(screen).values()) == ["✓", "·", "✓", "!"]
        await stage.press("g", "j", "2", "G")
        await stage.calm()
        await stage.press("A")
        assert list(states(screen).values()) == ["✓", "✓", "✓", "!"]


async def test_decisions_outlast_the_screen_and_one_key_undoes_all(root: Path) -> None:
    before = files(root)
    async with review(root, CREATE, LOST, quoted(root)) as (stage, screen):
        await stage.press("G", "O")
        await stage.shows(OriginScreen)
        await stage.paints("You said it")
        await stage.paints(RULE)
        await stage.press("escape")
        await stage.shows(CurationScreen)
        await stage.press("g", "O")
        await stage.shows(OriginScreen)
        await stage.paints("No transcript has the quoted messages.")
        await stage.press("escape")
        await stage.shows(CurationScreen)
        await stage.press("a", "a", "a", "escape")
        await stage.shows(MainScreen)
        assert "3 accepted, not written" in stage.toasts
        assert files(root) == before
        assert waiting(root) == ["create", "replace", "create"]
        await stage.press("c")
        screen = await reviewing(stage)
        assert list(states(screen).values()) == ["✓", "✓", "✓"]
        await written(stage, screen)
        assert waiting(root) == []
        assert "written · u undoes" in text_of(screen._list)
        await stage.wait_for(lambda: stage.main._changing.can_undo, "something to undo")
        await stage.press("u")
        await stage.wait_for(lambda: waiting(root) == ["create", "replace", "create"], "it waits")
        await stage.wait_for(lambda: not screen._decisions.written, "all as before")
        # accepted they were before: now they are as undecided as after a restart
        assert list(states(screen).values()) == ["·", "!", "·"]
        # redone they are pending no longer, and can be undone once more
        await stage.wait_for(lambda: stage.main._changing.can_redo, "something to do again")
        await stage.press("U")
        await stage.wait_for(lambda: len(screen._decisions.written) == 3, "it written again")
        await stage.wait_for(lambda: waiting(root) == [], "nothing waiting")
        await stage.wait_for(lambda: stage.main._changing.can_undo, "something to undo")
        await stage.press("u")
        await stage.wait_for(lambda: waiting(root) == ["create", "replace", "create"], "it waits")
        await stage.wait_for(lambda: not screen._decisions.written, "all as before")
        assert files(root) == before


async def test_a_proposal_is_edited_before_it_is_accepted(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = 'grep -q red "$1" && printf "\\000" >> "$1" || echo "They are red." >> "$1"'
    monkeypatch.setenv("VISUAL", editor(tmp_path, script))
    async with review(root, CREATE, MOVED) as (stage, screen):
        await stage.press("e")
        await stage.wait_for(lambda: "Your edited text" in stage.toasts)
        await stage.paints("edited by you")
        await stage.paints("They are red.")
        assert list(states(screen)) == ["create project_locks", "replace project_tides"]
        # what the checks refuse is not taken, and not lost
        await stage.press("e")
        await stage.wait_for(lambda: "Your text is kept in" in stage.toasts)
        assert list(states(screen).values()) == ["·", "·"]
        await stage.press("a")
        await written(stage, screen)
        assert files(root)[LOCKS] == created() + "They are red.\n"


async def test_a_proposal_that_empties_a_note_needs_a_typed_word(root: Path) -> None:
    before = files(root)
    async with review(root, EMPTY) as (stage, screen):
        await stage.press("a", "ctrl+s")
        await stage.shows(ConfirmScreen)
        await stage.paints("it empties the note")
        await stage.press("escape")
        await stage.shows(CurationScreen)
        assert files(root) == before
        await stage.press("ctrl+s")
        await stage.shows(ConfirmScreen)
        await stage.press(*"yes")
        await stage.confirm()
        await stage.wait_for(lambda: "to confirm, or press Esc" in stage.toasts)
        assert files(root) == before
        await stage.press(*["backspace"] * 3, *"apply", "ctrl+s")
        await stage.wait_for(lambda: screen._decisions.written, "it written")
        assert "Metres" not in files(root)[UNITS]


async def test_early_and_pasted_keys_write_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ricordo.tui.base.action_screen.KEY_DELAY", 3600.0)
    before = files(root)
    async with review(root, CREATE, MOVED) as (stage, _):
        await stage.press("A", "ctrl+s")
        await stage.paste("A\x13\n")
        assert isinstance(stage.app.screen, CurationScreen)
        assert files(root) == before
    assert waiting(root) == ["create", "replace"]


async def test_a_long_text_is_compared_in_a_thread(root: Path) -> None:
    (root / UNITS).write_text(SMALL[UNITS] + "A line of many about the harbour.\n" * 3_000)
    async with review(root, CREATE, Retire(UNITS, TIDES)) as (stage, screen):
        await stage.press("j")
        assert "a long text is being compared" in text_of(screen._diff) or screen._diff.is_drawn
        await stage.press("k", "j")
        await stage.wait_for(lambda: screen._diff.line_count > 3_000, "all of it")
        await stage.press("2", "G")
        await stage.paints("many about the harbour")
        await stage.press("a")
        await written(stage, screen)
        assert UNITS not in files(root)


async def test_a_note_that_was_confirmed_a_minute_ago_is_not_proposed_for_retirement(
    root: Path,
) -> None:
    def dated(name: str, body: str, day: str) -> str:
        return note_text(name, body).replace("  type:", f"  modified: {day}\n  type:")

    (root / "project_old.md").write_text(dated("old-plan", "Weekly to Sines.\n", "2025-01-01"))
    new = dated("new-plan", "This replaces [[old-plan]]: daily.\n", "2026-10-01")
    (root / "project_new.md").write_text(new)
    async with staged(root) as stage:
        await stage.press("R")
        await stage.shows(ReviewScreen)
        await stage.paints("old-plan")
        screen = stage.app.screen
        assert isinstance(screen, ReviewScreen)
        for _ in range(20):
            await stage.calm()
            if screen.item is None or screen.item.note.path == "project_old.md":
                break
            await stage.press("down")
        assert screen.item is not None
        await stage.press("a")
        await stage.wait_for(lambda: notebook_of(root).verdicts.find_active(), "it judged")
        await stage.press("escape")
        await stage.shows(MainScreen)
        await stage.press("c")
        await scope(stage)
        await stage.press("enter")
        await stage.wait_for(lambda: not isinstance(stage.app.screen, ScopeScreen), "an answer")
        await stage.calm()
    assert "retire" not in waiting(root)


# Approval binds what was shown


async def test_concurrent_changes_are_never_overwritten(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = curation.plan_shown
    theirs: list[tuple[str, str, str]] = []

    def write_between(*given: object) -> curate.ApplyPlan:
        made = planned(*given)  # type: ignore[arg-type]
        for path, old, new in theirs:
            change(root, path, old, new)
        theirs.clear()
        return made

    monkeypatch.setattr(curation, "plan_shown", write_between)
    async with review(root, MOVED, ROWED, CREATE, EMPTY) as (stage, screen):
        await stage.press("a", "a", "a", "l", "g")
        # others write the same lines at the last moment
        theirs.append((TIDES, "from the institute", "from Rui"))
        await stage.press("ctrl+s")
        await stage.shows(EditConflictScreen)
        await stage.press("escape")
        await stage.shows(CurationScreen)
        # it is shown that this longer applies
        await stage.wait_for(lambda: states(screen)["replace project_tides"] == "⊘", "it marked")
        await stage.press("g", "a")
        assert "longer applies" in stage.toasts
        # others write other lines at the last moment: it is seen merged first
        theirs.append((CACHE, "Line 30 ", "Row 30 "))
        await stage.press("ctrl+s")
        await stage.shows(ProposalScreen)
        assert "Row 2 " not in files(root)[CACHE]
        await stage.confirm()
        await stage.wait_for(lambda: screen._decisions.written, "it written")
        assert "from Rui" in files(root)[TIDES]
        assert "Row 2 " in files(root)[CACHE]
        assert "Row 30 " in files(root)[CACHE]
        assert LOCKS in files(root)
        await stage.wait_for(lambda: waiting(root) == ["replace", "rewrite"], "the rest waiting")


async def test_a_note_that_changes_between_the_diff_and_the_key_is_not_written(root: Path) -> None:
    async with review(root, CREATE, MOVED) as (stage, screen):
        screen.update_snapshot = lambda look: None  # type: ignore[method-assign]
        await stage.press("a", "a")
        change(root, TIDES, "Sines", "Lagos")
        await written(stage, screen)
        assert "Not written: replace project_tides.md" in stage.toasts
        assert "from the institute" in files(root)[TIDES]
        assert LOCKS in files(root)


# Out of it at every point


async def test_escape_cancels_the_job_and_changes_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[str] = []

    def never_ends(*given: object) -> None:
        step: Step = next(it for it in given if getattr(it, "__name__", "") == "step")  # type: ignore[assignment]
        try:
            while True:
                step(CurationProgress("thinking hard"))
                time.sleep(0.005)
        finally:
            ended.append("")

    def refuses(*given: object) -> None:
        raise RateLimited("This memory was curated five times today.")

    before = files(root)
    async with staged(root, known=False) as stage:
        with monkeypatch.context() as patched:
            patched.setattr(scope_screen, "preview_curation", never_ends)
            await stage.press("c")
            await stage.shows(ScopeScreen)
            await stage.paints("thinking hard …")
            await stage.press("enter")
            assert "The brief is still being made." in stage.toasts
            await stage.press("escape")
            await stage.shows(MainScreen)
            await stage.wait_for(lambda: len(ended) == 1, "the thread ended")
        with monkeypatch.context() as patched:
            patched.setattr(curate, "propose_prepared", never_ends)
            await stage.press("c")
            screen = await scope(stage)
            await stage.press("enter")
            await stage.paints("thinking hard …")
            await stage.press("escape")
            await stage.wait_for(lambda: len(ended) == 2, "the thread ended")
            assert "Cancelled. Nothing was changed." in stage.toasts
            assert stage.app.screen is screen
        # an engine may refuse, which is shown
        monkeypatch.setattr(curate, "propose_prepared", refuses)
        await scope(stage)
        await stage.press("enter")
        await stage.paints("✗ This memory was curated five times today. Nothing was changed.")
        assert stage.app.screen is screen
        await stage.press("escape")
        await stage.shows(MainScreen)
    assert files(root) == before
    assert waiting(root) == []


async def scope(stage: Stage) -> ScopeScreen:
    await stage.shows(ScopeScreen)
    screen = stage.app.screen
    assert isinstance(screen, ScopeScreen)
    await stage.wait_for(lambda: screen.preview, "the brief")
    return screen


def scoped(screen: ScopeScreen) -> CurationScope:
    return screen.preview.prepared.scope if screen.preview else CurationScope()


# The whole way, on the sample memory


async def test_the_sample_memory_is_curated_and_all_changes_are_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RICORDO_AGENT_HOME", str(tmp_path / "sample" / "home"))
    copytree(SAMPLE, tmp_path / "sample")
    root = tmp_path / "sample" / "memory"
    before = {it: it.read_bytes() for it in root.rglob("*.md")}
    async with staged(root) as stage:
        await stage.press("c")
        screen = await scope(stage)
        assert "rules · offline · cost $0.00" in stage.painted()
        assert "of 60,000 tokens" in stage.painted()
        assert "last session" in stage.painted()
        await stage.press("down")
        await stage.wait_for(lambda: scoped(screen).note, "that scope")
        await stage.press("1")
        await scope(stage)
        await stage.wait_for(lambda: screen.preview and not scoped(screen).note)
        await stage.press("enter")
        shown = await reviewing(stage)
        assert not shown._accepted
        assert len(shown._proposals) > 15
        assert {it: it.read_bytes() for it in root.rglob("*.md")} == before
        for it in shown._proposals:
            await stage.press("j" if it.proposal.all_warnings else "a")
        accepted = [it.proposal.id for it in shown._accepted]
        assert accepted == [
            it.proposal.id for it in shown._proposals if not it.proposal.all_warnings
        ]
        new = [root / it.proposal.path for it in shown._accepted if it.proposal.op == "create"]
        await stage.press("ctrl+s")
        await stage.wait_for(lambda: shown._decisions.written, "it written")
        assert new
        assert all(it.exists() for it in new)
        await stage.wait_for(lambda: stage.main._changing.can_undo, "something to undo")
        await stage.press("u")
        await stage.wait_for(lambda: not shown._decisions.written, "the undo")
        assert {it: it.read_bytes() for it in root.rglob("*.md")} == before
