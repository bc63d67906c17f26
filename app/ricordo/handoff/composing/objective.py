"""What the person wants: the first wish of the work, and how it changed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ricordo.handoff.composing.quoting import quoting
from ricordo.handoff.composing.talk import Talk
from ricordo.handoff.composing.words import has
from ricordo.handoff.facts import Said
from ricordo.handoff.statement import Section, Statement

_FIRST = 1_600
"""Characters of the first wish that are quoted: a plan that was handed over is mostly longer."""
_LATER = 600
_MOST_LATER = 8
"""Later wishes that are quoted."""
_MOST_CHARACTERS = 2_800
"""Of the later wishes together."""


def objective(talk: Talk, told: Collection[str]) -> Iterator[Statement]:
    """Yield the first wish, and later ones that are not `told` elsewhere, by the ids of the
    messages: those that take another direction go before those that do not, later before earlier.
    """
    wishes = talk.wishes
    if not wishes:
        return
    first, *later = wishes
    yield quoting(Section.OBJECTIVE, "Asked first", first.text, first.ref, (first.id,), _FIRST)
    chosen = _chosen([it for it in later if it.id not in told])
    for it in chosen:
        is_last = it is wishes[-1]
        label = "Asked last" if is_last else "Then"
        yield quoting(Section.OBJECTIVE, label, it.text, it.ref, (it.id,), _LATER)


def _chosen(later: Sequence[Said]) -> list[Said]:
    """Return those of the wishes for which there is room, in the order of time."""
    room, chosen = _MOST_CHARACTERS, set[str]()
    by_weight = sorted(reversed(later), key=lambda it: not (it is later[-1] or has("turn", it.text)))
    for it in by_weight:
        size = min(len(it.text), _LATER)
        if len(chosen) < _MOST_LATER and size <= room:
            chosen.add(it.id)
            room -= size
    return [it for it in later if it.id in chosen]
