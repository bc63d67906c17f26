"""What speaks against a change though its evidence stands: it says something else than the words on
which it rests, gives agents orders, or rests on words that others rest on too.

A quote is easily found. These ask whether what is written follows from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ricordo.curator.gist import gist
from ricordo.curator.proposal import Proposal, Quoted
from ricordo.health.rules.safety import orders
from ricordo.memory import change as acts
from ricordo.memory.change import Act
from ricordo.memory.change_set import Edit
from ricordo.memory.edited import with_edits
from ricordo.memory.layout import Role
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.text import clip, one_line

MOST_OF_ONE = 3
"""New notes for which the same words may stand."""
_SAYING = (acts.Create, acts.Replace, acts.Insert, acts.Rewrite, acts.Merge)
"""Acts that bring sentences."""
_FEWEST = 2
"""Words of content by which it can be told what was spoken of."""
_WIDEST = 60


def brought_orders(memory: Memory, edits: Sequence[Edit]) -> list[str]:
    """Return which orders to agents `edits` of `memory` bring, that were not there before."""
    after = with_edits(memory, edits)
    pairs = [(memory.by_path.get(it.path), after.by_path.get(it.path)) for it in edits]
    return [
        f"brings text that {says}: “{clip(one_line(line.strip()), _WIDEST)}”"
        for before, now in pairs
        for says, line in (_orders(now) - _orders(before)).elements()
    ]


def strays(memory: Memory, act: Act, edits: Iterable[Edit], evidence: Sequence[Quoted]) -> bool:
    """Say whether what an act brings has no word in common with any of those it rests on. “Remember
    that” names nothing and says nothing of what may follow from it.
    """
    if not isinstance(act, _SAYING):
        return False
    notes = (it for it in edits if memory.layout.role(it.path) is not Role.INDEX)
    brought = frozenset[str]().union(*(gist(line) for it in notes for line in _added(it)))
    said = frozenset[str]().union(*(gist(it.quote) for it in evidence if it.found))
    return bool(brought) and len(said) >= _FEWEST and not brought & said


def crowded(proposals: Sequence[Proposal]) -> frozenset[int]:
    """Return which of the `proposals`, by their numbers, make a note out of words of which enough
    others before them make one already.
    """
    made: Counter[str] = Counter()
    found: list[int] = []
    for number, it in enumerate(proposals):
        if isinstance(it.change.act, acts.Create):
            quotes = {quoted.quote for quoted in it.evidence}
            made.update(quotes)
            if any(made[quote] > MOST_OF_ONE for quote in quotes):
                found.append(number)
    return frozenset(found)


def _orders(note: Note | None) -> Counter[tuple[str, str]]:
    return Counter() if note is None else Counter((says, line) for _, says, line in orders(note))


def _added(edit: Edit) -> list[str]:
    before = set((edit.before or b"").decode("utf-8", "replace").split("\n"))
    after = (edit.after or b"").decode("utf-8", "replace").split("\n")
    return [line for line in after if line not in before]
