"""Commands that matter to whoever goes on: the last time that each was run, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ricordo.handoff.composing.refusals import Refusals
from ricordo.handoff.composing.words import has
from ricordo.handoff.facts import Facts, Ran, Work
from ricordo.handoff.statement import Result


@dataclass(frozen=True, slots=True)
class Runs:
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


def runs(facts: Facts, refusals: Refusals) -> Runs:
    """Return the last runs of the commands in `facts` that matter."""
    last = sorted(_last(facts), key=lambda it: it.ref[:2])
    good = {_kind(it): it.ref[:2] for it in last if it.has_failed is False}
    told = {_kind(it): it.ref[:2] for it in last if it.has_failed is not None}
    return Runs(
        tuple(it for it in last if it.has_failed is False),
        tuple(it for it in last if it.has_failed and it.ref[:2] > good.get(_kind(it), (0, 0))),
        tuple(
            it for it in last if it.has_failed is None and it.ref[:2] > told.get(_kind(it), (0, 0))
        ),
        frozenset(it.command for it in last if refusals.names(it.command)),
    )


def result_of(ran: Ran) -> Result | None:
    """Return the proof that the transcript tells how it ended; None where it does not."""
    if ran.has_failed is None:
        return None
    return Result(ran.exit, ran.has_failed, ran.ref, ran.changed_since)


def _kind(ran: Ran) -> str:
    """Return what a command is a kind of: tests, checks, else what it begins with."""
    return " ".join(ran.command.split()[:2]) if ran.work is Work.OTHER else ran.work.value


def _last(facts: Facts) -> Iterator[Ran]:
    matter = (it for it in facts.ran if it.work is not Work.OTHER or has("deed", it.command))
    yield from {" ".join(it.command.split()): it for it in matter}.values()
