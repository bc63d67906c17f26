"""What came of comparing notes in a form that can be kept: without any text of theirs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from importlib.metadata import version
from pkgutil import get_data

from ricordo.health.conflicts.compare import framed, opposed_in
from ricordo.health.conflicts.doubt import doubt_in
from ricordo.health.conflicts.reading import read_claim
from ricordo.health.conflicts.sayings import sayings
from ricordo.health.evidence import NotePair, Quote, Relation
from ricordo.memory.memory import Memory
from ricordo.secrets import find_secrets

SAME = "they say nearly the same"
"""The reason why two notes repeat each other."""
SIMILAR = "they may say the same"
"""The reason why they may."""

_WAY = 2
"""The way in which notes are compared, within one version of Ricordo."""
_Row = tuple[str, str, int, str, int]


def stamp_of(memory: Memory) -> str:
    """Return what is other whenever a note is, or the way in which notes are compared."""
    digest = blake2b(f"{version('ricordo')} {_WAY}".encode(), digest_size=16)
    for name in ("opposition.toml", "tools.toml"):
        digest.update(get_data("ricordo.health.rules", name) or b"")
    for note in memory.notes:
        for part in (note.path.encode("utf-8", "surrogateescape"), note.raw):
            digest.update(len(part).to_bytes(8))
            digest.update(part)
    return digest.hexdigest()


def packed(pairs: Iterable[NotePair], memory: Memory) -> list[_Row]:
    """Return `pairs` as paths and numbers of statements."""
    return [
        (
            pair.relation.value,
            pair.left.path,
            _number(memory, pair.left),
            pair.right.path,
            _number(memory, pair.right),
        )
        for pair in pairs
    ]


def unpacked(rows: Sequence[_Row], memory: Memory) -> tuple[NotePair, ...] | None:
    """Return the pairs that were packed; None where they do not fit the notes of `memory`."""
    found: list[NotePair] = []
    for relation, left, first, right, second in rows:
        quotes = _quote(memory, left, first), _quote(memory, right, second)
        if quotes[0] is None or quotes[1] is None or relation not in set(Relation):
            return None
        kind = Relation(relation)
        reason = _reason(kind, *(it.text for it in quotes if it))
        if not reason:
            return None
        found.append(NotePair(kind, quotes[0], quotes[1], reason))
    return tuple(found)


def _reason(kind: Relation, left: str, right: str) -> str:
    """Return why two notes are to each other what they are; "" where they are not."""
    if kind.is_of_whole:
        return SAME if kind.is_certain else SIMILAR
    pair = framed(read_claim(left), read_claim(right))
    if pair is None:
        return ""
    doubt = None if kind.is_certain else doubt_in(pair)
    reason = opposed_in(pair) if kind.is_certain else doubt.reason if doubt else ""
    return without_secrets(reason, left, right)


def without_secrets(reason: str, left: str, right: str) -> str:
    """Return a reason as it may be shown: it has words of both statements, in small letters, in
    which what is a secret does not look like one any more.
    """
    is_telling = any(find_secrets(text) for text in (left, right))
    return reason.partition(":")[0] if is_telling else reason


def _number(memory: Memory, quote: Quote) -> int:
    """Which statement of its note a quote is; -1 for the whole note."""
    said = [(it.line, it.text) for it in sayings(memory.by_path[quote.path])]
    return said.index((quote.line, quote.text)) if quote.text else -1


def _quote(memory: Memory, path: str, number: int) -> Quote | None:
    note = memory.by_path.get(path)
    if note is None:
        return None
    if number < 0:
        return Quote(path, 0, "")
    said = sayings(note)
    return Quote(path, *said[number][:2]) if number < len(said) else None
