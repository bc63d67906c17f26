"""What was decided in a session, and why, in the words of the session."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ricordo.activity.calls import Ending
from ricordo.handoff.facts import Decided, Ref, Said
from ricordo.handoff.gathering.bounded import Bounded
from ricordo.handoff.gathering.phrases import decides, reason_of, says, spoken

_MOST = 1_000
_LONGEST_ANSWER = 300
"""Characters of a message of the person that may be the answer to a question."""


@dataclass(slots=True)
class Decisions:
    """What one session decided."""

    kept: Bounded[Decided] = field(default_factory=lambda: Bounded(_MOST))
    _question: str = ""
    """With which the agent ended."""

    def hear(self, said: Said) -> None:
        """Take note of a message."""
        if not said.is_person:
            self._question = _question(said.text)
            for decided in _chosen(said):
                self.kept.add(decided)
            return
        for decided in self._by_person(said):
            self.kept.add(decided)
        self._question = ""

    def answered(self, ending: Ending, at: Ref) -> None:
        """Take note of the answers that the person gave to questions of a tool."""
        for question, answer in ending.answers:
            self.kept.add(Decided("", at, answer, "", True, question))

    def _by_person(self, said: Said) -> Iterator[Decided]:
        if self._question and len(said.text) <= _LONGEST_ANSWER:
            yield Decided("", said.ref, said.text.strip(), "", True, self._question)
            return
        sentences = spoken(said.text)
        for number, sentence in enumerate(sentences):
            if decides(sentence.text) and not sentence.is_question:
                why = reason_of(sentences, number)
                yield Decided("", said.ref, sentence.text.strip(), why, True)


def _chosen(said: Said) -> Iterator[Decided]:
    sentences = spoken(said.text)
    for number, sentence in enumerate(sentences):
        if says("chosen", sentence.text) and not sentence.is_question:
            why = reason_of(sentences, number)
            yield Decided("", said.ref, sentence.text.strip(), why, False)


def _question(answer: str) -> str:
    """The question with which an answer ends; "" without one."""
    said = spoken(answer)
    return said[-1].text.strip() if said and said[-1].is_question else ""
