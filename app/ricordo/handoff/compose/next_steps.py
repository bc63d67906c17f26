"""The next steps, and the command to begin with."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from ricordo.handoff.compose.conversation import Conversation, TalkExchange, last_sentences
from ricordo.handoff.compose.phrases import CHECK_KIND, find_headed_texts, has_phrase
from ricordo.handoff.compose.quotes import QuoteLimits, build_quote, can_be_run, format_code
from ricordo.handoff.compose.refusals import Refusals
from ricordo.handoff.compose.runs import LastRuns, build_result_proof, compose_tasks
from ricordo.handoff.document import HandoffStatement, StatementSection
from ricordo.handoff.facts import Facts, MessageFact
from ricordo.search.words import content_words, split_words

_MAX_REMAINING = 3
_MIN_POSTPONED = 3
"""Words with a meaning: fewer are a farewell, such as “see you tomorrow”."""
_MAX_REMINDER = 160
"""Characters: the message is quoted as the objective."""


def compose_next_steps(
    facts: Facts,
    conversation: Conversation,
    last_runs: LastRuns,
    from_summary: Collection[HandoffStatement],
    room: QuoteLimits,
    refusals: Refusals,
) -> Iterator[HandoffStatement]:
    """Yield the next steps, the most urgent first: the user's request without a closing answer,
    what the user put off, the tasks on the agent's list, what the agent said remains, what its
    summary (`from_summary`) says of that, the command that shows the state of the work, a failing
    one first, and how the user said to check it. A refused action that the agent names is left out.
    """
    allowed = [task for task in facts.tasks if not refusals.is_named_in(task.text)]
    of_agent = [
        *compose_tasks(replace(facts, tasks=tuple(allowed)), "pending"),
        *_list_remaining(conversation, room),
        *from_summary,
    ]
    steps = [
        *_quote_unanswered(conversation),
        *_quote_postponed(conversation, room),
        *(statement for statement in of_agent if not refusals.is_named_in(statement.quote)),
    ]
    yield from steps
    yield from _describe_command(last_runs)
    yield from _quote_checks(conversation, room)
    is_stale = last_runs.to_run is not None and bool(last_runs.to_run.changed_since)
    if not (steps or last_runs.failed or is_stale):
        yield HandoffStatement(StatementSection.NEXT, "No remaining work was found in the sessions")


def _quote_unanswered(conversation: Conversation) -> Iterator[HandoffStatement]:
    last = conversation.last
    if last is None or last.is_over or not conversation.requests:
        return
    request = conversation.requests[-1]
    label = "Asked last, without a closing answer so far"
    yield build_quote(
        StatementSection.NEXT, label, request.text, request.ref, (request.id,), _MAX_REMINDER
    )


def _list_last_exchanges(conversation: Conversation) -> Iterator[TalkExchange]:
    """Yield the exchanges since work was last done, and the one in which it was, the last first:
    what was said in them about coming work still holds.
    """
    for exchange in reversed(conversation.recent):
        yield exchange
        if exchange.is_work:
            return


def _quote_postponed(conversation: Conversation, room: QuoteLimits) -> Iterator[HandoffStatement]:
    """Yield what the user said is to be done later or next.

    In a request that was worked on, words such as “later” may describe the work itself.
    """
    open_request = conversation.last and not conversation.last.is_over and conversation.last.request
    for exchange in _list_last_exchanges(conversation):
        request = exchange.request
        if request is None or request is open_request:
            continue
        postponed = _find_next_section(request)
        if not postponed and not exchange.is_work:
            postponed = _find_postponed(request)
        for words in postponed[:_MAX_REMAINING]:
            label = "The user on what comes next"
            yield build_quote(
                StatementSection.NEXT, label, words, request.ref, (request.id,), room.words
            )


def _find_postponed(message: MessageFact) -> list[str]:
    return [
        sentence.text
        for sentence in last_sentences(message)
        if not sentence.is_question
        and has_phrase("later", sentence.text)
        and len(content_words(split_words(sentence.text))) >= _MIN_POSTPONED
    ]


def _list_remaining(conversation: Conversation, room: QuoteLimits) -> Iterator[HandoffStatement]:
    """Yield what the agent said last about remaining or next work."""
    for exchange in _list_last_exchanges(conversation):
        for message in exchange.answers[-1:]:
            remaining = _find_remaining(message)
            for words in remaining[:_MAX_REMAINING]:
                label = "The agent on remaining work"
                yield build_quote(
                    StatementSection.NEXT, label, words, message.ref, (message.id,), room.words
                )
            if remaining or _is_nothing_left(message):
                return


def _find_remaining(message: MessageFact) -> list[str]:
    sentences = [sentence for sentence in last_sentences(message) if not sentence.is_question]
    return _find_next_section(message) or [
        sentence.text
        for sentence in sentences
        if has_phrase("left", sentence.text) and not has_phrase("nothing_left", sentence.text)
    ]


def _is_nothing_left(message: MessageFact) -> bool:
    return any(has_phrase("nothing_left", item.text) for item in last_sentences(message))


def _find_next_section(message: MessageFact) -> list[str]:
    """Return what a message says under a heading for next steps."""
    return [
        passage.text
        for passage in find_headed_texts(message.text)
        if passage.kind == StatementSection.NEXT
    ]


def _quote_checks(conversation: Conversation, room: QuoteLimits) -> Iterator[HandoffStatement]:
    """Yield how to check the work, in the words of the last request that says so."""
    for request in reversed(conversation.requests):
        passages = [
            passage.text
            for passage in find_headed_texts(request.text)
            if passage.kind == CHECK_KIND
        ]
        if passages:
            label = "The user on how to check it"
            ids = (request.id,)
            yield build_quote(
                StatementSection.NEXT, label, passages[-1], request.ref, ids, room.words
            )
            return


def _describe_command(last_runs: LastRuns) -> Iterator[HandoffStatement]:
    ran = last_runs.to_run
    if ran is None or not can_be_run(ran.command):
        return
    if ran.changed_since:
        how = "failed" if ran.has_failed else "went well"
        what = f"It {how} before files were changed again; run it"
    elif ran.has_failed:
        what = "Fix what fails, then run it again"
    else:
        what = "To see the state of the work"
    yield HandoffStatement(
        StatementSection.NEXT,
        f"{what}: {format_code(ran.command)}",
        build_result_proof(ran),
        (ran.id,),
    )
