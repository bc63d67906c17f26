"""What is kept of a note for finding the notes that it may repeat or contradict.

It is made of the note's text alone, so it holds until that changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from zlib import crc32

from ricordo.health.conflicts import words as known
from ricordo.health.conflicts.sayings import Said, sayings
from ricordo.memory.note import Note
from ricordo.recall.stem import stem
from ricordo.recall.words import words

_SAMPLE = 0b111
"""The bits that are 0 in what is kept of the stretches of a text: one of eight."""
_FEW = 64
"""Words of a text whose stretches are all kept: a sample of a short one says too little."""
_SAID_BY_THE_WAY = 20
"""Words; what is said in more is no plain statement."""
_MOST_KNOWN = 1 << 18

_CLASS = "="
_UNTOLD = ("filler", "generic", "negation", "all", "some", "only")

_known: dict[str, int] = {}
"""A number for every word that was met, made once: a memory says the same words all over."""
_keys: dict[str, str] = {}
"""What stands for every word that was met."""


class Digest(NamedTuple):
    """What is kept of one note."""

    shingles: frozenset[int]
    """Stretches of three words: all of a short text, a sample of a long one."""
    sayings: tuple[Said, ...]
    subjects: tuple[tuple[str, ...], ...]
    """For each statement the words by which one that contradicts it would be found."""


def digest(note: Note) -> Digest:
    """Return what is kept of `note`."""
    said = sayings(note)
    found = [words(it.text) for it in said]
    subjects = tuple([_keys_of(it) if len(it) <= _SAID_BY_THE_WAY else () for it in found])
    body = [word for it, its in zip(said, found, strict=True) if not it.in_head for word in its]
    return Digest(_sketch(body or words(note.body)), said, subjects)


def is_class(key: str) -> bool:
    """Say whether a word of a subject stands for any thing of its class."""
    return key.startswith(_CLASS)


def shingles_of(text: str) -> frozenset[int]:
    """Return all stretches of three words of a text, each as a number."""
    numbers = _numbers(words(text))
    return _stretches(numbers, range(len(numbers) - 2))


def _sketch(found: list[str]) -> frozenset[int]:
    numbers = _numbers(found)
    if len(found) <= _FEW:
        return _stretches(numbers, range(len(numbers) - 2))
    # those that begin with certain words: the others need not be put together
    begin = [at for at, number in enumerate(numbers[:-2]) if not number & _SAMPLE]
    return _stretches(numbers, begin)


def _stretches(numbers: list[int], begin: Iterable[int]) -> frozenset[int]:
    return frozenset([numbers[at] * 31 ^ numbers[at + 1] * 17 ^ numbers[at + 2] for at in begin])


def _numbers(found: list[str]) -> list[int]:
    known = _known
    try:
        return [known[word] for word in found]
    except KeyError:
        if len(known) > _MOST_KNOWN:
            known.clear()
        for word in found:
            if word not in known:
                # the same in every process, unlike Python's own
                known[word] = crc32(word.encode("utf-8", "surrogatepass"))
        return [known[word] for word in found]


def _keys_of(found: list[str]) -> tuple[str, ...]:
    """What a statement of these words speaks of: its words in one form each, without those that
    say nothing; for a thing of a class, a word and its opposite what both share.
    """
    try:
        keys = [_keys[word] for word in found]
    except KeyError:
        if len(_keys) > _MOST_KNOWN:
            _keys.clear()
        _keys.update((word, _key(word)) for word in found if word not in _keys)
        keys = [_keys[word] for word in found]
    return tuple(dict.fromkeys(filter(None, keys)))


def content_of(text: str) -> tuple[str, ...]:
    """Return what a text speaks of word by word: numbers and things as they are named, without
    words that say nothing.
    """
    found = dict.fromkeys(words(text))
    return tuple(stem(word) for word in found if word not in known.words("filler"))


def _key(word: str) -> str:
    """What stands for a word; the class for a thing of one, "" for what may differ or says
    nothing.
    """
    if word.isdigit() or word in known.numbers() or word in known.days():
        return ""
    if any(word in known.words(part) for part in _UNTOLD):
        return ""
    if any(word in known.signs(part) for part in ("so", "may", "need")):
        return ""
    if tools := known.tools().get(word):
        return f"{_CLASS}{tools[0][0].name}"
    if opposite := known.opposites().get(word):
        return f"{_CLASS}{opposite[0]}"
    return stem(known.synonyms().get(word, word))
