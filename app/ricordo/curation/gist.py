"""The content of a text as stems and values, and how much of one text another contains."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

from ricordo.extraction.dates import find_days
from ricordo.lexicon import lower_text, statement_table
from ricordo.lint.contradictions import words as known
from ricordo.search.words import content_words, split_words, stem_word

_NAME = re.compile(r"(?<!^)(?<![.!?:] )\b[A-ZÀ-ÖØ-Þ][\w’'-]*[a-zà-öø-ÿ][\w’'-]*")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,:]\d+)*")


@lru_cache(maxsize=20_000)
def extract_stems(text: str) -> frozenset[str]:
    """Return the stems of the content words of `text`; numbers as digits."""
    plain = (known.load_numbers().get(word, word) for word in split_words(text))
    return frozenset(stem_word(word) for word in content_words(plain))


def extract_values(text: str, day: date) -> dict[str, frozenset[str]]:
    """Return the dates, numbers and names in a text that was written on `day`, by kind."""
    days = find_days(text, day)
    rest = text
    for found in reversed(days):
        rest = rest[: found.start] + " " * (found.end - found.start) + rest[found.end :]
    numbers = {match[0] for match in _NUMBER.finditer(rest)}
    numbers |= {
        known.load_numbers()[word] for word in split_words(rest) if word in known.load_numbers()
    }
    return {
        "date": frozenset(found.text for found in days),
        "number": frozenset(numbers),
        "name": frozenset(match[0] for match in _NAME.finditer(rest)),
    }


def measure_share(part: frozenset[str], whole: frozenset[str]) -> float:
    """Return the share of `part` that `whole` contains, 0 to 1; 0 for an empty `part`."""
    return len(part & whole) / len(part) if part else 0.0


def find_rejected_stems(text: str) -> frozenset[str]:
    """Return the stems of what a sentence says is no longer valid."""
    plain = lower_text(text)
    phrases = (
        match[1]
        for texts in statement_table("rejected").values()
        for expression in texts
        for match in re.finditer(rf"(?<!\w){expression}", plain)
    )
    return frozenset(word for phrase in phrases for word in extract_stems(phrase))
