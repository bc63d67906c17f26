"""What the index keeps of one note."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple

from ricordo.memory.layout import Role
from ricordo.memory.note import Note
from ricordo.recall.lexical import CHUNK
from ricordo.recall.words import words
from ricordo.text import encodable

_KEYWORD_FIELDS = ("keywords", "tags", "aliases")
_NUMBER = re.compile(r"(\d{1,9})(?=\D*$)")
_ISO_DAY = re.compile(r"(?:19|20)\d\d-\d\d-\d\d")
_TIME_WORDS = """
    yesterday today tonight tomorrow ago last next week weeks weekend month months year years
    day days morning evening night since recently monday tuesday wednesday thursday friday
    saturday sunday january february march april may june july august september october
    november december
"""
_TIMES = frozenset(_TIME_WORDS.split()) | {str(year) for year in range(1900, 2100)}
_NUMBER_WORDS = """
    one two three four five six seven eight nine ten dozen couple few several once twice
"""
_NUMBERS = frozenset(_NUMBER_WORDS.split()) | {str(number) for number in range(3000)}


class Record(NamedTuple):
    """A note as the index keeps it; texts are words with blanks between them."""

    path: bytes
    stamp: str
    """Changes whenever anything else here does, but for `size` and `changed_ns`."""
    size: int
    changed_ns: int
    """By these two a process that does not read the note tells that it is still the same."""
    title: str
    """The note's name as it is written."""
    summary: str
    type: str
    day: str
    series: str
    place: int
    tells: int
    recalled: int
    withheld: int
    words: int
    chunks: int
    name: str
    description: str
    keywords: str
    body: str


class Withholding(NamedTuple):
    """Which notes are never given to agents, as whoever makes the index has it."""

    includes: Callable[[Note], bool]
    version: str
    """Changes whenever `includes` may say something else of a note."""


NOTHING_WITHHELD = Withholding(lambda note: False, "")


def stamp_of(note: Note, targets: Iterable[str], withholding: Withholding) -> str:
    """Return what changes whenever the record of `note`, which links to the notes at `targets`,
    would be another one.
    """
    seal = sha256(note.raw)
    for text in (note.path, note.name, day_of(note), withholding.version, *targets):
        seal.update(b"\0" + os.fsencode(text))
    return seal.hexdigest()


def record_of(note: Note, stamp: str, withholding: Withholding) -> Record:
    """Return what is kept of `note`."""
    name, body = words(note.name), words(note.body)
    # a longer note tells enough of what it is about; a short one may need those beside it
    series, place = series_of(note.path) if len(body) <= CHUNK else ("", 0)
    return Record(
        path=os.fsencode(note.path),
        stamp=stamp,
        size=note.facts.size,
        changed_ns=changed_ns(note),
        title=encodable(note.name),
        summary=encodable(note.description),
        type=encodable(note.type),
        day=day_of(note),
        series=encodable(series),
        place=place,
        tells=_tells(set(body)),
        recalled=int(note.role in (Role.NOTE, Role.SOURCE)),
        withheld=int(withholding.includes(note)),
        words=len(body),
        chunks=max(1, -(-len(body) // CHUNK)),
        name=" ".join(name),
        description=" ".join(words(note.description)),
        keywords=" ".join(_keywords(note, frozenset(name))),
        body=" ".join(body),
    )


def changed_ns(note: Note) -> int:
    """Return when the file of `note` last changed, as far as that tells a later change; else 0."""
    return note.facts.changed_ns if note.facts.settled else 0


def series_of(path: str) -> tuple[str, int]:
    """Return the series in which a numbered note stands and its number: notes of one folder whose
    names differ in their last number alone. ("", 0) for a note that is not numbered.
    """
    folder, slash, name = path.removesuffix(".md").rpartition("/")
    number = _NUMBER.search(name)
    if not number:
        return "", 0
    return f"{folder}{slash}{name[: number.start()]}#{name[number.end() :]}", int(number[1])


def day_of(note: Note) -> str:
    """Return the day of the last change of `note`, ISO 8601: that which it gives itself, else that
    of its file.
    """
    stamped = _ISO_DAY.match(note.stamped)
    if stamped:
        return stamped[0]
    try:
        return datetime.fromtimestamp(note.facts.modified).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return ""


def _keywords(note: Note, named: frozenset[str]) -> list[str]:
    """What a head adds for finding, and the words of the path that the name does not have."""
    found = [word for word in words(note.path.removesuffix(".md")) if word not in named]
    for field in _KEYWORD_FIELDS:
        for text in note.head.texts(field) if field in note.head.fields else ():
            found += words(text)
    return found


def _tells(said: set[str]) -> int:
    return int(not _TIMES.isdisjoint(said)) + 2 * int(not _NUMBERS.isdisjoint(said))
