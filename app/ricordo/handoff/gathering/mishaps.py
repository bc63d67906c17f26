"""Errors that a session came to, and what mended them: the same thing done again with success."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from ricordo.handoff.facts import Ref
from ricordo.handoff.gathering.bounded import Bounded, Recent
from ricordo.handoff.gathering.commands import Deed
from ricordo.handoff.gathering.runs import Run

_MOST = 2_000
_MOST_OPEN = 100
"""Errors whose mending is waited for."""
_MOST_CHANGES = 2_000
"""Changes that are remembered."""


@dataclass(slots=True)
class Trouble:
    """An error, and how far it is mended."""

    ref: Ref
    """The turn that told the error."""
    what: str
    error: str
    left: tuple[Deed, ...] = ()
    """What of a command has not been done again with success."""
    programs: frozenset[str] = frozenset()
    """Those that the command ran."""
    path: str = ""
    """The file at which a tool failed, which stands behind `what`."""
    mended: Ref | None = None
    by: tuple[str, ...] = ()
    """Files that were changed between the error and its mending, as the session calls them."""


@dataclass(slots=True)
class Mishaps:
    """The errors of one session."""

    kept: Bounded[Trouble] = field(default_factory=lambda: Bounded(_MOST))
    _open: deque[Trouble] = field(default_factory=lambda: deque(maxlen=_MOST_OPEN))
    """Those of commands; those at files are in `_at_files`, by their paths."""
    _at_files: Recent[str, list[Trouble]] = field(default_factory=lambda: Recent(_MOST_OPEN))
    _changes: deque[tuple[int, str]] = field(default_factory=lambda: deque(maxlen=_MOST_CHANGES))
    """Turns with the files that were changed in them."""

    def ran(self, run: Run, output: str, at: Ref) -> None:
        """Take note of a command that ended `at` a turn with this output."""
        if run.has_failed:
            self._mend_others(run, output, at)
            answers = all(deed.is_question for deed in run.deeds)
            if not answers and not self._is_repeated(run):
                wanted = _wanted(run.deeds)
                programs = frozenset(deed.program for deed in wanted)
                trouble = Trouble(at, run.command, run.error, wanted, programs)
                self.kept.add(trouble)
                self._open.append(trouble)
        elif run.has_failed is False:
            ran = {deed.program for deed in run.deeds}
            for trouble in [it for it in self._open if not it.programs.isdisjoint(ran)]:
                self._take_up(trouble, run.deeds, at)

    def failed(self, what: str, path: str, error: str, at: Ref) -> None:
        """Take note of a tool that failed at the file `path`."""
        there = self._at_files.setdefault(path, [])
        if len(there) < _MOST_OPEN and all((it.what, it.error) != (what, error) for it in there):
            there.append(Trouble(at, what, error, path=path))
            self.kept.add(there[-1])

    def changed(self, path: str, at: Ref) -> None:
        """Take note of a file that was changed."""
        self._changes.append((at.turn, path))
        for trouble in self._at_files.pop(path, ()):
            self._mend(trouble, at)

    def _mend_others(self, run: Run, output: str, at: Ref) -> None:
        """The same command may fail for another reason: then the one before is no more."""
        for trouble in list(self._open):
            if trouble.what == run.command and trouble.error and trouble.error not in output:
                self._open.remove(trouble)
                self._mend(trouble, at)

    def _is_repeated(self, run: Run) -> bool:
        """Whether the same command failed with the same error before, and nothing mended it."""
        return any(it.what == run.command and it.error == run.error for it in self._open)

    def _take_up(self, trouble: Trouble, done: Sequence[Deed], at: Ref) -> None:
        for it in done:
            trouble.left = tuple(deed for deed in trouble.left if not it.covers(deed))
        if not trouble.left:
            self._open.remove(trouble)
            self._mend(trouble, at)

    def _mend(self, trouble: Trouble, at: Ref) -> None:
        trouble.mended = at
        between = (path for turn, path in self._changes if trouble.ref.turn <= turn <= at.turn)
        trouble.by = tuple(dict.fromkeys(between))


def _wanted(done: Sequence[Deed]) -> tuple[Deed, ...]:
    """What has to succeed: all that the line ran but for what only looks or prints."""
    return tuple(deed for deed in done if not deed.is_question)
