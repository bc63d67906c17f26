"""The state of the work: what is done, active or blocked, and which questions are open."""

from __future__ import annotations

from collections.abc import Iterator

from ricordo.handoff.compose.quotes import Room, code, quoting, result, told
from ricordo.handoff.compose.runs import LastRuns, result_of, tasks
from ricordo.handoff.compose.talk import Exchange, Talk, is_answer, last_sentences
from ricordo.handoff.compose.words import begins, has
from ricordo.handoff.document import HandoffStatement, StatementSection
from ricordo.handoff.facts import GIT, Facts, GitState, MessageFact, Ran
from ricordo.handoff.project_git import told_unpushed
from ricordo.search.words import content_words, words

_MAX_QUESTIONS = 5
_MAX_PER_MESSAGE = 3


def open_questions(conversation: Talk, room: Room) -> Iterator[HandoffStatement]:
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
        yield quoting(
            StatementSection.QUESTIONS, label, question, message.ref, (message.id,), room.words
        )


def asked(message: MessageFact) -> list[str]:
    """Return the questions with which an agent's message ends: those of its last paragraphs."""
    sentences = last_sentences(message)
    last = sentences[-1].paragraph if sentences else 0
    near = [sentence for sentence in sentences if sentence.paragraph >= last - 1]
    return [sentence.text for sentence in near if sentence.is_question][-_MAX_PER_MESSAGE:]


def _list_unanswered(conversation: Talk) -> Iterator[tuple[MessageFact, list[str]]]:
    for number, exchange in enumerate(conversation.recent):
        closing = exchange.closing
        if closing is None:
            continue
        questions = asked(closing)
        if number < len(conversation.recent) - 1:
            questions = _list_ignored(questions, conversation.recent[number + 1])
        yield closing, questions


def _list_ignored(questions: list[str], following: Exchange) -> list[str]:
    reply = following.wish
    if reply is None or is_answer(reply.text) or begins("answer", reply.text):
        return []
    taken_up = frozenset(content_words(words(reply.text)))
    return [
        question
        for question in questions
        if not has("offer", question) and taken_up.isdisjoint(content_words(words(question)))
    ]


_MAX_ANSWERS = 6
_MAX_RESULTS = 6
_MAX_NAMED = 8
_MAX_IN_PROGRESS = 3
_MIN_REPORT = 80
"""Characters; a shorter message of the agent says nothing about the work."""
_MAX_QUESTION = 240
"""Characters of a message that ends with a question and is hardly more than that."""


def done(
    facts: Facts, conversation: Talk, last_runs: LastRuns, room: Room
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
    yield from tasks(facts, "completed")
    for exchange in reversed(reports):
        if exchange is not main:
            yield _quote_closing(exchange, room.answer)


def active(
    facts: Facts, conversation: Talk, last_runs: LastRuns, room: Room
) -> Iterator[HandoffStatement]:
    """Yield the state of the repository, the tasks in progress, and the agent's last words where
    the session ends in the middle of work.
    """
    if facts.git is not None:
        yield HandoffStatement(StatementSection.ACTIVE, _describe_git(facts.git), stands_on=(GIT,))
    yield from tasks(facts, "in_progress")
    for ran in last_runs.untold[-_MAX_RESULTS:]:
        text = f"{told(ran.command)} was run; the transcript does not report how it ended"
        yield HandoffStatement(StatementSection.ACTIVE, text, stands_on=(ran.id,))
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


def blocked(conversation: Talk, last_runs: LastRuns, room: Room) -> Iterator[HandoffStatement]:
    """Yield the tests, checks and actions that still fail, with the agent's comments, and what else
    it said that blocked it.
    """
    for ran in last_runs.failed[-_MAX_RESULTS:]:
        yield _describe_run(StatementSection.BLOCKED, ran)
        comment = conversation.after(ran.ref)
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
        if has("blocked", sentence.text):
            label, words, ids = "The agent was blocked", sentence.text, (closing.id,)
            yield quoting(StatementSection.BLOCKED, label, words, closing.ref, ids, room.words)


def _quote_closing(exchange: Exchange, most: int) -> HandoffStatement:
    assert exchange.closing is not None
    label = "The agent reported" if exchange.is_work else "The agent answered"
    return _quote_message(StatementSection.DONE, label, exchange.closing, most)


def _quote_message(
    section: StatementSection, label: str, message: MessageFact, most: int
) -> HandoffStatement:
    return quoting(section, label, message.text, message.ref, (message.id,), most)


def _describe_run(section: StatementSection, ran: Ran) -> HandoffStatement:
    how = "failed" if ran.has_failed else "succeeded"
    text = f"{told(ran.command)} {how}{result(ran.result)}"
    return HandoffStatement(section, text, result_of(ran), (ran.id,))


def _is_report(exchange: Exchange, conversation: Talk) -> bool:
    """Return whether the agent's closing message is more than a question or, unless it is the last
    one, a word.
    """
    closing = exchange.closing
    if closing is None or exchange.is_set_right:
        return False
    is_short = len(closing.text) < _MIN_REPORT and exchange is not conversation.last
    if is_short and not exchange.is_work:
        return False
    return not (len(closing.text) <= _MAX_QUESTION and asked(closing))


def _describe_git(state: GitState) -> str:
    branch = f"Branch {code(state.branch)}" if state.branch else "No branch is checked out;"
    commit = f"at {state.commit[:12]}" if state.commit else "without a commit"
    subject = f" ({code(state.subject, 100)})" if state.subject else ""
    dirty = state.dirty[:_MAX_NAMED]
    more = len(state.dirty) - len(dirty)
    names = ", ".join(code(path) for path in dirty) + (f" and {more} more" if more else "")
    parts = [f"{branch} {commit}{subject}"]
    clean = "everything is committed" if state.commit else "nothing to commit"
    parts.append(f"not committed: {names}" if dirty else clean)
    return "; ".join(filter(None, (*parts, told_unpushed(state))))
