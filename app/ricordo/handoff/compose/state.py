"""The state of the work: what is done, active or blocked, and which questions are open."""

from __future__ import annotations

from collections.abc import Iterator

from ricordo.handoff.compose.conversation import (
    Conversation,
    TalkExchange,
    is_answer,
    last_sentences,
)
from ricordo.handoff.compose.phrases import has_phrase, has_phrase_at_start
from ricordo.handoff.compose.quotes import (
    QuoteLimits,
    build_quote,
    format_code,
    format_command,
    format_result,
)
from ricordo.handoff.compose.runs import LastRuns, build_result_proof, compose_tasks
from ricordo.handoff.document import HandoffStatement, StatementSection
from ricordo.handoff.facts import GIT_ID, CommandFact, Facts, GitState, MessageFact
from ricordo.handoff.project_git import describe_unpushed
from ricordo.search.words import content_words, split_words

_MAX_QUESTIONS = 5
_MAX_PER_MESSAGE = 3


def compose_questions(conversation: Conversation, room: QuoteLimits) -> Iterator[HandoffStatement]:
    """Yield the questions of the agent that the user did not answer: those of its last message, and
    earlier ones whose words the reply does not repeat. An offer that was ignored does not count.
    """
    questions_found = [
        (message, question)
        for message, questions in _list_unanswered(conversation)
        for question in questions
    ]
    for message, question in questions_found[-_MAX_QUESTIONS:]:
        label = "The agent asked, and got no answer"
        yield build_quote(
            StatementSection.QUESTIONS, label, question, message.ref, (message.id,), room.words
        )


def find_questions(message: MessageFact) -> list[str]:
    """Return the questions with which an agent's message ends: those of its last paragraphs."""
    sentences = last_sentences(message)
    last = sentences[-1].paragraph if sentences else 0
    near = [sentence for sentence in sentences if sentence.paragraph >= last - 1]
    return [sentence.text for sentence in near if sentence.is_question][-_MAX_PER_MESSAGE:]


def _list_unanswered(conversation: Conversation) -> Iterator[tuple[MessageFact, list[str]]]:
    for number, exchange in enumerate(conversation.recent):
        closing = exchange.closing
        if closing is None:
            continue
        questions = find_questions(closing)
        if number < len(conversation.recent) - 1:
            questions = _list_ignored(questions, conversation.recent[number + 1])
        yield closing, questions


def _list_ignored(questions: list[str], following: TalkExchange) -> list[str]:
    reply = following.request
    if reply is None or is_answer(reply.text) or has_phrase_at_start("answer", reply.text):
        return []
    taken_up = frozenset(content_words(split_words(reply.text)))
    return [
        question
        for question in questions
        if not has_phrase("offer", question)
        and taken_up.isdisjoint(content_words(split_words(question)))
    ]


_MAX_ANSWERS = 6
_MAX_RESULTS = 6
_MAX_NAMED = 8
_MAX_IN_PROGRESS = 3
_MIN_REPORT = 80
"""Characters; a shorter message of the agent says nothing about the work."""
_MAX_QUESTION = 240
"""Characters of a message that ends with a question and is hardly more than that."""


def compose_done(
    facts: Facts, conversation: Conversation, last_runs: LastRuns, room: QuoteLimits
) -> Iterator[HandoffStatement]:
    """Yield the agent's last report, which is its own claim, the results of tests, checks and
    actions, completed tasks, and its other reports and answers, the latest first.
    """
    reports = [exchange for exchange in conversation.recent if _is_report(exchange, conversation)][
        -_MAX_ANSWERS:
    ]
    main = next(
        (exchange for exchange in reversed(reports) if exchange.is_work),
        reports[-1] if reports else None,
    )
    if main is not None:
        yield _quote_closing(main, room.report)
    for ran in last_runs.succeeded[-_MAX_RESULTS:]:
        yield _describe_run(StatementSection.DONE, ran)
    yield from compose_tasks(facts, "completed")
    for exchange in reversed(reports):
        if exchange is not main:
            yield _quote_closing(exchange, room.answer)


