"""The results of comparing notes as cached rows, without any text of the notes."""

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

_WAY = 11
"""Version of the comparison, within one version of Ricordo."""
_Row = tuple[str, str, int, str, int, bool]


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
    """Return `pairs` as paths and numbers of quotes."""
    quotes = _Quotes(memory)
    return [
        (
            pair.relation.value,
            pair.left.path,
            quotes.find_number(pair.left),
            pair.right.path,
            quotes.find_number(pair.right),
            _has_secret(pair.left.text, pair.right.text),
        )
        for pair in pairs
    ]


def unpack_pairs(rows: Sequence[_Row], memory: Memory) -> tuple[NotePair, ...] | None:
    """Return the pairs from packed rows; None where they do not match the notes of `memory`."""
    found: list[NotePair] = []
    all_quotes = _Quotes(memory)
    for relation, left, first, right, second, is_secret in rows:
        quotes = all_quotes.quote(left, first), all_quotes.quote(right, second)
        if quotes[0] is None or quotes[1] is None or relation not in set(Relation):
            return None
        kind = Relation(relation)
        passages = all_quotes.get_passage(left, first), all_quotes.get_passage(right, second)
        reason = _reason(kind, quotes[0].text, quotes[1].text, passages)
        if not reason:
            return None
        reason = _without_values(reason) if is_secret else reason
        found.append(NotePair(kind, quotes[0], quotes[1], reason))
    return tuple(found)


def _reason(kind: Relation, left: str, right: str, passages: tuple[str, str]) -> str:
    """Return the reason for a relation of two statements; "" where they no longer have it."""
    if kind.is_between_notes:
        return DUPLICATE_REASON if kind.is_certain else SIMILAR_REASON
    return describe_opposition(left, right, passages)


def redact_reason(reason: str, left: str, right: str) -> str:
    """Return a reason that is safe to show: without its values where a statement contains a secret,
    for masking does not recognise secrets in lower case.
    """
    return _without_values(reason) if _has_secret(left, right) else reason


def _has_secret(*texts: str) -> bool:
    return any(find_secrets(text) for text in texts)


def _without_values(reason: str) -> str:
    return reason.partition(":")[0]


class _Quoted(NamedTuple):
    """What can be quoted of a note."""

    line: int
    text: str
    passage: str
    """What is said with it in one paragraph."""


class _Quotes:
    """What can be quoted of the notes of a memory: their statements, and the passages of their
    facts. Those of each note are extracted once.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._by_path: dict[str, list[_Quoted]] = {}

    def find_number(self, quote: NoteQuote) -> int:
        """Return the index of a quote among those of its note; -1 for the whole note."""
        if not quote.text:
            return -1
        quotes = [(it.line, it.text) for it in self.list_quotes(quote.path)]
        return quotes.index((quote.line, quote.text))

    def quote(self, path: str, number: int) -> NoteQuote | None:
        """Return the quote with that index, for -1 the whole note; None if there is none."""
        if path not in self._memory.by_path:
            return None
        if number < 0:
            return NoteQuote(path, 0, "")
        quotes = self.list_quotes(path)
        return NoteQuote(path, *quotes[number][:2]) if number < len(quotes) else None

    def get_passage(self, path: str, number: int) -> str:
        """Return what is said with the quote with that index; "" for the whole note."""
        return self.list_quotes(path)[number].passage if number >= 0 else ""

    def list_quotes(self, path: str) -> list[_Quoted]:
        """Return what can be quoted of the note at `path`; nothing where there is none."""
        if path not in self._memory.by_path:
            return []
        if path not in self._by_path:
            digest = build_digest(self._memory.by_path[path])
            said = zip(digest.statements, digest.passages, strict=True)
            quotes = [_Quoted(it.line, it.text, passage) for it, passage in said]
            facts = (it.statement for it in digest.facts)
            self._by_path[path] = [*quotes, *(_Quoted(it.line, it.text, it.text) for it in facts)]
        return self._by_path[path]


def find_claims(
    memory: Memory, paths: Sequence[str], is_meant: Callable[[str], bool]
) -> NotePair | None:
    """Return the two statements of the notes at `paths` that are meant, as a pair that may
    contradict each other; None where one of them is gone.
    """
    quotes = _Quotes(memory)
    found: list[NoteQuote] = []
    passages: list[str] = []
    for path in paths:
        quoted = next((it for it in quotes.list_quotes(path) if is_meant(it.text)), None)
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
    pattern = re.compile(r"\s+".join(map(re.escape, quote.text.split())))
    found = [match.span() for match in pattern.finditer(note.text)]
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
