"""A short statement in the form in which it is compared with another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

from ricordo.health.calendar import Dated, find_dates
from ricordo.health.conflicts import words as known
from ricordo.health.conflicts.words import ToolClass
from ricordo.health.vocabulary import SPACELESS, lowered
from ricordo.recall.stem import stem

LONGEST = 300
"""Characters; what is longer is no single statement."""
_MOST_REJECTED = 4
"""Words behind `instead of` that are what is not chosen."""
_FEWEST_BEFORE_REASON = 3

_MARKUP = re.compile(r"`|\*{1,3}|(?<!\w)_{1,2}(?=\w)|(?<=\w)_{1,2}(?!\w)|\[\[|\]\]|~~")
_LINK = re.compile(r"\[([^\]\n]*)\]\([^)\n]*\)")
_SHORT_NOT = re.compile(r"n['’]t\b")
_SHORT_IS = re.compile(r"(?<=\w)['’](?:s|re|ll|ve|d|m)\b")
_HAND = re.compile(r"(?<=\d)[,’'](?=\d{3}\b)")
_GLUED_UNIT = re.compile(r"\b(\d+(?:\.\d+)?)\s?-?(ms|s|sec|min|h|d|kb|mb|gb|tb|%|px|cm|mm|km|m)(?!\w)")
_THOUSANDS = re.compile(r"\b(\d+(?:\.\d+)?)k\b")
_TOKEN = re.compile(
    rf"(?:(?<![^\s(])[/~.@]+)?[^\W{SPACELESS}]+(?:[.:/@+-]+[^\W{SPACELESS}]+)*(?:\+\+|#)?|%|[{SPACELESS}]+"
)
_NUMBER = re.compile(r"v?(\d+(?:\.\d+)*)\Z")
_DIGITS = re.compile(r"\d+")
_CLOCK = re.compile(r"(\d{1,2})(?::(\d\d))?(?:am|pm|h|uhr)?\Z")
_IS_CLOCK = re.compile(r"\d{1,2}:\d\d|\d{1,2}(?:am|pm)\Z")
_MONTH_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th|\.)?\Z")
_OVER = re.compile(r"\b(?:prefers?|preferred|favou?rs?)\b(.+?)\bto\b")
_NAMED = re.compile(r"[A-Z0-9/._:@\\-]|[^\x00-\x7f]")


class Word(NamedTuple):
    """A word that bears meaning."""

    key: str
    """What all spellings and forms of it share."""
    text: str
    at: int
    """Its place among all words of the statement."""
    place: str
    """`subject`, `object`, or `scope`: what limits the statement."""
    is_name: bool
    """Whether it is written as names, paths and codes are."""


class Number(NamedTuple):
    """A quantity."""

    kind: str
    """Of which kind its unit is, as `time`; "" without one."""
    size: float
    text: str
    counts: bool
    """Whether it tells which one of many is meant, as in `step 3`."""


class Day(NamedTuple):
    """A date, a day of the week, a month, a time of the day."""

    kind: str
    name: str
    text: str


class Tool(NamedTuple):
    """A thing of one or more classes, of which one place takes one."""

    key: str
    text: str
    of: tuple[tuple[ToolClass, str], ...]
    place: str
    at: int


class Opposite(NamedTuple):
    """A word that has an opposite."""

    pair: str
    side: bool
    text: str
    place: str


@dataclass(frozen=True, eq=False)
class Claim:
    """A statement in the form in which it is compared."""

    text: str
    """In lower case, in plain words."""
    words: tuple[Word, ...]
    """What it is about, in order."""
    rejected: frozenset[str]
    """The keys of what it names as not chosen."""
    numbers: tuple[Number, ...]
    days: tuple[Day, ...]
    tools: tuple[Tool, ...]
    opposites: tuple[Opposite, ...]
    is_denied: bool
    modal: str
    """`may`, `need` or "": how it is meant."""
    quantity: str
    """`all`, `some`, `only` or ""."""
    who: str
    """Whom it is about, where it says `user` or `we`."""
    has_verb: bool
    generic: frozenset[str]
    """What it names that the memory is about anyway, `we` and `user` among it."""

    @cached_property
    def keys(self) -> frozenset[str]:
        """What the words are about, for comparing subjects."""
        return frozenset(word.key for word in self.words)

    @cached_property
    def subject(self) -> frozenset[str]:
        """The keys of what it speaks of, before its verb."""
        spoken = {word.key for word in self.words if word.place == "subject"}
        return frozenset(spoken | {tool.key for tool in self.tools if tool.place == "subject"})

    @cached_property
    def is_uncertain(self) -> bool:
        """Whether it is doubt, wish or condition, or tells of another time than now."""
        return bool(
            known.pattern("doubtful").search(self.text)
            or known.pattern("elsewhen").search(self.text)
            or self.text.endswith("?")
        )

    @cached_property
    def is_past(self) -> bool:
        """Whether its verb is a past."""
        return bool(known.pattern("past").search(self.text))

    @cached_property
    def is_additive(self) -> bool:
        """Whether what it says of its subject may be true of another thing as well."""
        return bool(known.pattern("additive").search(self.text))

    @cached_property
    def binding(self) -> str:
        """The verb that binds the subject to one value; "" where none does."""
        found = known.pattern("binding").search(self.text)
        return stem(found.group().split()[0]) if found else ""

    @cached_property
    def is_being(self) -> bool:
        """Whether its verb is a form of to be."""
        return bool(known.pattern("being").search(self.text))


@lru_cache(maxsize=20_000)
def read_claim(text: str) -> Claim:
    """Return the claim that a short `text` makes."""
    bare = _MARKUP.sub("", _LINK.sub(r"\1", text[:LONGEST])).strip()
    reading = _Reading(bare)
    return reading.claim()


def _plain(bare: str) -> str:
    """The text in lower case, with phrases as words and numbers apart from their units."""
    plain = _SHORT_IS.sub("", _SHORT_NOT.sub(" not", lowered(bare).replace("cannot", "can not")))
    plain = _THOUSANDS.sub(lambda match: f"{float(match[1]) * 1000:g}", _HAND.sub("", plain))
    plain = _GLUED_UNIT.sub(r"\1 \2", plain)
    return _without_reason(known.with_phrases_joined(plain))


def _without_reason(plain: str) -> str:
    """The text up to where a reason, an aside or a consequence begins."""
    for match in known.pattern("reason").finditer(plain):
        if len(plain[: match.start()].split()) >= _FEWEST_BEFORE_REASON:
            return plain[: match.start()]
    return plain


class _Reading:
    """Reads the words of one statement, one after the other."""

    def __init__(self, bare: str) -> None:
        self._names = frozenset(
            match.group().lower() for match in _TOKEN.finditer(bare) if _is_name(bare, match)
        )
        self._plain = _plain(bare)
        self._numbers: list[Number] = []
        self._days: list[Day] = []
        self._tools: list[Tool] = []
        self._opposites: list[Opposite] = []
        self._words: list[Word] = []
        self._denials, self._modal, self._quantity, self._who = 0, "", "", ""
        self._has_verb = False
        self._generic: set[str] = set()
        self._said = frozenset(token for token, _ in _tokens(self._plain))

    def claim(self) -> Claim:
        """Return what was read."""
        chosen, rejected = _parted(self._plain)
        chosen = self._without_dates(chosen)
        spans = list(_tokens(chosen))
        tokens = [token for token, _ in spans]
        skip = 0
        for at, place in enumerate(_places(chosen, spans)):
            if skip:
                skip -= 1
            else:
                skip = self._take(tokens, at, place)
        return Claim(
            self._plain,
            tuple(self._words),
            frozenset(key for token, _ in _tokens(rejected) if (key := _key(token))),
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
            self._days.append(Day("date", name, name))
        return _blanked(text, found)

    def _take(self, tokens: list[str], at: int, place: str) -> int:
        """Read the word `at`; return how many of those behind it belong to it."""
        token = tokens[at]
        for taken in (self._number(tokens, at), self._day(tokens, at)):
            if taken is not None:
                return taken
        self._has_verb = self._has_verb or token in _verbs()
        if token in known.words("negation"):
            self._denials += 1
        elif token in known.words("excepting"):
            self._words.append(Word(token, token, at, "scope", False))
        elif token in known.who():
            self._who = known.who()[token]
        elif not self._wish(token) and not self._is_quantity(token):
            self._thing(token, at, place)
        return 0

    def _number(self, tokens: list[str], at: int) -> int | None:
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
            behind.endswith("s") and behind not in _verbs()
        )
        if unit is None:
            self._numbers.append(Number("", size, version, counts))
            return 0
        self._numbers.append(Number(unit.kind, size * unit.factor, f"{version} {behind}", counts))
        return 1

    def _day(self, tokens: list[str], at: int) -> int | None:
        token = tokens[at]
        behind = tokens[at + 1] if at + 1 < len(tokens) else ""
        if _IS_CLOCK.match(token):
            self._days.append(Day("clock", _clock(token), token))
            return 0
        day = _MONTH_DAY.match(token)
        if day and known.days().get(behind, ("",))[0] == "month":
            return self._month_day(behind, day[1], 1)
        if token not in known.days() or (token in ("may", "march", "mars") and at == 0):
            return None
        kind, name = known.days()[token]
        if kind == "month" and (day := _MONTH_DAY.match(behind)):
            return self._month_day(token, day[1], 1)
        if token in ("may", "mars", "sept", "sat", "jan", "dec") and token not in self._names:
            return None
        self._days.append(Day(kind, name, token))
        return 0

    def _month_day(self, month: str, day: str, taken: int) -> int:
        name = f"{known.days()[month][1]} {int(day)}"
        self._days.append(Day("date", name, name))
        return taken

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
        is_name = token in self._names
        tools = known.tools().get(token)
        if tools and (is_name or self._is_surely(token, tools)):
            self._tools.append(Tool(_key(token), token.replace("_", " "), tools, place, at))
        elif token in known.opposites():
            pair, side = known.opposites()[token]
            self._opposites.append(Opposite(pair, side, token, place))
        elif token in known.words("generic"):
            self._generic.add(token)
        elif key := _key(token):
            self._words.append(Word(key, token, at, place, is_name))


    def _is_surely(self, token: str, tools: tuple[tuple[ToolClass, str], ...]) -> bool:
        """Whether a word that may be one of the language names a thing here."""
        if token not in known.doubtful_tools():
            return True
        return any(not kind.about.isdisjoint(self._said - {token}) for kind, _ in tools)


def _is_name(bare: str, match: re.Match[str]) -> bool:
    """Whether a word is written as names, paths and codes are; the first one may be a sentence's."""
    return bool(_NAMED.search(match.group(), 1 if match.start() == 0 else 0))


