"""Judging arrivals: what was seen of the inbox, and what is marked to be taken back."""

from __future__ import annotations

from collections.abc import Mapping

from ricordo.notebook.inbox import Arrival, Inbox


class Judging:
    """What a person has done with one inbox so far; nothing of it is written."""

    def __init__(self) -> None:
        """Nothing was seen or marked yet."""
        self.seen: set[str] = set()
        """Ids of arrivals whose diff was on the screen to its end."""
        self._marks: dict[str, frozenset[int]] = {}

    @property
    def marks(self) -> Mapping[str, frozenset[int]]:
        """The hunks to be reverted by the id of their arrival; none means all of it."""
        return self._marks

    def hunks(self, arrival: Arrival) -> int | None:
        """Return how many hunks are marked, 0 for all; None where the arrival is not marked."""
        marked = self._marks.get(arrival.id)
        return None if marked is None else len(marked)

    def turn(self, arrival: Arrival) -> bool:
        """Mark all of an arrival, or take its mark away; say whether it is marked now."""
        if self._marks.pop(arrival.id, None) is not None:
            return False
        self._marks[arrival.id] = frozenset()
        return True

    def mark_hunks(self, arrival: Arrival, hunks: frozenset[int]) -> None:
        """Mark these hunks of an arrival and no others."""
        self._marks.pop(arrival.id, None)
        if hunks:
            self._marks[arrival.id] = hunks

    def forget(self, *ids: str) -> None:
        """Take the marks of arrivals away."""
        for id_ in ids:
            self._marks.pop(id_, None)

    def keep_to(self, earlier: Inbox, inbox: Inbox) -> None:
        """Forget the marks of what is no longer as it was: its hunks are others now."""
        same = {arrival.id for arrival in inbox.waiting if arrival in earlier.arrivals}
        self._marks = {id_: hunks for id_, hunks in self._marks.items() if id_ in same}

    def unseen(self, inbox: Inbox) -> frozenset[str]:
        """Return the ids of what stays new when the visit ends."""
        waiting = (arrival.id for arrival in inbox.waiting)
        return frozenset(id_ for id_ in waiting if id_ not in self.seen or id_ in self._marks)

    def is_a_visit(self, inbox: Inbox) -> bool:
        """Say whether anything was seen or decided, so that the visit counts."""
        return any(arrival.id not in self.unseen(inbox) for arrival in inbox.arrivals)
