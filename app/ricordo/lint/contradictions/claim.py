"""Read what a sentence claims: its subject words, its values, its sign and its scope."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from ricordo.dates import FoundDate, find_dates, has_year
from ricordo.lexicon import load_filler, lower_text
from ricordo.lint.contradictions import words as known
from ricordo.lint.contradictions.plain_words import (
    CODE,
    MAX_LENGTH,
    TOKEN,
    normalise,
    split_parts,
    strip_markup,
    tokenise,
)
from ricordo.lint.contradictions.words import ToolClass
from ricordo.lint.prose import detect_language
from ricordo.patterns import compile_lazily

_NEAR = 4
"""Words between a state and its denial, or a tool and its version."""
_NEXT = 3
"""Words between a name and the verb that says whether it is in use."""

_LABELLED = compile_lazily(r"(?:[^\s:]+ ){0,4}[^\s:]+: \S+(?: \S+){0,3}\Z")
"""A label and a short value."""
_NUMBER = compile_lazily(r"v?(\d+(?:\.\d+)*)\+?\Z")
_CLOCK = compile_lazily(r"(\d{1,2})(?::(\d\d))?(am|pm|h|uhr)?\Z")
_IS_CLOCK = compile_lazily(r"\d{1,2}(?::\d\d(?:am|pm|h|uhr)?|am|pm)\Z")
_MONTH_DAY = compile_lazily(r"(\d{1,2})(?:st|nd|rd|th|\.)?\Z")
_DIGITS = compile_lazily(r"\d+")
_NAMED = compile_lazily(r"[A-Z0-9/._:@#\\$]|(?<=[a-z])-(?=[a-z])")
_CODED = compile_lazily(r"[0-9/._@#\\$]|[a-z][A-Z]|[A-Z]{2}")
"""What words of a language do not contain: digits, marks, capitals inside."""
_PATHLIKE = compile_lazily(r"[./_](?<=\w.)\w")
"""A mark between two characters; it is found faster where it comes first."""
_PLAIN = b' ,;:!?"()0123456789' + bytes(range(65, 91)) + bytes(range(97, 123))
"""Letters, digits, and marks that are beside words; a full stop may be within a name."""


class Word(NamedTuple):
    """A word with meaning, in contrast to filler."""

    key: str
    """The same for all its spellings and forms."""
    text: str
    at: int
    """Its index among all words of the claim."""
    place: str
    """`subject`, `object`, or `scope` for what limits the claim."""
    is_name: bool
    """Whether it is written like names, paths and codes."""
    is_code: bool = False
    """Whether it cannot be a word of a language: a path, a symbol, a ticket."""
    is_capital: bool = False
    """Whether it begins with a capital, or is in a script without capitals."""


class Value(NamedTuple):
    """A value that a claim gives to its subject."""

    kind: str
    """The kind of its unit, `number`, `date`, `clock`, `tool`, or `state` and `opposite` with the
    pair; only values of one kind are compared.
    """
    key: float | str | bool
    """What is compared."""
    text: str
    at: int
    place: str
    classes: tuple[tuple[ToolClass, str], ...] = ()
    """The classes of alternatives that a tool belongs to, with its name there."""

    @property
    def counted(self) -> str:
        """The key of what a number counts; "" for other values."""
        return self.kind.removeprefix("number of ") if self.kind.startswith("number of ") else ""


@dataclass(frozen=True, eq=False)
class Claim:
    """What one sentence says."""

    text: str
    """In lower case, in plain words."""
    words: tuple[Word, ...]
    """Its subject words, in order."""
    values: tuple[Value, ...]
    rejected: frozenset[str]
    """The keys of what it names as not chosen."""
    is_negated: bool
    quantity: str
    """`all`, `some`, `only` or ""."""
    person: str
    """`user` or `we` where one of them is its subject."""
    usage: int
    """1 where it says to use what it names, -1 where that is gone or not to be used, else 0."""
    is_assertion: bool
    """Whether it is more than a heading or a label."""
    has_verb: bool
    is_equation: bool
    """Whether it says what something is, with a form of to be or as `label: value`."""
    is_label: bool
    """Whether it is a label and a short value."""
    generic: frozenset[str]
    """Words for what the whole memory is about, such as `we` and `user`."""
    language: str
    """The two-letter language; "" where it is not clear."""

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of its words."""
        return frozenset(word.key for word in self.words)

    @cached_property
    def subject(self) -> frozenset[str]:
        """The keys of the words before its verb."""
        return frozenset(word.key for word in self.words if word.place == "subject")

    @cached_property
    def is_uncertain(self) -> bool:
        """Whether it is doubtful, a wish, conditional, or about another time than now."""
        return self.text.endswith(("?", "？")) or any(
            known.load_pattern(part).search(self.text) for part in ("doubtful", "elsewhen")
        )

    @cached_property
    def is_past(self) -> bool:
        """Whether its verb is in the past tense."""
        return bool(known.load_pattern("past").search(self.text))

    @cached_property
    def is_additive(self) -> bool:
        """Whether its subject may have several such values."""
        return bool(known.load_pattern("additive").search(self.text))

    @cached_property
    def relations(self) -> frozenset[str]:
        """The relations that bind its subject to one value, such as `owner` and `place`."""
        return known.find_relations(self.text)