def _parted(plain: str) -> tuple[str, str]:
    """The statement without what it does not choose, and that."""
    match = _OVER.search(plain)
    if match and not known.pattern("contrast").search(plain):
        return plain[: match.end() - 2], plain[match.end() :]
    found = None
    for found in known.pattern("contrast").finditer(plain):
        break
    if found is None or not plain[: found.start()].strip():
        return plain, ""
    behind = plain[found.end() :]
    tokens = list(_tokens(behind))
    end = len(behind)
    for number, (token, start) in enumerate(tokens):
        is_border = number and (token in known.words("scope") or "," in behind[:start])
        if number >= _MOST_REJECTED or is_border:
            end = start
            break
    rest = "" if end == len(behind) else behind[end:]
    return f"{plain[: found.start()]} {rest}", behind[:end]


def _tokens(plain: str) -> Iterator[tuple[str, int]]:
    """The words of a text, each with where it stands."""
    for match in _TOKEN.finditer(plain):
        token = match.group()
        if token[0] >= "\u3040" and re.match(f"[{SPACELESS}]", token[0]):
            for part in known.unbounded().finditer(token):
                yield part.group(), match.start() + part.start()
        else:
            yield token, match.start()


def _places(plain: str, spans: list[tuple[str, int]]) -> Iterator[str]:
    """Where each word belongs: before the verb, behind it, or to what limits the statement."""
    verb = _verb([token for token, _ in spans])
    bound = {match.end() for match in known.pattern("binding").finditer(plain)}
    scope = ""
    for at, (token, start) in enumerate(spans):
        if at == verb:
            scope = ""
        if token in known.words("scope") and not _completes(spans, at, start, bound):
            scope = token if token in known.words("limiting") else ""
        if scope:
            yield "scope"
        else:
            yield "subject" if at < verb else "object"


