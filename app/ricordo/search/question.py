"""What a message asks for: its words that name something, and the cues in how it is put."""

from __future__ import annotations

import re
from datetime import date, timedelta
from itertools import pairwise

from ricordo.search.words import content_words, fold, stem, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

AFTERMATH = timedelta(days=14)
"""How long after its day a thing is still written down: what happened in May stands in notes of
May and of the first half of June (the window of the design; 10 points on dated questions).
"""

_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_MONTH = "|".join(f"{name[:3]}(?:{name[3:]})?" if name != "may" else name for name in _MONTHS)
_ISO = r"\b(?P<y>(?:19|20)\d\d)-(?P<m>\d\d)(?:-(?P<d>\d\d))?\b"
_NAMED = (
    rf"\b(?:(?P<d1>\d\d?)(?:st|nd|rd|th)?(?:\s+of)?\s+)?(?P<m>{_MONTH})\b\.?"
    r"(?:\s+(?P<d2>\d\d?)(?:st|nd|rd|th)?(?!\d))?(?:,?\s*(?:of\s+|in\s+)?(?P<y>(?:19|20)\d\d))?"
)
_SURELY = frozenset(("january", "february", "july", "september", "october", "november", "december"))
"""Months whose names mean nothing else: Jan and June are people too, and one may march on."""
_OF_TIME = r"\b(?:in|of|on|by|since|until|till|during|before|after|last|next|this|early|late)\s+$"
_YEAR = r"\b(?:19|20)\d\d\b"
_NUMBERED = """
    build code error http id issue line no number page port pr room row size status ticket version
"""
_UNITS = """
    b bits bytes kb mb gb tb kib mib gib ms px pixels tokens words characters chars lines rows
    times requests items euros dollars km kg degrees
"""
"""What stands before and after four digits that are no year."""
_NEAR = 24
"""Characters around a number in which such a word stands."""
_RELATIVE = (
    r"\b(?P<what>yesterday|today|this morning|tonight"
    r"|(?P<which>last|this|past)\s+(?P<unit>week|month|year))\b"
)
_TELLTALE = frozenset(["yesterday", "today", "tonight", "morning", "last", "this", "past"]) | {
    start for name in _MONTHS for start in (name, name[:3])
}


class Window:
    """Days from `first` to `last`; where no year was named, those of any year."""

    __slots__ = ("any_year", "first", "last")

    def __init__(self, first: date, last: date, any_year: bool = False) -> None:
        self.first = first
        self.last = last
        self.any_year = any_year

    def holds(self, day: str) -> bool:
        """Say whether a note of `day` (ISO 8601, "" for none) was written in the window or so soon
        after it that it may tell of it.
        """
        try:
            when = date.fromisoformat(day[:10])
        except ValueError:
            return False
        if not self.any_year:
            return self.first <= when <= self.last + AFTERMATH
        years = (when.year, when.year - 1)
        return any(
            _in_year(self.first, y) <= when <= _in_year(self.last, y) + AFTERMATH for y in years
        )


def window_in(text: str, today: date) -> Window | None:
    """Return the time that `text` names, the first where it names several; None where none."""
    said = re.findall("[a-z]+", text.lower())
    if _TELLTALE.isdisjoint(said) and not re.search("[0-9]", text):
        # most messages: the patterns below take longer to compile than to search
        return None
    for pattern, read in _READERS:
        for match in re.finditer(pattern, text, re.IGNORECASE):
            try:
                found = read(match, today)
            except (ValueError, OverflowError):
                continue
            if found:
                return found
    return None


def _iso(match: re.Match[str], today: date) -> Window | None:
    return _days(int(match["y"]), int(match["m"]), int(match["d"]) if match["d"] else 0)


def _named(match: re.Match[str], today: date) -> Window | None:
    day, year = match["d1"] or match["d2"], match["y"]
    is_bare = match["m"].lower() not in _SURELY and not (day or year)
    if is_bare and not re.search(_OF_TIME, match.string[: match.start()], re.IGNORECASE):
        return None
    month = next(n for n, name in enumerate(_MONTHS, 1) if name.startswith(match["m"].lower()[:3]))
    return _days(int(year or 2000), month, int(day or 0), any_year=not year)


def _year(match: re.Match[str], today: date) -> Window | None:
    if _counts(match):
        return None
    return Window(date(int(match[0]), 1, 1), date(int(match[0]), 12, 31))


