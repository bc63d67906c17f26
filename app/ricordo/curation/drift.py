"""The drift guard: what an edit would lose of what a note says, and text that only stands for text.

Repeated rewriting wears facts away (arXiv 2510.04618); what can be counted is counted here.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from functools import cache
from typing import NamedTuple

from ricordo.dates import find_dates
from ricordo.lexicon import any_of, lowered
from ricordo.resources import data_text

DENIAL = "denial"
_MOST_TOLD = 12
_LONGEST_TOLD = 60
_LEAST_HALVED = 80
"""Characters of a body, under which to halve it is no loss worth an alarm."""

_CODE = re.compile(r"`([^`\n]{1,200})`")
_ADDRESS = re.compile(
    r"\b[a-z][a-z0-9+.-]{1,12}://[^\s<>\"')\]]+|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}"
)
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
"""Also with a unit right behind it, or as a version."""
_NAME = re.compile(
    r"(?<![.!?:#*\-\n]\s)(?<![.!?])(?<=[\w,;)] )"
    r"(?:[A-ZÀ-ÖØ-Þ][\w’'-]*[a-zà-öø-ÿ][\w’'-]*|[A-Z][A-Z0-9]+\b)"
)


class Fact(NamedTuple):
    """Something in a text that can be counted."""

    kind: str
    """As `number`, `date`, `denial`."""
    text: str


def losses(before: str, after: str) -> tuple[str, ...]:
    """Return what stands in the text `before` and no more in the text `after`, as “number 30”, the
    first of it where it is much.
    """
    told = [told_fact(it) for it in lost(before, after)]
    more = len(told) - _MOST_TOLD
    return (*told[:_MOST_TOLD], *([f"and {more} more"] if more > 0 else []))


def lost(before: str, after: str) -> tuple[Fact, ...]:
    """Return what stands in the text `before` and no more in the text `after`, kind by kind:
    dates, addresses, quotations, code, links, paths, symbols, numbers, names, denials.
    """
    found: list[Fact] = []
    gone: set[str] = set()
    for (kind, was), (_, now) in zip(_facts(before), _facts(after), strict=True):
        for it in (it for it in was if it not in now and not _stands(it, after)):
            # a date holds numbers: what is told once is enough
            if not any(it in other for other in gone):
                gone.add(it)
                found.append(Fact(kind, it))
    denials = _denials(before) - _denials(after)
    return (*found, *(Fact(DENIAL, it) for it in sorted(denials)))


def told_fact(fact: Fact) -> str:
    """Return a fact in a few words."""
    said = f"“{_brief(fact.text)}”" if fact.kind == DENIAL else _brief(fact.text)
    return f"{fact.kind} {said}"


def placeholders(before: str, after: str) -> tuple[str, ...]:
    """Return the words in `after`, new there, that only stand for text that was left out."""
    known = Counter(it[0] for it in _pattern("placeholder").finditer(lowered(before)))
    new = Counter(it[0] for it in _pattern("placeholder").finditer(lowered(after)))
    found = [_brief(it) for it in new - known]
    lone = [line for line in after.split("\n") if line.strip() in ("...", "…", "[...]", "[…]")]
    if lone and len(lone) > sum(line.strip() == lone[0].strip() for line in before.split("\n")):
        found.append(lone[0].strip())
    return tuple(found)


def empties(before: str, after: str) -> bool:
    """Say whether nothing is left of a body that said something."""
    return bool(before.strip()) and not after.strip()


def halves(before: str, after: str) -> bool:
    """Say whether at most half is left of a body that is worth counting."""
    size = len(before.strip())
    return size >= _LEAST_HALVED and 2 * len(after.strip()) <= size


def _facts(text: str) -> tuple[tuple[str, dict[str, None]], ...]:
    """Return what a text states that can be counted, by kind, each once and in its order."""
    dates = dict.fromkeys(it.day.isoformat() for it in find_dates(lowered(text)))
    return (
        ("date", dates),
        ("address", _all(_ADDRESS, text)),
        ("quotation", _all(_QUOTED, text)),
        ("code", _all(_CODE, text)),
        ("link", _all(_LINK, text)),
        ("path", _all(_PATH, _ADDRESS.sub(" ", text))),
        ("symbol", _all(_SYMBOL, _ADDRESS.sub(" ", text))),
        ("number", _all(_NUMBER, text)),
        ("name", _all(_NAME, text)),
    )


def _stands(fact: str, text: str) -> bool:
    return bool(re.search(rf"(?<![\w.]){re.escape(fact)}(?!\w)", text))


def _all(pattern: re.Pattern[str], text: str) -> dict[str, None]:
    found = (
        next((it for it in match.groups() if it), match[0]) for match in pattern.finditer(text)
    )
    return dict.fromkeys(it.rstrip(".,;:") for it in found)


def _denials(text: str) -> Counter[str]:
    return Counter(it[0] for it in _pattern("negation").finditer(lowered(text)))


def _brief(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _LONGEST_TOLD else f"{plain[:_LONGEST_TOLD]}…"


@cache
def _pattern(part: str) -> re.Pattern[str]:
    lists = tomllib.loads(data_text("curation/drift.toml"))[part]
    return re.compile(any_of(text for texts in lists.values() for text in texts))
