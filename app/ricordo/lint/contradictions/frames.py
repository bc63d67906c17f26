"""Compare whole sentences in free wording: what they share, in what they differ, what keeps them
apart.

Two sentences on one subject seldom have the same words. What counts is what both name, values of
one dimension (units, versions, ports, dates, tools), the sides of an alternative (done or open, to
ask or not to ask), order, owners, places and what only one of them denies; and that they are not
about different cases, times, stages or environments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from ricordo.lexicon import lower_text
from ricordo.lint.contradictions import words as known
from ricordo.lint.contradictions.claim import (
    SHORT_NOT,
    Claim,
    Value,
    Word,
    read_claim,
    strip_markup,
    tokenise,
)
from ricordo.patterns import compile_lazily

_OF_NAME, _OF_WORD, _OF_VAGUE = 2.0, 1.0, 0.5
"""Weights of what is shared: a name, a word, a word for a kind of thing."""
_ON_SUBJECT = 2.0
"""Weight of what is shared from which on two sentences surely are on one subject."""
_MOST_SHARED = 4.0
"""Weight of what is shared from which on more makes no difference."""
_LARGE = 1000.0
_ROUND = 0.08
"""Share in which large quantities may differ: a month is about four weeks of seconds."""
_ALIKE = 5
"""Letters with which two forms of one word begin."""
_PART = 6
"""Letters of a word that is a part of another."""
_CUT = 10
"""Characters that a claim may be shorter than its sentence, with nothing cut off."""
_FEW = 4
"""Words of a sentence so short that each belongs to its subject or its value."""
_BESIDE, _CHARACTERS = 3, 4
"""Words, and the characters of a word in a script without blanks, between a name and its denial."""
_FIRST_WORDS = 3
"""Words behind `first` that are done first."""
_IDEOGRAPHS = compile_lazily(r"[\u3400-\u9fff々]{2,}|[\u30a1-\u30fa\u30fc]{2,}")
"""A run of Han characters or katakana: words without the grammar between them."""
_KATAKANA = "\u30ff"
_HANGUL, _HANGUL_END = "\uac00", "\ud7af"
_MARK = compile_lazily(r"\A\s*[-*+]\s+")
_LABEL = compile_lazily(r"\s*(?:[-*+]\s+)?\*\*[^*\n]{1,40}?(?::\*\*|\*\*\s*[:：])\s*")
_CODE = compile_lazily(r"`([^`\n]+)`")
_PAUSE = compile_lazily(r"[,，、;；.。:](?:\s|\Z|(?=[^\x00-\x7f]))|\s[–—-]\s")
_PLACE = compile_lazily(r"/|\w\.\w|\w-\w+-\d|:\d|\w-\w")
_YEAR = compile_lazily(r"\d{4}-")
_NUMBERED_TICKET = compile_lazily(r"#\d+|\b[A-Z][A-Z0-9]+-\d+")
_TICKET = compile_lazily(r"\w*#\d+\Z|[a-z][a-z0-9]{1,9}-\d+\Z")
_NUMBERED = compile_lazily(r" \d{1,2}\Z")
_DECIMAL = compile_lazily(r"(?<![\w.])v?(\d+\.\d+(?:\.\d+)*)(?![\w.]*\w)")
_AT_LEAST = compile_lazily(r"\d\+|≥|>=")
_EXACT_UNITS = frozenset(("bytes", "time", "share", "length", "pixels", "weight", "speed"))
_EXCLUSIVE = (_EXACT_UNITS - {"share"}) | {
    "dollars",
    "euros",
    "pounds",
    "yen",
    "date",
    "clock",
    "weekday",
}
"""Kinds of values of which a subject has one."""


@dataclass(frozen=True, eq=False)
class ComparedSentence:
    """What a whole statement names and what it signals."""

    claim: Claim
    marked: str
    """The sentence as it is written."""
    text: str
    """In lower case, without marks."""
    codes: frozenset[str]
    """What it has between code marks."""

    @cached_property
    def tokens(self) -> frozenset[str]:
        """All its words."""
        return frozenset(token for token, _ in tokenise(self.text))

    @cached_property
    def is_past(self) -> bool:
        """Whether it tells what was so; what is gone is a state of today."""
        return "gone" not in self.signs and bool(known.load_pattern("past").search(self.text))

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """Its claim, and those of the clauses that are no part of it."""
        if len(self.claim.text) >= len(self.text) - _CUT:
            return (self.claim,)
        return (self.claim, *(it.claim for it in self.clauses[1:]))

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """Its values, each once."""
        found = {(it.kind, it.key): it for claim in reversed(self.claims) for it in claim.values}
        return tuple(found.values())

    @cached_property
    def words(self) -> dict[str, Word]:
        """Its content words by key, things with a name included."""
        found = {
            it.key: it
            for claim in reversed(self.claims)
            for it in claim.words
            if it.key and (it.text[0] < "\u3040" or _is_hangul(it))
        }
        for value in self.values:
            if value.kind == "tool":
                key = str(value.key)
                found[key] = Word(key, value.text, value.at, value.place, True)
        return found

    @cached_property
    def pieces(self) -> frozenset[str]:
        """The words in katakana, and all two neighbouring Han characters."""
        found: set[str] = set()
        for match in _IDEOGRAPHS.finditer(self.text):
            run = match.group()
            if run[0] <= _KATAKANA:
                found.add(run)
            else:
                found.update(run[at : at + 2] for at in range(len(run) - 1))
        return frozenset(found) - known.load_words("filler") - known.load_persons().keys()

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of its words and pieces."""
        return self.pieces.union(self.words)

    @cached_property
    def size(self) -> float:
        """The number of its words; pieces of one run overlap."""
        runs = len(_IDEOGRAPHS.findall(self.text))
        return len(self.words) + max(runs, len(self.pieces) / 2)

    @property
    def cues(self) -> Mapping[str, re.Pattern[str]]:
        """The patterns of the signs that it may give."""
        return known.load_cues(known.find_script(self.text))

    @cached_property
    def signs(self) -> frozenset[str]:
        """The signs that it gives, such as `denial` and `opt-in`."""
        plain = strip_markup(_blank_commands(_LABEL.sub("", self.marked)))
        text = SHORT_NOT.sub(" not", lower_text(plain))
        found = {name for name, pattern in self.cues.items() if pattern.search(text)}
        tokens = {token for token, _ in tokenise(text)}
        parts = ("so", "may", "need")
        denied = {word for part in parts for word, no in known.load_signs(part).items() if no}
        if not tokens.isdisjoint(known.load_words("negation") | denied):
            found.add("denial")
        if not tokens.isdisjoint(known.load_words("gone")):
            found.add("gone")
        if "need" in found:
            # nothing without asking: it asks
            found -= {"need", "denial"}
            if "free" in found:
                found = found - {"free"} | {"ask"}
        elif "free" in found:
            found -= {"ask", "denial"}
        return frozenset(found)

    @cached_property
    def scopes(self) -> tuple[frozenset[str], ...]:
        """What limits it, by kind: where, in which stage, on which branch, in which period."""
        tokens = self.tokens
        synonyms = known.load_synonyms()
        return (
            frozenset(
                synonyms.get(it, it)
                for it in tokens | self.pieces & known.load_words("environments")
                if it in known.load_words("environments")
            ),
            frozenset(it.group() for it in known.load_pattern("stages").finditer(self.text))
            | frozenset(it.key for it in self.claim.words if _NUMBERED.search(it.key)),
            frozenset(it for it in self.codes if known.load_pattern("branches").fullmatch(it))
            | frozenset(it.group() for it in known.load_branch().finditer(self.text)),
            frozenset(it.group() for it in known.load_pattern("periods").finditer(self.text)),
        )

    @cached_property
    def clauses(self) -> tuple[ComparedSentence, ...]:
        """Its clauses, in order."""
        parts = [it for it in _PAUSE.split(self.marked) if it.strip()]
        return tuple(map(read_sentence, parts)) if len(parts) > 1 else (self,)

    @cached_property
    def denied_names(self) -> frozenset[str]:
        """The names of what is not to be used: those right beside a denial."""
        plain = SHORT_NOT.sub(" not", lower_text(_blank_commands(self.marked)))
        denials = [it.span() for it in self.cues["denial"].finditer(plain)]
        denials += [it.span() for it in known.load_denials().finditer(plain)]
        return frozenset(
            name
            for name, text in self.used_names.items()
            if " " not in name
            for span in _find_places(plain, text)
            if any(_is_beside(plain, span, it) for it in denials)
        )

    @cached_property
    def absent(self) -> frozenset[str]:
        """The keys of what it says is not there: the nouns beside `no` or `without`."""
        found: set[str] = set()
        for match in known.load_absence(known.find_script(self.text)).finditer(self.text):
            found |= read_sentence(_get_last(match.groups())).keys
        return frozenset(found) - known.load_words("vague") - {str(it) for it in self.tools}

    @cached_property
    def asserted_keys(self) -> frozenset[str]:
        """The keys of the clauses that deny nothing."""
        return frozenset(key for it in self.clauses if "denial" not in it.signs for key in it.keys)

    @cached_property
    def used_names(self) -> dict[str, str]:
        """Its codes and tools as they are written, by their keys, without branches and
        environments.
        """
        apart = known.load_words("environments")
        branches = known.load_pattern("branches")
        found = {
            str(it.key): it.text for it in self.values if it.kind == "tool" and it.text not in apart
        }
        return found | {it: it for it in self.codes if not branches.fullmatch(it)}

    @cached_property
    def asserted_names(self) -> frozenset[str]:
        """The codes and tools of the clauses that deny nothing, also as the first word of a code:
        the command that it runs.
        """
        names = [it.used_names for it in self.clauses if "denial" not in it.signs]
        return frozenset(
            part for them in names for it in them for part in (it, it.split(" ", 1)[0])
        )

    @cached_property
    def topic(self) -> frozenset[str]:
        """The keys of what it is about, by their place; empty where that does not show."""
        pattern = known.load_topic(known.find_script(self.text))
        if pattern and (found := pattern.match(self.text)):
            return read_sentence(found[1]).keys - known.load_words("vague")
        return self.claim.subject - known.load_words("vague")

    @cached_property
    def case(self) -> frozenset[str]:
        """The words of the condition under which it holds, of its first clause: what follows is
        about another thing.
        """
        clause = self.clauses[0]
        found = self.cues["condition"].search(clause.text)
        if found is None:
            return frozenset()
        if found.group()[0] < "\u3040":
            return read_sentence(clause.text[found.start() :]).keys | {found.group()}
        return read_sentence(clause.text[: found.end()]).keys | {found.group()}

    @cached_property
    def first(self) -> frozenset[str]:
        """The keys of what is done first: the words behind `first`, or before `before`."""
        found = known.load_pattern("first").search(self.text)
        behind = _list_first_keys(self.text[found.end() :]) if found else []
        if behind:
            return frozenset(behind[:_FIRST_WORDS])
        found = found or known.load_pattern("before").search(self.text)
        before = _list_first_keys(self.text[: found.start()]) if found else []
        return frozenset(before[-_FIRST_WORDS:])

    @cached_property
    def persons(self) -> frozenset[str]:
        """The names that may be of persons, of the clauses that say who does something."""
        owning = [it for it in self.clauses if "owner" in it.signs] or [self]
        named = {
            it
            for clause in owning
            for match in known.load_persons_named().finditer(clause.text)
            for it in match.groups()
            if it
        }
        return frozenset(named or (it.text for clause in owning for it in _list_capitals(clause)))

    @cached_property
    def last(self) -> frozenset[str]:
        """The keys of what is done last: the words before or behind `last`."""
        found = known.load_pattern("last").search(self.text)
        if found is None:
            return frozenset()
        before = _list_first_keys(self.text[: found.start()])[-_FIRST_WORDS:]
        return frozenset(before or _list_first_keys(self.text[found.end() :])[:_FIRST_WORDS])

    @cached_property
    def places(self) -> frozenset[str]:
        """What it names as a place: paths, addresses, hosts and regions."""
        return frozenset(it for it in self.codes if _PLACE.search(it) and " " not in it)

    @cached_property
    def tools(self) -> frozenset[object]:
        """The keys of the tools that it names."""
        return frozenset(it.key for it in self.values if it.kind == "tool")


