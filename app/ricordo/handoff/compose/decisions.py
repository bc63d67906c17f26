"""Decisions with their reasons, constraints, and what was ruled out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import date
from typing import NamedTuple

from ricordo.extraction.sentence import (
    MAX_MESSAGE_LENGTH,
    Sentence,
    mask_quotations,
    split_text,
)
from ricordo.extraction.statement import Statement, StatementKind, find_statements
from ricordo.handoff.compose.conversation import Conversation, find_place, is_answer
from ricordo.handoff.compose.phrases import has_phrase, has_phrase_at_start
from ricordo.handoff.compose.quotes import MAX_COMMAND_LENGTH, QuoteLimits, build_quote, shorten
from ricordo.handoff.compose.state import find_questions
from ricordo.handoff.document import HandoffStatement, StatementSection
from ricordo.handoff.facts import Facts, MessageFact
from ricordo.lexicon import lower_text, statement_pattern
from ricordo.secrets import find_secrets

_MAX_ITEMS = 10
_MAX_REASON = 300
_MAX_QUESTION = 200


class UserAnswer(NamedTuple):
    """The user's answer to a question of the agent."""

    question_message: MessageFact
    question: str
    reply: MessageFact


def compose_decisions(
    facts: Facts,
    conversation: Conversation,
    written: Collection[HandoffStatement],
    room: QuoteLimits,
) -> Iterator[HandoffStatement]:
    """Yield the explicit decisions, with their context, except those `written` already."""
    quoted = [statement.quote for statement in written]
    new = [
        item for item in facts.decisions if not any(item.text.strip() in quote for quote in quoted)
    ]
    for decision in new[-_MAX_ITEMS:]:
        who = "The user decided" if decision.is_user else "The agent's decision"
        words = conversation.find_paragraph(decision.ref, decision.text)
        label = _add_reason(who, decision.reason, words)
        yield build_quote(
            StatementSection.DECISIONS, label, words, decision.ref, (decision.id,), room.words
        )


def compose_answers(
    user_answers: Collection[UserAnswer], room: QuoteLimits
) -> Iterator[HandoffStatement]:
    """Yield the answers of the user, each with the question that it answers."""
    for answer in user_answers:
        label = f"The user's answer to “{shorten(answer.question, _MAX_QUESTION)}”"
        ids = (answer.question_message.id, answer.reply.id)
        yield build_quote(
            StatementSection.DECISIONS, label, answer.reply.text, answer.reply.ref, ids, room.words
        )


def find_answers(conversation: Conversation) -> tuple[UserAnswer, ...]:
    """Return the user's answers to questions that ended an agent's message: a message that is a yes
    or a no, or begins with one.
    """
    user_answers: list[UserAnswer] = []
    for previous, following in zip(conversation.recent, conversation.recent[1:], strict=False):
        closing, reply = previous.closing, following.request
        questions = find_questions(closing) if closing is not None else []
        if closing is None or reply is None or not questions:
            continue
        if is_answer(reply.text) or has_phrase_at_start("answer", reply.text):
            user_answers.append(UserAnswer(closing, questions[-1], reply))
    return tuple(user_answers[-_MAX_ITEMS:])


def compose_ruled_out(
    facts: Facts,
    conversation: Conversation,
    written: Collection[HandoffStatement],
    room: QuoteLimits,
) -> Iterator[HandoffStatement]:
    """Yield what the agent tried and abandoned, with the reason, and what the user corrected. The
    context is left out where it is `written` already.
    """
    quoted = [statement.quote for statement in written]
    user_places = {find_place(message.ref) for message in facts.messages if message.is_user}
    items = [item for item in facts.ruled_out if item.refusal is None]
    agent_items = [
        item for item in items if item.is_action or find_place(item.ref) not in user_places
    ]
    for item in agent_items[-_MAX_ITEMS:]:
        if item.is_action:
            text = _add_reason(f"Reverted: {shorten(item.what, MAX_COMMAND_LENGTH)}", item.reason)
            yield HandoffStatement(StatementSection.RULED_OUT, text, fact_ids=(item.id,))
            continue
        around = conversation.find_paragraph(item.ref, item.what)
        words = item.what if any(around in quote for quote in quoted) else around
        label = _add_reason("The agent abandoned this", item.reason, words)
        yield build_quote(
            StatementSection.RULED_OUT, label, words, item.ref, (item.id,), room.words
        )
    yield from list(_list_corrections(conversation, room))[-_MAX_ITEMS:]


def _list_corrections(conversation: Conversation, room: QuoteLimits) -> Iterator[HandoffStatement]:
    for exchange, following in zip(
        conversation.exchanges, conversation.exchanges[1:], strict=False
    ):
        closing, reply = exchange.closing, following.request
        if exchange.is_corrected and closing is not None and reply is not None:
            words = shorten(reply.text, _MAX_REASON)
            label = f"The agent said, and the user corrected it with “{words}”"
            ids = (closing.id, reply.id)
            yield build_quote(
                StatementSection.RULED_OUT, label, closing.text, closing.ref, ids, room.words
            )


def _add_reason(label: str, why: str, words: str = "") -> str:
    """Return a label with the reason, unless the quoted words contain it."""
    is_known = not why.strip() or why.strip() in words
    return label if is_known else f"{label}, because: “{shorten(why, _MAX_REASON)}”"


