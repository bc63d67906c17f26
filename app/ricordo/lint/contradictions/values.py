"""Read the values in a text of any wording: dates, times, weekdays, quantities, plain numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from ricordo.dates import find_dates, month_numbers
from ricordo.lexicon import build_alternation, list_expressions
from ricordo.lint.contradictions import words as known
from ricordo.patterns import compile_lazily

_CLOCK = compile_lazily(
    r"(?<![\d:.])(?P<hour>\d\d?)(?:[:h](?P<minute>\d\d)(?![\d:])\s?(?P<half>pm|am)?"
    r"|\s?(?P<day>am|pm|a\.m|p\.m)\b|\s?(?:uhr|h\b(?!/)|点(?!钟?前)|時(?!間)|시(?!간))"
    r"(?P<part>半|반|30)?)"
)
_NUMBER = compile_lazily(
    r"(?<![a-zA-Z0-9_.#/§!-])(?P<sign>[$€£¥])?\s?v?(?P<size>\d+(?:[.,' ’]\d+)*)\+?\s?-?"
    r"(?P<factor>[万萬만亿億억千천]|k(?!\w)|mio\.?|million(?:en|s)?)?\s?-?"
    r"(?P<behind>%|°c?|\$|€|£|[^\W\d_]+)?"
)
_THOUSANDS = compile_lazily(r"\d{1,3}(?:[.,' ’]\d{3})+\Z")
_THOUSANDS_MARK = compile_lazily(r"[.,' ’]")
_FACTORS = {"万": 1e4, "萬": 1e4, "만": 1e4, "亿": 1e8, "億": 1e8, "억": 1e8, "千": 1e3, "천": 1e3}
_FACTORS["k"] = 1e3
_MILLION = 1e6
_IDEOGRAPHIC = compile_lazily(
    r"(?:十[一二]|[一二两三四五六七八九十])(?=点(?!击|选)|時(?!間)|回(?!り)|次(?!元)|个(?:月|小时)"
    r"|天(?!然)|小时|周(?!期)|人(?!工|员)|名|倍|份|页|条|年|か月|ヶ月|週|日間|時間|分)"
)
_IDEOGRAPHS = {text: n for n, text in enumerate("一二三四五六七八九十", 1)}
_IDEOGRAPHS |= {"两": 2, "十一": 11, "十二": 12}
_BREAK = compile_lazily(r"[,;。，、；()（）]|\.\s")
_WORD = compile_lazily(r"[^\W\d_]+")
_BEFORE = 40
"""Characters before a number in which its name is looked for."""
_NAMES = 2
"""Words before a number that may be its name."""
_AROUND = 24, 12
"""Characters before and behind a value in which its bound is looked for."""
_LARGE, _ROUND, _CLOSE = 1000.0, 0.08, 1e-9
"""Sizes from which on values may be rounded, and the shares in which equal ones may differ."""
_MOST_TRIVIAL = 2.0
"""A number up to which texts have the same one by chance."""
QUANTITIES = frozenset(
    ("bytes", "time", "share", "length", "pixels", "weight", "speed", "persons")
) | {"dollars", "euros", "pounds", "yen"}
TIMES = frozenset(("date", "clock", "weekday"))


class FreeValue(NamedTuple):
    """A value in a text."""

    kind: str
    """`date`, `clock`, `weekday`, the kind of its unit, or `number`."""
    key: float | str | tuple[int, int]
    """What is compared: a size in the smallest unit, minutes of a day, month and day."""
    text: str
    names: frozenset[str] = frozenset()
    """For a plain number the keys of the words by which it is known: those before it and the one
    behind it.
    """
    bound: str = ""
    """`most` or `least` where it bounds what is meant."""

    def equals(self, other: FreeValue) -> bool:
        """Return whether both are the same; large sizes may be rounded."""
        if isinstance(self.key, float) and isinstance(other.key, float):
            share = _ROUND if max(self.key, other.key) > _LARGE else _CLOSE
            return abs(self.key - other.key) <= share * max(abs(self.key), abs(other.key))
        return self.key == other.key

    def fits(self, other: FreeValue) -> bool:
        """Return whether one is a bound that the other, which is none, keeps."""
        if not (isinstance(self.key, float) and isinstance(other.key, float)):
            return False
        if bool(self.bound) == bool(other.bound):
            return False
        bound, free = (self, other) if self.bound else (other, self)
        assert isinstance(bound.key, float)
        assert isinstance(free.key, float)
        return free.key <= bound.key if bound.bound == "most" else free.key >= bound.key

    @property
    def is_trivial(self) -> bool:
        """Whether it is a number that two texts may have in common by chance."""
        return isinstance(self.key, float) and self.key <= _MOST_TRIVIAL


@cache
def _days() -> re.Pattern[str]:
    """Return the pattern for a day without a year."""
    month = "|".join(sorted(map(re.escape, month_numbers()), key=len, reverse=True))
    return re.compile(
        rf"(?<![\d.,])(?P<d1>\d\d?)(?:st|nd|rd|th|er|\.|º)?\s+(?:de\s+|of\s+)?(?P<n1>{month})\b"
        rf"|\b(?P<n2>{month})\.?\s+(?P<d2>\d\d?)(?:st|nd|rd|th)?(?!\d|[.:]\d)"
        r"|(?P<m3>\d\d?)\s?[月월]\s?(?P<d3>\d\d?)\s?[日号號일]?"
        r"|(?<![\d.])(?P<d4>\d\d?)\.(?P<m4>1[0-2]|0?[1-9])\.(?!\d)"
        r"|(?<![\d/.])(?P<a5>\d\d?)/(?P<b5>\d\d?)(?![\d/])"
    )


@cache
def _weekdays() -> re.Pattern[str]:
    days = known.load_days().items()
    return re.compile(build_alternation(text for text, (kind, _) in days if kind == "weekday"))


@cache
def _number_words() -> re.Pattern[str]:
    words = known.load_numbers()
    return re.compile(build_alternation(it for it in words if len(it) > 1 or it.isascii()))


@cache
def _bounds() -> tuple[tuple[str, re.Pattern[str]], ...]:
    parts = (("most", "most"), ("least", "least"))
    return tuple(
        (name, re.compile(build_alternation(list_expressions("opposition", part))))
        for name, part in parts
    )


@cache
def _late() -> re.Pattern[str]:
    return re.compile(build_alternation(known.load_words("evening")))


@lru_cache(maxsize=1 << 14)
def read_values(text: str) -> tuple[FreeValue, ...]:
    """Return the values in a text in lower case."""
    rest = known.join_phrases(text)
    found: list[FreeValue] = []

    def take(pattern: re.Pattern[str], read: Callable[[re.Match[str]], FreeValue | None]) -> None:
        nonlocal rest
        for match in reversed([*pattern.finditer(rest)]):
            if (value := read(match)) is not None:
                found.append(value._replace(bound=_find_bound(rest, *match.span())))
                rest = f"{rest[: match.start()]}\0{rest[match.end() :]}"

    for date in reversed([*find_dates(rest)]):
        day = date.day
        found.append(FreeValue("date", (day.month, day.day), rest[date.start : date.end]))
        rest = f"{rest[: date.start]}\0{rest[date.end :]}"
    take(_days(), _read_day)
    if not rest.isascii():
        rest = _IDEOGRAPHIC.sub(lambda match: str(_IDEOGRAPHS[match.group()]), rest)
    take(_CLOCK, _read_clock)
    days = known.load_days()
    found += [
        FreeValue("weekday", days[it.group()][1], it.group()) for it in _weekdays().finditer(rest)
    ]
    words = known.load_numbers()
    rest = _number_words().sub(lambda match: words[match.group()], rest)
    found += _read_numbers(rest)
    return tuple(found)


def _find_bound(text: str, start: int, end: int) -> str:
    near = text[max(0, start - _AROUND[0]) : end + _AROUND[1]]
    found = [name for name, pattern in _bounds() if pattern.search(near)]
    return found[0] if len(found) == 1 else ""


def _read_day(match: re.Match[str]) -> FreeValue | None:
    parts = {key: value for key, value in match.groupdict().items() if value}
    if "a5" in parts:
        first, second = int(parts["a5"]), int(parts["b5"])
        month, day = (first, second) if first <= 12 else (second, first)
    else:
        name = parts.get("n1") or parts.get("n2")
        month = month_numbers()[name] if name else int(parts.get("m3") or parts["m4"])
        day = int(next(value for key, value in parts.items() if key.startswith("d")))
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return FreeValue("date", (month, day), match.group())


def _read_clock(match: re.Match[str]) -> FreeValue | None:
    hour, minute = int(match["hour"]), int(match["minute"] or (30 if match["part"] else 0))
    if hour > 24 or minute > 59:
        return None
    near = match.string[max(0, match.start() - 6) : match.end() + 6]
    is_late = (match["half"] or match["day"] or "").startswith("p") or bool(_late().search(near))
    hour += 12 if hour < 12 and is_late else 0
    return FreeValue("clock", float(60 * hour + minute), match.group().strip())


def _read_numbers(text: str) -> Iterator[FreeValue]:
    for match in _NUMBER.finditer(text):
        size = _parse(match["size"].strip())
        if match["factor"]:
            size *= _FACTORS.get(match["factor"], _MILLION)
        bound = _find_bound(text, *match.span())
        behind = match["behind"] or ""
        found = _find_unit(match["sign"] or behind)
        if found is not None:
            unit, used = found
            end = match.end() - len(behind) + (0 if match["sign"] else len(used))
            yield FreeValue(
                unit.kind, size * unit.factor, text[match.start() : end].strip(), bound=bound
            )
            continue
        before = _BREAK.split(text[max(0, match.start() - _BEFORE) : match.start()])[-1]
        names = {_name(word) for word in _WORD.findall(before)[-_NAMES:]}
        names.add(_name(behind[:1] if _is_unspaced(behind) else behind))
        if text[match.start() - 1 : match.start()] == ":" or known.load_port().search(text):
            names.add("port")
        if "." in match["size"] and not _THOUSANDS.match(match["size"]):
            names.add("version")
        names.discard("")
        yield FreeValue("number", size, match["size"].strip(), frozenset(names), bound)


def _is_unspaced(text: str) -> bool:
    return bool(text) and "\u3040" <= text[0] <= "\ud7af"


def _find_unit(text: str) -> tuple[known.NumberUnit, str] | None:
    """Return the unit with which a text begins, and its spelling; None without one."""
    units = known.load_units()
    for size in range(min(4, len(text)), 0, -1) if _is_unspaced(text) else (len(text),):
        if (unit := units.get(text[:size])) is not None:
            return unit, text[:size]
    return None


def _name(word: str) -> str:
    """Return the key of a word that may say what a number is of; "" for others."""
    if known.is_stop_word(word) or (len(word) < 2 and not _is_unspaced(word)):
        return ""
    key = known.get_word_key(word, "")
    return "" if key in ("maximum", "minimum") or word in known.load_words("counters") else key


def _parse(text: str) -> float:
    """Return the size of a number; the parts of a version count in order."""
    if _THOUSANDS.match(text):
        return float(_THOUSANDS_MARK.sub("", text))
    parts = _THOUSANDS_MARK.split(text)
    if len(parts) <= 2:
        return float(".".join(parts))
    size = 0.0
    for part in reversed(parts):
        size = size / 1000 + float(part)
    return size
