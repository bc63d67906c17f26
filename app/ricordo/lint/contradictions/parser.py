"""Parse a short statement: its subject, its values and its negation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, cached_property, lru_cache

from ricordo.dates import FoundDate, find_dates
from ricordo.lexicon import SPACELESS, lower_text
from ricordo.lint.contradictions import words as known
from ricordo.lint.contradictions.claim import ClassItem, Day, Number, Opposite, ParsedClaim, Word
from ricordo.lint.contradictions.words import ToolClass
from ricordo.patterns import compile_lazily
from ricordo.search.words import stem_word

MAX_LENGTH = 300
"""Characters; a longer text is no single statement."""
_MOST_REJECTED = 4
"""Words after `instead of` that are rejected."""
_FEWEST_BEFORE_REASON = 3
"""Words of a statement before a reason may follow."""
_MARKUP = compile_lazily(r"`|\*{1,3}|(?<!\w)_{1,2}(?=\w)|(?<=\w)_{1,2}(?!\w)|\[\[|\]\]|~~")
_LINK = compile_lazily(r"\[([^\]\n]*)\]\([^)\n]*\)")
_SHORT_NOT = compile_lazily(r"n['’]t\b")
_SHORT_IS = compile_lazily(r"(?<=\w)['’](?:s|re|ll|ve|d|m)\b")
_HAND = compile_lazily(r"(?<=\d)[,’'](?=\d{3}\b)")
_GLUED_UNIT = compile_lazily(
    r"\b(\d+(?:\.\d+)?)\s?-?(ms|s|sec|min|h|d|kb|mb|gb|tb|%|px|cm|mm|km|m)(?!\w)"
)
_THOUSANDS = compile_lazily(r"\b(\d+(?:\.\d+)?)k\b")
TOKEN = compile_lazily(
    rf"(?:(?<![^\s(])[/~.@]+)?[^\W{SPACELESS}]+(?:[.:/@+-]+[^\W{SPACELESS}]+)*(?:\+\+|#)?|%|[{SPACELESS}]+"
)
_OVER = compile_lazily(r"\b(?:prefers?|preferred|favou?rs?)\b(.+?)\bto\b")


def strip_markup(text: str) -> str:
    """Return the beginning of a text without the marks of markdown."""
    return _MARKUP.sub("", _LINK.sub(r"\1", text[:MAX_LENGTH])).strip()


def normalise(bare: str) -> str:
    """Return the text in lower case, with phrases as words and numbers apart from their units."""
    plain = _SHORT_IS.sub("", _SHORT_NOT.sub(" not", lower_text(bare).replace("cannot", "can not")))
    plain = _THOUSANDS.sub(lambda match: f"{float(match[1]) * 1000:g}", _HAND.sub("", plain))
    plain = _GLUED_UNIT.sub(r"\1 \2", plain)
    return _without_reason(known.join_phrases(plain))


def _without_reason(plain: str) -> str:
    """Return the text before a reason, an aside or a consequence."""
    for match in known.load_pattern("reason").finditer(plain):
        if len(plain[: match.start()].split()) >= _FEWEST_BEFORE_REASON:
            return plain[: match.start()]
    return plain


def split_rejected(plain: str) -> tuple[str, str]:
    """Return the statement without what it rejects, and the rejected part."""
    match = _OVER.search(plain)
    if match and not known.load_pattern("contrast").search(plain):
        return plain[: match.end() - 2], plain[match.end() :]
    found = known.load_pattern("contrast").search(plain)
    if found is None or not plain[: found.start()].strip():
        return plain, ""
    behind = plain[found.end() :]
    tokens = list(tokenise(behind))
    end = len(behind)
    for number, (token, start) in enumerate(tokens):
        is_border = number and (token in known.load_words("scope") or "," in behind[:start])
        if number >= _MOST_REJECTED or is_border:
            end = start
            break
    rest = "" if end == len(behind) else behind[end:]
    return f"{plain[: found.start()]} {rest}", behind[:end]


def tokenise(plain: str) -> Iterator[tuple[str, int]]:
    """Yield the words of a text with their offsets."""
    for match in TOKEN.finditer(plain):
        token = match.group()
        if token[0] >= "\u3040" and re.match(f"[{SPACELESS}]", token[0]):
            for part in known.load_unbounded().finditer(token):
                yield part.group(), match.start() + part.start()
        else:
            yield token, match.start()


def classify_words(plain: str, spans: list[tuple[str, int]]) -> Iterator[str]:
    """Yield the place of each word: `subject` before the verb, `object` after it, or `scope`."""
    verb = _verb([token for token, _ in spans])
    scope, scopes = "", known.load_words("scope")
    for at, (token, start) in enumerate(spans):
        if at == verb:
            scope = ""
        if token in scopes and not _completes(spans, at, start, plain):
            scope = token if token in known.load_words("limiting") else ""
        if scope:
            yield "scope"
        else:
            yield "subject" if at < verb else "object"


def _verb(tokens: list[str]) -> int:
    """Return the index of the verb; -1 for none. A form of to be is surer than a word that may be a
    noun.
    """
    for surest in (known.load_words("being"), load_verbs()):
        for at, token in enumerate(tokens):
            if token in surest:
                return at
    return -1


def _completes(spans: list[tuple[str, int]], at: int, start: int, plain: str) -> bool:
    """Return whether a preposition belongs to the verb before it, as in `lives in`."""
    token = spans[at][0]
    if at == 0:
        return False
    before, begun = spans[at - 1]
    bound = _ends_of_binding(plain)
    return (
        begun + len(before) in bound
        or start + len(token) in bound
        or before in known.load_words("being")
        or (at == 1 and before not in known.load_words("filler"))
        or before in load_verbs() - known.load_signs("so").keys()
    )


@lru_cache(maxsize=1)  # called for every preposition of one statement
def _ends_of_binding(plain: str) -> frozenset[int]:
    return frozenset(match.end() for match in known.load_pattern("binding").finditer(plain))


@lru_cache(maxsize=1 << 16)
def get_word_key(token: str) -> str:
    """Return the same key for all forms of a word; "" for filler."""
    if token in known.load_words("filler") or token in known.load_words("scope"):
        return ""
    if (tool := known.load_tools().get(token)) and token not in known.load_ambiguous_tools():
        return tool[0][1]
    return stem_word(known.load_synonyms().get(token, token))


@cache
def load_verbs() -> frozenset[str]:
    """Return the words that separate the subject of a statement from its predicate."""
    return known.load_words("verbs") | known.load_words("being") | known.load_modals()


_NUMBER = compile_lazily(r"v?(\d+(?:\.\d+)*)\Z")
_DIGITS = compile_lazily(r"\d+")
_CLOCK = compile_lazily(r"(\d{1,2})(?::(\d\d))?(?:am|pm|h|uhr)?\Z")
_IS_CLOCK = compile_lazily(r"\d{1,2}(?::\d\d(?:am|pm|h|uhr)?|am|pm)\Z")
_MONTH_DAY = compile_lazily(r"(\d{1,2})(?:st|nd|rd|th|\.)?\Z")
_NAMED = compile_lazily(r"[A-Z0-9/._:@\\-]|[^\x00-\x7f]")


@lru_cache(maxsize=20_000)
def parse_claim(text: str) -> ParsedClaim:
    """Return the claim that a short `text` makes."""
    return _StatementParser(strip_markup(text)).claim()


class _StatementParser:
    """Parses the words of one statement in order."""

    def __init__(self, bare: str) -> None:
        self._names = frozenset(
            match.group().lower() for match in TOKEN.finditer(bare) if _is_name(bare, match)
        )
        self._plain = normalise(bare)
        self._numbers: list[Number] = []
        self._days: list[Day] = []
        self._tools: list[ClassItem] = []
        self._opposites: list[Opposite] = []
        self._words: list[Word] = []
        self._denials, self._modal, self._quantity, self._who = 0, "", "", ""
        self._has_verb = False
        self._generic: set[str] = set()

    def claim(self) -> ParsedClaim:
        """Return the parsed claim."""
        chosen, rejected = split_rejected(self._plain)
        chosen = self._without_dates(chosen)
        spans = list(tokenise(chosen))
        tokens = [token for token, _ in spans]
        skip = 0
        for at, place in enumerate(classify_words(chosen, spans)):
            if skip:
                skip -= 1
            else:
                skip = self._take(tokens, at, place)
        return ParsedClaim(
            self._plain,
            tuple(self._words),
            # a single character of a script without blanks is no word
            frozenset(
                key for token, _ in tokenise(rejected) if len(key := get_word_key(token)) > 1
            ),
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
        """Parse the word at index `at`; return how many words after it belong to it."""
        token = tokens[at]
        if token.isalpha() and token not in known.load_special_words():
            self._word(token, at, place)
            return 0
        for used in (self._number(tokens, at, place), self._day(tokens, at, place)):
            if used is not None:
                return used
        self._has_verb = self._has_verb or token in load_verbs()
        if token in known.load_words("negation"):
            self._denials += 1
        elif token in known.load_words("excepting"):
            self._words.append(Word(token, token, at, "scope", False))
        elif token in known.load_persons():
            self._who = known.load_persons()[token]
        elif not self._wish(token) and not self._is_quantity(token):
            self._thing(token, at, place)
        return 0

    def _number(self, tokens: list[str], at: int, place: str) -> int | None:
        token = known.load_numbers().get(tokens[at], tokens[at])
        if (match := _NUMBER.match(token)) is None:
            return None
        before = tokens[at - 1] if at else ""
        behind = tokens[at + 1] if at + 1 < len(tokens) else ""
        if before in known.load_days() or behind in known.load_days():
            return None
        unit = known.load_units().get(behind)
        version = match[1]
        size = float(version) if version.count(".") < 2 else _version(version)
        counts = before in known.load_words("counting") and not (
            behind.endswith("s") and behind not in load_verbs()
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
        if day and known.load_days().get(behind, ("",))[0] == "month":
            return self._month_day(behind, day[1], place)
        if token not in known.load_days() or (token in ("may", "march", "mars") and at == 0):
            return None
        kind, name = known.load_days()[token]
        if kind == "month" and (day := _MONTH_DAY.match(behind)):
            return self._month_day(token, day[1], place)
        if token in ("may", "mars", "sept", "sat", "jan", "dec") and token not in self._names:
            return None
        self._days.append(Day(kind, name, token, place))
        return 0

    def _month_day(self, month: str, day: str, place: str) -> int:
        name = f"{known.load_days()[month][1]} {int(day)}"
        self._days.append(Day("date", name, name, place))
        return 1

    def _wish(self, token: str) -> bool:
        for part in ("so", "may", "need"):
            if token in known.load_signs(part):
                self._denials += known.load_signs(part)[token]
                self._modal = self._modal or ("" if part == "so" else part)
                return True
        return False

    def _is_quantity(self, token: str) -> bool:
        for part in ("all", "some", "only"):
            if token in known.load_words(part):
                self._quantity = part
                return True
        return False

    def _thing(self, token: str, at: int, place: str) -> None:
        tools = known.load_tools().get(token)
        if tools and (token in self._names or self._is_surely(token, tools)):
            self._tools.append(
                ClassItem(get_word_key(token), token.replace("_", " "), tools, place, at)
            )
        elif token in known.load_opposites():
            pair, side = known.load_opposites()[token]
            self._opposites.append(Opposite(pair, side, token, place))
        elif token in known.load_words("generic"):
            self._generic.add(known.load_synonyms().get(token, token))
        else:
            self._word(token, at, place)

    def _word(self, token: str, at: int, place: str) -> None:
        if key := get_word_key(token):
            self._words.append(Word(key, token, at, place, token in self._names))

    @cached_property
    def _said(self) -> frozenset[str]:
        return frozenset(token for token, _ in tokenise(self._plain))

    def _is_surely(self, token: str, tools: tuple[tuple[ToolClass, str], ...]) -> bool:
        """Return whether a word that may also be an ordinary one names a thing here."""
        if token not in known.load_ambiguous_tools():
            return True
        return any(not kind.about.isdisjoint(self._said - {token}) for kind, _ in tools)


def _is_name(bare: str, match: re.Match[str]) -> bool:
    """Return whether a word is written like names, paths and codes, the first letter aside."""
    return bool(_NAMED.search(match.group(), 1 if match.start() == 0 else 0))


def _date(date: FoundDate, text: str) -> str:
    """Return a date in ISO form as exactly as it is written: a month without a day."""
    written = text[date.start : date.end]
    groups = len(_DIGITS.findall(written))
    is_exact = groups == 3 or (groups == 2 and any(map(str.isalpha, written)))
    return date.day.isoformat() if is_exact else date.day.isoformat()[:7]


def _blanked(text: str, found: list[FoundDate]) -> str:
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
