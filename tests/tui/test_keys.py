"""Every action of the registry, by its key, on the screen."""

from __future__ import annotations

import asyncio
import importlib
import pkgutil
import re
import string
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from textual.app import App
from textual.binding import Binding
from textual.command import CommandInput, CommandList, CommandPalette
from textual.keys import _character_to_key
from textual.widget import Widget

import ricordo.tui
from ricordo.agents.claude.folder import make_slug
from ricordo.services.conflicts.conflicts import Keep
from ricordo.settings.keymap import NO_KEY, find_conflicts
from ricordo.settings.settings import find_settings_file
from ricordo.tui.actions.bindings import check_handlers, dialog_bindings
from ricordo.tui.actions.dialogs import DIALOG_ACTIONS, DIALOG_KEYS, Dialog
from ricordo.tui.actions.registry import (
    ACTIONS,
    BY_ID,
    find_actions,
    find_offered_actions,
    format_action_keys,
    format_keys,
    list_known_actions,
)
from ricordo.tui.base.action_screen import KEY_DELAY
from ricordo.tui.command_palette import SYNONYMS
from ricordo.tui.conflicts.screen import ConflictsScreen
from ricordo.tui.connect.screen import ConnectScreen
from ricordo.tui.context import Pane, ScreenId
from ricordo.tui.curation.redaction_screen import RedactionScreen
from ricordo.tui.curation.scope_screen import ScopeScreen
from ricordo.tui.curation.screen import CurationScreen
from ricordo.tui.dialogs.ask_screen import QuestionScreen
from ricordo.tui.dialogs.change_set import ProposalScreen
from ricordo.tui.dialogs.choose import ChooseScreen
from ricordo.tui.dialogs.form import FormScreen
from ricordo.tui.dialogs.ledger import LedgerScreen
from ricordo.tui.dialogs.memories import MemoriesScreen, NoMemoryScreen
from ricordo.tui.dialogs.origin import OriginScreen
from ricordo.tui.dialogs.pick_note import PickNoteScreen
from ricordo.tui.dialogs.text_page import HelpScreen, LoadScreen, TextScreen
from ricordo.tui.doctor.screen import DoctorScreen
from ricordo.tui.finder.screen import FinderScreen
from ricordo.tui.handoff.engine_screen import EngineScreen
from ricordo.tui.handoff.screen import HandoffScreen
from ricordo.tui.history.screen import HistoryScreen
from ricordo.tui.inbox.screen import InboxScreen
from ricordo.tui.main.note_moves import MoveScreen
from ricordo.tui.main.screen import MainScreen
from ricordo.tui.render.index_rows import IndexOrder
from ricordo.tui.review.screen import ReviewScreen
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.find_bar import FindBar
from ricordo.tui.widgets.text_view import TextView
from tests.support.asking import MOVED, proposing
from tests.support.builders import note_text
from tests.support.messages_replies import counted
from tests.support.messages_server import messages_server, without_credentials
from tests.tui import handing
from tests.tui.stage import SMALL, Stage, build, editor, on_text, staged, text_of
from tests.tui.test_origin import with_transcript
from tests.unit.machine import git

LOST = {**MOVED, "note": "n99"}
"""A change of a note that is not there."""
Scenario = Callable[[Stage], Awaitable[None]]
SCENARIOS: dict[str, Scenario] = {}

INDEX = "MEMORY.md"
ANA, TIDES, CACHE, UNITS = (
    "user_ana.md",
    "project_tides.md",
    "project_cache.md",
    "feedback_units.md",
)


def shows(*actions: str) -> Callable[[Scenario], Scenario]:
    """Register what shows that actions do what they say."""

    def register(scenario: Scenario) -> Scenario:
        SCENARIOS.update(dict.fromkeys(actions, scenario))
        return scenario

    return register


@pytest.fixture
async def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stage]:
    monkeypatch.setenv("VISUAL", editor(tmp_path, 'echo "She rows too." >> "$1"'))
    async with staged(build(tmp_path)) as opened:
        yield opened


def test_no_two_actions_of_one_pane_share_a_key() -> None:
    assert list(find_conflicts(list_known_actions(), {})) == []


def test_an_action_without_a_handler_is_refused() -> None:
    handlers = {action.id: lambda: None for action in find_actions(ScreenId.MEMORIES)}
    check_handlers(ScreenId.MEMORIES, handlers)
    del handlers["open"]
    with pytest.raises(ValueError, match="screen memories: no handler for open"):
        check_handlers(ScreenId.MEMORIES, handlers)


def test_a_handler_of_an_unknown_action_is_refused() -> None:
    handlers = {action.id: lambda: None for action in find_actions(ScreenId.MEMORIES)}
    with pytest.raises(ValueError, match="screen memories: no such action: undo"):
        check_handlers(ScreenId.MEMORIES, {**handlers, "undo": lambda: None})


# Moving


@shows("cursor-down", "cursor-up")
async def _(stage: Stage) -> None:
    assert stage.here == ANA
    await stage.press("j")
    await stage.wait_for(lambda: stage.here == TIDES)
    await stage.press("down")
    await stage.wait_for(lambda: stage.here == CACHE)
    await stage.press("k", "up")
    await stage.wait_for(lambda: stage.here == ANA)
    await stage.go_to(CACHE)
    await stage.press("2", "j", "j", "k")
    await stage.wait_for(lambda: stage.panes.note.scroll_offset.y == 1)


@shows("page-down", "page-up")
async def _(stage: Stage) -> None:
    await stage.go_to(CACHE)
    await stage.press("2", "pagedown")
    height = stage.panes.note.scrollable_content_region.height
    await stage.wait_for(lambda: stage.panes.note.scroll_offset.y == height - 2)
    await stage.press("pageup")
    await stage.wait_for(lambda: stage.panes.note.scroll_offset.y == 0)
    await stage.press("1", "pagedown")
    await stage.wait_for(lambda: stage.here == "MEMORY.md")


@shows("first", "last")
async def _(stage: Stage) -> None:
    await stage.press("G")
    await stage.wait_for(lambda: stage.here == "MEMORY.md")
    await stage.press("g")
    await stage.wait_for(lambda: stage.here == ANA)
    await stage.go_to(CACHE)
    # what the note reminds of is added below its end
    await stage.think()
    await stage.press("2", "end")
    await stage.wait_for(lambda: stage.panes.note.is_vertical_scroll_end)
    await stage.press("home")
    await stage.wait_for(lambda: stage.panes.note.scroll_offset.y == 0)


@shows("next", "previous")
async def _(stage: Stage) -> None:
    await stage.press("right")
    assert stage.panes.active is Pane.NOTE
    chosen = []
    for key in ("right", "right", "right", "left"):
        await stage.press(key)
        target = stage.panes.note.chosen_link
        assert target is not None
        chosen.append(target.path)
    assert chosen == [TIDES, CACHE, "gone.md", CACHE]
    await stage.press("3", "right")
    assert "other notes" not in stage.freshness_text
    await stage.press("left")
    assert "other notes" in stage.freshness_text


@shows("open")
async def _(stage: Stage) -> None:
    await stage.press("enter")
    assert stage.panes.active is Pane.NOTE
    await stage.press("right", "enter")
    await stage.wait_for(lambda: stage.here == TIDES, "the wikilink followed")
    assert stage.panes.index.row is not None
    assert stage.panes.index.row.path == TIDES
    await stage.press("3", "right", "enter")
    await stage.wait_for(lambda: stage.here == "MEMORY.md", "the place of the finding")
    assert stage.panes.active is Pane.NOTE


