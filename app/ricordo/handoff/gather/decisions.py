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
    """Return whether `text` holds any expression under `part` of the data file."""
    return bool(_compiled(part).search(lowered(text)))


def gives_reason(text: str) -> bool:
    """Return whether `text` gives a reason."""
    return bool(pattern("reason").search(lowered(text)))


def says_for_all_time(text: str) -> bool:
    """Return whether a sentence of the user is a permanent rule."""
    plain = lowered(text)
    return any(pattern(part).search(plain) for part in ("standing", "standing_order"))


def decides(text: str) -> bool:
    """Return whether a sentence of the user states a decision."""
    return bool(pattern("decision").search(lowered(text)))


def spoken(message: str) -> tuple[Sentence, ...]:
    """Return the sentences of `message`, without code, quotations, tables and headings, nor labels
    that are on a line of their own.
    """
    return tuple(map(_strip_label, written_sentences(message[:LONGEST])))


def _strip_label(sentence: Sentence) -> Sentence:
    label = _LABEL.match(sentence.text)
    if label is None:
        return sentence
    text = sentence.text[label.end() :]
    return sentence._replace(start=sentence.start + label.end(), text=text)


def reason_of(sentences: tuple[Sentence, ...], number: int) -> str:
    """Return the reason for one of the sentences: the next sentence, else the one before it in the
    same paragraph, where it gives a reason; "" where the sentence itself gives it, or none does.
    """
    if gives_reason(sentences[number].text):
        return ""
    for other in (number + 1, number - 1):
        if (
            0 <= other < len(sentences)
            and sentences[other].paragraph == sentences[number].paragraph
        ):
            text = sentences[other].text
            if gives_reason(text) and not sentences[other].is_question:
                return text.strip()
    return ""


def before_it(sentences: tuple[Sentence, ...], number: int) -> str:
    """Return the sentence before one of them, in the same paragraph; "" without one."""
    previous = sentences[number - 1] if number else None
    is_near = previous is not None and previous.paragraph == sentences[number].paragraph
    return previous.text.strip() if previous is not None and is_near else ""


@cache
def _compiled(part: str) -> re.Pattern[str]:
    table = tomllib.loads(data_text("handoff/gather/phrases.toml"))
    return re.compile(any_of(text for texts in table[part].values() for text in texts))


_MAX_ANSWER = 300
"""Characters of a message of the user that may be the answer to a question."""


def decided(messages: Sequence[MessageFact], step: Callable[[], None]) -> Iterator[DecisionFact]:
    """Yield the decisions of a session, in the order of time. `messages` are the messages of both;
    `step` is called at every message.
    """
    question = ""
    for message in messages:
        step()
        if not message.is_person:
            question = _find_closing_question(message.text)
            yield from _find_agent_choices(message)
        else:
            yield from _find_user_decisions(message, question)
            question = ""


def _find_user_decisions(message: MessageFact, question: str) -> Iterator[DecisionFact]:
    if question and len(message.text) <= _MAX_ANSWER:
        yield DecisionFact("", message.ref, message.text.strip(), "", True, question)
        return
    sentences = spoken(message.text) if decides(message.text) else ()
    for number, sentence in enumerate(sentences):
        if decides(sentence.text) and not sentence.is_question:
            why = reason_of(sentences, number)
            yield DecisionFact("", message.ref, sentence.text.strip(), why, True)


def _find_agent_choices(message: MessageFact) -> Iterator[DecisionFact]:
    """Yield what the agent says that it chose."""
    sentences = spoken(message.text) if says("chosen", message.text) else ()
    for number, sentence in enumerate(sentences):
        if says("chosen", sentence.text) and not sentence.is_question:
            why = reason_of(sentences, number)
            yield DecisionFact("", message.ref, sentence.text.strip(), why, False)


def _find_closing_question(answer: str) -> str:
    """Return the question that ends an answer; "" without one."""
    if "?" not in answer[-_MAX_ANSWER:] and "？" not in answer[-_MAX_ANSWER:]:
        return ""
    sentences = spoken(answer)
    return sentences[-1].text.strip() if sentences and sentences[-1].is_question else ""


_MAX_MESSAGE = 1_500
"""Characters of a message that may reject something; longer ones are documents."""