def _blank_commands(text: str) -> str:
    """Return a text without its codes of several words, whose options say nothing."""
    return _CODE.sub(lambda match: " " if " " in match[1] else match[0], text)


def _find_places(text: str, name: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each place where a text has a name as a whole word."""
    start = text.find(name)
    while start >= 0:
        end = start + len(name)
        if not text[max(0, start - 1) : start].isalnum() and not text[end : end + 1].isalnum():
            yield start, end
        start = text.find(name, end)


def _is_beside(text: str, name: tuple[int, int], denial: tuple[int, int]) -> bool:
    """Return whether a denial and a name belong together: in one clause, few words apart."""
    between = text[denial[1] : name[0]] if denial[1] <= name[0] else text[name[1] : denial[0]]
    if _PAUSE.search(between) or denial[0] < name[0] < denial[1]:
        return False
    if between.isascii():
        return len(between.split()) <= _BESIDE
    return len(between.replace(" ", "")) <= _BESIDE * _CHARACTERS


def _list_capitals(sentence: ComparedSentence) -> Iterator[Word]:
    """Yield the words with a capital that are no codes, do not begin the sentence and have no
    article.
    """
    articles = known.load_words("articles")
    words = sentence.text.split()
    for it in sentence.claim.words:
        if it.is_capital and it.text.isalpha() and it.text[0] < "\u3040" and not it.is_code:
            at = next((n for n, word in enumerate(words) if it.text in word), 0)
            is_compound = it.text != words[at].strip(".,:;()") if words else True
            if (at or len(words) < _FEW) and not is_compound and words[at - 1] not in articles:
                yield it


def _is_hangul(word: Word) -> bool:
    return _HANGUL <= word.text[0] <= _HANGUL_END


@lru_cache(maxsize=1 << 13)
def read_sentence(text: str) -> ComparedSentence:
    """Return what a statement names and signals."""
    text = _MARK.sub("", text)
    codes = {lower_text(match[1]).removeprefix("./") for match in _CODE.finditer(text)}
    return ComparedSentence(
        read_claim(text), text, lower_text(strip_markup(text)), frozenset(codes)
    )


def has_ticket(text: str) -> bool:
    """Return whether a statement names a ticket."""
    return bool(_NUMBERED_TICKET.search(text))


def share_name(left: str, right: str) -> bool:
    """Return whether two statements name the same code or ticket."""
    return not _list_written_names(left).isdisjoint(_list_written_names(right))


@lru_cache(maxsize=1 << 13)
def _list_written_names(text: str) -> frozenset[str]:
    return frozenset((*_CODE.findall(text), *_NUMBERED_TICKET.findall(text)))


def is_ticket(key: str) -> bool:
    """Return whether the key of a word is that of a ticket."""
    return bool(_TICKET.match(key))


def _strip_label(left: str, right: str) -> tuple[str, str]:
    """Return two statements without the label that both have: it is no subject."""
    labels = _LABEL.match(left), _LABEL.match(right)
    if labels[0] and labels[1] and labels[0].group() == labels[1].group():
        return left[labels[0].end() :], right[labels[1].end() :]
    return left, right


class FrameDifference(NamedTuple):
    """In what two sentences differ."""

    kind: str
    left: str
    right: str
    is_exclusive: bool = False
    """Whether a subject can have only one of both."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two sentences side by side."""

    one: ComparedSentence
    other: ComparedSentence

    @cached_property
    def shared(self) -> tuple[float, int]:
        """The weight of what both name, and the number of its parts."""
        return _weigh_shared(self.one, self.other)

    @cached_property
    def differences(self) -> tuple[FrameDifference, ...]:
        """In what they differ, exclusive values first."""
        found = (
            *_compare_values(self.one, self.other),
            *_compare_sides(self.one, self.other),
            *_compare_use(self.one, self.other),
            *_compare_presence(self.one, self.other),
            *_compare_owners(self.one, self.other),
            *_compare_signs(self.one, self.other),
        )
        return tuple(sorted(found, key=lambda it: not it.is_exclusive))

    @property
    def difference(self) -> FrameDifference | None:
        """The first of their differences; without one that only one of them names something, as
        long as each does.
        """
        if self.differences:
            return self.differences[0]
        left, right = _list_names(self.one, self.other), _list_names(self.other, self.one)
        return FrameDifference("value", left, right) if left and right else None

    @cached_property
    def features(self) -> dict[str, float]:
        """What speaks for and against a contradiction, by the names in `likelihood.toml`."""
        one, other = self.one, self.other
        signs, both = one.signs | other.signs, one.signs & other.signs
        weight, _ = self.shared
        found: dict[str, float] = {
            "subject": min(weight, _MOST_SHARED) / _MOST_SHARED,
            "same code": bool(one.codes & other.codes),
            "same topic": _count_shared(one.topic, other.topic) >= 1,
            "own codes": bool(one.codes - other.codes and other.codes - one.codes),
            "own topics": self.has_own_topics,
            "other time": self.is_other_time,
            "other case": self.is_other_case,
            "same tool": bool(one.tools & other.tools),
            "denial": ("denial" in one.signs) != ("denial" in other.signs),
            "gone": ("gone" in one.signs) != ("gone" in other.signs),
            "all": "all" in signs,
            "only": "only" in signs,
            "default": "default" in both,
            "owner": "owner" in both,
            "place": "place" in both,
            "free wording": not self.is_short,
            "exclusive": any(it.is_exclusive for it in self.differences),
        }
        for it in self.differences:
            found[f"differs in {_DIMENSIONS.get(it.kind.split()[0], 'quantity')}"] = 1
        return {name: float(value) for name, value in found.items() if value}

    @property
    def is_other_time(self) -> bool:
        """Whether one of them is about the past, a plan or a change that the other is before."""
        signs = self.one.signs | self.other.signs
        return not signs.isdisjoint(("plan", "update")) or self.one.is_past != self.other.is_past

    @property
    def is_other_case(self) -> bool:
        """Whether they hold under different conditions, or one names an exception."""
        cases = self.one.case, self.other.case
        are_apart = all(cases) and cases[0].isdisjoint(cases[1])
        return are_apart or "exception" in self.one.signs | self.other.signs

    @property
    def is_other_scope(self) -> bool:
        """Whether they are about different environments, stages, branches or periods."""
        return any(
            mine - its and its - mine
            for mine, its in zip(self.one.scopes, self.other.scopes, strict=True)
        )

    @cached_property
    def has_own_instances(self) -> bool:
        """Whether each names its own instance of one kind, such as two services, or its own
        person.
        """
        return _have_own_heads(self.one, self.other) or _have_own_persons(self.one, self.other)

    @cached_property
    def has_own_topics(self) -> bool:
        """Whether neither mentions what the other one is about."""
        one, other = self.one, self.other
        return bool(one.topic and other.topic) and not (
            _count_shared(one.topic, other.keys) or _count_shared(other.topic, one.keys)
        )

    @cached_property
    def is_same_quantity(self) -> bool:
        """Whether both give the same quantity."""
        return any(
            mine.kind == its.kind and isinstance(mine.key, float) and _are_close(mine.key, its.key)
            for mine in self.one.values
            for its in self.other.values
            if mine.kind in _EXACT_UNITS
        )

    @property
    def is_comparable(self) -> bool:
        """Whether both assert something on one subject in one scope, and not the same quantity."""
        is_apart = self.is_other_scope or self.has_own_instances or self.is_same_quantity
        return self.are_asserted and self.shared[0] > 0 and not is_apart

    @property
    def are_asserted(self) -> bool:
        """Whether both say that something is so."""
        return all(
            it.claim.is_assertion and not it.text.endswith(("?", "？"))
            for it in (self.one, self.other)
        )

    @property
    def is_short(self) -> bool:
        """Whether both have so few words that they can be compared word by word."""
        return max(self.one.size, self.other.size) <= _FEW

    def find_exclusive(self) -> FrameDifference | None:
        """Return the difference that excludes one of both, where they surely are about one subject
        in one case; else None.
        """
        # what costs most comes last
        if (
            self.is_short
            or not self.are_asserted
            or self.shared[0] < _OF_WORD
            or self.is_other_scope
            or self.is_same_quantity
            or self.has_own_topics
            or self.is_other_time
            or self.is_other_case
        ):
            return None
        return next((it for it in self.differences if self._is_exclusive(it)), None)

    def _is_exclusive(self, it: FrameDifference) -> bool:
        """Return whether a subject can have only one of both values, and the subject is one."""
        # what is used in one case is in use
        if not it.is_exclusive or (self.is_one_case and it.kind != "use"):
            return False
        # a version has its subject with it, and sides are about what both name
        if it.kind.startswith("version"):
            return True
        weight, count = self.shared
        if it.kind in _DATES and "deadline" in self.one.signs & self.other.signs:
            return weight >= _OF_WORD
        if it.kind in ("side", "owner"):
            return weight >= _OF_WORD and (weight >= _ON_SUBJECT or not self.has_own_instances)
        return weight >= _ON_SUBJECT and (count > 1 or self.is_on_ticket)

    @property
    def is_on_ticket(self) -> bool:
        """Whether both name the same ticket."""
        return bool(self._find_tickets())

    def _find_tickets(self) -> list[str]:
        both = self.one.codes & self.other.codes | self.one.words.keys() & self.other.words.keys()
        return [it for it in both if is_ticket(it)]

    def _is_state_of(self, ticket: str) -> bool:
        """Return whether the clauses that name a ticket give it a state, each another one."""
        states = frozenset(("done", "open"))
        found = [
            [it.signs & states for it in side.clauses if ticket in it.keys | it.codes]
            for side in (self.one, self.other)
        ]
        mine, its = (frozenset[str]().union(*signs) for signs in found)
        return len(mine) == len(its) == 1 and mine != its

    def is_named(self, kind: str) -> bool:
        """Whether the subject has a name that is no word, so that a difference of that kind is one
        also where any two of many statements are compared.
        """
        if kind in ("use", "presence", "side", "order", "place"):
            return any(map(self._is_state_of, self._find_tickets()))
        weight, _ = self.shared
        return weight > _ON_SUBJECT and bool(self.one.codes & self.other.codes)

    @property
    def is_one_case(self) -> bool:
        """Whether only one of them has a condition, of which the other one says nothing."""
        one, other = self.one, self.other
        if bool(one.case) == bool(other.case) or "default" in one.signs & other.signs:
            return False
        case, its = (one.case, other) if one.case else (other.case, one)
        return not _count_shared(case, its.keys)


_DATES = ("date", "clock", "weekday", "month", "often")
_DIMENSIONS = {
    "number": "number",
    "version": "version",
    "port": "port",
    **dict.fromkeys(_DATES, "date"),
    "opposite": "opposites",
    "state": "opposites",
    "side": "side",
    "tool": "tool",
    "order": "order",
    "use": "use",
    "presence": "use",
    "negation": "sign",
    "quantifiers": "sign",
    "owner": "owner",
    "place": "place",
}
"""The dimension of each kind of difference; of others a quantity with a unit."""


@lru_cache(maxsize=1 << 12)
def compare_sentences(left: str, right: str) -> Comparison:
    """Return the comparison of two statements."""
    return Comparison(*map(read_sentence, _strip_label(left, right)))


def _count_shared(one: frozenset[str], other: frozenset[str]) -> float:
    """Return how many of some words another statement has, in any form."""
    vague = known.load_words("vague") | known.load_words("generic")
    return sum(
        0.5 if key in vague else 1.0
        for key in one
        if key in other or any(_are_forms(key, it) for it in other)
    )


def _have_own_heads(one: ComparedSentence, other: ComparedSentence) -> bool:
    """Return whether two instances of one kind are meant, such as two services: the same word
    behind different ones.
    """
    for key in one.words.keys() & other.words.keys():
        if len(key) == 1:
            continue
        mine, its = _qualify(one, key), _qualify(other, key)
        if mine and its and mine not in other.words and its not in one.words:
            return True
    return False


def _have_own_persons(one: ComparedSentence, other: ComparedSentence) -> bool:
    """Return whether the tastes of two persons are meant."""
    tastes = {"like", "dislike"}
    if tastes.isdisjoint(one.signs) or tastes.isdisjoint(other.signs):
        return False
    persons = [
        {it.key for it in sentence.words.values() if it.at == 0} for sentence in (one, other)
    ]
    return all(persons) and persons[0].isdisjoint(other.words) and persons[1].isdisjoint(one.words)


def _qualify(sentence: ComparedSentence, key: str) -> str:
    """Return the key of the word right before a word of the subject; "" where there is none."""
    word = sentence.words[key]
    if word.is_name or (word.place != "subject" and not _is_hangul(word)):
        return ""
    before = next((it for it in sentence.words.values() if it.at == word.at - 1), None)
    # no particle between them
    is_joined = before and (not _is_hangul(word) or f"{before.text} {word.text}" in sentence.text)
    return before.key if before and is_joined else ""


def _weigh_shared(one: ComparedSentence, other: ComparedSentence) -> tuple[float, int]:
    """Return how much two statements share of their subjects, and how many parts that has."""
    weights = [_OF_NAME] * len(one.codes & other.codes)
    vague = known.load_words("vague") | known.load_words("generic")
    used: set[str] = set()
    for key, word in one.words.items():
        its = other.words.get(key) or next(
            (it for it in other.words.values() if it.key not in used and _are_forms(key, it.key)),
            None,
        )
        if its is None or its.key in used:
            continue
        used.add(its.key)
        if word.is_name or its.is_name or word.is_code or its.is_code:
            weights.append(_OF_NAME)
        else:
            weights.append(_OF_VAGUE if not vague.isdisjoint((word.key, word.text)) else _OF_WORD)
    for kind, about in _list_classes(one).items():
        if kind in _list_classes(other):
            weights += [_OF_VAGUE for it in (one, other) if _mentions(it, about)]
    if one.claim.person and one.claim.person == other.claim.person:
        weights.append(_OF_VAGUE)
    counted = [{it.kind for it in _list_counts(sentence)} - {"number"} for sentence in (one, other)]
    weights += [_OF_WORD] * len(counted[0] & counted[1])
    weights += [_OF_WORD for it in (*counted[0], *counted[1]) if _is_named_in(it, one, other)]
    weights += [_OF_VAGUE if it in vague else _OF_WORD for it in one.pieces & other.pieces]
    return sum(weights), len(weights)


def _is_named_in(kind: str, one: ComparedSentence, other: ComparedSentence) -> bool:
    """Return whether a statement names what the other one counts."""
    noun = kind.removeprefix("number of ")
    return noun in one.words or noun in other.words


def _list_classes(sentence: ComparedSentence) -> dict[str, frozenset[str]]:
    """Return the classes of the tools that a statement names, with the words for them."""
    return {kind.name: kind.about for it in sentence.values for kind, _ in it.classes}


def _mentions(sentence: ComparedSentence, about: frozenset[str]) -> bool:
    return not sentence.tokens.isdisjoint(about) or any(
        it in sentence.text for it in about if not it.isascii()
    )


def _are_forms(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if not short:
        return False
    if _HANGUL <= short[0] <= _HANGUL_END:
        return len(short) > 1 and (short in long or short[:2] == long[:2])
    if not (short.isalpha() and long.isalpha()):
        return False
    return (len(short) >= _PART and short in long) or (
        len(short) >= _ALIKE and short[:_ALIKE] == long[:_ALIKE]
    )


def _compare_values(one: ComparedSentence, other: ComparedSentence) -> Iterator[FrameDifference]:
    """Yield the dimensions of which both give values, none of them the same."""
    mine, its = one.values, other.values
    for kind in dict.fromkeys(it.kind for it in mine if it.kind != "tool"):
        left = [it for it in mine if it.kind == kind]
        right = [it for it in its if it.kind == kind]
        if left and right and not any(_are_close(a.key, b.key) for a in left for b in right):
            is_single = all(len({it.key for it in side}) == 1 for side in (left, right))
            is_exclusive = is_single and (kind in _EXCLUSIVE or kind.startswith("version of"))
            if kind == "date":
                # with its year it is the day of a record, or of what was done then
                is_dated = any(_YEAR.match(it.text) for it in (*left, *right))
                is_exclusive &= not is_dated and "done" not in one.signs | other.signs
            yield FrameDifference(kind, left[0].text, right[0].text, is_exclusive)
    versions = [_list_versions(it) for it in (one, other)]
    pairs = [(a, b) for a in versions[0] for b in versions[1]]
    if pairs and not any(
        f"{a[1]}.".startswith(f"{b[1]}.") or f"{b[1]}.".startswith(f"{a[1]}.") for a, b in pairs
    ):
        named = [(a[1], b[1]) for a, b in pairs if a[0] == b[0]]
        is_exclusive = (
            len(pairs) == 1 and bool(named) and not _AT_LEAST.search(f"{one.text} {other.text}")
        )
        yield FrameDifference(
            "version", *(named or [(versions[0][0][1], versions[1][0][1])])[0], is_exclusive
        )
    numbers = [_list_counts(it) for it in (one, other)]
    for count in numbers[0]:
        for its_count in numbers[1]:
            if count.key != its_count.key and (
                _is_counted(count, other) or _is_counted(its_count, one)
            ):
                yield FrameDifference("number", count.text, its_count.text)
    ports = [
        frozenset(map(_get_last, map(re.Match.groups, known.load_port().finditer(it.text))))
        for it in (one, other)
    ]
    if all(ports) and ports[0].isdisjoint(ports[1]):
        is_exclusive = len(ports[0]) == len(ports[1]) == 1
        yield FrameDifference("port", min(ports[0]), min(ports[1]), is_exclusive)
    if numbers[0] and _is_about_all(other):
        yield FrameDifference("number", numbers[0][0].text, "all")
    if numbers[1] and _is_about_all(one):
        yield FrameDifference("number", "all", numbers[1][0].text)


def _list_versions(sentence: ComparedSentence) -> list[tuple[str, str]]:
    """Return the numbers with a point, each with the key of the last word before it."""
    found: list[tuple[str, str]] = []
    for match in _DECIMAL.finditer(sentence.text):
        before = [key for key in _list_first_keys(sentence.text[: match.start()]) if key]
        found.append((before[-1] if before else "", match[1]))
    return found


def _is_about_all(sentence: ComparedSentence) -> bool:
    """Return whether a statement says all instead of a quantity."""
    return "all" in sentence.signs and not any(isinstance(it.key, float) for it in sentence.values)


def _get_last(groups: tuple[str | None, ...]) -> str:
    return next(filter(None, groups), "")


def _list_counts(sentence: ComparedSentence) -> list[Value]:
    return [it for it in sentence.values if it.kind.startswith("number")]


def _is_counted(count: Value, other: ComparedSentence) -> bool:
    """Return whether another statement names what is counted."""
    noun = count.kind.removeprefix("number of ")
    return noun in other.words or any(it.kind == count.kind != "number" for it in other.values)


def _are_close(one: float | str | bool, other: float | str | bool) -> bool:
    """Return whether two values are the same; large quantities may be rounded."""
    if isinstance(one, float) and isinstance(other, float) and max(one, other) > _LARGE:
        return abs(one - other) <= _ROUND * max(one, other)
    return one == other


def _compare_sides(one: ComparedSentence, other: ComparedSentence) -> Iterator[FrameDifference]:
    """Yield what is on two sides: sides of an alternative, tools of one class, what is done
    first.
    """
    for sides in known.load_sides():
        mine, its = (_find_sides(it, sides) for it in (one, other))
        if mine and its and mine != its:
            left, right = (" ".join(sorted(it)) for it in (mine, its))
            yield FrameDifference("side", left, right, len(mine) == len(its) == 1)
    for a in one.values:
        for b in other.values:
            if a.kind == b.kind == "tool" and a.key not in other.words and b.key not in one.words:
                names = dict(a.classes)
                kind = next((it for it, name in b.classes if names.get(it, name) != name), None)
                if kind is not None:
                    is_exclusive = (
                        len(one.tools) == len(other.tools) == 1
                        and _mentions(one, kind.about)
                        and _mentions(other, kind.about)
                    )
                    yield FrameDifference("tool", a.text, b.text, is_exclusive)
    is_other = bool(one.first and other.first) and one.first.isdisjoint(other.first)
    is_other = is_other and _names(other, one.first) and _names(one, other.first)
    if is_other or _count_shared(one.first, other.last) or _count_shared(other.first, one.last):
        left, right = (" ".join(sorted(it.first or it.last)) for it in (one, other))
        yield FrameDifference("order", left, right, is_exclusive=True)


def _compare_use(one: ComparedSentence, other: ComparedSentence) -> Iterator[FrameDifference]:
    """Yield what one statement uses and the other one says not to use."""
    for user, denier in ((one, other), (other, one)):
        commands = {part for it in user.used_names for part in (it, it.split(" ", 1)[0])}
        if commands.isdisjoint(denier.denied_names):
            # the clauses are read only where it matters
            continue
        names = denier.denied_names & user.asserted_names - denier.asserted_names
        if names:
            values = ("in use", "not in use")
            is_exclusive = names.isdisjoint(user.denied_names)
            yield FrameDifference("use", *(values if user is one else values[::-1]), is_exclusive)


def _compare_presence(one: ComparedSentence, other: ComparedSentence) -> Iterator[FrameDifference]:
    """Yield what is there by one statement and not by the other one."""
    for having, lacking in ((one, other), (other, one)):
        absent = (lacking.absent - having.absent) & having.keys
        if absent and absent & having.asserted_keys:
            values = ("there", "not there")
            is_exclusive = "only" not in lacking.signs
            yield FrameDifference(
                "presence", *(values if having is one else values[::-1]), is_exclusive
            )


def _compare_owners(one: ComparedSentence, other: ComparedSentence) -> Iterator[FrameDifference]:
    """Yield the persons who do something by two statements."""
    if "owner" not in one.signs & other.signs or not one.persons.isdisjoint(other.persons):
        return
    if one.persons and other.persons:
        is_exclusive = len(one.persons) == len(other.persons) == 1
        yield FrameDifference("owner", min(one.persons), min(other.persons), is_exclusive)


def _find_sides(sentence: ComparedSentence, sides: tuple[str, str]) -> frozenset[str]:
    """Return on which of two sides a statement is: where it names both, that of its first clause
    with one.
    """
    found = sentence.signs.intersection(sides)
    if len(found) < 2:
        return found
    clauses = (it.signs.intersection(sides) for it in sentence.clauses)
    return next((it for it in clauses if len(it) == 1), found)


def _names(sentence: ComparedSentence, keys: frozenset[str]) -> bool:
    """Return whether a statement has one of some words, in any form."""
    return any(
        it in sentence.words or any(_are_forms(it, key) for key in sentence.words) for it in keys
    )


def _list_first_keys(text: str) -> list[str]:
    """Return the keys of the words of a clause."""
    part = (
        known.load_clause_end().split(text, maxsplit=1)[0]
        if text[:1].isspace() or not text.isascii()
        else text
    )
    return [key for token, _ in tokenise(part) if (key := known.get_word_key(token, ""))]


def _compare_signs(one: ComparedSentence, other: ComparedSentence) -> Iterator[FrameDifference]:
    """Yield the signs that only one of two statements has, or in which both name another."""
    for sign in ("denial", "gone"):
        if (sign in one.signs) != (sign in other.signs):
            texts = ("not", "so") if sign in one.signs else ("so", "not")
            yield FrameDifference("negation", *texts)
    if _is_exception(one, other):
        yield FrameDifference("quantifiers", "all", "not")
    if _is_exception(other, one):
        yield FrameDifference("quantifiers", "not", "all")
    for sentence, its in ((one, other), (other, one)):
        if "only" in sentence.signs and "only" not in its.signs and _list_names(its, sentence):
            texts = ("only", "other") if sentence is one else ("other", "only")
            yield FrameDifference("quantifiers", *texts)
    if "place" in one.signs & other.signs:
        places = one.places - other.codes, other.places - one.codes
        left, right = _list_names(one, other), _list_names(other, one)
        if left and right:
            yield FrameDifference("place", left, right, is_exclusive=all(places))


def _is_exception(whole: ComparedSentence, part: ComparedSentence) -> bool:
    """Return whether one statement denies what another says of all."""
    return "all" in whole.signs and "denial" in part.signs and "all" not in part.signs


def _list_names(one: ComparedSentence, other: ComparedSentence) -> str:
    """Return what one statement names and the other does not."""
    words = {it.text for it in one.words.values() if it.is_name or it.is_capital}
    named = {it.text for it in other.words.values()}
    return ", ".join(
        sorted((words - named) | (one.codes - other.codes) | (one.pieces - other.pieces))
    )
