"""Reading a short statement: what it is about, which values it gives, whether it denies."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache

from ricordo.health.calendar import Dated, find_dates
from ricordo.health.conflicts import words as known
from ricordo.health.conflicts.claim import Claim, Day, Number, Opposite, Tool, Word
from ricordo.health.conflicts.plain import (
    TOKEN,
    key_of,
    parted,
    places_of,
    plain_of,
    tokens_of,
    verbs,
    without_marks,
)
from ricordo.health.conflicts.words import ToolClass

_NUMBER = re.compile(r"v?(\d+(?:\.\d+)*)\Z")
_DIGITS = re.compile(r"\d+")
_CLOCK = re.compile(r"(\d{1,2})(?::(\d\d))?(?:am|pm|h|uhr)?\Z")
_IS_CLOCK = re.compile(r"\d{1,2}(?::\d\d(?:am|pm|h|uhr)?|am|pm)\Z")
_MONTH_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th|\.)?\Z")
_NAMED = re.compile(r"[A-Z0-9/._:@\\-]|[^\x00-\x7f]")


@lru_cache(maxsize=20_000)
def read_claim(text: str) -> Claim:
    """Return the claim that a short `text` makes."""
    return _Reading(without_marks(text)).claim()


class _Reading:
    """Reads the words of one statement, one after the other."""

    def __init__(self, bare: str) -> None:
        self._names = frozenset(
            match.group().lower() for match in TOKEN.finditer(bare) if _is_name(bare, match)
        )
        self._plain = plain_of(bare)
        self._numbers: list[Number] = []
        self._days: list[Day] = []
        self._tools: list[Tool] = []
        self._opposites: list[Opposite] = []
        self._words: list[Word] = []
        self._denials, self._modal, self._quantity, self._who = 0, "", "", ""
        self._has_verb = False
        self._generic: set[str] = set()

    def claim(self) -> Claim:
        """Return what was read."""
        chosen, rejected = parted(self._plain)
        chosen = self._without_dates(chosen)
        spans = list(tokens_of(chosen))
        tokens = [token for token, _ in spans]
        skip = 0
        for at, place in enumerate(places_of(chosen, spans)):
            if skip:
                skip -= 1
            else:
                skip = self._take(tokens, at, place)
        return Claim(
            self._plain,
            tuple(self._words),
            # a single character of a script without blanks is no word
            frozenset(key for token, _ in tokens_of(rejected) if len(key := key_of(token)) > 1),
            tuple(self._numbers),
            tuple(self._days),
            tuple(self._tools),
            tuple(self._opposites),
            self._denials % 2 == 1,
            self._modal,
            self._quantity,
            self._who,
            self._has_verb,
            frozenset(self._generic | ({self._who} if self._who else set())),
        )

    def _without_dates(self, text: str) -> str:
        found = list(find_dates(text))
        for date in found:
            name = _date(date, text)
            self._days.append(Day("date", name, name, "object"))
        return _blanked(text, found)

    def _take(self, tokens: list[str], at: int, place: str) -> int:
        """Read the word `at`; return how many of those behind it belong to it."""
        token = tokens[at]
        if token.isalpha() and token not in known.remarkable():
            self._word(token, at, place)
            return 0
        for taken in (self._number(tokens, at, place), self._day(tokens, at, place)):
            if taken is not None:
                return taken
        self._has_verb = self._has_verb or token in verbs()
        if token in known.words("negation"):
            self._denials += 1
        elif token in known.words("excepting"):
            self._words.append(Word(token, token, at, "scope", False))
        elif token in known.who():
            self._who = known.who()[token]
        elif not self._wish(token) and not self._is_quantity(token):
            self._thing(token, at, place)
        return 0

    def _number(self, tokens: list[str], at: int, place: str) -> int | None:
        token = known.numbers().get(tokens[at], tokens[at])
        if (match := _NUMBER.match(token)) is None:
            return None
        before = tokens[at - 1] if at else ""
        behind = tokens[at + 1] if at + 1 < len(tokens) else ""
        if before in known.days() or behind in known.days():
            return None
        unit = known.units().get(behind)
        version = match[1]
        size = float(version) if version.count(".") < 2 else _version(version)
        counts = before in known.words("counting") and not (
            behind.endswith("s") and behind not in verbs()
        )
        if unit is None:
            self._numbers.append(Number("", size, version, counts, place))
            return 0
        self._numbers.append(
            Number(unit.kind, size * unit.factor, f"{version} {behind}", counts, place)
        )
        return 1

    def _day(self, tokens: list[str], at: int, place: str) -> int | None:
        token = tokens[at]
        behind = tokens[at + 1] if at + 1 < len(tokens) else ""
        if _IS_CLOCK.match(token):
            self._days.append(Day("clock", _clock(token), token, place))
            return 0
        day = _MONTH_DAY.match(token)
        if day and known.days().get(behind, ("",))[0] == "month":
            return self._month_day(behind, day[1], place)
        if token not in known.days() or (token in ("may", "march", "mars") and at == 0):
            return None
        kind, name = known.days()[token]
        if kind == "month" and (day := _MONTH_DAY.match(behind)):
            return self._month_day(token, day[1], place)
        if token in ("may", "mars", "sept", "sat", "jan", "dec") and token not in self._names:
            return None
        self._days.append(Day(kind, name, token, place))
        return 0

    def _month_day(self, month: str, day: str, place: str) -> int:
        name = f"{known.days()[month][1]} {int(day)}"
        self._days.append(Day("date", name, name, place))
        return 1

    def _wish(self, token: str) -> bool:
        for part in ("so", "may", "need"):
            if token in known.signs(part):
                self._denials += known.signs(part)[token]
                self._modal = self._modal or ("" if part == "so" else part)
                return True
        return False

    def _is_quantity(self, token: str) -> bool:
        for part in ("all", "some", "only"):
            if token in known.words(part):
                self._quantity = part
                return True
        return False

    def _thing(self, token: str, at: int, place: str) -> None:
        tools = known.tools().get(token)
        if tools and (token in self._names or self._is_surely(token, tools)):
            self._tools.append(Tool(key_of(token), token.replace("_", " "), tools, place, at))
        elif token in known.opposites():
            pair, side = known.opposites()[token]
            self._opposites.append(Opposite(pair, side, token, place))
        elif token in known.words("generic"):
            self._generic.add(known.synonyms().get(token, token))
        else:
            self._word(token, at, place)

    def _word(self, token: str, at: int, place: str) -> None:
        if key := key_of(token):
            self._words.append(Word(key, token, at, place, token in self._names))

    @cached_property
    def _said(self) -> frozenset[str]:
        return frozenset(token for token, _ in tokens_of(self._plain))

    def _is_surely(self, token: str, tools: tuple[tuple[ToolClass, str], ...]) -> bool:
        """Whether a word that may be one of the language names a thing here."""
        if token not in known.doubtful_tools():
            return True
        return any(not kind.about.isdisjoint(self._said - {token}) for kind, _ in tools)


def _is_name(bare: str, match: re.Match[str]) -> bool:
    """Whether a word is written as names, paths and codes are, the first letter of all aside."""
    return bool(_NAMED.search(match.group(), 1 if match.start() == 0 else 0))


def _date(date: Dated, text: str) -> str:
    """A date as exactly as it is written: a month is no day of it."""
    written = text[date.start : date.end]
    groups = len(_DIGITS.findall(written))
    is_exact = groups == 3 or (groups == 2 and any(map(str.isalpha, written)))
    return date.day.isoformat() if is_exact else date.day.isoformat()[:7]


def _blanked(text: str, found: list[Dated]) -> str:
    for date in reversed(found):
        text = f"{text[: date.start]} {text[date.end :]}"
    return text


def _version(text: str) -> float:
    size = 0.0
    for part in reversed(text.split(".")):
        size = size / 1000 + float(part)
    return size


def _clock(text: str) -> str:
    match = _CLOCK.match(text)
    assert match is not None
    hour = int(match[1]) % 12 + 12 if text.endswith("pm") else int(match[1])
    return f"{hour}:{match[2] or '00'}"
