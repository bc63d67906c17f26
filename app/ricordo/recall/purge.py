"""Taking a value out of what recall keeps: the use of notes, and the indexes, which hold texts as
their folded words.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing

from ricordo.disk.cache_file import remove_cache
from ricordo.disk.lock import state_lock
from ricordo.disk.state_file import open_database_to_read
from ricordo.recall.catalogue import FOLDER
from ricordo.recall.usage import FILE, Usage
from ricordo.recall.words import content_words, words

PATIENCE = 10.0
"""Seconds for which another process may be making an index."""
_DRAFT = ".db.new"


def purge_usage(state: str, value: str, put_aside: Callable[[str], None], patience: float) -> int:
    """Drop every row on the use of notes, of all memories, that tells of `value`; return how many.
    Raises sqlite3.Error and OSError.
    """
    wanted = frozenset(content_words(words(value)))

    def tells(text: str) -> bool:
        # of a long value a search without results may have kept a part
        said = wanted.intersection(text.split())
        return value in text or (bool(said) and 2 * len(said) >= len(wanted))

    return Usage(state, "", patience, put_aside).forget(tells)


def purge_indexes(state: str, value: str) -> int:
    """Remove the indexes that hold `value`, or cannot be searched; return how many. They are made
    again from the notes. Raises OSError, StateUnusable and Busy.
    """
    folder = os.path.join(state, FOLDER)
    if not os.path.isdir(folder):
        return 0
    removed = 0
    with state_lock(folder, PATIENCE):
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if _DRAFT in name:
                remove_cache(path)
            elif name.endswith(".db") and name != FILE and _may_hold(path, value):
                removed += 1
                remove_cache(path)
    return removed


def _may_hold(path: str, value: str) -> bool:
    """Say whether every word of `value` is part of a word of the index, which keeps those of texts
    that are gone, or a title or a path holds it.
    """
    folded = words(value)
    try:
        with closing(open_database_to_read(path)) as index:
            known = (
                index.execute("SELECT 1 FROM word WHERE instr(word, ?) LIMIT 1", (word,)).fetchone()
                for word in folded
            )
            if folded and all(known):
                return True
            texts = (value, os.fsencode(value))
            sql = "SELECT 1 FROM note WHERE instr(title || summary, ?) OR instr(path, ?) LIMIT 1"
            return index.execute(sql, texts).fetchone() is not None
    except (sqlite3.Error, UnicodeEncodeError):
        return True
