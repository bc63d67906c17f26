"""Questions that wait for the person."""

from __future__ import annotations

from collections.abc import Iterator

from ricordo.handoff.composing.quoting import quoting
from ricordo.handoff.composing.room import Room
from ricordo.handoff.composing.talk import Exchange, Talk, is_answer, last_sentences
from ricordo.handoff.composing.words import begins, has
from ricordo.handoff.facts import Said
from ricordo.handoff.statement import Section, Statement
from ricordo.recall.words import content_words, words

_MOST = 5
_MOST_OF_ONE = 3


def open_questions(talk: Talk, room: Room) -> Iterator[Statement]:
    """Yield the questions of the agent that the person did not answer: those of its last words, and
    earlier ones of which the reply takes up no word. An offer that was passed over is none.
    """
    found = [(said, it) for said, questions in _unanswered(talk) for it in questions]
    for said, question in found[-_MOST:]:
        label = "The agent asked, and got no answer"
        yield quoting(Section.QUESTIONS, label, question, said.ref, (said.id,), room.words)


def asked(said: Said) -> list[str]:
    """Return the questions with which an agent's message ends: those of its last paragraphs."""
    spoken = last_sentences(said)
    last = spoken[-1].paragraph if spoken else 0
    near = [it for it in spoken if it.paragraph >= last - 1]
    return [it.text for it in near if it.is_question][-_MOST_OF_ONE:]


def _unanswered(talk: Talk) -> Iterator[tuple[Said, list[str]]]:
    for number, exchange in enumerate(talk.recent):
        closing = exchange.closing
        if closing is None:
            continue
        questions = asked(closing)
        if number < len(talk.recent) - 1:
            questions = _ignored(questions, talk.recent[number + 1])
        yield closing, questions


def _ignored(questions: list[str], following: Exchange) -> list[str]:
    reply = following.wish
    if reply is None or is_answer(reply.text) or begins("answer", reply.text):
        return []
    taken_up = frozenset(content_words(words(reply.text)))
    return [
        it
        for it in questions
        if not has("offer", it) and taken_up.isdisjoint(content_words(words(it)))
    ]