@shows("leave")
async def _(stage: Stage) -> None:
    await stage.press("slash", *"port", "enter")
    await stage.wait_for(lambda: stage.panes.index.line_count <= 2)
    await stage.press("3", "escape")
    assert stage.panes.active is Pane.INDEX
    await stage.press("escape")
    await stage.wait_for(lambda: stage.panes.index.line_count > 4)


@shows("next-pane", "previous-pane")
async def _(stage: Stage) -> None:
    walked = []
    for key in ("tab", "tab", "tab", "shift+tab", "shift+tab"):
        await stage.press(key)
        walked.append(stage.panes.active)
    i, n, f = Pane
    assert walked == [n, f, i, f, n]


@shows("index", "note", "freshness")
async def _(stage: Stage) -> None:
    for key, pane in zip(
        "3213", (Pane.FRESHNESS, Pane.NOTE, Pane.INDEX, Pane.FRESHNESS), strict=True
    ):
        await stage.press(key)
        assert stage.panes.active is pane
        assert stage.panes.focused_list.has_focus


@shows("back", "forward")
async def _(stage: Stage) -> None:
    await stage.press("2", "right", "enter")
    await stage.wait_for(lambda: stage.here == TIDES)
    await stage.press("left_square_bracket")
    await stage.wait_for(lambda: stage.here == ANA)
    assert stage.panes.index.row is not None
    assert stage.panes.index.row.path == ANA
    await stage.press("right_square_bracket")
    await stage.wait_for(lambda: stage.here == TIDES)


@shows("zoom")
async def _(stage: Stage) -> None:
    await stage.press("2", "z")
    assert stage.panes.visible_panes == (Pane.NOTE,)
    await stage.wait_for(lambda: stage.panes.note.size.width > 100)
    await stage.press("tab")
    assert stage.panes.visible_panes == (Pane.FRESHNESS,)
    await stage.press("z")
    assert stage.panes.visible_panes == tuple(Pane)


@shows("wider", "narrower")
async def _(stage: Stage) -> None:
    before = stage.panes.index.size.width
    await stage.press("greater_than_sign", "greater_than_sign")
    await stage.wait_for(lambda: stage.panes.index.size.width > before)
    await stage.press("less_than_sign", "less_than_sign")
    await stage.wait_for(lambda: stage.panes.index.size.width == before)


# Seeing


@shows("find")
async def _(stage: Stage) -> None:
    await stage.press("slash", *"tide port")
    await stage.wait_for(lambda: stage.here == TIDES, "the only note that fits")
    assert "Who Ana is" not in stage.index_text
    await stage.press("escape")
    await stage.wait_for(lambda: "Who Ana is" in stage.index_text)
    assert not stage.main.query_one(FindBar).is_open


@shows("next-match", "previous-match")
async def _(stage: Stage) -> None:
    await stage.go_to(CACHE)
    await stage.press("2", "slash", *"LINE 1", "enter")
    assert title(stage, Pane.NOTE) == "project-cache · /LINE 1 1 of 11"
    await stage.press("n", "n")
    assert title(stage, Pane.NOTE) == "project-cache · /LINE 1 3 of 11"
    await stage.press("N")
    assert title(stage, Pane.NOTE) == "project-cache · /LINE 1 2 of 11"
    await stage.press("N", "N")
    assert title(stage, Pane.NOTE) == "project-cache · /LINE 1 11 of 11"
    await stage.press("escape")
    assert title(stage, Pane.NOTE) == "project-cache"


@shows("finder")
async def _(stage: Stage) -> None:
    await stage.press("ctrl+f")
    await stage.shows(FinderScreen)
    await stage.press(*"metr")
    await stage.wait_for(lambda: stage.app.screen.is_settled)  # type: ignore[attr-defined]
    await stage.paints("feedback-units")
    await stage.press("enter")
    await stage.wait_for(lambda: stage.here == UNITS)


@shows("settings")
async def _(stage: Stage) -> None:
    await stage.press(",")
    await stage.wait_for(lambda: "apply from the next start" in stage.toasts)
    text = Path(find_settings_file(stage.main._notebook.environment.config)).read_text()
    assert "theme" in text
    assert text.endswith("She rows too.\n"), "the editor had it"


@shows("conventions")
async def _(stage: Stage) -> None:
    stage.main.action_do("conventions")
    await stage.shows(TextScreen)
    await stage.paints("the title of a note")
    await stage.paints("ricordo config conventions --set")


@shows("reveal")
async def _(stage: Stage) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    (Path(stage.main.root) / UNITS).write_text(f"Metres, with {token}.\n")
    await stage.go_to(UNITS)
    await stage.wait_for(lambda: "1 secret is masked" in stage.note_text)
    assert token not in stage.note_text
    await stage.press("2", "*")
    assert token in stage.note_text
    await stage.press("*")
    assert token not in stage.note_text


@shows("source")
async def _(stage: Stage) -> None:
    assert "name: user-ana" not in stage.note_text
    await stage.press("s")
    assert "   2 name: user-ana" in stage.note_text
    assert "[[project_tides]]" in stage.note_text
    await stage.press("s")
    assert "[[project_tides]]" not in stage.note_text


@shows("type")
async def _(stage: Stage) -> None:
    shown = []
    for _ in range(4):
        await stage.press("t")
        shown.append(title(stage, Pane.INDEX))
    assert shown == ["Index · feedback", "Index · project", "Index · user", "Index"]


@shows("order")
async def _(stage: Stage) -> None:
    shown = []
    for _ in range(4):
        await stage.press("o")
        shown.append(title(stage, Pane.INDEX))
        if shown[-1] == "Index by type":
            assert stage.here == ANA, "the note stays open"
        elif shown[-1] != "Index":
            listed = (row.path for row in stage.panes.index.rows if row.is_selectable)
            assert stage.here == next(listed), "the worst and the newest are looked at first"
    assert shown == ["Index by type", "Index by worst", "Index by diary", "Index"]


@shows("load")
async def _(stage: Stage) -> None:
    await stage.press("L")
    assert isinstance(stage.app.screen, LoadScreen)
    await stage.paints("[Who Ana is](user_ana.md)")
    await stage.press("escape")
    assert isinstance(stage.app.screen, MainScreen)


@shows("explain")
async def _(stage: Stage) -> None:
    await stage.press("3", "right")
    assert stage.panes.freshness.finding is not None
    rule = stage.panes.freshness.finding.rule
    await explain(stage)
    await stage.paints(f"{rule}: ")
    await stage.paints("Why it matters")
    await stage.press("escape", "right")
    assert stage.panes.freshness.rule
    rule = stage.panes.freshness.rule
    await explain(stage)
    await stage.paints(f"{rule}: ")
    await stage.press("q", "1")
    assert isinstance(stage.app.screen, MainScreen)
    stage.main.action_do("explain")
    await stage.wait_for(lambda: "No finding is under the cursor" in stage.toasts)
    assert isinstance(stage.app.screen, MainScreen)


async def explain(stage: Stage) -> None:
    """Choose `explain` in the palette, which has no key by default."""
    await stage.press("ctrl+p")
    await palette(stage)
    await stage.press(*"explain")
    await stage.wait_for(lambda: palette_now(stage)[:1] == [f"explain · {BY_ID['explain'].help}"])
    await stage.press("enter")
    await stage.shows(TextScreen)


@shows("doctor")
async def doctor_shows_what_is_wrong_on_this_machine(stage: Stage) -> None:
    stage.main.action_do("doctor")
    await stage.shows(DoctorScreen)
    await stage.wait_for(lambda: stage.app.screen.is_loaded)  # type: ignore[attr-defined]
    await stage.paints("Problems ·")
    await stage.press("escape")
    await stage.shows(MainScreen)


