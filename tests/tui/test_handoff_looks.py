"""How handing off looks. `pytest --snapshot-update` accepts what is drawn now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
from textual.pilot import Pilot

from ricordo.agents.registry import find_agent
from ricordo.agents.transcripts.session import FileAction, Session
from ricordo.curation.engine import Step
from ricordo.handoff.budget import count_tokens, fit_to_budget
from ricordo.handoff.changes import FileChange, FileChangeKind, ProjectChanges
from ricordo.handoff.document import (
    FileProof,
    GitProof,
    Handoff,
    HandoffHeader,
    HandoffStatement,
    ProofStatus,
    QuoteProof,
    ResultProof,
    SourceSession,
    StatementSection,
    handoff_target,
)
from ricordo.handoff.facts import (
    GIT_ID,
    CommandFact,
    CommandPurpose,
    ErrorFact,
    Facts,
    FileUse,
    GitState,
    MessageFact,
    MessageRef,
    NoteFact,
    RuledOutFact,
    TaskFact,
)
from ricordo.handoff.pickup import HandoffFile, build_start_command
from ricordo.handoff.project_git import ProjectCommit
from ricordo.handoff.resume import RecheckedHandoff, RecheckedStatement
from ricordo.services.handoff.engine_draft import DraftPreview, preview_draft
from ricordo.services.handoff.handoff import ComposedStatements, HandoffDraft
from ricordo.services.handoff.output import RenderedHandoff
from ricordo.services.handoff.resume import ResumeReport
from ricordo.services.workspace.notebook import Notebook
from ricordo.settings.settings import ENGINE, EngineSettings
from ricordo.tui.app import RicordoApp
from ricordo.tui.handoff.draft import (
    DraftDecisions,
    DraftedHandoff,
    DraftOptions,
    EarlierHandoff,
    FinishedHandoff,
    HandoffStatus,
)
from ricordo.tui.handoff.drafter import Drafter
from ricordo.tui.handoff.engine_screen import EngineScreen
from ricordo.tui.handoff.fact_rows import build_fact_table
from ricordo.tui.handoff.screen import HandoffScreen
from ricordo.tui.handoff.sessions_screen import SessionsScreen
from ricordo.tui.main.screen import MainScreen
from tests.support.messages_server import without_credentials
from tests.tui import hostile
from tests.tui.handing import drafted, go_to, sessions
from tests.tui.stage import Stage, build, notebook_app
from tests.tui.test_looks import Compare
from tests.tui.test_origin import utc  # noqa: F401

CONTROLS = "".join(map(hostile.marked, ("csi", "osc52", "bidi", "zero")))
MARKED = " ".join(hostile.MARKUP)
ODD = f"{MARKED} {CONTROLS} {hostile.WIDE} {hostile.LONG}"
AT = "2026-10-05T09:31:00Z"
SHA = "3f2a91c0b7d4" + "0" * 52
ALARM, REPORT = "tidepool/alarm.py", "tidepool/report.py"
HOME = "/home/ana/work/tidepool"
WRITTEN = datetime(2026, 10, 5, 9, 40, tzinfo=UTC)

SESSIONS = (
    Session(
        find_agent("claude"),
        "5b1c7a52",
        f"{HOME}/a.jsonl",
        HOME,
        "feat/berth-alarm",
        "Berth alarm",
        "2026-10-05T08:10:00Z",
        AT,
    ),
    Session(find_agent("codex"), "019fb100", f"{HOME}/{CONTROLS}.jsonl", ODD, MARKED, ODD, AT, AT),
)
FACTS = Facts(
    HOME,
    SESSIONS[:1],
    messages=(
        MessageFact(
            "f1", MessageRef(0, 3, AT), "Make the berth alarm test green again.", is_user=True
        ),
        MessageFact("f2", MessageRef(0, 7, AT), "Do not touch the schema.", is_user=True),
        MessageFact("f3", MessageRef(0, 9, AT), f"Looking at it. {ODD}", is_user=False),
    ),
    commands=(
        CommandFact(
            "f4",
            MessageRef(0, 41, AT),
            "pytest -q tests/test_berth_alarm.py",
            CommandPurpose.TEST,
            0,
            False,
            "12 passed",
        ),
        CommandFact(
            "f5",
            MessageRef(0, 43, AT),
            f"ruff {MARKED}",
            CommandPurpose.CHECK,
            1,
            True,
            CONTROLS,
            (ALARM,),
        ),
    ),
    files=(
        FileUse("f6", ALARM, (FileAction.READ, FileAction.EDITED), MessageRef(0, 40, AT), 3, SHA),
        FileUse(
            "f7", REPORT, (FileAction.DELETED,), MessageRef(0, 38, AT), 1, None, is_missing=True
        ),
        FileUse("f8", f"/home/ana/{MARKED}", (FileAction.READ,), MessageRef(0, 12, AT), 0, None),
    ),
    tasks=(TaskFact("f9", MessageRef(0, 30, AT), "Fix the report", "in_progress"),),
    errors=(
        ErrorFact(
            "f10",
            MessageRef(0, 20, AT),
            "pytest -q",
            "AssertionError",
            MessageRef(0, 41, AT),
            ALARM,
        ),
    ),
    ruled_out=(
        RuledOutFact("f11", MessageRef(0, 25, AT), "Rounding to the minute", "broke two tests"),
    ),
    git=GitState("4f1e2d3a9b0c" + "0" * 28, "feat/berth-alarm", (ALARM,), 2, "berth alarm"),
    notes=(NoteFact("f12", "feedback_tests.md", "tests", "how tests run", SHA, "tests"),),
)
STATEMENTS = (
    HandoffStatement(
        StatementSection.OBJECTIVE,
        "Asked first",
        QuoteProof(MessageRef(0, 3)),
        ("f1",),
        FACTS.messages[0].text,
    ),
    HandoffStatement(
        StatementSection.CONSTRAINTS,
        "Limit",
        QuoteProof(MessageRef(0, 7)),
        ("f2",),
        f"{FACTS.messages[1].text}\n{ODD}",
    ),
    HandoffStatement(
        StatementSection.ACTIVE,
        "Branch `feat/berth-alarm` at 4f1e2d3a9b0c; not committed: 1 file",
        GitProof("4f1e2d3a9b0c", "feat/berth-alarm", 1),
        (GIT_ID,),
    ),
    HandoffStatement(
        StatementSection.DONE,
        "`pytest -q tests/test_berth_alarm.py`: 12 passed",
        ResultProof(0, False, MessageRef(0, 41, AT)),
        ("f4",),
    ),
    HandoffStatement(
        StatementSection.ERRORS,
        f"`ruff {MARKED}` failed",
        ResultProof(1, True, MessageRef(0, 43, AT), (ALARM,)),
        ("f5",),
    ),
    HandoffStatement(
        StatementSection.FILES,
        f"`{ALARM}` (transcript: edited)",
        FileProof(ALARM, SHA[:12]),
        ("f6",),
    ),
    HandoffStatement(StatementSection.RULED_OUT, f"Rounding to the minute. {ODD}", None, ("f11",)),
    HandoffStatement(
        StatementSection.NEXT, "Change `<` to `<=` in tidepool/report.py:14", None, ("f9", "f7")
    ),
    HandoffStatement(
        StatementSection.MESSAGES,
        "All of it",
        QuoteProof(MessageRef(0, 9)),
        ("f3",),
        "word " * 3_000,
    ),
)
HEAD = HandoffHeader(
    WRITTEN,
    WRITTEN.replace(day=12),
    handoff_target("claude"),
    2_000,
    "rules",
    (SourceSession(find_agent("claude"), "5b1c7a52", f"{HOME}/a.jsonl"),),
    commit="4f1e2d3a9b0c",
    redactions=2,
)
CHECKED = (
    RecheckedStatement(STATEMENTS[0], ProofStatus.QUOTED),
    RecheckedStatement(STATEMENTS[3], ProofStatus.STALE, f"{ALARM} changed since", (ALARM,)),
    RecheckedStatement(STATEMENTS[5], ProofStatus.STALE, f"{ALARM} is 1a2b3c4d5e6f {CONTROLS}"),
    RecheckedStatement(STATEMENTS[6], ProofStatus.UNVERIFIED),
)
CHANGES = ProjectChanges(
    (ProjectCommit("9b0c4f1e2d3a" + "0" * 28, f"The report counts again {ODD}"),),
    (
        FileChange(ALARM, FileChangeKind.CHANGED),
        FileChange(REPORT, FileChangeKind.RENAMED, f"{MARKED}.py"),
    ),
    (FileChange("feedback_tests.md", FileChangeKind.DELETED),),
)


class Drawn:
    """Hands off what is written above."""

    environment = cast(Any, None)

    def __init__(self, notebook: Notebook | None = None) -> None:
        """`notebook` is needed to ask an engine."""
        self._notebook = notebook

    def list_engines(self) -> tuple[Sequence[EngineSettings], EngineSettings]:
        model = replace(ENGINE, use="anthropic", server="http://127.0.0.1:9", day=50_000)
        program = replace(ENGINE, use="command", command=("/bin/cat", MARKED, hostile.WIDE))
        return (replace(ENGINE, use="rules"), model, program), model

    def load_preview(self, facts: Facts, engine: EngineSettings, step: Step) -> DraftPreview:
        assert self._notebook is not None
        return preview_draft(self._notebook, engine, facts)

    def find_sessions(self, step: Step) -> Sequence[Session]:
        return SESSIONS

    def find_earlier(self) -> Sequence[EarlierHandoff]:
        names = ("HANDOFF.md", "HANDOFF.new.md")
        return [EarlierHandoff(f"{HOME}/{name}", name) for name in names]

    def check_earlier(self, it: EarlierHandoff, step: Step) -> HandoffStatus:
        if it.name == "HANDOFF.new.md":
            return HandoffStatus(None, f"It is not a Ricordo handoff. {ODD}")
        resumed = RecheckedHandoff(Handoff(HEAD, STATEMENTS), CHECKED, CHANGES, True, False)
        return HandoffStatus(ResumeReport(it.path, HOME, resumed, (f"A remark. {CONTROLS}",)))

    def draft_sessions(
        self, sessions: Sequence[Session], ask: DraftOptions, step: Step
    ) -> DraftedHandoff:
        to = HandoffFile(
            f"{HOME}/HANDOFF.new.md", warning="HANDOFF.md is left alone. It is not ours."
        )
        draft = HandoffDraft(FACTS, Handoff(HEAD, STATEMENTS), to, cast(Any, None))
        shown = {it: it for it in STATEMENTS}
        return DraftedHandoff(
            FACTS, shown, draft, build_fact_table(FACTS), ComposedStatements(STATEMENTS)
        )

    def make(self, gathered: DraftedHandoff, wanted: Sequence[HandoffStatement]) -> FinishedHandoff:
        handoff = fit_to_budget(replace(gathered.draft.handoff, statements=tuple(wanted)))
        done = RenderedHandoff(handoff, "", count_tokens(handoff))
        return FinishedHandoff(
            gathered.draft, done, build_start_command(handoff_target("claude"), "HANDOFF.new.md")
        )


async def on_main(pilot: Pilot[int]) -> Stage:
    app = pilot.app
    assert isinstance(app, RicordoApp)
    stage = Stage(app, pilot)
    await stage.wait_for(lambda: isinstance(app.screen, MainScreen) and stage.looked)
    # what it tells comes before the pictures, and can be taken away
    await stage.wait_for(lambda: stage.main._navigation.is_counted, "the first recording")
    await stage.settle()
    return stage


@pytest.mark.one_in(2)
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=lambda s: f"{s[0]}x{s[1]}")
def test_draft(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    async def ready(pilot: Pilot[int]) -> None:
        stage = await on_main(pilot)
        main = stage.main
        ask = DraftOptions(handoff_target("claude"), 2_000)
        drafter, hands = cast(Drafter, Drawn()), main._changing
        draft = HandoffScreen(
            SESSIONS[:1],
            ask,
            drafter,
            DraftDecisions(),
            hands,
            main.current_palette(),
            main.keymap,
        )
        stage.app.push_screen(draft)
        await drafted(stage)
        await go_to(stage, draft, "Rounding")
        await stage.press("d")
        await drafted(stage)
        await go_to(stage, draft, "12 passed")
        await stage.hush()

    assert snap_compare(notebook_app(build(tmp_path)), terminal_size=size, run_before=ready)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("key", "size"),
    [("g", (80, 24)), ("2", (80, 24)), ("2", (120, 40)), ("G", (80, 24))],
    ids=["rules", "model, 80x24", "model, 120x40", "program"],
)
def test_engine(
    snap_compare: Compare,
    pinned: Path,
    monkeypatch: pytest.MonkeyPatch,
    key: str,
    size: tuple[int, int],
) -> None:
    without_credentials(monkeypatch, pinned)
    # the size of ours stands in the estimate
    prompts = pinned / ".config/ricordo/prompts"
    prompts.mkdir(parents=True)
    (prompts / "handoff.md").write_text("Use the tool `draft`.\n")

    async def ready(pilot: Pilot[int]) -> None:
        stage = await on_main(pilot)
        main = stage.main
        draft = HandoffScreen(
            SESSIONS[:1],
            DraftOptions(handoff_target("claude"), 2_000),
            cast(Drafter, Drawn(main._notebook.copy())),
            DraftDecisions(),
            main._changing,
            main.current_palette(),
            main.keymap,
        )
        stage.app.push_screen(draft)
        await drafted(stage)
        await stage.press("M")
        await stage.shows(EngineScreen)
        screen = stage.app.screen
        assert isinstance(screen, EngineScreen)
        await stage.press(key)
        await stage.wait_for(lambda: screen.preview is not None, "the preview")
        await stage.hush()

    assert snap_compare(notebook_app(build(pinned)), terminal_size=size, run_before=ready)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=lambda s: f"{s[0]}x{s[1]}")
def test_sessions(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    async def ready(pilot: Pilot[int]) -> None:
        stage = await on_main(pilot)
        main = stage.main
        choice = SessionsScreen(
            cast(Drafter, Drawn()),
            lambda _: None,
            main._changing,
            main.current_palette(),
            main.keymap,
        )
        stage.app.push_screen(choice)
        await sessions(stage)
        await stage.press("space", "j")
        await stage.hush()

    assert snap_compare(notebook_app(build(tmp_path)), terminal_size=size, run_before=ready)
