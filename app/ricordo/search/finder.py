"""Find notes by a partly typed name, best kind of match first.

The kinds in order: exact name, beginning of the name, beginning of a word, inside the name, in the
path, in the description, abbreviations of the name, and typing errors.
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
from ricordo.patterns import compile_lazily
from ricordo.search.fuzzy import correct_word
from ricordo.search.words import find_end, fold, fold_with_places, is_unspaced, split_runs

_CAMEL = compile_lazily("([a-z0-9])([A-Z])")


class TextBlob:
    """Texts joined for fast search, one per line, numbered from 0."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Join `texts`, which have no line breaks."""
        self.text = "\n" + "".join([f"{text}\n" for text in texts])
        self._starts = list(accumulate((len(text) + 1 for text in texts), initial=1))
        """The offset of each text, and of the end."""
        self._last_holding: tuple[str, list[int]] | None = None
        self._last_abbreviated: tuple[str, list[int]] | None = None
        """The last needle that was searched completely, and its texts: a longer needle, typed
        next, can only match some of them.
        """

    def lines(self) -> list[str]:
        """Return all texts."""
        return self.text[1:-1].split("\n") if len(self._starts) > 1 else []

    def line(self, number: int) -> str:
        """Return the text with that number."""
        return self.text[self._starts[number] : self._starts[number + 1] - 1]

    def find_containing(self, needle: str) -> Iterator[int]:
        """Yield the numbers of the texts that contain `needle`, each once, in order. A line break
        at its start or end matches the start or end of the text.
        """
        last = self._last_holding
        numbers: Iterator[int]
        if last and last[0] in needle:
            numbers = (n for n in last[1] if needle in f"\n{self.line(n)}\n")
        else:
            numbers = self._search(needle)
        matches: list[int] = []
        for number in numbers:
            matches.append(number)
            yield number
        self._last_holding = needle, matches

    def _search(self, needle: str) -> Iterator[int]:
        text, at = self.text, 0
        while (at := text.find(needle, at)) >= 0:
            number = bisect_right(self._starts, at + (needle[0] == "\n")) - 1
            yield max(0, number)
            at = text.find("\n", at + 1)
            if at < 0:
                return

    def find_abbreviated(self, letters: str) -> Iterator[int]:
        """Yield the numbers of the texts that `letters` abbreviate, each once, in order."""
        last = self._last_abbreviated
        goes_on = last and letters.startswith(last[0])
        matches: list[int] = []
        for number in last[1] if last and goes_on else self._search_scattered(letters):
            if find_abbreviation(self.line(number), letters):
                matches.append(number)
                yield number
        self._last_abbreviated = letters, matches

    def _search_scattered(self, letters: str) -> Iterator[int]:
        """Yield the numbers of the texts that contain these letters in order, the first one at the
        beginning of a word.
        """
        first = letters[0]
        # a letter that is looked for comes first in the pattern: that is faster
        start = first if is_unspaced(first) else rf"{first}(?<=[\n ]{first})"
        # possessive to each next letter, so that no text makes it slow
        rest = "".join(rf"[^\n{letter}]*+{letter}" for letter in letters[1:])
        pattern = re.compile(start + rest)
        at = 0
        while match := pattern.search(self.text, at):
            yield bisect_right(self._starts, match.start()) - 1
            at = self.text.find("\n", match.end())


def find_abbreviation(text: str, letters: str) -> Sequence[int]:
    """Return the places of `letters` in a `text` after `split_name` that they abbreviate: they are
    beginnings of its words, or in order in one of them, from its first letter on. Empty if they
    do not abbreviate it: the letters of a short word are scattered over many texts.
    """
    text = f" {text}"
    firsts = list(_find_begun(text, letters[0], 0))
    paths: dict[int, tuple[int, ...]] = {end: (end - 2,) for end in firsts}
    """The places of the letters so far, by the end of the last of them."""
    for letter in letters[1:]:
        if not paths:
            break
        least = min(paths)
        begun = {end: (*paths[least], end - 2) for end in _find_begun(text, letter, least)}
        going_on = {
            end + 1: (*path, end - 1) for end, path in paths.items() if text.startswith(letter, end)
        }
        paths = begun | going_on
    in_words = (_find_in_word(text, end, letters) for end in firsts)
    return paths[min(paths)] if paths else next(filter(None, in_words), ())