def _verb(tokens: list[str]) -> int:
    """Where the verb stands; -1 where none is known. A form of to be is surer than a word that may
    be a noun.
    """
    for verbs in (known.words("being"), _verbs()):
        for at, token in enumerate(tokens):
            if token in verbs:
                return at
    return -1


def _completes(spans: list[tuple[str, int]], at: int, start: int, bound: set[int]) -> bool:
    """Whether a preposition belongs to the verb before it, as in `lives in`."""
    token = spans[at][0]
    if at == 0:
        return False
    before, begun = spans[at - 1]
    return (
        begun + len(before) in bound
        or start + len(token) in bound
        or before in known.words("being")
        or (at == 1 and before not in known.words("filler"))
        or before in _verbs() - known.signs("so").keys()
    )


def _key(token: str) -> str:
    """What all forms of a word share; "" for a word that bears no difference."""
    if token in known.words("filler") or token in known.words("scope"):
        return ""
    if (tool := known.tools().get(token)) and token not in known.doubtful_tools():
        return tool[0][1]
    return stem(known.synonyms().get(token, token))


@cache
def _verbs() -> frozenset[str]:
    wishes = {text for part in ("so", "may", "need") for text in known.signs(part)}
    return known.words("verbs") | known.words("being") | wishes


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


def distinct(parts: Iterable[str]) -> tuple[str, ...]:
    """Return `parts` without repetitions, in their order."""
    return tuple(dict.fromkeys(parts))
