"""Rules on pairs of notes: contradictions, duplicates and corrections that are not loaded."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain, islice, takewhile

from ricordo.lexicon import Triggers, compile_part, list_expressions, lower_text
from ricordo.lint.contradictions.claim import is_bound
from ricordo.lint.contradictions.compare import oppose_reliably
from ricordo.lint.contradictions.records import (
    build_cause,
    build_cause_of_texts,
    find_line,
    find_valid_pairs,
    group_duplicates,
)
from ricordo.lint.contradictions.statements import extract_content_words
from ricordo.lint.evidence import RULE_OF, NotePair, Relation
from ricordo.lint.finding import Fix, Severity
from ricordo.lint.fixes.entries import fix_lost_correction
from ricordo.lint.prose import split_words
from ricordo.lint.rule import RuleContext, RuleResult, memory_rule
from ricordo.lint.rules.index import get_listed
from ricordo.memory.index import Entry, MemoryIndex
from ricordo.memory.memory import Memory
from ricordo.memory.names import TargetKind, normalize
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily
from ricordo.search.fuzzy import token_set_ratio


def _depends_on(relation: Relation) -> Callable[[Memory, RuleContext], tuple[object, ...]]:
    return lambda memory, context: tuple(_find_pairs(memory, context, relation))


def _find_pairs(
    memory: Memory, context: RuleContext, relation: Relation
) -> Iterator[tuple[NotePair, Note, Note]]:
    """Yield the pairs of a relation whose notes both still make the statements."""
    for pair in find_valid_pairs(memory, context.evidence.pairs, relation):
        yield pair, memory.by_path[pair.left.path], memory.by_path[pair.right.path]


@memory_rule(
    RULE_OF[Relation.CONTRADICTS],
    Severity.WARNING,
    "two notes whose claims contradict each other",
    depends_on=_depends_on(Relation.CONTRADICTS),
)
def contradiction(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Find statements of two notes that contradict each other, each pair once."""
    for pair, left, right in _find_pairs(memory, context, Relation.CONTRADICTS):
        sides = [(left, pair.left), (right, pair.right)]
        if left.stated_date > right.stated_date > "":
            sides.reverse()
        (note, quote), (other, its) = sides
        line, there = find_line(note, quote), f"{other.path}:{find_line(other, its)}"
        difference = _describe_difference(pair.reason, is_reversed=sides[0][0] is right)
        message = f"Contradicts {there}{difference}{_describe_dates(note, other)}."
        evidence = (f"{note.path}:{line}: {quote.text}", f"{there}: {its.text}")
        yield RuleResult(
            line,
            message,
            build_cause(pair),
            evidence,
            note.path,
            is_path_independent=True,
            other_path=other.path,
            # on memories that nobody tuned it for, most pairs were none
            at_most=Severity.INFO,
        )


def _describe_dates(note: Note, other: Note) -> str:
    """Return which of two notes is the newer, in brackets; "" where their dates do not say."""
    days = note.stated_date, other.stated_date
    return f" (newer: {days[1]}, here {days[0]})" if all(days) and days[0] < days[1] else ""


def _describe_difference(reason: str, *, is_reversed: bool) -> str:
    """Return `: 20 minutes vs 30 minutes` for a reason `kind: 20 minutes / 30 minutes`; the kind
    alone where the reason has no values or its values say nothing without it.
    """
    kind, _, values = reason.partition(": ")
    if kind == "negation":
        return ": only one of them says “not”"
    if " / " not in values:
        return f": {values} is {kind}" if values else f" ({kind})"
    named = f"{kind}, " if kind.startswith("state of") else ""
    texts = values.split(" / ")
    return f": {named}{' vs '.join(texts[::-1] if is_reversed else texts)}"