@shows("connect")
async def _(stage: Stage) -> None:
    stage.main.action_do("connect")
    await stage.shows(ConnectScreen)
    screen = stage.app.screen
    assert isinstance(screen, ConnectScreen)
    await stage.wait_for(lambda: screen.is_idle, "the states")
    await stage.paints("· Claude Code")
    await stage.paints("| prompt |")
    launcher = Path(stage.app._environment.agent_home) / ".claude/skills/ricordo/launch.sh"
    await stage.calm()
    await stage.press("d")
    await stage.wait_for(lambda: "not connected" in stage.toasts)
    await stage.confirm()
    await stage.wait_for(lambda: "files written" in stage.toasts)
    assert launcher.is_file()
    await stage.paints("✓ Claude Code")
    await stage.paints("Claude Code is connected.")
    await stage.press("d")
    await stage.paints("removes 5 files")
    await stage.press("escape")
    await stage.paints("Claude Code is connected.")
    assert launcher.is_file()
    await stage.press("d")
    await stage.confirm()
    await stage.wait_for(lambda: "files removed" in stage.toasts)
    assert not launcher.exists()
    await stage.wait_for(lambda: screen.is_idle, "the states")
    await stage.press("escape")
    assert isinstance(stage.app.screen, MainScreen)


@shows("ledger")
async def _(stage: Stage) -> None:
    await stage.press("$")
    await stage.shows(LedgerScreen)
    await stage.paints("No curation decided yet")
    await stage.press("escape")
    assert isinstance(stage.app.screen, MainScreen)


@shows("copy")
async def _(stage: Stage) -> None:
    await stage.press("y")
    assert stage.app.clipboard == ANA
    await stage.press("2", "y")
    assert stage.app.clipboard.startswith("Ana leads harbour software in Genova.")
    await stage.press("right", "right", "right", "right", "y")
    assert stage.app.clipboard == "https://example.org/x"
    await stage.press("3", "right", "y")
    assert stage.app.clipboard.startswith("MEMORY.md:8: error[")


@shows("help")
async def _(stage: Stage) -> None:
    await stage.press("question_mark")
    assert isinstance(stage.app.screen, HelpScreen)
    painted = " ".join(line.text for line in stage.app.screen.render_text(200))
    for action in find_actions(ScreenId.NOTEBOOK):
        assert action.help in painted
        assert format_action_keys(action, {}) in painted
    await stage.press("question_mark")
    assert isinstance(stage.app.screen, MainScreen)


@shows("palette")
async def _(stage: Stage) -> None:
    await stage.press("ctrl+p")
    offered_there = await palette(stage)
    for action in find_actions(ScreenId.NOTEBOOK):
        label = action.find_label(stage.main.action_context)
        keys = format_action_keys(action, {})
        help_text = f"{action.help}  ({keys})" if keys else action.help
        assert f"{label} · {help_text}" in offered_there
    for theme in stage.app.ricordo_themes:
        assert any(it.startswith(f"theme {theme} · ") for it in offered_there)
    await stage.press(*"go back to the note")
    await stage.wait_for(lambda: "([)" in stage.painted())
    await stage.press("escape")
    assert isinstance(stage.app.screen, MainScreen)


@shows("inbox")
async def _(stage: Stage) -> None:
    await stage.press("i")
    await stage.wait_for(lambda: isinstance(stage.app.screen, InboxScreen))
    await stage.wait_for(lambda: "Nothing new" in stage.painted())
    await stage.press("escape")
    await stage.wait_for(lambda: isinstance(stage.app.screen, MainScreen))


async def conflicting(stage: Stage) -> ConflictsScreen:
    """Let two notes contradict each other, and open the workbench."""
    for path, port in ((TIDES, 8040), (UNITS, 8100)):
        note = Path(stage.main.root, path)
        note.write_text(note.read_text("utf-8") + f"\nThe view listens on port {port}.\n", "utf-8")
    await stage.wait_for(lambda: "conflicts 1" in " ".join(stage.bottom.split()), "the conflict")
    await stage.press("x")
    await stage.shows(ConflictsScreen)
    screen = stage.app.screen
    assert isinstance(screen, ConflictsScreen)
    await stage.wait_for(
        lambda: time.monotonic() - screen.mounted_at > KEY_DELAY, "the screen is calm"
    )
    return screen


@shows("conflicts")
async def _(stage: Stage) -> None:
    await conflicting(stage)
    await stage.paints("Conflict 1 of 1")
    await stage.press("x")
    await stage.shows(MainScreen)


@shows("keep-left", "keep-right")
async def _(stage: Stage) -> None:
    screen = await conflicting(stage)
    for key, keep in (("1", Keep.LEFT), ("2", Keep.RIGHT)):
        await stage.press(key)
        await stage.shows(ProposalScreen)
        side = screen.side(keep)
        assert side is not None
        assert f"Keep {side.quote.path}" in stage.painted()
        await stage.press("escape")
        await stage.shows(ConflictsScreen)


@shows("retire-whole")
async def _(stage: Stage) -> None:
    await conflicting(stage)
    await stage.press("1")
    await stage.shows(ProposalScreen)
    assert " d retire whole" in stage.app.screen.query_one("#keys", Bar).text
    await stage.press("d")
    await stage.paints("is retired")


@shows("merge")
async def _(stage: Stage) -> None:
    await conflicting(stage)
    await stage.press("3")
    await stage.shows(ProposalScreen)
    assert "Merge into" in stage.painted()


@shows("both")
async def _(stage: Stage) -> None:
    await conflicting(stage)
    await stage.press("4")
    await stage.shows(FormScreen)


@shows("no-conflict")
async def _(stage: Stage) -> None:
    await conflicting(stage)
    await stage.press("0")
    await stage.shows(ProposalScreen)
    await stage.confirm()
    await stage.paints("No two notes contradict or repeat each other")


@shows("judge-doubts")
async def _(stage: Stage) -> None:
    await conflicting(stage)
    await stage.press("c")
    await stage.paints("The rules engine cannot judge these")


@shows("history")
async def _(stage: Stage) -> None:
    await stage.wait_for(lambda: stage.main._navigation.is_counted)
    await stage.press("h")
    await stage.wait_for(lambda: isinstance(stage.app.screen, HistoryScreen))
    await stage.wait_for(lambda: "first seen" in stage.painted())
    await stage.press("escape")
    assert isinstance(stage.app.screen, MainScreen)


@shows("origin")
async def _(stage: Stage) -> None:
    await stage.go_to(TIDES)
    await stage.press("O")
    assert "No transcript shows" in stage.toasts
    with_transcript(stage.main.root, TIDES)
    await stage.press("ctrl+r")
    await stage.wait_for(lambda: stage.main.action_context.origin)
    await stage.press("O")
    await stage.shows(OriginScreen)
    await stage.paints("Remember: the port is Sines.")
    await stage.press("O")
    assert isinstance(stage.app.screen, MainScreen)


@shows("memories")
async def _(stage: Stage) -> None:
    await stage.press("p")
    await stage.wait_for(lambda: "No other memory" in stage.toasts)


@shows("dismiss")
async def _(stage: Stage) -> None:
    await stage.press("3", "right")
    finding = stage.panes.freshness.finding
    assert finding is not None
    await stage.press("minus")
    await stage.wait_for(lambda: finding in stage.looked.snapshot.dismissed)
    assert finding not in stage.looked.snapshot.findings
    await stage.press("right", "right")
    await stage.wait_for(lambda: stage.panes.freshness.finding == finding)
    await stage.press("minus")
    await stage.wait_for(lambda: finding in stage.looked.snapshot.findings)


