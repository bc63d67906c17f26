"""Find statements of the user that are worth remembering, by patterns, sentence by sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

from ricordo.extraction.dates import clamp_day, find_days
from ricordo.extraction.sentence import Sentence, mask_quotations, split_message
from ricordo.lexicon import lower_text, statement_pattern
from ricordo.search.words import content_words, split_words
from ricordo.secrets import find_secrets

_FEWEST_WORDS = 3
"""Content words; a sentence with fewer states nothing by itself."""
_MOST_BEFORE = 3
"""Sentences before a bare “remember that” to which it may refer."""
_MOST_AFTER = 2
"""Sentences after a statement that may go on with it."""
_FURTHEST = timedelta(days=550)
_CODE = re.compile(
    r"`[^`]+`|\w+\(\)|\b[a-z]+[A-Z]\w*|\b\w+_\w+\b|\b[\w/-]+\.(?:py|go|ts|js|rs|java|c|h|md|json|toml|ya?ml|txt|sh)\b"
)
_NAME = re.compile(r"(?<=\s)[A-Z][a-z][\w-]*|#[a-z][\w-]+")
_ADDRESS = re.compile(r"https?://[^\s<>\"']+")
_DIGIT = re.compile(r"\d")


class StatementKind(StrEnum):
    """Why a statement is worth remembering."""

    REQUEST = "request"
    """The user asked to remember it."""
    CORRECTION = "correction"
    """The user corrected the agent."""
    PREFERENCE = "preference"
    """How the user wants it from now on, or a fact about the user."""
    DECISION = "decision"
    DEADLINE = "deadline"
    POINTER = "pointer"
    """The place of something that agents cannot see."""
    FACT = "fact"
    """How something is. Only a note that says otherwise makes it worth remembering."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement in one message that is worth remembering."""

    kind: StatementKind
    type: str
    """The type of its note: user, feedback, project or reference."""
    sentences: tuple[Sentence, ...]
    following: tuple[Sentence, ...] = ()
    """The sentences right after it that go on with it, or give its reason."""

    @property
    def quotes(self) -> tuple[str, ...]:
        """The exact sentences, with the following ones."""
        return tuple(sentence.text for sentence in (*self.sentences, *self.following))

    @property
    def text(self) -> str:
        """The statement without the following sentences."""
        return " ".join(sentence.text for sentence in self.sentences)


def gives_reason(sentence: Sentence) -> bool:
    """Return whether the words of a sentence say that it is a reason."""
    return bool(statement_pattern("reason").search(lower_text(sentence.text)))


def find_statements(message: str, day: date, *, is_answer: bool) -> Iterator[Statement]:
    """Yield the statements worth remembering in a `message` that the user wrote on `day`, in order.
    `is_answer` tells whether it answers an agent.

    A message with a credential is skipped: no part of it may be quoted.
    """
    if find_secrets(message):
        return
    judged = _judge_message(message, day, is_answer=is_answer)
    all_sentences = [candidate.sentence for candidate in judged]
    statement = _find_requested(judged) or _find_plain(judged) or _find_by_signs(judged)
    while statement is not None:
        yield statement
        last = (*statement.sentences, *statement.following)[-1]
        # after the first one only what is plain by itself
        statement = _find_plain(judged, all_sentences.index(last) + 1)


def _judge_message(message: str, day: date, *, is_answer: bool) -> list[_Judged]:
    all_sentences, day = split_message(message), clamp_day(day)
    unquoted = mask_quotations(message)
    return [
        _Judged(all_sentences, number, unquoted, day, is_answer=is_answer)
        for number in range(len(all_sentences))
    ]


def find_facts(message: str, day: date, *, is_answer: bool) -> Iterator[Statement]:
    """Yield each sentence of a `message` that states how something is, and has a value or says that
    something changed: it may correct a note. After an objection it is a correction.
    """
    if find_secrets(message):
        return
    objected = -1
    for candidate in _judge_message(message, day, is_answer=is_answer):
        if is_answer and statement_pattern("objection").match(candidate.plain):
            objected = candidate.number
        is_passing = candidate.is_for_once or candidate.is_order or not _says_something(candidate)
        has_value = candidate.has("change") or _DIGIT.search(candidate.plain)
        if is_passing or not has_value:
            continue
        is_objection = objected >= 0 and candidate.number - objected <= 1
        kind = StatementKind.CORRECTION if is_objection else StatementKind.FACT
        yield _saying(kind, [candidate], ())


