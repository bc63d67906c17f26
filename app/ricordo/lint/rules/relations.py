"""Rules on two notes that cannot both stay as they are."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain, islice, takewhile

from ricordo.lexicon import Triggers, compiled, expressions, lowered
from ricordo.lint.contradictions.compare import excludes
from ricordo.lint.contradictions.parser import read_claim
from ricordo.lint.contradictions.records import cause_of, cause_of_texts, line_of, standing
from ricordo.lint.contradictions.statements import content_of
from ricordo.lint.evidence import NotePair, Relation
from ricordo.lint.finding import Fix, Severity
from ricordo.lint.fixes.entries import lifted
from ricordo.lint.prose import words_in
from ricordo.lint.rule import RuleContext, RuleResult, memory_rule
from ricordo.lint.rules.index import what_is_listed
from ricordo.memory.index import Entry, MemoryIndex
from ricordo.memory.memory import Memory
from ricordo.memory.names import Leads, normal
from ricordo.memory.note import Note
from ricordo.search.fuzzy import token_set_ratio

RULE_OF = {
    Relation.EXCLUDES: "contradiction",
    Relation.MAY_EXCLUDE: "contradiction",
    Relation.REPEATS: "duplicate",
    Relation.MAY_REPEAT: "duplicate",
}
"""The rules that tell of pairs of notes, or would if there were no doubt."""


def _rests_on(relation: Relation) -> Callable[[Memory, RuleContext], tuple[object, ...]]:
    return lambda memory, context: tuple(_told(memory, context, relation))


def _told(
    memory: Memory, context: RuleContext, relation: Relation
) -> Iterator[tuple[NotePair, Note, Note]]:
    """The pairs of a relation whose statements both still stand."""
    for pair in standing(memory, context.evidence.pairs, relation):
        yield pair, memory.by_path[pair.left.path], memory.by_path[pair.right.path]


@memory_rule(
    RULE_OF[Relation.EXCLUDES],
    Severity.WARNING,
    "two notes whose claims cannot both hold",
    rests_on=_rests_on(Relation.EXCLUDES),
)
def contradiction(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Statements that exclude each other, once for two notes."""
    for pair, left, right in _told(memory, context, Relation.EXCLUDES):
        line = line_of(left, pair.left)
        there = f"{right.path}:{line_of(right, pair.right)}"
        message = f"Cannot hold beside {there}, {pair.reason}."
        evidence = (f"{left.path}:{line}: {pair.left.text}", f"{there}: {pair.right.text}")
        cause = cause_of(pair)
        yield RuleResult(
            line, message, cause, evidence, left.path, is_anywhere=True, other=right.path
        )


