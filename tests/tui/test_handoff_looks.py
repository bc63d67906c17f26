"""How handing off looks. `pytest --snapshot-update` accepts what is drawn now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
from textual.pilot import Pilot

from ricordo.activity.session import Agent, Deed, Session
from ricordo.curator.engine import Step
from ricordo.handoff.budget import fitted, tokens
from ricordo.handoff.destination import Destination
from ricordo.handoff.document import Handoff, Head, SourceSession, Target
from ricordo.handoff.facts import (
    GIT,
    Facts,
    FileUse,
    GitState,
    GivenUp,
    Mishap,
    NoteFound,
    Ran,
    Ref,
    Said,
    Todo,
    Work,
)
from ricordo.handoff.past import Commit
from ricordo.handoff.pickup import start_line
from ricordo.handoff.resume import Checked, Resumed
from ricordo.handoff.since import Changes, FileChange, Kind
from ricordo.handoff.statement import (
    FileIs,
    GitIs,
    Quote,
    Result,
    Section,
    Statement,
    Status,
)
from ricordo.notebook.handing_off import Composed, Draft
from ricordo.notebook.handing_over import Finished
from ricordo.notebook.resuming import Resumption
from ricordo.tui.app import RicordoApp
from ricordo.tui.drafter import Drafter
from ricordo.tui.drafting import Drafting
from ricordo.tui.handing_on import Shared
from ricordo.tui.handoffs import Ask, Earlier, Gathered, Made, Standing
from ricordo.tui.render.fact_rows import listed
from ricordo.tui.screens.handoff import HandoffScreen
from ricordo.tui.screens.main import MainScreen
from ricordo.tui.screens.sessions import SessionsScreen
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
        Agent.CLAUDE,
        "5b1c7a52",
        f"{HOME}/a.jsonl",
        HOME,
        "feat/berth-alarm",
        "Berth alarm",
        "2026-10-05T08:10:00Z",
        AT,
    ),
    Session(Agent.CODEX, "019fb100", f"{HOME}/{CONTROLS}.jsonl", ODD, MARKED, ODD, AT, AT),
)
FACTS = Facts(
    HOME,
    SESSIONS[:1],
    said=(
        Said("f1", Ref(0, 3, AT), "Make the berth alarm test green again.", is_person=True),
        Said("f2", Ref(0, 7, AT), "Do not touch the schema.", is_person=True),
        Said("f3", Ref(0, 9, AT), f"Looking at it. {ODD}", is_person=False),
    ),
    ran=(
        Ran(
            "f4",
            Ref(0, 41, AT),
            "pytest -q tests/test_berth_alarm.py",
            Work.TEST,
            0,
            False,
            "12 passed",
        ),
        Ran("f5", Ref(0, 43, AT), f"ruff {MARKED}", Work.CHECK, 1, True, CONTROLS, (ALARM,)),
    ),
    files=(
        FileUse("f6", ALARM, (Deed.READ, Deed.EDITED), Ref(0, 40, AT), 3, SHA),
        FileUse("f7", REPORT, (Deed.DELETED,), Ref(0, 38, AT), 1, None, is_gone=True),
        FileUse("f8", f"/home/ana/{MARKED}", (Deed.READ,), Ref(0, 12, AT), 0, None),
    ),
    todos=(Todo("f9", Ref(0, 30, AT), "Fix the report", "in_progress"),),
    mishaps=(Mishap("f10", Ref(0, 20, AT), "pytest -q", "AssertionError", Ref(0, 41, AT), ALARM),),
    given_up=(GivenUp("f11", Ref(0, 25, AT), "Rounding to the minute", "broke two tests"),),
    git=GitState("4f1e2d3a9b0c" + "0" * 28, "feat/berth-alarm", (ALARM,), 2, "berth alarm"),
    notes=(NoteFound("f12", "feedback_tests.md", "tests", "how tests run", SHA, "tests"),),
)
STATEMENTS = (
    Statement(Section.OBJECTIVE, "Asked first", Quote(Ref(0, 3)), ("f1",), FACTS.said[0].text),
    Statement(
        Section.CONSTRAINTS, "Limit", Quote(Ref(0, 7)), ("f2",), f"{FACTS.said[1].text}\n{ODD}"
    ),
    Statement(
        Section.ACTIVE,
        "Branch `feat/berth-alarm` at 4f1e2d3a9b0c; not committed: 1 file",
        GitIs("4f1e2d3a9b0c", "feat/berth-alarm", 1),
        (GIT,),
    ),
    Statement(
        Section.DONE,
        "`pytest -q tests/test_berth_alarm.py`: 12 passed",
        Result(0, False, Ref(0, 41, AT)),
        ("f4",),
    ),
    Statement(
        Section.ERRORS,
        f"`ruff {MARKED}` failed",
        Result(1, True, Ref(0, 43, AT), (ALARM,)),
        ("f5",),
    ),
    Statement(Section.FILES, f"`{ALARM}` (transcript: edited)", FileIs(ALARM, SHA[:12]), ("f6",)),
    Statement(Section.RULED_OUT, f"Rounding to the minute. {ODD}", None, ("f11",)),
    Statement(Section.NEXT, "Change `<` to `<=` in tidepool/report.py:14", None, ("f9", "f7")),
    Statement(Section.MESSAGES, "All of it", Quote(Ref(0, 9)), ("f3",), "word " * 3_000),
)
HEAD = Head(
    WRITTEN,
    WRITTEN.replace(day=12),
    Target.CLAUDE,
    2_000,
    "rules",
    (SourceSession(Agent.CLAUDE, "5b1c7a52", f"{HOME}/a.jsonl"),),
    commit="4f1e2d3a9b0c",
    redactions=2,
)
CHECKED = (
    Checked(STATEMENTS[0], Status.QUOTED),
    Checked(STATEMENTS[3], Status.STALE, f"{ALARM} changed since", (ALARM,)),
    Checked(STATEMENTS[5], Status.STALE, f"{ALARM} is 1a2b3c4d5e6f {CONTROLS}"),
    Checked(STATEMENTS[6], Status.UNVERIFIED),
)
CHANGES = Changes(
    (Commit("9b0c4f1e2d3a" + "0" * 28, f"The report counts again {ODD}"),),
    (FileChange(ALARM, Kind.CHANGED), FileChange(REPORT, Kind.RENAMED, f"{MARKED}.py")),
    (FileChange("feedback_tests.md", Kind.DELETED),),
)


class Drawn:
    """Hands off what is written above."""

    def sessions(self, step: Step) -> Sequence[Session]:
        return SESSIONS

    def earlier(self) -> Sequence[Earlier]:
        names = ("HANDOFF.md", "HANDOFF.new.md")
        return [Earlier(f"{HOME}/{name}", name) for name in names]

    def look_at(self, it: Earlier, step: Step) -> Standing:
        if it.name == "HANDOFF.new.md":
            return Standing(None, f"It is no handoff of ours. {ODD}")
        resumed = Resumed(Handoff(HEAD, STATEMENTS), CHECKED, CHANGES, True, False)
        return Standing(Resumption(it.path, HOME, resumed, (f"A remark. {CONTROLS}",)))

    def gather(self, sessions: Sequence[Session], ask: Ask, step: Step) -> Gathered:
        to = Destination(
            f"{HOME}/HANDOFF.new.md", remark="HANDOFF.md is left alone. It is not ours."
        )
        draft = Draft(FACTS, Handoff(HEAD, STATEMENTS), to, cast(Any, None))
        shown = {it: it for it in STATEMENTS}
        return Gathered(FACTS, shown, draft, listed(FACTS), Composed(STATEMENTS))

    def make(self, gathered: Gathered, wanted: Sequence[Statement]) -> Made:
        handoff = fitted(replace(gathered.draft.handoff, statements=tuple(wanted)))
        done = Finished(handoff, "", tokens(handoff))
        return Made(gathered.draft, done, start_line(Target.CLAUDE, "HANDOFF.new.md"))


async def on_main(pilot: Pilot[int]) -> Stage:
    app = pilot.app
    assert isinstance(app, RicordoApp)
    stage = Stage(app, pilot)
    await stage.wait_for(lambda: isinstance(app.screen, MainScreen) and stage.looked)
    # what it tells comes before the pictures, and can be taken away
    await stage.wait_for(lambda: stage.main._past.counted, "the first recording")
    await stage.settle()
    return stage


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=lambda s: f"{s[0]}x{s[1]}")
def test_draft(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    async def ready(pilot: Pilot[int]) -> None:
        stage = await on_main(pilot)
        main = stage.main
        ask = Ask(Target.CLAUDE, 2_000)
        drafter, hands = cast(Drafter, Drawn()), main._changing
        draft = HandoffScreen(
            SESSIONS[:1], ask, drafter, Drafting(), hands, Shared(), main.styles_now(), main.keymap
        )
        stage.app.push_screen(draft)
        await drafted(stage)
        await go_to(stage, draft, "Rounding")
        await stage.press("d")
        await drafted(stage)
        await go_to(stage, draft, "12 passed")
        await stage.hush()

    assert snap_compare(notebook_app(build(tmp_path)), terminal_size=size, run_before=ready)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=lambda s: f"{s[0]}x{s[1]}")
def test_sessions(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    async def ready(pilot: Pilot[int]) -> None:
        stage = await on_main(pilot)
        main = stage.main
        choice = SessionsScreen(
            cast(Drafter, Drawn()), lambda _: None, main._changing, main.styles_now(), main.keymap
        )
        stage.app.push_screen(choice)
        await sessions(stage)
        await stage.press("space", "j")
        await stage.hush()

    assert snap_compare(notebook_app(build(tmp_path)), terminal_size=size, run_before=ready)