class _Judged:
    """A sentence and its features."""

    def __init__(
        self,
        all_sentences: Sequence[Sentence],
        number: int,
        unquoted: str,
        day: date,
        *,
        is_answer: bool,
    ) -> None:
        self.all_sentences = all_sentences
        self.number = number
        self.sentence = all_sentences[number]
        self.plain = lower_text(self.sentence.text)
        self._unquoted = lower_text(unquoted[self.sentence.start : self.sentence.end])
        self.is_answer = is_answer
        self._day = day

    def has(self, part: str) -> bool:
        """Return whether an expression under `part` is in it, outside of quotation marks."""
        return bool(statement_pattern(part).search(self._unquoted))

    @property
    def states(self) -> bool:
        """Whether it states something that may be valid for long."""
        asks = self.sentence.is_question and not self.has("polite")
        return not (asks or self.has("guess") or self.has("unreal") or self.has("known"))

    @property
    def is_bare(self) -> bool:
        """Whether it only asks to remember something, without saying what."""
        rest = statement_pattern("request").sub(" ", self.plain)
        return (
            len(content_words(split_words(statement_pattern("opening").sub(" ", rest))))
            < _FEWEST_WORDS
        )

    @property
    def objects(self) -> bool:
        """Whether it, or the short sentence before it, contradicts the agent."""
        if not self.is_answer:
            return False
        return bool(statement_pattern("objection").match(self._opening))

    @property
    def _opening(self) -> str:
        before = lower_text(self.all_sentences[self.number - 1].text) if self.number else ""
        is_short = 0 < len(before) <= 12
        return f"{before} {self.plain}" if is_short else self.plain

    @property
    def is_order(self) -> bool:
        """Whether it tells the agent what to do."""
        return bool(statement_pattern("order").search(self._without_opening))

    @property
    def is_rule(self) -> bool:
        """Whether it says how something is to be done from now on."""
        is_lasting = self.has("permanent") or self.has("reproach")
        return is_lasting or (self.has("permanent_order") and self.is_order)

    @property
    def _without_opening(self) -> str:
        plain = self.plain
        for _ in range(3):
            match = statement_pattern("opening").match(plain)
            plain = plain[match.end() :].lstrip(" ,:;-—") if match else plain
        return plain

    @property
    def is_of_code(self) -> bool:
        """Whether it names parts of programs, which the code documents better."""
        return bool(_CODE.search(_ADDRESS.sub("", self.sentence.text)))

    @property
    def points_somewhere(self) -> bool:
        """Whether it says where something is, by an address or a name."""
        text = self.sentence.text
        match = statement_pattern("pointer").search(self.plain)
        is_named = bool(_ADDRESS.search(text) or (match and _NAME.search(text, match.start())))
        return match is not None and is_named and not self.is_of_code

    @property
    def days_ahead(self) -> bool:
        """Whether it names a future day, and an event on it."""
        future = [
            found.day
            for found in find_days(self.sentence.text, self._day)
            if found.day and self._day + timedelta(days=1) < found.day < self._day + _FURTHEST
        ]
        return bool(future) and self.has("appointment")

    @property
    def is_for_once(self) -> bool:
        """Whether it is only about the current moment."""
        return self.has("once")


def _find_requested(judged: Sequence[_Judged]) -> Statement | None:
    """Return the statement that the user asked to remember, if bare the one before it."""
    for candidate in judged:
        if (
            candidate.sentence.is_question
            or candidate.has("unreal")
            or not candidate.has("request")
        ):
            continue
        if candidate.has("guess") and candidate.is_bare:
            continue
        meant = _meant(candidate, judged)
        if meant:
            return _saying(StatementKind.REQUEST, meant, _find_following(meant[-1], judged))
    return None


def _meant(wish: _Judged, judged: Sequence[_Judged]) -> list[_Judged]:
    """Return the sentences to which a request to remember refers."""
    points_back = wish.has("request_behind")
    if not wish.is_bare and not points_back:
        return [wish]
    before = _before(wish, judged)
    if before:
        return before
    return [wish] if not wish.is_bare else _after(wish, judged)


def _before(wish: _Judged, judged: Sequence[_Judged]) -> list[_Judged]:
    first = max(0, wish.number - _MOST_BEFORE)
    return [candidate for candidate in judged[first : wish.number] if _says_something(candidate)]


def _after(wish: _Judged, judged: Sequence[_Judged]) -> list[_Judged]:
    return [candidate for candidate in judged[wish.number + 1 :][:1] if _says_something(candidate)]


def _says_something(candidate: _Judged) -> bool:
    is_wish = candidate.has("request") and candidate.is_bare
    return (
        candidate.states and not is_wish and len(content_words(split_words(candidate.plain))) >= 2
    )


def _find_plain(judged: Sequence[_Judged], begin: int = 0) -> Statement | None:
    """Return a statement, from the sentence with the number `begin` on, that is plainly a rule, a
    decision, a date or about the user.
    """
    for candidate in judged[begin:]:
        if not candidate.states or candidate.is_for_once:
            continue
        if begin and candidate.has("request"):
            # it is about the statement before it
            continue
        kind = _plain_kind(candidate)
        if kind is None:
            continue
        near = [] if _is_whole(candidate) else _neighbour(candidate, judged[begin:])
        meant = [*near, candidate]
        meant.sort(key=lambda each: each.number)
        if any(_is_whole(each) for each in meant):
            meant += _more_of_it(meant[-1], judged)
            following = _find_following(meant[-1], judged)
            return _saying(kind, meant, following, is_self=candidate.has("self"))
    return None


