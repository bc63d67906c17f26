"""Refusals by the user or the agent's permission rules: limits of the work, never next steps."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ricordo.handoff.compose.conversation import find_place
from ricordo.handoff.compose.quotes import QuoteLimits, build_quote, format_code
from ricordo.handoff.document import HandoffStatement, StatementSection
from ricordo.handoff.facts import Facts, Refusal, RuledOutFact

_MAX_REFUSALS = 12
_LABELS = {
    Refusal.USER: "The user refused",
    Refusal.RULES: "Not allowed by the rules of the agent:",
}


class Refusals:
    """The refusals that still count: what was refused was not done later."""

    def __init__(self, facts: Facts) -> None:
        """Find them in `facts`; of several refusals of one thing the last one counts."""
        done = {_join_words(run.command): find_place(run.ref) for run in facts.commands}
        done |= {use.path: find_place(use.last_use) for use in facts.files if use.is_changed}
        # without words a refused tool alone does not show what was refused
        refused = {
            _join_words(item.what): item
            for item in facts.ruled_out
            if item.refusal and (item.reason or not item.what.startswith(" ("))
        }
        self.all: tuple[RuledOutFact, ...] = tuple(
            refusal for what, refusal in refused.items() if not _was_done_later(done, what, refusal)
        )
        self._commands = [
            re.compile(rf"(?<![\w./-]){re.escape(_join_words(item.what))}(?![\w/-])")
            for item in self.all
        ]

    def is_named_in(self, text: str) -> bool:
        """Return whether `text` has one of the refused commands in it."""
        row = _join_words(text)
        return any(pattern.search(row) for pattern in self._commands)

    def compose(self, room: QuoteLimits) -> Iterator[HandoffStatement]:
        """Yield a limit for each refusal, in its own words."""
        for item in self.all[-_MAX_REFUSALS:]:
            assert item.refusal is not None
            label = f"{_LABELS[item.refusal]} {format_code(item.what.strip())}"
            yield build_quote(
                StatementSection.CONSTRAINTS,
                label,
                item.refusal_text,
                item.ref,
                (item.id,),
                room.words,
            )


def _was_done_later(done: dict[str, tuple[int, int]], what: str, refused: RuledOutFact) -> bool:
    path = what.rpartition(" (")[0]
    return any(done.get(key, (0, 0)) > find_place(refused.ref) for key in (what, path))


def _join_words(text: str) -> str:
    return " ".join(text.split())
