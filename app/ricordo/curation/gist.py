"""What a text is about, as stems; and how much of one text another one says."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

from ricordo.extraction.dates import said_days
from ricordo.lexicon import lowered, table
from ricordo.lint.contradictions import words as known
from ricordo.search.words import content_words, stem, words

_NAME = re.compile(r"(?<!^)(?<![.!?:] )\b[A-ZÀ-ÖØ-Þ][\w’'-]*[a-zà-öø-ÿ][\w’'-]*")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,:]\d+)*")


@lru_cache(maxsize=20_000)
def gist(text: str) -> frozenset[str]:
    """Return the stems of the words of `text` that name something; numbers as digits."""
    found = (known.numbers().get(word, word) for word in words(text))
    return frozenset(stem(word) for word in content_words(found))


def values(text: str, day: date) -> dict[str, frozenset[str]]:
    """Return the dates, numbers and names in a text that was written on `day`, by kind."""
    days = said_days(text, day)
    rest = text
    for it in reversed(days):
        rest = rest[: it.start] + " " * (it.end - it.start) + rest[it.end :]
    numbers = {it[0] for it in _NUMBER.finditer(rest)}
    numbers |= {known.numbers()[word] for word in words(rest) if word in known.numbers()}
    return {
        "date": frozenset(it.written for it in days),
        "number": frozenset(numbers),
        "name": frozenset(it[0] for it in _NAME.finditer(rest)),
    }


def share(part: frozenset[str], whole: frozenset[str]) -> float:
    """Return how much of `part` stands in `whole`, 0 to 1."""
    return len(part & whole) / len(part) if part else 0.0


def rejected(text: str) -> frozenset[str]:
    """Return the stems of what a sentence says is so no longer."""
    plain = lowered(text)
    found = (
        match[1]
        for texts in table("rejected").values()
        for expression in texts
        for match in re.finditer(rf"(?<!\w){expression}", plain)
    )
    return frozenset(word for it in found for word in gist(it))
