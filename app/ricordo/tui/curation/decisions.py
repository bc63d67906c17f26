"""The user's decisions on proposals: accepted, refused, hunks left out. Nothing is written here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import Enum, auto

from ricordo.curation.pending import Waiting
from ricordo.curation.proposal import Rejected
from ricordo.memory.change import Edit
from ricordo.services.curation.decision import Hunks, Shown
from ricordo.services.curation.preparation import SkippedInput


class Mark(Enum):
    """The decision on a proposal."""

    OPEN = auto()
    TAKEN = auto()
    REFUSED = auto()
    WRITTEN = auto()


Thing = Shown | Rejected | SkippedInput | str
"""What a row of the list shows; a string is the title of the rows below it."""


class Deciding:
    """The decisions on the pending proposals of one memory, as long as it is open."""

    def __init__(self) -> None:
        """Start without decisions."""
        self._numbers: dict[str, int] = {}
        """Numbers of the proposals by id, in the order in which they were first shown."""
        self._marks: dict[str, Mark] = {}
        self._left_out: dict[str, frozenset[tuple[int, int]]] = {}
        self._emptied: set[str] = set()
        """Ids of the proposals whose hunks are all left out."""
        self._read_edits: dict[str, tuple[Edit, ...]] = {}
        """The edits that were scrolled to their end, by proposal id."""
        self._written: dict[str, Shown] = {}
        """Proposals written here, by id; an undo by any process makes them pending again."""
        self._applied: frozenset[str] = frozenset()
        self.rejected: Sequence[Rejected] = ()
        """Changes of the last curation that the checks rejected, until the next curation."""
        self.skipped: Sequence[SkippedInput] = ()
        """Input that the last curation did not read."""

    def things(self, pending: Sequence[Shown], applied: Collection[str]) -> list[Thing]:
        """Return the rows: pending proposals, written ones, rejected changes, input not read.
        `applied` are the ids of all proposals that are applied now.
        """
        self._applied = frozenset(applied)
        things: list[Thing] = [*self._order(pending)]
        for proposal in self.written:
            self.mark(proposal, Mark.WRITTEN)
        if self.written:
            things += ["written · u undoes", *self.written]
        if self.rejected:
            things += ["rejected by checks", *self.rejected]
        if self.skipped:
            things += ["not read", *self.skipped]
        return things

    def _order(self, shown: Sequence[Shown]) -> list[Shown]:
        """Return the proposals grouped by note, in the order in which they were first shown.
        Proposals that were written and undone are undecided again, and so are accepted ones that no
        longer apply: none is accepted unless the user accepts it.
        """
        first: dict[str, int] = {}
        for each in shown:
            number = self._numbers.setdefault(each.waiting.id, len(self._numbers))
            first[each.waiting.path] = min(first.get(each.waiting.path, number), number)
            mark = self.of(each)
            if mark is Mark.WRITTEN or (each.why_not and mark is Mark.TAKEN):
                self.mark(each, Mark.OPEN)
        return sorted(
            shown,
            key=lambda each: (first[each.waiting.path], self._numbers[each.waiting.id]),
        )

    def replaced(self, old: Waiting, new: Waiting) -> None:
        """Put a new, undecided proposal in the place of an old one."""
        self._numbers[new.id] = self._numbers[old.id]
        self._marks[new.id] = Mark.OPEN

    def of(self, proposal: Shown) -> Mark:
        """Return the decision on a proposal."""
        return self._marks.get(proposal.waiting.id, Mark.OPEN)

    def mark(self, proposal: Shown, mark: Mark) -> None:
        """Set the decision on a proposal."""
        self._marks[proposal.waiting.id] = mark

    def turn(self, proposal: Shown, mark: Mark) -> bool:
        """Set the decision on a proposal, or clear it if it is set; return whether it is set."""
        is_new = self.of(proposal) is not mark
        self.mark(proposal, mark if is_new else Mark.OPEN)
        return is_new

    def taken(self, proposals: Iterable[Shown]) -> list[Shown]:
        """Return the accepted proposals, without those whose hunks are all left out."""
        return [
            each for each in proposals if self.of(each) is Mark.TAKEN and not self.is_nothing(each)
        ]

    def refused(self, proposals: Iterable[Shown]) -> list[Waiting]:
        """Return the refused proposals."""
        return [proposal.waiting for proposal in proposals if self.of(proposal) is Mark.REFUSED]

    # Hunks

    def left_out(self, proposal: Shown) -> Hunks:
        """Return the hunks of a proposal that are left out, by edit and hunk number."""
        return self._left_out.get(proposal.waiting.id, frozenset())

    def leave_out(self, proposal: Shown, hunks: Hunks, of: Hunks) -> None:
        """Leave out exactly `hunks` of a proposal; `of` are all its hunks."""
        self._left_out[proposal.waiting.id] = frozenset(hunks)
        is_emptied = proposal.is_nothing_without(hunks, of)
        (self._emptied.add if is_emptied else self._emptied.discard)(proposal.waiting.id)

    def is_nothing(self, proposal: Shown) -> bool:
        """Return whether all hunks of a proposal are left out."""
        return proposal.waiting.id in self._emptied

    # Scrolled to the end

    def was_shown(self, proposal: Shown) -> bool:
        """Record that the proposal was scrolled to its end as it is; return whether that is new."""
        is_new = not self.is_shown(proposal)
        self._read_edits[proposal.waiting.id] = proposal.edits
        return is_new

    def is_shown(self, proposal: Shown) -> bool:
        """Return whether a proposal, as it is, was scrolled to its end."""
        return self._read_edits.get(proposal.waiting.id) == proposal.edits

    # Written

    @property
    def written(self) -> tuple[Shown, ...]:
        """Return the proposals that were written here and are not undone."""
        return tuple(proposal for id, proposal in self._written.items() if id in self._applied)

    def wrote(self, proposals: Sequence[Shown]) -> None:
        """Record that proposals were written."""
        self._written |= {proposal.waiting.id: proposal for proposal in proposals}
        self._applied |= {proposal.waiting.id for proposal in proposals}
        for proposal in proposals:
            self.mark(proposal, Mark.WRITTEN)

    def leave(self) -> None:
        """Forget what was written: the review closes."""
        self._written.clear()

    # Rejected

    @property
    def has_to_send_back(self) -> bool:
        """Whether a rejected change can be sent back."""
        return any(change.said for change in self.rejected)

    def can_send_back(self, row: Thing | None) -> bool:
        """Return whether a row is a rejected change that was not sent back yet: it may stay on the
        screen for a moment longer.
        """
        return (
            isinstance(row, Rejected)
            and bool(row.said)
            and any(row is change for change in self.rejected)
        )

    def sends_back(self, rejected: Rejected) -> None:
        """Remove a rejected change that was sent back."""
        self.rejected = tuple(change for change in self.rejected if change is not rejected)


def is_same(one: Thing | None, other: Thing | None) -> bool:
    """Return whether two rows show the same proposal or other row, whatever its content."""
    if isinstance(one, Shown) and isinstance(other, Shown):
        return one.waiting.id == other.waiting.id
    return one == other