@shows("mark")
async def _(stage: Stage) -> None:
    await stage.press("space", "j", "space")
    assert stage.index_text.count("◆") == 2
    assert "2 marked: d m P F E" in stage.bottom
    await stage.press("space")
    assert stage.index_text.count("◆") == 1
    await stage.press("escape")
    assert "◆" not in stage.index_text + stage.bottom


@shows("new")
async def _(stage: Stage) -> None:
    await stage.press("n")
    await stage.shows(FormScreen)
    await stage.press(*"Harbour pilots", "tab", "right", "right", "tab", *"Who brings ships in")
    await stage.confirm()
    await stage.wait_for(lambda: stage.here == "harbour_pilots.md", "the new note open")
    assert "- [Harbour pilots](harbour_pilots.md) — Who brings ships in" in text(stage, INDEX)
    assert "type: project" in text(stage, "harbour_pilots.md")
    assert "**How to apply:**" in text(stage, "harbour_pilots.md")
    await stage.wait_for(lambda: "without text. e writes it" in stage.toasts)


@shows("edit")
async def _(stage: Stage) -> None:
    before = text(stage, ANA)
    await stage.press("e")
    await stage.wait_for(lambda: "She rows too." in stage.note_text)
    assert text(stage, ANA) == before + "She rows too.\n"
    assert "●" not in stage.index_text


@shows("head")
async def _(stage: Stage) -> None:
    before = text(stage, ANA)
    await stage.press("E")
    await stage.shows(FormScreen)
    await stage.press("tab", "tab", *" and rows")
    await stage.confirm()
    await stage.wait_for(lambda: "sails and rows" in stage.note_text)
    assert text(stage, ANA) == before.replace("software; sails\n", "software; sails and rows\n")


@shows("move")
async def _(stage: Stage) -> None:
    await stage.go_to(TIDES)
    await stage.press("m")
    await stage.shows(MoveScreen)
    await stage.press("ctrl+u", *"ports")
    await stage.confirm()
    await stage.shows(ProposalScreen)
    await stage.paints("project_tides.md becomes ports.md")
    await stage.confirm()
    await stage.wait_for(lambda: stage.here == "ports.md", "the note under its new name")
    assert "[[ports]]" in text(stage, ANA)
    assert "[Tide tables](ports.md)" in text(stage, INDEX)
    assert "was deleted by somebody else" not in stage.toasts


@shows("retire")
async def _(stage: Stage) -> None:
    await stage.go_to(CACHE)
    await stage.press("d")
    await stage.shows(ProposalScreen)
    await stage.paints("1 note and the index link to it: user_ana.md")
    await stage.confirm()
    await stage.wait_for(lambda: stage.here not in (CACHE, ""), "another note open")
    assert not (Path(stage.main.root) / CACHE).exists()
    assert "project_cache" not in text(stage, INDEX)
    assert "the cache, [nowhere]" in text(stage, ANA)
    assert "was deleted by somebody else" not in stage.toasts


@shows("entry-down", "entry-up")
async def _(stage: Stage) -> None:
    before = text(stage, INDEX)
    await stage.go_to(TIDES)
    await stage.type_ahead("J", "J")
    await stage.wait_for(lambda: entries(stage)[-1] == TIDES, "the entry at the end")
    await stage.wait_for(lambda: stage.panes.index.row.line == 8)
    assert stage.panes.index.row.path == TIDES
    await stage.press("J")
    await stage.wait_for(lambda: "already the last entry" in stage.toasts)
    await stage.type_ahead("K", "K")
    await stage.wait_for(lambda: text(stage, INDEX) == before)


@shows("lift")
async def _(stage: Stage) -> None:
    await stage.press("circumflex_accent")
    await stage.wait_for(lambda: "it is above the cut" in stage.toasts)
    path = Path(stage.main.root) / INDEX
    filler = "".join(f"- [Cache]({CACHE}) — {n}\n" for n in range(220))
    path.write_text(path.read_text() + filler + f"- [Units]({UNITS}) — metres\n")
    await stage.wait_for(lambda: "agents stop reading here" in stage.index_text)
    await stage.go_to(UNITS)
    await stage.press("circumflex_accent")
    await stage.wait_for(lambda: "Agents load this entry now" in stage.toasts)
    memory = stage.looked.snapshot.memory
    assert "[Units]" in memory.load.text
    assert memory.load.text.rstrip().endswith("metres")
    assert stage.panes.index.row.path == UNITS


@shows("fix")
async def _(stage: Stage) -> None:
    await stage.press("3", "right")
    await stage.wait_for(lambda: "F fix" in stage.bottom)
    await stage.press("F")
    await stage.shows(ProposalScreen)
    await stage.paints("remove the entry")
    await stage.confirm()
    await stage.wait_for(lambda: "Dredging" not in text(stage, INDEX))
    await stage.wait_for(lambda: "Fixed" in stage.toasts)


@shows("successor")
async def _(stage: Stage) -> None:
    await stage.go_to(CACHE)
    await stage.press("d")
    await stage.shows(ProposalScreen)
    assert " s successor" in stage.app.screen.query_one("#keys", Bar).text
    await stage.press("p")
    assert "Only a masked secret" in stage.toasts
    await stage.press("s")
    await stage.shows(PickNoteScreen)


@shows("purge")
async def _(stage: Stage) -> None:
    path = Path(stage.main.root) / TIDES
    path.write_text(f"{path.read_text()}\nThe token is ghp_{'a1B2c3D4e5F6' * 3}\n")
    await stage.go_to(TIDES)
    await stage.wait_for(lambda: "secret" in stage.freshness_text)
    await stage.press("F")
    await stage.shows(ProposalScreen)
    assert " p purge history" in stage.app.screen.query_one("#keys", Bar).text
    await stage.press("p")
    await stage.paints("purges the value from the history too")
    await stage.press("p", "s")
    assert "purges the value from the history too" not in stage.painted()
    assert "Only a retired note" in stage.toasts


async def test_the_keys_of_one_kind_of_proposal_can_be_others(tmp_path: Path, pinned: Path) -> None:
    settings(pinned, '[keymap]\nsuccessor = "f5"\n')
    async with staged(build(tmp_path)) as stage:
        await stage.go_to(CACHE)
        await stage.press("d")
        await stage.shows(ProposalScreen)
        assert " f5 successor" in stage.app.screen.query_one("#keys", Bar).text
        await stage.press("f5")
        await stage.shows(PickNoteScreen)


@shows("protect")
async def _(stage: Stage) -> None:
    await stage.press("P")
    await stage.wait_for(lambda: "§ Who Ana is" in stage.index_text)
    await stage.wait_for(lambda: "protected" in stage.note_text)
    await stage.press("P")
    await stage.wait_for(lambda: "§" not in stage.index_text + stage.note_text)


@shows("undo", "redo")
async def _(stage: Stage) -> None:
    before = text(stage, ANA)
    await stage.press("e")
    await stage.wait_for(lambda: "u undo" in stage.bottom)
    await stage.press("u")
    await stage.wait_for(lambda: "Undone: change of user_ana.md (edited by hand)" in stage.toasts)
    assert text(stage, ANA) == before
    await stage.wait_for(
        lambda: stage.main.action_context.redo and not stage.main.action_context.undo
    )
    await stage.press("U")
    await stage.wait_for(lambda: "Redone" in stage.toasts)
    assert text(stage, ANA) == before + "She rows too.\n"