def _more_of_it(last: _Judged, judged: Sequence[_Judged]) -> list[_Judged]:
    """Return the sentences directly after the last one that also state something of a kind."""
    more: list[_Judged] = []
    for each in judged[last.number + 1 :]:
        is_kind = _says_something(each) and not each.is_for_once and _plain_kind(each) is not None
        if each.sentence.paragraph != last.sentence.paragraph or not is_kind:
            break
        more.append(each)
    return more


def _plain_kind(candidate: _Judged) -> StatementKind | None:
    if candidate.is_rule:
        return StatementKind.CORRECTION if candidate.objects else StatementKind.PREFERENCE
    if candidate.has("self"):
        return StatementKind.PREFERENCE
    is_settled = candidate.has("decision") and (
        candidate.has("reason") or not candidate.has("errand")
    )
    if is_settled and (candidate.objects or candidate.has("reason") or not candidate.is_of_code):
        return StatementKind.DECISION
    if candidate.points_somewhere:
        return StatementKind.POINTER
    if candidate.has("told") and not candidate.is_of_code:
        return StatementKind.DECISION
    return StatementKind.DEADLINE if candidate.days_ahead else None


def _is_whole(candidate: _Judged) -> bool:
    rest = statement_pattern("reproach").sub(" ", candidate.plain)
    # a reproach says nothing itself
    fewest = _FEWEST_WORDS - (candidate.is_rule and rest == candidate.plain)
    return len(content_words(split_words(rest))) >= fewest


def _neighbour(candidate: _Judged, judged: Sequence[_Judged]) -> list[_Judged]:
    near = [each for each in judged if abs(each.number - candidate.number) == 1]
    return [each for each in near if _says_something(each)][:1]


def _sets_right(candidate: _Judged) -> bool:
    """Return whether it objects to the agent and says what is right, with contrast or reason."""
    is_norm = candidate.has("norm") or candidate.has("prohibition")
    return candidate.objects and is_norm and (candidate.has("contrast") or candidate.has("reason"))


def _forbids(candidate: _Judged) -> bool:
    """Return whether it strictly requires something, with a reason."""
    return candidate.has("strict") and candidate.has("reason") and not candidate.is_of_code


def _find_by_signs(judged: Sequence[_Judged]) -> Statement | None:
    """Return a statement with several weaker signs."""
    for candidate in judged:
        if (
            not candidate.states
            or (candidate.is_for_once and not candidate.objects)
            or not _is_whole(candidate)
        ):
            continue
        if not (_sets_right(candidate) or _forbids(candidate)):
            continue
        kind = StatementKind.PREFERENCE if candidate.is_order else StatementKind.DECISION
        return _saying(
            StatementKind.CORRECTION if candidate.objects else kind,
            [candidate],
            _find_following(candidate, judged),
        )
    return None


def _find_following(candidate: _Judged, judged: Sequence[_Judged]) -> list[_Judged]:
    """Return the sentences directly after a statement that give its reason or continue it; one that
    is worth remembering by itself does neither, unless it says that it is a reason.
    """
    following: list[_Judged] = []
    for each in judged[candidate.number + 1 :]:
        is_near = each.sentence.paragraph == candidate.sentence.paragraph
        if not is_near or len(following) == _MOST_AFTER or not _says_something(each):
            break
        if each.is_for_once or (each.is_order and not each.is_rule):
            break
        if _plain_kind(each) is not None and _is_whole(each) and not gives_reason(each.sentence):
            break
        following.append(each)
    return following


def _saying(
    kind: StatementKind,
    meant: Sequence[_Judged],
    following: Sequence[_Judged],
    *,
    is_self: bool = False,
) -> Statement:
    return Statement(
        kind,
        _type(kind, meant, is_self=is_self),
        tuple(candidate.sentence for candidate in meant),
        tuple(candidate.sentence for candidate in following),
    )


def _type(kind: StatementKind, meant: Sequence[_Judged], *, is_self: bool) -> str:
    """Return the type of the note for a statement."""
    if is_self or any(candidate.has("self") for candidate in meant):
        return "user"
    is_address = any(_ADDRESS.search(candidate.sentence.text) for candidate in meant)
    if kind is StatementKind.POINTER or (is_address and kind is StatementKind.REQUEST):
        return "reference"
    if kind in (StatementKind.DECISION, StatementKind.DEADLINE):
        return "project"
    if kind in (StatementKind.PREFERENCE, StatementKind.CORRECTION) or any(
        candidate.is_order or candidate.is_rule for candidate in meant
    ):
        return "feedback"
    return "project"
