"""What the user, or the rules of the agent, did not let be done: a limit to the work, and never a
next step.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ricordo.handoff.compose.quotes import Room, code, quoting
from ricordo.handoff.compose.talk import place
from ricordo.handoff.document import HandoffStatement, StatementSection
from ricordo.handoff.facts import Facts, GivenUp, Refusal

_MOST = 12
_LABELS = {
    Refusal.USER: "The user refused",
    Refusal.RULES: "Not allowed by the rules of the agent:",
}


class Refusals:
    """The refusals that still count: what was refused was not done afterwards."""

    def __init__(self, facts: Facts) -> None:
        """Find them in `facts`; of several refusals of one thing the last one counts."""
        done = {_row(it.command): place(it.ref) for it in facts.ran}
        done |= {it.path: place(it.last) for it in facts.files if it.is_changed}
        # of a tool alone, without words, nobody can tell what was refused
        refused = {
            _row(it.what): it
            for it in facts.given_up
            if it.refusal and (it.why or not it.what.startswith(" ("))
        }
        self.all: tuple[GivenUp, ...] = tuple(
            it for what, it in refused.items() if not _is_later(done, what, it)
        )
        self._commands = [
            re.compile(rf"(?<![\w./-]){re.escape(_row(it.what))}(?![\w/-])") for it in self.all
        ]

    def names(self, text: str) -> bool:
        """Say whether `text` has one of the refused commands in it."""
        row = _row(text)
        return any(it.search(row) for it in self._commands)

    def stated(self, room: Room) -> Iterator[HandoffStatement]:
        """Yield each as a limit, in the words in which it was refused."""
        for it in self.all[-_MOST:]:
            assert it.refusal is not None
            label = f"{_LABELS[it.refusal]} {code(it.what.strip())}"
            yield quoting(
                StatementSection.CONSTRAINTS, label, it.said, it.ref, (it.id,), room.words
            )


def _is_later(done: dict[str, tuple[int, int]], what: str, refused: GivenUp) -> bool:
    path = what.rpartition(" (")[0]
    return any(done.get(it, (0, 0)) > place(refused.ref) for it in (what, path))


def _row(text: str) -> str:
    return " ".join(text.split())
