"""In what two statements differ, in words for the user."""

from __future__ import annotations

from typing import NamedTuple

from ricordo.lint.contradictions.values import QUANTITIES

REJECTED = "chosen by one, rejected by the other"
WORDING = "wording"
"""Of statements that are likely to exclude each other, though nothing single shows it."""
SUBJECT_REASON = "both may be on one subject"
"""What users are told of these."""
_SIGNS = frozenset(("negation", "quantifiers", "use", "opposite choice", WORDING, REJECTED))
"""Kinds of differences without values."""
_LABELS = {
    "number": "numbers",
    "version": "versions",
    "opposite": "opposites",
    "value": "one slot",
    "side": "opposites",
    **dict.fromkeys(("date", "weekday", "month", "clock", "often"), "dates"),
    **dict.fromkeys(QUANTITIES, "numbers with one unit"),
}
"""What users are told of a kind of difference; of others the kind itself."""


class Difference(NamedTuple):
    """The values that two claims give to one subject."""

    kind: str
    left: str
    right: str
    is_certain: bool = False
    """Whether they exclude each other, the subject being the same."""
    tool_class: str = ""
    """The class of which both values are members."""

    @property
    def subject(self) -> str:
        """What identifies the difference among those of two notes."""
        return self.kind if self.kind.startswith("state of") else self.reason

    @property
    def reason(self) -> str:
        """The difference, in a few words."""
        first = self.kind.split()[0]
        if self.kind == REJECTED:
            return f"{self.kind}: {self.left}"
        if self.kind == WORDING:
            return SUBJECT_REASON
        name = "" if self.kind in _SIGNS else _LABELS.get(first)
        if self.kind.startswith("number of"):
            name = "numbers with one unit"
        elif first == "state" and not self.kind.startswith("state of"):
            name = "opposites"
        if self.tool_class:
            name = f"tools of one class ({self.tool_class})"
        return f"{name or self.kind}: {self.left} / {self.right}"

    @property
    def has_values(self) -> bool:
        """Whether both give a value, or are on one side of an alternative each."""
        return self.kind not in _SIGNS

    @property
    def is_denied(self) -> bool:
        """Whether one side only denies the value of the other."""
        return f"not {self.left}" == self.right or self.left == f"not {self.right}"

    def swap(self) -> Difference:
        """Return the same difference with its sides exchanged."""
        return self._replace(left=self.right, right=self.left)

    def list_values(self) -> list[tuple[str, str]]:
        """Return the values of both that may replace each other, as they are written; none where
        they differ in what is said of one value.
        """
        if not self.has_values or self.kind == "side":
            return []
        return list(zip(self.left.split(", "), self.right.split(", "), strict=False))
