"""The notes that were opened, one after the other, to go back and forward among them."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace

_LONGEST = 200
"""Steps that are kept."""


@dataclass(frozen=True, slots=True)
class Trail:
    """Where a person has been, and where they are."""

    steps: tuple[str, ...] = ()
    at: int = -1
    walking: bool = False
    """Whether the last step was one of a walk over the index, of which only the last counts."""

    @property
    def here(self) -> str:
        """The note that is open; "" where none is."""
        return self.steps[self.at] if self.at >= 0 else ""

    @property
    def can_go_back(self) -> bool:
        """Whether a note was open before this one."""
        return self.at > 0

    @property
    def can_go_forward(self) -> bool:
        """Whether the person went back from a note."""
        return self.at < len(self.steps) - 1

    def opened(self, path: str) -> Trail:
        """Return the trail after the note `path` was opened; what lay ahead is forgotten."""
        if path == self.here:
            return replace(self, walking=False)
        steps = (*self.steps[: self.at + 1], path)[-_LONGEST:]
        return Trail(steps, len(steps) - 1)

    def walked(self, path: str) -> Trail:
        """Return the trail after the cursor of the index came to `path`."""
        before = replace(self, at=self.at - 1) if self.walking else self
        return replace(before.opened(path), walking=path != before.here)

    def renamed(self, old: str, new: str) -> Trail:
        """Return the trail after the note at `old` came to lie at `new`."""
        return replace(self, steps=tuple(new if step == old else step for step in self.steps))

    def among(self, paths: Container[str]) -> Trail:
        """Return the trail without the notes that are not among `paths`."""
        before = [step for step in self.steps[: self.at + 1] if step in paths]
        after = [step for step in self.steps[self.at + 1 :] if step in paths]
        return Trail((*before, *after), len(before) - 1 if before else -1 if not after else 0)

    def gone(self, step: int) -> Trail:
        """Return the trail after going back (-1) or forward (1), as far as it reaches."""
        return Trail(self.steps, min(max(self.at + step, 0), len(self.steps) - 1))
