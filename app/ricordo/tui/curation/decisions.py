"""Deciding on proposals: what the person takes, refuses, leaves out. Nothing of it is written."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import Enum, auto

from ricordo.curation.pending import Waiting
from ricordo.curation.proposal import Rejected
from ricordo.memory.change import Edit
from ricordo.services.curation.decision import Hunks, Shown
from ricordo.services.curation.preparation import SkippedInput


class Mark(Enum):
    """What was decided of a proposal."""

    OPEN = auto()
    TAKEN = auto()
    REFUSED = auto()
    WRITTEN = auto()


Thing = Shown | Rejected | SkippedInput | str
"""What a row of the list is about; words of our own are a line above others."""


class Deciding:
    """The decisions on what waits in one memory, for as long as it is open."""

    def __init__(self) -> None:
        """Nothing was shown yet."""
        self._seen: dict[str, int] = {}
        """The proposals that were shown, numbered as they came."""
        self._marks: dict[str, Mark] = {}
        self._left_out: dict[str, frozenset[tuple[int, int]]] = {}
        self._nothing: set[str] = set()
        """Proposals of which every hunk is left out."""
        self._shown: dict[str, tuple[Edit, ...]] = {}
        """What was shown to its end of each proposal."""
        self._written: dict[str, Shown] = {}
        """Those that were written here; an undo by whatever process makes them pending again."""
        self._applied: frozenset[str] = frozenset()
        self.rejected: Sequence[Rejected] = ()
        """What the checks rejected of the last curation, until the next one."""
        self.skipped: Sequence[SkippedInput] = ()
        """What was not read in it."""

    def things(self, waiting: Sequence[Shown], applied: Collection[str]) -> list[Thing]:
        """Return what is to be listed: what is pending, what was written, what the checks rejected,
        what was not read. `applied` are the ids of all proposals that are applied now.
        """
        self._applied = frozenset(applied)
        things: list[Thing] = [*self._arranged(waiting)]
        for it in self.written:
            self.mark(it, Mark.WRITTEN)
        if self.written:
            things += ["written, u undoes it", *self.written]
        if self.rejected:
            things += ["rejected by checks", *self.rejected]
        if self.skipped:
            things += ["not read", *self.skipped]
        return things

    def _arranged(self, shown: Sequence[Shown]) -> list[Shown]:
        """Return the proposals with those on one note together, in the order in which they were
        seen first. None is accepted before the user accepts it: not one that is new, nor one that
        was written and undone; what no longer fits is not accepted any more.
        """
        first: dict[str, int] = {}
        for it in shown:
            number = self._seen.setdefault(it.waiting.id, len(self._seen))
            first[it.waiting.path] = min(first.get(it.waiting.path, number), number)
            mark = self.of(it)
            if mark is Mark.WRITTEN or (it.why_not and mark is Mark.TAKEN):
                self.mark(it, Mark.OPEN)
        return sorted(shown, key=lambda it: (first[it.waiting.path], self._seen[it.waiting.id]))

    def replaced(self, old: Waiting, new: Waiting) -> None:
        """Know that a proposal stands in the place of another one: it is not decided yet."""
        self._seen[new.id] = self._seen[old.id]
        self._marks[new.id] = Mark.OPEN

    def of(self, it: Shown) -> Mark:
        """Return what was decided of a proposal."""
        return self._marks.get(it.waiting.id, Mark.OPEN)

    def mark(self, it: Shown, mark: Mark) -> None:
        """Decide on a proposal."""
        self._marks[it.waiting.id] = mark

    def turn(self, it: Shown, mark: Mark) -> bool:
        """Decide on a proposal, or take that back; say whether it is decided now."""
        is_new = self.of(it) is not mark
        self.mark(it, mark if is_new else Mark.OPEN)
        return is_new

    def taken(self, shown: Iterable[Shown]) -> list[Shown]:
        """Return those that are to be written: where every hunk is left out nothing is."""
        return [it for it in shown if self.of(it) is Mark.TAKEN and not self.is_nothing(it)]

    def refused(self, shown: Iterable[Shown]) -> list[Waiting]:
        """Return those that are to be kept away."""
        return [it.waiting for it in shown if self.of(it) is Mark.REFUSED]

    # Hunks

    def left_out(self, it: Shown) -> Hunks:
        """Return the hunks of a proposal that are left out, by edit and number."""
        return self._left_out.get(it.waiting.id, frozenset())

    def leave_out(self, it: Shown, hunks: Hunks, of: Hunks) -> None:
        """Leave these `of` the hunks of a proposal out and no others."""
        self._left_out[it.waiting.id] = frozenset(hunks)
        change = self._nothing.add if it.is_nothing_without(hunks, of) else self._nothing.discard
        change(it.waiting.id)

    def is_nothing(self, it: Shown) -> bool:
        """Say whether all hunks of a proposal are left out."""
        return it.waiting.id in self._nothing

    # What was shown to its end

    def was_shown(self, it: Shown) -> bool:
        """Know that a proposal was shown to its end as it is; say whether that is new."""
        is_new = not self.is_shown(it)
        self._shown[it.waiting.id] = it.edits
        return is_new

    def is_shown(self, it: Shown) -> bool:
        """Say whether a proposal, as it is, was shown to its end."""
        return self._shown.get(it.waiting.id) == it.edits

    # What was written

    @property
    def written(self) -> tuple[Shown, ...]:
        """The proposals that were written here and are not undone."""
        return tuple(it for id, it in self._written.items() if id in self._applied)

    def wrote(self, proposals: Sequence[Shown]) -> None:
        """Know that proposals were written."""
        self._written |= {it.waiting.id: it for it in proposals}
        self._applied |= {it.waiting.id for it in proposals}
        for it in proposals:
            self.mark(it, Mark.WRITTEN)

    def leave(self) -> None:
        """Look no longer at what was written."""
        self._written.clear()

    # What was rejected

    @property
    def has_to_send_back(self) -> bool:
        """Whether anything of what was rejected can be sent back."""
        return any(it.said for it in self.rejected)

    def can_send_back(self, it: Thing | None) -> bool:
        """Say whether a row is about what was rejected and not sent back yet: it may be drawn for
        a moment longer.
        """
        return (
            isinstance(it, Rejected) and bool(it.said) and any(it is own for own in self.rejected)
        )

    def sends_back(self, rejected: Rejected) -> None:
        """Know that it was sent back."""
        self.rejected = tuple(it for it in self.rejected if it is not rejected)


def is_same(one: Thing | None, other: Thing | None) -> bool:
    """Say whether two rows are about the same thing, as it was or as it is."""
    if isinstance(one, Shown) and isinstance(other, Shown):
        return one.waiting.id == other.waiting.id
    return one == other