_MAX_WHOLE_QUOTE = 300
"""Characters of a message that is quoted whole."""


class Abandoned(NamedTuple):
    """What was ruled out, with the file whose name goes before its text; "" for none."""

    given_up: GivenUp
    path: str = ""


def given_up(
    messages: Sequence[MessageFact], taken_back: Iterable[RevertedAction], step: Callable[[], None]
) -> list[Abandoned]:
    """Return what was ruled out in a session, in the order of time. `messages` are the messages of
    both; `step` is called at every message.
    """
    unwanted: list[int] = []
    items: list[Abandoned] = []
    answer, is_consent = None, False
    for message in messages:
        step()
        if not message.is_person:
            # what the agent says first after that only repeats what the user rejected
            items += () if is_consent else map(Abandoned, _list_abandoned(message))
            answer, is_consent = message, False
        elif answer is not None and (unwanted_item := _find_unwanted(message, answer)):
            items.append(Abandoned(unwanted_item))
            unwanted.append(message.ref.turn)
            is_consent = True
    for action in taken_back:
        items += _list_reverted(action, messages, unwanted)
    return sorted(items, key=lambda item: item.given_up.ref.turn)


def _find_unwanted(message: MessageFact, answer: MessageFact) -> GivenUp | None:
    """Return what the user rejects of what the agent says that it did; None for nothing."""
    if len(message.text) > _MAX_MESSAGE or not says("unwanted", message.text):
        return None
    sentences = spoken(message.text)
    index = next((n for n, sentence in enumerate(sentences) if _is_unwanted(sentence)), None)
    undone = next((sentence.text for sentence in spoken(answer.text)), "")
    if index is None or not undone:
        return None
    end = sentences[min(index + 1, len(sentences) - 1)].end
    words = (
        message.text[sentences[index].start : end]
        if len(message.text) > _MAX_WHOLE_QUOTE
        else message.text
    )
    return GivenUp("", message.ref, undone.strip(), words.strip())


def _is_unwanted(sentence: Sentence) -> bool:
    """Return whether the user rejects what was done; a rule for the future does not."""
    text = sentence.text
    return says("unwanted", text) and not sentence.is_question and not says_for_all_time(text)


def _list_reverted(
    action: RevertedAction, messages: Sequence[MessageFact], unwanted: Sequence[int]
) -> Iterator[Abandoned]:
    if any(action.since.turn < turn < action.at.turn for turn in unwanted):
        # the user's words say it already
        return
    reason = action.words
    if action.refusal is None:
        reason = reason or _find_reason(action.since, action.at, messages)
    if reason or not action.needs_reason:
        item = GivenUp("", action.at, action.what, reason, True, action.refusal, action.said)
        yield Abandoned(item, action.path)


def _find_reason(since: Ref, at: Ref, messages: Sequence[MessageFact]) -> str:
    """Return what the agent said last before `at`, where it gives the reason for abandoning
    something.
    """
    end = bisect_left(messages, at.turn, key=lambda message: message.ref.turn)
    for message in reversed(messages[:end]):
        if message.ref.turn < since.turn:
            return ""
        if not message.is_person:
            sentences = (item.text for item in spoken(message.text) if _gives_up(item.text))
            return next(sentences, "").strip()
    return ""


def _gives_up(sentence: str) -> bool:
    return says("left", sentence) or says("failing", sentence)


def _list_abandoned(message: MessageFact) -> Iterator[GivenUp]:
    """Yield what the agent says that it abandoned."""
    if not _gives_up(message.text):
        return
    sentences = spoken(message.text)
    for number, sentence in enumerate(sentences):
        if sentence.is_question:
            continue
        why = ""
        if says("left", sentence.text):
            why = reason_of(sentences, number) or before_it(sentences, number)
        elif says("failing", sentence.text) and _takes_other_way(sentences[number : number + 2]):
            why = reason_of(sentences, number)
        else:
            continue
        yield GivenUp("", message.ref, sentence.text.strip(), why)


def _takes_other_way(sentences: Iterable[Sentence]) -> bool:
    """Return whether one of the sentences chooses another way."""
    return any(says("other_way", sentence.text) for sentence in sentences)
