"""A project in git with a memory and a transcript, and the handoff of its work."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

from ricordo.agents.claude.folder import make_slug
from ricordo.agents.registry import find_agent
from ricordo.agents.transcripts.session import FileAction, Session
from ricordo.handoff.changes import read_dependencies
from ricordo.handoff.check import CurrentState
from ricordo.handoff.document import (
    ANY_AGENT,
    FileProof,
    Handoff,
    HandoffHeader,
    HandoffStatement,
    QuoteProof,
    ResultProof,
    SourceSession,
    StatementSection,
)
from ricordo.handoff.facts import (
    GIT_ID,
    CommandFact,
    CommandPurpose,
    Facts,
    FileUse,
    MessageFact,
    MessageRef,
    NoteFact,
)
from ricordo.handoff.format import render
from ricordo.handoff.project_git import read_git_state
from ricordo.handoff.prove import prove
from ricordo.services.handoff.resume import ResumeReport, resume_handoff
from tests.support.builders import note_text
from tests.support.transcripts import Claude
from tests.unit.machine import Machine, git

EDITED = datetime(2026, 11, 20, 7, 0, tzinfo=UTC)
"""When the files of the project were last changed."""
RAN = EDITED + timedelta(minutes=5)
"""When its tests ran."""
WRITTEN = RAN + timedelta(minutes=5)
"""When the handoff is written."""
WISH = "Make the berth alarm test green again.\nDo not touch the schema."


def write(path: Path, text: str, at: datetime = EDITED) -> Path:
    """Write a file with this time of its last change."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (at.timestamp(), at.timestamp()))
    return path


def committed(project: Path, message: str, at: datetime = EDITED) -> str:
    """Commit everything in the project at that time; return the commit."""
    git(project, "add", "-A")
    git(project, "commit", "--quiet", "-m", message, at=at.isoformat())
    return git(project, "rev-parse", "HEAD").strip()


class Tidepool:
    """The work: alarm.py was changed, its test was run."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.project = machine.directory("tidepool")
        git(self.project, "init", "--quiet", "--template=", "--initial-branch=main")
        write(self.project / "tidepool/alarm.py", "def fire(): ...\n")
        write(self.project / "tidepool/report.py", "def report(): ...\n")
        write(self.project / "tests/test_alarm.py", "def test_fire(): ...\n")
        self.commit = committed(self.project, "alarm")
        self.memory = machine.memory(self.project)
        self.note = write(self.memory / "tests.md", note_text("tests", "Run pytest.\n"))
        said = Claude(cwd=str(self.project)).says(WISH)
        self.transcript = said.write(machine.home, make_slug(str(self.project)))
        self.handoff = self.project / "HANDOFF.md"

    def facts(self) -> Facts:
        """The facts that gathering returns."""
        session = Session(find_agent("claude"), "s", str(self.transcript), str(self.project))
        at = RAN.isoformat()
        command = "pytest -q tests/test_alarm.py::test_fire"
        return Facts(
            project=str(self.project),
            sessions=(session,),
            messages=(MessageFact("f1", MessageRef(0, 1, at), WISH, is_user=True),),
            commands=(
                CommandFact(
                    "f2", MessageRef(0, 5, at), command, CommandPurpose.TEST, 0, False, "1 passed"
                ),
                CommandFact(
                    "f3",
                    MessageRef(0, 6, at),
                    "ruff check .",
                    CommandPurpose.CHECK,
                    1,
                    True,
                    "1 error",
                ),
            ),
            files=(
                self.used("f4", "tidepool/alarm.py", FileAction.EDITED),
                self.used("f5", "tidepool/report.py", FileAction.READ),
            ),
            git=read_git_state(str(self.project)),
            memory=str(self.memory),
            notes=(NoteFact("f6", "tests.md", "tests", "how", sha(self.note) or "", "bears"),),
        )

    def used(self, id: str, path: str, *deeds: FileAction) -> FileUse:
        return FileUse(id, path, deeds, MessageRef(0, 4), 1, sha(self.project / path))

    def world(self) -> CurrentState:
        return CurrentState(str(self.project), str(self.memory), now=WRITTEN.timestamp())

    def proved(self) -> tuple[HandoffStatement, ...]:
        return prove(STATEMENTS, self.facts(), self.world())

    def write_handoff(
        self, claimed: tuple[HandoffStatement, ...] | None = None, **head: object
    ) -> Path:
        """Write the handoff into the project, as proved or as claimed."""
        facts, world = self.facts(), self.world()
        statements = prove(STATEMENTS, facts, world) if claimed is None else claimed
        state = world.git
        its_head = HandoffHeader(
            written=WRITTEN,
            expires=WRITTEN + timedelta(days=7),
            target=ANY_AGENT,
            budget=4000,
            engine="rules",
            sources=(SourceSession(find_agent("claude"), "s", str(self.transcript)),),
            commit=state.commit if state else "",
            branch=state.branch if state else "",
            dirty=state.dirty if state else (),
            files=read_dependencies(statements, facts, world),
            memory=str(self.memory),
        )
        handoff = Handoff(replace(its_head, **head), statements)  # type: ignore[arg-type]
        self.handoff.write_text(render(handoff))
        return self.handoff

    def resumed(self, path: str = "") -> ResumeReport:
        return resume_handoff(self.machine.environment(self.project), path)

    def fallen(self) -> dict[str, str]:
        """The statements that are no longer valid, with their status now."""
        return fallen(self.resumed())


def fallen(found: ResumeReport) -> dict[str, str]:
    """Return what is no longer valid: the first code in each statement, with its status now."""
    statements = found.rechecked.statements
    return {
        statement.statement.text.split("`")[1]: statement.status_now.value
        for statement in statements
        if not statement.is_valid
    }


STATEMENTS = (
    HandoffStatement(
        StatementSection.OBJECTIVE,
        "The person wishes `wish`",
        QuoteProof(MessageRef(0, 1)),
        ("f1",),
        WISH,
    ),
    HandoffStatement(
        StatementSection.DONE, "`tests` succeeded", ResultProof(0, False, MessageRef(0, 5)), ("f2",)
    ),
    HandoffStatement(
        StatementSection.BLOCKED, "`ruff` failed", ResultProof(1, True, MessageRef(0, 6)), ("f3",)
    ),
    HandoffStatement(StatementSection.ACTIVE, "Branch `main`, as committed", None, (GIT_ID,)),
    HandoffStatement(StatementSection.FILES, "`tidepool/alarm.py`: edited", None, ("f4",)),
    HandoffStatement(StatementSection.FILES, "`tidepool/report.py`: only read", None, ("f5",)),
    HandoffStatement(StatementSection.MEMORY, "`tests.md`: how", None, ("f6",)),
    HandoffStatement(
        StatementSection.DECISIONS,
        "`tidepool/alarm.py` is done",
        FileProof("tidepool/alarm.py", "0" * 12),
    ),
)
"""One of each kind, the last a guess that claims a proof."""


def sha(path: Path) -> str | None:
    return sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def statuses(statements: Iterable[HandoffStatement]) -> list[str]:
    return [statement.status.value for statement in statements]
