"""The values in which two claims differ: numbers, days, things of one class, opposites."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from ricordo.lexicon import lower_text
from ricordo.lint.contradictions import words as known
from ricordo.lint.contradictions.claim import ClassItem, Number, ParsedClaim, Word
from ricordo.lint.contradictions.parser import TOKEN, normalise, parse_claim, strip_markup
from ricordo.search.words import stem_word

_BOUNDS = frozenset(("maximum", "minimum"))
_MEASURES = frozenset(
    ("length", "size", "durat", "time", "lifetim", "long", "larg", "age", "number")
)
"""Words for measures, which add nothing to their numbers."""
_ADVERBS = frozenset(("before", "manual", "sync", "vor", "avant", "antes", "prima", "manuell"))
_CLOSE = 1e-9


class Difference(NamedTuple):
    """Two claims' values for the same thing."""

    kind: str
    left: str
    right: str
    in_subject: bool = False
    is_adverb: bool = False

    @property
    def reason(self) -> str:
        """The difference, in a few words."""
        return f"{self.kind}: {self.left} / {self.right}"

    @property
    def is_tool(self) -> bool:
        """Whether it is a thing of a class."""
        return self.kind.startswith("tools")


class Differences(NamedTuple):
    """All values in which two claims differ."""

    found: tuple[Difference, ...]
    about: frozenset[str]
    """Words for the classes of the differing things."""
    shared: frozenset[str]
    """The things that both name."""
    loose: tuple[str, ...]
    """Values of one claim without a counterpart in the other."""
    names: tuple[tuple[Word, ...], tuple[Word, ...]]
    """The things without one of their class in the other claim, of both claims."""
    measured: bool
    """Whether numbers differ."""

    @property
    def is_one(self) -> bool:
        """Whether all differences are of one kind; several numbers are one value."""
        kinds = {"day" if it.kind in ("dates", "numbers") else it.kind for it in self.found}
        return len(kinds) == 1 and (len(self.found) == 1 or kinds == {"day"})

    def is_covered(self, word: Word) -> bool:
        """Return whether a word only names the kind of value."""
        return word.text in self.about or (
            self.measured and (word.key in _BOUNDS or word.key in _MEASURES)
        )

    def add_shared(self, keys: frozenset[str]) -> frozenset[str]:
        """Return `keys` with the shared things."""
        return (keys | self.shared) - _BOUNDS


_NONE = Differences((), frozenset(), frozenset(), (), ((), ()), measured=False)


def find_differences(one: ParsedClaim, other: ParsedClaim) -> Differences:
    """Return the values in which two claims differ."""
    if not (one.has_values or other.has_values):
        return _NONE
    tools, about, shared, names = _tools(one, other)
    numbers, numbers_loose = _numbers(one, other)
    days, days_loose = _days(one, other)
    opposites, opposites_loose = _opposites(one, other)
    return Differences(
        (*tools, *numbers, *days, *opposites),
        about,
        shared | _shared_opposites(one, other),
        (*numbers_loose, *days_loose, *opposites_loose),
        names,
        bool(numbers) or bool(one.numbers and other.numbers),
    )


def get_names(claim: ParsedClaim) -> frozenset[str]:
    """Return the keys of everything that a claim names."""
    return claim.keys | {tool.of[0][1] for tool in claim.tools} | {it.key for it in claim.tools}


def list_texts(claim: ParsedClaim) -> Iterator[tuple[str, str]]:
    """Yield the key and the text of everything that a claim names."""
    yield from ((it.key, it.text) for it in claim.words)
    yield from ((it.of[0][1], it.text) for it in claim.tools)


def _tools(
    one: ParsedClaim, other: ParsedClaim
) -> tuple[
    list[Difference],
    frozenset[str],
    frozenset[str],
    tuple[tuple[Word, ...], tuple[Word, ...]],
]:
    shared = {it.key for it in one.tools} & {it.key for it in other.tools}
    mine = [it for it in one.tools if it.key not in shared]
    theirs = [it for it in other.tools if it.key not in shared]
    found: list[Difference] = []
    about: set[str] = set()
    paired: set[str] = set()
    for it in mine:
        for its in theirs:
            if its.key in paired or (kind := _class_of(it, its)) is None:
                continue
            name, words = kind
            found.append(Difference(f"tools of one class ({name})", it.text, its.text))
            about |= words
            paired |= {it.key, its.key}
            break
    left, right = (
        tuple(
            Word(it.key, it.text, it.at, it.place, True)
            for it in side
            if it.key not in paired and it.text not in about
        )
        for side in (mine, theirs)
    )
    return found, frozenset(about), frozenset(shared), (left, right)


