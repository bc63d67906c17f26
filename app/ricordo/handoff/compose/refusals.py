"""Refusals by the user or the agent's permission rules: limits of the work, never next steps."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ricordo.handoff.compose.quotes import Room, code, quoting
from ricordo.handoff.compose.talk import place
from ricordo.handoff.document import HandoffStatement, StatementSection
from ricordo.handoff.facts import Facts, GivenUp, Refusal

_MAX_REFUSALS = 12
_LABELS = {
    Refusal.USER: "The user refused",
    Refusal.RULES: "Not allowed by the rules of the agent:",
}


class Refusals:
    """The refusals that still count: what was refused was not done later."""

    def __init__(self, facts: Facts) -> None:
        """Find them in `facts`; of several refusals of one thing the last one counts."""
        done = {_join_words(run.command): place(run.ref) for run in facts.ran}
        done |= {use.path: place(use.last) for use in facts.files if use.is_changed}
        # without words a refused tool alone does not show what was refused
        refused = {
            _join_words(item.what): item
            for item in facts.given_up
            if item.refusal and (item.why or not item.what.startswith(" ("))
        }
        self.all: tuple[GivenUp, ...] = tuple(
            refusal for what, refusal in refused.items() if not _was_done_later(done, what, refusal)
        )
        self._commands = [
            re.compile(rf"(?<![\w./-]){re.escape(_join_words(item.what))}(?![\w/-])")
            for item in self.all
        ]

    def names(self, text: str) -> bool:
        """Return whether `text` has one of the refused commands in it."""
        row = _join_words(text)
        return any(pattern.search(row) for pattern in self._commands)

    def stated(self, room: Room) -> Iterator[HandoffStatement]:
        """Yield a limit for each refusal, in its own words."""
        for item in self.all[-_MAX_REFUSALS:]:
            assert item.refusal is not None
            label = f"{_LABELS[item.refusal]} {code(item.what.strip())}"
            yield quoting(
                StatementSection.CONSTRAINTS, label, item.said, item.ref, (item.id,), room.words
            )


def _was_done_later(done: dict[str, tuple[int, int]], what: str, refused: GivenUp) -> bool:
    path = what.rpartition(" (")[0]
    return any(done.get(key, (0, 0)) > place(refused.ref) for key in (what, path))


def _join_words(text: str) -> str:
    return " ".join(text.split())
