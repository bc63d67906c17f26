"""Commands that matter to whoever goes on: the last time that each was run, and how it ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ricordo.handoff.facts import Facts, Ran, Work
from ricordo.handoff.statement import Result


@dataclass(frozen=True, slots=True)
class Runs:
    """The last run of every test and check, in the order of time."""

    succeeded: tuple[Ran, ...]
    failed: tuple[Ran, ...]
    """Those that fail still, as far as the transcript tells: nothing of their kind went well
    afterwards.
    """
    untold: tuple[Ran, ...]
    """Those of which the transcript does not tell how they ended."""

    @property
    def to_run(self) -> Ran | None:
        """The one that tells most of the work: a test that fails, else the last test, else the
        last check.
        """
        known = sorted((*self.failed, *self.succeeded), key=lambda it: it.ref[:2])
        for of_kind in (
            [it for it in self.failed if it.work is Work.TEST],
            list(self.failed),
            [it for it in known if it.work is Work.TEST],
            known,
        ):
            if of_kind:
                return of_kind[-1]
        return None


def runs(facts: Facts) -> Runs:
    """Return the last runs of the tests and checks in `facts`."""
    last = sorted(_last(facts.ran), key=lambda it: it.ref[:2])
    good = {it.work: it.ref[:2] for it in last if it.has_failed is False}
    return Runs(
        tuple(it for it in last if it.has_failed is False),
        tuple(it for it in last if it.has_failed and it.ref[:2] > good.get(it.work, (0, 0))),
        tuple(it for it in last if it.has_failed is None),
    )


def result_of(ran: Ran) -> Result | None:
    """Return the proof that the transcript tells how it ended; None where it does not."""
    if ran.has_failed is None:
        return None
    return Result(ran.exit, ran.has_failed, ran.ref, ran.changed_since)


def _last(ran: Iterable[Ran]) -> Iterator[Ran]:
    by_command = {" ".join(it.command.split()): it for it in ran if it.work is not Work.OTHER}
    yield from by_command.values()
