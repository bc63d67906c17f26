"""The conditions of a search: which notes fulfil them, and which conditions are invalid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from ricordo.memory.memory import Memory
from ricordo.memory.names import fold_name
from ricordo.memory.note import Note
from ricordo.search.finder import NoteFilter
from ricordo.search.phrase import Phrase
from ricordo.search.query import (
    Condition,
    Query,
    looks_like_day,
    parse_alternatives,
    parse_day,
)
from ricordo.search.store import find_day, list_targets
from ricordo.search.tags import list_tags
from ricordo.search.words import fold, split_words
from ricordo.suggestions import suggest
from ricordo.text import make_one_line

if TYPE_CHECKING:
    from ricordo.services.workspace.notebook import Snapshot

PathFilter = Callable[[str], bool]
"""Returns whether the note at a path fulfils every condition."""

PROTECTED = "protected"
"""Value of `is:` for notes that are not changed without asking."""
_SAME_AS = {"conflict": "contradiction", "conflicts": "contradiction"}
"""Other words for rules in conditions."""
_MOST_LISTED = 6
"""Values that a warning lists."""


class ConditionValues(NamedTuple):
    """What decides conditions and ties, besides the notes themselves."""

    labels: Mapping[str, Collection[str]] = {}
    """For `is:` and `has:`: the labels of each note, such as the rules of its findings, by path."""
    uses: Mapping[str, int] = {}
    """How often the user opened or confirmed a note, by path."""


def needs_findings(typed: str) -> bool:
    """Return whether a condition of the query `typed` needs findings or labels of notes."""
    return any(
        key in ("is", "has")
        for query in parse_alternatives(typed)
        for key in (*(it.key for it in query.conditions), *query.unfinished)
    )


def collect_values(snapshot: Snapshot, uses: Mapping[str, int] | None = None) -> ConditionValues:
    """Return the values for conditions from a judged snapshot."""
    from ricordo.lint.evidence import RULE_OF

    labels = {
        path: {finding.rule for finding in findings} for path, findings in snapshot.by_path.items()
    }
    for pair in snapshot.evidence.pairs:
        # a finding on two notes is reported at one of them, but is about both
        rule = RULE_OF[pair.relation]
        if pair.relation.is_certain and rule in labels.get(pair.left.path, ()):
            labels.setdefault(pair.right.path, set()).add(rule)
    for note in snapshot.memory.notes:
        if snapshot.is_protected(note):
            labels.setdefault(note.path, set()).add(PROTECTED)
    return ConditionValues(labels, uses or {})


class Conditions:
    """The conditions of a query, applied to the notes of one memory."""

    def __init__(self, query: Query, memory: Memory, values: ConditionValues) -> None:
        self._query = query
        self._memory = memory
        self._values = values

    def list_warnings(self) -> tuple[str, ...]:
        """Return a warning for each invalid condition, with what it expects; visible text."""
        query = self._query
        warnings = [self._warning(it) for it in query.conditions]
        if not query.words and not query.conditions:
            warnings += [self._expected(key) for key in query.unfinished]
        return tuple(warning for warning in warnings if warning)

    def build_filter(self) -> PathFilter | None:
        """Return a predicate on paths that checks all conditions; None if there are none."""
        if not self._query.conditions:
            return None
        # conditions on the whole text come last: then most texts need not be read
        ordered = sorted(self._query.conditions, key=lambda it: it.key in ("exact", "word"))
        tests = [(self._test(it), it.negated) for it in ordered]
        notes = self._memory.by_path

        @cache
        def fits(path: str) -> bool:
            # the index may be newer than the memory
            note = notes.get(path)
            return note is not None and all(test(note) != negated for test, negated in tests)

        return fits

    def _test(self, condition: Condition) -> Callable[[Note], bool]:
        value = fold(condition.value)
        match condition.key:
            case "type":
                types = self._matching_types(value)
                return lambda note: fold(note.type) in types
            case "tag":
                tags = self._matching_tags(value)
                return lambda note: not tags.isdisjoint(self._tags[note.path])
            case "is" | "has":
                labels = self._matching_labels(value)
                return lambda note: not labels.isdisjoint(self._values.labels.get(note.path, ()))
            case "after":
                since = parse_day(value)
                return lambda note: find_day(note) >= since
            case "before":
                until = parse_day(value)
                return lambda note: bool(day := find_day(note)) and day < until
            case "in":
                folder = _folder(condition.value)
                return lambda note: fold(note.path).startswith(folder)
            case ">":
                named = frozenset(self._find_named(condition.value))
                return lambda note: not named.isdisjoint(list_targets(self._memory, note))
            case "<":
                linked = self._linked_from(condition.value)
                return lambda note: note.path in linked
            case "exact":
                phrase = Phrase(condition.value)
                return lambda note: phrase.occurs_in(fold(note.text))
            case _:
                terms = split_words(condition.value)
                return lambda note: _has_words(note, terms)

    def _matching_types(self, value: str) -> frozenset[str]:
        return frozenset(_matching(value, map(fold, self._types())))

    @cached_property
    def _tags(self) -> Mapping[str, frozenset[str]]:
        """The tags of each file, by path."""
        return {file.path: list_tags(file) for file in self._memory.files}

    def _matching_tags(self, value: str) -> frozenset[str]:
        """Return the tags that `value` means: a tag, and those that are nested in it."""
        known = set(chain.from_iterable(self._tags.values()))
        matching = _matching(value.removeprefix("#"), known)
        nested = (tag for tag in known for above in matching if tag.startswith(f"{above}/"))
        return frozenset((*matching, *nested))

    def _matching_labels(self, value: str) -> frozenset[str]:
        from ricordo.lint.rule import load_rules

        present = chain.from_iterable(self._values.labels.values())
        labels = _matching(value, {PROTECTED, *load_rules(), *_SAME_AS, *present})
        return frozenset(_SAME_AS.get(label, label) for label in labels)

    def _find_named(self, name: str) -> Sequence[str]:
        """Return the paths of the files called `name`; else those with equal folded names, else
        those whose name starts with it, else those whose name contains it.
        """
        names = self._memory.names
        if exact := names.find_by_name(name):
            return exact
        term = fold_name(name).removesuffix(".md")
        known: Mapping[str, Sequence[str]] = names.by_fold
        if "/" in term:
            known = {fold_name(path).removesuffix(".md"): (path,) for path in names.paths}
        tests: tuple[Callable[[str], bool], ...] = (
            lambda key: key == term,
            lambda key: key.startswith(term),
            lambda key: term in key,
        )
        matches = ([path for key in filter(test, known) for path in known[key]] for test in tests)
        return next(filter(None, matches), ())

    def _linked_from(self, name: str) -> frozenset[str]:
        files = self._memory.by_path
        return frozenset(
            target
            for path in self._find_named(name)
            for target in list_targets(self._memory, files[path])
        )

    # Invalid conditions

    def _warning(self, condition: Condition) -> str:
        key, value = condition.key, fold(condition.value)
        typed = make_one_line(condition.value)
        match key:
            case "after" | "before" if not parse_day(value):
                is_date = looks_like_day(value)
                fault = f"“{typed}” is not in the calendar" if is_date else f"not “{typed}”"
            case "is" | "has" if not self._matching_labels(value):
                fault = f"not “{typed}”"
            case "type" if not self._matching_types(value):
                fault = f"not “{typed}”"
            case "tag" if not self._matching_tags(value):
                fault = f"not “{typed}”"
            case "in" if not self._has_folder(value):
                fault = f"there is no “{typed}”"
            case ">" | "<" if not self._find_named(condition.value):
                fault = f"there is no “{typed}”"
            case _:
                return ""
        near = suggest(value, self._list_values(key))
        return f"{self._expected(key)}, {fault}{f'. {near}' if near else ''}"

    def _list_values(self, key: str) -> Iterable[str]:
        """Return the values of conditions with that `key` that may have been meant."""
        from ricordo.lint.rule import load_rules

        match key:
            case "is" | "has":
                return {PROTECTED, *load_rules(), *_SAME_AS}
            case "type":
                return self._types()
            case "tag":
                return set(chain.from_iterable(self._tags.values()))
            case ">" | "<":
                return {file.name for file in self._memory.files}
            case _:
                return ()

    def _expected(self, key: str) -> str:
        match key:
            case "after" | "before":
                return f"{key}: expects 2026-05 or 2026-05-01"
            case "is" | "has":
                return f"{key}: expects a rule name or “{PROTECTED}”{self._labels_here()}"
            case "type":
                return f"type: expects {_either(self._types()) or 'a type, but no note has one'}"
            case "tag":
                counted = Counter(chain.from_iterable(self._tags.values()))
                tags = [tag for tag, _ in counted.most_common()]
                return f"tag: expects {_either(tags) or 'a tag, but no note has one'}"
            case "in":
                return "in: expects a folder of the memory"
            case _:
                return f"{key} expects the name of a note"

    def _labels_here(self) -> str:
        """Return the labels of notes here, the most frequent first, as the end of a sentence."""
        counted = Counter(label for labels in self._values.labels.values() for label in labels)
        frequent = [label for label, _ in counted.most_common(_MOST_LISTED)]
        return f" (here {_either(frequent)})" if frequent else ""

    def _has_folder(self, value: str) -> bool:
        folder = _folder(value)
        return any(fold(file.path).startswith(folder) for file in self._memory.files)

    def _types(self) -> list[str]:
        """Return the types of the notes, the most frequent first."""
        counted = Counter(note.type for note in self._memory.files if note.type)
        return [name for name, _ in counted.most_common()]


def _matching(value: str, known: Iterable[str]) -> list[str]:
    """Return `value` if it is one of the `known` words, else those that start with it: it may be
    half typed.
    """
    starting = [word for word in known if word.startswith(value)]
    return [value] if value in starting else starting


def _either(values: Sequence[str]) -> str:
    shown = [make_one_line(value) for value in values[:_MOST_LISTED]]
    return " or ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _folder(value: str) -> str:
    """Return the prefix of the paths in a folder, however the folder is written."""
    return fold(value).removeprefix("./").strip("/") + "/"


def _has_words(note: Note, terms: list[str]) -> bool:
    present = {*split_words(note.text), *split_words(note.path)}
    return bool(terms) and present.issuperset(terms)


def find_matching(memory: Memory, typed: str) -> frozenset[str]:
    """Return the paths of the files of `memory` that match `typed`, by the rules of the finder, but
    word by word.
    """
    return _narrower(memory).find_matching(typed)


def prepare_matching(memory: Memory) -> None:
    """Prepare what `find_matching` needs, so that no key waits for it."""
    _narrower(memory).prepare()


def _narrower(memory: Memory) -> NoteFilter:
    # locked: a second caller waits instead of building a second one
    with _lock:
        return _build_narrower(memory)


_lock = Lock()


@lru_cache(maxsize=1)
def _build_narrower(memory: Memory) -> NoteFilter:
    # cached, because the same memory is narrowed with every key
    return NoteFilter(memory)