def _class_of(one: ClassItem, other: ClassItem) -> tuple[str, frozenset[str]] | None:
    for kind, name in one.of:
        for its, its_name in other.of:
            if kind.name == its.name and name != its_name:
                return kind.name, kind.about
    return None


def _numbers(one: ParsedClaim, other: ParsedClaim) -> tuple[list[Difference], list[str]]:
    mine = [it for it in one.numbers if not any(_equal(it, its) for its in other.numbers)]
    theirs = [it for it in other.numbers if not any(_equal(it, its) for its in one.numbers)]
    if not mine and not theirs:
        return [], []
    loose = [it.text for it in (*mine, *theirs)]
    if len(mine) != len(theirs) or any(it.counts for it in (*mine, *theirs)):
        return [], loose
    pairs = list(zip(mine, theirs, strict=True))
    if any(a.place == b.place == "subject" and "." not in a.text for a, b in pairs):
        return [], loose
    if len(pairs) > 1 and not any(a.kind for a, _ in pairs):
        # one of them identifies the subject
        return [], loose
    if any(a.kind != b.kind or _refines(a, b) or _fits(one, other, a, b) for a, b in pairs):
        return [], loose
    kind = "numbers with one unit" if pairs[0][0].kind else "numbers"
    left, right = (", ".join(it.text for it in side) for side in (mine, theirs))
    return [Difference("numbers" if kind == "numbers" else kind, left, right)], []


def _equal(one: Number, other: Number) -> bool:
    return one.kind == other.kind and abs(one.size - other.size) <= _CLOSE * max(1, abs(one.size))


def _refines(one: Number, other: Number) -> bool:
    """Return whether one is more exact than the other, as version 3.11.4 is than 3.11."""
    short, long = sorted((one.text, other.text), key=len)
    return not one.kind and long.startswith(f"{short}.")


def _fits(one: ParsedClaim, other: ParsedClaim, mine: Number, theirs: Number) -> bool:
    """Return whether one gives a bound and the other a value inside it."""
    bounds = [claim.keys & _BOUNDS for claim in (one, other)]
    if bool(bounds[0]) == bool(bounds[1]):
        return bool(bounds[0]) and bounds[0] != bounds[1]
    bound, value = (mine.size, theirs.size) if bounds[0] else (theirs.size, mine.size)
    kind = bounds[0] or bounds[1]
    return value <= bound if "maximum" in kind else value >= bound


def _days(one: ParsedClaim, other: ParsedClaim) -> tuple[list[Difference], list[str]]:
    left, right = ({(it.kind, it.name): it.text for it in claim.days} for claim in (one, other))
    mine = [key for key in left if key not in right]
    theirs = [key for key in right if key not in left]
    loose = [*(left[key] for key in mine), *(right[key] for key in theirs)]
    if all(_in_subject(claim, keys) for claim, keys in ((one, mine), (other, theirs))):
        return [], loose
    if not mine or [kind for kind, _ in mine] != [kind for kind, _ in theirs]:
        return [], loose
    if any(_is_part(a, b) for (_, a), (_, b) in zip(mine, theirs, strict=True)):
        return [], loose
    one_day, other_day = ", ".join(left[k] for k in mine), ", ".join(right[k] for k in theirs)
    return [Difference("dates", one_day, other_day)], []


def _in_subject(claim: ParsedClaim, keys: list[tuple[str, str]]) -> bool:
    """Return whether one of these days is part of the subject, as in `the weekly report`."""
    return any((it.kind, it.name) in keys and it.place == "subject" for it in claim.days)


def _is_part(one: str, other: str) -> bool:
    """Return whether one date is a less exact form of the other."""
    short, long = sorted((one, other), key=len)
    return len(short) < len(long) and (long.startswith(short) or short in long.split())