def text(stage: Stage, path: str) -> str:
    return (Path(stage.main.root) / path).read_text()


def entries(stage: Stage) -> list[str]:
    return re.findall(r"\((\w+\.md)\)", text(stage, INDEX))


# Judging what others did


async def inbox_with_one(stage: Stage) -> InboxScreen:
    """Let somebody else write while the notebook is open, and open the inbox."""
    path = Path(stage.main.root) / TIDES
    path.write_text(path.read_text() + "The pilot knows them.\n")
    await stage.wait_for(lambda: stage.main._navigation.new_count == 1, "the arrival counted")
    await stage.press("i")
    await stage.shows(InboxScreen)
    screen = stage.app.screen
    assert isinstance(screen, InboxScreen)
    await stage.calm()
    await stage.wait_for(lambda: screen.arrival, "the arrival shown")
    return screen


@shows("yes", "later")
async def _(stage: Stage) -> None:
    screen = await inbox_with_one(stage)
    await stage.press("l")
    await stage.wait_for(lambda: "later" in text_of(screen._list))
    await stage.press("a")
    await stage.wait_for(lambda: "kept" in text_of(screen._list))


@shows("all")
async def _(stage: Stage) -> None:
    screen = await inbox_with_one(stage)
    await stage.press("A")
    await stage.wait_for(lambda: "kept" in text_of(screen._list))


@shows("no", "hunk", "write")
async def _(stage: Stage) -> None:
    screen = await inbox_with_one(stage)
    await stage.press("d")
    await stage.wait_for(lambda: "↶ revert" in text_of(screen._list))
    await stage.press("d")
    await stage.wait_for(lambda: "↶ revert" not in text_of(screen._list))
    await stage.press("space", "space")
    await stage.wait_for(lambda: "↶ revert 1 of it" in text_of(screen._list))
    await stage.confirm()
    await stage.wait_for(lambda: "Reverted 1 note" in stage.toasts)
    assert text(stage, TIDES) == SMALL[TIDES]


@shows("columns", "compare")
async def _(stage: Stage) -> None:
    await inbox_with_one(stage)
    await stage.press("v")
    await stage.wait_for(lambda: " │ " in stage.painted())
    await stage.press("escape")
    await stage.shows(MainScreen)
    await stage.go_to(TIDES)
    await stage.press("h")
    await stage.shows(HistoryScreen)
    await stage.wait_for(lambda: "+" in stage.painted())
    await stage.press("equals_sign")
    await stage.paints("current text")


async def test_the_inbox_edits_and_reverts(stage: Stage) -> None:
    await inbox_with_one(stage)
    assert " e edit" in stage.app.screen.query_one("#keys", Bar).text
    await stage.press("e")
    await stage.wait_for(lambda: "Saved" in stage.toasts)
    assert text(stage, TIDES).endswith("She rows too.\n")
    stage.app.clear_notifications()
    await stage.wait_for(lambda: stage.main._changing.can_undo)
    await stage.press("u")
    await stage.wait_for(lambda: "Undone" in stage.toasts)
    assert text(stage, TIDES).endswith("The pilot knows them.\n")


async def test_every_screen_shows_its_own_keys(stage: Stage) -> None:
    await inbox_with_one(stage)
    await stage.press("question_mark")
    await stage.shows(HelpScreen)
    assert isinstance(stage.app.screen, HelpScreen)
    painted = " ".join(line.text for line in stage.app.screen.render_text(200))
    assert BY_ID["yes"].help in painted
    assert BY_ID["retire"].help not in painted
    await stage.press("escape", "ctrl+p")
    offered_there = await palette(stage, ScreenId.INBOX)
    assert f"later · {BY_ID['later'].help}  (l)" in offered_there
    assert not any(BY_ID["retire"].help in it for it in offered_there)


@shows("review")
async def _(stage: Stage) -> None:
    await stage.wait_for(lambda: stage.main.action_context.is_complete, "all is known")
    await stage.wait_for(lambda: stage.main._reviewing._queue, "what is due")
    await stage.press("R")
    await stage.shows(ReviewScreen)
    await stage.paints("Nothing to review today.")


@shows("curate")
async def _(stage: Stage) -> None:
    await stage.press("c")
    await stage.shows(ScopeScreen)
    await stage.paints("since last time")
    await stage.wait_for(lambda: stage.app.screen.preview)  # type: ignore[attr-defined]
    await stage.press("escape")
    await stage.shows(MainScreen)


@shows("model", "count", "kept-back")
async def _(stage: Stage) -> None:
    with pytest.MonkeyPatch.context() as patched, messages_server(counted(4711)) as server:
        await asyncio.to_thread(without_credentials, patched, Path(stage.app._environment.state))
        patched.setenv("ANTHROPIC_BASE_URL", server.url)
        await stage.press("c")
        await stage.shows(ScopeScreen)
        await stage.press("right")
        await stage.paints("tokens sent, at most 12,000 written: at most $")
        await stage.press("number_sign")
        await stage.paints("4,711 tokens counted")
        await stage.press("r")
        await stage.shows(RedactionScreen)
        await stage.press("escape", "M")
        await stage.shows(ChooseScreen)
        await stage.paints("claude-opus-5-5")


@shows("send-back")
async def _(stage: Stage) -> None:
    with pytest.MonkeyPatch.context() as patched, messages_server(proposing(LOST)) as server:
        without_credentials(patched, Path(stage.app._environment.state))
        patched.setenv("ANTHROPIC_BASE_URL", server.url)
        await stage.press("c")
        await stage.shows(ScopeScreen)
        await stage.press("right")
        await stage.paints("tokens sent, at most 12,000 written: at most $")
        await stage.press("enter")
        await stage.shows(CurationScreen)
        await stage.paints("b send back")
        await stage.calm()
        await stage.press("b")
        await stage.shows(QuestionScreen)
        await stage.paints("This change is sent back once")


# Handing off


async def in_draft(stage: Stage) -> HandoffScreen:
    """Go to the draft of a session of the memory's project."""
    root = Path(stage.main.root)
    git(root.parent, "init", "--quiet", "--template=")
    with_transcript(root, TIDES)
    await stage.press("w")
    await handing.sessions(stage)
    await stage.press("enter")
    return await handing.drafted(stage)


@shows("hand-off")
async def _(stage: Stage) -> None:
    await stage.press("w")
    await handing.sessions(stage)
    await stage.paints("No sessions found")
    await stage.press("w")
    await stage.shows(MainScreen)


@shows("for-whom", "budget", "messages", "engine", "pipe", "pick-up")
async def _(stage: Stage) -> None:
    screen = await in_draft(stage)
    for agent in ("Claude Code", "Codex", "opencode", "Gemini CLI", "any agent", "Claude Code"):
        await stage.press("t")
        await stage.paints(f"for {agent}")
    await handing.drafted(stage)
    await stage.press("b")
    await stage.shows(FormScreen)
    await stage.press("right")
    await stage.confirm()
    await handing.drafted(stage)
    await stage.paints("of 8,000 tokens")
    assert "All User Messages" not in handing.draft_of(screen)
    await stage.press("m")
    await handing.drafted(stage)
    assert "All User Messages" in handing.draft_of(screen)
    await stage.press("M")
    await stage.shows(EngineScreen)
    await stage.press("escape", "vertical_line", *"cat")
    await stage.confirm()
    await stage.paints("format: ricordo handoff 1")
    await stage.press("escape")
    await handing.drafted(stage)
    await stage.press("ctrl+s")
    await stage.wait_for(lambda: screen.written, "it written")
    await stage.press("p")
    await stage.shows(ProposalScreen)
    await stage.paints("+ @HANDOFF.md")


