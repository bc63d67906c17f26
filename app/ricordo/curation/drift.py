"""The drift guard: facts that an edit would lose, and placeholders for omitted text.

Repeated rewriting erodes facts (arXiv 2510.04618); the facts that can be counted are counted here.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import NamedTuple

import tomli

from ricordo.dates import find_dates
from ricordo.lexicon import build_alternation, lower_text
from ricordo.resources import read_data_text
from ricordo.search.words import content_words, split_words

DENIAL = "denial"
_MOST_LISTED = 12
_LONGEST_FACT = 60
_LEAST_HALVED = 80
"""Characters of a body, under which halving it raises no alarm."""

_CODE = re.compile(r"`([^`\n]{1,200})`")
_ADDRESS = re.compile(
    r"\b[a-z][a-z0-9+.-]{1,12}://[^\s<>\"')\]]+|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}"
)
_TARGET = re.compile(r"\]\([^)\n]*\)|\[\[[^\]\n]*\]\]")
_LINK = re.compile(r"\[\[([^\]\n]{1,200})\]\]")
_QUOTED = re.compile(
    r"\"([^\"\n]{3,300})\"|“([^”\n]{3,300})”|„([^“”\n]{3,300})[“”]|«([^»\n]{3,300})»|「([^」\n]{2,300})」"
)
_PATH = re.compile(
    r"(?<![\w/.~-])[\w.~-]*(?:/[\w.-]+)+|(?<![\w.-])[\w-]+\.[a-z]{1,5}(?![\w.(-])"
    r"|(?<![\w/.-])[\w.-]+/(?![\w/])|\b[A-Z]:\\[\w\\.-]+"
)
_SYMBOL = re.compile(
    r"\b[A-Za-z]\w*_\w+|\b[A-Za-z_]\w*(?=\(\))|(?<![\w-])--?[A-Za-z][\w-]+|\b[a-z]+[A-Z]\w*"
    r"|(?<!\w)[@#][A-Za-z][\w-]+"
)
_NUMBER = re.compile(r"(?<![\w.])v?([-+]?\d+(?:[.,:]\d+)*)(?=[A-Za-zµ]{0,4}(?!\w))")
"""Also with a unit right after it, or as a version."""
_NAME = re.compile(
    r"(?<![.!?:#*\-\n]\s)(?<![.!?])(?<=[\w,;)] )"
    r"(?:[A-ZÀ-ÖØ-Þ][\w’'-]*[a-zà-öø-ÿ][\w’'-]*|[A-Z][A-Z0-9]+\b)"
)


class Fact(NamedTuple):
    """A countable fact in a text."""

    kind: str
    """Such as `number`, `date`, `denial`."""
    text: str


def describe_losses(before: str, after: str) -> tuple[str, ...]:
    """Return the facts of the text `before` that the text `after` lacks, as “number 30”; the last
    one is “and 3 more” where they are many.
    """
    facts = [describe_fact(fact) for fact in find_lost_facts(before, after)]
    more = len(facts) - _MOST_LISTED
    return (*facts[:_MOST_LISTED], *([f"and {more} more"] if more > 0 else []))


def find_lost_facts(before: str, after: str) -> tuple[Fact, ...]:
    """Return the facts of the text `before` that the text `after` lacks, kind by kind: dates,
    addresses, quotations, code, links, paths, symbols, numbers, names, denials.
    """
    facts: list[Fact] = []
    gone: set[str] = set()
    for (kind, was), (_, now) in zip(_extract_facts(before), _extract_facts(after), strict=True):
        for text in (text for text in was if text not in now and not _is_in(text, after)):
            # a date contains numbers: report each text once
            if not any(text in other for other in gone):
                gone.add(text)
                facts.append(Fact(kind, text))
    denials = _count_denials(before) - _count_denials(after)
    return (*facts, *(Fact(DENIAL, word) for word in sorted(denials)))


def find_removed_words(before: str, after: str) -> tuple[str, ...]:
    """Return the content words of the lines that `after` lacks which none of its new lines has;
    link targets are ignored.
    """
    old, new = (dict.fromkeys(_TARGET.sub(" ", text).split("\n")) for text in (before, after))
    removed, added = (
        split_words("\n".join(line for line in one if line not in other))
        for one, other in ((old, new), (new, old))
    )
    return tuple(word for word in dict.fromkeys(content_words(removed)) if word not in added)


def describe_fact(fact: Fact) -> str:
    """Return a fact in a few words."""
    text = f"“{_shorten(fact.text)}”" if fact.kind == DENIAL else _shorten(fact.text)
    return f"{fact.kind} {text}"


def find_placeholders(before: str, after: str) -> tuple[str, ...]:
    """Return the placeholders for omitted text that `after` has and `before` lacks."""
    known = Counter(m[0] for m in _load_pattern("placeholder").finditer(lower_text(before)))
    new = Counter(m[0] for m in _load_pattern("placeholder").finditer(lower_text(after)))
    found = [_shorten(text) for text in new - known]
    lone = [line for line in after.split("\n") if line.strip() in ("...", "…", "[...]", "[…]")]
    if lone and len(lone) > sum(line.strip() == lone[0].strip() for line in before.split("\n")):
        found.append(lone[0].strip())
    return tuple(found)


def is_emptied(before: str, after: str) -> bool:
    """Return whether a body that had text is empty afterwards."""
    return bool(before.strip()) and not after.strip()


def is_halved(before: str, after: str) -> bool:
    """Return whether a body of some length lost half of its characters or more."""
    size = len(before.strip())
    return size >= _LEAST_HALVED and 2 * len(after.strip()) <= size


def _extract_facts(text: str) -> tuple[tuple[str, dict[str, None]], ...]:
    """Return the countable facts of a text by kind, each once and in order."""
    dates = dict.fromkeys(found.day.isoformat() for found in find_dates(lower_text(text)))
    return (
        ("date", dates),
        ("address", _find_all(_ADDRESS, text)),
        ("quotation", _find_all(_QUOTED, text)),
        ("code", _find_all(_CODE, text)),
        ("link", _find_all(_LINK, text)),
        ("path", _find_all(_PATH, _ADDRESS.sub(" ", text))),
        ("symbol", _find_all(_SYMBOL, _ADDRESS.sub(" ", text))),
        ("number", _find_all(_NUMBER, text)),
        ("name", _find_all(_NAME, text)),
    )


def _is_in(fact: str, text: str) -> bool:
    return bool(re.search(rf"(?<![\w.]){re.escape(fact)}(?!\w)", text))


def _find_all(pattern: re.Pattern[str], text: str) -> dict[str, None]:
    found = (next(filter(None, match.groups()), match[0]) for match in pattern.finditer(text))
    return dict.fromkeys(each.rstrip(".,;:") for each in found)


def _count_denials(text: str) -> Counter[str]:
    return Counter(match[0] for match in _load_pattern("negation").finditer(lower_text(text)))


def _shorten(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _LONGEST_FACT else f"{plain[:_LONGEST_FACT]}…"


@cache
def _load_pattern(part: str) -> re.Pattern[str]:
    lists = tomli.loads(read_data_text("curation/drift.toml"))[part]
    return re.compile(build_alternation(text for texts in lists.values() for text in texts))