@lru_cache(maxsize=20_000)
def read_claim(text: str) -> Claim:
    """Return what a short `text` claims."""
    return _Reader(text[:MAX_LENGTH]).claim()


def is_bound(text: str) -> bool:
    """Return whether the claim of a short `text` may give a value to its subject, or one of several
    that exclude each other; the claims of others need not be read to be compared.
    """
    bare = strip_markup(text)
    lower = lower_text(bare)
    # most have no word that counts
    if not any(map(_binding_parts.__getitem__, lower.split())):
        return False
    # a word that begins a phrase counts only where the phrase is
    if not any(map(_lone_parts.__getitem__, lower.split())) and normalise(bare) == lower:
        return False
    parts = split_parts(bare)
    tokens = {token for token, _ in parts.spans}
    if any(map(known.is_binding, tokens)):
        return True
    if any(map(_PATHLIKE.search, tokens)) and not (
        known.load_words("use").isdisjoint(tokens) and known.load_words("gone").isdisjoint(tokens)
    ):
        return True
    return bool(known.find_relations(parts.plain))


def is_plain(text: str) -> bool:
    """Return whether a text is nothing but ASCII words, and marks beside them that join none: by
    each word alone `may_bind` shows whether the text may be bound.
    """
    return text.isascii() and not text.removesuffix(".").encode().translate(None, _PLAIN)


def may_bind(part: str) -> bool:
    """Return whether a part of a text between two blanks may bind a claim, or begin what does."""
    return known.may_begin_phrase(part) or _lone_parts[part]


def _may_bind_alone(part: str) -> bool:
    """Return the same for a part as it is, where it begins no phrase."""
    if known.may_begin_relation(part):
        return True
    word = part.rstrip(".,:;!?")
    if word.isascii() and word.isalpha():
        return known.is_binding(word)
    pieces = {normalise(part)}
    # what is cut off a claim may end within a part: `graphql-over-http`
    for cut in ("reason", "contrast"):
        pieces |= {it for piece in pieces for it in known.load_pattern(cut).split(piece)}
    tokens = [token for piece in pieces for token, _ in tokenise(piece)]
    return any(map(known.is_binding, tokens)) or any(map(_PATHLIKE.search, tokens))


_lone_parts = known.WordCache(_may_bind_alone)
_binding_parts = known.WordCache(may_bind)