@memory_rule(
    RULE_OF[Relation.REPEATS],
    Severity.WARNING,
    "two notes say nearly the same",
    rests_on=_rests_on(Relation.REPEATS),
)
def duplicate(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Notes of which one would do."""
    for _, left, right in _told(memory, context, Relation.REPEATS):
        message = f"Says nearly the same as {right.path}."
        evidence = tuple(f"{it.path}: {it.description or it.name}" for it in (left, right))
        cause = cause_of_texts(left.body, right.body)
        yield RuleResult(0, message, cause, evidence, left.path, is_anywhere=True, other=right.path)


_MOST_COMPARED = 1_000
"""Pairs of entries, a bound on the time that an index of any size can take."""
_CANDIDATES = 12
"""Loaded entries with which one below the cut is compared."""
_WORD = re.compile(r"[^\W\d_]+")
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|[。！？]|\n\s*\n|\n(?=\s*[-*+#|])")
_MOST_LOST = 500
"""Entries below the cut that are judged, the last of them, which are the newest."""
_PATTERN = 3
"""Loaded entries that one statement excludes: so many are a list of like things."""
_SHORTEST_NAME = 4
_FEWEST_WORDS = 4
_READ = 8_000
"""Characters of a note in which it is looked for what it corrects."""


@dataclass(eq=False)
class _Listed:
    """An entry and its note."""

    entry: Entry
    note: Note

    @cached_property
    def stamped(self) -> str:
        """The date of the note's last change; "" where it gives none."""
        return self.note.stamped

    @cached_property
    def statements(self) -> tuple[str, ...]:
        """What the index and the note itself say in one line."""
        return tuple({self.entry.hook: None, self.note.description: None})

    @property
    def subject(self) -> str:
        """What it is about, as the index says it."""
        return f"{self.entry.title} {self.entry.hook}"


def _said(memory: Memory, context: RuleContext) -> tuple[object, ...]:
    """What is compared: of the loaded notes what they say in one line, of the last notes all."""
    cut, index = memory.load.cut_at_line, memory.index
    if cut is None or index is None:
        return (memory.indexes,)
    above, last = _compared(memory, index, cut)
    loaded = [(it.note.path, it.note.name, it.note.description, it.stamped) for it in above]
    lost = [(it.note, memory.links.get(it.note.path)) for it in last]
    return (*what_is_listed(memory, context), loaded, lost)


@memory_rule(
    "lost-correction",
    Severity.ERROR,
    "an entry below the cut corrects or supersedes one that is loaded",
    rests_on=_said,
)
def lost_correction(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Entries that are not loaded and by which a loaded one is wrong."""
    cut, index = memory.load.cut_at_line, memory.index
    if cut is None or index is None:
        return
    above, last = _compared(memory, index, cut)
    loaded = {it.note.path: it for it in reversed(above)}
    below = {it.note.path: it for it in last if it.note.path not in loaded}
    alike = context.thresholds["lost-correction.likeness"]
    known = _Loaded(loaded.values())
    lift = _Lift(memory, index, above, alike)
    # the newest first, for a bound on what is compared is not to be used up by the oldest
    for lost in reversed(below.values()):
        if (wrong := _corrected(memory, lost, known, alike)) is not None:
            yield _found(lost, wrong, index, lift.fix(lost, wrong))


class _Loaded:
    """The entries that agents are given, found by their words."""

    def __init__(self, entries: Iterable[_Listed]) -> None:
        self.by_path = {it.note.path: it for it in entries}
        self._by_word: dict[str, set[str]] = defaultdict(set)
        self._left = _MOST_COMPARED
        for it in self.by_path.values():
            for word in _words(it):
                self._by_word[word].add(it.note.path)

    def nearest(self, lost: _Listed) -> Iterator[_Listed]:
        """Yield the entries that share most words with `lost`."""
        if self._left <= 0:
            return
        shared = Counter(chain.from_iterable(self._by_word.get(it, ()) for it in _words(lost)))
        least = min(sorted(shared.values())[-_CANDIDATES:], default=0)
        near = [(-count, path) for path, count in shared.items() if count >= least]
        # by path where they share equally many, so that every run finds the same
        for _, path in sorted(near)[:_CANDIDATES]:
            if self._left > 0:
                self._left -= 1
                yield self.by_path[path]


class _Lift:
    """Lifts a correction above the cut, unless that pushes another one below it."""

    def __init__(
        self, memory: Memory, index: MemoryIndex, loaded: Sequence[_Listed], alike: float
    ) -> None:
        self._memory, self._index = memory, index
        self._loaded, self._alike = loaded, alike

    def fix(self, lost: _Listed, wrong: _Listed) -> Fix | None:
        """Return the fix that puts `lost` behind the entry that it corrects."""
        lift = lifted(self._index, self._memory, lost.entry, wrong.entry)
        if lift is None:
            return None
        fix, cut = lift
        loaded = _Loaded(it for it in self._loaded if it.entry.line < cut)
        pushed = [it for it in self._loaded if it.entry.line >= cut]
        corrects = (_corrected(self._memory, it, loaded, self._alike) for it in pushed)
        return None if any(corrects) else fix


def _compared(memory: Memory, index: MemoryIndex, cut: int) -> tuple[list[_Listed], list[_Listed]]:
    """The entries above line `cut`, and the last of all entries, in their order."""
    above = takewhile(lambda entry: entry.line < cut, index.entries)
    last = islice(_listed(memory, index, reversed(index.entries)), _MOST_LOST)
    return list(_listed(memory, index, above)), list(last)[::-1]


def _listed(memory: Memory, index: MemoryIndex, entries: Iterable[Entry]) -> Iterator[_Listed]:
    for entry in entries:
        found = memory.target(index, entry)
        if found.leads is Leads.NOTE and found.path != index.path:
            yield _Listed(entry, memory.by_path[found.path])


def _corrected(memory: Memory, lost: _Listed, known: _Loaded, alike: float) -> _Listed | None:
    """The loaded entry that `lost` corrects, by its own words or by what both say."""
    named = _named_as_wrong(memory, lost, known)
    if named is not None:
        return known.by_path[named]
    nearest = list(known.nearest(lost))
    is_correction = bool(nearest) and _has_correction(f"{lost.entry.text}\n{lost.note.description}")
    for other in nearest:
        may_correct = is_correction or (_is_later(lost, other) and _are_of_now(lost, other))
        if may_correct and _speak_of_one_subject(lost, other, alike):
            return other
    excluded = [other for other in nearest if _excludes(lost, other)]
    return excluded[0] if 0 < len(excluded) < _PATTERN else None


def _excludes(lost: _Listed, other: _Listed) -> bool:
    """Whether `lost` is the later of two statements that cannot both hold. Where neither has a
    date, what stands further down in the index was written later.
    """
    is_later = _is_later(lost, other) or not (lost.stamped or other.stamped)
    return is_later and any(
        excludes(old, new) for old in other.statements for new in lost.statements
    )


def _is_later(lost: _Listed, other: _Listed) -> bool:
    return lost.stamped > other.stamped > ""


def _are_of_now(*them: _Listed) -> bool:
    """Whether none of them tells of another time, or with doubt."""
    return not any(read_claim(text).is_uncertain for it in them for text in it.statements)


def _speak_of_one_subject(lost: _Listed, other: _Listed, alike: float) -> bool:
    """Whether both say other things of the same; a text of few words is like everything, and one
    that only says more than the other corrects nothing.
    """
    mine, theirs = content_of(lost.subject), content_of(other.subject)
    if min(len(set(mine)), len(set(theirs))) < _FEWEST_WORDS:
        return False
    if _says_only_more(mine, theirs) or _says_only_more(
        content_of(lost.entry.hook), content_of(other.entry.hook)
    ):
        return False
    return token_set_ratio(" ".join(mine), " ".join(theirs)) >= alike


def _says_only_more(mine: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """Whether the words of one text all stand in the other."""
    return set(mine) <= set(theirs) or set(theirs) <= set(mine)


def _named_as_wrong(memory: Memory, lost: _Listed, known: _Loaded) -> str | None:
    """The loaded note that a sentence with a word of correction links to or names."""
    for text, source in ((lost.entry.text, None), (lost.note.text[:_READ], lost.note)):
        for match in _correction().finditer(lowered(text)) if _has_correction(text) else ():
            start, end = _sentence(text, match)
            if source is not None and (linked := _linked(memory, source, start, end, known)):
                return linked
            if named := _named(text[start:end].lower(), lost, known):
                return named
    return None


def _linked(memory: Memory, note: Note, start: int, end: int, known: _Loaded) -> str | None:
    for found in memory.links.get(note.path, ()):
        if start <= found.link.start < end and found.path in known.by_path:
            return found.path
    return None


def _named(sentence: str, lost: _Listed, known: _Loaded) -> str | None:
    """The loaded note that stands by its name, stem or title in the lower-cased `sentence`."""
    own = {lost.note.name.lower(), lost.note.stem.lower(), lost.entry.title.lower()}
    for path, other in known.by_path.items():
        for name in (other.note.name, other.note.stem, other.entry.title):
            plain = name.lower()
            if plain not in own and _is_telling(plain) and plain in sentence:
                return path
    return None


def _is_telling(name: str) -> bool:
    """Whether a name is more than a word of the language that may stand anywhere."""
    return len(name) >= _SHORTEST_NAME and not name.isalpha()


def _sentence(text: str, match: re.Match[str]) -> tuple[int, int]:
    start = 0
    for end in _SENTENCE_END.finditer(text, max(0, match.start() - 600), match.start()):
        start = end.end()
    closing = _SENTENCE_END.search(text, match.end())
    return start or max(0, match.start() - 600), closing.start() if closing else len(text)


def _found(lost: _Listed, wrong: _Listed, index: MemoryIndex, fix: Fix | None) -> RuleResult:
    message = (
        f"“{lost.entry.title}” corrects “{wrong.entry.title}”,"
        " which agents are given while the correction is not."
    )
    evidence = (
        f"loaded, line {wrong.entry.line}: {wrong.entry.text.strip()}",
        f"not loaded, line {lost.entry.line}: {lost.entry.text.strip()}",
    )
    cause = normal(f"{wrong.entry.text}\n{lost.entry.text}")
    return RuleResult(lost.entry.line, message, cause, evidence, index.path, fix)


def _words(it: _Listed) -> frozenset[str]:
    return frozenset(content_of(" ".join(it.statements)))


def _has_correction(text: str) -> bool:
    plain = lowered(text)
    words = words_in(plain) if plain.isascii() else frozenset(_WORD.findall(plain))
    if not _correction_words().are_in(words, plain):
        return False
    return bool(_correction().search(plain))


@cache
def _correction_words() -> Triggers:
    return Triggers(expressions("correction", "correction_words"))


@cache
def _correction() -> re.Pattern[str]:
    return compiled("correction", "correction")
