"""What the work has to keep to, in the words of the person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from typing import NamedTuple

from ricordo.handoff.composing.quoting import quoting
from ricordo.handoff.composing.room import Room
from ricordo.handoff.composing.talk import Talk
from ricordo.handoff.composing.words import has
from ricordo.handoff.facts import Said
from ricordo.handoff.statement import Section, Statement
from ricordo.health.vocabulary import lowered
from ricordo.secrets import find_secrets
from ricordo.speech.patterns import pattern
from ricordo.speech.saying import Kind, Saying, find_saying
from ricordo.speech.sentence import (
    LONGEST_SPOKEN,
    Sentence,
    without_quotations,
    written_sentences,
)

_UNKNOWN = date(2000, 1, 1)
"""The day of a message whose transcript tells no time: no day that it names lies ahead."""
_LONGEST_DOCUMENT = 12_000
"""Characters of a plan that was handed over and is looked through."""
_LONGEST = 500
"""Characters of a saying with its reasons."""
_MOST_OF_ONE = 6
"""Limits of one message; one with more is a specification, and quoted as the objective."""
_MOST_RULES, _MOST_LIMITS = 12, 8
_FIRST, _LAST = 50, 250
"""Wishes that are looked through: what a session begins with, and what it came to."""
_LIMIT = "Limit"
_WHOLE = 0.5
"""Share of a message from which what is quoted of it stands for all of it."""
_LABELS = {
    Kind.REQUEST: "To be remembered",
    Kind.CORRECTION: "Correction",
    Kind.PREFERENCE: "Rule",
    Kind.DECISION: "The person decided",
    Kind.DEADLINE: "Date",
    Kind.POINTER: "Where to look",
}


class Constraint(NamedTuple):
    """Something that the work has to keep to."""

    said: Said
    label: str
    quote: str
    """As it stands in the message."""

    @property
    def is_whole(self) -> bool:
        """Whether hardly anything else stands in the message."""
        return len(self.quote) >= _WHOLE * len(self.said.text.strip())


def constraints(talk: Talk) -> tuple[Constraint, ...]:
    """Return what the work has to keep to, in the order of time; the latest rules and the latest
    limits, where it is much. All that the first wish says is no limit to it.
    """
    wishes = talk.wishes
    looked_at = wishes if len(wishes) <= _FIRST + _LAST else (*wishes[:_FIRST], *wishes[-_LAST:])
    found = [
        it
        for said in looked_at
        for it in _of_message(said, is_answer=talk.is_answered(said))
        if not (it.quote == said.text.strip() and said is wishes[0])
    ]
    once = list({it.quote: it for it in found}.values())
    rules = [it for it in once if it.label != _LIMIT][-_MOST_RULES:]
    limits = [it for it in once if it.label == _LIMIT][-_MOST_LIMITS:]
    return tuple(it for it in once if it in rules or it in limits)


def stated(found: Sequence[Constraint], room: Room) -> Iterator[Statement]:
    """Yield the statements of constraints: decisions stand in their own section."""
    for it in found:
        section = Section.DECISIONS if it.label == _LABELS[Kind.DECISION] else Section.CONSTRAINTS
        yield quoting(section, it.label, it.quote, it.said.ref, (it.said.id,), room.words)


def _of_message(said: Said, *, is_answer: bool) -> Iterator[Constraint]:
    text = said.text
    day = date.fromisoformat(said.ref.at[:10]) if said.ref.at else _UNKNOWN
    saying = find_saying(text, day, is_answer=is_answer)
    start = end = -1
    if saying is not None:
        start, end = _span(saying)
        yield Constraint(said, _LABELS[saying.kind], text[start:end])
    others = [it for it in _limits(text) if it.end <= start or it.start >= end]
    for it in others[:_MOST_OF_ONE]:
        yield Constraint(said, _LIMIT, it.text)


def _span(saying: Saying) -> tuple[int, int]:
    """Return where the words of a saying begin and end, with its reasons where they are near."""
    parts = [*saying.statement, *saying.why]
    whole = parts if parts[-1].end - parts[0].start <= _LONGEST else saying.statement
    return whole[0].start, whole[-1].end


def _limits(text: str) -> list[Sentence]:
    """Return the sentences that set a limit. In a document only what plainly forbids counts: it
    tells at length how something is to work. One with a credential is quoted nowhere but in its
    message.
    """
    is_document = len(text) > LONGEST_SPOKEN
    text = text[:_LONGEST_DOCUMENT]
    own = lowered(without_quotations(text))
    kinds = (_forbids,) if is_document else (_forbids, _requires, _orders_how)
    said = written_sentences(text)
    return [
        it
        for it in said
        if _is_meant(it, own)
        and any(kind(own[it.start : it.end]) for kind in kinds)
        and not find_secrets(it.text)
    ]


def _is_meant(sentence: Sentence, own: str) -> bool:
    plain = own[sentence.start : sentence.end]
    others = any(pattern(part).search(plain) for part in ("guess", "unreal", "request"))
    return not (sentence.is_question or others)


def _forbids(plain: str) -> bool:
    return bool(pattern("prohibition").search(plain)) or has("limit", plain)


def _requires(plain: str) -> bool:
    return has("requirement", plain)


def _orders_how(plain: str) -> bool:
    return bool(pattern("order").match(plain.lstrip())) and has("manner", plain)
