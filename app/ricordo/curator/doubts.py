"""The pairs of notes that an engine outside our code is asked to judge, as text that may leave."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ricordo.curator.asking import NOTHING, Sent
from ricordo.curator.brief import tokens
from ricordo.model.redaction import Redaction
from ricordo.text import visible

_MOST_AROUND = 600
"""Characters before and behind a claim."""
_MOST_WHOLE = 2_000
"""Characters of a note that is judged as a whole."""


@dataclass(frozen=True, slots=True)
class Party:
    """One of the two notes of a pair."""

    place: str
    """Its path; it is not sent."""
    about: str
    """Its name and description."""
    text: str
    """Its text without the head."""
    claim: str = ""
    """The statement that is in doubt; "" where the note is as a whole."""
    day: str = ""
    """When it was written, ISO 8601; "" where that is not known."""
    said_by: str = ""
    """`the person` or `an agent`; "" where that is not known."""


@dataclass(frozen=True, slots=True)
class InDoubt:
    """Two notes of which it is in doubt what they are to each other."""

    what: str
    """Of what it is in doubt, in words of our own."""
    differ: str
    """In what kind of thing they differ, in words of our own; "" where it is about notes as a
    whole.
    """
    left: Party
    right: Party


@dataclass(frozen=True, slots=True)
class Batch:
    """Pairs that are judged together."""

    texts: tuple[str, ...]
    """One for each pair, as it is sent but for the seal."""
    redaction: Redaction

    @property
    def ids(self) -> tuple[str, ...]:
        """The names by which an engine speaks of the pairs."""
        return tuple(f"p{number}" for number in range(1, len(self.texts) + 1))

    @property
    def text(self) -> str:
        """All of it."""
        pairs = (f"pair {name}\n{text}" for name, text in zip(self.ids, self.texts, strict=True))
        return "".join(pairs)

    @property
    def tokens(self) -> int:
        """About how many tokens it costs."""
        return tokens(self.text)

    @property
    def sent(self) -> Sent:
        """It as it leaves."""
        return Sent(NOTHING.stable, self.redaction.sealed(self.text))


def compose_batch(pairs: Sequence[InDoubt], redaction: Redaction, room: int) -> Batch:
    """Return as many of the first `pairs` as have `room`, in tokens."""
    parties = [party for pair in pairs for party in (pair.left, pair.right)]
    redaction.learn([it for party in parties for it in (party.text, party.about)])
    batch = Batch((), redaction)
    for pair in pairs:
        more = Batch((*batch.texts, "".join(_lines(pair, redaction))), redaction)
        if more.tokens > room:
            break
        batch = more
    return batch


def _lines(pair: InDoubt, redaction: Redaction) -> Iterator[str]:
    yield f"it is in doubt whether {pair.what}\n"
    yield from _fenced("differ", pair.differ)
    for side, party in (("left", pair.left), ("right", pair.right)):
        known = (party.day and f"written on {party.day}", party.said_by and f"by {party.said_by}")
        yield ", ".join((side, *filter(None, known))) + "\n"
        text, claim, about = (
            redaction.redact(party.place, it) for it in (party.text, party.claim, party.about)
        )
        for mark, told in (("about", about), ("claim", claim), ("", _shown(text, claim))):
            yield from _fenced(mark, told)


def _shown(text: str, claim: str) -> str:
    """Return as much of a redacted text as is sent: what stands around the claim, or its beginning.
    Before it is redacted nothing is cut: half of a secret does not look like one.
    """
    found = re.search(r"\s+".join(map(re.escape, claim.split())), text) if claim else None
    if found is None:
        return _cut(text, 0, _MOST_AROUND if claim else _MOST_WHOLE)
    return _cut(text, found.start() - _MOST_AROUND, found.end() + _MOST_AROUND)


def _fenced(mark: str, text: str) -> Iterable[str]:
    """The lines of a text of others, each behind a mark."""
    return (f"{mark}| {visible(line)}\n" for line in text.split("\n") if line.strip())


def _cut(text: str, start: int, end: int) -> str:
    start, end = max(0, start), min(len(text), end)
    before, behind = "…" if start else "", "…" if end < len(text) else ""
    return f"{before}{text[start:end]}{behind}"
