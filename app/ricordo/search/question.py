"""Analyse a message: its content words, and cues for time, amounts and the current state."""

from __future__ import annotations

import re
from datetime import date, timedelta
from itertools import pairwise

from ricordo.search.words import (
    content_words,
    find_language,
    fold,
    is_unspaced,
    split_words,
    stem_word,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

AFTERMATH = timedelta(days=14)
"""How long after its day an event is still written down: events of May are in notes of May and of
the first half of June (10 points on dated questions).
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
_UNAMBIGUOUS = frozenset(
    ("january", "february", "july", "september", "october", "november", "december")
)
"""Month names without another meaning: Jan and June are also people, and march is a verb."""
_OF_TIME = r"\b(?:in|of|on|by|since|until|till|during|before|after|last|next|this|early|late)\s+$"
_YEAR = r"\b(?:19|20)\d\d\b"
_NUMBERED = """
    build code error http id issue line no number page port pr room row size status ticket version
"""
_UNITS = """
    b bits bytes kb mb gb tb kib mib gib ms px pixels tokens words characters chars lines rows
    times requests items euros dollars km kg degrees
"""
"""Words before and after four digits that are not a year."""
_NEAR = 24
"""Characters around a number that are searched for such words."""
_RELATIVE = (
    r"\b(?P<what>yesterday|today|this morning|tonight"
    r"|(?P<which>last|this|past)\s+(?P<unit>week|month|year))\b"
)
_TIME_WORDS = frozenset(["yesterday", "today", "tonight", "morning", "last", "this", "past"]) | {
    start for name in _MONTHS for start in (name, name[:3])
}


class Window:
    """The days from `first` to `last`; of any year if the text named none."""

    __slots__ = ("any_year", "first", "last")

    def __init__(self, first: date, last: date, any_year: bool = False) -> None:
        self.first = first
        self.last = last
        self.any_year = any_year

    def includes(self, day: str) -> bool:
        """Return whether a note of `day` (ISO 8601, "" for none) was written in the window or at
        most `AFTERMATH` later.
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


def find_window(text: str, today: date) -> Window | None:
    """Return the first time that `text` names; None if it names none."""
    words_in_text = re.findall("[a-z]+", text.lower())
    if _TIME_WORDS.isdisjoint(words_in_text) and not re.search("[0-9]", text):
        # most messages: the patterns below take longer to compile than to search
        return None
    for pattern, read in _READERS:
        for match in re.finditer(pattern, text, re.IGNORECASE):
            try:
                window = read(match, today)
            except (ValueError, OverflowError):
                continue
            if window:
                return window
    return None


def _iso(match: re.Match[str], today: date) -> Window | None:
    return _days(int(match["y"]), int(match["m"]), int(match["d"]) if match["d"] else 0)


def _named(match: re.Match[str], today: date) -> Window | None:
    day, year = match["d1"] or match["d2"], match["y"]
    is_bare = match["m"].lower() not in _UNAMBIGUOUS and not (day or year)
    if is_bare and not re.search(_OF_TIME, match.string[: match.start()], re.IGNORECASE):
        return None
    month = next(n for n, name in enumerate(_MONTHS, 1) if name.startswith(match["m"].lower()[:3]))
    return _days(int(year or 2000), month, int(day or 0), any_year=not year)


def _year(match: re.Match[str], today: date) -> Window | None:
    if _counts(match):
        return None
    return Window(date(int(match[0]), 1, 1), date(int(match[0]), 12, 31))


def _counts(match: re.Match[str]) -> bool:
    """Return whether four digits are an identifier, an amount, or part of another number."""
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
"""Characters of a message that are read: the beginning shows the topic."""

_WHICH = frozenset(("what", "which"))
_TIMES = frozenset(("year", "month", "day", "date", "time", "week"))
_AMOUNTS = frozenset(("many", "much", "often", "long", "old", "far"))
_NOW = frozenset(("current", "currently", "latest", "newest", "nowadays"))
_FILLERS = frozenset((word, "of") for word in ("kind", "kinds", "sort", "sorts", "type", "types"))
"""Pairs of words, of which the first one is a filler."""


class RecallQuestion:
    """An analysed message. `words` are its content words, folded, each once and in order; `stems`
    are their stems.
    """

    __slots__ = (
        "asks_how_many",
        "asks_now",
        "asks_when",
        "is_search",
        "is_unspaced",
        "language",
        "pairs",
        "said",
        "stems",
        "text",
        "typed",
        "window",
        "words",
    )

    def __init__(self, message: str, today: date, is_search: bool = False) -> None:
        """Analyse `message`; relative times count from `today`. `is_search` if a user types it: the
        last word may be incomplete, parts of words match, and stop words count if there are no
        others.
        """
        self.text = message[:LONGEST]
        self.is_search = is_search
        all_words = split_words(self.text)
        distinct = set(all_words)
        self.said: tuple[str, ...] = tuple(all_words)
        """All words, in order."""
        self.language, stop_words = find_language(all_words)
        """ISO 639-1, as far as stop words show it."""
        content = content_words(_without_fillers(all_words), stop_words)
        content = content or (all_words if is_search else [])
        self.words: tuple[str, ...] = tuple(dict.fromkeys(content))
        self.is_unspaced = 2 * sum(map(is_unspaced, self.words)) > len(self.words)
        """Whether most of its words are pairs of characters of scripts without blanks."""
        self.stems: tuple[str, ...] = tuple([stem_word(word) for word in self.words])
        is_incomplete = is_search and all_words and fold(self.text).endswith(all_words[-1])
        self.typed = all_words[-1] if is_incomplete else ""
        """The word that is still being typed; "" if there is none."""
        self.pairs = frozenset(pairwise([stem_word(word) for word in content]))
        """Pairs of consecutive stems."""
        self.window = find_window(self.text, today)
        self.asks_when = "when" in distinct or _has_both(distinct, _WHICH, _TIMES)
        self.asks_how_many = "how" in distinct and not distinct.isdisjoint(_AMOUNTS)
        self.asks_now = not distinct.isdisjoint(_NOW)


def _has_both(distinct: set[str], one: frozenset[str], other: frozenset[str]) -> bool:
    return not distinct.isdisjoint(one) and not distinct.isdisjoint(other)


def _without_fillers(words: list[str]) -> Iterable[str]:
    before = ""
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        if (word, following) not in _FILLERS and (before, word) != ("how", "long"):
            yield word
        before = word
