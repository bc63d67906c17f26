"""What was decided and why, and what was ruled out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import date
from typing import NamedTuple

from ricordo.extraction.sentence import (
    LONGEST_SPOKEN,
    Sentence,
    without_quotations,
    written_sentences,
)
from ricordo.extraction.statement import Saying, StatementKind, find_saying
from ricordo.handoff.compose.quotes import LONGEST_COMMAND, Room, quoting, short
from ricordo.handoff.compose.state import asked
from ricordo.handoff.compose.talk import Talk, is_answer, place
from ricordo.handoff.compose.words import begins, has
from ricordo.handoff.document import HandoffStatement, StatementSection
from ricordo.handoff.facts import Facts, MessageFact
from ricordo.lexicon import lowered, pattern
from ricordo.secrets import find_secrets

_MOST = 10
_LONGEST_REASON = 300
_LONGEST_QUESTION = 200


class UserAnswer(NamedTuple):
    """What the person answered to a question of the agent."""

    asked_by: MessageFact
    question: str
    reply: MessageFact


def decisions(
    facts: Facts, talk: Talk, told: Collection[HandoffStatement], room: Room
) -> Iterator[HandoffStatement]:
    """Yield what was decided in so many words, with what stands around it, but for what is `told`
    already.
    """
    quoted = [it.quote for it in told]
    new = [it for it in facts.decided if not any(it.text.strip() in quote for quote in quoted)]
    for it in new[-_MOST:]:
        who = "The person decided" if it.is_person else "The agent's decision"
        words = talk.around(it.ref, it.text)
        label = _with_reason(who, it.why, words)
        yield quoting(StatementSection.DECISIONS, label, words, it.ref, (it.id,), room.words)


def answered(found: Collection[UserAnswer], room: Room) -> Iterator[HandoffStatement]:
    """Yield the answers of the person, each with the question that it answers."""
    for it in found:
        label = f"The person's answer to “{short(it.question, _LONGEST_QUESTION)}”"
        ids = (it.asked_by.id, it.reply.id)
        yield quoting(
            StatementSection.DECISIONS, label, it.reply.text, it.reply.ref, ids, room.words
        )


def answers(talk: Talk) -> tuple[UserAnswer, ...]:
    """Return what the person answered to questions with which the agent closed: a message that is
    a yes or a no, or begins with one.
    """
    found: list[UserAnswer] = []
    for before, after in zip(talk.recent, talk.recent[1:], strict=False):
        closing, reply = before.closing, after.wish
        questions = asked(closing) if closing is not None else []
        if closing is None or reply is None or not questions:
            continue
        if is_answer(reply.text) or begins("answer", reply.text):
            found.append(UserAnswer(closing, questions[-1], reply))
    return tuple(found[-_MOST:])


def ruled_out(
    facts: Facts, talk: Talk, told: Collection[HandoffStatement], room: Room
) -> Iterator[HandoffStatement]:
    """Yield what the agent tried and gave up, with the reason that was given for it, and what it
    did or said that the person then set right. What stands around it is left out where it is `told`
    already.
    """
    quoted = [it.quote for it in told]
    of_person = {place(it.ref) for it in facts.said if it.is_person}
    given_up = [it for it in facts.given_up if it.refusal is None]
    own = [it for it in given_up if it.is_deed or place(it.ref) not in of_person]
    for it in own[-_MOST:]:
        if it.is_deed:
            text = _with_reason(f"Taken back: {short(it.what, LONGEST_COMMAND)}", it.why)
            yield HandoffStatement(StatementSection.RULED_OUT, text, stands_on=(it.id,))
            continue
        around = talk.around(it.ref, it.what)
        words = it.what if any(around in quote for quote in quoted) else around
        label = _with_reason("The agent gave up", it.why, words)
        yield quoting(StatementSection.RULED_OUT, label, words, it.ref, (it.id,), room.words)
    yield from list(_set_right(talk, room))[-_MOST:]


def _set_right(talk: Talk, room: Room) -> Iterator[HandoffStatement]:
    for exchange, following in zip(talk.exchanges, talk.exchanges[1:], strict=False):
        said, reply = exchange.closing, following.wish
        if exchange.is_set_right and said is not None and reply is not None:
            words = short(reply.text, _LONGEST_REASON)
            label = f"The agent said, and the person set it right with “{words}”"
            ids = (said.id, reply.id)
            yield quoting(StatementSection.RULED_OUT, label, said.text, said.ref, ids, room.words)


def _with_reason(label: str, why: str, words: str = "") -> str:
    """Return a label with the reason, where the words that are quoted do not give it themselves."""
    is_told = not why.strip() or why.strip() in words
    return label if is_told else f"{label}, because: “{short(why, _LONGEST_REASON)}”"


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
    StatementKind.REQUEST: "To be remembered",
    StatementKind.CORRECTION: "Correction",
    StatementKind.PREFERENCE: "Rule",
    StatementKind.DECISION: "The person decided",
    StatementKind.DEADLINE: "Date",
    StatementKind.POINTER: "Where to look",
}


class Constraint(NamedTuple):
    """Something that the work has to keep to."""

    said: MessageFact
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


def stated(found: Sequence[Constraint], room: Room) -> Iterator[HandoffStatement]:
    """Yield the statements of constraints: decisions stand in their own section."""
    for it in found:
        section = (
            StatementSection.DECISIONS
            if it.label == _LABELS[StatementKind.DECISION]
            else StatementSection.CONSTRAINTS
        )
        yield quoting(section, it.label, it.quote, it.said.ref, (it.said.id,), room.words)


def _of_message(said: MessageFact, *, is_answer: bool) -> Iterator[Constraint]:
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
