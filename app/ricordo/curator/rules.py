"""The engine that needs no key and no network: it finds by patterns what the person said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ricordo.curator.gist import gist, share
from ricordo.curator.heard import Heard
from ricordo.curator.placing import Known, place
from ricordo.curator.proposal import Wish
from ricordo.curator.tidying import retired, tidied
from ricordo.health.finding import Finding

_SAID_AGAIN = 0.8


def wishes(known: Known, said: Iterable[Heard], findings: Iterable[Finding]) -> list[Wish]:
    """Return what the rules would change: first for what was said, in the order of time, then to
    put the memory in order. Each change is wished once.
    """
    found: dict[object, Wish] = {}
    for it in _newest(said):
        for wish in place(known, it):
            found.setdefault(wish.act, wish)
    gone = {path for it in found.values() if (path := retired(it.act))}
    for wish in tidied(known.memory, known.pairs, findings):
        if retired(wish.act) not in gone:
            found.setdefault(wish.act, wish)
    return list(found.values())


def _newest(said: Iterable[Heard]) -> Iterator[Heard]:
    """Yield what was said, and of what was said more than once the last saying only."""
    them = sorted(said, key=lambda it: it.spoken.day)
    gists = [gist(it.statement) for it in them]
    for number, it in enumerate(them):
        later = gists[number + 1 :]
        if not any(share(gists[number], its) >= _SAID_AGAIN for its in later):
            yield it
