"""What a message asks for: its words that name something, and the cues in how it is put."""

from __future__ import annotations

from itertools import pairwise

from ricordo.recall.stem import stem
from ricordo.recall.window import window_in
from ricordo.recall.words import content_words, fold, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date

LONGEST = 20_000
"""Characters of a message that are looked at: the beginning says what it is about."""

_WHICH = frozenset(("what", "which"))
_TIMES = frozenset(("year", "month", "day", "date", "time", "week"))
_AMOUNTS = frozenset(("many", "much", "often", "long", "old", "far"))
_NOW = frozenset(("current", "currently", "latest", "newest", "nowadays"))
_FILLERS = frozenset((word, "of") for word in ("kind", "kinds", "sort", "sorts", "type", "types"))
"""Words of which the first names nothing before the second."""


class Question:
    """A message, analysed. `words` are the words that name something, folded, each once and in
    their order; `stems` stand beside them.
    """

    __slots__ = (
        "asks_how_many",
        "asks_now",
        "asks_when",
        "is_search",
        "pairs",
        "stems",
        "text",
        "typed",
        "window",
        "words",
    )

    def __init__(self, message: str, today: date, is_search: bool = False) -> None:
        """`today` is what "last week" is counted from; `is_search` where a person types it: the
        last word may go on, parts of words are found, and words that name nothing are asked for as
        long as there are no others.
        """
        self.text = message[:LONGEST]
        self.is_search = is_search
        every = words(self.text)
        said = set(every)
        found = content_words(_without_fillers(every)) or (every if is_search else [])
        self.words: tuple[str, ...] = tuple(dict.fromkeys(found))
        self.stems: tuple[str, ...] = tuple([stem(word) for word in self.words])
        goes_on = is_search and every and fold(self.text).endswith(every[-1])
        self.typed = every[-1] if goes_on else ""
        """The word that is still being typed; "" where there is none."""
        stems = [stem(word) for word in found]
        self.pairs = frozenset(pairwise(stems))
        """Stems that follow one another."""
        self.window = window_in(self.text, today)
        self.asks_when = "when" in said or _both(said, _WHICH, _TIMES)
        self.asks_how_many = "how" in said and not said.isdisjoint(_AMOUNTS)
        self.asks_now = not said.isdisjoint(_NOW)


def _both(said: set[str], one: frozenset[str], other: frozenset[str]) -> bool:
    return not said.isdisjoint(one) and not said.isdisjoint(other)


def _without_fillers(found: list[str]) -> Iterable[str]:
    before = ""
    for at, word in enumerate(found):
        following = found[at + 1] if at + 1 < len(found) else ""
        if (word, following) not in _FILLERS and (before, word) != ("how", "long"):
            yield word
        before = word
