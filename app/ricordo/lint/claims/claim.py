"""A claim: one statement of a note about its project that can be checked there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from ricordo.lexicon import load_filler, lower_text, read_words
from ricordo.lint.claims.passages import Passage
from ricordo.lint.evidence import CheckOutcome, ClaimKind, Verdict
from ricordo.patterns import compile_lazily

MAX_CLAIMS = 1_000
"""Per note; further ones are not checked."""
_WORD = compile_lazily(r"[^\W_]+")
_LONG = 4
"""Letters of a word that is no mere particle."""
_ORDINALS = {
    **{"first": "1st", "second": "2nd", "third": "3rd", "fourth": "4th", "fifth": "5th"},
    **{"zweite": "2", "zweites": "2", "dritte": "3", "drittes": "3"},
}


@dataclass(frozen=True, slots=True)
class ProjectClaim:
    """A claim about the project, and the sentence that makes it."""

    kind: ClaimKind
    text: str
    """As written in the note."""
    line: int
    passage: Passage
    work: frozenset[str] = frozenset()
    """The words for the work that it calls unfinished; empty where it names code or a request."""

    def to_verdict(
        self,
        outcome: CheckOutcome,
        *evidence: str,
        suggestion: str = "",
        existed: bool = False,
        is_guess: bool = False,
        problem: str = "",
        origin: str = "",
    ) -> Verdict | None:
        """Return the verdict on the claim; None where the check failed and the sentence does not
        describe the present state, so that it was no claim. `existed`, `is_guess`, `problem`
        and `origin` as in Verdict.
        """
        is_failed = outcome is not CheckOutcome.VALID
        if is_failed and self.passage.is_unsure(self.text, existed=existed):
            return None
        fields = (self.text, self.kind, self.line, outcome, evidence, suggestion, problem)
        return Verdict(*fields, existed=existed, is_guess=is_guess, origin=origin)

    @property
    def is_unsure(self) -> bool:
        """Whether the sentence does not describe the present state."""
        return self.passage.is_unsure(self.text)

    @property
    def is_no_claim(self) -> bool:
        """Whether the sentence does not say that it is there, even if it was there once."""
        return self.passage.is_unsure(self.text, existed=True)

    def to_refutation(self, *evidence: str) -> Verdict:
        """Return the verdict that `evidence` refutes the claim, which was true once."""
        changed = CheckOutcome.CHANGED
        return Verdict(self.text, self.kind, self.line, changed, evidence, existed=True)

    def to_unchecked(self, why: str) -> Verdict:
        """Return the verdict that the claim was not checked, and why."""
        return Verdict(self.text, self.kind, self.line, CheckOutcome.UNCHECKED, (why,))


@cache
def load_names(part: str, key: str) -> frozenset[str]:
    """Return the list `key` under `part` of `rules/probes.toml`."""
    return frozenset(read_words("probes")[part][key])


def get_work_words(text: str) -> frozenset[str]:
    """Return the words of a text that carry meaning, ordinals as numbers, without plural."""
    words = (_ORDINALS.get(word, word) for word in _WORD.findall(lower_text(text)))
    filler = load_filler()
    return frozenset(
        word.removesuffix("s") if len(word) > _LONG else word
        for word in words
        if word not in filler and (len(word) > 2 or any(map(str.isdigit, word)))
    )