@memory_rule(
    RULE_OF[Relation.REPEATS],
    Severity.WARNING,
    "two notes with nearly the same text",
    depends_on=_depends_on(Relation.REPEATS),
)
def duplicate(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Find notes with nearly the same text, each group of them once."""
    for notes in group_duplicates(memory, context.evidence.pairs):
        first, second, *others = notes
        more = f" and {len(others)} more" if others else ""
        message = f"Nearly the same text as {second.path}{more}."
        evidence = tuple(f"{it.path}: {it.description or it.name}" for it in notes)
        cause = build_cause_of_texts(*(it.body for it in notes))
        yield RuleResult(
            0,
            message,
            cause,
            evidence,
            first.path,
            is_path_independent=True,
            other_path=second.path,
        )


_MOST_COMPARED = 1_000
"""Pairs of entries: bounds the time for an index of any size."""
_CANDIDATES = 12
"""Loaded entries that one below the cut is compared with."""
_WORD = compile_lazily(r"[^\W\d_]+")
_SENTENCE_END = compile_lazily(r"[.!?](?=\s|$)|[。！？]|\n\s*\n|\n(?=\s*[-*+#|])")
_MOST_LOST = 500
"""Entries below the cut that are compared: the last of them, which are the newest."""
_PATTERN = 3
"""Loaded entries that one statement contradicts: so many are a list of similar things."""
_SHORTEST_NAME = 4
_FEWEST_WORDS = 4
_READ = 8_000
"""Characters of a note that are searched for the name of the note that it corrects."""


@dataclass(eq=False)
class _Listed:
    """An index entry and its note."""

    entry: Entry
    note: Note

    @cached_property
    def stamped(self) -> str:
        """The date of the note's last change, from its frontmatter; "" where it gives none."""
        return self.note.stated_date

    @cached_property
    def statements(self) -> tuple[str, ...]:
        """The one-line summaries of the note, in the index and in the note itself, that may give a
        value which excludes another.
        """
        return tuple(filter(is_bound, {self.entry.hook: None, self.note.description: None}))

    @property
    def subject(self) -> str:
        """What the note is about, in the words of the index."""
        return f"{self.entry.title} {self.entry.hook}"


def _corrections_depend_on(memory: Memory, context: RuleContext) -> tuple[object, ...]:
    """Return what is compared: the summaries of the loaded notes, and the last notes whole."""
    cut, index = memory.load.cut_at_line, memory.index
    if cut is None or index is None:
        return (memory.indexes,)
    above, last = _compared_entries(memory, index, cut)
    loaded = [(one.note.path, one.note.name, one.note.description, one.stamped) for one in above]
    lost = [(one.note, memory.links.get(one.note.path)) for one in last]
    return (*get_listed(memory, context), loaded, lost)


@memory_rule(
    "lost-correction",
    Severity.ERROR,
    "an entry that is not loaded but corrects one that is",
    depends_on=_corrections_depend_on,
)
def lost_correction(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Find entries below the cut that correct or supersede a loaded one."""
    cut, index = memory.load.cut_at_line, memory.index
    if cut is None or index is None:
        return
    above, last = _compared_entries(memory, index, cut)
    loaded = {one.note.path: one for one in reversed(above)}
    below = {one.note.path: one for one in last if one.note.path not in loaded}
    likeness = context.thresholds["lost-correction.likeness"]
    candidates = _LoadedEntries(loaded.values())
    lift = _Lift(memory, index, above, likeness)
    # newest first, so that the oldest do not use up the bound on comparisons
    for lost in reversed(below.values()):
        if (wrong := _find_corrected(memory, lost, candidates, likeness)) is not None:
            yield _report_correction(lost, wrong, index, lift.fix(lost, wrong))


class _LoadedEntries:
    """The entries that agents load, by their words."""

    def __init__(self, entries: Iterable[_Listed]) -> None:
        self.by_path = {one.note.path: one for one in entries}
        self._by_word: dict[str, set[str]] = defaultdict(set)
        self._budget = _MOST_COMPARED
        for one in self.by_path.values():
            for word in _words_of(one):
                self._by_word[word].add(one.note.path)

    def nearest(self, lost: _Listed) -> Iterator[_Listed]:
        """Yield the entries that share the most words with `lost`."""
        if self._budget <= 0:
            return
        words = _words_of(lost)
        shared = Counter(chain.from_iterable(self._by_word.get(word, ()) for word in words))
        least = min(sorted(shared.values())[-_CANDIDATES:], default=0)
        near = [(-count, path) for path, count in shared.items() if count >= least]
        # ties by path, so that every run finds the same
        for _, path in sorted(near)[:_CANDIDATES]:
            if self._budget > 0:
                self._budget -= 1
                yield self.by_path[path]


class _Lift:
    """Moves a correction above the cut, unless that pushes another one below it."""

    def __init__(
        self, memory: Memory, index: MemoryIndex, loaded: Sequence[_Listed], likeness: float
    ) -> None:
        self._memory, self._index = memory, index
        self._loaded, self._likeness = loaded, likeness

    def fix(self, lost: _Listed, wrong: _Listed) -> Fix | None:
        """Return the fix that moves `lost` after the entry that it corrects."""
        lift = fix_lost_correction(self._index, self._memory, lost.entry, wrong.entry)
        if lift is None:
            return None
        fix, cut = lift
        loaded = _LoadedEntries(one for one in self._loaded if one.entry.line < cut)
        pushed = [one for one in self._loaded if one.entry.line >= cut]
        corrects = (_find_corrected(self._memory, one, loaded, self._likeness) for one in pushed)
        return None if any(corrects) else fix


def _compared_entries(
    memory: Memory, index: MemoryIndex, cut: int
) -> tuple[list[_Listed], list[_Listed]]:
    """Return the entries above line `cut`, and the last of all entries, in their order."""
    above = takewhile(lambda entry: entry.line < cut, index.entries)
    last = islice(_with_notes(memory, index, reversed(index.entries)), _MOST_LOST)
    return list(_with_notes(memory, index, above)), list(last)[::-1]


def _with_notes(memory: Memory, index: MemoryIndex, entries: Iterable[Entry]) -> Iterator[_Listed]:
    for entry in entries:
        target = memory.resolve_entry(index, entry)
        if target.target_kind is TargetKind.NOTE and target.path != index.path:
            yield _Listed(entry, memory.by_path[target.path])


def _find_corrected(
    memory: Memory, lost: _Listed, loaded: _LoadedEntries, likeness: float
) -> _Listed | None:
    """Return the loaded entry that `lost` corrects, by its own words or by what both state."""
    named = _find_named_as_wrong(memory, lost, loaded)
    if named is not None:
        return loaded.by_path[named]
    nearest = list(loaded.nearest(lost))
    is_correction = bool(nearest) and _has_correction(f"{lost.entry.text}\n{lost.note.description}")
    for other in nearest if is_correction else ():
        if _share_subject(lost, other, likeness):
            return other
    contradicted = [other for other in nearest if _contradicts(lost, other)]
    return contradicted[0] if 0 < len(contradicted) < _PATTERN else None


def _contradicts(lost: _Listed, other: _Listed) -> bool:
    """Return whether `lost` is the later of two contradicting statements. Without dates, the one
    further down in the index is the later one.
    """
    is_later = _is_later(lost, other) or not (lost.stamped or other.stamped)
    # an index has so many summaries that only what is aligned word by word is sure
    return is_later and any(
        oppose_reliably(old, new, needs_name=False)
        for old in other.statements
        for new in lost.statements
    )


def _is_later(lost: _Listed, other: _Listed) -> bool:
    return lost.stamped > other.stamped > ""


def _share_subject(lost: _Listed, other: _Listed, likeness: float) -> bool:
    """Return whether both state different things about one subject. A text of few words resembles
    everything, and one that only adds to the other corrects nothing.
    """
    mine, theirs = extract_content_words(lost.subject), extract_content_words(other.subject)
    if min(len(set(mine)), len(set(theirs))) < _FEWEST_WORDS:
        return False
    if _is_extension(mine, theirs) or _is_extension(
        extract_content_words(lost.entry.hook), extract_content_words(other.entry.hook)
    ):
        return False
    return token_set_ratio(" ".join(mine), " ".join(theirs)) >= likeness


def _is_extension(mine: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """Return whether one text contains all words of the other."""
    return set(mine) <= set(theirs) or set(theirs) <= set(mine)


def _find_named_as_wrong(memory: Memory, lost: _Listed, loaded: _LoadedEntries) -> str | None:
    """Return the loaded note that a sentence with a word of correction links to or names."""
    for text, source in ((lost.entry.text, None), (lost.note.text[:_READ], lost.note)):
        for match in _correction().finditer(lower_text(text)) if _has_correction(text) else ():
            start, end = _sentence_bounds(text, match)
            if source is not None and (linked := _find_linked(memory, source, start, end, loaded)):
                return linked
            if named := _find_named(text[start:end].lower(), lost, loaded):
                return named
    return None


def _find_linked(
    memory: Memory, note: Note, start: int, end: int, loaded: _LoadedEntries
) -> str | None:
    for resolved in memory.links.get(note.path, ()):
        if start <= resolved.link.start < end and resolved.path in loaded.by_path:
            return resolved.path
    return None


def _find_named(sentence: str, lost: _Listed, loaded: _LoadedEntries) -> str | None:
    """Return the loaded note whose name, stem or title is in the lower-cased `sentence`."""
    own = {lost.note.name.lower(), lost.note.stem.lower(), lost.entry.title.lower()}
    for path, other in loaded.by_path.items():
        for name in (other.note.name, other.note.stem, other.entry.title):
            plain = name.lower()
            if plain not in own and _is_distinctive(plain) and plain in sentence:
                return path
    return None


def _is_distinctive(name: str) -> bool:
    """Return whether a name is more than a word of the language, which may occur anywhere."""
    return len(name) >= _SHORTEST_NAME and not name.isalpha()


def _sentence_bounds(text: str, match: re.Match[str]) -> tuple[int, int]:
    start = 0
    for end in _SENTENCE_END.finditer(text, max(0, match.start() - 600), match.start()):
        start = end.end()
    closing = _SENTENCE_END.search(text, match.end())
    return start or max(0, match.start() - 600), closing.start() if closing else len(text)


def _report_correction(
    lost: _Listed, wrong: _Listed, index: MemoryIndex, fix: Fix | None
) -> RuleResult:
    message = (
        f"The correction “{lost.entry.title}” is not loaded,"
        f" but “{wrong.entry.title}”, which it corrects, is."
    )
    evidence = (
        f"loaded, line {wrong.entry.line}: {wrong.entry.text.strip()}",
        f"not loaded, line {lost.entry.line}: {lost.entry.text.strip()}",
    )
    cause = normalize(f"{wrong.entry.text}\n{lost.entry.text}")
    return RuleResult(lost.entry.line, message, cause, evidence, index.path, fix)


def _words_of(listed: _Listed) -> frozenset[str]:
    return frozenset(extract_content_words(" ".join(listed.statements)))


def _has_correction(text: str) -> bool:
    plain = lower_text(text)
    words = split_words(plain) if plain.isascii() else frozenset(_WORD.findall(plain))
    if not _correction_words().are_in(words, plain):
        return False
    return bool(_correction().search(plain))


@cache
def _correction_words() -> Triggers:
    return Triggers(list_expressions("correction", "correction_words"))


@cache
def _correction() -> re.Pattern[str]:
    return compile_part("correction", "correction")