class _Reader:
    """Reads the words of one sentence in order."""

    def __init__(self, text: str) -> None:
        self._coded = frozenset(
            match.group().lower()
            for code in (CODE.finditer(text) if "`" in text else ())
            for match in TOKEN.finditer(code[1])
        )
        bare = strip_markup(text)
        self._is_marked = bare[:1] in "`.$~/#@([\"'“"
        self._is_closed = bare.endswith((".", "!", "。", "！"))
        self._language = detect_language(bare)
        self._is_unspaced = self._language in ("zh", "ja", "ko")
        self._names: set[str] = set()
        self._codes = set(self._coded)
        self._capitals: set[str] = set()
        # all nouns of German are written so
        named = _CODED if self._language == "de" else _NAMED
        for match in TOKEN.finditer(bare):
            token = match.group()
            # most are plain words
            if token.isalpha() and token.islower():
                continue
            word = token.lower()
            if named.search(token, 0 if match.start() else 1):
                self._names.add(word)
            if _CODED.search(token):
                self._codes.add(word)
            if token[0].isupper():
                self._capitals.add(word)
        self._parts = split_parts(bare)
        self._plain = self._parts.plain
        self._tokens: list[str] = []
        self._words: list[Word] = []
        self._values: list[Value] = []
        self._denials: list[int] = []
        self._uses: list[tuple[int, int]] = []
        self._quantity, self._person = "", ""
        self._generic: set[str] = set()

    def claim(self) -> Claim:
        """Return the claim."""
        _, chosen, rejected, spans = self._parts
        if (undated := self._without_dates(chosen)) != chosen:
            spans = tuple(tokenise(undated))
        self._tokens = [token for token, _ in spans]
        places = list(self._classify(spans))
        skip = 0
        for at, place in enumerate(places):
            if skip:
                skip -= 1
            else:
                skip = self._take(at, place)
        self._apply_denials()
        is_label = bool(_LABELLED.match(self._plain))
        person = {self._person} if self._person else set()
        return Claim(
            self._plain,
            tuple(self._words),
            tuple(self._values),
            frozenset(
                key
                for token, _ in tokenise(rejected)
                if (key := known.get_word_key(token, self._language))
            ),
            len(self._denials) % 2 == 1,
            self._quantity,
            self._person,
            self._usage(),
            is_label or self._is_assertion(),
            self._is_unspaced or not known.load_verbs().isdisjoint(self._tokens),
            is_label or not known.load_words("being").isdisjoint(self._tokens),
            is_label,
            frozenset(self._generic | person),
            self._language,
        )

    def _classify(self, spans: Sequence[tuple[str, int]]) -> Iterator[str]:
        """Yield the place of each word: `subject` before the verb, `object` after it, `scope`."""
        verb = _find_verb(self._tokens)
        scope, scopes = "", known.load_words("scope")
        for at, token in enumerate(self._tokens):
            if at == verb:
                scope = ""
            if token in scopes and not self._completes(spans, at):
                scope = token if token in known.load_words("limiting") else ""
            yield "scope" if scope else "subject" if at < verb else "object"

    def _completes(self, spans: Sequence[tuple[str, int]], at: int) -> bool:
        """Return whether a preposition belongs to the verb before it, as in `lives in`."""
        if at == 0:
            return False
        token, start = spans[at]
        before, begun = spans[at - 1]
        return (
            before in known.load_words("being")
            or (at == 1 and before not in load_filler())
            or (before in known.load_verbs() and before not in known.load_signs("so"))
            or begun + len(before) in self._bound
            or start + len(token) in self._bound
        )

    @cached_property
    def _bound(self) -> frozenset[int]:
        """The ends of all verbs to which a preposition belongs."""
        pattern = known.load_pattern("binding")
        return frozenset(it.end() for it in pattern.finditer(self._parts.chosen))

    def _without_dates(self, text: str) -> str:
        if not has_year(text):
            return text
        found = list(find_dates(text))
        for date in found:
            name = _name_date(date, text)
            self._values.append(Value("date", name, name, 0, "object"))
        for date in reversed(found):
            text = f"{text[: date.start]} {text[date.end :]}"
        return text

    def _take(self, at: int, place: str) -> int:
        """Read the word at index `at`; return how many words after it belong to it."""
        token = self._tokens[at]
        # most have one meaning, and only one
        if _naming_tokens[token]:
            self._name(token, at, place)
            return 0
        if token not in known.load_special_words() and not _DIGITS.search(token):
            self._thing(token, at, place)
            return 0
        for used in (self._number(at, place), self._day(at, place)):
            if used is not None:
                return used
        if token in known.load_negations(self._language):
            self._denials.append(at)
        elif token in known.load_words("excepting"):
            self._words.append(Word(token, token, at, "scope", False))
        elif token in known.load_persons():
            self._person = known.load_persons()[token]
        elif not self._is_modal(token, at) and not self._is_quantity(token):
            self._thing(token, at, place)
        return 0

    def _neighbours(self, at: int) -> tuple[str, str]:
        tokens = self._tokens
        return tokens[at - 1] if at else "", tokens[at + 1] if at + 1 < len(tokens) else ""

    def _number(self, at: int, place: str) -> int | None:
        token = known.load_numbers().get(self._tokens[at], self._tokens[at])
        if (match := _NUMBER.match(token)) is None:
            return None
        before, behind = self._neighbours(at)
        if before in known.load_days() or known.load_days().get(behind, ("",))[0] == "month":
            return None
        if before in known.load_words("counting"):
            # it identifies one of many
            key = f"{known.get_word_key(before, self._language)} {match[1]}"
            self._words.append(Word(key, f"{before} {match[1]}", at, place, False))
            return 0
        if behind in known.load_words("clock") and match[1].isdecimal():
            hour = int(match[1])
            is_late = not {before, behind}.isdisjoint(known.load_words("afternoon"))
            hour += 12 if is_late and hour < 12 else 0
            self._values.append(Value("clock", f"{hour}:00", token, at, place))
            return 1
        if (tool := self._find_versioned(at)) is not None:
            kind = f"version of {tool.key}"
            self._values.append(Value(kind, _measure(match[1]), match[1], at, place))
            return 0
        unit = known.load_units().get(behind)
        size = _measure(match[1])
        if unit is not None:
            text = f"{match[1]} {behind}"
            self._values.append(Value(unit.kind, size * unit.factor, text, at, place))
            return 1
        kind = "number"
        if behind.isalpha() and not self._is_small(behind):
            kind = f"number of {known.get_word_key(behind, self._language)}"
        self._values.append(Value(kind, size, match[1], at, place))
        return int(kind != "number")

    def _is_small(self, token: str) -> bool:
        """Return whether a word is no name of what is counted."""
        words = known.load_small_words(), known.load_words("single"), known.load_special_words()
        return any(token in them for them in words) or token not in self._tokens

    def _find_versioned(self, at: int) -> Value | None:
        """Return the tool of which a number at index `at` is the version."""
        tool = next((it for it in reversed(self._values) if it.kind == "tool"), None)
        if tool is None or at - tool.at > _NEAR:
            return None
        between = self._tokens[tool.at + 1 : at]
        keys = {known.get_word_key(token, self._language) for token in between}
        return tool if keys <= {"", "version", "minimum"} else None

    def _day(self, at: int, place: str) -> int | None:
        token, (_, behind) = self._tokens[at], self._neighbours(at)
        if _IS_CLOCK.match(token):
            late = behind in known.load_words("afternoon")
            self._values.append(Value("clock", _name_clock(token, late=late), token, at, place))
            return 0
        day = _MONTH_DAY.match(token)
        if day and known.load_days().get(behind, ("",))[0] == "month":
            return self._month_day(behind, day[1], at, place)
        if token not in known.load_days() or (token in ("may", "march", "mars") and at == 0):
            return None
        kind, name = known.load_days()[token]
        if kind == "month" and (day := _MONTH_DAY.match(behind)):
            return self._month_day(token, day[1], at, place)
        if token in ("may", "mars", "sept", "sat", "jan", "dec") and token not in self._names:
            return None
        self._values.append(Value(kind, name, token, at, place))
        return 0

    def _month_day(self, month: str, day: str, at: int, place: str) -> int:
        name = f"{known.load_days()[month][1]} {int(day)}"
        self._values.append(Value("date", name, name, at, place))
        return 1

    def _is_modal(self, token: str, at: int) -> bool:
        for part in ("so", "may", "need"):
            if token in known.load_signs(part):
                if known.load_signs(part)[token]:
                    self._denials.append(at)
                self._note_use(token, at)
                return True
        return False

    def _is_quantity(self, token: str) -> bool:
        for part in ("all", "some", "only"):
            if token in known.load_words(part):
                self._quantity = part
                return True
        return False

    def _note_use(self, token: str, at: int) -> bool:
        """Note a verb that says whether something is in use; return whether it says it is gone."""
        is_gone = token in known.load_words("gone")
        if is_gone or token in known.load_words("use"):
            self._uses.append((at, -1 if is_gone else 1))
        return is_gone

    def _thing(self, token: str, at: int, place: str) -> None:
        self._note_use(token, at)
        tools = known.load_tools().get(token)
        if tools and (token in self._names or self._is_surely(token, tools)):
            names = known.get_word_key(token, self._language)
            self._values.append(Value("tool", names, token.replace("_", " "), at, place, tools))
        elif token in known.load_opposites():
            kind, side = known.load_opposites()[token]
            self._values.append(Value(kind, side, token, at, place))
        elif token in known.load_words("particles"):
            pass
        elif token in known.load_words("generic"):
            self._generic.add(known.load_synonyms().get(token, token))
        else:
            self._name(token, at, place)

    def _name(self, token: str, at: int, place: str) -> None:
        """Read a word that only names something."""
        if token in self._coded:
            self._words.append(Word(token.lstrip("./~"), token, at, place, True, True))
        elif key := known.get_word_key(token, self._language):
            is_code = token in self._codes
            is_capital = token in self._capitals or not token[0].isascii()
            is_name = token in self._names
            self._words.append(Word(key, token, at, place, is_name, is_code, is_capital))

    def _apply_denials(self) -> None:
        """Turn a state that is denied into its opposite: `not merged`."""
        states = [n for n, it in enumerate(self._values) if it.kind.startswith("state")]
        if len(states) == 1 and self._denials:
            value = self._values[states[0]]
            nearest = min(self._denials, key=lambda at: abs(at - value.at))
            if abs(nearest - value.at) <= _NEAR:
                self._denials.remove(nearest)
                self._values[states[0]] = value._replace(
                    key=not value.key, text=f"not {value.text}"
                )

    def _usage(self) -> int:
        """Return whether what a claim names is in use: the only name, next to the verb. Unknown (0)
        where a denial comes behind both, before another thing: “use x, never y”.
        """
        names = [word.at for word in self._words if _PATHLIKE.search(word.text)]
        if len(names) != 1:
            return 0
        name, others = names[0], [word.at for word in self._words if word.at != names[0]]
        signs = {
            at: sign
            for at, sign in self._uses
            if abs(at - name) <= _NEXT
            and (at > name or sign > 0)
            and not any(min(at, name) < other < max(at, name) for other in others)
        }
        if not signs:
            return 0
        end = max(name, *signs)
        if any(end < at < other for at in self._denials for other in others):
            return 0
        return -1 if min(signs.values()) < 0 or len(self._denials) % 2 else 1

    def _is_assertion(self) -> bool:
        """Return whether it is more than a heading or a label, which have no small words."""
        if self._plain.endswith((":", "：")) or not (
            self._plain.lstrip()[:1].isalnum() or self._is_marked
        ):
            return False
        if self._is_closed or self._is_unspaced:
            return True
        return not known.load_small_words().isdisjoint(self._tokens)

    @cached_property
    def _said(self) -> frozenset[str]:
        return frozenset(self._tokens)

    def _is_surely(self, token: str, tools: tuple[tuple[ToolClass, str], ...]) -> bool:
        """Return whether a word that may also be an ordinary one names a thing here."""
        if token not in known.load_ambiguous_tools():
            return True
        return any(not kind.about.isdisjoint(self._said - {token}) for kind, _ in tools)