@shows("reread")
async def _(stage: Stage) -> None:
    before = stage.looked
    await stage.press("ctrl+r")
    await stage.wait_for(lambda: stage.looked is not before)
    assert stage.here == ANA


@shows("quit")
async def _(stage: Stage) -> None:
    await stage.press("ctrl+q")
    await stage.wait_for(lambda: not stage.app.is_running or stage.app._exit)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "actions",
    [
        " ".join(action for action, its in SCENARIOS.items() if its is scenario)
        for scenario in dict.fromkeys(SCENARIOS.values())
    ],
)
async def test_every_action_does_what_it_says(actions: str, stage: Stage) -> None:
    await SCENARIOS[actions.split()[0]](stage)


def test_every_action_has_a_scenario() -> None:
    assert SCENARIOS.keys() == {action.id for action in ACTIONS}


def bound_classes() -> list[type[App[object]] | type[Widget]]:
    """Return the classes of ricordo.tui that have bindings of their own."""
    modules = [
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(ricordo.tui.__path__, "ricordo.tui.")
    ]
    return [
        cls
        for module in modules
        for cls in vars(module).values()
        if isinstance(cls, type) and cls.__module__ == module.__name__ and "BINDINGS" in vars(cls)
    ]


def test_every_binding_is_in_the_registry() -> None:
    classes = bound_classes()
    assert len(classes) > 20
    for cls in classes:
        for binding in cls.BINDINGS:
            assert isinstance(binding, Binding), cls
            assert binding.id in BY_ID, (cls, binding)
            assert binding.key == (BY_ID[binding.id].keys or NO_KEY), (cls, binding)


def test_every_binding_calls_an_action_that_there_is() -> None:
    for cls in bound_classes():
        for binding in cls.BINDINGS:
            assert isinstance(binding, Binding), cls
            name = binding.action.partition("(")[0]
            if "." not in name:
                assert hasattr(cls, f"action_{name}"), (cls, name)


def test_every_action_of_a_dialog_is_in_the_registry() -> None:
    in_dialogs = frozenset().union(*DIALOG_KEYS.values())
    assert in_dialogs <= BY_ID.keys()
    assert {action.id for action in DIALOG_ACTIONS} <= in_dialogs


def test_keys_are_read_in_no_other_way_than_by_bindings() -> None:
    """The app gives keys that were typed ahead to the line in which words are typed."""
    source = Path(ricordo.tui.__path__[0])
    reading = re.compile(r"def (on_key|key_\w+)\(self")
    found = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if reading.search(path.read_text())
    }
    assert found == {"app.py"}


def test_an_action_that_a_kind_of_dialog_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="dialog form: no such action: undo"):
        dialog_bindings(Dialog.FORM, {"undo": "undo"})


# Following links, back and forth


async def test_a_link_with_an_anchor_leads_to_its_heading(stage: Stage) -> None:
    await stage.press("2", "right", "right", "enter")
    await stage.wait_for(lambda: stage.here == CACHE)
    await stage.wait_for(lambda: stage.panes.note.scroll_offset.y > 30, "the heading in sight")
    await stage.paints("How to apply")


async def test_backlinks_lead_back(stage: Stage) -> None:
    await stage.go_to(TIDES)
    await stage.press("2", "left", "enter")
    await stage.wait_for(lambda: stage.here == ANA)


async def test_links_to_elsewhere_are_told_not_opened(stage: Stage) -> None:
    await stage.press("2", "right", "right", "right", "enter")
    assert "Link to a note that does not exist: gone.md" in stage.toasts
    await stage.press("right", "enter")
    assert "opens no addresses" in stage.toasts
    assert stage.here == ANA


async def test_a_walk_over_the_index_is_one_step_back(stage: Stage) -> None:
    await stage.press("2", "right", "enter")
    await stage.wait_for(lambda: stage.here == TIDES)
    await stage.press("1", "j", "k", "j", "j")
    await stage.wait_for(lambda: stage.main._reading.trail.walking)
    await stage.press("left_square_bracket")
    await stage.wait_for(lambda: stage.here == TIDES)


async def test_going_to_a_line_of_the_index_shows_that_line(tmp_path: Path) -> None:
    text = "# Index\n" + "".join(f"- plain remark {n}\n\n## Part {n}\n" for n in range(80))
    async with staged(build(tmp_path, {"MEMORY.md": text})) as stage:
        await stage.press("G", "k")
        await stage.wait_for(lambda: stage.panes.note.scroll_offset.y > 100)


# What cannot be done says why; what is offered works


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("left_square_bracket", "first note you opened"),
        ("right_square_bracket", "last note you opened"),
        ("N", "No search in the note"),
        ("2 space", "Mark notes in the index"),
        ("2 J", "Move entries in the index"),
        ("o K", "press Esc, then o"),
        ("G J", "No entry of the index"),
        ("U", "nothing to redo"),
        ("u", "nothing to undo"),
        ("minus", "No finding is under the cursor"),
        ("left", "The index is the leftmost pane"),
        ("2 enter", "No link is chosen"),
        ("z greater_than_sign", "Only one pane"),
    ],
)
async def test_a_key_that_does_nothing_says_why(stage: Stage, keys: str, said: str) -> None:
    await stage.press(*keys.split())
    assert said in stage.toasts


async def test_in_one_pane_zoom_says_why_not(tmp_path: Path) -> None:
    async with staged(build(tmp_path), (60, 20)) as stage:
        await stage.press("z")
        assert "too narrow" in stage.toasts


async def test_an_empty_memory_offers_only_what_works(tmp_path: Path) -> None:
    async with staged(build(tmp_path, {})) as stage:
        assert "open" not in stage.bottom
        assert "type" not in stage.bottom
        for key, said in (("enter", "No note is open"), ("t", "has a type"), ("y", "No note")):
            await stage.press(key)
            assert said in stage.toasts
        await stage.press("3", "enter", "2", "right", "slash", *"x", "enter", "N", "escape")
        assert "No notes yet" in stage.index_text


async def test_the_bottom_line_offers_what_the_pane_can_do(stage: Stage) -> None:
    for key in "123":
        await stage.press(key)
        for action in find_offered_actions(stage.main.action_context):
            assert (
                f" {format_action_keys(action, {})} {action.find_label(stage.main.action_context)}"
                in stage.bottom
            )


async def test_the_bottom_line_says_what_a_key_does_there(stage: Stage) -> None:
    async def says(*keys: str, with_: str = "", without: str = "nothing at all") -> None:
        await stage.press(*keys)
        assert with_ in stage.bottom
        assert without not in stage.bottom

    await says("1", with_="Enter read ")
    await says(with_="/ filter ", without="find in note")
    await says("2", with_="/ find in note ", without="/ filter")
    await says(without="Enter ")
    await says("right", with_="Enter follow ")
    await says(with_="s source ")
    await says("s", with_="s rendered ", without="s source")
    await says("3", with_="Enter go there ")
    await says("right", "right", with_="Enter show these ", without="dismiss")
    await says("left", with_="- dismiss ")
    await stage.press("minus")
    await stage.wait_for(lambda: "dismissed 1" in stage.freshness_text, "the finding dismissed")
    await says("right", "right", with_="- restore ", without="- dismiss")


