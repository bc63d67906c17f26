"""Whether what was found when notes were compared still stands in them, and where."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ricordo.health.evidence import NotePair, Quote, Relation
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note


def standing(memory: Memory, pairs: Iterable[NotePair], relation: Relation) -> Iterator[NotePair]:
    """Yield the pairs of one relation of which both notes still say what was compared."""
    return (it for it in pairs if it.relation is relation and stands(memory, it))


def stands(memory: Memory, pair: NotePair) -> bool:
    """Say whether both notes of a pair are there and still say what was compared."""
    return all(
        (note := memory.by_path.get(quote.path)) is not None
        and (not quote.text or span_of(note, quote) is not None)
        for quote in (pair.left, pair.right)
    )


def span_of(note: Note, quote: Quote) -> tuple[int, int] | None:
    """Return where in the text of `note` a statement begins and ends: the place that is nearest to
    the line on which it stood; None where it is gone, or is the whole note.
    """
    if not quote.text:
        return None
    pattern = re.compile(r"\s+".join(map(re.escape, quote.text.split())))
    found = [match.span() for match in pattern.finditer(note.text)]
    return min(found, key=lambda span: abs(note.line_of(span[0]) - quote.line), default=None)


def line_of(note: Note, quote: Quote) -> int:
    """Return the 1-based line on which a statement stands now; 0 where it is gone."""
    span = span_of(note, quote)
    return note.line_of(span[0]) if span else 0


def cause_of(pair: NotePair) -> str:
    """Return the texts on which a conflict rests: while both stand it is the same one, whatever
    the notes are called.
    """
    return cause_of_texts(pair.left.text, pair.right.text)


def cause_of_texts(one: str, other: str) -> str:
    """Return what `cause_of` returns for two statements, whichever comes first."""
    return "\0".join(sorted((one, other)))