def _only_names(token: str) -> bool:
    """Return whether a word only names something: it has no other meaning of its own."""
    meanings = known.load_special_words(), known.load_tools(), known.load_opposites()
    lists = map(known.load_words, ("use", "gone", "particles", "generic"))
    return not _DIGITS.search(token) and not any(token in it for it in (*meanings, *lists))


_naming_tokens = known.WordCache(_only_names)


def _find_verb(tokens: list[str]) -> int:
    """Return the index of the verb; -1 for none. A form of to be is surer than a word that may be a
    noun.
    """
    for surest in (known.load_words("being"), known.load_verbs()):
        for at, token in enumerate(tokens):
            if token in surest:
                return at
    return -1


def _name_date(date: FoundDate, text: str) -> str:
    """Return a date in ISO form as exactly as it is written: a month without a day."""
    written = text[date.start : date.end]
    groups = len(_DIGITS.findall(written))
    is_exact = groups == 3 or (groups == 2 and any(map(str.isalpha, written)))
    return date.day.isoformat() if is_exact else date.day.isoformat()[:7]


def _measure(text: str) -> float:
    """Return the size of a number; parts of a version count in order."""
    if text.count(".") < 2:
        return float(text)
    size = 0.0
    for part in reversed(text.split(".")):
        size = size / 1000 + float(part)
    return size


def _name_clock(text: str, *, late: bool = False) -> str:
    match = _CLOCK.match(text)
    assert match is not None
    hour = int(match[1]) % 12 + 12 if match[3] == "pm" or late else int(match[1])
    return f"{hour}:{match[2] or '00'}"