def _opposites(one: ParsedClaim, other: ParsedClaim) -> tuple[list[Difference], list[str]]:
    left, right = ({it.pair: it for it in claim.opposites} for claim in (one, other))
    found = [
        Difference(
            "opposites",
            left[pair].text,
            right[pair].text,
            left[pair].place == right[pair].place == "subject",
            pair in _ADVERBS,
        )
        for pair in left
        if pair in right and left[pair].side != right[pair].side
    ]
    lacking = (left.keys() ^ right.keys()) - _ADVERBS
    return found, sorted(lacking)


def _shared_opposites(one: ParsedClaim, other: ParsedClaim) -> frozenset[str]:
    sides = {(it.pair, it.side) for it in one.opposites}
    return frozenset(it.pair for it in other.opposites if (it.pair, it.side) in sides)


_WIDEST = 3
"""Words of a value."""


class ReplacedValue(NamedTuple):
    """A value of one statement and its replacement in the other."""

    old: str
    new: str


class _Token(NamedTuple):
    key: str
    """The stem; digits for a number word."""
    start: int
    end: int


def find_replaced_values(old: str, new: str) -> tuple[ReplacedValue, ...]:
    """Return the values of the statement `old` that `new` does not name, with their replacements;
    none where the statements differ in more than values.
    """
    found = find_differences(parse_claim(old), parse_claim(new)).found
    named = [
        ReplacedValue(_written(old, left), _written(new, right))
        for it in found
        for left, right in zip(it.left.split(", "), it.right.split(", "), strict=False)
    ]
    return tuple(it for it in named or _span(old, new) if not find_named_value(new, [it]))


def find_named_value(text: str, values: Iterable[ReplacedValue]) -> str:
    """Return the first of the old values that `text` names, in any spelling of its numbers; ""
    where it names none.
    """
    plain = normalise(strip_markup(text))
    tokens = _tokens(plain)
    return next((it.old for it in values if _places(tokens, it.old)), "")


def replace_values(text: str, values: Iterable[ReplacedValue]) -> str:
    """Return `text` with the old values replaced by the new ones."""
    for old, new in values:
        for start, end in reversed(_places(_tokens(text), old)):
            text = text[:start] + _cased(new, text[start]) + text[end:]
    return text


def _cased(value: str, like: str) -> str:
    """Return a value that begins with a number word in the case of `like`: it may come from the
    beginning of a sentence.
    """
    if value.split()[0].lower() not in known.load_numbers():
        return value
    first = value[0].upper() if like.isupper() else value[0].lower()
    return first + value[1:]


def _written(text: str, value: str) -> str:
    """Return a value as it is written in a text."""
    found = _places(_tokens(text), value)
    return text[found[0][0] : found[0][1]] if found else value


def _span(old: str, new: str) -> list[ReplacedValue]:
    """Return the only words that differ, where all others are the same."""
    mine, theirs = _tokens(old), _tokens(new)
    keys = [it.key for it in mine], [it.key for it in theirs]
    steps = SequenceMatcher(None, *keys, autojunk=False).get_opcodes()
    others = [it for it in steps if it[0] != "equal"]
    if len(others) != 1 or others[0][0] != "replace":
        return []
    _, start, end, start_new, end_new = others[0]
    if max(end - start, end_new - start_new) > _WIDEST:
        return []
    return [ReplacedValue(_cut(old, mine[start:end]), _cut(new, theirs[start_new:end_new]))]


def _cut(text: str, tokens: Sequence[_Token]) -> str:
    return text[tokens[0].start : tokens[-1].end]


def _places(tokens: Sequence[_Token], value: str) -> list[tuple[int, int]]:
    """Return the places where the words of a value follow each other."""
    wanted = [it.key for it in _tokens(value)]
    count = len(wanted)
    return [
        (tokens[at].start, tokens[at + count - 1].end)
        for at in range(len(tokens) - count + 1 if wanted else 0)
        if [it.key for it in tokens[at : at + count]] == wanted
    ]


def _tokens(text: str) -> list[_Token]:
    return [
        _Token(_key(match.group()), match.start(), match.end())
        for match in TOKEN.finditer(lower_text(text))
    ]


def _key(token: str) -> str:
    return stem_word(known.load_numbers().get(token, token))
