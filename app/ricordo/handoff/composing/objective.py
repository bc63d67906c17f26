"""What the person wants: the first wish of the work, and how it changed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ricordo.handoff.composing.quoting import quoting
from ricordo.handoff.composing.room import Room
from ricordo.handoff.composing.talk import Talk
from ricordo.handoff.composing.words import has
from ricordo.handoff.facts import Said
from ricordo.handoff.statement import Section, Statement

_MOST_LATER = 12
"""Later wishes that are quoted."""


def objective(talk: Talk, told: Collection[str], room: Room) -> Iterator[Statement]:
    """Yield the first wish, the last one, and those between that are not `told` elsewhere, by the
    ids of the messages. Where there is room for some alone, the first ones of later sessions and
    those that take another direction go first, then later before earlier.
    """
    wishes = talk.wishes
    if not wishes:
        return
    first, *later = wishes
    begun = {it.id for it in _first_ones(wishes)}
    yield quoting(Section.OBJECTIVE, "Asked first", first.text, first.ref, (first.id,), room.first)
    chosen = _chosen([it for it in later if it.id not in told], begun, room)
    for it in sorted(chosen, key=lambda it: it is not wishes[-1]):
        label = "Asked last" if it is wishes[-1] else "In between"
        label = "Asked first in this session" if it.id in begun else label
        yield quoting(Section.OBJECTIVE, label, it.text, it.ref, (it.id,), room.wish)


def _first_ones(wishes: Sequence[Said]) -> Collection[Said]:
    """Return the first wish of every session."""
    return {it.ref.session: it for it in reversed(wishes)}.values()


def _chosen(later: Sequence[Said], begun: Collection[str], room: Room) -> list[Said]:
    """Return those of the wishes for which there is room, in the order of time."""
    left, chosen = room.wishes, set[str]()

    def weighs_less(it: Said) -> bool:
        return not (it is later[-1] or it.id in begun or has("turn", it.text))

    by_weight = list(reversed(later))
    by_weight.sort(key=weighs_less)
    for it in by_weight:
        size = min(len(it.text), room.wish)
        if len(chosen) < _MOST_LATER and size <= left:
            chosen.add(it.id)
            left -= size
    return [it for it in later if it.id in chosen]
