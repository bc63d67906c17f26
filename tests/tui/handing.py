"""A project in git with a memory and sessions of agents, to be handed off on the screen."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path

from ricordo.agents.claude.folder import make_slug
from ricordo.tui.handoff.screen import HandoffScreen
from ricordo.tui.handoff.sessions_screen import SessionsScreen
from tests.support.transcripts import BEGAN, SESSION, Claude
from tests.tui.stage import Stage, build, staged, text_of
from tests.unit.machine import git

WISH = "Make the berth alarm test green again. Do not touch the schema."
LATER = "And never round the estimated time of arrival."
ALARM = "tidepool/alarm.py"


def project(folder: Path) -> Path:
    """Make a project in git, with a memory in it; return the memory."""
    root = build(folder)
    home = root.parent
    git(home, "init", "--quiet", "--template=")
    (home / "tidepool").mkdir()
    (home / ALARM).write_text("def fire(): ...\n")
    edited = (BEGAN + timedelta(minutes=5)).timestamp()
    os.utime(home / ALARM, (edited, edited))
    (home / ".gitignore").write_text("memory/\n")
    git(home, "add", "-A")
    git(home, "commit", "--quiet", "-m", "alarm", at=BEGAN.isoformat())
    return root


def worked(root: Path, *said: str, session: str = SESSION, began: datetime = BEGAN) -> Claude:
    """Return a session of the project in which the alarm was changed and its test was run."""
    home = root.parent
    told = Claude(session, str(home), began).titled("Berth alarm").says(said[0] if said else WISH)
    told.uses("Read", file_path=f"{home}/{ALARM}")
    told.uses("Edit", file_path=f"{home}/{ALARM}", old_string="a", new_string="b")
    told.uses("Bash", command="pytest -q tests/test_alarm.py")
    told.answers("The test is green. Next I would look at the report.")
    for text in said[1:]:
        told.says(text).answers("Understood.")
    return told


def let_work(root: Path, *said: str, session: str = SESSION, days: int = 0) -> Path:
    """Let an agent have worked in the project; return the transcript."""
    told = worked(root, *said, session=session, began=BEGAN + timedelta(days=days))
    return told.write(Path(os.environ["HOME"]), make_slug(str(root.parent)))


async def sessions(stage: Stage) -> SessionsScreen:
    """Wait until there is something to choose from, and all of it was looked at."""
    await stage.shows(SessionsScreen)
    screen = stage.app.screen
    assert isinstance(screen, SessionsScreen)
    await stage.wait_for(lambda: screen.is_loaded and screen._jobs.now is None, "the sessions")
    await stage.settle()
    return screen


async def drafted(stage: Stage) -> HandoffScreen:
    """Wait until the draft on the screen is what was wished last."""
    await stage.shows(HandoffScreen)
    screen = stage.app.screen
    assert isinstance(screen, HandoffScreen)
    await stage.wait_for(lambda: screen.finished and screen._jobs.now is None, "the draft")
    await stage.calm()
    await stage.settle()
    return screen


@asynccontextmanager
async def drafting(
    root: Path, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[Stage, HandoffScreen]]:
    """Open the notebook, and the draft of the latest session."""
    async with staged(root, size, known=False) as stage:
        await stage.press("w")
        await sessions(stage)
        await stage.press("enter")
        yield stage, await drafted(stage)


async def go_to(stage: Stage, screen: HandoffScreen, words: str) -> None:
    """Put the cursor on the statement with `words`."""
    numbers = (
        n
        for n, it in enumerate(screen._drafted)
        if words in f"{it.statement.text}\n{it.statement.quote}"
    )
    screen._draft.go_to(next(numbers))
    await stage.settle()


def draft_of(screen: HandoffScreen) -> str:
    """Return every row of the draft."""
    return text_of(screen._draft)