def _counts(match: re.Match[str]) -> bool:
    """Whether a number of four digits numbers or counts something, or is part of another one."""
    text, (start, end) = match.string.lower(), match.span()
    before, after = text[max(0, start - _NEAR) : start], text[end : end + _NEAR]
    if before.endswith(tuple("#$€£:=")) or after.startswith("%"):
        return True
    if re.search(r"\d[.,]$", before) or re.match(r"[.,:]\d", after):
        return True
    last, first = before.split()[-1:], after.split()[:1]
    is_numbered = any(word.rstrip(":=") in _NUMBERED.split() for word in last)
    return is_numbered or any(word.rstrip(".,;:!?)") in _UNITS.split() for word in first)


def _relative(match: re.Match[str], today: date) -> Window | None:
    unit, past = (match["unit"] or "").lower(), (match["which"] or "").lower() != "this"
    if not unit:
        day = today - timedelta(match["what"].lower() == "yesterday")
        return Window(day, day)
    if unit == "week":
        first = today - timedelta(days=today.weekday() + 7 * past)
        return Window(first, first + timedelta(days=6))
    if unit == "year":
        return Window(date(today.year - past, 1, 1), date(today.year - past, 12, 31))
    last = today.replace(day=1) - timedelta(days=1) if past else today
    return _days(last.year, last.month, 0)


def _days(year: int, month: int, day: int, any_year: bool = False) -> Window:
    if day:
        return Window(date(year, month, day), date(year, month, day), any_year)
    after = date(year + month // 12, month % 12 + 1, 1)
    return Window(date(year, month, 1), after - timedelta(days=1), any_year)


def _in_year(day: date, year: int) -> date:
    leap = day.month == 2 and day.day == 29
    return date(year, 2, 28) if leap else day.replace(year=year)


_READERS: tuple[tuple[str, Callable[[re.Match[str], date], Window | None]], ...] = (
    (_ISO, _iso),
    (_NAMED, _named),
    (_YEAR, _year),
    (_RELATIVE, _relative),
)

LONGEST = 20_000
"""Characters of a message that are looked at: the beginning says what it is about."""

_WHICH = frozenset(("what", "which"))
_TIMES = frozenset(("year", "month", "day", "date", "time", "week"))
_AMOUNTS = frozenset(("many", "much", "often", "long", "old", "far"))
_NOW = frozenset(("current", "currently", "latest", "newest", "nowadays"))
_FILLERS = frozenset((word, "of") for word in ("kind", "kinds", "sort", "sorts", "type", "types"))
"""Words of which the first names nothing before the second."""


class RecallQuestion:
    """A message, analysed. `words` are the words that name something, folded, each once and in
    their order; `stems` stand beside them.
    """

    __slots__ = (
        "asks_how_many",
        "asks_now",
        "asks_when",
        "is_search",
        "pairs",
        "stems",
        "text",
        "typed",
        "window",
        "words",
    )

    def __init__(self, message: str, today: date, is_search: bool = False) -> None:
        """`today` is what "last week" is counted from; `is_search` where a person types it: the
        last word may go on, parts of words are found, and words that name nothing are asked for as
        long as there are no others.
        """
        self.text = message[:LONGEST]
        self.is_search = is_search
        every = words(self.text)
        said = set(every)
        found = content_words(_without_fillers(every)) or (every if is_search else [])
        self.words: tuple[str, ...] = tuple(dict.fromkeys(found))
        self.stems: tuple[str, ...] = tuple([stem(word) for word in self.words])
        goes_on = is_search and every and fold(self.text).endswith(every[-1])
        self.typed = every[-1] if goes_on else ""
        """The word that is still being typed; "" where there is none."""
        stems = [stem(word) for word in found]
        self.pairs = frozenset(pairwise(stems))
        """Stems that follow one another."""
        self.window = window_in(self.text, today)
        self.asks_when = "when" in said or _both(said, _WHICH, _TIMES)
        self.asks_how_many = "how" in said and not said.isdisjoint(_AMOUNTS)
        self.asks_now = not said.isdisjoint(_NOW)


def _both(said: set[str], one: frozenset[str], other: frozenset[str]) -> bool:
    return not said.isdisjoint(one) and not said.isdisjoint(other)


def _without_fillers(found: list[str]) -> Iterable[str]:
    before = ""
    for at, word in enumerate(found):
        following = found[at + 1] if at + 1 < len(found) else ""
        if (word, following) not in _FILLERS and (before, word) != ("how", "long"):
            yield word
        before = word
