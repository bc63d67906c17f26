"""Finding notes by name as it is typed, in the order that a person expects.

Exact name, beginning of the name, beginnings of its words, inside the name, in the path, in the
description, letters in their order, and at last typing errors.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, islice
from typing import NamedTuple

from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.search.fuzzy import corrected
from ricordo.search.words import end_of, fold, fold_with_places, runs

_CAMEL = re.compile("([a-z0-9])([A-Z])")


class Blob:
    """Texts, each on its own line and known by its number, counted from 0."""

    def __init__(self, texts: Sequence[str]) -> None:
        """`texts` hold no line breaks."""
        self.text = "\n" + "".join([f"{text}\n" for text in texts])
        self._starts = list(accumulate((len(text) + 1 for text in texts), initial=1))
        """Where each text begins, and where the next one would."""
        self._held: tuple[str, list[int]] | None = None
        self._spread: tuple[str, list[int]] | None = None
        """The last needle of which all texts that have it are known, and which they are: who types
        on asks for some of them.
        """

    def lines(self) -> list[str]:
        """Return all texts."""
        return self.text[1:-1].split("\n") if len(self._starts) > 1 else []

    def line(self, number: int) -> str:
        """Return the text of that number."""
        return self.text[self._starts[number] : self._starts[number + 1] - 1]

    def holding(self, needle: str) -> Iterator[int]:
        """Yield the numbers of the texts that hold `needle`, each once, in their order. A line
        break at its begin or end stands for that of the text.
        """
        held = self._held
        numbers: Iterator[int]
        if held and held[0] in needle:
            numbers = (it for it in held[1] if needle in f"\n{self.line(it)}\n")
        else:
            numbers = self._holding(needle)
        found: list[int] = []
        for number in numbers:
            found.append(number)
            yield number
        self._held = needle, found

    def _holding(self, needle: str) -> Iterator[int]:
        text, at = self.text, 0
        while (at := text.find(needle, at)) >= 0:
            number = bisect_right(self._starts, at + (needle[0] == "\n")) - 1
            yield max(0, number)
            at = text.find("\n", at + 1)
            if at < 0:
                return

    def spreading(self, letters: str) -> Iterator[int]:
        """Yield the numbers of the texts in which these letters stand in their order, whatever
        stands between them.
        """
        # to each next letter without ever going back, so that no text makes it slow
        rest = "".join(rf"[^\n{letter}]*+{letter}" for letter in letters[1:])
        pattern = re.compile(letters[0] + rest)
        spread = self._spread
        numbers: Iterator[int]
        if spread and letters.startswith(spread[0]):
            numbers = (it for it in spread[1] if pattern.search(self.line(it)))
        else:
            starts = self._starts
            numbers = (bisect_right(starts, it.start()) - 1 for it in pattern.finditer(self.text))
        found: list[int] = []
        for number in numbers:
            found.append(number)
            yield number
        self._spread = letters, found


def spaced(text: str) -> str:
    """Return `text` folded, with one blank between its words, its camel humps and path parts."""
    if not text.islower():
        text = _CAMEL.sub(r"\1 \2", text)
    return " ".join(runs(text))


class Spelling:
    """The words of many names, against which typing errors are seen."""

    def __init__(self, names: Blob) -> None:
        """`names` are spaced; their words are taken apart when they are first needed."""
        self._names = names

    def meant(self, needle: str) -> str:
        """Return `needle` with every word as it is spelled right in some name; "" where one of
        them is like no word of any, or where it is spelled right itself.
        """
        meant = [
            corrected(word, lambda letters: self._words.get(letters, ())) for word in needle.split()
        ]
        spelled = " ".join(meant)
        return spelled if all(meant) and spelled != needle else ""

    def prepare(self) -> None:
        """Take the words apart now, so that no key has to wait for it."""
        _ = self._words

    @cached_property
    def _words(self) -> Mapping[int, set[str]]:
        """The words of all names by how many letters they have; numbers are not misspelled."""
        words: dict[int, set[str]] = {}
        for word in set(self._names.text.split()):
            if word.isalpha():
                words.setdefault(len(word), set()).add(word)
        return words


MOST_HITS = 500
"""Of one kind; who types a single letter wants the first of them."""
LONGEST_NAME = 500
"""Characters of a name by which it is found. Letters that stand anywhere in a name are looked for
from every one that is the first of them: in a name of thousands of letters that takes a second.
"""
ENOUGH = 5
"""With so many notes found that have what was typed, as many as recall gives, typing errors are not
looked for.
"""
_NAMES = ("exact name", "name begins", "word of the name", "in the name")
_SCATTERED = "letters of the name"
_PATH, _DESCRIPTION = "in the path", "in the description"
_MISSPELLED = "spelled like the name"
_KINDS = (*_NAMES, _PATH, _DESCRIPTION, _SCATTERED, _MISSPELLED)

_Texts = tuple[str, str, str]
"""Of a note: the name, the path where it says something else, the description; spaced."""


class Named(NamedTuple):
    """A note that was found by what it is called."""

    note: Note
    tier: int
    """0 for the best kind of hit."""
    why: str
    said: str
    """What stands there: what was typed, or what was meant by it."""

    @property
    def told_by(self) -> str:
        """The text in which it stands, where that is neither the name nor the body."""
        note = self.note
        return {_PATH: note.path, _DESCRIPTION: note.description}.get(self.why, "")

    @property
    def is_scattered(self) -> bool:
        """Whether no more than the letters stand in the name, in their order."""
        return self.why == _SCATTERED

    @property
    def is_misspelled(self) -> bool:
        """Whether the name is no more than spelled like what was typed."""
        return self.why == _MISSPELLED


class NamedHits(NamedTuple):
    """What was found by what it is called."""

    hits: list[Named]
    is_all: bool
    """Whether there are no more: of a kind of hit that many notes have, the first were taken."""


class Finder:
    """The names of many notes, ready to be searched; made once for a memory and asked often."""

    def __init__(
        self, notes: Iterable[Note], days: Mapping[str, int], before: Finder | None = None
    ) -> None:
        """`days` has for the path of every note the day of its last change, as a number that
        grows. What is known of a note from `before` is taken from there.
        """
        ordered = [(len(it.name), -days[it.path], it.path, it) for it in notes]
        ordered.sort(key=lambda it: it[:3])
        self.notes = tuple([it[3] for it in ordered])
        """In the order in which notes are told that are found in the same way."""
        self._ranks = [it[:2] for it in ordered]
        known = before._texts() if before else {}
        texts = [known.get(id(note)) or _texts_of(note) for note in self.notes]
        self._names, self._paths, self._descriptions = (
            Blob([it[field] for it in texts]) for field in range(3)
        )
        self._spelling = Spelling(self._names)

    def _texts(self) -> dict[int, _Texts]:
        """The texts of every note, by its identity."""
        blobs = self._names, self._paths, self._descriptions
        return dict(
            zip(map(id, self.notes), zip(*(it.lines() for it in blobs), strict=True), strict=True)
        )

    def prepare(self) -> None:
        """Make now what only typing errors need."""
        self._spelling.prepare()

    def find(
        self,
        typed: str,
        uses: Mapping[str, int] | None = None,
        fits: Callable[[str], bool] | None = None,
    ) -> NamedHits:
        """Return the notes whose name, path or description fits what was `typed`, best kind of hit
        first, within a kind the shorter name first, then the fresher, then what the person used
        more; only those with a path that `fits`.
        """
        needle = spaced(typed)
        if not needle:
            return NamedHits([], True)
        found: dict[int, int] = {}
        is_all = True
        for tier, numbers in enumerate(self._tiers(needle)):
            first = list(islice(self._sifted(numbers, fits), MOST_HITS))
            is_all = is_all and len(first) < MOST_HITS
            for number in first:
                found.setdefault(number, tier)
        meant = ""
        if sum(tier < _KINDS.index(_SCATTERED) for tier in found.values()) < ENOUGH:
            meant = self._spelling.meant(needle)
            for number in self._sifted(self._names.holding(meant), fits) if meant else ():
                found.setdefault(number, len(_KINDS) - 1)
        hits = []
        for tier, number in self._ordered(found, uses):
            why = _KINDS[tier]
            said = meant if why == _MISSPELLED else typed
            hits.append(Named(self.notes[number], tier, why, said))
        return NamedHits(hits, is_all)

    def _ordered(
        self, found: Mapping[int, int], uses: Mapping[str, int] | None
    ) -> list[tuple[int, int]]:
        """Kinds and numbers of the notes that were `found`, the best first."""
        ordered = [(tier, number) for number, tier in found.items()]
        if not uses:
            # as the notes are in order, so are their numbers
            return sorted(ordered)
        notes, ranks = self.notes, self._ranks
        return sorted(
            ordered, key=lambda it: (it[0], ranks[it[1]], -uses.get(notes[it[1]].path, 0), it[1])
        )

    def _sifted(self, numbers: Iterable[int], fits: Callable[[str], bool] | None) -> Iterable[int]:
        if fits is None:
            return numbers
        return (number for number in numbers if fits(self.notes[number].path))

    def _tiers(self, needle: str) -> Iterator[Iterable[int]]:
        yield from self._in_names(needle)
        yield self._paths.holding(needle)
        yield self._descriptions.holding(f" {needle}")
        letters = needle.replace(" ", "")
        if 2 <= len(letters) <= 30:
            yield self._names.spreading(letters)

    def _in_names(self, needle: str) -> Iterator[Iterable[int]]:
        """The notes with `needle` in the name, for each of the `_NAMES` those that may be it."""
        names = self._names
        some = list(islice(names.holding(needle), MOST_HITS))
        if len(some) == MOST_HITS:
            for start, end in (("\n", "\n"), ("\n", ""), (" ", ""), ("", "")):
                yield names.holding(start + needle + end)
            return
        # so few are looked at one by one, in less time than all names once more
        kinds: tuple[list[int], ...] = ([], [], [], [])
        for number in some:
            kinds[_kind(names.line(number), needle)].append(number)
        yield from kinds


def _texts_of(note: Note) -> _Texts:
    name, path = spaced(note.name[:LONGEST_NAME]), note.path.removesuffix(".md")
    other = "" if path == note.name else spaced(path)
    # every word of a description has a blank before it
    return name, "" if other == name else other, f" {spaced(note.description)}"


def _kind(name: str, needle: str) -> int:
    """Which of the `_NAMES` it is that `needle` stands in `name`."""
    if name.startswith(needle):
        return int(name != needle)
    return 2 if f" {needle}" in name else 3


def marks(text: str, typed: str) -> tuple[tuple[int, int], ...]:
    """Return where what was `typed` stands in `text`, start and end of each piece: whole where it
    does, else word by word, else letter by letter.
    """
    folded, places = fold_with_places(text)
    for needles in ([fold(typed).strip()], fold(typed).split()):
        found = [(at, at + len(it)) for it in needles if it and (at := folded.find(it)) >= 0]
        if found and len(found) == len(needles):
            break
    else:
        found = _letters(folded, fold(typed))
    return tuple((places[start], end_of(places, end)) for start, end in sorted(found))


def _letters(folded: str, typed: str) -> list[tuple[int, int]]:
    places: list[tuple[int, int]] = []
    at = 0
    for letter in typed:
        if letter.isspace():
            continue
        at = folded.find(letter, at)
        if at < 0:
            return []
        places.append((at, at + 1))
        at += 1
    return places


_APART = " | "
"""Between the texts of one note; nothing that is typed reaches across it."""


class Narrower:
    """The files of one memory, ready to be narrowed; made once for a memory and asked often."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._blob = Blob([_APART.join(_texts(memory, file)) for file in memory.files])

    def fitting(self, typed: str) -> frozenset[str]:
        """Return the paths of the files of which every word that was `typed` stands in the name,
        the path, the description, or a title in an index; where there are none, of those with a
        name that is spelled like it.
        """
        needles = [needle for word in typed.split() if (needle := spaced(word))]
        if not needles:
            return frozenset()
        numbers = set.intersection(*(set(self._blob.holding(needle)) for needle in needles))
        if numbers:
            return frozenset(self._memory.files[number].path for number in numbers)
        names, spelling = self._spelling
        meant = spelling.meant(spaced(typed))
        numbers = set(names.holding(meant)) if meant else set()
        return frozenset(self._memory.files[number].path for number in numbers)

    def prepare(self) -> None:
        """Make now what only names that are spelled otherwise need."""
        self._spelling[1].prepare()

    @cached_property
    def _spelling(self) -> tuple[Blob, Spelling]:
        """The names, and their words."""
        names = Blob([spaced(file.name) for file in self._memory.files])
        return names, Spelling(names)


def _texts(memory: Memory, file: Note) -> Iterator[str]:
    entries = memory.entries.get(file.path, ())
    names = {spaced(it) for it in {file.name, *(entry.title for _, entry in entries)}}
    path = spaced(file.path)
    yield from names
    yield path
    # who types getusername means getUserName
    yield from (name.replace(" ", "") for name in (*names, path))
    yield spaced(file.description)
