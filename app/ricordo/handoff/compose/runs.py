"""Commands that matter to whoever goes on: the last time that each was run, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ricordo.handoff.compose.refusals import Refusals
from ricordo.handoff.compose.talk import Place, place
from ricordo.handoff.compose.words import has
from ricordo.handoff.document import HandoffStatement, QuoteMark, ResultMark, StatementSection
from ricordo.handoff.facts import Facts, Ran, Todo, Work


@dataclass(frozen=True, slots=True)
class LastRuns:
    """The last run of every test and check, and of what did more than change files, in the order
    of time.
    """

    succeeded: tuple[Ran, ...]
    failed: tuple[Ran, ...]
    """Those that fail still, as far as the transcript tells: nothing of their kind went well
    afterwards.
    """
    untold: tuple[Ran, ...]
    """Those of which the transcript does not tell how they ended, nor of one of their kind that
    was run afterwards.
    """
    refused: frozenset[str] = frozenset()
    """Commands that may not be run any more."""

    @property
    def to_run(self) -> Ran | None:
        """The one that tells most of the work: a test that fails, else what fails, else the last
        test, else the last check. None that may not be run.
        """
        known = [
            it
            for it in (*self.failed, *self.succeeded)
            if it.work is not Work.OTHER and it.command not in self.refused
        ]
        weights = sorted(known, key=lambda it: (bool(it.has_failed), it.work is Work.TEST, it.ref))
        return weights[-1] if weights else None


def runs(facts: Facts, refusals: Refusals) -> LastRuns:
    """Return the last runs of the commands in `facts` that matter."""
    last = sorted(_last(facts), key=lambda it: it.ref[:2])
    good = {_kind(it): it.ref[:2] for it in last if it.has_failed is False}
    told = {_kind(it): it.ref[:2] for it in last if it.has_failed is not None}
    return LastRuns(
        tuple(it for it in last if it.has_failed is False),
        tuple(it for it in last if it.has_failed and it.ref[:2] > good.get(_kind(it), (0, 0))),
        tuple(
            it for it in last if it.has_failed is None and it.ref[:2] > told.get(_kind(it), (0, 0))
        ),
        frozenset(it.command for it in last if refusals.names(it.command)),
    )


def result_of(ran: Ran) -> ResultMark | None:
    """Return the proof that the transcript tells how it ended; None where it does not."""
    if ran.has_failed is None:
        return None
    return ResultMark(ran.exit, ran.has_failed, ran.ref, ran.changed_since)


def _kind(ran: Ran) -> str:
    """Return what a command is a kind of: tests, checks, else what it begins with."""
    return " ".join(ran.command.split()[:2]) if ran.work is Work.OTHER else ran.work.value


def _last(facts: Facts) -> Iterator[Ran]:
    matter = (it for it in facts.ran if it.work is not Work.OTHER or has("deed", it.command))
    yield from {" ".join(it.command.split()): it for it in matter}.values()


_MOST = 12
_SECTIONS = {
    "completed": (StatementSection.DONE, "completed"),
    "in_progress": (StatementSection.ACTIVE, "begun"),
    "pending": (StatementSection.NEXT, "pending"),
}


def tasks(facts: Facts, status: str) -> Iterator[HandoffStatement]:
    """Yield what stands on the list with this status: once for every turn that wrote of it, a line
    a task.
    """
    section, name = _SECTIONS[status]
    of_status = [it for it in facts.todos if it.status == status]
    kept = of_status[-_MOST:] if section is StatementSection.DONE else of_status[:_MOST]
    by_turn: dict[Place, list[Todo]] = {}
    for it in kept:
        by_turn.setdefault(place(it.ref), []).append(it)
    for together in by_turn.values():
        quote = "\n".join(it.text for it in together)
        ids = tuple(it.id for it in together)
        yield HandoffStatement(
            section, f"On the agent's list as {name}", QuoteMark(together[0].ref), ids, quote
        )
