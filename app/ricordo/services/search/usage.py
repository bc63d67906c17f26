"""Uses of notes, and searches without results: recorded, reported, dropped.

If they cannot be recorded, only a tie-break is lost. A damaged record, or one of a newer Ricordo,
is restarted automatically.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from ricordo.memory.memory import Memory
from ricordo.patterns import compile_lazily
from ricordo.search.usage import CONFIRMED, OPENED, UsageStore
from ricordo.search.words import content_words, split_words
from ricordo.services.workspace.environment import Environment
from ricordo.storage.cache_file import move_aside

MAX_MISS_WORDS = 20
"""Words of a query that are kept."""
MAX_WORD_LENGTH = 24
"""Letters of a word that is kept; a longer one may be a key."""
_PUNCTUATION = ".,;:!?…\"'`“”„‘’«»()[]{}<>*_"
_JOINTS = compile_lazily(r"[-'’_/.]")
"""Separators between the words of one token."""
LOCK_TIMEOUT = 2.0
"""Seconds to wait while another process holds the database; no agent waits here."""

_IGNORED = (sqlite3.Error, OSError)
"""Errors that prevent recording a use."""


class NoteUse(NamedTuple):
    """How often a note was used in one way, and when last (ISO 8601)."""

    path: str
    kind: str
    times: int
    last: str


class SearchMiss(NamedTuple):
    """Words of a search without results, and when it was last made (ISO 8601)."""

    words: str
    last: str


def remember_opened(environment: Environment, memory: Memory, path: str) -> None:
    """Record that the user opened the note at `path`."""
    with suppress(*_IGNORED):
        _usage(environment, memory).record_use(os.fsencode(path), OPENED)


def remember_confirmed(environment: Environment, memory: Memory, path: str) -> None:
    """Record that the user confirmed the note at `path`."""
    with suppress(*_IGNORED):
        _usage(environment, memory).record_use(os.fsencode(path), CONFIRMED)


def count_uses(environment: Environment, memory: Memory) -> Mapping[str, int]:
    """Return how often the user opened or confirmed each note, by path."""
    return {
        os.fsdecode(path): times
        for path, times in _usage(environment, memory).count_by_user().items()
    }


def list_given_together(environment: Environment, memory: Memory) -> list[tuple[str, str]]:
    """Return the pairs of paths of notes that agents were given together."""
    pairs = _usage(environment, memory).list_given_together()
    return [(os.fsdecode(one), os.fsdecode(other)) for one, other in pairs]


def list_uses(environment: Environment, memory: Memory) -> list[NoteUse]:
    """Return every use of the notes of `memory`, newest first."""
    rows = _usage(environment, memory).report()
    return [NoteUse(os.fsdecode(path), kind, times, last) for path, kind, times, last in rows]


def remember_search_miss(environment: Environment, memory: Memory, query: str) -> None:
    """Record that `query` had no results: only its plain words, without credentials."""
    plain = " ".join(filter(_is_plain, _without_secrets(query).split()))
    unique = " ".join(dict.fromkeys(content_words(split_words(plain))))
    recorded = " ".join(unique.split(" ")[:MAX_MISS_WORDS])
    if recorded:
        with suppress(*_IGNORED):
            _usage(environment, memory).record_miss(recorded)


def list_search_misses(environment: Environment, memory: Memory) -> list[SearchMiss]:
    """Return the searches without results, newest first."""
    return [SearchMiss(*row) for row in _usage(environment, memory).list_misses()]


def drop_search_miss(environment: Environment, memory: Memory, gap: SearchMiss) -> None:
    """Forget a search without results."""
    with suppress(*_IGNORED):
        _usage(environment, memory).delete_miss(gap.words)


def _usage(environment: Environment, memory: Memory) -> UsageStore:
    return UsageStore(environment.state, memory.root, LOCK_TIMEOUT, move_aside)


def _is_plain(token: str) -> bool:
    """Return whether a token is made of words, as no password, key or number is: letters only, each
    word in lower case, upper case or capitalised, and none longer than `MAX_WORD_LENGTH`.
    """
    return all(
        part.isalpha() and len(part) <= MAX_WORD_LENGTH and part in _usual_cases(part)
        for part in _JOINTS.split(token.strip(_PUNCTUATION))
    )


def _usual_cases(word: str) -> tuple[str, str, str]:
    return word.lower(), word.upper(), word.capitalize()


def _without_secrets(text: str) -> str:
    parts, at = [], 0
    from ricordo.secrets import find_secrets

    for _, start, end in find_secrets(text):
        parts.append(text[at:start])
        at = end
    return " ".join([*parts, text[at:]])
