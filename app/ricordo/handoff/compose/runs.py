"""The last run of each relevant command, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ricordo.handoff.compose.conversation import ConversationPlace, find_place
from ricordo.handoff.compose.phrases import has_phrase
from ricordo.handoff.compose.refusals import Refusals
from ricordo.handoff.document import HandoffStatement, QuoteProof, ResultProof, StatementSection
from ricordo.handoff.facts import CommandFact, CommandPurpose, Facts, TaskFact


@dataclass(frozen=True, slots=True)
class LastRuns:
    """The last run of every test and check, and of commands that do more than change files, in the
    order of time.
    """

    succeeded: tuple[CommandFact, ...]
    failed: tuple[CommandFact, ...]
    """Those that still fail according to the transcript: nothing of their kind succeeded later."""
    unreported: tuple[CommandFact, ...]
    """Those whose end the transcript does not report, nor that of a later one of their kind."""
    refused: frozenset[str] = frozenset()
    """Commands that may no longer be run."""

    @property
    def to_run(self) -> CommandFact | None:
        """The one that says most about the work: a failing test, else what fails, else the last
        test, else the last check. None where it may not be run.
        """
        candidates = [
            run
            for run in (*self.failed, *self.succeeded)
            if run.purpose is not CommandPurpose.OTHER and run.command not in self.refused
        ]
        weights = sorted(
            candidates,
            key=lambda candidates: (
                bool(candidates.has_failed),
                candidates.purpose is CommandPurpose.TEST,
                candidates.ref,
            ),
        )
        return weights[-1] if weights else None


def find_last_runs(facts: Facts, refusals: Refusals) -> LastRuns:
    """Return the last runs of the relevant commands in `facts`."""
    last = sorted(_list_last(facts), key=lambda run: run.ref[:2])
    succeeded = {_classify(run): run.ref[:2] for run in last if run.has_failed is False}
    ended = {_classify(run): run.ref[:2] for run in last if run.has_failed is not None}
    return LastRuns(
        tuple(run for run in last if run.has_failed is False),
        tuple(
            run
            for run in last
            if run.has_failed and run.ref[:2] > succeeded.get(_classify(run), (0, 0))
        ),
        tuple(
            run
            for run in last
            if run.has_failed is None and run.ref[:2] > ended.get(_classify(run), (0, 0))
        ),
        frozenset(run.command for run in last if refusals.is_named_in(run.command)),
    )


def build_result_proof(ran: CommandFact) -> ResultProof | None:
    """Return the proof of how a command ended; None where the transcript does not report it."""
    if ran.has_failed is None:
        return None
    return ResultProof(ran.exit, ran.has_failed, ran.ref, ran.changed_since)


def _classify(ran: CommandFact) -> str:
    """Return the kind of a command: tests, checks, else its first words."""
    return (
        " ".join(ran.command.split()[:2])
        if ran.purpose is CommandPurpose.OTHER
        else ran.purpose.value
    )


def _list_last(facts: Facts) -> Iterator[CommandFact]:
    matter = (
        run
        for run in facts.commands
        if run.purpose is not CommandPurpose.OTHER or has_phrase("deed", run.command)
    )
    yield from {" ".join(run.command.split()): run for run in matter}.values()


_MAX_TASKS = 12
_SECTIONS = {
    "completed": (StatementSection.DONE, "completed"),
    "in_progress": (StatementSection.ACTIVE, "begun"),
    "pending": (StatementSection.NEXT, "pending"),
}


def compose_tasks(facts: Facts, status: str) -> Iterator[HandoffStatement]:
    """Yield the tasks with this status: one statement for each message that listed them, a line for
    each task.
    """
    section, name = _SECTIONS[status]
    of_status = [task for task in facts.tasks if task.status == status]
    selected = (
        of_status[-_MAX_TASKS:] if section is StatementSection.DONE else of_status[:_MAX_TASKS]
    )
    by_turn: dict[ConversationPlace, list[TaskFact]] = {}
    for task in selected:
        by_turn.setdefault(find_place(task.ref), []).append(task)
    for of_turn in by_turn.values():
        quote = "\n".join(task.text for task in of_turn)
        ids = tuple(task.id for task in of_turn)
        yield HandoffStatement(
            section, f"On the agent's list as {name}", QuoteProof(of_turn[0].ref), ids, quote
        )