def _find_begun(text: str, letter: str, start: int) -> Iterator[int]:
    """Yield the ends of `letter` from `start` on where a word begins with it; in a script without
    blanks every letter begins one.
    """
    beginning = letter if is_unspaced(letter) else f" {letter}"
    at = text.find(beginning, start)
    while at >= 0:
        yield at + len(beginning)
        at = text.find(beginning, at + 1)


def _find_in_word(text: str, end: int, letters: str) -> Sequence[int]:
    """Return the places of `letters` in order in the word whose first letter ends at `end`; else
    nothing.
    """
    word = text[end - 1 :].partition(" ")[0]
    at, places = 0, [end - 2]
    for letter in letters[1:]:
        at = word.find(letter, at + 1)
        if at < 0:
            return ()
        places.append(end - 2 + at)
    return places


def split_name(text: str) -> str:
    """Return `text` folded, with one blank between words, camel-case words and path parts."""
    if not text.islower():
        text = _CAMEL.sub(r"\1 \2", text)
    return " ".join(split_runs(text))


class Spelling:
    """The words of many names, for correcting typing errors."""

    def __init__(self, names: TextBlob) -> None:
        """Use `names` after `split_name`; their words are split when first needed."""
        self._names = names

    def correct(self, needle: str) -> str:
        """Return `needle` with every word corrected to a word of some name; "" if a word resembles
        none, or none needs correction.
        """
        words = [
            correct_word(word, lambda letters: self._words.get(letters, ()))
            for word in needle.split()
        ]
        correction = " ".join(words)
        return correction if all(words) and correction != needle else ""

    def prepare(self) -> None:
        """Split the words now, so that no key press has to wait for it."""
        _ = self._words

    @cached_property
    def _words(self) -> Mapping[int, set[str]]:
        """The words of all names by their length; numbers are excluded."""
        words: dict[int, set[str]] = {}
        for word in set(self._names.text.split()):
            if word.isalpha():
                words.setdefault(len(word), set()).add(word)
        return words


MOST_HITS = 500
"""Hits of one kind; after a single letter the first ones are enough."""
LONGEST_NAME = 500
"""Characters of a name that are searched. The search for scattered letters starts at every
occurrence of the first one: in a name of thousands of letters that takes a second.
"""
ENOUGH = 5
"""With this many hits, the same number as in recall, neither abbreviations nor typing errors are
searched.
"""
_LONGEST_ABBREVIATION = 30
"""Letters; more are words."""
_NAMES = ("exact name", "name begins", "word of the name", "in the name")
_ABBREVIATED = "abbreviation of the name"
_PATH, _DESCRIPTION = "in the path", "in the description"
_MISSPELLED = "spelled like the name"
_KINDS = (*_NAMES, _PATH, _DESCRIPTION, _ABBREVIATED, _MISSPELLED)

_Texts = tuple[str, str, str]
"""The name of a note, its path unless it is the same, and its description; after `spaced`."""


class NameHit(NamedTuple):
    """A note that was found by its name, path or description."""

    note: Note
    tier: int
    """The kind of hit, 0 for the best."""
    kind: str
    matched: str
    """The matched text: what was typed, or its correction."""

    @property
    def matched_text(self) -> str:
        """The path or the description if the match is there; else ""."""
        note = self.note
        return {_PATH: note.path, _DESCRIPTION: note.description}.get(self.kind, "")

    @property
    def is_abbreviated(self) -> bool:
        """Whether the name only matches as abbreviated by what was typed."""
        return self.kind == _ABBREVIATED

    @property
    def is_misspelled(self) -> bool:
        """Whether the name only matches the corrected spelling."""
        return self.kind == _MISSPELLED


