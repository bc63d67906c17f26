"""What notes are used for, and what the user looked for in vain: recorded, reported, dropped.

It is recorded where an index is; where it cannot be, nothing is lost but a tie-break. A record that
is damaged or of a newer Ricordo is begun anew by itself.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from ricordo.memory.memory import Memory
from ricordo.search.usage import CONFIRMED, OPENED, UsageStore
from ricordo.search.words import content_words, words
from ricordo.secrets import find_secrets
from ricordo.services.workspace.environment import Environment
from ricordo.storage.cache_file import put_aside

LONGEST_GAP = 20
"""Words of a question that are kept."""
LONGEST_WORD = 24
"""Letters."""
_PUNCTUATION = ".,;:!?…\"'`“”„‘’«»()[]{}<>*_"
_JOINTS = re.compile(r"[-'’_/.]")
"""Between the words of one token."""
PATIENCE = 2.0
"""Seconds for which another process may hold what is kept; no agent waits here."""

_LOST = (sqlite3.Error, OSError)
"""What may keep a use from being recorded."""


class NoteUse(NamedTuple):
    """How often a note was used in one way, and when last (ISO 8601)."""

    path: str
    kind: str
    times: int
    last: str


class SearchMiss(NamedTuple):
    """Words for which no note was found, and when last (ISO 8601)."""

    words: str
    last: str


def remember_opened(environment: Environment, memory: Memory, path: str) -> None:
    """Keep that the person opened the note at `path`."""
    with suppress(*_LOST):
        _usage(environment, memory).use(os.fsencode(path), OPENED)


def remember_confirmed(environment: Environment, memory: Memory, path: str) -> None:
    """Keep that the person said of the note at `path` that it still holds."""
    with suppress(*_LOST):
        _usage(environment, memory).use(os.fsencode(path), CONFIRMED)


def uses_by_person(environment: Environment, memory: Memory) -> Mapping[str, int]:
    """Return how often the person opened or confirmed each note, by path."""
    return {
        os.fsdecode(path): times for path, times in _usage(environment, memory).by_person().items()
    }


def given_together(environment: Environment, memory: Memory) -> list[tuple[str, str]]:
    """Return the pairs of paths of the notes that agents were given at once."""
    pairs = _usage(environment, memory).together()
    return [(os.fsdecode(one), os.fsdecode(other)) for one, other in pairs]


def use_report(environment: Environment, memory: Memory) -> list[NoteUse]:
    """Return every use of the notes of `memory`, newest first."""
    rows = _usage(environment, memory).report()
    return [NoteUse(os.fsdecode(path), kind, times, last) for path, kind, times, last in rows]


def remember_gap(environment: Environment, memory: Memory, asked: str) -> None:
    """Keep that nothing was found for what the user `asked`: words alone, without credentials."""
    plain = " ".join(filter(_is_plain, _without_secrets(asked).split()))
    kept = " ".join(dict.fromkeys(content_words(words(plain))))
    shown = " ".join(kept.split(" ")[:LONGEST_GAP])
    if shown:
        with suppress(*_LOST):
            _usage(environment, memory).missed(shown)


def gaps(environment: Environment, memory: Memory) -> list[SearchMiss]:
    """Return what was looked for in vain, newest first."""
    return [SearchMiss(*row) for row in _usage(environment, memory).gaps()]


def drop_gap(environment: Environment, memory: Memory, gap: SearchMiss) -> None:
    """Forget a gap."""
    with suppress(*_LOST):
        _usage(environment, memory).drop_gap(gap.words)


def _usage(environment: Environment, memory: Memory) -> UsageStore:
    return UsageStore(environment.state, memory.root, PATIENCE, put_aside)


def _is_plain(token: str) -> bool:
    """Say whether a token of a question is made of words, as no password, key or number is: letters
    alone, each word all small, all capital or capitalised, and none too long for a word.
    """
    return all(
        part.isalpha() and len(part) <= LONGEST_WORD and part in _usual_cases(part)
        for part in _JOINTS.split(token.strip(_PUNCTUATION))
    )


def _usual_cases(word: str) -> tuple[str, str, str]:
    return word.lower(), word.upper(), word.capitalize()


def _without_secrets(text: str) -> str:
    parts, at = [], 0
    for _, start, end in find_secrets(text):
        parts.append(text[at:start])
        at = end
    return " ".join([*parts, text[at:]])
