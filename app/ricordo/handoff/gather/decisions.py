"""What was decided in a session, and why, in the words of the session."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from ricordo.extraction.sentence import Sentence, written_sentences
from ricordo.handoff.facts import DecisionFact, GivenUp, MessageFact, Ref
from ricordo.handoff.gather.reverts import RevertedAction
from ricordo.lexicon import any_of, lowered, pattern
from ricordo.resources import data_text

_LABEL = re.compile(r"\s*[^\n]{0,80}[:*][ \t]*\n")
"""The Fix:**"""
LONGEST = 8_000
"""Characters of a message in which sentences are looked for; longer ones are documents."""


def says(part: str, text: str) -> bool:
    """Say whether `text` holds any expression under `part` of the data file."""
    return bool(_compiled(part).search(lowered(text)))


def gives_reason(text: str) -> bool:
    """Say whether `text` tells why."""
    return bool(pattern("reason").search(lowered(text)))


def says_for_all_time(text: str) -> bool:
    """Say whether a sentence of the person is a rule for all time to come."""
    plain = lowered(text)
    return any(pattern(part).search(plain) for part in ("standing", "standing_order"))


def decides(text: str) -> bool:
    """Say whether a sentence of the person tells of a decision."""
    return bool(pattern("decision").search(lowered(text)))


def spoken(message: str) -> tuple[Sentence, ...]:
    """Return the sentences of `message`, without code, quotations, tables and headings, nor labels
    that stand on a line of their own.
    """
    return tuple(map(_without_label, written_sentences(message[:LONGEST])))


def _without_label(sentence: Sentence) -> Sentence:
    label = _LABEL.match(sentence.text)
    if label is None:
        return sentence
    text = sentence.text[label.end() :]
    return sentence._replace(start=sentence.start + label.end(), text=text)


def reason_of(said: tuple[Sentence, ...], number: int) -> str:
    """Return why what one of the sentences says is so: the sentence behind it, else the one before
    it in the same paragraph, where it gives a reason; "" where it gives it itself, or none does.
    """
    if gives_reason(said[number].text):
        return ""
    for other in (number + 1, number - 1):
        if 0 <= other < len(said) and said[other].paragraph == said[number].paragraph:
            text = said[other].text
            if gives_reason(text) and not said[other].is_question:
                return text.strip()
    return ""


def before_it(said: tuple[Sentence, ...], number: int) -> str:
    """Return the sentence before one of them, in the same paragraph; "" without one."""
    before = said[number - 1] if number else None
    is_near = before is not None and before.paragraph == said[number].paragraph
    return before.text.strip() if before is not None and is_near else ""


@cache
def _compiled(part: str) -> re.Pattern[str]:
    table = tomllib.loads(data_text("handoff/gather/phrases.toml"))
    return re.compile(any_of(text for texts in table[part].values() for text in texts))


_LONGEST_ANSWER = 300
"""Characters of a message of the person that may be the answer to a question."""


def decided(talk: Sequence[MessageFact], step: Callable[[], None]) -> Iterator[DecisionFact]:
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


def _by_person(said: MessageFact, question: str) -> Iterator[DecisionFact]:
    if question and len(said.text) <= _LONGEST_ANSWER:
        yield DecisionFact("", said.ref, said.text.strip(), "", True, question)
        return
    sentences = spoken(said.text) if decides(said.text) else ()
    for number, sentence in enumerate(sentences):
        if decides(sentence.text) and not sentence.is_question:
            why = reason_of(sentences, number)
            yield DecisionFact("", said.ref, sentence.text.strip(), why, True)


def _chosen(said: MessageFact) -> Iterator[DecisionFact]:
    """What the agent says that it chose."""
    sentences = spoken(said.text) if says("chosen", said.text) else ()
    for number, sentence in enumerate(sentences):
        if says("chosen", sentence.text) and not sentence.is_question:
            why = reason_of(sentences, number)
            yield DecisionFact("", said.ref, sentence.text.strip(), why, False)


def _question(answer: str) -> str:
    """The question with which an answer ends; "" without one."""
    if "?" not in answer[-_LONGEST_ANSWER:] and "？" not in answer[-_LONGEST_ANSWER:]:
        return ""
    said = spoken(answer)
    return said[-1].text.strip() if said and said[-1].is_question else ""


_LONGEST_WISH = 1_500
"""Characters of a message that may say what is not wanted; longer ones are documents."""

_SHORT = 300
"""Characters of a message that is quoted whole."""


class Abandoned(NamedTuple):
    """What was given up, and the file before whose name the rest of it stands; "" for none."""

    given_up: GivenUp
    path: str = ""


def given_up(
    talk: Sequence[MessageFact], taken_back: Iterable[RevertedAction], step: Callable[[], None]
) -> list[Abandoned]:
    """Return what was given up in a session, in the order of time. `talk` is what both said in it;
    `step` is called at every message.
    """
    unwanted: list[int] = []
    found: list[Abandoned] = []
    answer, is_consent = None, False
    for said in talk:
        step()
        if not said.is_person:
            # what it says first after that only repeats what the person did not want
            found += () if is_consent else map(Abandoned, _left(said))
            answer, is_consent = said, False
        elif answer is not None and (wish := _unwanted(said, answer)):
            found.append(Abandoned(wish))
            unwanted.append(said.ref.turn)
            is_consent = True
    for it in taken_back:
        found += _by_deed(it, talk, unwanted)
    return sorted(found, key=lambda it: it.given_up.ref.turn)


def _unwanted(said: MessageFact, answer: MessageFact) -> GivenUp | None:
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


def _by_deed(
    taken: RevertedAction, talk: Sequence[MessageFact], unwanted: Sequence[int]
) -> Iterator[Abandoned]:
    if any(taken.since.turn < turn < taken.at.turn for turn in unwanted):
        # the words of the person tell it already
        return
    reason = taken.words
    if taken.refusal is None:
        reason = reason or _reason(taken.since, taken.at, talk)
    if reason or not taken.needs_reason:
        told = GivenUp("", taken.at, taken.what, reason, True, taken.refusal, taken.said)
        yield Abandoned(told, taken.path)


def _reason(since: Ref, at: Ref, talk: Sequence[MessageFact]) -> str:
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


def _left(said: MessageFact) -> Iterator[GivenUp]:
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