class NameHits(NamedTuple):
    """The result of a search by name."""

    hits: list[NameHit]
    is_complete: bool
    """Whether these are all hits; False if one kind of hit was cut at `MOST_HITS`."""


class Finder:
    """The names, paths and descriptions of many notes, prepared for many searches."""

    def __init__(
        self, notes: Iterable[Note], days: Mapping[str, int], before: Finder | None = None
    ) -> None:
        """Prepare `notes`. `days` maps every path to the day number of its last change. Texts of
        notes that are also in `before` are reused.
        """
        ordered = [(len(note.name), -days[note.path], note.path, note) for note in notes]
        ordered.sort(key=lambda row: row[:3])
        self.notes = tuple([row[3] for row in ordered])
        """In the order of hits of the same kind."""
        self._ranks = [row[:2] for row in ordered]
        reusable = before._texts() if before else {}
        texts = [reusable.get(id(note)) or _texts_of(note) for note in self.notes]
        self._names, self._paths, self._descriptions = (
            TextBlob([row[field] for row in texts]) for field in range(3)
        )
        self._spelling = Spelling(self._names)

    def _texts(self) -> dict[int, _Texts]:
        """Return the texts of every note, by its identity."""
        blobs = self._names, self._paths, self._descriptions
        texts = zip(*(blob.lines() for blob in blobs), strict=True)
        return dict(zip(map(id, self.notes), texts, strict=True))

    def prepare(self) -> None:
        """Prepare the correction of typing errors now."""
        self._spelling.prepare()

    def find(
        self,
        typed: str,
        uses: Mapping[str, int] | None = None,
        fits: Callable[[str], bool] | None = None,
    ) -> NameHits:
        """Return the notes whose name, path or description matches the text `typed`, best kind of
        hit first, then shorter names, then newer notes, then more frequent `uses` by the user;
        only those with a path that `fits`.
        """
        needle = split_name(typed)
        if not needle:
            return NameHits([], True)
        tiers: dict[int, int] = {}
        is_all = True

        def add(tier: int, numbers: Iterable[int]) -> None:
            nonlocal is_all
            first = list(islice(self._filter(numbers, fits), MOST_HITS))
            is_all = is_all and len(first) < MOST_HITS
            for number in first:
                tiers.setdefault(number, tier)

        for tier, numbers in enumerate(self._tiers(needle)):
            add(tier, numbers)
        correction = ""
        if len(tiers) < ENOUGH:
            letters = needle.replace(" ", "")
            if 2 <= len(letters) <= _LONGEST_ABBREVIATION:
                add(_KINDS.index(_ABBREVIATED), self._names.find_abbreviated(letters))
            if correction := self._spelling.correct(needle):
                add(_KINDS.index(_MISSPELLED), self._names.find_containing(correction))
        hits = []
        for tier, number in self._sort(tiers, uses):
            kind = _KINDS[tier]
            matched = correction if kind == _MISSPELLED else typed
            hits.append(NameHit(self.notes[number], tier, kind, matched))
        return NameHits(hits, is_all)

    def _sort(
        self, tiers: Mapping[int, int], uses: Mapping[str, int] | None
    ) -> list[tuple[int, int]]:
        """Return the pairs of tier and number of the hits, best first."""
        hits = [(tier, number) for number, tier in tiers.items()]
        if not uses:
            # numbers are in the order of the notes
            return sorted(hits)
        notes, ranks = self.notes, self._ranks
        return sorted(
            hits, key=lambda hit: (hit[0], ranks[hit[1]], -uses.get(notes[hit[1]].path, 0), hit[1])
        )

    def _filter(self, numbers: Iterable[int], fits: Callable[[str], bool] | None) -> Iterable[int]:
        if fits is None:
            return numbers
        return (number for number in numbers if fits(self.notes[number].path))

    def _tiers(self, needle: str) -> Iterator[Iterable[int]]:
        yield from self._in_names(needle)
        yield self._paths.find_containing(needle)
        yield self._descriptions.find_containing(f" {needle}")

    def _in_names(self, needle: str) -> Iterator[Iterable[int]]:
        """Yield for each of the `_NAMES` the notes with `needle` in the name that may match so."""
        names = self._names
        hits = list(islice(names.find_containing(needle), MOST_HITS))
        if len(hits) == MOST_HITS:
            for start, end in (("\n", "\n"), ("\n", ""), (" ", ""), ("", "")):
                yield names.find_containing(start + needle + end)
            return
        # checking so few one by one is faster than searching all names again
        kinds: tuple[list[int], ...] = ([], [], [], [])
        for number in hits:
            kinds[_kind(names.line(number), needle)].append(number)
        yield from kinds