FIRST_HITS = {
    "quit": "quit",
    "exit": "quit",
    "zoom": "zoom",
    "maximize": "zoom",
    "delete": "retire",
    "remove": "retire",
    "retire": "retire",
    "settings": "settings",
    "config": "settings",
    "undo": "undo",
    "redo": "redo",
    "history": "history",
    "versions": "history",
    "fix": "fix",
    "repair": "fix",
    "protect": "protect",
    "rename": "move",
    "move": "move",
    "new": "new",
    "create": "new",
    "edit": "edit",
    "frontmatter": "head",
    "search": "finder",
    "find": "finder",
    "filter": "find",
    "sort": "order",
    "inbox": "inbox",
    "conflicts": "conflicts",
    "review": "review",
    "curate": "curate",
    "handoff": "hand-off",
    "cost": "ledger",
    "ignore": "dismiss",
    "dismiss": "dismiss",
    "reload": "reread",
    "copy": "copy",
    "source": "source",
    "raw": "source",
    "load": "load",
    "keys": "help",
    "help": "help",
    "origin": "origin",
    "secrets": "reveal",
    "memories": "memories",
    "undo ": "undo",
    "UNDO": "undo",
    "hist": "history",
    "wider": "wider",
    "mark": "mark",
    "findings": "freshness",
}
"""What stands first in the palette of the notebook for each word."""


async def test_the_palette_finds_actions_by_the_words_that_people_use(stage: Stage) -> None:
    await stage.press("ctrl+p")
    await palette(stage)
    words = stage.app.screen.query_one(CommandInput)
    for typed, action in FIRST_HITS.items():
        words.value = typed
        help_ = BY_ID[action].help
        await stage.wait_for(lambda: help_ in str(palette_now(stage)[:1]), f"{action} for {typed}")  # noqa: B023
    for typed in ("theme", "colour", "dark"):
        words.value = typed
        await stage.wait_for(lambda: "theme " in str(palette_now(stage)[:1]), typed)


def test_every_synonym_is_of_an_action() -> None:
    assert SYNONYMS.keys() <= BY_ID.keys()


async def test_help_shows_keys_as_their_signs(stage: Stage) -> None:
    await stage.press("question_mark")
    await stage.shows(HelpScreen)
    shown = text_of(stage.app.screen.query_one(TextView))
    keys = [line[:18].split() for line in shown.split("\n") if line.startswith("  ")]
    assert {"$", "*", ",", "?", "^"} <= {key for row in keys for key in row}
    assert not any("_" in key for row in keys for key in row)


def test_keys_are_shown_as_their_signs() -> None:
    for action in ACTIONS:
        assert "_" not in format_keys(action.keys), action.id
    for sign in string.punctuation:
        assert format_keys(_character_to_key(sign)) == sign
        assert format_keys(f"ctrl+{_character_to_key(sign)}") == f"ctrl+{sign}"
    assert format_keys("f5,ctrl+s,A,ctrl+left") == "f5 ctrl+s A ctrl+←"


# The palette and the person's own keys


async def test_a_theme_is_switched_on_every_screen(stage: Stage) -> None:
    await stage.press("question_mark")
    stage.app.theme = "ricordo-light"
    await stage.settle()
    light = stage.app.palette.base_style.bgcolor
    for screen in stage.app.screen_stack[1:]:
        for view in screen.query("Bar, LineView, FindingBox"):
            assert view._palette.base_style.bgcolor == light  # type: ignore[attr-defined]


async def test_the_palette_does_what_it_offers(stage: Stage) -> None:
    await stage.press("ctrl+p", *"switch", "escape", "ctrl+p", *"theme manuscript")
    await stage.wait_for(lambda: "manuscript" in str(palette_now(stage)[:1]))
    await stage.press("enter")
    await stage.wait_for(lambda: stage.app.theme == "manuscript")
    await stage.press("ctrl+p", *"as a diary by day")
    await stage.wait_for(lambda: "diary" in str(palette_now(stage)[:1]))
    await stage.press("enter")
    await stage.wait_for(lambda: stage.main._listing.order is IndexOrder.TYPE)


async def test_own_keys_take_the_place_of_ours(tmp_path: Path, pinned: Path) -> None:
    settings(pinned, '[keymap]\nload = "f5"\nsource = []\nnonsense = "x"\n')
    async with staged(build(tmp_path)) as stage:
        assert "nonsense" in stage.toasts
        assert "f5 load" in stage.bottom
        await stage.press("L")
        assert isinstance(stage.app.screen, MainScreen)
        await stage.press("s")
        assert "name: user-ana" not in stage.note_text
        await stage.press("f5")
        assert isinstance(stage.app.screen, LoadScreen)
        await stage.press("escape", "ctrl+p")
        offered_there = await palette(stage)
        assert f"load · {BY_ID['load'].help}  (f5)" in offered_there
        assert f"source · {BY_ID['source'].help}" in offered_there


async def test_settings_that_cannot_be_used_are_told(tmp_path: Path, pinned: Path) -> None:
    settings(pinned, 'theme = "drak[/]"\n[wrong\n')
    async with staged(build(tmp_path)) as stage:
        assert "settings.toml" in stage.toasts


async def test_own_keys_work_in_dialogs(tmp_path: Path, pinned: Path) -> None:
    settings(pinned, '[keymap]\nwiden = "f5"\ncancel = "f6"\nconfirm = "f7"\nleave = "f8"\n')
    async with staged(build(tmp_path)) as stage:
        await stage.press("ctrl+f")
        await stage.shows(FinderScreen)
        await stage.paints(" f5 in every memory ")
        await stage.press("escape", "ctrl+f")
        await stage.shows(FinderScreen)
        await stage.press("f5")
        await stage.paints(" f5 in this memory ")
        await stage.press("f6")
        await stage.shows(MainScreen)
        await stage.press("n")
        await stage.shows(FormScreen)
        await stage.paints(" f7 create it ")
        await stage.press(*"Boats", "ctrl+s")
        await stage.shows(FormScreen)
        await asyncio.sleep(KEY_DELAY)
        await stage.press("f7")
        await stage.shows(MainScreen)
        await stage.press("question_mark")
        await stage.shows(HelpScreen)
        await stage.press("escape")
        await stage.shows(HelpScreen)
        await stage.press("f8")
        await stage.shows(MainScreen)


async def test_own_keys_open_the_palette_and_quit(tmp_path: Path, pinned: Path) -> None:
    settings(pinned, '[keymap]\npalette = "f5"\nquit = "f6"\n')
    async with staged(build(tmp_path)) as stage:
        await stage.press("ctrl+p", "ctrl+q")
        assert isinstance(stage.app.screen, MainScreen)
        await stage.press("f5")
        await stage.shows(CommandPalette)
        await stage.press("escape", "f6")
        await stage.wait_for(lambda: not stage.app.is_running)


async def test_the_key_of_the_palette_goes_to_the_previous_hit_in_the_finder(stage: Stage) -> None:
    await stage.press("ctrl+f", *"a")
    await stage.shows(FinderScreen)
    finder = stage.app.screen
    assert isinstance(finder, FinderScreen)
    await stage.wait_for(lambda: finder.is_settled and finder.hit is not None)
    await stage.press("ctrl+n")
    assert finder._list.at == 1
    await stage.press("ctrl+p")
    assert stage.app.screen is finder
    assert finder._list.at == 0


# Find and filter


async def test_words_that_nothing_fits_say_so(stage: Stage) -> None:
    await stage.press("slash", *"zzz")
    await stage.wait_for(lambda: "No note matches /zzz" in stage.index_text)
    await stage.press("enter", "escape")
    await stage.wait_for(lambda: "Who Ana is" in stage.index_text)
    await stage.press("2", "slash", *"zzz", "enter")
    assert title(stage, Pane.NOTE).endswith("/zzz not found")
    await stage.press("n", "N", "escape")
    assert stage.panes.active is Pane.NOTE


