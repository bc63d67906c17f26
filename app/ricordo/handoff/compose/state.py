"""Where the work stands: what is done, what goes on, what keeps it from going on."""

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

_MOST = 5
_MOST_OF_ONE = 3


def open_questions(talk: Talk, room: Room) -> Iterator[HandoffStatement]:
    """Yield the questions of the agent that the person did not answer: those of its last words, and
    earlier ones of which the reply takes up no word. An offer that was passed over is none.
    """
    found = [(said, it) for said, questions in _unanswered(talk) for it in questions]
    for said, question in found[-_MOST:]:
        label = "The agent asked, and got no answer"
        yield quoting(StatementSection.QUESTIONS, label, question, said.ref, (said.id,), room.words)


def asked(said: MessageFact) -> list[str]:
    """Return the questions with which an agent's message ends: those of its last paragraphs."""
    spoken = last_sentences(said)
    last = spoken[-1].paragraph if spoken else 0
    near = [it for it in spoken if it.paragraph >= last - 1]
    return [it.text for it in near if it.is_question][-_MOST_OF_ONE:]


def _unanswered(talk: Talk) -> Iterator[tuple[MessageFact, list[str]]]:
    for number, exchange in enumerate(talk.recent):
        closing = exchange.closing
        if closing is None:
            continue
        questions = asked(closing)
        if number < len(talk.recent) - 1:
            questions = _ignored(questions, talk.recent[number + 1])
        yield closing, questions


def _ignored(questions: list[str], following: Exchange) -> list[str]:
    reply = following.wish
    if reply is None or is_answer(reply.text) or begins("answer", reply.text):
        return []
    taken_up = frozenset(content_words(words(reply.text)))
    return [
        it
        for it in questions
        if not has("offer", it) and taken_up.isdisjoint(content_words(words(it)))
    ]


_MOST_ANSWERS = 6
_MOST_RESULTS = 6
_MOST_NAMED = 8
_MOST_ON_THE_WAY = 3
_LEAST_TOLD = 80
"""Characters: shorter words of the agent tell nothing of the work."""
_LONGEST_QUESTION = 240
"""Characters of an answer that ends with a question and is hardly more than that."""


def done(facts: Facts, talk: Talk, known: LastRuns, room: Room) -> Iterator[HandoffStatement]:
    """Yield what the agent reported last of its work, which is its own claim, how tests, checks and
    deeds ended, what its list has as completed, and what else it reported or answered, the latest
    first.
    """
    closed = [it for it in talk.recent if _tells(it, talk)][-_MOST_ANSWERS:]
    main = next((it for it in reversed(closed) if it.is_work), closed[-1] if closed else None)
    if main is not None:
        yield _closing(main, room.report)
    for ran in known.succeeded[-_MOST_RESULTS:]:
        yield _ran(StatementSection.DONE, ran)
    yield from tasks(facts, "completed")
    for it in reversed(closed):
        if it is not main:
            yield _closing(it, room.answer)


def active(facts: Facts, talk: Talk, known: LastRuns, room: Room) -> Iterator[HandoffStatement]:
    """Yield the state of the repository, what the agent had in hand, and what it said last where
    the session breaks off.
    """
    if facts.git is not None:
        yield HandoffStatement(StatementSection.ACTIVE, _git(facts.git), stands_on=(GIT,))
    yield from tasks(facts, "in_progress")
    for ran in known.untold[-_MOST_RESULTS:]:
        text = f"{told(ran.command)} was run; the transcript does not tell how it ended"
        yield HandoffStatement(StatementSection.ACTIVE, text, stands_on=(ran.id,))
    last = talk.last
    if last is not None and last.answers and not last.is_over:
        *before, end = last.answers
        for it in [it for it in before if len(it.text) >= _LEAST_TOLD][-_MOST_ON_THE_WAY:]:
            yield _said(StatementSection.ACTIVE, "The agent on the way", it, room.words)
        yield _said(
            StatementSection.ACTIVE, "The session breaks off behind these words", end, room.answer
        )


def blocked(talk: Talk, known: LastRuns, room: Room) -> Iterator[HandoffStatement]:
    """Yield the tests, checks and deeds that fail still, with what the agent said of them, and what
    else it said that kept it from going on.
    """
    for ran in known.failed[-_MOST_RESULTS:]:
        yield _ran(StatementSection.BLOCKED, ran)
        said = talk.after(ran.ref)
        if said is not None and (talk.last is None or said is not talk.last.closing):
            yield _said(StatementSection.BLOCKED, "The agent on that failure", said, room.words)
    closing = talk.last.closing if talk.last else None
    if closing is None:
        return
    for it in last_sentences(closing):
        if has("blocked", it.text):
            label, words, ids = "The agent was kept from going on", it.text, (closing.id,)
            yield quoting(StatementSection.BLOCKED, label, words, closing.ref, ids, room.words)


def _closing(exchange: Exchange, most: int) -> HandoffStatement:
    assert exchange.closing is not None
    label = "The agent reported" if exchange.is_work else "The agent answered"
    return _said(StatementSection.DONE, label, exchange.closing, most)


def _said(section: StatementSection, label: str, said: MessageFact, most: int) -> HandoffStatement:
    return quoting(section, label, said.text, said.ref, (said.id,), most)


def _ran(section: StatementSection, ran: Ran) -> HandoffStatement:
    how = "failed" if ran.has_failed else "succeeded"
    text = f"{told(ran.command)} {how}{result(ran.result)}"
    return HandoffStatement(section, text, result_of(ran), (ran.id,))


def _tells(exchange: Exchange, talk: Talk) -> bool:
    """Whether the agent closed it with more than a question; the last one also with a word."""
    closing = exchange.closing
    if closing is None or exchange.is_set_right:
        return False
    is_short = len(closing.text) < _LEAST_TOLD and exchange is not talk.last
    if is_short and not exchange.is_work:
        return False
    return not (len(closing.text) <= _LONGEST_QUESTION and asked(closing))


def _git(state: GitState) -> str:
    branch = f"Branch {code(state.branch)}" if state.branch else "No branch is checked out;"
    commit = f"at {state.commit[:12]}" if state.commit else "without a commit"
    subject = f" ({code(state.subject, 100)})" if state.subject else ""
    dirty = state.dirty[:_MOST_NAMED]
    more = len(state.dirty) - len(dirty)
    names = ", ".join(code(it) for it in dirty) + (f" and {more} more" if more else "")
    parts = [f"{branch} {commit}{subject}"]
    clean = "everything is committed" if state.commit else "nothing to commit"
    parts.append(f"not committed: {names}" if dirty else clean)
    return "; ".join(filter(None, (*parts, told_unpushed(state))))