def _texts_of(note: Note) -> _Texts:
    name, path = split_name(note.name[:LONGEST_NAME]), note.path.removesuffix(".md")
    other = "" if path == note.name else split_name(path)
    # a blank before every word of a description, the first one too
    return name, "" if other == name else other, f" {split_name(note.description)}"


def _kind(name: str, needle: str) -> int:
    """Return which of the `_NAMES` the match of `needle` in `name` is."""
    if name.startswith(needle):
        return int(name != needle)
    return 2 if f" {needle}" in name else 3


def find_marks(text: str, typed: str) -> tuple[tuple[int, int], ...]:
    """Return the ranges of the text `typed` in `text`: as a whole, else word by word, else the
    letters that abbreviate it.
    """
    folded, places = fold_with_places(text)
    for needles in ([fold(typed).strip()], fold(typed).split()):
        ranges = [
            (at, at + len(needle))
            for needle in needles
            if needle and (at := folded.find(needle)) >= 0
        ]
        if ranges and len(ranges) == len(needles):
            break
    else:
        ranges = _find_letters(folded, split_name(text), split_name(typed).replace(" ", ""))
    return tuple((places[start], find_end(places, end)) for start, end in sorted(ranges))


def _find_letters(folded: str, name: str, letters: str) -> list[tuple[int, int]]:
    """Return the ranges of `letters` in a `folded` text that they abbreviate as `name`."""
    places = frozenset(find_abbreviation(name, letters) if letters else ())
    ranges: list[tuple[int, int]] = []
    at = 0
    for place, letter in enumerate(name):
        if letter != " ":
            # what is between the words of the name has none of its letters
            at = folded.find(letter, at) + 1
            if place in places:
                ranges.append((at - 1, at))
    return ranges


_SEPARATOR = " | "
"""Separates the texts of one note; no typed text matches across it."""


class NoteFilter:
    """The files of one memory, prepared for many filters."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._blob = TextBlob([_SEPARATOR.join(_texts(memory, file)) for file in memory.files])

    def find_matching(self, typed: str) -> frozenset[str]:
        """Return the paths of the files with every word `typed` in the name, the path, the
        description, or a title in an index; if there are none, of those with a similarly spelled
        name.
        """
        needles = [needle for word in typed.split() if (needle := split_name(word))]
        if not needles:
            return frozenset()
        numbers = set.intersection(*(set(self._blob.find_containing(needle)) for needle in needles))
        if numbers:
            return frozenset(self._memory.files[number].path for number in numbers)
        names, spelling = self._spelling
        correction = spelling.correct(split_name(typed))
        numbers = set(names.find_containing(correction)) if correction else set()
        return frozenset(self._memory.files[number].path for number in numbers)

    def prepare(self) -> None:
        """Prepare the correction of typing errors now."""
        self._spelling[1].prepare()

    @cached_property
    def _spelling(self) -> tuple[TextBlob, Spelling]:
        """The names, and their words."""
        names = TextBlob([split_name(file.name) for file in self._memory.files])
        return names, Spelling(names)


def _texts(memory: Memory, file: Note) -> Iterator[str]:
    entries = memory.entries.get(file.path, ())
    names = {split_name(name) for name in {file.name, *(entry.title for _, entry in entries)}}
    path = split_name(file.path)
    yield from names
    yield path
    # getusername must match getUserName
    yield from (name.replace(" ", "") for name in (*names, path))
    yield split_name(file.description)
