"""What was decided in a session, and why, in the words of the session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ricordo.handoff.facts import Decided, Said
from ricordo.handoff.gathering.phrases import decides, reason_of, says, spoken

_LONGEST_ANSWER = 300
"""Characters of a message of the person that may be the answer to a question."""


def decided(talk: Sequence[Said], step: Callable[[], None]) -> Iterator[Decided]:
    """Yield what was decided in a session, in the order of time. `talk` is what both said in it;
    `step` is called at every message.
    """
    question = ""
    for said in talk:
        step()
        if not said.is_person:
            question = _question(said.text)
            yield from _chosen(said)
        else:
            yield from _by_person(said, question)
            question = ""


def _by_person(said: Said, question: str) -> Iterator[Decided]:
    if question and len(said.text) <= _LONGEST_ANSWER:
        yield Decided("", said.ref, said.text.strip(), "", True, question)
        return
    sentences = spoken(said.text) if decides(said.text) else ()
    for number, sentence in enumerate(sentences):
        if decides(sentence.text) and not sentence.is_question:
            why = reason_of(sentences, number)
            yield Decided("", said.ref, sentence.text.strip(), why, True)


def _chosen(said: Said) -> Iterator[Decided]:
    """What the agent says that it chose."""
    sentences = spoken(said.text) if says("chosen", said.text) else ()
    for number, sentence in enumerate(sentences):
        if says("chosen", sentence.text) and not sentence.is_question:
            why = reason_of(sentences, number)
            yield Decided("", said.ref, sentence.text.strip(), why, False)


def _question(answer: str) -> str:
    """The question with which an answer ends; "" without one."""
    if "?" not in answer[-_LONGEST_ANSWER:] and "？" not in answer[-_LONGEST_ANSWER:]:
        return ""
    said = spoken(answer)
    return said[-1].text.strip() if said and said[-1].is_question else ""
