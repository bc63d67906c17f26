"""Which files were changed after a moment, in whichever session."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from ricordo.handoff.facts import Ref

MOST = 50
"""Files that are named, the ones that were changed last."""

_Change = tuple[Ref, str]


class Changes:
    """The last change of each file in each session."""

    def __init__(self, sessions: Sequence[Iterable[_Change]]) -> None:
        """`sessions` has for each session when it changed which file of the project last."""
        found = [list(changes) for changes in sessions]
        self._by_turn = [sorted(of_one, key=lambda it: it[0].turn) for of_one in found]
        self._by_time = [sorted(of_one, key=lambda it: it[0].at) for of_one in found]
        self._turns = [[ref.turn for ref, _ in of_one] for of_one in self._by_turn]
        self._times = [[ref.at for ref, _ in of_one] for of_one in self._by_time]

    def after(self, moment: Ref) -> tuple[str, ...]:
        """Return the files that were changed after `moment`. Within its session the order of turns
        tells, as clocks may run backwards; beside it the time; without one the order of sessions.
        """
        found: list[_Change] = []
        for session in range(len(self._by_turn)):
            found += self._of_session(session, moment)
        found.sort(key=lambda it: (it[0].at, it[0].session, it[0].turn))
        return tuple(dict.fromkeys(path for _, path in found[-MOST:]))

    def _of_session(self, session: int, moment: Ref) -> Sequence[_Change]:
        if session == moment.session:
            first = bisect_right(self._turns[session], moment.turn)
            return self._by_turn[session][max(first, len(self._by_turn[session]) - MOST) :]
        if not moment.at:
            return self._by_turn[session][-MOST:] if session > moment.session else ()
        first = bisect_right(self._times[session], moment.at)
        return self._by_time[session][max(first, len(self._by_time[session]) - MOST) :]