_UNKNOWN_DAY = date(2000, 1, 1)
"""The day of a message without a time in the transcript: every day that it names is later."""
_MAX_DOCUMENT = 12_000
"""Characters of a pasted plan that are searched."""
_MAX_STATEMENT = 500
"""Characters of a statement with its reasons."""
_MAX_PER_MESSAGE = 6
"""Limits of one message; one with more is a specification, and quoted as the objective."""
_MAX_RULES, _MAX_LIMITS = 12, 8
_FIRST, _LAST = 50, 250
"""Requests that are searched: those at the beginning and at the end of a session."""
_LIMIT = "Limit"
_WHOLE_SHARE = 0.5
"""Share of a message from which a quote counts as all of it."""
_LABELS = {
    StatementKind.REQUEST: "To be remembered",
    StatementKind.CORRECTION: "Correction",
    StatementKind.PREFERENCE: "Rule",
    StatementKind.DECISION: "The user decided",
    StatementKind.DEADLINE: "Date",
    StatementKind.POINTER: "Where to look",
}


class Constraint(NamedTuple):
    """A rule or a limit for the work."""

    message: MessageFact
    label: str
    quote: str
    """The words of the message."""

    @property
    def is_whole(self) -> bool:
        """Whether the quote is nearly the whole message."""
        return len(self.quote) >= _WHOLE_SHARE * len(self.message.text.strip())


def find_constraints(conversation: Conversation) -> tuple[Constraint, ...]:
    """Return the rules and limits for the work, in the order of time, only the latest of many. A
    quote of the whole first request is not one.
    """
    requests = conversation.requests
    messages = (
        requests if len(requests) <= _FIRST + _LAST else (*requests[:_FIRST], *requests[-_LAST:])
    )
    found_limits = [
        limit
        for message in messages
        for limit in _find_in_message(message, is_answer=conversation.is_answered(message))
        if not (limit.quote == message.text.strip() and message is requests[0])
    ]
    unique = list({limit.quote: limit for limit in found_limits}.values())
    rules = [limit for limit in unique if limit.label != _LIMIT][-_MAX_RULES:]
    limits = [limit for limit in unique if limit.label == _LIMIT][-_MAX_LIMITS:]
    return tuple(limit for limit in unique if limit in rules or limit in limits)


def compose_constraints(
    constraint_list: Sequence[Constraint], room: QuoteLimits
) -> Iterator[HandoffStatement]:
    """Yield the statements of constraints: decisions are in their own section."""
    for limit in constraint_list:
        section = (
            StatementSection.DECISIONS
            if limit.label == _LABELS[StatementKind.DECISION]
            else StatementSection.CONSTRAINTS
        )
        yield build_quote(
            section, limit.label, limit.quote, limit.message.ref, (limit.message.id,), room.words
        )


def _find_in_message(message: MessageFact, *, is_answer: bool) -> Iterator[Constraint]:
    text = message.text
    day = date.fromisoformat(message.ref.at[:10]) if message.ref.at else _UNKNOWN_DAY
    spans: list[tuple[int, int]] = []
    for statement in find_statements(text, day, is_answer=is_answer):
        start, end = _find_span(statement)
        spans.append((start, end))
        yield Constraint(message, _LABELS[statement.kind], text[start:end])
    others = [
        limit
        for limit in _find_limits(text)
        if all(limit.end <= start or limit.start >= end for start, end in spans)
    ]
    for limit in others[:_MAX_PER_MESSAGE]:
        yield Constraint(message, _LIMIT, limit.text)


def _find_span(statement: Statement) -> tuple[int, int]:
    """Return the span of a statement, with what follows it where that is near."""
    parts = [*statement.sentences, *statement.following]
    parts_kept = parts if parts[-1].end - parts[0].start <= _MAX_STATEMENT else statement.sentences
    return parts_kept[0].start, parts_kept[-1].end


def _find_limits(text: str) -> list[Sentence]:
    """Return the sentences that set a limit. In a document only prohibitions count: it describes at
    length how something works. Sentences with a credential are left out.
    """
    is_document = len(text) > MAX_MESSAGE_LENGTH
    text = text[:_MAX_DOCUMENT]
    unquoted = lower_text(mask_quotations(text))
    kinds = (
        (_is_prohibition,) if is_document else (_is_prohibition, _is_requirement, _is_manner_order)
    )
    sentences = split_text(text)
    return [
        message
        for message in sentences
        if _is_literal(message, unquoted)
        and any(kind(unquoted[message.start : message.end]) for kind in kinds)
        and not find_secrets(message.text)
    ]


def _is_literal(sentence: Sentence, unquoted: str) -> bool:
    plain = unquoted[sentence.start : sentence.end]
    others = any(statement_pattern(part).search(plain) for part in ("guess", "unreal", "request"))
    return not (sentence.is_question or others)


def _is_prohibition(plain: str) -> bool:
    return bool(statement_pattern("prohibition").search(plain)) or has_phrase("limit", plain)


def _is_requirement(plain: str) -> bool:
    return has_phrase("requirement", plain)


def _is_manner_order(plain: str) -> bool:
    return bool(statement_pattern("order").match(plain.lstrip())) and has_phrase("manner", plain)
