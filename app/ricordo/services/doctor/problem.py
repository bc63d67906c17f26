"""A problem that a diagnosis found, and what would repair it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ricordo.lint.finding import Severity


@dataclass(frozen=True, slots=True)
class MoveRepair:
    """Moves notes from one memory to another."""

    source: str
    """The directory of the memory that they leave."""
    target: str
    """The directory of the other one, there or not."""
    project: str
    """The project whose sessions load the target."""
    title: str
    """The heading of what comes from the index, where the other memory has one."""
    reason: str
    """Why, for the history."""
    only: tuple[str, ...] | None = None
    """The paths of the notes; None for all."""
    is_of_part: bool = False
    """Whether they are those of a worktree or folder of the project: what is true there does not
    replace what is true of the whole.
    """

    @property
    def label(self) -> str:
        """The repair in a few words."""
        count = len(self.only or ())
        notes = "the notes" if self.only is None else "1 note" if count == 1 else f"{count} notes"
        return f"move {notes} to {self.target}"


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem."""

    check: str
    """The name of the check that found it."""
    severity: Severity
    what: str
    """What is wrong, as a sentence."""
    evidence: tuple[str, ...] = ()
    """How that is known, a line each."""
    advice: str = ""
    """What to do, as a sentence."""
    paths: tuple[str, ...] = ()
    """The files and folders that it is about; they make its id."""
    other_places: tuple[str, ...] = ()
    """What else holds the path of a moved project, and is left alone."""
    repair: MoveRepair | None = field(default=None)
    """None where nothing can be done for the user."""

    @property
    def id(self) -> str:
        """Its id, the same as long as the cause exists."""
        whole = "\0".join((self.check, *self.paths))
        return hashlib.blake2b(whole.encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()


def shorten_paths(problem: Problem, shorten: Callable[[str], str]) -> Problem:
    """Return a problem to show, with its texts as `shorten` returns them."""
    repair = problem.repair
    return replace(
        problem,
        what=shorten(problem.what),
        evidence=tuple(map(shorten, problem.evidence)),
        advice=shorten(problem.advice),
        other_places=tuple(map(shorten, problem.other_places)),
        repair=replace(repair, target=shorten(repair.target)) if repair else None,
    )