async def test_the_search_line_closes_when_the_user_leaves_the_pane(stage: Stage) -> None:
    await stage.press("slash", *"tide", "tab")
    await stage.wait_for(lambda: not stage.main.query_one(FindBar).is_open)
    assert stage.panes.active is Pane.NOTE
    assert title(stage, Pane.INDEX) == "Index · /tide"


async def test_words_typed_ahead_are_words(stage: Stage) -> None:
    await stage.type_ahead("3", "1", "/", *"tide", "enter")
    await stage.wait_for(lambda: title(stage, Pane.INDEX) == "Index · /tide")
    assert not stage.main.query_one(FindBar).is_open
    await stage.type_ahead("/", *"tokyo", "escape")
    await stage.wait_for(lambda: title(stage, Pane.INDEX) == "Index")


async def test_arrows_move_the_index_while_words_are_typed(stage: Stage) -> None:
    await stage.press("slash", *"project", "down")
    await stage.wait_for(lambda: stage.here == CACHE)
    assert stage.main.query_one(FindBar).value == "project"


# The mouse


async def test_a_click_chooses_a_second_one_opens(stage: Stage) -> None:
    index = stage.panes.index
    row = next(n for n, row in enumerate(index.rows) if row.path == TIDES)
    await stage.pilot.click(index, offset=on_text(index, 6, row))
    await stage.wait_for(lambda: stage.here == TIDES)
    await stage.pilot.click(index, offset=on_text(index, 6, row), times=2)
    await stage.wait_for(lambda: stage.panes.active is Pane.NOTE)


async def test_selected_text_is_what_is_copied(stage: Stage) -> None:
    await stage.press("2")
    note = stage.panes.note
    line = next(
        n
        for n in range(note.line_count)
        if "Ana leads harbour software in" in note.line_at(n)[0].text
    )
    await stage.pilot.mouse_down(note, offset=on_text(note, 0, line))
    await stage.pilot.hover(note, offset=on_text(note, 9, line))
    await stage.pilot.mouse_up(note, offset=on_text(note, 9, line))
    await stage.press("y")
    assert stage.app.clipboard == "Ana leads"
    await stage.press("1", "j")
    await stage.wait_for(lambda: stage.here == TIDES)
    await stage.press("y")
    assert stage.app.clipboard == TIDES


# Other memories


async def test_another_memory_is_chosen_and_opened(tmp_path: Path, pinned: Path) -> None:
    other = pinned / ".claude/projects/-srv-harbour/memory"
    other.mkdir(parents=True)
    (other / "MEMORY.md").write_text("- [Buoys](buoys.md)\n")
    (other / "buoys.md").write_text("Red to port.\n")
    async with staged(build(tmp_path)) as stage:
        await stage.press("p")
        await stage.wait_for(lambda: isinstance(stage.app.screen, MemoriesScreen))
        await stage.press("G", "pageup", "g", "escape")
        assert isinstance(stage.app.screen, MainScreen)
        await stage.press("p")
        await stage.wait_for(lambda: isinstance(stage.app.screen, MemoriesScreen))
        await stage.press("enter")
        await stage.wait_for(lambda: isinstance(stage.app.screen, MainScreen) and stage.looked)
        await stage.wait_for(lambda: stage.here == "buoys.md")
        assert stage.main.root == str(other)


async def test_of_several_memories_in_a_project_one_is_chosen(tmp_path: Path, pinned: Path) -> None:
    project = tmp_path / "project"
    for folder in ("docs/memory", ".claude/memory"):
        (project / folder).mkdir(parents=True)
        (project / folder / "MEMORY.md").write_text("- [Buoys](buoys.md)\n")
        (project / folder / "buoys.md").write_text("Red to port.\n")
    async with staged(None, cwd=project) as stage:
        await stage.wait_for(lambda: isinstance(stage.app.screen, MemoriesScreen))
        shown = stage.painted()
        first, second = (f" project/{it}/memory " for it in (".claude", "docs"))
        assert shown.index(first) < shown.index(second)
        await stage.press("j", "enter")
        await stage.wait_for(lambda: isinstance(stage.app.screen, MainScreen) and stage.looked)
        assert stage.main.root == str(project / "docs/memory")


async def test_rows_of_memories_differ_where_they_can_be_seen(tmp_path: Path, pinned: Path) -> None:
    """A folder without a transcript is named after its directory, paths are cut at the start."""
    source = tmp_path / "source"
    for name in ("buoys", "tides"):
        folder = pinned / ".claude/projects" / make_slug(str(source / name)) / "memory"
        folder.mkdir(parents=True)
        (folder / "MEMORY.md").write_text("- [Buoys](buoys.md)\n")
        (source / name).mkdir(parents=True)
    async with staged(build(tmp_path), size=(80, 24)) as stage:
        await stage.press("p")
        await stage.shows(MemoriesScreen)
        rows = stage.painted().split("\n")
        for name in ("buoys", "tides"):
            (row,) = (row for row in rows if row.startswith(f"   {name} "))
            assert row.rstrip().endswith(f"-{name}/memory")


async def test_pages_of_text_show_their_keys(tmp_path: Path, pinned: Path) -> None:
    async with staged(build(tmp_path)) as stage:
        for key in ("L", "$"):
            await stage.press(key, "question_mark")
            await stage.shows(HelpScreen)
            await stage.paints("Move down a page")
            await stage.paints("Close the text, as Esc does")
            assert "Judge" not in stage.painted()
            await stage.press("question_mark", "escape")
            await stage.shows(MainScreen)
    empty = tmp_path / "empty"
    empty.mkdir()
    async with staged(None, cwd=empty) as stage:
        await stage.shows(NoMemoryScreen)
        await stage.press("question_mark")
        await stage.shows(HelpScreen)
        await stage.paints("open the sample memory")


async def test_the_keys_of_the_notebook_begin_with_moving(tmp_path: Path) -> None:
    async with staged(build(tmp_path)) as stage:
        await stage.press("question_mark")
        await stage.shows(HelpScreen)
        shown = stage.painted()
        assert shown.index("Move down") < shown.index("Filter the index")


async def test_a_missing_fix_says_where_the_others_are(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": "- [a](a.md)\n",
        "a.md": note_text("a", "Red to port.\n", "Which colour", "project"),
        "b.md": note_text("b", "Green to starboard.\n", "The other colour", "project"),
    }
    async with staged(build(tmp_path, files)) as stage:
        await stage.go_to("a.md")
        await stage.press("F")
        await stage.wait_for(lambda: "for this note; 3 goes to the findings" in stage.toasts)
        await stage.press("3")
        assert "unindexed-note" in stage.freshness_text
        await stage.press("F")
        await stage.shows(ProposalScreen)


async def palette(stage: Stage, scene: ScreenId = ScreenId.NOTEBOOK) -> list[str]:
    """Return what the palette offers, once it offers it."""
    await stage.wait_for(lambda: isinstance(stage.app.screen, CommandPalette))
    await stage.wait_for(lambda: len(palette_now(stage)) > len(find_actions(scene)))
    return palette_now(stage)


def palette_now(stage: Stage) -> list[str]:
    commands = stage.app.screen.query_one(CommandList)
    return [str(option.prompt).split("\n")[0] for option in commands.options]


def title(stage: Stage, pane: Pane) -> str:
    return str(stage.panes.query_one(f"#pane-{pane.value}").border_title)


def settings(home: Path, text: str) -> None:
    folder = home / ".config/ricordo"
    folder.mkdir(parents=True)
    (folder / "settings.toml").write_text(text)
