"""Which of the things that a person said bears on what was then written down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ricordo.health.conflicts.compare import excludes
from ricordo.health.conflicts.sayings import sayings, sentences
from ricordo.memory.note import Note
from ricordo.recall.stem import stem
from ricordo.recall.words import content_words, words

LEAST_SHARED = 2
"""Words; one word in common is chance."""
LEAST_OF_SAID, LEAST_OF_WRITTEN = 0.2, 0.15
"""How much of what was said, or of what was written, has to be in common: a long text shares two
words with any other.
"""


def bearing_turn(written: str, said: Sequence[str]) -> int | None:
    """Return which of the things `said` bears most on what was `written`; None where none does.

    A word counts the more the fewer of them have it; of two that are equal the later one counts.
    """
    target = _stems(written)
    turns = [_stems(text) for text in said]
    spread = Counter(word for turn in turns for word in turn)
    best, best_score = None, 0.0
    for number, turn in enumerate(turns):
        shared = turn & target
        if not _is_enough(len(shared), len(turn), len(target)):
            continue
        score = sum(1 / spread[word] for word in shared)
        if score >= best_score:
            best, best_score = number, score
    return best


def says_the_contrary(said: str, note: Note) -> bool:
    """Say whether anything that was `said` excludes what `note` states."""
    stated = [it.text for it in sayings(note)]
    return any(excludes(one, other) for one in sentences(said) for other in stated)


def _is_enough(shared: int, said: int, written: int) -> bool:
    if shared < LEAST_SHARED:
        return False
    return shared / said >= LEAST_OF_SAID or shared / written >= LEAST_OF_WRITTEN


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, content_words(words(text))))
