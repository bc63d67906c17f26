"""What was decided in a session, and why, in the words of the session."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import tomli

from ricordo.extraction.sentence import Sentence, split_text
from ricordo.handoff.facts import DecisionFact, MessageFact, MessageRef, RuledOutFact
from ricordo.handoff.gather.reverts import RevertedAction
from ricordo.lexicon import build_alternation, lower_text, statement_pattern
from ricordo.resources import read_data_text

_LABEL = re.compile(r"\s*[^\n]{0,80}[:*][ \t]*\n")
"""The Fix:**"""
MAX_MESSAGE_LENGTH = 8_000
"""Characters of a message in which sentences are looked for; longer ones are documents."""


def has_phrase(part: str, text: str) -> bool:
    """Return whether `text` holds any expression under `part` of the data file."""
    return bool(_compiled(part).search(lower_text(text)))


def has_reason(text: str) -> bool:
    """Return whether `text` gives a reason."""
    return bool(statement_pattern("reason").search(lower_text(text)))


def is_permanent_rule(text: str) -> bool:
    """Return whether a sentence of the user is a permanent rule."""
    plain = lower_text(text)
    return any(statement_pattern(part).search(plain) for part in ("permanent", "permanent_order"))


def is_decision(text: str) -> bool:
    """Return whether a sentence of the user states a decision."""
    return bool(statement_pattern("decision").search(lower_text(text)))


def split_prose(message: str) -> tuple[Sentence, ...]:
    """Return the sentences of `message`, without code, quotations, tables and headings, nor labels
    that are on a line of their own.
    """
    return tuple(map(_strip_label, split_text(message[:MAX_MESSAGE_LENGTH])))


def _strip_label(sentence: Sentence) -> Sentence:
    label = _LABEL.match(sentence.text)
    if label is None:
        return sentence
    text = sentence.text[label.end() :]
    return sentence._replace(start=sentence.start + label.end(), text=text)


def find_reason(sentences: tuple[Sentence, ...], number: int) -> str:
    """Return the reason for one of the sentences: the next sentence, else the one before it in the
    same paragraph, where it gives a reason; "" where the sentence itself gives it, or none does.
    """
    if has_reason(sentences[number].text):
        return ""
    for other in (number + 1, number - 1):
        if (
            0 <= other < len(sentences)
            and sentences[other].paragraph == sentences[number].paragraph
        ):
            text = sentences[other].text
            if has_reason(text) and not sentences[other].is_question:
                return text.strip()
    return ""


def find_previous(sentences: tuple[Sentence, ...], number: int) -> str:
    """Return the sentence before one of them, in the same paragraph; "" without one."""
    previous = sentences[number - 1] if number else None
    is_near = previous is not None and previous.paragraph == sentences[number].paragraph
    return previous.text.strip() if previous is not None and is_near else ""


@cache
def _compiled(part: str) -> re.Pattern[str]:
    table = tomli.loads(read_data_text("handoff/gather/phrases.toml"))
    return re.compile(build_alternation(text for texts in table[part].values() for text in texts))


_MAX_ANSWER = 300
"""Characters of a message of the user that may be the answer to a question."""


def find_decisions(
    messages: Sequence[MessageFact], step: Callable[[], None]
) -> Iterator[DecisionFact]:
    """Yield the decisions of a session, in the order of time. `messages` are the messages of both;
    `step` is called at every message.
    """
    question = ""
    for message in messages:
        step()
        if not message.is_user:
            question = _find_closing_question(message.text)
            yield from _find_agent_choices(message)
        else:
            yield from _find_user_decisions(message, question)
            question = ""


def _find_user_decisions(message: MessageFact, question: str) -> Iterator[DecisionFact]:
    if question and len(message.text) <= _MAX_ANSWER:
        yield DecisionFact("", message.ref, message.text.strip(), "", True, question)
        return
    # not of the whole message first: some expressions begin a sentence
    sentences = split_prose(message.text)
    for number, sentence in enumerate(sentences):
        if is_decision(sentence.text) and not sentence.is_question:
            why = find_reason(sentences, number)
            yield DecisionFact("", message.ref, sentence.text.strip(), why, True)


def _find_agent_choices(message: MessageFact) -> Iterator[DecisionFact]:
    """Yield what the agent says that it chose."""
    sentences = split_prose(message.text) if has_phrase("chosen", message.text) else ()
    for number, sentence in enumerate(sentences):
        if has_phrase("chosen", sentence.text) and not sentence.is_question:
            why = find_reason(sentences, number)
            yield DecisionFact("", message.ref, sentence.text.strip(), why, False)


def _find_closing_question(answer: str) -> str:
    """Return the question that ends an answer; "" without one."""
    if "?" not in answer[-_MAX_ANSWER:] and "？" not in answer[-_MAX_ANSWER:]:
        return ""
    sentences = split_prose(answer)
    return sentences[-1].text.strip() if sentences and sentences[-1].is_question else ""


_MAX_MESSAGE = 1_500
"""Characters of a message that may reject something; longer ones are documents."""

_MAX_WHOLE_QUOTE = 300
"""Characters of a message that is quoted whole."""


class RuledOutItem(NamedTuple):
    """What was ruled out, with the file whose name goes before its text; "" for none."""

    fact: RuledOutFact
    path: str = ""


def find_ruled_out(
    messages: Sequence[MessageFact],
    reverted_actions: Iterable[RevertedAction],
    step: Callable[[], None],
) -> list[RuledOutItem]:
    """Return what was ruled out in a session, in the order of time. `messages` are the messages of
    both; `step` is called at every message.
    """
    unwanted: list[int] = []
    items: list[RuledOutItem] = []
    answer, is_consent = None, False
    for message in messages:
        step()
        if not message.is_user:
            # what the agent says first after that only repeats what the user rejected
            items += () if is_consent else map(RuledOutItem, _list_abandoned(message))
            answer, is_consent = message, False
        elif answer is not None and (unwanted_item := _find_unwanted(message, answer)):
            items.append(RuledOutItem(unwanted_item))
            unwanted.append(message.ref.number)
            is_consent = True
    for action in reverted_actions:
        items += _list_reverted(action, messages, unwanted)
    return sorted(items, key=lambda item: item.fact.ref.number)


def _find_unwanted(message: MessageFact, answer: MessageFact) -> RuledOutFact | None:
    """Return what the user rejects of what the agent says that it did; None for nothing."""
    if len(message.text) > _MAX_MESSAGE or not has_phrase("unwanted", message.text):
        return None
    sentences = split_prose(message.text)
    index = next((n for n, sentence in enumerate(sentences) if _is_unwanted(sentence)), None)
    undone = next((sentence.text for sentence in split_prose(answer.text)), "")
    if index is None or not undone:
        return None
    end = sentences[min(index + 1, len(sentences) - 1)].end
    words = (
        message.text[sentences[index].start : end]
        if len(message.text) > _MAX_WHOLE_QUOTE
        else message.text
    )
    return RuledOutFact("", message.ref, undone.strip(), words.strip())


def _is_unwanted(sentence: Sentence) -> bool:
    """Return whether the user rejects what was done; a rule for the future does not."""
    text = sentence.text
    return has_phrase("unwanted", text) and not sentence.is_question and not is_permanent_rule(text)


def _list_reverted(
    action: RevertedAction, messages: Sequence[MessageFact], unwanted: Sequence[int]
) -> Iterator[RuledOutItem]:
    if any(action.since.number < turn < action.at.number for turn in unwanted):
        # the user's words say it already
        return
    reason = action.user_text
    if action.refusal is None:
        reason = reason or _find_reason(action.since, action.at, messages)
    if reason or not action.needs_reason:
        item = RuledOutFact(
            "", action.at, action.what, reason, True, action.refusal, action.refusal_text
        )
        yield RuledOutItem(item, action.path)


def _find_reason(since: MessageRef, at: MessageRef, messages: Sequence[MessageFact]) -> str:
    """Return what the agent said last before `at`, where it gives the reason for abandoning
    something.
    """
    end = bisect_left(messages, at.number, key=lambda message: message.ref.number)
    for message in reversed(messages[:end]):
        if message.ref.number < since.number:
            return ""
        if not message.is_user:
            sentences = (item.text for item in split_prose(message.text) if _gives_up(item.text))
            return next(sentences, "").strip()
    return ""


def _gives_up(sentence: str) -> bool:
    return has_phrase("left", sentence) or has_phrase("failing", sentence)


def _list_abandoned(message: MessageFact) -> Iterator[RuledOutFact]:
    """Yield what the agent says that it abandoned."""
    if not _gives_up(message.text):
        return
    sentences = split_prose(message.text)
    for number, sentence in enumerate(sentences):
        if sentence.is_question:
            continue
        why = ""
        if has_phrase("left", sentence.text):
            why = find_reason(sentences, number) or find_previous(sentences, number)
        elif has_phrase("failing", sentence.text) and _takes_other_way(
            sentences[number : number + 2]
        ):
            why = find_reason(sentences, number)
        else:
            continue
        yield RuledOutFact("", message.ref, sentence.text.strip(), why)


def _takes_other_way(sentences: Iterable[Sentence]) -> bool:
    """Return whether one of the sentences chooses another way."""
    return any(has_phrase("other_way", sentence.text) for sentence in sentences)
