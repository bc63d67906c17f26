"""What was decided and why, and what was ruled out."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from ricordo.handoff.composing.lines import LONGEST_COMMAND, short
from ricordo.handoff.composing.questions import asked
from ricordo.handoff.composing.quoting import quoting
from ricordo.handoff.composing.room import Room
from ricordo.handoff.composing.talk import Talk, is_answer, place
from ricordo.handoff.composing.words import begins
from ricordo.handoff.facts import Facts, Said
from ricordo.handoff.statement import Section, Statement

_MOST = 10
_LONGEST_REASON = 300
_LONGEST_QUESTION = 200


class Answer(NamedTuple):
    """What the person answered to a question of the agent."""

    asked_by: Said
    question: str
    reply: Said


def decisions(
    facts: Facts, talk: Talk, told: Collection[Statement], room: Room
) -> Iterator[Statement]:
    """Yield what was decided in so many words, with what stands around it, but for what is `told`
    already.
    """
    quoted = [it.quote for it in told]
    new = [it for it in facts.decided if not any(it.text.strip() in quote for quote in quoted)]
    for it in new[-_MOST:]:
        who = "The person decided" if it.is_person else "The agent's decision"
        words = talk.around(it.ref, it.text)
        label = _with_reason(who, it.why, words)
        yield quoting(Section.DECISIONS, label, words, it.ref, (it.id,), room.words)


def answered(found: Collection[Answer], room: Room) -> Iterator[Statement]:
    """Yield the answers of the person, each with the question that it answers."""
    for it in found:
        label = f"The person's answer to “{short(it.question, _LONGEST_QUESTION)}”"
        ids = (it.asked_by.id, it.reply.id)
        yield quoting(Section.DECISIONS, label, it.reply.text, it.reply.ref, ids, room.words)


def answers(talk: Talk) -> tuple[Answer, ...]:
    """Return what the person answered to questions with which the agent closed: a message that is
    a yes or a no, or begins with one.
    """
    found: list[Answer] = []
    for before, after in zip(talk.recent, talk.recent[1:], strict=False):
        closing, reply = before.closing, after.wish
        questions = asked(closing) if closing is not None else []
        if closing is None or reply is None or not questions:
            continue
        if is_answer(reply.text) or begins("answer", reply.text):
            found.append(Answer(closing, questions[-1], reply))
    return tuple(found[-_MOST:])


def ruled_out(
    facts: Facts, talk: Talk, told: Collection[Statement], room: Room
) -> Iterator[Statement]:
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
            yield Statement(Section.RULED_OUT, text, stands_on=(it.id,))
            continue
        around = talk.around(it.ref, it.what)
        words = it.what if any(around in quote for quote in quoted) else around
        label = _with_reason("The agent gave up", it.why, words)
        yield quoting(Section.RULED_OUT, label, words, it.ref, (it.id,), room.words)
    yield from list(_set_right(talk, room))[-_MOST:]


def _set_right(talk: Talk, room: Room) -> Iterator[Statement]:
    for exchange, following in zip(talk.exchanges, talk.exchanges[1:], strict=False):
        said, reply = exchange.closing, following.wish
        if exchange.is_set_right and said is not None and reply is not None:
            words = short(reply.text, _LONGEST_REASON)
            label = f"The agent said, and the person set it right with “{words}”"
            ids = (said.id, reply.id)
            yield quoting(Section.RULED_OUT, label, said.text, said.ref, ids, room.words)


def _with_reason(label: str, why: str, words: str = "") -> str:
    """Return a label with the reason, where the words that are quoted do not give it themselves."""
    is_told = not why.strip() or why.strip() in words
    return label if is_told else f"{label}, because: “{short(why, _LONGEST_REASON)}”"