def compose_active(
    facts: Facts, conversation: Conversation, last_runs: LastRuns, room: QuoteLimits
) -> Iterator[HandoffStatement]:
    """Yield the state of the repository, the tasks in progress, and the agent's last words where
    the session ends in the middle of work.
    """
    if facts.git is not None:
        yield HandoffStatement(
            StatementSection.ACTIVE, _describe_git(facts.git), fact_ids=(GIT_ID,)
        )
    yield from compose_tasks(facts, "in_progress")
    for ran in last_runs.unreported[-_MAX_RESULTS:]:
        text = f"{format_command(ran.command)} was run; the transcript does not report how it ended"
        yield HandoffStatement(StatementSection.ACTIVE, text, fact_ids=(ran.id,))
    last = conversation.last
    if last is not None and last.answers and not last.is_over:
        *before, end = last.answers
        for message in [message for message in before if len(message.text) >= _MIN_REPORT][
            -_MAX_IN_PROGRESS:
        ]:
            yield _quote_message(
                StatementSection.ACTIVE, "The agent while working", message, room.words
            )
        yield _quote_message(
            StatementSection.ACTIVE, "The session ends after these words", end, room.answer
        )


def compose_blocked(
    conversation: Conversation, last_runs: LastRuns, room: QuoteLimits
) -> Iterator[HandoffStatement]:
    """Yield the tests, checks and actions that still fail, with the agent's comments, and what else
    it said that blocked it.
    """
    for ran in last_runs.failed[-_MAX_RESULTS:]:
        yield _describe_run(StatementSection.BLOCKED, ran)
        comment = conversation.find_agent_message(ran.ref)
        if comment is not None and (
            conversation.last is None or comment is not conversation.last.closing
        ):
            yield _quote_message(
                StatementSection.BLOCKED, "The agent on that failure", comment, room.words
            )
    closing = conversation.last.closing if conversation.last else None
    if closing is None:
        return
    for sentence in last_sentences(closing):
        if has_phrase("blocked", sentence.text):
            label, words, ids = "The agent was blocked", sentence.text, (closing.id,)
            yield build_quote(StatementSection.BLOCKED, label, words, closing.ref, ids, room.words)


def _quote_closing(exchange: TalkExchange, most: int) -> HandoffStatement:
    assert exchange.closing is not None
    label = "The agent reported" if exchange.is_work else "The agent answered"
    return _quote_message(StatementSection.DONE, label, exchange.closing, most)


def _quote_message(
    section: StatementSection, label: str, message: MessageFact, most: int
) -> HandoffStatement:
    return build_quote(section, label, message.text, message.ref, (message.id,), most)


def _describe_run(section: StatementSection, ran: CommandFact) -> HandoffStatement:
    how = "failed" if ran.has_failed else "succeeded"
    text = f"{format_command(ran.command)} {how}{format_result(ran.result)}"
    return HandoffStatement(section, text, build_result_proof(ran), (ran.id,))


def _is_report(exchange: TalkExchange, conversation: Conversation) -> bool:
    """Return whether the agent's closing message is more than a question or, unless it is the last
    one, a word.
    """
    closing = exchange.closing
    if closing is None or exchange.is_corrected:
        return False
    is_short = len(closing.text) < _MIN_REPORT and exchange is not conversation.last
    if is_short and not exchange.is_work:
        return False
    return not (len(closing.text) <= _MAX_QUESTION and find_questions(closing))


def _describe_git(state: GitState) -> str:
    branch = f"Branch {format_code(state.branch)}" if state.branch else "No branch is checked out;"
    commit = f"at {state.commit[:12]}" if state.commit else "without a commit"
    subject = f" ({format_code(state.subject, 100)})" if state.subject else ""
    dirty = state.dirty[:_MAX_NAMED]
    more = len(state.dirty) - len(dirty)
    names = ", ".join(format_code(path) for path in dirty) + (f" and {more} more" if more else "")
    parts = [f"{branch} {commit}{subject}"]
    clean = "everything is committed" if state.commit else "nothing to commit"
    parts.append(f"not committed: {names}" if dirty else clean)
    return "; ".join(filter(None, (*parts, describe_unpushed(state))))
