"""A claim: one thing that a note says of its project and that can be looked up there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from ricordo.health.evidence import ClaimKind, Outcome, Verdict
from ricordo.health.probes.passage import Passage
from ricordo.health.vocabulary import read_words


@dataclass(frozen=True, slots=True)
class Claim:
    """What is claimed, and the sentence that claims it."""

    kind: ClaimKind
    text: str
    """As it stands in the note."""
    line: int
    passage: Passage

    def found(
        self,
        outcome: Outcome,
        *evidence: str,
        suggestion: str = "",
        was_there: bool = False,
        amiss: str = "",
    ) -> Verdict | None:
        """Return the verdict on it. Where the sentence does not say that it is so today, what is
        otherwise shows that it was no claim: None. `was_there` where it is known to have been so;
        `amiss` as the verdict has it.
        """
        is_otherwise = outcome is not Outcome.HOLDS
        if is_otherwise and self.passage.is_doubtful(self.text, was_there=was_there):
            return None
        what = (self.text, self.kind, self.line, outcome, evidence, suggestion, amiss)
        return Verdict(*what, was_there=was_there)

    @property
    def is_doubtful(self) -> bool:
        """Whether the sentence does not say that it is so today."""
        return self.passage.is_doubtful(self.text)

    def unchecked(self, why: str) -> Verdict:
        """Return the verdict that nothing can be told, and why."""
        return Verdict(self.text, self.kind, self.line, Outcome.UNCHECKED, (why,))


@cache
def names(part: str, key: str) -> frozenset[str]:
    """Return the list `key` under `part` of the data file of probes."""
    return frozenset(read_words("probes")[part][key])
