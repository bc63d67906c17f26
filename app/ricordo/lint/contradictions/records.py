"""The results of comparing notes, also as rows that are cached: these have the places of statements
instead of their texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from pkgutil import get_data
from typing import NamedTuple

from ricordo import __version__
from ricordo.lint.contradictions.compare import describe_opposition
from ricordo.lint.contradictions.difference import SUBJECT_REASON
from ricordo.lint.contradictions.statements import build_digest
from ricordo.lint.evidence import NotePair, NoteQuote, Relation
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.secrets import find_secrets

DUPLICATE_REASON = "nearly the same text"
"""The reason for a duplicate."""
SIMILAR_REASON = "similar text"
"""The reason for an uncertain duplicate."""

_WAY = 12
"""Version of the comparison, within one version of Ricordo."""
_Row = tuple[str, str, int, int, str, int, int, str]
"""The relation of two notes; of each its path, and where its statement starts and ends in its text,
0 and 0 for the whole note; the reason.
"""


def compute_stamp(memory: Memory) -> str:
    """Return a digest of all notes and of the comparison, as the key of the cache."""
    digest = blake2b(f"{__version__} {_WAY}".encode(), digest_size=16)
    for name in ("opposition.toml", "tools.toml", "subjects.toml", "contradiction.toml"):
        digest.update(get_data("ricordo.lint.rules", name) or b"")
    for note in memory.notes:
        for part in (note.path.encode("utf-8", "surrogateescape"), note.raw):
            digest.update(len(part).to_bytes(8))
            digest.update(part)
    return digest.hexdigest()


def pack_pairs(pairs: Iterable[NotePair], memory: Memory) -> list[_Row]:
    """Return `pairs` as rows; without those whose notes do not have the statements."""
    return [row for pair in pairs if (row := _pack(pair, memory)) is not None]


def _pack(pair: NotePair, memory: Memory) -> _Row | None:
    found: list[tuple[str, int, int]] = []
    for quote in (pair.left, pair.right):
        note = memory.by_path.get(quote.path)
        span = (0, 0) if not quote.text else find_span(note, quote) if note else None
        if span is None:
            return None
        found.append((quote.path, *span))
    left, right = found
    return pair.relation.value, *left, *right, pair.reason


def unpack_pairs(rows: Sequence[_Row], memory: Memory) -> tuple[NotePair, ...] | None:
    """Return the pairs from packed rows; None where they do not match the notes of `memory`."""
    found: list[NotePair] = []
    for relation, left, start, end, right, begin, stop, reason in rows:
        quotes = _read_quote(memory, left, start, end), _read_quote(memory, right, begin, stop)
        if quotes[0] is None or quotes[1] is None or relation not in set(Relation):
            return None
        found.append(NotePair(Relation(relation), quotes[0], quotes[1], reason))
    return tuple(found)


def _read_quote(memory: Memory, path: str, start: int, end: int) -> NoteQuote | None:
    """Return what a note says between two places, or the whole note; None without a note."""
    if path not in memory.by_path:
        return None
    if not end:
        return NoteQuote(path, 0, "")
    note = memory.by_path[path]
    return NoteQuote(path, note.line_of(start), " ".join(note.text[start:end].split()))


def redact_reason(reason: str, left: str, right: str) -> str:
    """Return a reason that is safe to show: without its values where a statement contains a secret,
    for masking does not recognise secrets in lower case.
    """
    has_secret = any(find_secrets(text) for text in (left, right))
    return reason.partition(":")[0] if has_secret else reason


class _Quoted(NamedTuple):
    """What can be quoted of a note."""

    line: int
    text: str
    passage: str
    """What is said with it in one paragraph."""


def _list_quotes(note: Note) -> Iterator[_Quoted]:
    """Yield what can be quoted of a note: its statements, then those of its facts."""
    digest = build_digest(note)
    for it, passage in zip(digest.statements, digest.passages, strict=True):
        yield _Quoted(it.line, it.text, passage)
    for fact in digest.facts:
        yield _Quoted(fact.statement.line, fact.statement.text, fact.statement.text)


def find_claims(
    memory: Memory, paths: Sequence[str], is_meant: Callable[[str], bool]
) -> NotePair | None:
    """Return the two statements of the notes at `paths` that are meant, as a pair that may
    contradict each other; None where one of them is gone.
    """
    found: list[NoteQuote] = []
    passages: list[str] = []
    for path in paths:
        note = memory.by_path.get(path)
        quotes = _list_quotes(note) if note else iter(())
        quoted = next((it for it in quotes if is_meant(it.text)), None)
        if quoted is None:
            return None
        found.append(NoteQuote(path, quoted.line, quoted.text))
        passages.append(quoted.passage)
    left, right = found
    reason = describe_opposition(left.text, right.text, (passages[0], passages[1]))
    reason = redact_reason(reason or SUBJECT_REASON, left.text, right.text)
    return NotePair(Relation.MAY_CONTRADICT, left, right, reason)


def find_valid_pairs(
    memory: Memory, pairs: Iterable[NotePair], relation: Relation
) -> Iterator[NotePair]:
    """Return the pairs of one relation whose notes both still contain the statements."""
    return (it for it in pairs if it.relation is relation and is_pair_valid(memory, it))


def is_pair_valid(memory: Memory, pair: NotePair) -> bool:
    """Return whether both notes of a pair exist and still contain the statements."""
    return all(
        (note := memory.by_path.get(quote.path)) is not None
        and (not quote.text or find_span(note, quote) is not None)
        for quote in (pair.left, pair.right)
    )


def find_span(note: Note, quote: NoteQuote) -> tuple[int, int] | None:
    """Return the start and end of a statement in the text of `note`, nearest to its former line;
    None where it is gone, or is the whole note.
    """
    if not quote.text:
        return None
    # most are in one line as they are
    is_literal = quote.text in note.text
    words = re.escape(quote.text) if is_literal else r"\s+".join(map(re.escape, quote.text.split()))
    found = [match.span() for match in re.finditer(words, note.text)]
    return min(found, key=lambda span: abs(note.line_of(span[0]) - quote.line), default=None)


def find_line(note: Note, quote: NoteQuote) -> int:
    """Return the present 1-based line of a statement; 0 where it is gone."""
    span = find_span(note, quote)
    return note.line_of(span[0]) if span else 0


def build_cause(pair: NotePair) -> str:
    """Return the texts that identify a contradiction, independent of the names of notes."""
    return build_cause_of_texts(pair.left.text, pair.right.text)


def build_cause_of_texts(*texts: str) -> str:
    """Return the cause of a finding on some texts, whichever comes first."""
    return "\0".join(sorted(texts))


def group_duplicates(memory: Memory, pairs: Iterable[NotePair]) -> Iterator[list[Note]]:
    """Yield the groups of notes that repeat each other, each in the order of their paths."""
    groups: dict[str, dict[str, Note]] = {}
    for pair in find_valid_pairs(memory, pairs, Relation.REPEATS):
        left, right = pair.left.path, pair.right.path
        group = groups.get(left, {left: memory.by_path[left]})
        group |= groups.get(right, {right: memory.by_path[right]})
        groups |= dict.fromkeys(group, group)
    seen: set[str] = set()
    for path in sorted(groups):
        if path not in seen:
            seen |= groups[path].keys()
            yield [note for _, note in sorted(groups[path].items())]
