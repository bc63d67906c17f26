"""The conditions of a search: which notes they hold of, and which of them nobody understands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from threading import Lock
from typing import NamedTuple

from ricordo.lint.rule import all_rules
from ricordo.lint.rules.relations import RULE_OF
from ricordo.memory.memory import Memory
from ricordo.memory.names import folded
from ricordo.memory.note import Note
from ricordo.search.finder import Narrower
from ricordo.search.query import Condition, Query, day_meant, looks_like_day, parse
from ricordo.search.store import day_of, targets
from ricordo.search.words import fold, words
from ricordo.services.workspace.notebook import Snapshot
from ricordo.text import one_line

Fits = Callable[[str], bool]
"""Says of the path of a note whether every condition holds of it."""

PROTECTED = "protected"
"""What `is:` says of a note that is not changed without asking."""
_SAME_AS = {"conflict": "contradiction", "conflicts": "contradiction"}
"""Words of conditions that name a rule otherwise than the rule does."""
_MOST_TOLD = 6
"""Values that a remark names."""


class Values(NamedTuple):
    """What conditions and ties are judged by, beside the notes themselves."""

    labels: Mapping[str, Collection[str]] = {}
    """For `is:` and `has:`: by path, what is true of a note, such as the rules of its findings."""
    uses: Mapping[str, int] = {}
    """How often the person opened or confirmed a note, by path."""


def asks_findings(typed: str) -> bool:
    """Say whether a condition of what was `typed` asks what is wrong or true of a note."""
    query = parse(typed)
    return any(
        key in ("is", "has") for key in (*(it.key for it in query.conditions), *query.unfinished)
    )


def values_of(snapshot: Snapshot, uses: Mapping[str, int] | None = None) -> Values:
    """Return what the conditions are judged by, from a memory that was judged."""
    labels = {
        path: {finding.rule for finding in findings} for path, findings in snapshot.by_path.items()
    }
    for pair in snapshot.evidence.pairs:
        # a finding on two notes is told of one of them, but is true of both
        rule = RULE_OF[pair.relation]
        if pair.relation.is_certain and rule in labels.get(pair.left.path, ()):
            labels.setdefault(pair.right.path, set()).add(rule)
    for note in snapshot.memory.notes:
        if snapshot.is_protected(note):
            labels.setdefault(note.path, set()).add(PROTECTED)
    return Values(labels, uses or {})


class Conditions:
    """What a query asks of the notes of one memory, beside its words."""

    def __init__(self, query: Query, memory: Memory, values: Values) -> None:
        self._query = query
        self._memory = memory
        self._values = values

    def remarks(self) -> tuple[str, ...]:
        """Return which conditions nobody understands, and what they want; visible text."""
        query = self._query
        told = [self._remark(it) for it in query.conditions]
        if not query.words and not query.conditions:
            told += [self._wants(key) for key in query.unfinished]
        return tuple(it for it in told if it)

    def fits(self) -> Fits | None:
        """Return what says whether the conditions hold of a note; None where there are none."""
        if not self._query.conditions:
            return None
        # those that read a whole text come last: most notes need not be read
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
                types = self._types_meant(value)
                return lambda note: fold(note.type) in types
            case "is" | "has":
                meant = self._labels_meant(value)
                return lambda note: not meant.isdisjoint(self._values.labels.get(note.path, ()))
            case "after":
                since = day_meant(value)
                return lambda note: day_of(note) >= since
            case "before":
                until = day_meant(value)
                return lambda note: bool(day := day_of(note)) and day < until
            case "in":
                folder = _folder(condition.value)
                return lambda note: fold(note.path).startswith(folder)
            case ">":
                called = frozenset(self._called(condition.value))
                return lambda note: not called.isdisjoint(targets(self._memory, note))
            case "<":
                reached = self._reached(condition.value)
                return lambda note: note.path in reached
            case "exact":
                return lambda note: value in fold(note.text)
            case _:
                said = words(condition.value)
                return lambda note: _says(note, said)

    def _types_meant(self, value: str) -> frozenset[str]:
        return frozenset(_meant(value, map(fold, self._types())))

    def _labels_meant(self, value: str) -> frozenset[str]:
        here = chain.from_iterable(self._values.labels.values())
        meant = _meant(value, {PROTECTED, *all_rules(), *_SAME_AS, *here})
        return frozenset(_SAME_AS.get(it, it) for it in meant)

    def _called(self, name: str) -> Sequence[str]:
        """The paths of the files that `name` means, else of those that are called so, or whose
        path begins so, else of those that have it anywhere in their names.
        """
        names = self._memory.names
        if exact := names.called(name):
            return exact
        meant = folded(name).removesuffix(".md")
        known: Mapping[str, Sequence[str]] = names.by_fold
        if "/" in meant:
            known = {folded(path).removesuffix(".md"): (path,) for path in names.paths}
        ways: tuple[Callable[[str], bool], ...] = (
            lambda it: it == meant,
            lambda it: it.startswith(meant),
            lambda it: meant in it,
        )
        found = ([path for it in filter(way, known) for path in known[it]] for way in ways)
        return next(filter(None, found), ())

    def _reached(self, name: str) -> frozenset[str]:
        files = self._memory.by_path
        return frozenset(
            it for path in self._called(name) for it in targets(self._memory, files[path])
        )

    # What cannot be understood

    def _remark(self, condition: Condition) -> str:
        key, value = condition.key, fold(condition.value)
        typed = one_line(condition.value)
        match key:
            case "after" | "before" if not day_meant(value):
                is_written_so = looks_like_day(value)
                fault = f"“{typed}” is not in the calendar" if is_written_so else f"not “{typed}”"
            case "is" | "has" if not self._labels_meant(value):
                fault = f"not “{typed}”"
            case "type" if not self._types_meant(value):
                fault = f"not “{typed}”"
            case "in" if not self._has_folder(value):
                fault = f"there is no “{typed}”"
            case ">" | "<" if not self._called(condition.value):
                fault = f"none is called “{typed}”"
            case _:
                return ""
        return f"{self._wants(key)}, {fault}"

    def _wants(self, key: str) -> str:
        match key:
            case "after" | "before":
                return f"{key}: wants 2026-05 or 2026-05-01"
            case "is" | "has":
                return f"{key}: wants the name of a rule or “{PROTECTED}”{self._labels_here()}"
            case "type":
                return f"type: wants {_either(self._types()) or 'a type, which no note here has'}"
            case "in":
                return "in: wants a folder of the memory"
            case _:
                return f"{key} wants the name of a note"

    def _labels_here(self) -> str:
        """What is true of notes here, the commonest first, as the end of a sentence."""
        counted = Counter(it for labels in self._values.labels.values() for it in labels)
        here = [it for it, _ in counted.most_common(_MOST_TOLD)]
        return f" (here {_either(here)})" if here else ""

    def _has_folder(self, value: str) -> bool:
        folder = _folder(value)
        return any(fold(it.path).startswith(folder) for it in self._memory.files)

    def _types(self) -> list[str]:
        """The types of the notes, the commonest first."""
        return [
            it for it, _ in Counter(note.type for note in self._files() if note.type).most_common()
        ]

    def _files(self) -> Iterator[Note]:
        return iter(self._memory.files)


def _meant(value: str, known: Iterable[str]) -> list[str]:
    """What of the `known` words is `value`, else what begins so: it may still be typed."""
    begun = [it for it in known if it.startswith(value)]
    return [value] if value in begun else begun


def _either(values: Sequence[str]) -> str:
    told = [one_line(it) for it in values[:_MOST_TOLD]]
    return " or ".join([", ".join(told[:-1]), told[-1]] if len(told) > 1 else told)


def _folder(value: str) -> str:
    """The beginning of the paths of the notes in a folder, however the folder is written."""
    return fold(value).removeprefix("./").strip("/") + "/"


def _says(note: Note, said: list[str]) -> bool:
    every = {*words(note.text), *words(note.path)}
    return bool(said) and every.issuperset(said)


def fitting(memory: Memory, typed: str) -> frozenset[str]:
    """Return the paths of the files of `memory` that fit what is `typed`, by the rules of the
    finder, but word by word.
    """
    return _narrower(memory).fitting(typed)


def prepare(memory: Memory) -> None:
    """Make what `fitting` needs, so that no key has to wait for it."""
    _narrower(memory).prepare()


def _narrower(memory: Memory) -> Narrower:
    # whoever asks while it is made waits, and does not make a second one
    with _making:
        return _made(memory)


_making = Lock()


@lru_cache(maxsize=1)
def _made(memory: Memory) -> Narrower:
    # kept, because the same memory is narrowed with every key
    return Narrower(memory)
