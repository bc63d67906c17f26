"""What to try after a search without results: fewer conditions, other words."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from ricordo.search.fuzzy import find_similar
from ricordo.search.query import Condition, Query
from ricordo.search.words import stem_word
from ricordo.text import make_one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from ricordo.search.reader import IndexReader

MOST_WORDS = 5
"""Words that are suggested in all."""
_OF_ONE = 3
"""Words that are suggested for one word."""
_START = 4
"""Letters that a longer or shorter word has in common with the searched one."""


def list_near_words(reader: IndexReader, words: Collection[str]) -> list[str]:
    """Return words of the notes that are spelled or begin like those of the `words` that no note
    has, nearest first.
    """
    near: dict[str, None] = {}
    for word in words:
        if not word.isalpha() or reader.find_family(stem_word(word)):
            continue
        length, most = len(word), max(1, len(word) // 3)
        lengths = range(max(1, length - most), length + most + 1)
        known = [other for letters in lengths for other in reader.find_by_length(letters)]
        similar = [other for other in find_similar(word, known, most) if other.isalpha()]
        if length > _START:
            similar += [other for other, _ in reader.find_beginning_with(word[:_START])]
        near.update(dict.fromkeys(list(dict.fromkeys(similar))[:_OF_ONE]))
    return list(near)[:MOST_WORDS]


def relax(query: Query, count: Callable[[Query], int]) -> Iterator[str]:
    """Yield which conditions of `query` exclude notes that match otherwise; `count` returns the
    number of notes that match a query.
    """
    conditions = query.conditions
    was_relaxed = False
    for condition in conditions:
        if _is_phrase(condition):
            apart = Condition("word", condition.value)
            loose = tuple(apart if it is condition else it for it in conditions)
            if number := count(query._replace(conditions=loose)):
                was_relaxed = True
                have = _count_notes(number, "has the words", "have the words")
                yield f"{have} of {_format(condition)}, but apart."
                continue
        rest = tuple(it for it in conditions if it is not condition)
        if (query.words or rest) and (number := count(query._replace(conditions=rest))):
            was_relaxed = True
            yield f"Without {_format(condition)}, {_count_notes(number, 'matches', 'match')}."
    if not was_relaxed and query.words and len(conditions) > 1:
        number = count(query._replace(conditions=()))
        if number:
            yield f"Without conditions, {_count_notes(number, 'matches', 'match')}."


def _is_phrase(condition: Condition) -> bool:
    return condition.key == "exact" and not condition.negated and len(condition.value.split()) > 1


def _count_notes(number: int, one: str, many: str) -> str:
    return f"1 note {one}" if number == 1 else f"{number:,} notes {many}"


def _format(condition: Condition) -> str:
    """Return a condition as it is typed."""
    value = make_one_line(condition.value)
    quoted = f'"{value}"' if " " in value or condition.key == "exact" else value
    key = {"exact": "", "word": "", ">": ">", "<": "<"}.get(condition.key, f"{condition.key}:")
    return f"{'-' if condition.negated else ''}{key}{quoted}"
