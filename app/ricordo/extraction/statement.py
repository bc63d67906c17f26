"""What the person said that is worth remembering: found by patterns, sentence by sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

from ricordo.extraction.dates import plausible, said_days
from ricordo.extraction.sentence import Sentence, sentences, without_quotations
from ricordo.lexicon import lowered, pattern
from ricordo.search.words import content_words, words
from ricordo.secrets import find_secrets

_FEWEST_WORDS = 3
"""Words that name something, below which a sentence states nothing by itself."""
_MOST_BEFORE = 3
"""Sentences before a bare “remember that” which it may mean."""
_MOST_BEHIND = 2
"""Sentences behind a statement that tell why."""
_FURTHEST = timedelta(days=550)
_CODE = re.compile(
    r"`[^`]+`|\w+\(\)|\b[a-z]+[A-Z]\w*|\b\w+_\w+\b|\b[\w/-]+\.(?:py|go|ts|js|rs|java|c|h|md|json|toml|ya?ml|txt|sh)\b"
)
_NAME = re.compile(r"(?<=\s)[A-Z][a-z][\w-]*|#[a-z][\w-]+")
_ADDRESS = re.compile(r"https?://[^\s<>\"']+")


class StatementKind(StrEnum):
    """Why it is worth remembering."""

    REQUEST = "request"
    """The person asked for it."""
    CORRECTION = "correction"
    """The person set the agent right."""
    PREFERENCE = "preference"
    """How the person wants it, from now on, or what the person is like."""
    DECISION = "decision"
    DEADLINE = "deadline"
    POINTER = "pointer"
    """Where something is kept that agents cannot see."""


@dataclass(frozen=True, slots=True)
class Saying:
    """What was said in one turn that is worth remembering."""

    kind: StatementKind
    type: str
    """Of the note that should hold it: user, feedback, project or reference."""
    statement: tuple[Sentence, ...]
    why: tuple[Sentence, ...] = ()

    @property
    def quotes(self) -> tuple[str, ...]:
        """The words themselves, as they stand."""
        return tuple(it.text for it in (*self.statement, *self.why))

    @property
    def text(self) -> str:
        """What is stated."""
        return " ".join(it.text for it in self.statement)


def find_saying(message: str, day: date, *, is_answer: bool) -> Saying | None:
    """Return what is worth remembering of a `message` that the person wrote on `day`; None where
    nothing is. `is_answer` says whether an agent had spoken before.

    A message with a credential is left alone: no part of it may be quoted.
    """
    if find_secrets(message):
        return None
    said, day = sentences(message), plausible(day)
    own = without_quotations(message)
    judged = [_Judged(said, number, own, day, is_answer=is_answer) for number in range(len(said))]
    for kind in (_requested, _by_strength, _by_signs):
        found = kind(judged)
        if found is not None:
            return found
    return None


class _Judged:
    """A sentence and what speaks for keeping it."""

    def __init__(
        self, said: Sequence[Sentence], number: int, own: str, day: date, *, is_answer: bool
    ) -> None:
        self.said = said
        self.number = number
        self.sentence = said[number]
        self.plain = lowered(self.sentence.text)
        self._own = lowered(own[self.sentence.start : self.sentence.end])
        self.is_answer = is_answer
        self._day = day

    def has(self, part: str) -> bool:
        """Whether an expression under `part` stands in it, outside of quotation marks."""
        return bool(pattern(part).search(self._own))

    @property
    def states(self) -> bool:
        """Whether it says something that may hold for long."""
        asks = self.sentence.is_question and not self.has("polite")
        return not (asks or self.has("guess") or self.has("unreal") or self.has("known"))

    @property
    def is_bare(self) -> bool:
        """Whether nothing is left of it but the wish that something be remembered."""
        rest = pattern("request").sub(" ", self.plain)
        return len(content_words(words(pattern("opening").sub(" ", rest)))) < _FEWEST_WORDS

    @property
    def objects(self) -> bool:
        """Whether it, or the sentence before it, sets the agent right."""
        if not self.is_answer:
            return False
        return bool(pattern("objection").match(self._opening))

    @property
    def _opening(self) -> str:
        before = lowered(self.said[self.number - 1].text) if self.number else ""
        is_short = 0 < len(before) <= 12
        return f"{before} {self.plain}" if is_short else self.plain

    @property
    def is_order(self) -> bool:
        """Whether it tells the agent what to do."""
        return bool(pattern("order").search(self._without_opening))

    @property
    def is_rule(self) -> bool:
        """Whether it says how something is to be done from now on."""
        return self.has("standing") or (self.has("standing_order") and self.is_order)

    @property
    def _without_opening(self) -> str:
        plain = self.plain
        for _ in range(3):
            match = pattern("opening").match(plain)
            plain = plain[match.end() :].lstrip(" ,:;-—") if match else plain
        return plain

    @property
    def is_of_code(self) -> bool:
        """Whether it names parts of programs, of which the code tells more."""
        return bool(_CODE.search(_ADDRESS.sub("", self.sentence.text)))

    @property
    def points_somewhere(self) -> bool:
        """Whether it says where something is kept, by an address or a name."""
        text = self.sentence.text
        found = pattern("pointer").search(self.plain)
        is_named = bool(_ADDRESS.search(text) or (found and _NAME.search(text, found.start())))
        return found is not None and is_named and not self.is_of_code

    @property
    def days_ahead(self) -> bool:
        """Whether it names a day to come, and that something happens on it."""
        coming = [
            it.day
            for it in said_days(self.sentence.text, self._day)
            if it.day and self._day + timedelta(days=1) < it.day < self._day + _FURTHEST
        ]
        return bool(coming) and self.has("appointment")

    @property
    def is_for_once(self) -> bool:
        """Whether it is about this hour alone."""
        return self.has("once")


def _requested(judged: Sequence[_Judged]) -> Saying | None:
    """What the person asked to be remembered; where the wish stands alone, what was said before."""
    for it in judged:
        if it.sentence.is_question or it.has("unreal") or not it.has("request"):
            continue
        if it.has("guess") and it.is_bare:
            continue
        meant = _meant(it, judged)
        if meant:
            return _saying(StatementKind.REQUEST, meant, _reasons(meant[-1], judged))
    return None


def _meant(wish: _Judged, judged: Sequence[_Judged]) -> list[_Judged]:
    """Return the sentences that a wish to remember is about."""
    points_back = wish.has("request_behind")
    if not wish.is_bare and not points_back:
        return [wish]
    before = _before(wish, judged) if wish.is_bare or points_back else []
    if before:
        return before
    return [wish] if not wish.is_bare else _behind(wish, judged)


def _before(wish: _Judged, judged: Sequence[_Judged]) -> list[_Judged]:
    first = max(0, wish.number - _MOST_BEFORE)
    return [it for it in judged[first : wish.number] if _says_something(it)]


def _behind(wish: _Judged, judged: Sequence[_Judged]) -> list[_Judged]:
    return [it for it in judged[wish.number + 1 :][:1] if _says_something(it)]


def _says_something(it: _Judged) -> bool:
    is_wish = it.has("request") and it.is_bare
    return it.states and not is_wish and len(content_words(words(it.plain))) >= 2


def _by_strength(judged: Sequence[_Judged]) -> Saying | None:
    """What is so plainly a rule, a decision, a date or about the person that nothing else is
    needed.
    """
    for it in judged:
        if not it.states or it.is_for_once:
            continue
        kind = _plain_kind(it)
        if kind is None:
            continue
        meant = [it] if _is_whole(it) else [*_neighbour(it, judged), it]
        meant.sort(key=lambda each: each.number)
        if any(_is_whole(each) for each in meant):
            meant += _more_of_it(meant[-1], judged)
            return _saying(kind, meant, _reasons(meant[-1], judged), is_self=it.has("self"))
    return None


def _more_of_it(last: _Judged, judged: Sequence[_Judged]) -> list[_Judged]:
    """Return the sentences right behind the last one that state something of the kind as well."""
    found: list[_Judged] = []
    for each in judged[last.number + 1 :]:
        is_kind = _says_something(each) and not each.is_for_once and _plain_kind(each) is not None
        if each.sentence.paragraph != last.sentence.paragraph or not is_kind:
            break
        found.append(each)
    return found


def _plain_kind(it: _Judged) -> StatementKind | None:
    if it.is_rule:
        return StatementKind.CORRECTION if it.objects else StatementKind.PREFERENCE
    if it.has("self"):
        return StatementKind.PREFERENCE
    is_settled = it.has("decision") and (it.has("reason") or not it.has("errand"))
    if is_settled and (it.objects or it.has("reason") or not it.is_of_code):
        return StatementKind.DECISION
    if it.points_somewhere:
        return StatementKind.POINTER
    if it.has("told") and not it.is_of_code:
        return StatementKind.DECISION
    return StatementKind.DEADLINE if it.days_ahead else None


def _is_whole(it: _Judged) -> bool:
    fewest = _FEWEST_WORDS - it.is_rule
    return len(content_words(words(it.plain))) >= fewest


def _neighbour(it: _Judged, judged: Sequence[_Judged]) -> list[_Judged]:
    near = [each for each in judged if abs(each.number - it.number) == 1]
    return [each for each in near if _says_something(each)][:1]


def _sets_right(it: _Judged) -> bool:
    """Whether it objects to what the agent said or did, and says how it should be, and not how."""
    is_norm = it.has("norm") or it.has("prohibition")
    return it.objects and is_norm and (it.has("contrast") or it.has("reason"))


def _forbids(it: _Judged) -> bool:
    """Whether it allows nothing else, and tells why or until when."""
    return it.has("strict") and it.has("reason") and not it.is_of_code


def _by_signs(judged: Sequence[_Judged]) -> Saying | None:
    """What several weaker signs speak for together."""
    for it in judged:
        if not it.states or (it.is_for_once and not it.objects) or not _is_whole(it):
            continue
        if not (_sets_right(it) or _forbids(it)):
            continue
        kind = StatementKind.PREFERENCE if it.is_order else StatementKind.DECISION
        return _saying(StatementKind.CORRECTION if it.objects else kind, [it], _reasons(it, judged))
    return None


def _reasons(it: _Judged, judged: Sequence[_Judged]) -> list[_Judged]:
    """Return the sentences right behind a statement that tell why, or go on with it."""
    found: list[_Judged] = []
    for each in judged[it.number + 1 :]:
        is_near = each.sentence.paragraph == it.sentence.paragraph
        if not is_near or len(found) == _MOST_BEHIND or not _says_something(each):
            break
        if each.is_for_once or (each.is_order and not each.is_rule):
            break
        found.append(each)
    return found


def _saying(
    kind: StatementKind, meant: Sequence[_Judged], why: Sequence[_Judged], *, is_self: bool = False
) -> Saying:
    return Saying(
        kind,
        _type(kind, meant, is_self=is_self),
        tuple(it.sentence for it in meant),
        tuple(it.sentence for it in why),
    )


def _type(kind: StatementKind, meant: Sequence[_Judged], *, is_self: bool) -> str:
    """Return the type of the note that should hold it."""
    if is_self or any(it.has("self") for it in meant):
        return "user"
    is_address = any(_ADDRESS.search(it.sentence.text) for it in meant)
    if kind is StatementKind.POINTER or (is_address and kind is StatementKind.REQUEST):
        return "reference"
    if kind in (StatementKind.DECISION, StatementKind.DEADLINE):
        return "project"
    if kind in (StatementKind.PREFERENCE, StatementKind.CORRECTION) or any(
        it.is_order or it.is_rule for it in meant
    ):
        return "feedback"
    return "project"
