"""What was tried in a session and given up: what was taken back, what the person did not want, and
what the agent says that it left.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from ricordo.handoff.facts import GivenUp, Ref, Said
from ricordo.handoff.gathering.phrases import (
    before_it,
    reason_of,
    says,
    says_for_all_time,
    spoken,
)
from ricordo.handoff.gathering.taken_back import TakenBack
from ricordo.speech.sentence import Sentence

_LONGEST_WISH = 1_500
"""Characters of a message that may say what is not wanted; longer ones are documents."""

_SHORT = 300
"""Characters of a message that is quoted whole."""


class Left(NamedTuple):
    """What was given up, and the file before whose name the rest of it stands; "" for none."""

    given_up: GivenUp
    path: str = ""


def given_up(
    talk: Sequence[Said], taken_back: Iterable[TakenBack], step: Callable[[], None]
) -> list[Left]:
    """Return what was given up in a session, in the order of time. `talk` is what both said in it;
    `step` is called at every message.
    """
    unwanted: list[int] = []
    found: list[Left] = []
    answer, is_consent = None, False
    for said in talk:
        step()
        if not said.is_person:
            # what it says first after that only repeats what the person did not want
            found += () if is_consent else map(Left, _left(said))
            answer, is_consent = said, False
        elif answer is not None and (wish := _unwanted(said, answer)):
            found.append(Left(wish))
            unwanted.append(said.ref.turn)
            is_consent = True
    for it in taken_back:
        found += _by_deed(it, talk, unwanted)
    return sorted(found, key=lambda it: it.given_up.ref.turn)


def _unwanted(said: Said, answer: Said) -> GivenUp | None:
    """What the person takes back of what the agent says that it did; None where nothing."""
    if len(said.text) > _LONGEST_WISH or not says("unwanted", said.text):
        return None
    sentences = spoken(said.text)
    wish = next((n for n, it in enumerate(sentences) if _takes_back(it)), None)
    done = next((it.text for it in spoken(answer.text)), "")
    if wish is None or not done:
        return None
    end = sentences[min(wish + 1, len(sentences) - 1)].end
    words = said.text[sentences[wish].start : end] if len(said.text) > _SHORT else said.text
    return GivenUp("", said.ref, done.strip(), words.strip())


def _takes_back(sentence: Sentence) -> bool:
    """Whether the person does not want what was done; how it is to be done from now on says nothing
    against it.
    """
    text = sentence.text
    return says("unwanted", text) and not sentence.is_question and not says_for_all_time(text)


def _by_deed(taken: TakenBack, talk: Sequence[Said], unwanted: Sequence[int]) -> Iterator[Left]:
    if any(taken.since.turn < turn < taken.at.turn for turn in unwanted):
        # the words of the person tell it already
        return
    reason = taken.words
    if taken.refusal is None:
        reason = reason or _reason(taken.since, taken.at, talk)
    if reason or not taken.needs_reason:
        told = GivenUp("", taken.at, taken.what, reason, True, taken.refusal, taken.said)
        yield Left(told, taken.path)


def _reason(since: Ref, at: Ref, talk: Sequence[Said]) -> str:
    """What the agent said last before `at`, where it says why something is left."""
    end = bisect_left(talk, at.turn, key=lambda said: said.ref.turn)
    for said in reversed(talk[:end]):
        if said.ref.turn < since.turn:
            return ""
        if not said.is_person:
            leaving = (it.text for it in spoken(said.text) if _says_why(it.text))
            return next(leaving, "").strip()
    return ""


def _says_why(sentence: str) -> bool:
    return says("left", sentence) or says("failing", sentence)


def _left(said: Said) -> Iterator[GivenUp]:
    """What the agent says that it gave up."""
    if not _says_why(said.text):
        return
    sentences = spoken(said.text)
    for number, sentence in enumerate(sentences):
        if sentence.is_question:
            continue
        why = ""
        if says("left", sentence.text):
            why = reason_of(sentences, number) or before_it(sentences, number)
        elif says("failing", sentence.text) and _goes_on(sentences[number : number + 2]):
            why = reason_of(sentences, number)
        else:
            continue
        yield GivenUp("", said.ref, sentence.text.strip(), why)


def _goes_on(sentences: Iterable[Sentence]) -> bool:
    """Whether one of the sentences says that another way is taken."""
    return any(says("other_way", sentence.text) for sentence in sentences)
