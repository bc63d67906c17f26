"""The user's decisions on proposals: accepted, refused, hunks left out. Nothing is written here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import Enum, auto

from ricordo.curation.pending import PendingProposal
from ricordo.curation.proposal import RejectedChange
from ricordo.memory.change import Edit
from ricordo.services.curation.decision import Hunks, ShownProposal
from ricordo.services.curation.preparation import SkippedInput


class ProposalDecision(Enum):
    """The decision on a proposal."""

    OPEN = auto()
    ACCEPTED = auto()
    REFUSED = auto()
    WRITTEN = auto()


ReviewItem = ShownProposal | RejectedChange | SkippedInput | str
"""What a row of the list shows; a string is the title of the rows below it."""


class CurationDecisions:
    """The decisions on the pending proposals of one memory, as long as it is open."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        """Numbers of the proposals by id, in the order in which they were first shown."""
        self._marks: dict[str, ProposalDecision] = {}
        self._left_out: dict[str, frozenset[tuple[int, int]]] = {}
        self._emptied: set[str] = set()
        """Ids of the proposals whose hunks are all left out."""
        self._read_edits: dict[str, tuple[Edit, ...]] = {}
        """The edits that were scrolled to their end, by proposal id."""
        self._written: dict[str, ShownProposal] = {}
        """Proposals written here, by id; an undo by any process makes them pending again."""
        self._applied: frozenset[str] = frozenset()
        self.rejected: Sequence[RejectedChange] = ()
        """Changes of the last curation that the checks rejected, until the next curation."""
        self.skipped: Sequence[SkippedInput] = ()
        """Input that the last curation did not read."""

    def list_items(
        self, pending: Sequence[ShownProposal], applied: Collection[str]
    ) -> list[ReviewItem]:
        """Return the rows: pending proposals, written ones, rejected changes, input not read.
        `applied` are the ids of all proposals that are applied now.
        """
        self._applied = frozenset(applied)
        things: list[ReviewItem] = [*self._order(pending)]
        for proposal in self.written:
            self.decide(proposal, ProposalDecision.WRITTEN)
        if self.written:
            things += ["written · u undoes", *self.written]
        if self.rejected:
            things += ["rejected by checks", *self.rejected]
        if self.skipped:
            things += ["not read", *self.skipped]
        return things

    def _order(self, shown: Sequence[ShownProposal]) -> list[ShownProposal]:
        """Return the proposals grouped by note, in the order in which they were first shown.
        Proposals that were written and undone are undecided again, and so are accepted ones that no
        longer apply: none is accepted unless the user accepts it.
        """
        first: dict[str, int] = {}
        for each in shown:
            number = self._numbers.setdefault(each.proposal.id, len(self._numbers))
            first[each.proposal.path] = min(first.get(each.proposal.path, number), number)
            mark = self.decision_on(each)
            if mark is ProposalDecision.WRITTEN or (
                each.blocked_reason and mark is ProposalDecision.ACCEPTED
            ):
                self.decide(each, ProposalDecision.OPEN)
        return sorted(
            shown,
            key=lambda each: (first[each.proposal.path], self._numbers[each.proposal.id]),
        )

    def replace(self, old: PendingProposal, new: PendingProposal) -> None:
        """Put a new, undecided proposal in the place of an old one."""
        self._numbers[new.id] = self._numbers[old.id]
        self._marks[new.id] = ProposalDecision.OPEN

    def decision_on(self, proposal: ShownProposal) -> ProposalDecision:
        """Return the decision on a proposal."""
        return self._marks.get(proposal.proposal.id, ProposalDecision.OPEN)

    def decide(self, proposal: ShownProposal, mark: ProposalDecision) -> None:
        """Set the decision on a proposal."""
        self._marks[proposal.proposal.id] = mark

    def toggle(self, proposal: ShownProposal, mark: ProposalDecision) -> bool:
        """Set the decision on a proposal, or clear it if it is set; return whether it is set."""
        is_new = self.decision_on(proposal) is not mark
        self.decide(proposal, mark if is_new else ProposalDecision.OPEN)
        return is_new

    def list_accepted(self, proposals: Iterable[ShownProposal]) -> list[ShownProposal]:
        """Return the accepted proposals, without those whose hunks are all left out."""
        return [
            each
            for each in proposals
            if self.decision_on(each) is ProposalDecision.ACCEPTED and not self.is_emptied(each)
        ]

    def list_refused(self, proposals: Iterable[ShownProposal]) -> list[PendingProposal]:
        """Return the refused proposals."""
        return [
            proposal.proposal
            for proposal in proposals
            if self.decision_on(proposal) is ProposalDecision.REFUSED
        ]

    # Hunks

    def hunks_left_out(self, proposal: ShownProposal) -> Hunks:
        """Return the hunks of a proposal that are left out, by edit and hunk number."""
        return self._left_out.get(proposal.proposal.id, frozenset())

    def leave_out_hunks(self, proposal: ShownProposal, hunks: Hunks, of: Hunks) -> None:
        """Leave out exactly `hunks` of a proposal; `of` are all its hunks."""
        self._left_out[proposal.proposal.id] = frozenset(hunks)
        is_emptied = proposal.is_empty_without(hunks, of)
        (self._emptied.add if is_emptied else self._emptied.discard)(proposal.proposal.id)

    def is_emptied(self, proposal: ShownProposal) -> bool:
        """Return whether all hunks of a proposal are left out."""
        return proposal.proposal.id in self._emptied

    # Scrolled to the end

    def record_read(self, proposal: ShownProposal) -> bool:
        """Record that the proposal was scrolled to its end as it is; return whether that is new."""
        is_new = not self.is_read(proposal)
        self._read_edits[proposal.proposal.id] = proposal.edits
        return is_new

    def is_read(self, proposal: ShownProposal) -> bool:
        """Return whether a proposal, as it is, was scrolled to its end."""
        return self._read_edits.get(proposal.proposal.id) == proposal.edits

    # Written

    @property
    def written(self) -> tuple[ShownProposal, ...]:
        """Return the proposals that were written here and are not undone."""
        return tuple(proposal for id, proposal in self._written.items() if id in self._applied)

    def record_written(self, proposals: Sequence[ShownProposal]) -> None:
        """Record that proposals were written."""
        self._written |= {proposal.proposal.id: proposal for proposal in proposals}
        self._applied |= {proposal.proposal.id for proposal in proposals}
        for proposal in proposals:
            self.decide(proposal, ProposalDecision.WRITTEN)

    def forget_written(self) -> None:
        """Forget what was written: the review closes."""
        self._written.clear()

    # Rejected

    @property
    def has_to_send_back(self) -> bool:
        """Whether a rejected change can be sent back."""
        return any(change.original for change in self.rejected)

    def can_send_back(self, row: ReviewItem | None) -> bool:
        """Return whether a row is a rejected change that was not sent back yet: it may stay on the
        screen for a moment longer.
        """
        return (
            isinstance(row, RejectedChange)
            and bool(row.original)
            and any(row is change for change in self.rejected)
        )

    def record_sent_back(self, rejected: RejectedChange) -> None:
        """Remove a rejected change that was sent back."""
        self.rejected = tuple(change for change in self.rejected if change is not rejected)


def is_same_item(one: ReviewItem | None, other: ReviewItem | None) -> bool:
    """Return whether two rows show the same proposal or other row, whatever its content."""
    if isinstance(one, ShownProposal) and isinstance(other, ShownProposal):
        return one.proposal.id == other.proposal.id
    return one == other
